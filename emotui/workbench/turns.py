"""The turns of a conversation before and after one of its texts, by columns of the data's own."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import msgspec

from emotui.workbench.conversations import conversations

if TYPE_CHECKING:
    from emotui.store.store import Store

REACH = 50
"""How many samples before and after one are looked through while the index of a large dataset is being made."""

MOST = 3
"""Turns before and after that are given."""

CONVERSATION = ("conversation", "dialogue", "dialog", "thread")
TURN = ("turn", "utterance")
SPEAKER = ("speaker",)
TIME = ("time", "timestamp")
_NUMBERING = ("", "id", "no", "nr", "number", "index", "idx")


class Turn(msgspec.Struct, frozen=True):
    """Another text of the same conversation. `speaker` and `time` are empty where the data does not say."""

    sample: int
    text: str
    speaker: str = ""
    time: str = ""


class Turns(msgspec.Struct, frozen=True):
    """What was said before a text and after it, in the order of the conversation."""

    before: tuple[Turn, ...] = ()
    after: tuple[Turn, ...] = ()


class Told(msgspec.Struct, frozen=True):
    """What a record of any task says of its text."""

    text: str | None = None
    subject: str | None = None
    meta: Mapping[str, Any] = {}


def in_conversation(told: Told) -> bool:
    """Whether a column of its own says which conversation the text is from."""
    return conversation_of(told.meta) is not None


def conversation_of(meta: Mapping[str, Any]) -> Any:
    """What a text's own columns say of which conversation it is from; None where they do not say."""
    return _said(meta, CONVERSATION)


def turns_of(store: "Store", sample: int, record: bytes) -> Turns:
    """The turns around a sample of a store; nothing is read where it is of no conversation."""
    told = msgspec.json.decode(record, type=Told)
    if not in_conversation(told):
        return Turns()
    index = conversations(store, sample, _column(told.meta, CONVERSATION) or "")
    members = None if index is None else index.members(sample)
    found = store.neighbours(sample, REACH) if members is None else store.samples(members)
    return turns(sample, [(number, msgspec.json.decode(one, type=Told)) for number, one in found])


def turns(sample: int, told: Sequence[tuple[int, Told]]) -> Turns:
    """The turns around a sample.

    Turns are in the order of their numbers where all of a conversation have one, else in the order of the file.

    Args:
        sample: its number.
        told: it and those around it with their numbers, in the order of the file.
    """
    own = next((one for number, one in told if number == sample), None)
    if own is None or (conversation := _said(own.meta, CONVERSATION)) is None:
        return Turns()
    same = [(number, one) for number, one in told if _said(one.meta, CONVERSATION) == conversation]
    order = [_number(_said(one.meta, TURN)) for _, one in same]
    if None not in order:
        same = [same[place] for place in sorted(range(len(same)), key=lambda place: (order[place], place))]
    at = [number for number, _ in same].index(sample)
    found = [_turn(number, one) for number, one in same]
    return Turns(tuple(found[max(at - MOST, 0) : at]), tuple(found[at + 1 : at + 1 + MOST]))


def _turn(number: int, told: Told) -> Turn:
    return Turn(number, told.text or "", _word(told.meta, SPEAKER), _word(told.meta, TIME))


def _word(meta: Mapping[str, Any], names: Sequence[str]) -> str:
    said = _said(meta, names)
    return "" if said is None else str(said)


def _said(meta: Mapping[str, Any], names: Sequence[str]) -> Any:
    """What the first column says that has one of these names, alone or as a number or id; None where there is none."""
    column = _column(meta, names)
    return None if column is None else meta[column]


def _column(meta: Mapping[str, Any], names: Sequence[str]) -> str | None:
    for column, said in meta.items():
        if said not in (None, "") and _is_one_of(column, tuple(names)):
            return column
    return None


@lru_cache(maxsize=1000)
def _is_one_of(column: str, names: tuple[str, ...]) -> bool:
    bare = re.sub(r"[^a-z]", "", column.lower())
    return any(bare == name + numbering for name in names for numbering in _NUMBERING)


def _number(said: Any) -> float | None:
    try:
        return float(said)
    except (TypeError, ValueError):
        return None
