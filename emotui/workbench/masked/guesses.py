"""What people guess behind masks, in the annotation log: one entry a text and guess, the last one counts."""

import msgspec

from emotui.store.rows import Annotation
from emotui.store.store import Store

KIND, UNDO = "masked-guess", "masked-guess-undo"


class Guess(msgspec.Struct, frozen=True):
    """A word for each mask; `blind`: given before the words of gold or a run were seen."""

    words: tuple[str, ...]
    blind: bool = True


def keep_guess(store: Store, sample: int, person: str, guess: Guess) -> None:
    """Keep a guess behind the ones before."""
    store.append_annotation(KIND, sample, person, msgspec.json.encode(guess))


def guess_of(store: Store, sample: int, person: str) -> Guess | None:
    """The last guess of a person about a text that stands."""
    last = _last(store, sample, person)
    return None if last is None else msgspec.json.decode(last.payload, type=Guess)


def take_back(store: Store, sample: int, person: str) -> None:
    """Take the last guess that stands back; nothing happens where there is none."""
    last = _last(store, sample, person)
    if last is not None:
        store.append_annotation(UNDO, sample, person, b"{}", undoes=last.annotation)


def _last(store: Store, sample: int, person: str) -> Annotation | None:
    entries = store.annotations(sample, person, kind=KIND)
    undone = {one.undoes for one in entries}
    standing = [one for one in entries if one.kind == KIND and one.annotation not in undone]
    return standing[-1] if standing else None
