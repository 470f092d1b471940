"""What a record of a text says beside what its kind is of: a label beside spans, numbers beside labels.

In a file each stands under a key of its own; in a record of one kind what that kind has no field for stands in `meta`,
under the same key, so that it is shown, filtered and written out again.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

import msgspec

from emotui.formats.columns import NUMBERED
from emotui.records import LabelsGold, ScenesGold, SpanSample, Text, ValuesGold

SAID = ("spans", "label", "labels", "values")
"""The keys under which something is said about a text."""


OF_PEOPLE = (*SAID, "words", "sentences", "emotion", "valence", "note", "skipped")
"""The keys of what one annotator says about a text."""

_WORDS = ("emotion", "valence")
"""Keys that are answers where they are words: `{"valence": 2.0}` says numbers by name."""

_OWN: Mapping[type[msgspec.Struct], tuple[str, ...]] = {
    SpanSample: ("spans",),
    LabelsGold: ("labels", "label"),
    ScenesGold: ("labels", "label"),
    ValuesGold: ("values",),
}
"""By the kind of record the keys of what its `annotators` say; all others stand beside, in `meta`."""


@cache
def kept_beside(kind: type[msgspec.Struct]) -> tuple[str, ...]:
    """The keys that a kind of record has no field for; none where it is no record of a text with gold."""
    if kind not in NUMBERED or kind is Text:
        return ()
    return tuple(key for key in SAID if key not in kind.__struct_fields__)


def put_beside(kind: type[msgspec.Struct], row: dict[str, Any]) -> None:
    """Move what a kind of record has no field for into the `meta` of a row, in place; what stands there stays.

    Of a text with several labels and one label beside them, the one is such too.
    """
    keys = [key for key in kept_beside(kind) if row.get(key) is not None]
    if kind is LabelsGold and row.get("labels") is not None and row.get("label") is not None:
        keys.append("label")
    meta = row.get("meta")
    if keys and (meta is None or isinstance(meta, dict)):
        row["meta"] = {key: row.pop(key) for key in keys} | (meta or {})
    if kept_beside(kind) and isinstance(row.get("annotators"), dict) and isinstance(row.get("meta") or {}, dict):
        _put_people_beside(kind, row)


def _put_people_beside(kind: type[msgspec.Struct], row: dict[str, Any]) -> None:
    """Bring what annotators say into the form of a kind of record, in place; what has no place there goes to `meta`."""
    own: dict[str, Any] = {}
    beside: dict[str, dict[str, Any]] = {}
    for name, said in row.pop("annotators").items():
        answer = _answer(kind, said)
        if answer is None:
            own[name] = said
            continue
        key = next((key for key in _OWN.get(kind, ()) if answer.get(key) is not None), None)
        if key is not None and (there := _own(kind, key, answer[key], row)) is not None:
            own[name] = there
            del answer[key]
        if rest := {key: value for key, value in answer.items() if key in OF_PEOPLE and value is not None}:
            beside[name] = rest
    if own:
        row["annotators"] = own
    if beside:
        meta = row.get("meta") or {}
        row["meta"] = {"annotators": beside} | meta


def _answer(kind: type[msgspec.Struct], said: Any) -> dict[str, Any] | None:
    """What an annotator says, by its keys; None where it is bare, in the form of the kind of record."""
    if isinstance(said, dict):
        named = {key for key in OF_PEOPLE if key in said and (key not in _WORDS or isinstance(said[key], str))}
        if named and (kind is not ScenesGold or said.keys() <= set(OF_PEOPLE)):
            return dict(said)
        return {"labels": said} if kind is LabelsGold else None
    if isinstance(said, list) and kind is not SpanSample and any(isinstance(one, list | dict) for one in said):
        return {"spans": said}
    if kind in (LabelsGold, ScenesGold) or kind not in _OWN:
        return {"labels": said} if isinstance(said, list) else {"label": said}
    return None


def _own(kind: type[msgspec.Struct], key: str, said: Any, row: Mapping[str, Any]) -> Any:
    """What is said under a key of a kind of record, in its form; None where it has no place in this one."""
    if kind is SpanSample:
        return said
    if kind is ValuesGold:
        return {"values": said}
    named = said if isinstance(said, dict) else None
    there = [name for name, value in named.items() if value] if named is not None else said
    there = [there] if isinstance(there, str) else there
    if kind is LabelsGold or not isinstance(there, list):
        return there
    if named is not None:
        return named
    return {name: int(name in there) for name in row["labels"]} if isinstance(row.get("labels"), dict) else None


def lifted(kind: type[msgspec.Struct], row: Mapping[str, Any]) -> Mapping[str, Any]:
    """A row with what stands in its `meta` for want of a field under keys of its own again."""
    meta = row.get("meta")
    if not isinstance(meta, Mapping):
        return row
    several = kind is LabelsGold and row.get("labels") is not None and row.get("label") is None
    keys = [key for key in (*kept_beside(kind), *["label"] * several) if meta.get(key) is not None]
    people = _people(kind, row, meta) if "annotators" in meta and kept_beside(kind) else None
    if not keys and people is None:
        return row
    moved = {*keys, *["annotators"] * (people is not None)}
    rest = {name: value for name, value in meta.items() if name not in moved}
    found = {name: value for name, value in row.items() if name != "meta"} | {key: meta[key] for key in keys}
    found |= {} if people is None else {"annotators": people}
    return found | ({"meta": rest} if rest else {})


def _people(
    kind: type[msgspec.Struct], row: Mapping[str, Any], meta: Mapping[str, Any]
) -> dict[str, Mapping[str, Any]] | None:
    """What annotators say in a record and beside it, by its keys; None where its `meta` has something else there."""
    beside, own_keys = meta["annotators"], set(_OWN.get(kind, ()))
    key = next(iter(_OWN.get(kind, ())), "")
    if not isinstance(beside, Mapping):
        return None
    people: dict[str, Any] = dict(row.get("annotators") or {})
    for name, answer in beside.items():
        if not isinstance(answer, Mapping) or not answer or not answer.keys() <= set(OF_PEOPLE):
            return None
        if None in answer.values() or answer.keys() & own_keys - ({"label"} if name in people else set()):
            return None
        bare = people.get(name)
        own = {} if bare is None else bare if kind is ValuesGold else {key: bare}
        people[name] = {**own, **answer}
    return people
