"""SemEval-2018 Task 1 (Affect in Tweets) and SemEval-2025 Task 11 (BRIGHTER), as their organisers release them."""

from collections.abc import Mapping
from pathlib import Path

from emotui.formats.layouts.corpora.released import first_table, good_rows, table_of_release
from emotui.formats.layouts.tables.names import normal
from emotui.formats.layouts.tables.table import Table
from emotui.formats.layouts.tables.values import is_empty, number

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
    numbers = [number(row[name]) for row in good_rows(table) for name in emotions if not is_empty(row.get(name))]
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
