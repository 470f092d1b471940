"""What people say in a table: a column a person, and names of people beside their answers."""

import re
from collections.abc import Mapping
from typing import Any

from emotui.formats.layouts.tables.names import normal
from emotui.formats.layouts.tables.values import identifier, is_empty, parsed
from emotui.formats.rows import Flaw, shown

_PERSON = re.compile(
    r"(annotator|annot|ann|rater|coder|judge|worker|labell?er|expert|crowdworker|reader|evaluator|reviewer)"
    r"(s?_?\d+|_[a-z])"
    r"(_?(label|labels|emotion|answer|rating|annotation|vote))?"
)
_CODE = re.compile(r"(?=\S*\d)[\w.:@#/+=-]{6,}|\S+@\S+\.\S+|https?://\S+", re.ASCII)
_OF_PEOPLE = frozenset(
    {
        *("id", "ids", "workerid", "userid", "uid", "uuid", "guid", "hash", "prolific", "mturk", "turker", "username"),
        *("annotator", "annotators", "rater", "raters", "coder", "coders", "worker", "labeler", "labeller", "judge"),
        *("url", "link", "date", "timestamp", "email"),
    }
)

_PEOPLE = frozenset(
    {
        *("name", "names", "full_name", "first_name", "last_name", "nickname", "screen_name", "handle", "user", "who"),
        *("speaker", "author", "writer", "participant", "respondent", "person", "character"),
    }
)
"""What a whole column is called that names people, though part of such a name may be that of a text (user_comment)."""

ANSWERS = "annotations"
"""The field that has the answers where `annotators` has the names alone."""


def is_person(column: str) -> bool:
    """Whether a column is called as one of several people is: annotator_1, Rater 2, coder3."""
    return _PERSON.fullmatch(normal(column)) is not None


def names_people(column: str) -> bool:
    """Whether a column is called as what names people, places on the web or times is, and not as a text."""
    return normal(column) in _PEOPLE or bool(set(normal(column).split("_")) & _OF_PEOPLE)


def is_code(value: object) -> bool:
    """Whether a value is no words but a sign for somebody or something: an id, an address."""
    return isinstance(value, str) and _CODE.fullmatch(value.strip()) is not None


def said_by(people: object, answers: object) -> dict[str, Any] | Flaw | None:
    """What each person says, by name, whatever a file writes under `annotators`; None: these are names alone.

    Args:
        people: an object by name, or names in a list or between commas.
        answers: those of such names, in their order, or by name.
    """
    people, answers = parsed(people), parsed(answers)
    for value in (people, answers):
        if isinstance(value, Flaw):
            return value
    if isinstance(people, Mapping):
        return _each(people)
    names = _items(people)
    if names is None:
        return Flaw(f"must be an object of what each person says, or names, not {shown(people)}")
    if isinstance(answers, Mapping):
        return _each(answers)
    if is_empty(answers):
        return None
    given = _items(answers) or []
    if len(given) != len(names):
        return Flaw(f"{len(names)} people and {len(given)} answers under `{ANSWERS}`")
    named = [identifier(name) for name in names]
    if wrong := next((name for name in names if identifier(name) is None or named.count(identifier(name)) > 1), None):
        return Flaw(f"{shown(wrong)} stands twice" if identifier(wrong) else f"{shown(wrong)} is no name")
    return _each({str(name): answer for name, answer in zip(named, given, strict=True)})


def _items(value: object) -> list[object] | None:
    if isinstance(value, list | tuple):
        return list(value)
    return [part.strip() for part in value.split(",")] if isinstance(value, str) else None


def _each(people: Mapping[Any, Any]) -> dict[str, Any] | Flaw:
    found: dict[str, Any] = {}
    for name, said in people.items():
        if is_empty(said):
            continue
        if isinstance(said, Mapping):
            found[str(name)] = said
        elif isinstance(said, list | tuple):
            labels = bool(said) and all(isinstance(one, str) for one in said)
            found[str(name)] = {"labels": list(dict.fromkeys(said))} if labels else list(said)
        elif (label := identifier(said)) is not None:
            found[str(name)] = {"label": label}
        else:
            return Flaw(f"{shown(str(name))} says {shown(said)}, which is neither a label nor spans")
    return found
