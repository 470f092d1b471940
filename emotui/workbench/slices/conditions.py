"""What a slice is: conditions on facets of samples, as a line of text.

`emotion=sad|fear & length=long & f1<0.5`: every condition holds; of several values any one. `!=` turns a condition
round, and `<`, `<=`, `>`, `>=` are for numbers. A name or value with `&`, `|`, `=`, `<`, `>` or `"` in it stands in
double quotes, in which a double quote is written twice.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from emotui.errors import BadInput
from emotui.metrics.states import Floats

# Facets of a dataset's samples: what can be asked of each, as columns of true and false, or of numbers.

Bools = NDArray[np.bool_]

MOST_VALUES = 40
"""A column of one's own with more different values is no facet, unless they are numbers."""

_FEW = 5
"""So many different numbers, or texts that are all different, are still values of their own."""


@dataclass(frozen=True, slots=True)
class Facet:
    """One facet. `members` (n, k): which samples have which of `values`; several may hold of one.

    `numbers` (n,): what the values were made of, where that is numbers; NaN where a sample has none. `about`: in words.
    """

    name: str
    about: str
    values: tuple[str, ...]
    members: Bools
    numbers: Floats | None = None


class Said(msgspec.Struct):
    """What facets need of a record, whatever task it is of."""

    text: str | None = None
    emotion: str | None = None
    valence: str | None = None
    spans: list[Any] | None = None
    label: str | None = None
    labels: Any = None
    sentences: list[dict[str, Any]] = []
    annotators: dict[str, Any] = {}
    meta: dict[str, Any] = {}


def as_text(value: object) -> str | None:
    """A value of a column as text, as the list's own filter has it."""
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def own(name: str, said: Sequence[Any]) -> Facet | None:
    """The facet of a column of one's own: thirds of numbers, else its values; None where these are too many.

    Args:
        said: what each sample says; None or empty where it says nothing.
    """
    known = [one for one in said if one is not None and one != ""]
    numeric = all(isinstance(one, int | float) and not isinstance(one, bool) for one in known)
    texts = [as_text(one) for one in said]
    different = {text for text in texts if text}
    if numeric and len(different) > _FEW:
        numbers = np.array([float(one) if isinstance(one, int | float) else np.nan for one in said])
        return thirds(name, f"{name}, a third each", numbers, ("low", "middle", "high"))
    if len(different) > MOST_VALUES or len(different) == len(known) > _FEW:
        return None
    return categories(name, f"column {name}", [(text,) if text else () for text in texts])


def categories(name: str, about: str, said: Sequence[Iterable[str]], order: Sequence[str] = ()) -> Facet | None:
    """A facet of what each sample has; `order`: of values, where it is not that of their number."""
    counts: dict[str, int] = {}
    kept = [tuple(dict.fromkeys(each)) for each in said]
    for each in kept:
        for value in each:
            counts[value] = counts.get(value, 0) + 1
    if not counts:
        return None
    place = {value: at for at, value in enumerate(order)}
    values = sorted(counts, key=lambda value: (place.get(value, len(place)), -counts[value], value))
    at = {value: column for column, value in enumerate(values)}
    members = np.zeros((len(kept), len(values)), dtype=np.bool_)
    for row, each in enumerate(kept):
        for value in each:
            members[row, at[value]] = True
    return Facet(name, about, tuple(values), members)


def thirds(name: str, about: str, numbers: Floats, names: tuple[str, str, str]) -> Facet | None:
    """A facet of numbers in three parts of about the same size; equal numbers are in one part."""
    known = numbers[~np.isnan(numbers)]
    if not len(known):
        return None
    low, high = np.quantile(known, [1 / 3, 2 / 3])
    members = np.stack([numbers <= low, (numbers > low) & (numbers <= high), numbers > high], axis=1)
    there = np.flatnonzero(members.sum(axis=0))
    values = tuple(names[at] for at in there.tolist())
    return Facet(name, about, values, members[:, there], numbers)


