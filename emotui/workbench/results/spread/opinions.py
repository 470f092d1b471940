"""What people and sources say of the questions that a text puts: its labels, its words, its masks."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from emotui.metrics.resampling import Interval, Replicates, averaged, interval_of
from emotui.store.query import Dataset, Run
from emotui.store.store import Store
from emotui.tables import FEW, Cell
from emotui.tasks.registry import task_named
from emotui.tasks.texts import said_of_text
from emotui.workbench.progress import Cancelled, IsCancelled

if TYPE_CHECKING:
    import numpy as np

    Table = np.ndarray[tuple[int, int], np.dtype[np.float64]]
    Figures = np.ndarray[tuple[int], np.dtype[np.float64]]

# What tables of people's spread have in common: intervals of columns, means over annotators, names.

MOST = 60
"""Annotators with a row of their own."""

INTERVALS = (
    "[low, high]: 95% BCa bootstrap over texts (over what texts share), {resamples:,} resamples, seed 0, Student's t "
    "where texts are few; of annotators their mean is taken first."
)
NOTHING = "no text that both say something about"


def figure_cell(value: float, sure: Interval, samples: tuple[int, ...] = (), run: str | None = None) -> Cell:
    """A figure with its interval."""
    return Cell(value, samples=samples, run=run, low=sure.low, high=sure.high, note=sure.note)


def mean_cells(found: "Sequence[Figures]", drawn: "Sequence[Sequence[Replicates]]") -> tuple[Cell, ...]:
    """The means over annotators, their standard deviations, and the intervals of the means.

    Args:
        found: of each annotator (columns,). drawn: of each its columns over resamples, or nothing.
    """
    import numpy as np

    table = np.array(found)
    known = np.isfinite(table)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.where(known, table, 0.0).sum(axis=0) / known.sum(axis=0)
    spreads = [_sd(table[known[:, at], at]) for at in range(table.shape[1])]
    sure = [interval_of(averaged(column)) for column in zip(*drawn, strict=True)] or [Interval()] * table.shape[1]
    return tuple(
        Cell(value, sd, low=one.low, high=one.high, note=one.note) if np.isfinite(value) else Cell(why=NOTHING)
        for value, sd, one in zip(means.tolist(), spreads, sure, strict=True)
    )


def _sd(values: "Figures") -> float | None:
    return float(values.std(ddof=1)) if len(values) > 1 else None


ASIDE = f"Annotators of under {FEW} texts are not held against the others"


def most_texts(texts: Mapping[str, int]) -> list[str]:
    """Annotators, those with the most texts first."""
    return sorted(texts, key=lambda name: (-texts[name], name))


def name_of(run: Run) -> str:
    """A run by its model and way."""
    way = run.config.get("way")
    return f"{run.model} {way}" if way else run.model


Key = Any  # a mapping takes no union of keys
"""A question within a text: a label, the place of a word, a mask and a word for it."""

_BATCH = 1000


@dataclass(frozen=True, slots=True)
class Asked:
    """What the questions are. `key`: stands behind the keys of tables; `note`: a sentence on questions and answers.

    `unsure`: what is told of a source that says yes or no alone.
    """

    key: str
    title: str
    note: str
    unsure: str


NO_LABELS = "gives labels without probabilities, which count as 1 and 0"
LABELS = Asked(
    "",
    "Sources against the spread of people",
    "Each label of a text is a question: the share of its annotators who give the label, against the source's"
    " probability (1 or 0 where it has none).",
    NO_LABELS,
)
MASKS = Asked(
    "-masks",
    "Sources against the spread of people, by the words for masks",
    "Each word that somebody writes for a mask is a question: the share of annotators who write it, against the"
    " source's probability of it among its likeliest words, or 1 or 0 for the word that it writes.",
    "writes words without probabilities, which count as 1 and 0",
)


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer about a text: what is given, and how probable each question's yes is.

    `sure`: the probabilities are the source's own, not 1 for what is given.
    """

    probabilities: Mapping[Key, float]
    given: Collection[Key]
    sure: bool


@dataclass(slots=True)
class Opinions:
    """By the number of the text its questions, each with the place of its class among `classes`; and all answers.

    `people`: by name what each gives. `sources`: by run the answers, one a repeat.
    """

    asked: Asked
    classes: tuple[str, ...] = ()
    questions: dict[int, Mapping[Key, int]] = field(default_factory=dict)
    people: dict[str, dict[int, Collection[Key]]] = field(default_factory=dict)
    sources: dict[str, dict[int, list[Answer]]] = field(default_factory=dict)

    def person(self, name: str, number: int, given: Collection[Key]) -> None:
        """Note what a person gives."""
        self.people.setdefault(name, {})[number] = given

    def source(self, run: str, number: int, answer: Answer) -> None:
        """Note an answer of a run."""
        self.sources.setdefault(run, {}).setdefault(number, []).append(answer)


