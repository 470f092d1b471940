"""A crowd platform's table as ratings: a row an answer, or a row a rater with a column an item."""

import csv
import io
from collections.abc import Collection, Iterator, Mapping, Sequence

from emotui.bounded import read_text
from emotui.errors import BadInput
from emotui.formats import capped, read
from emotui.formats.reading import Warn, warn_skipped
from emotui.metrics.human_labels import Ties
from emotui.records import Generation
from emotui.tasks.generation.crowd import Crowd, CrowdRating, gather, item_names

RATER = ("participant_id", "prolific_pid", "prolific id", "participant", "rater", "worker_id", "workerid", "annotator")
ITEM = ("item", "item_id", "text_id", "question", "stimulus")
LABEL = ("label", "response", "answer", "emotion", "value", "choice")
"""Names that platforms give such columns; case does not matter."""


def crowd_ratings(
    records: Sequence[str],
    table: str,
    checks: str | None,
    *,
    rater: str | None = None,
    item: str | None = None,
    label: str | None = None,
    allowed: int = 0,
    wanted: int = 5,
    neutral: bool = False,
    ties: Ties = "none",
    skip_bad: bool = False,
    warn: Warn,
) -> Crowd:
    """Generation records with the ratings of a table.

    Args:
        table: CSV, or TSV by its ending, with a header. Without an item column it has a column an item.
        checks: CSV or TSV of attention checks, with columns `item` and `label`.
        rater, item, label: names of columns; None: they are found.

    Raises:
        BadInput: a file cannot be read, lacks a column, or has answers that do not fit; `FILE:LINE: what`.
    """
    texts: list[Generation] = []
    for path in records:
        got = read(path, Generation, skip_bad=skip_bad)
        warn_skipped(got, warn)
        texts += got.records
    expected = _checks(checks) if checks is not None else {}
    known = {*item_names(texts, neutral=neutral), *expected}
    ratings = list(_ratings(table, known, rater, item, label))
    if not ratings:
        raise BadInput(f"{table}:1: there is no rating in the file")
    try:
        return gather(texts, ratings, expected, allowed=allowed, wanted=wanted, neutral=neutral, ties=ties)
    except BadInput as error:
        raise BadInput(*capped(error.problems)) from None


def _checks(path: str) -> dict[str, str]:
    found = {}
    for line, row in table_rows(path):
        name, label = _column(path, row, None, ITEM, "item"), _column(path, row, None, LABEL, "label")
        if not row[name] or not row[label]:
            raise BadInput(f"{path}:{line}: an attention check needs an item and the label that it asks for")
        found[row[name]] = row[label]
    return found


def _ratings(
    path: str, known: Collection[str], rater: str | None, item: str | None, label: str | None
) -> Iterator[CrowdRating]:
    for line, row in table_rows(path):
        who = row[_column(path, row, rater, RATER, "rater")]
        if not who:
            raise BadInput(f"{path}:{line}: the rater is missing")
        name = item or _found(row, ITEM)
        if name is None:
            columns = [column for column in row if column in known]
            if not columns:
                raise BadInput(
                    f"{path}:1: there is neither a column of items ({', '.join(ITEM)}; or --item COLUMN) nor one named "
                    "like a text (MODEL/ID)"
                )
            # An empty cell: this rater was not shown the item.
            for column in columns:
                if row[column]:
                    yield CrowdRating(column, who, row[column], f"{path}:{line}")
            continue
        said = row[_column(path, row, label, LABEL, "label")]
        yield CrowdRating(row[_column(path, row, name, (), "item")], who, said, f"{path}:{line}")


def table_rows(path: str) -> Iterator[tuple[int, Mapping[str, str]]]:
    """The rows of a CSV, or TSV by its ending, by the names of the header, with their lines.

    Raises:
        BadInput: it cannot be read, or a row has another number of cells; `FILE:LINE: what`.
    """
    try:
        text = read_text(path).removeprefix("\ufeff")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: cannot be read: {error}") from None
    reader = csv.reader(io.StringIO(text), delimiter="\t" if path.endswith(".tsv") else ",")
    header: list[str] = []
    try:
        for cells in reader:
            if not any(cells):
                continue
            if not header:
                header = [cell.strip() for cell in cells]
                continue
            if len(cells) != len(header):
                raise BadInput(f"{path}:{reader.line_num}: has {len(cells)} cells where the header has {len(header)}")
            yield reader.line_num, {name: cell.strip() for name, cell in zip(header, cells, strict=True)}
    except csv.Error as error:
        raise BadInput(f"{path}:{reader.line_num}: this is no table: {error}") from None


def _found(row: Mapping[str, str], names: Sequence[str]) -> str | None:
    columns = {column.casefold(): column for column in reversed(list(row))}
    return next((columns[name] for name in names if name in columns), None)


def _column(path: str, row: Mapping[str, str], given: str | None, names: Sequence[str], what: str) -> str:
    found = given if given in row else _found(row, names) if given is None else None
    if found is None:
        wanted = repr(given) if given is not None else f"{what} ({', '.join(names)}; or --{what} COLUMN)"
        raise BadInput(f"{path}:1: there is no column {wanted}; there are: {', '.join(row)}")
    return found
