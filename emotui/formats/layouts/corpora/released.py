"""What the tables of releases have in common: they are told by their header, and their columns are known."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from emotui.formats.layouts.layout import Layout, ReadOptions, TextRow
from emotui.formats.layouts.tables.names import normal
from emotui.formats.layouts.tables.several import remarks
from emotui.formats.layouts.tables.shape import shaped
from emotui.formats.layouts.tables.table import Table, broken, decoded_file, decoded_head, read_table, table_of
from emotui.formats.layouts.tables.values import is_unanswered, labels, number
from emotui.formats.layouts.tools.said import all_labels, lost
from emotui.formats.rows import Flaw, Rows, UnreadableFile

Columns = Callable[[Table], Mapping[str, str]]
"""By the key of a row its column, in a table of the release."""


def first_table(path: Path, head: bytes, headed: bool | None = None) -> Table | None:
    """The table in the first bytes of a file, without its last line, which may be cut; None where there is none."""
    if not head.strip() or path.is_dir():
        return None
    try:
        found = decoded_head(head)
        return table_of(found.text, ReadOptions(), found.encoding, headed=headed)
    except UnreadableFile:
        return None


def good_rows(table: Table) -> list[dict[str, str]]:
    """The rows of a table that can be read."""
    return [row for _, row in table.rows if not isinstance(row, Flaw)]


def settle(columns: Columns, path: Path, options: ReadOptions) -> ReadOptions:
    """The options with the columns of the release; what the person says goes before."""
    return _settled(read_table(path, options, headed=True), columns, options)


def rows(columns: Columns, path: Path, options: ReadOptions) -> Rows:
    """The rows of texts of such a table."""
    table = read_table(path, options, headed=True)
    yield from shaped(table, _settled(table, columns, options))


def _settled(table: Table, columns: Columns, options: ReadOptions) -> ReadOptions:
    known = {**columns(table), **options.columns}
    if lacking := [column for column in known.values() if column and column not in table.header]:
        raise UnreadableFile(f"there is no column {lacking[0]!r}, which the release has", 1)
    kept = {key: column for key, column in known.items() if column}
    return replace(
        options,
        delimiter=table.delimiter,
        encoding=table.encoding,
        columns=kept,
        remarks=remarks(table, kept),
    )


def table_of_release(name: str, about: str, recognise: Callable[[Path, bytes], str | None], columns: Columns) -> Layout:
    """A layout of tables with known columns."""
    return Layout(name, about, recognise, partial(rows, columns), settled=partial(settle, columns))


# Corpora whose labels are numbers in a table without names: GoEmotions and XED.

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
    for line, row in enumerate(rows, start=1):
        said = row.get("labels", [row["label"]] if "label" in row else None)
        there = [name for name, value in said.items() if value] if isinstance(said, dict) else said
        if not there:
            unlabelled += 1
            continue
        text = row.get("text") or ""
        folded += _PARTS.search(text) is not None
        numbers = ",".join(str(names.index(name)) for name in there)
        written.append("\t".join((_PARTS.sub(" ", text), numbers, str(row.get("id", line)))) + "\n")
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


# GoEmotions by rater: the full CSV, in which each row is what one person said of one comment.

_OWN = {"text", "id", "rater_id", "example_very_unclear", *GOEMOTIONS_LABELS}


def _recognise(path: Path, head: bytes) -> str | None:
    table = first_table(path, head)
    if table is None or not set(table.header) >= _OWN:
        return None
    return "it has rater_id, example_very_unclear and a column for each of its 28 labels"


def _columns(table: Table) -> Mapping[str, str]:
    """`example_very_unclear`, of which each rater has an own opinion, is not kept: all labels are 0 where it is."""
    own = {"id": "id", "text": "text", "annotator": "rater_id", "ignore.unclear": "example_very_unclear"}
    return own | {f"labels.{name}": name for name in GOEMOTIONS_LABELS}


GOEMOTIONS_RATERS = table_of_release(
    "goemotions-raters",
    "GoEmotions by rater (goemotions_1.csv and so on): what each person said, without a gold label.",
    _recognise,
    _columns,
)


# SemEval-2018 Task 1 (Affect in Tweets) and SemEval-2025 Task 11 (BRIGHTER), as their organisers release them.

_TWEET = ("ID", "Tweet")
_EMOTIONS_2018 = (
    *("anger", "anticipation", "disgust", "fear", "joy", "love", "optimism", "pessimism", "sadness", "surprise"),
    "trust",
)
_DIMENSION = "Affect Dimension"
_STRENGTHS = ("Intensity Score", "Intensity Class")
_EMOTIONS_2025 = ("anger", "disgust", "fear", "joy", "sadness", "surprise")


def _recognise_2018(path: Path, head: bytes) -> str | None:
    table = first_table(path, head)
    if table is None or table.header[:2] != _TWEET:
        return None
    if set(_EMOTIONS_2018) <= set(table.header):
        return "it has the columns of E-c: ID, Tweet and eleven emotions"
    if _DIMENSION in table.header and (strength := _strength(table)):
        return f"it has the columns ID, Tweet, {_DIMENSION} and {strength}, as EI-reg, EI-oc, V-reg and V-oc"
    return None


def _strength(table: Table) -> str | None:
    return next((name for name in _STRENGTHS if name in table.header), None)


def _columns_2018(table: Table) -> Mapping[str, str]:
    """E-c: a column an emotion. Else the strength of the one dimension that a file is about, which names the number."""
    own = {"id": "ID", "text": "Tweet"}
    strength = _strength(table)
    if strength is None:
        return own | {f"labels.{name}": name for name in _EMOTIONS_2018}
    # A class is a number and what it means, as `2: moderate amount of anger can be inferred`; a test file has NONE.
    said = [row[strength] for row in good_rows(table) if row.get(strength)]
    if not said or any(number(one) is None for one in said):
        return own | ({"label": strength} if any(one != "NONE" for one in said) else {})
    dimension = next((row[_DIMENSION] for row in good_rows(table) if row.get(_DIMENSION)), "intensity")
    return own | {f"values.{dimension}": strength}


def _recognise_2025(path: Path, head: bytes) -> str | None:
    table = first_table(path, head)
    if table is None or table.delimiter != "," or [normal(one) for one in table.header[:2]] != ["id", "text"]:
        return None
    emotions = _emotions_2025(table)
    others = [name for name in table.header[2:] if name not in emotions]
    if len(emotions) < 5 or [name for name in others if normal(name) not in ("neutral", "language", "split")]:
        return None
    return f"it has the columns id, text and {', '.join(emotions)}, and no others"


def _emotions_2025(table: Table) -> list[str]:
    return [name for name in table.header if normal(name) in _EMOTIONS_2025]


def _columns_2025(table: Table) -> Mapping[str, str]:
    """Track A: 0 or 1 an emotion. Track B: its intensity, from 0 to 3. A file with nothing in them is unlabelled."""
    emotions = [*_emotions_2025(table), *(name for name in table.header if normal(name) == "neutral")]
    numbers = [number(row[name]) for row in good_rows(table) for name in emotions if not is_unanswered(row.get(name))]
    intensities = any(one is not None and one not in (0.0, 1.0) for one in numbers)
    kind = "values" if intensities else "labels"
    return {"id": table.header[0], "text": table.header[1]} | {f"{kind}.{name}": name for name in emotions}


SEMEVAL_2018 = table_of_release(
    "semeval-2018",
    "SemEval-2018 Task 1: E-c (eleven emotions) and the files of intensities (EI, V).",
    _recognise_2018,
    _columns_2018,
)
BRIGHTER = table_of_release(
    "brighter",
    "SemEval-2025 Task 11 (BRIGHTER): emotions as 0 and 1, or their intensities.",
    _recognise_2025,
    _columns_2025,
)


# EmoBank, ISEAR and MELD: tables with one row a text.

_SCALES = {"values.valence": "V", "values.arousal": "A", "values.dominance": "D"}
_OF_ISEAR = {"MYKEY", "SIT", "Field1", "EMOT"}
_OF_MELD = {"Utterance", "Speaker", "Emotion", "Sentiment", "Dialogue_ID", "Utterance_ID"}


def _recognise_emobank(path: Path, head: bytes) -> str | None:
    table = first_table(path, head)
    if table is None or not {"id", "text", *_SCALES.values()} <= set(table.header) or len(table.header) > 6:
        return None
    return "it has the columns id, V, A, D and text"


def _recognise_isear(path: Path, head: bytes) -> str | None:
    table = first_table(path, head)
    if table is None or not set(table.header) >= _OF_ISEAR:
        return None
    return "it has the columns MYKEY, SIT, EMOT and Field1 among those of its questionnaire"


def _recognise_meld(path: Path, head: bytes) -> str | None:
    table = first_table(path, head)
    return None if table is None or not set(table.header) >= _OF_MELD else "it has Utterance, Speaker and Dialogue_ID"


def _meld(table: Table) -> Mapping[str, str]:
    """`Sr No.` begins again in each part, and skips numbers; it is unique in a part."""
    own = {"id": "Sr No."} if "Sr No." in table.header else {}
    return own | {
        "text": "Utterance",
        "label": "Emotion",
        "meta.speaker": "Speaker",
        "meta.sentiment": "Sentiment",
        "meta.conversation": "Dialogue_ID",
        "meta.turn": "Utterance_ID",
    }


EMOBANK = table_of_release(
    "emobank",
    "EmoBank: valence, arousal and dominance from 1 to 5 of each sentence.",
    _recognise_emobank,
    lambda table: {"id": "id", "text": "text", **_SCALES},
)
ISEAR = table_of_release(
    "isear",
    "ISEAR: a situation and the emotion that it was told for, and the answers to the questionnaire.",
    _recognise_isear,
    lambda table: {"id": "MYKEY", "text": "SIT", "label": "Field1"},
)
MELD = table_of_release(
    "meld",
    "MELD: utterances of dialogues with their speakers, emotions and sentiments.",
    _recognise_meld,
    _meld,
)
