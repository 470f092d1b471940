"""All tables of people's spread of a dataset, of whichever kind its answers are."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import msgspec

from emotui.records import Mark, SpanSample
from emotui.store.query import Dataset, Run
from emotui.store.store import Store
from emotui.tables import ResultsTable
from emotui.tasks.registry import task_named
from emotui.workbench.annotate.log import settled_among
from emotui.workbench.datasets.label_maps import mapping_of
from emotui.workbench.datasets.samples import is_sample_data
from emotui.workbench.datasets.sources import PERSON
from emotui.workbench.progress import IsCancelled
from emotui.workbench.results.spread.opinions import NO_LABELS, Answer, Asked, Opinions, of_labels, of_masks, outcomes
from emotui.workbench.results.spread.questions import spread_of
from emotui.workbench.texts import runs_of, stored_samples

# What people and sources mark in texts: of each text its words, its sentences, and the labels of spans.

WORDS = Asked(
    "-words",
    "Sources against the spread of people, word by word",
    "Each word of a text (what stands between white space) is a question: the share of its annotators who mark some of"
    " it, against 1 or 0 for what a source marks, or against the greatest score of its spans there where all its scores"
    " lie in [0, 1].",
    "marks words without probabilities, which count as 1 and 0",
)
SENTENCES = Asked(
    "-sentences",
    "Sources against the spread of people, sentence by sentence",
    "Each sentence of a text is a question: the share of its annotators who mark something in it, against the source's"
    " 1 or 0, or the greatest score of its spans there.",
    WORDS.unsure,
)
SPAN_LABELS = Asked(
    "-labels",
    "Sources against the spread of people, by the labels of spans",
    "Each label of a text is a question: the share of its annotators who give it to a span, against the source's 1 or"
    " 0, or the greatest score of its spans of that label.",
    NO_LABELS,
)

_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\s{_UNSPACED}]+")
"""What stands between white space; of scripts that put none between words each sign."""


@dataclass(frozen=True, slots=True)
class _Places:
    """Where words and sentences of a text stand."""

    words: tuple[tuple[int, int], ...]
    sentences: tuple[tuple[int, int], ...]


def of_spans(
    store: Store, dataset: Dataset, models: Sequence[Run], people: Sequence[Run], cancelled: IsCancelled
) -> list[Opinions]:
    """What people and models mark, by words, by sentences where texts have several, and by labels of spans.

    Raises:
        Cancelled: between two thousand answers or so.
    """
    words, sentences, labels = Opinions(WORDS, ("marked",)), Opinions(SENTENCES, ("marked",)), Opinions(SPAN_LABELS)
    if not people and not store.samples.annotators(dataset.dataset):
        return [words, sentences, labels]
    task = task_named("spans")
    samples: dict[int, SpanSample] = {}

    @cache
    def places(number: int) -> _Places:
        sample = samples[number]
        found = (one.span() for one in _WORD.finditer(sample.text))
        return _Places(tuple(found), tuple((one.start, one.end) for one in sample.sentences))

    # Each is a turn on the store, and people inside the gold come again at every text.
    known_as = cache(partial(mapping_of, store, dataset))

    def person(name: str, number: int, marks: Sequence[Mark]) -> None:
        at = places(number)
        words.person(name, number, _met(at.words, marks).keys())
        sentences.person(name, number, _met(at.sentences, marks).keys())
        labels.person(name, number, {mark.label for mark in marks if mark.label})

    for number, sample in stored_samples(store, dataset, dataset.n):
        samples[number] = sample
        for name, marks in sample.annotators.items():
            person(name, number, _mapped(marks, known_as(name)))

    def marked(run: Run, number: int, prediction: bytes | str) -> Sequence[Mark]:
        gold = task.as_gold(samples[number], decoder.decode(prediction))
        return _mapped(gold.spans or (), known_as(run.model))

    decoder = msgspec.json.Decoder(task.prediction)
    for run, number, prediction in outcomes(store, people, cancelled):
        person(run.model, number, marked(run, number, prediction))
    wanted = {number for each in words.people.values() for number in each}
    for run in models:
        said = [
            (number, marked(run, number, prediction))
            for _, number, prediction in outcomes(store, [run], cancelled)
            if number in wanted
        ]
        sure = _are_probabilities(mark for _, marks in said for mark in marks)
        for number, marks in said:
            at = places(number)
            for opinions_of, where in ((words, at.words), (sentences, at.sentences)):
                opinions_of.source(run.run, number, _answer(_met(where, marks), sure=sure))
            labels.source(run.run, number, _answer(_by_label(marks), sure=sure))
    named = (names for each in labels.people.values() for names in each.values())
    labels.classes = tuple(sorted({str(name) for names in named for name in names}))
    by_label = {name: at for at, name in enumerate(labels.classes)}
    for number in sorted(wanted):
        words.questions[number] = dict.fromkeys(range(len(places(number).words)), 0)
        if len(places(number).sentences) > 1:
            sentences.questions[number] = dict.fromkeys(range(len(places(number).sentences)), 0)
        if labels.classes:
            labels.questions[number] = by_label
    return [words, sentences, labels]


def _mapped(marks: Sequence[Mark], mapping: Mapping[str, str]) -> Sequence[Mark]:
    if not mapping:
        return marks
    return [msgspec.structs.replace(mark, label=mapping.get(mark.label or "", mark.label)) for mark in marks]


def _met(places: Sequence[tuple[int, int]], marks: Iterable[Mark]) -> dict[int, float]:
    """By the number of a place that a mark has letters of the greatest score there; 1 where a mark has none."""
    from bisect import bisect_left, bisect_right

    starts, ends = [start for start, _ in places], [end for _, end in places]
    found: dict[int, float] = {}
    for mark in marks:
        score = 1.0 if mark.score is None else mark.score
        for at in range(bisect_right(ends, mark.start), bisect_left(starts, mark.end)):
            found[at] = max(found.get(at, score), score)
    return found


def _by_label(marks: Iterable[Mark]) -> dict[str, float]:
    found: dict[str, float] = {}
    for mark in marks:
        if mark.label:
            score = 1.0 if mark.score is None else mark.score
            found[mark.label] = max(found.get(mark.label, score), score)
    return found


def _are_probabilities(marks: Iterable[Mark]) -> bool:
    """Whether there are marks, each has a score, and all of these lie in [0, 1]."""
    scores = [mark.score for mark in marks]
    return bool(scores) and all(score is not None and 0 <= score <= 1 for score in scores)


def _answer(scores: Mapping[Any, float], *, sure: bool) -> Answer:
    return Answer(scores if sure else dict.fromkeys(scores, 1.0), scores.keys(), sure)


SAID_BY_PEOPLE = '"annotators":{"'
"""What a record holds, letter by letter, in which somebody says something."""


def people_tables(
    store: Store,
    dataset: Dataset,
    runs: Sequence[Run],
    groups: Mapping[int, int] | None,
    cancelled: IsCancelled,
) -> tuple[ResultsTable, ...]:
    """Of labels, words for masks, spans and numbers; none where no text has two annotators.

    Versions of texts (generation) have none: people grade them, and no source gives grades.

    Args:
        runs: the sources; those that are people count as annotators.
        groups: by the number of a text that of what it shares with others.

    Raises:
        Cancelled: between two thousand answers or so.
    """
    models = [run for run in runs if run.source != PERSON]
    runs_here = runs_of(store, dataset)
    settled = settled_among(store, dataset, runs_here)
    people = [run for run in runs_here if run.source == PERSON and run.run not in settled]
    composed = is_sample_data(dataset)
    if not people and not store.samples.holding(dataset.dataset, SAID_BY_PEOPLE):
        return ()
    if dataset.task == "values":
        from emotui.workbench.results.spread.number_tables import number_tables

        return tuple(number_tables(store, dataset, models, people, groups, composed=composed, cancelled=cancelled))
    asked: list[Opinions] = []
    if dataset.task == "spans":
        asked = of_spans(store, dataset, models, people, cancelled)
    elif dataset.task == "masked":
        asked = [of_masks(store, models, people, cancelled)]
    elif dataset.task in ("labels", "scenes", "rephrase"):
        asked = [of_labels(store, dataset, models, people, cancelled)]
    tables: list[ResultsTable] = []
    for one in asked:
        spread = spread_of(one)
        if spread is not None:
            from emotui.workbench.results.spread.tables import spread_tables  # imports scipy, which takes a second

            tables += spread_tables(spread, models, groups, composed=composed)
    return tuple(tables)
