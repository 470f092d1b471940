"""Rows of texts as tables: a column a key, a column a label, a row a span."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from emotui.formats.layouts.layout import TextRow
from emotui.formats.layouts.tables.names import EMOTIONS, NAMES, SCALES, normal
from emotui.formats.layouts.tools.said import all_labels, lost

PLAIN = ("id", "text", "subject", "label", "emotion", "valence")
NESTED = ("labels", "spans", "values", "sentences", "annotators", "meta")
_TAKEN = frozenset(name for names in (*NAMES.values(), *SCALES.values()) for name in names)

Cells = Iterable[Sequence[Any]]


def write_cells(path: Path, rows: Sequence[TextRow]) -> Sequence[str]:
    """A row a text; what is nested stands as JSON in its cell."""
    write_table(path, table_cells(rows))
    return []


def table_cells(rows: Sequence[TextRow]) -> Iterator[Sequence[Any]]:
    """A header with the keys that some row has, and the cells of each row."""
    keys = [key for key in (*PLAIN, *NESTED) if key in ("id", "text") or any(key in row for row in rows)]
    # What records of another package's task say stands under names of their own.
    keys += [key for key in dict.fromkeys(key for row in rows for key in row) if key not in (*PLAIN, *NESTED)]
    yield keys
    for row in rows:
        yield [cell(row.get(key)) for key in keys]


def write_wide(path: Path, rows: Sequence[TextRow]) -> Sequence[str]:
    """A row a text and a column a label: 1 where it is there, 0 where it is not, empty where nothing is said."""
    labels = all_labels(rows)
    if len(labels) < 2 or any(normal(name) in _TAKEN - EMOTIONS or name != " ".join(name.split()) for name in labels):
        write_table(path, table_cells([{key: row[key] for key in row if key != "spans"} for row in rows]))
        return lost(rows, (*PLAIN, *NESTED[0:1], *NESTED[2:])).lines()
    write_table(path, _wide_cells(rows, labels))
    held = ("id", "text", "subject", "label", "labels", "emotion", "valence", "values", "meta")
    return lost(rows, held).lines()


def _wide_cells(rows: Sequence[TextRow], labels: Sequence[str]) -> Iterator[Sequence[Any]]:
    more = [key for key in ("subject", "emotion", "valence", "values", "meta") if any(key in row for row in rows)]
    yield ["id", "text", *labels, *more]
    for row in rows:
        yield [row.get("id"), row.get("text"), *_marks(row, labels), *(cell(row.get(key)) for key in more)]


def _marks(row: TextRow, labels: Sequence[str]) -> list[object]:
    said = row.get("labels")
    if said is None and "label" in row:
        said = [row["label"]]
    if said is None:
        return [None] * len(labels)
    if isinstance(said, Mapping):
        return [said.get(name) for name in labels]
    return [int(name in said) for name in labels]


def write_long(path: Path, rows: Sequence[TextRow]) -> Sequence[str]:
    """A row a span; a text without one has a row of its own, without start and end.

    Raises:
        ValueError: something is said of the texts, and nothing of a part of one.
    """
    held = ("id", "text", "subject", "emotion", "valence", "sentences", "spans", "annotators", "meta")
    unheld = lost(rows, held)
    if unheld.lines() and not any(map(_has_parts, rows)):
        raise ValueError(
            "long has a row a span, and nothing marks one in these texts: --format wide or table holds what is said"
        )
    write_table(path, _long_cells(rows))
    unheld.add("texts of which nothing is said", "read as texts without spans", sum("spans" not in row for row in rows))
    return unheld.lines()


def _has_parts(row: TextRow) -> bool:
    """Does anybody say anything of a part of the text?"""
    people = (row.get("annotators") or {}).values()
    return "spans" in row or "sentences" in row or any(_marks_of(one) is not None for one in people)


def _marks_of(said: Any) -> Any:
    """The spans that a person marked; None: nothing is said of spans."""
    return said.get("spans") if isinstance(said, Mapping) else said


_OF_SPANS = ("label", "score", "attributes")
"""What may be said of a span: a column each, where one of the spans has it."""


def _long_cells(rows: Sequence[TextRow]) -> Iterator[Sequence[Any]]:
    more = [key for key in ("subject", "emotion", "valence", "sentences", "meta") if any(key in row for row in rows)]
    every = [_marked(row) for row in rows]
    people = any(name is not None for said in every for name, _ in said)
    named = [
        key
        for key in _OF_SPANS
        if any(mark and _told(mark, key) is not None for said in every for _, ms in said for mark in ms)
    ]
    yield [
        *("id", "text", "start", "end", "span"),
        *(f"span_{key}" for key in named),
        *(["annotator"] * people),
        *more,
    ]
    for number, (row, said) in enumerate(zip(rows, every, strict=True), start=1):
        text = row.get("text") or ""
        for name, marks in said:
            for mark in marks:
                yield [
                    row.get("id", str(number)),
                    text,
                    *_span_cells(mark, text, named),
                    *([name] * people),
                    *(cell(row.get(key)) for key in more),
                ]


def _marked(row: TextRow) -> list[tuple[str | None, Sequence[Mapping[str, Any] | None]]]:
    """Who marked which spans: the record itself (None), and each of its annotators; a list of None for no span."""
    people = [(name, _marks_of(one)) for name, one in (row.get("annotators") or {}).items()]
    return [
        (None, row.get("spans") or [None]),
        *((name, marks or [None]) for name, marks in people if marks is not None),
    ]


def _told(mark: Mapping[str, Any], key: str) -> Any:
    """What is said of a span under a key; None: nothing."""
    found = mark.get(key)
    return None if key == "attributes" and not found else found


def _span_cells(mark: Mapping[str, Any] | None, text: str, named: Sequence[str]) -> list[Any]:
    if mark is None:
        return [None] * (3 + len(named))
    start, end = mark["start"], mark["end"]
    return [start, end, text[start:end], *(cell(_told(mark, key)) for key in named)]


def write_table(path: Path, cells: Cells) -> None:
    """Cells as CSV, or as TSV where the file's name ends so; UTF-8."""
    text = io.StringIO()
    csv.writer(text, delimiter="\t" if path.suffix.lower() in (".tsv", ".tab") else ",").writerows(cells)
    path.write_bytes(text.getvalue().encode())


def cell(value: Any) -> Any:
    """A value as it stands in a cell: what is nested as JSON."""
    return msgspec.json.encode(value).decode() if isinstance(value, list | tuple | dict) else value
