"""A packed file that unpacks to far more than it is costs a line, not the memory."""

import zipfile
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from emotui.formats import parquet as parquet_files
from tests.conftest import Emotui

MANY = "i::VARCHAR AS id, repeat('so glad ', 2000) AS text, 'joy' AS label FROM range(500) t(i)"
LONG = "'1' AS id, repeat('so glad ', 300000) AS text, 'joy' AS label"
NESTED = "'1' AS id, 'so glad' AS text, list_value('joy') AS labels, range(1000000) AS more"
ROWS = "'1' AS id, 'x' AS text, 'joy' AS label FROM range(30000)"


def parquet(rows: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        path = folder / "bomb.parquet"
        with duckdb.connect() as connection:
            connection.execute(f"COPY (SELECT {rows}) TO '{path}' (FORMAT parquet, COMPRESSION zstd)")
        return path

    return make


def workbook(folder: Path) -> Path:
    path = folder / "bomb.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as parts:
        parts.writestr("xl/worksheets/sheet1.xml", b"<c/>" * 1_000_000)
    return path


def arrow(folder: Path) -> Path:
    pyarrow = pytest.importorskip("pyarrow")
    path = folder / "bomb.arrow"
    said = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * 4000, pyarrow.int32()), ["so glad " * 1000])
    table = pyarrow.table({"text": said, "label": ["joy"] * 4000})
    with pyarrow.OSFile(str(path), "wb") as sink, pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return path


@pytest.mark.faults
@pytest.mark.parametrize(
    ("make", "kind"),
    [(parquet(MANY), ()), (parquet(MANY), ("rephrase",)), (parquet(ROWS), ("rephrase",)), (workbook, ())],
    ids=["texts", "texts as records", "rows", "workbook"],
)
def test_a_file_that_unpacks_to_far_more_than_it_is_is_refused_before_it_is_read(
    make: Callable[[Path], Path],
    kind: tuple[str, ...],
    emotui: Emotui,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(parquet_files, "SURELY", 2_000_000)
    path = make(tmp_path)
    done = emotui("import", *kind, path)
    assert (done.status, done.out, done.err.count("\n")) == (2, "", 1), done.err
    assert f"{path}" in done.err
    assert "unpacks to " in done.err
    assert " are read" in done.err


@pytest.mark.faults
def test_a_dictionary_of_arrow_counts_as_often_as_it_is_named(
    emotui: Emotui, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet_files, "SURELY", 2_000_000)
    (tmp_path / "set").mkdir()
    arrow(tmp_path / "set")
    done = emotui("import", "--as", "rephrase", tmp_path / "set")
    assert done.status == 2, done.err
    assert "unpacks to " in done.err


@pytest.mark.faults
@pytest.mark.parametrize("rows", [LONG, NESTED], ids=["text", "list"])
def test_a_row_of_parquet_has_the_length_of_a_line_at_most(
    rows: str, emotui: Emotui, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet_files, "MOST_LINE", 1_000_000)
    done = emotui("import", "rephrase", "--format", "parquet", parquet(rows)(tmp_path))
    assert done.status == 2
    assert "a row unpacks to " in done.err


def test_long_rows_are_fetched_few_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_files, "_BATCH_BYTES", 100_000)
    path = parquet(MANY)(tmp_path)
    with duckdb.connect() as connection:
        source = f"read_parquet('{path}')"
        assert parquet_files.rows_at_once(path, connection, source, ["text"]) == 100_000 // 16_000
        assert parquet_files.rows_at_once(path, connection, source, ["label"]) == 4096
        assert parquet_files.rows_at_once(path, connection, f"(SELECT * FROM {source} LIMIT 0)", ["text"]) == 4096
