"""What people and sources say of the labels of texts, as tables of shares and probabilities.

For texts with several labels and for scenarios, where annotators stand inside the gold records or are kept as sources.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from emotui.store.query import Dataset, Run
from emotui.store.store import Store
from emotui.workbench.progress import Cancelled, IsCancelled

if TYPE_CHECKING:
    import numpy as np

    Table = np.ndarray[tuple[int, int], np.dtype[np.float64]]
    Places = np.ndarray[tuple[int], np.dtype[np.int64]]

TASKS = ("labels", "scenes")
LEAST = 2
"""Annotators of a text from which on they have a spread."""

_BATCH = 1000


@dataclass(frozen=True, slots=True)
class Annotator:
    """`texts`: (m,) the places of those that someone annotated; `gives`: (m, labels) of 0 or 1."""

    texts: "Places"
    gives: "Table"


@dataclass(frozen=True, slots=True)
class Spread:
    """`numbers`: of the texts; `counts`: (texts,) their annotators; `sums`: (texts, labels) how many give a label.

    `said`: by run (texts, labels) the mean over repeats of its probabilities, NaN for texts that it did not answer;
    `given`: likewise the share of repeats in which it gives the label. `sure`: the runs that give probabilities.
    """

    labels: tuple[str, ...]
    numbers: tuple[int, ...]
    counts: "Places"
    sums: "Table"
    people: Mapping[str, Annotator]
    said: Mapping[str, "Table"]
    given: Mapping[str, "Table"]
    sure: frozenset[str]

    @property
    def shares(self) -> "Table":
        """(texts, labels): the share of a text's annotators who give the label."""
        return self.sums / self.counts[:, None]


class _Record(msgspec.Struct):
    annotators: Mapping[str, Any] = {}


class _Said(msgspec.Struct):
    labels: tuple[str, ...] | Mapping[str, int] = ()
    probs: Mapping[str, float] = {}
    scores: Mapping[str, tuple[float, float]] = {}


def spread_of(store: Store, dataset: Dataset, runs: Sequence[Run], cancelled: IsCancelled) -> Spread | None:
    """Of the texts that at least `LEAST` people annotated; None where there is none, or the task has no such labels.

    Raises:
        Cancelled: between two thousand answers or so.
    """
    import numpy as np

    if dataset.task not in TASKS:
        return None
    people = _people(store, dataset)
    met = Counter(number for answers in people.values() for number in answers)
    numbers = tuple(sorted(number for number, count in met.items() if count >= LEAST))
    if not numbers:
        return None
    models = [run for run in runs if run.source != "person"]
    said = {run.run: _answers(store, run, set(numbers), cancelled) for run in models}
    given = (name for answers in people.values() for labels in answers.values() for name in labels)
    answered = (names for one in said.values() for each in one.given.values() for names in each)
    labels = tuple(dict.fromkeys((*given, *(name for names in answered for name in names))))
    tables = {name: _annotator(answers, numbers, labels) for name, answers in people.items()}
    counts, sums = np.zeros(len(numbers), dtype=np.int64), np.zeros((len(numbers), len(labels)))
    for one in tables.values():
        counts[one.texts] += 1
        sums[one.texts] += one.gives
    return Spread(
        labels=labels,
        numbers=numbers,
        counts=counts,
        sums=sums,
        people={name: one for name, one in tables.items() if len(one.texts)},
        said={run: _means(one.probabilities, numbers, labels) for run, one in said.items()},
        given={
            run: _means(
                {number: [dict.fromkeys(names, 1.0) for names in each] for number, each in one.given.items()},
                numbers,
                labels,
            )
            for run, one in said.items()
        },
        sure=frozenset(run for run, one in said.items() if one.sure),
    )


@dataclass
class _Answers:
    """Of a text one a repeat: `probabilities` by label, and the labels `given`."""

    probabilities: dict[int, list[Mapping[str, float]]]
    given: dict[int, list[Sequence[str]]]
    sure: bool


def _means(answers: Mapping[int, list[Mapping[str, float]]], numbers: Sequence[int], labels: Sequence[str]) -> "Table":
    """(texts, labels): means over repeats, NaN for a text without an answer."""
    import numpy as np

    found = np.full((len(numbers), len(labels)), np.nan)
    for at, number in enumerate(numbers):
        if repeats := answers.get(number):
            found[at] = [sum(one.get(name, 0.0) for one in repeats) / len(repeats) for name in labels]
    return found


def _answers(store: Store, run: Run, wanted: set[int], cancelled: IsCancelled) -> _Answers:
    decoder = msgspec.json.Decoder(_Said)
    found = _Answers({}, {}, True)
    for at, outcome in enumerate(store.outcomes(run.run)):
        if at % _BATCH == 0 and cancelled():
            raise Cancelled
        if outcome.sample not in wanted or outcome.prediction is None:
            continue
        said = decoder.decode(outcome.prediction)
        names = _names(said.labels)
        probabilities: Mapping[str, float] = said.probs
        if said.scores:
            probabilities = {name: _sigmoid(yes - no) for name, (yes, no) in said.scores.items()}
        found.sure &= bool(probabilities)
        found.given.setdefault(outcome.sample, []).append(names)
        found.probabilities.setdefault(outcome.sample, []).append(probabilities or dict.fromkeys(names, 1.0))
    return found


def _people(store: Store, dataset: Dataset) -> dict[str, dict[int, Sequence[str]]]:
    """What each person says, inside the gold records or as a source of the dataset."""
    found: dict[str, dict[int, Sequence[str]]] = {}
    decoder = msgspec.json.Decoder(_Record)
    for number, record in store.dataset_samples(dataset.dataset):
        for name, said in decoder.decode(record).annotators.items():
            found.setdefault(name, {})[number] = _names(said)
    for run in store.runs(dataset.dataset):
        if run.source == "person":
            found[run.model] = dict(_person_run(store, run))
    return found


def _person_run(store: Store, run: Run) -> Iterator[tuple[int, Sequence[str]]]:
    decoder = msgspec.json.Decoder(_Said)
    for outcome in store.outcomes(run.run):
        if outcome.prediction is not None:
            yield outcome.sample, _names(decoder.decode(outcome.prediction).labels)


def _names(said: Any) -> Sequence[str]:
    """The labels that are given, in a list or as 0 or 1 by label."""
    return [name for name, there in said.items() if there] if isinstance(said, Mapping) else list(said)


def _annotator(answers: Mapping[int, Sequence[str]], numbers: Sequence[int], labels: Sequence[str]) -> Annotator:
    import numpy as np

    texts = [at for at, number in enumerate(numbers) if number in answers]
    gives = [[float(name in answers[numbers[at]]) for name in labels] for at in texts]
    return Annotator(np.array(texts, dtype=np.int64), np.array(gives).reshape(len(texts), len(labels)))


def _sigmoid(odds: float) -> float:
    from math import exp

    return 1 / (1 + exp(-odds)) if odds >= 0 else 1 - 1 / (1 + exp(odds))