def emotions_of(said: Said) -> tuple[str, ...]:
    """All gold emotions or labels of a record."""
    found = [said.emotion, said.label, *(one.get("emotion") for one in said.sentences)]
    found += [span[2] for span in said.spans or () if isinstance(span, list) and len(span) > 2]
    if isinstance(said.labels, Mapping):
        found += [name for name, value in said.labels.items() if value]
    elif isinstance(said.labels, Sequence):
        found += said.labels
    return tuple(dict.fromkeys(one for one in found if isinstance(one, str) and one))


OPERATORS = ("!=", "<=", ">=", "=", "<", ">")
NUMBERS = ("<=", ">=", "<", ">")

BUILT_IN = ("emotion", "valence", "length", "cues", "negation", "sentences", "agreement", "code", "note")
"""Facets that any dataset may have."""

MARK, TEXT, SLICE, WORDS = "mark", "text", "slice", "words"
"""What can be asked for beside facets: an error of the run, words in the text, a saved slice, how many words."""

RESERVED = frozenset({*BUILT_IN, MARK, TEXT, SLICE, WORDS})
"""What is never a column of one's own; `meta.NAME` is."""

_TOKEN = re.compile(r'\s*(?:"((?:[^"]|"")*)"|(!=|<=|>=|[=<>&|])|([^"=<>&|!]+|!))')
_SPECIAL = re.compile(r'["=<>&|!]|^\s|\s$|^$')


class Condition(msgspec.Struct, frozen=True):
    """A facet, how it is asked for (one of `OPERATORS`), and the values of which any will do."""

    facet: str
    operator: str
    values: tuple[str, ...]

    @property
    def number(self) -> float:
        """The value of a comparison of numbers."""
        return float(self.values[0])


def parsed(line: str) -> tuple[Condition, ...]:
    """The conditions of a line.

    Raises:
        BadInput: it is no line of conditions, or a number is compared with something else.
    """
    tokens = _tokens(line)
    found: list[Condition] = []
    at = 0
    while at < len(tokens):
        if found:
            if tokens[at] != ("&", True):
                raise BadInput(f"conditions stand as NAME=VALUE with & between them, not {line!r}")
            at += 1
        condition, at = _condition(tokens, at, line)
        found.append(condition)
    return tuple(found)


def written(conditions: tuple[Condition, ...]) -> str:
    """The line that `parsed` reads as these conditions."""
    return " & ".join(f"{_quoted(one.facet)}{one.operator}{'|'.join(map(_quoted, one.values))}" for one in conditions)


def _condition(tokens: list[tuple[str, bool]], at: int, line: str) -> tuple[Condition, int]:
    if at + 1 >= len(tokens) or tokens[at][1] or tokens[at + 1] not in [(one, True) for one in OPERATORS]:
        raise BadInput(f"conditions stand as NAME=VALUE with & between them, not {line!r}")
    facet, operator = tokens[at][0], tokens[at + 1][0]
    at += 2
    values: list[str] = []
    if at >= len(tokens) or tokens[at] == ("&", True):
        values.append("")  # a column that says nothing
    else:
        while True:
            if at >= len(tokens) or tokens[at][1]:
                raise BadInput(f"{facet}{operator}: a value is missing in {line!r}")
            values.append(tokens[at][0])
            at += 1
            if at >= len(tokens) or tokens[at] != ("|", True):
                break
            at += 1
    if operator in NUMBERS and (len(values) > 1 or not _is_number(values[0])):
        raise BadInput(f"{facet}{operator} wants one number, not {'|'.join(values)!r}")
    return Condition(facet, operator, tuple(dict.fromkeys(values))), at


def _tokens(line: str) -> list[tuple[str, bool]]:
    """(text, whether it is an operator) of each part of a line."""
    found: list[tuple[str, bool]] = []
    at = 0
    while at < len(line.rstrip()):
        match = _TOKEN.match(line, at)
        if match is None:
            raise BadInput(f"a double quote is not closed in {line!r}")
        quoted, operator, plain = match.groups()
        if quoted is not None:
            found.append((quoted.replace('""', '"'), False))
        elif operator is not None:
            found.append((operator, True))
        else:
            found.append((plain.strip(), False))
        at = match.end()
    return found


def _is_number(text: str) -> bool:
    try:
        return isfinite(float(text))
    except ValueError:
        return False


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if _SPECIAL.search(text) else text
