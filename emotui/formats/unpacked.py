"""How much a packed file may become: a few kilobytes of Parquet can say a terabyte."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.filesize import decimal

from emotui.formats.rows import MOST_LINE, UnreadableFile

if TYPE_CHECKING:
    import duckdb

SURELY = 512 * 2**20
"""Bytes that any file may unpack to."""

TIMES = 20
"""As often its own size may be added; texts are packed to a third, tables of few words to a tenth."""

ENGINE = "4GB"
"""Of memory, for DuckDB while it reads Parquet: it refuses what does not fit, page by page."""

NOTHING_FETCHED = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
"""Settings of DuckDB: to read a file, nothing comes from the network."""

_OF_A_ROW = 100
"""Bytes that a row takes, whatever stands in it."""

_BATCH, _BATCH_BYTES = 4096, 64 * 2**20


def check_unpacked(path: Path, size: int) -> None:
    """Raises: UnreadableFile where `size` bytes are more than a file like this may unpack to."""
    packed = path.stat().st_size
    most = SURELY + TIMES * packed
    if size > most:
        raise UnreadableFile(
            f"unpacks to {decimal(size)}, and of a file of {decimal(packed)} at most {decimal(most)} are read"
        )


def rows_at_once(path: Path, connection: "duckdb.DuckDBPyConnection", source: str, columns: Sequence[str]) -> int:
    """How many rows of a Parquet file may be fetched together, once DuckDB has gone through it and found it no bomb.

    Args:
        source: what stands behind FROM.
        columns: those that will be read, quoted.

    Raises:
        UnreadableFile: the file, or a row, unpacks to more than is read.
    """
    lengths = " + ".join(f"coalesce(strlen({column}::VARCHAR), 0)" for column in columns) or "0"
    asked = f"SELECT max(size), sum(size + {_OF_A_ROW}) FROM (SELECT {lengths} AS size FROM {source})"
    longest, size = (int(number or 0) for number in connection.execute(asked).fetchall()[0])
    check_unpacked(path, size)
    if longest > MOST_LINE:
        raise UnreadableFile(f"a row unpacks to {decimal(longest)}, and at most {decimal(MOST_LINE)} are read")
    return max(1, min(_BATCH, _BATCH_BYTES // max(1, longest)))
