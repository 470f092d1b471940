"""What a slice is: conditions on facets of samples, as a line of text.

`emotion=sad|fear & length=long & f1<0.5`: every condition holds; of several values any one. `!=` turns a condition
round, and `<`, `<=`, `>`, `>=` are for numbers. A name or value with `&`, `|`, `=`, `<`, `>` or `"` in it stands in
double quotes, in which a double quote is written twice.
"""

import re
from math import isfinite

import msgspec

from emotui.errors import BadInput

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
