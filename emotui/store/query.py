"""What can be asked of a list of samples, and the rows that come back. Plain values, shared by store and workbench."""

from dataclasses import dataclass

MARKS = {
    "H": "hallucinated",
    "F": "fixated",
    "N": "neutral hit",
    "M": "missed",
    "X": "extra",
    "!": "invalid output",
}
"""A letter for each kind of error, in the order in which the list shows them."""

SORTS = ("file", "id", "f1", "sim", "emotion", "length")


@dataclass(frozen=True, slots=True)
class ListQuery:
    """Which samples of a dataset, in which order.

    Several emotions or valences mean any of them; several marks mean any of them. A passage has the emotions of all
    its sentences. Score bounds are inclusive and leave out samples that the run has not scored.
    """

    dataset: int
    run: str | None = None
    text: str = ""
    emotions: tuple[str, ...] = ()
    valences: tuple[str, ...] = ()
    marks: str = ""
    f1_min: float | None = None
    f1_max: float | None = None
    sort: str = "file"
    descending: bool = False


@dataclass(frozen=True, slots=True)
class ListRow:
    """One line of the sample list. With several repeats `f1` and `sim` are means and `marks` the union."""

    sample: int
    id: str
    preview: str
    emotion: str | None
    valence: str | None
    f1: float | None = None
    sim: float | None = None
    marks: str = ""


@dataclass(frozen=True, slots=True)
class Dataset:
    """A named set of samples of one task. `added`: UTC ISO string, None where an old store did not note it."""

    dataset: int
    name: str
    task: str
    n: int
    fingerprint: str
    source: str
    added: str | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """A model over a dataset. `state`: running, done, stopped (resumable), failed. Times are UTC ISO strings."""

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