class _Said(msgspec.Struct):
    labels: tuple[str, ...] | Mapping[str, int] = ()
    label: str = ""
    probs: Mapping[str, float] = {}
    scores: Mapping[str, tuple[float, float]] = {}

    @property
    def names(self) -> Sequence[str]:
        return [self.label] if self.label else _names(self.labels)


def of_labels(
    store: Store, dataset: Dataset, models: Sequence[Run], people: Sequence[Run], cancelled: IsCancelled
) -> Opinions:
    """What people, inside the gold records or as sources, and models say of labels.

    Raises:
        Cancelled: between two thousand answers or so.
    """
    found = Opinions(LABELS)
    answers, read = msgspec.json.Decoder(_Said), msgspec.json.Decoder(dict[str, Any]).decode
    kept_as = task_named(dataset.kept_as)
    for number, record in store.samples.of_dataset(dataset.dataset):
        for name, said in (said_of_text(kept_as, read(record)).get("annotators") or {}).items():
            labels = _names(said["labels"]) if "labels" in said else [said["label"]] if "label" in said else None
            if labels is not None:
                found.person(name, number, labels)
    for run, number, prediction in outcomes(store, people, cancelled):
        found.person(run.model, number, answers.decode(prediction).names)
    wanted = {number for answers_of in found.people.values() for number in answers_of}
    for run, number, prediction in outcomes(store, models, cancelled):
        if number in wanted:
            found.source(run.run, number, _answer(answers.decode(prediction)))
    given = (name for each in found.people.values() for names in each.values() for name in names)
    answered = (one.given for each in found.sources.values() for several in each.values() for one in several)
    names = dict.fromkeys((*given, *(name for names in answered for name in names)))
    found.classes = tuple(str(name) for name in names)
    places = {name: at for at, name in enumerate(names)}
    found.questions = dict.fromkeys(sorted(wanted), places)
    return found


def _answer(said: _Said) -> Answer:
    probabilities: Mapping[str, float] = said.probs
    if said.scores:
        probabilities = {name: _sigmoid(yes - no) for name, (yes, no) in said.scores.items()}
    return Answer(probabilities or dict.fromkeys(said.names, 1.0), said.names, bool(probabilities))


def _names(said: Any) -> Sequence[str]:
    """The labels that are given, in a list or as 0 or 1 by label."""
    return [name for name, there in said.items() if there] if isinstance(said, Mapping) else list(said)


def _sigmoid(odds: float) -> float:
    from math import exp

    return 1 / (1 + exp(-odds)) if odds >= 0 else 1 - 1 / (1 + exp(odds))


class _Filled(msgspec.Struct):
    labels: tuple[str, ...] = ()
    masks: tuple[tuple[tuple[str, float], ...], ...] = ()


def of_masks(store: Store, models: Sequence[Run], people: Sequence[Run], cancelled: IsCancelled) -> Opinions:
    """What people and models write for the masks of texts.

    Raises:
        Cancelled: between two thousand answers or so.
    """
    found = Opinions(MASKS, ("word",))
    decoder = msgspec.json.Decoder(_Filled)
    for run, number, prediction in outcomes(store, people, cancelled):
        found.person(run.model, number, _written(decoder.decode(prediction)))
    for number in sorted({number for each in found.people.values() for number in each}):
        written = (key for each in found.people.values() for key in each.get(number, ()))
        found.questions[number] = dict.fromkeys(written, 0)
    for run, number, prediction in outcomes(store, models, cancelled):
        if number in found.questions:
            said = decoder.decode(prediction)
            given = _written(said)
            likely = {(at, word.casefold()): p for at, words in enumerate(said.masks) for word, p in words}
            found.source(run.run, number, Answer(likely or dict.fromkeys(given, 1.0), given, bool(likely)))
    return found


def _written(said: _Filled) -> Collection[Key]:
    return {(at, word.casefold()) for at, word in enumerate(said.labels) if word}


def outcomes(store: Store, runs: Sequence[Run], cancelled: IsCancelled) -> Iterator[tuple[Run, int, bytes | str]]:
    """(run, number of the text, prediction) of all answers that could be read."""
    for run in runs:
        for at, outcome in enumerate(store.results.outcomes(run.run)):
            if at % _BATCH == 0 and cancelled():
                raise Cancelled
            if outcome.prediction is not None:
                yield run, outcome.sample, outcome.prediction
