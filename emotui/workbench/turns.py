"""The turns of a conversation before and after one of its texts, by columns of the data's own."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from emotui.store.store import Store

REACH = 50
"""How many samples before and after one are looked through for turns of its conversation."""

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
    return _said(told.meta, CONVERSATION) is not None


def turns_of(store: "Store", sample: int, record: bytes) -> Turns:
    """The turns around a sample of a store; nothing is read where it is of no conversation."""
    if not in_conversation(msgspec.json.decode(record, type=Told)):
        return Turns()
    near = store.neighbours(sample, REACH)
    return turns(sample, [(number, msgspec.json.decode(one, type=Told)) for number, one in near])


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
    for column, said in meta.items():
        bare = re.sub(r"[^a-z]", "", column.lower())
        if any(bare == name + numbering for name in names for numbering in _NUMBERING) and said not in (None, ""):
            return said
    return None


def _number(said: Any) -> float | None:
    try:
        return float(said)
    except (TypeError, ValueError):
        return None
