"""What can be asked of a list of samples, and the rows that come back. Plain values, shared by store and workbench."""

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

if TYPE_CHECKING:
    import numpy as np

MARKS = {
    "H": "hallucinated",
    "F": "fixated",
    "N": "neutral hit",
    "M": "missed",
    "X": "extra",
    "!": "invalid output",
    "L": "wrong label",
    "D": "number far off",
}
"""A letter for each kind of error, in the order in which the list shows them."""

_LETTERS = tuple(MARKS)

SOURCES = ("model", "person", "file")
"""Who says something about a dataset, beside gold: a model asked here, a person, a file of predictions."""

SORTS = ("file", "id", "emotion", "length")
"""What any list can be sorted by; with a run, also by the name of a metric."""


class Bounds(msgspec.Struct, frozen=True):
    """The values of a metric from `low` to `high`, both among them; None: no limit there."""

    metric: str
    low: float | None = None
    high: float | None = None


class ListQuery(msgspec.Struct, frozen=True):
    """Which samples of a dataset, in which order.

    Several emotions or valences mean any of them; several marks mean any of them. A passage has the emotions of all
    its sentences, and a text the labels of its gold spans. `column`: a column of the data's own and what it says, in
    capitals or not; "" where it says nothing. `conditions`: a line of them, on facets that the workbench knows and the
    store does not (`emotui.workbench.slices`). `bounds` leave out samples for which the run has no such value. `sort`
    is one of `SORTS`, or a metric of the run.
    """

    dataset: int
    run: str | None = None
    text: str = ""
    emotions: tuple[str, ...] = ()
    valences: tuple[str, ...] = ()
    marks: str = ""
    bounds: tuple[Bounds, ...] = ()
    column: tuple[str, str] | None = None
    conditions: str = ""
    sort: str = "file"
    descending: bool = False

    @property
    def whole(self) -> bool:
        """Are all samples asked for, in file order?"""
        return self == ListQuery(self.dataset, self.run)


class ListRow(msgspec.Struct, frozen=True):
    """One line of the sample list.

    `values`: by the name of the metric; with several repeats a mean over those that have one, None where none has.
    `marks`: with several repeats their union.
    """

    sample: int
    id: str
    preview: str
    emotion: str | None
    valence: str | None
    values: Mapping[str, float | None] = msgspec.field(default_factory=dict)
    marks: str = ""


class Dataset(msgspec.Struct, frozen=True):
    """A named set of texts, as one task reads them.

    `task`: whose samples its texts are read as: out of the store that which its file came for, by `read_as` any other.
    `form`: the task whose records the store keeps them as; empty: `task`.
    `added`: UTC ISO string, None where an old store did not note it. `gold`: the version of its gold records, from 1.
    `asked`: a fingerprint of what of its samples can change a model's answers; None where it is not known yet.
    `deleted`: since when it is in the trash, None where it is not.
    """

    dataset: int
    name: str
    task: str
    n: int
    fingerprint: str
    source: str
    added: str | None = None
    gold: int = 1
    asked: str | None = None
    deleted: str | None = None
    form: str = ""

    @property
    def kept_as(self) -> str:
        """The task whose records the store keeps its texts as."""
        return self.form or self.task

    def read_as(self, task: str) -> "Dataset":
        """The same texts as samples of another task; its own, where that is the one."""
        if task == self.task:
            return self
        # What of a text can change an answer is another matter for every question.
        return replace(self, task=task, form=self.kept_as, asked=None)


class Run(msgspec.Struct, frozen=True):
    """What a model, a person or a file says about a dataset (`source`: one of `SOURCES`).

    `model`: the model's SPEC, or the name of the person or file. `state`: running, done, stopped (resumable), failed.
    Times are UTC ISO strings. `deleted`: since when it is in the trash, None where it is not.
    """

    run: str
    task: str
    model: str
    dataset: int
    identity: str
    config: dict[str, object]
    state: str
    started: str
    finished: str | None
    n: int
    done: int
    failed: int
    error: str | None
    source: str = "model"
    deleted: str | None = None


def counted_marks(bits: "np.ndarray[Any, np.dtype[np.int64]]") -> dict[str, int]:
    """How many samples have each mark. `bits`: (n,) as `marks_to_bits` makes them; -1 where there is no score."""
    scored = bits[bits >= 0]
    return {mark: int((scored >> at & 1).sum()) for at, mark in enumerate(MARKS)}


def marks_to_bits(marks: str) -> int:
    """Letters of `MARKS` as the store keeps them: a bit each, so that a union over repeats is one `or`.

    Raises ValueError for any other letter.
    """
    bits = 0
    for letter in marks:
        if letter not in MARKS:
            raise ValueError(f"no kind of error has the letter {letter!r}: use some of {''.join(MARKS)}")
        bits |= 1 << _LETTERS.index(letter)
    return bits


@cache
def bits_to_marks(bits: int) -> str:
    """The letters of a number from `marks_to_bits`, in the order of `MARKS`."""
    return "".join(letter for place, letter in enumerate(_LETTERS) if bits >> place & 1)
