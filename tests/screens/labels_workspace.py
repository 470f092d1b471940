"""A small workspace with texts that have several labels, and runs over them whose answers are known."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from emotui.records import LabelsGold
from emotui.store.rows import ResultRow
from emotui.tasks.labels.task import Labels
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.runs.scores import scored
from emotui.workbench.texts import stored_samples
from emotui.workbench.workspace import FIRST_START, Workspace
from tests.templates import copy_of

LABELS = ("joy", "fear", "anger", "neutral")
TEXTS = (
    ("We won, and I cannot stop grinning.", ("joy",)),
    ("I am glad it is over, and scared of what comes next.", ("joy", "fear")),
    ("The bus comes at nine.", ("neutral",)),
    ("He did it again, and nobody says a word!", ("anger",)),
    ("She locked the door twice and still listened.", ("fear",)),
    ("My tea is cold.", ()),
)
PROBABILITIES = (
    (0.9, 0.1, 0.05, 0.1),
    (0.7, 0.25, 0.1, 0.1),
    (0.1, 0.05, 0.05, 0.8),
    (0.05, 0.4, 0.35, 0.2),
    (0.1, 0.6, 0.1, 0.15),
    (0.1, 0.1, 0.1, 0.2),
)
THRESHOLDS = {"joy": 0.5, "fear": 0.35, "anger": 0.4, "neutral": 0.5}


def samples(rounds: int = 1) -> list[LabelsGold]:
    """The texts, several times over under other ids; the last one of all is unlabelled."""
    found = [
        LabelsGold(id=f"t{turn}-{place}", text=text, labels=labels)
        for turn in range(rounds)
        for place, (text, labels) in enumerate(TEXTS)
    ]
    return [*found, LabelsGold(id="new", text="Nobody has looked at this yet.")]


def add_run(
    workspace: Workspace,
    dataset: int,
    name: str,
    options: Mapping[str, object],
    probabilities: Sequence[Sequence[float]],
) -> None:
    """A finished run of a classifier that gives these probabilities, text by text and over again."""
    store = workspace.store
    found = store.datasets.get(dataset)
    assert found is not None
    task = Labels().with_options(options, 1)
    there = dict(stored_samples(store, found, found.n))
    rows = []
    for place, number in enumerate(there):
        probs = dict(zip(LABELS, probabilities[place % len(probabilities)], strict=True))
        raw = {"probs": probs, "label": max(probs, key=lambda label: probs[label]), "several": True}
        rows.append(ResultRow(number, 0, 0, None, json.dumps(raw), None, 0.1))
    config = {"way": "classify", "options": dict(options), "trained_on": "embedded has learnt from such texts"}
    run = store.runs.start(
        run=name, identity=name, task="labels", model="embedded", dataset=dataset, config=config, n=found.n
    )
    store.results.commit(run.run, scored(task, "classify", rows, there, None))
    store.runs.set_state(run.run, "done")


def workspace(path: Path) -> Workspace:
    """Two datasets with a run each: `dev`, which is looked at, and `other`."""
    copy_of(path, "labels", _make)
    return Workspace.open(path)


def _make(path: Path) -> None:
    found = Workspace.open(path)
    found.set_setting(FIRST_START, "done")
    options = {"labels": list(LABELS), "label_set": "own", "thresholds": THRESHOLDS}
    for name, rounds in (("dev", 1), ("other", 4)):
        texts = [msgspec.structs.replace(one, id=f"{name}-{one.id}") for one in samples(rounds)]
        dataset = add_samples(found.store, "labels", name, texts, "made up")
        add_run(found, dataset.dataset, f"run-{name}", options, PROBABILITIES)
