"""Corpora whose labels are numbers in a table without names: GoEmotions and XED."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from emotui.formats.layouts.corpora.released import first_table, good_rows
from emotui.formats.layouts.layout import Layout, ReadOptions, TextRow
from emotui.formats.layouts.lost import all_labels, lost
from emotui.formats.layouts.tables.decoding import broken, decoded_file
from emotui.formats.layouts.tables.values import labels
from emotui.formats.rows import Flaw, Rows

GOEMOTIONS_LABELS = (
    *("admiration", "amusement", "anger", "annoyance", "approval", "caring", "confusion", "curiosity", "desire"),
    *("disappointment", "disapproval", "disgust", "embarrassment", "excitement", "fear", "gratitude", "grief", "joy"),
    *("love", "nervousness", "optimism", "pride", "realization", "relief", "remorse", "sadness", "surprise", "neutral"),
)
"""As in its `emotions.txt`, from number 0."""

XED_LABELS = ("neutral", "anger", "anticipation", "disgust", "fear", "joy", "sadness", "surprise", "trust")
"""As its README tells them, from number 0."""

_LIST = "emotions.txt"
_NUMBERS = re.compile(r"\s*\d+(\s*,\s*\d+)*\s*")
_ID = re.compile(r"[a-z0-9]{6,8}")
_PARTS = re.compile(r"[\t\n\r]")
_SPLIT = {"text": "1", "labels": "2"}


def _lines(path: Path, options: ReadOptions) -> Iterator[tuple[int, str]]:
    for line, content in enumerate(decoded_file(path, options.encoding).text.split("\n"), start=1):
        if content.strip():
            yield line, content.removesuffix("\r")


def _rows(path: Path, options: ReadOptions, names: Sequence[str], widths: Sequence[int]) -> Rows:
    """Cells between tabs, and a quote is a quote: text, numbers of labels, and an id where there is one."""
    for line, content in _lines(path, options):
        if (wrong := broken(content)) is not None:
            yield line, wrong
            continue
        cells = content.split("\t")
        if len(cells) not in widths or not _NUMBERS.fullmatch(cells[1]):
            wanted = "a text, numbers of labels" + (" and an id" if 3 in widths else "")
            yield line, Flaw(f"must have {wanted}, with tabs between them")
            continue
        said = labels(cells[1], names)
        row: TextRow = {"text": cells[0], "labels": said}
        if len(cells) > 2 and cells[2].strip():
            row["id"] = cells[2].strip()
        yield line, said if isinstance(said, Flaw) else row


def _numbered(path: Path, head: bytes, width: int) -> list[dict[str, str]] | None:
    """The first rows, where all have so many cells and numbers of labels in the second."""
    if path.suffix.lower() not in (".tsv", ".txt", ".csv", ""):
        return None
    table = first_table(path, head, headed=False)
    if table is None or table.delimiter != "\t" or len(table.header) != width:
        return None
    rows = good_rows(table)
    return rows if rows and all(_NUMBERS.fullmatch(row.get("2", "")) for row in rows) else None


def _recognise_goemotions(path: Path, head: bytes) -> str | None:
    rows = _numbered(path, head, 3)
    if rows is None or not all(_ID.fullmatch(row.get("3", "").strip()) for row in rows):
        return None
    beside = f", and {_LIST} lies beside it" if (path.parent / _LIST).is_file() else ""
    return f"it has a text, numbers of labels and an id of Reddit, with tabs between them{beside}"


def _recognise_xed(path: Path, head: bytes) -> str | None:
    rows = _numbered(path, head, 2)
    if rows is None:
        return None
    # One small number a text is how everybody writes classes: 0 and 1 are not neutral and anger.
    said = [[int(one) for one in row["2"].split(",")] for row in rows]
    if max(map(max, said)) >= len(XED_LABELS) or not any(len(numbers) > 1 for numbers in said):
        return None
    return "it has a sentence and numbers of labels up to 8, several of some, with a tab between them"


def label_list(path: Path) -> tuple[str, ...]:
    """A file with a label a line. Raises UnreadableFile where it cannot be read."""
    return tuple(line.strip() for line in decoded_file(path).text.split("\n") if line.strip())


def _goemotions_names(path: Path, options: ReadOptions) -> tuple[str, ...]:
    if options.label_names:
        return options.label_names
    beside = path.parent / _LIST
    return label_list(beside) if beside.is_file() else GOEMOTIONS_LABELS


def write_goemotions(path: Path, rows: Sequence[TextRow]) -> Sequence[str]:
    """A text, numbers of labels and an id a line, and the labels in `emotions.txt` beside it.

    Raises:
        ValueError: an `emotions.txt` with other labels lies there.
    """
    names = all_labels(rows)
    if set(names) <= set(GOEMOTIONS_LABELS):
        names = list(GOEMOTIONS_LABELS)
    beside = path.parent / _LIST
    if beside.exists():
        names = list(label_list(beside))
        if missing := [name for name in all_labels(rows) if name not in names]:
            raise ValueError(f"{beside} lacks the label {missing[0]!r}: write into another folder")
    written, folded, unlabelled = [], 0, 0
    for number, row in enumerate(rows, start=1):
        said = row.get("labels", [row["label"]] if "label" in row else None)
        there = [name for name, value in said.items() if value] if isinstance(said, dict) else said
        if not there:
            unlabelled += 1
            continue
        text = row.get("text") or ""
        folded += _PARTS.search(text) is not None
        numbers = ",".join(str(names.index(name)) for name in there)
        written.append("\t".join((_PARTS.sub(" ", text), numbers, str(row.get("id", number)))) + "\n")
    path.write_text("".join(written), encoding="utf-8")
    beside.write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
    unheld = lost(rows, ("id", "text", "label", "labels"))
    unheld.add("tabs and line ends inside texts", "written as spaces", folded)
    unheld.add("texts without a label", "left out", unlabelled)
    return unheld.lines()


GOEMOTIONS = Layout(
    name="goemotions",
    about="GoEmotions: text, numbers of labels and an id; the names from emotions.txt beside it, or --labels.",
    recognise=_recognise_goemotions,
    rows=lambda path, options: _rows(path, options, _goemotions_names(path, options), (3,)),
    write=write_goemotions,
    settled=lambda path, options: replace(
        options, delimiter="\t", columns={**_SPLIT, "id": "3"}, label_names=_goemotions_names(path, options)
    ),
)
XED = Layout(
    name="xed",
    about="XED: a sentence and numbers of Plutchik's eight, from anger (1) to trust (8); 0 is neutral.",
    recognise=_recognise_xed,
    rows=lambda path, options: _rows(path, options, options.label_names or XED_LABELS, (2,)),
    settled=lambda path, options: replace(
        options, delimiter="\t", columns=_SPLIT, label_names=options.label_names or XED_LABELS
    ),
)
