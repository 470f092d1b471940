"""Small datasets of each task in a store, for annotators."""

from pathlib import Path

from emotui.records import ClassGold, LabelsGold, Mark, MaskedGold, ScenesGold, Sentence, SpanSample, ValuesGold
from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.workbench.annotate.desk import Desk
from emotui.workbench.annotate.service import Annotating
from emotui.workbench.datasets.samples import add_samples

TEXT = "I was late. She laughed, and I loved it."

SPANS = [
    SpanSample(
        id="p-1",
        text=TEXT,
        spans=(Mark(12, 23, "joy"),),
        sentences=(Sentence(start=0, end=11, emotion="neutral"), Sentence(start=12, end=40, emotion="happy")),
        annotators={"A1": (Mark(12, 40, "joy"),)},
    ),
    SpanSample(id="p-2", text="Nothing happened here.", spans=()),
    SpanSample(id="p-3", text="He cried for days."),
]

SETS = {
    "spans": SPANS,
    "labels": [LabelsGold(id=f"l-{n}", text=f"text {n}", labels=("joy",) if n else ()) for n in range(3)],
    "scenes": [ScenesGold(id="s-1", text="Mara sang.", labels={"joy": 1, "fear": 0})],
    "values": [ValuesGold(id="v-1", text="Fine.", values={"valence": 6.0})],
    "masked": [MaskedGold(id="m-1", text="I am <mask> and <mask>.", labels=("glad", "tired"))],
    "rephrase": [
        ClassGold(id="c-1", text="Thanks.", label="gratitude"),
        ClassGold(id="c-2", text="No.", label="anger"),
    ],
}


def store_with(path: Path, *tasks: str) -> Store:
    """A store with the small datasets of these tasks, each under the name of its task."""
    store = Store.open(path)
    for task in tasks:
        add_samples(store, task, task, SETS[task], "made for a test")
    return store


def numbers(store: Store, dataset: str) -> list[int]:
    """The numbers of a dataset's samples."""
    found = store.datasets.get(dataset)
    assert isinstance(found, Dataset)
    return list(store.samples.file_order(found.dataset))


def begin(store: Store, dataset: str, annotator: str = "ann") -> Annotating:
    """An annotator at work."""
    return Desk(store).begin(dataset, annotator)
