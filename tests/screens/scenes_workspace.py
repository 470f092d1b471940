"""A small real workspace for the tests of Scenes: sample scenarios, and a run whose logits are known."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np

from emotui.records import PLUTCHIK, ScenesGold
from emotui.store.query import Dataset, Run
from emotui.store.rows import ResultRow
from emotui.tasks.registry import task_named
from emotui.tasks.scenes.asking import YES_NO
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.runs.scores import scored
from emotui.workbench.workspace import FIRST_START, Workspace
from tests.screens.browse_workspace import SAMPLE_DATA, add_run, sample_records
from tests.templates import copy_of

RUN = "logits-1"


def scenarios(n: int = 40) -> list[ScenesGold]:
    """The first scenarios of this package's own data."""
    lines = (SAMPLE_DATA / "scenes.jsonl").read_bytes().splitlines()[:n]
    return [msgspec.json.decode(line, type=ScenesGold) for line in lines]


def log_odds(samples: Sequence[ScenesGold], *, lean: float = 0.9, seed: int = 3) -> "np.ndarray":
    """(n, 8): what a model that says yes too readily might say of these scenarios; the same each time."""
    gold = np.array([[sample.labels[name] for name in PLUTCHIK] for sample in samples], dtype=float)
    return np.round((gold * 2 - 1) * 1.2 + np.random.default_rng(seed).normal(lean, 1.3, gold.shape), 3)


def raw(odds: Sequence[float], way: str = "heads") -> str:
    """An answer as a run keeps it: yes has all the log-odds."""
    answers = {name: {"yes": float(value), "no": 0.0} for name, value in zip(PLUTCHIK, odds, strict=True)}
    return msgspec.json.encode({"way": way, "answers": answers}).decode()


def raw_words(odds: Sequence[float]) -> str:
    """The same answer in words, as a run keeps it that asks so."""
    said = {name: "Yes." if value > 0 else "No." for name, value in zip(PLUTCHIK, odds, strict=True)}
    return msgspec.json.encode({"way": YES_NO, "answers": {}, "said": said}).decode()


def add_scenes_run(
    opened: Workspace,
    dataset: Dataset,
    samples: Sequence[ScenesGold],
    *,
    done: int | None = None,
    run: str = RUN,
    way: str = "heads",
) -> Run:
    """A run over the first `done` scenarios, parsed, scored and committed as runs are."""
    store = opened.store
    numbers = [number for number, _ in store.samples.of_dataset(dataset.dataset, 0, len(samples))][:done]
    config: dict[str, object] = {"seed": 0, "repeats": 1, "way": way, "pid": 0, "host": "elsewhere"}
    store.runs.start(run, run, "scenes", "rule", dataset.dataset, config, len(samples))
    outputs = [
        ResultRow(number, 0, 0, None, raw_words(odds) if way == YES_NO else raw(odds), None, 0.0, None, None)
        for number, odds in zip(numbers, log_odds(samples).tolist(), strict=False)
    ]
    by_number = dict(zip(numbers, samples, strict=False))
    store.results.commit(run, scored(task_named("scenes"), way, outputs, by_number, None))
    store.runs.set_state(run, "done" if done is None else "running")
    return store.runs.get(run)


def workspace(path: Path, *, n: int = 40, run: bool = True, spans: bool = True) -> Workspace:
    """A workspace in a new file, past its first start, with spans too."""
    copy_of(path, ("scenes", n, run, spans), lambda template: _make(template, n=n, run=run, spans=spans))
    return Workspace.open(path)


def _make(path: Path, *, n: int, run: bool, spans: bool) -> None:
    opened = Workspace.open(path)
    opened.set_setting(FIRST_START, "done")
    if spans:
        records = sample_records()
        add_run(opened.store, add_samples(opened.store, "spans", "sample", records, "sample data"), records)
    if n:
        samples = scenarios(n)
        dataset = add_samples(opened.store, "scenes", "scenes", samples, "sample data")
        if run:
            add_scenes_run(opened, dataset, samples)
