"""The turns of a conversation before and after one of its texts, by columns of the data's own."""

import contextlib
import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

import msgspec

from emotui.errors import BadInput, EmotuiError
from emotui.tasks.prompting.settings import BEFORE
from emotui.tasks.task import Task

if TYPE_CHECKING:
    import numpy as np

    from emotui.store.store import Store

# Which samples of a dataset are of one conversation: an index by a column of the data's own, made when asked for.

AT_ONCE = 20_000
"""Samples that are read in one turn of the store. A dataset of no more is indexed at once, a larger one by and by."""

MOST_IN_ONE = 1000
"""Members of a conversation that are given: those that stand nearest in the file."""


class Conversations:
    """The index of one dataset by one column.

    Args:
        first, n: the numbers of its samples.
    """

    def __init__(self, store: "Store", first: int, n: int, column: str) -> None:
        self._first = first
        self._hashes: np.ndarray | None = None
        self._order: np.ndarray | None = None
        # The store is not kept: what is known of it lives no longer than it does.
        self._reading = threading.Thread(
            target=self._read_quietly, args=(store, n, column), name="conversations", daemon=True
        )
        if n > AT_ONCE:
            self._reading.start()
        else:
            self._read(store, n, column)

    def members(self, sample: int) -> list[int] | None:
        """The numbers of the samples that say the same, in the order of the file; None until it is known."""
        import numpy as np

        if self._hashes is None or self._order is None:
            return None
        said = self._hashes[sample - self._first]
        start = np.searchsorted(self._hashes, said, sorter=self._order)
        end = np.searchsorted(self._hashes, said, sorter=self._order, side="right")
        places = self._order[start:end]
        at = int(np.searchsorted(places, sample - self._first))
        begin = min(max(at - MOST_IN_ONE // 2, 0), max(len(places) - MOST_IN_ONE, 0))
        return [int(place) + self._first for place in places[begin : begin + MOST_IN_ONE]]

    def wait(self) -> None:
        """Until it is known."""
        if self._reading.is_alive():
            self._reading.join()

    def _read_quietly(self, store: "Store", n: int, column: str) -> None:
        # Where the store is busy or gone, turns are looked for nearby, as before.
        with contextlib.suppress(EmotuiError):
            self._read(store, n, column)

    def _read(self, store: "Store", n: int, column: str) -> None:
        import numpy as np

        first = self._first
        parts = [store.samples.hashes(first + start, min(AT_ONCE, n - start), column) for start in range(0, n, AT_ONCE)]
        hashes = np.concatenate(parts)
        self._order = np.argsort(hashes, kind="stable")
        self._hashes = hashes


_known: "WeakKeyDictionary[Store, dict[tuple[int, int, str], Conversations]]" = WeakKeyDictionary()
_lock = threading.Lock()


def conversations(store: "Store", sample: int, column: str) -> Conversations | None:
    """The index of a sample's dataset by a column; None where there is none for a column of this name."""
    if '"' in column or "\\" in column:
        return None
    with _lock:
        held = _known.setdefault(store, {})
        for (first, n, name), index in held.items():
            if name == column and first <= sample < first + n:
                return index
        there = store.samples.range_of(sample)
        if there is None:
            return None
        held[*there, column] = made = Conversations(store, *there, column)
        return made


REACH = 50
"""How many samples before and after one are looked through while the index of a large dataset is being made."""

MOST = 3
"""Turns before and after that are given."""

CONVERSATION = ("conversation", "dialogue", "dialog", "thread")
TURN = ("turn", "utterance")
SPEAKER = ("speaker",)
TIME = ("time", "timestamp", "date")
PERSON = ("person", "user", "author", "participant", "writer")
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


def is_sequence(meta: Mapping[str, Any]) -> bool:
    """Whether a text's own columns say of which conversation or person it is."""
    return any(_column(meta, names) is not None for names in (CONVERSATION, PERSON))


def turns_of(store: "Store", sample: int, record: bytes) -> Turns:
    """The turns around a sample of a store; nothing is read where it is of no conversation."""
    told = msgspec.json.decode(record, type=Told)
    if not in_conversation(told):
        return Turns()
    index = conversations(store, sample, _column(told.meta, CONVERSATION) or "")
    members = None if index is None else index.members(sample)
    found = store.samples.neighbours(sample, REACH) if members is None else store.samples.records(members)
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
    same = in_order([(number, one) for number, one in told if _said(one.meta, CONVERSATION) == conversation])
    at = [number for number, _ in same].index(sample)
    found = [_turn(number, one) for number, one in same]
    return Turns(tuple(found[max(at - MOST, 0) : at]), tuple(found[at + 1 : at + 1 + MOST]))


Key = TypeVar("Key")


def in_order(told: Sequence[tuple[Key, Told]]) -> list[tuple[Key, Told]]:
    """The texts of one conversation, or person, by the numbers of their turns, else by time; as they come where one of
    them has neither.
    """
    order = [_number(_said(one.meta, TURN)) for _, one in told]
    if None in order:
        order = _times([_said(one.meta, TIME) for _, one in told])
    return [told[place] for place in sorted(range(len(told)), key=lambda place: (order[place] or 0.0, place))]


def _times(said: Sequence[Any]) -> list[float | None]:
    """Seconds, of numbers or of dates in ISO 8601; all None where one of them is neither."""
    found = [_moment(one) for one in said]
    return [None] * len(found) if None in found else found


def _moment(said: Any) -> float | None:
    if (number := _number(said)) is not None:
        return number
    with contextlib.suppress(ValueError):
        moment = datetime.fromisoformat(str(said))
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return None


def sequence_column(metas: Iterable[Mapping[str, Any]], by: str | None = None) -> str:
    """The column that says which texts follow each other: that of this name, else one of conversations, else of people.

    Raises:
        BadInput: no text has it.
    """
    columns = dict.fromkeys(column for meta in metas for column, said in meta.items() if said not in (None, ""))
    if by is not None:
        if by not in columns:
            raise BadInput(f"--by {by}: no text has such a column; there are: {', '.join(columns) or 'none'}")
        return by
    for names in (CONVERSATION, PERSON):
        if found := next((column for column in columns if _is_one_of(column, names)), None):
            return found
    raise BadInput(
        "no column says of which conversation or person the texts are; name one by --by COLUMN"
        + (f" out of {', '.join(columns)}" if columns else " (the texts have no columns of their own)")
    )


def turns_before(texts: Iterable[Any], most: int | str) -> dict[str, str]:
    """What was said before each text in its conversation: a line a turn, oldest first, with its speaker.

    Args:
        texts: samples of any task with an id, a text and `meta`, all of their conversations.
        most: turns that are given, those nearest to the text; `all`.

    Returns:
        By the id of the text; texts before which nothing was said are left out.

    Raises:
        BadInput: no text says which conversation it is from.
    """
    conversations: dict[str, list[tuple[str, Told]]] = {}
    for text in texts:
        told = Told(getattr(text, "text", None), None, getattr(text, "meta", None) or {})
        if (named := conversation_of(told.meta)) is not None:
            conversations.setdefault(str(named), []).append((text.id, told))
    if not conversations:
        raise BadInput(
            "--before: no text says which conversation it is from; a column `conversation` (or `dialogue`, `thread`)"
            " says it, and `turn` and `speaker` go with it (docs/data_formats.md)"
        )
    found: dict[str, str] = {}
    for members in conversations.values():
        ordered = in_order(members)
        lines = [_as_line(told) for _, told in ordered]
        for place, (key, _) in enumerate(ordered):
            if nearest := lines[: place if most else 0][0 if most == "all" else -int(most) :]:
                found[key] = "\n".join(nearest)
    return found


def with_conversation(task: Task, options: Mapping[str, object] | None, texts: Iterable[Any]) -> Task:
    """The task with the turns that the option `before` asks for, if it asks for any. Raises BadInput as `turns_before`.

    Args:
        texts: as of `turns_before`; read only where turns are asked for.
    """
    most = (options or {}).get(BEFORE)
    return task.with_turns(turns_before(texts, most)) if most and isinstance(most, int | str) else task


def _as_line(told: Told) -> str:
    speaker, text = _word(told.meta, SPEAKER), " ".join((told.text or "").split())
    return f"{speaker}: {text}" if speaker else text


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
