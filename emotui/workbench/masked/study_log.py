"""A blind study as the annotation log keeps it: what it is about, each coder's order, and their answers."""

import msgspec

from emotui.errors import BadInput
from emotui.formats.rows import literal
from emotui.store.query import Dataset
from emotui.store.rows import Annotation
from emotui.store.store import Store
from emotui.tasks.masked.task import Masked
from emotui.workbench.masked.codebook import Code

STUDY, ORDER, ANSWER, UNDO = "masked-study", "masked-study-order", "masked-study-answer", "masked-study-undo"

ANSWERS = ("first", "second", "both", "neither")
"""What a coder can say of two words."""


class Item(msgspec.Struct, frozen=True):
    """A text, and the words of both sources for its masks, as they were when the study began."""

    sample: int
    id: str
    a: tuple[str, ...]
    b: tuple[str, ...]


class Study(msgspec.Struct, frozen=True):
    """Two sources by their keys and names, the texts in which they differ, and the codebook.

    `lexicon`: by which they differ, in words; empty in studies that were begun before it was kept.
    """

    name: str
    dataset: int
    a: str
    b: str
    a_name: str
    b_name: str
    seed: int
    items: tuple[Item, ...]
    codes: tuple[Code, ...]
    lexicon: str = ""


class Order(msgspec.Struct, frozen=True):
    """The order of one coder: texts by number, and whether b stands first in each."""

    study: str
    texts: tuple[tuple[int, bool], ...]


class Answer(msgspec.Struct, frozen=True):
    """What a coder said of a text. `swapped`: b stood first; `answer`: one of `ANSWERS`, as the words stood.

    `stray`: codes of an imported answer that are not in the codebook, or do not go with the answer. `ordered`: whether
    it is known which word stood first.
    """

    study: str
    answer: str
    swapped: bool
    rationale: str = ""
    open: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()
    stray: tuple[str, ...] = ()
    ordered: bool = True

    @property
    def verdict(self) -> str:
        """For which source: `a`, `b`, `both` or `neither`."""
        if self.answer in ("both", "neither"):
            return self.answer
        return "b" if (self.answer == "first") == self.swapped else "a"


def studies(store: Store) -> dict[str, Study]:
    """All studies by name, the first one first."""
    found = [one for one in store.annotations(kind=STUDY) if one.kind == STUDY]
    return {study.name: study for study in (msgspec.json.decode(one.payload, type=Study) for one in found)}


def check_new_study(store: Store, dataset: Dataset, name: str) -> None:
    """Raises BadInput where a study of this dataset cannot begin under this name."""
    if not name.strip():
        raise BadInput("a study needs a name")
    if name in studies(store):
        raise BadInput(f"there is a study {literal(name)} already")
    if dataset.task != Masked.name:
        raise BadInput(f"{literal(dataset.name)} is of {dataset.task}: a blind study is about masked texts")


def order_of(store: Store, study: str, coder: str) -> Order | None:
    """A coder's order; None where they have not begun."""
    kept = [msgspec.json.decode(one.payload, type=Order) for one in store.annotations(annotator=coder, kind=ORDER)]
    return next((one for one in kept if one.study == study), None)


def coders_of(store: Store, study: str) -> list[str]:
    """Who has begun, the first one first."""
    entries = store.annotations(kind=ORDER)
    return [one.annotator for one in entries if msgspec.json.decode(one.payload, type=Order).study == study]


def answers_of(store: Store, study: str, coder: str) -> list[tuple[Annotation, Answer]]:
    """A coder's answers that stand, in the order in which they were given; of each text the last is what counts."""
    entries = store.annotations(annotator=coder, kind=STUDY)
    undone = {one.undoes for one in entries if one.kind == UNDO}
    kept = [one for one in entries if one.kind == ANSWER and one.annotation not in undone]
    read = [(one, msgspec.json.decode(one.payload, type=Answer)) for one in kept]
    return [pair for pair in read if pair[1].study == study]
