"""In which order texts come: as they stand, by chance, or by where an answer is of most use."""

import random
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Literal

import msgspec

from emotui.errors import BadInput
from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.tasks.parts import SaidLine
from emotui.tasks.registry import task_named
from emotui.workbench.annotate.answers import Answer, SentenceSaid, SpanMark, gold_answer
from emotui.workbench.annotate.others import GOLD, by_sample, source_answers, votes_of
from emotui.workbench.annotate.scheme import MASK, Scheme
from emotui.workbench.runs.elsewhere import source_run
from emotui.workbench.runs.scores import last_attempts
from emotui.workbench.texts import runs_of, stored_samples

# How far two answers to one text are apart, in [0, 1]: for orders and for what has to be adjudicated.


def distance(a: Answer, b: Answer, ranges: dict[str, float] | None = None) -> float:
    """0 where both say the same, 1 where they share nothing; the mean over what either of them says anything of.

    Spans: 1 less the F1 of the characters inside them, each counted once a label. Labels: 1 less the Jaccard index.
    Numbers: the mean difference over the length of their scale (`ranges`; without one, different or not). Sentences
    and words: the share of those that differ.
    """
    parts = []
    if a.spans or b.spans:
        parts.append(_spans(a.spans, b.spans))
    if a.labels is not None or b.labels is not None:
        parts.append(_labels(a.labels or (), b.labels or ()))
    if names := {*a.values, *b.values}:
        parts.append(_mean(_number(a.values.get(name), b.values.get(name), (ranges or {}).get(name)) for name in names))
    if places := {*a.sentences, *b.sentences}:
        nothing = SentenceSaid()
        pairs = [(a.sentences.get(place, nothing), b.sentences.get(place, nothing)) for place in places]
        parts.append(_mean(((x.emotion != y.emotion) + (x.valence != y.valence)) / 2 for x, y in pairs))
    if masks := {*a.words, *b.words}:
        parts.append(_mean(float(_word(a, mask) != _word(b, mask)) for mask in masks))
    return _mean(parts)


def spread(answers: Sequence[Answer], ranges: dict[str, float] | None = None) -> float:
    """The mean distance over all pairs of answers; 0 for fewer than two."""
    return _mean(distance(a, b, ranges) for a, b in combinations(answers, 2))


def _spans(a: Sequence[SpanMark], b: Sequence[SpanMark]) -> float:
    mine, theirs = _characters(a), _characters(b)
    return 1 - 2 * len(mine & theirs) / (len(mine) + len(theirs))


def _characters(spans: Sequence[SpanMark]) -> set[tuple[int, str | None]]:
    return {(at, span.label) for span in spans for at in range(span.start, span.end)}


def _labels(a: Sequence[str], b: Sequence[str]) -> float:
    both, either = set(a) & set(b), set(a) | set(b)
    return 1 - len(both) / len(either) if either else 0.0


def _number(a: float | None, b: float | None, length: float | None) -> float:
    if a is None or b is None:
        return 1.0
    return min(1.0, abs(a - b) / length) if length else float(a != b)


def _word(answer: Answer, mask: int) -> str:
    return answer.words.get(mask, "").strip().lower()


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found) if found else 0.0


Kind = Literal["fixed", "random", "uncertain", "disagree", "error", "gold"]

KINDS: dict[Kind, str] = {
    "fixed": "as they stand in the file",
    "random": "by chance, the same for the same seed",
    "uncertain": "what a model is least sure of first",
    "disagree": "what models and people disagree about most first",
    "error": "what a model likeliest got wrong first",
    "gold": "what gold is likeliest wrong about first",
}


class Order(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An order that was chosen.

    `seed`: of `random`. `sources`: whose word it goes by; empty: that of the newest run, or of everybody.
    """

    kind: Kind = "fixed"
    seed: int = 0
    sources: tuple[str, ...] = ()


FIXED = Order()

_YES_OR_NO = ("yes", "no")
"""What a vector's lines say; their probability is that of yes."""


def order_of(store: Store, dataset: Dataset, scheme: Scheme, chosen: Order) -> Sequence[int]:
    """The numbers of all texts of a dataset in this order; ties as they stand in the file.

    Raises:
        BadInput: there is no source to go by, or not the one that is named.
    """
    numbers = store.samples.file_order(dataset.dataset)
    match chosen.kind:
        case "fixed":
            return numbers
        case "random":
            mixed = list(numbers)
            random.Random(chosen.seed).shuffle(mixed)
            return mixed
        case "uncertain":
            use = _uncertainty(store, dataset, _one_run(store, dataset, chosen))
        case "error":
            use = _errors(store, dataset, _one_run(store, dataset, chosen))
        case "disagree":
            use = _disagreement(store, dataset, scheme, chosen)
        case "gold":
            use = _doubt_of_gold(store, dataset, scheme, chosen)
    return sorted(numbers, key=lambda number: (-use.get(number, -1.0), number))


def _one_run(store: Store, dataset: Dataset, chosen: Order) -> str:
    if chosen.sources:
        found = source_run(store, dataset, chosen.sources[0])
        if found is None:
            raise BadInput(f"{dataset.name} has no run {chosen.sources[0]!r} (see: emotui runs)")
        return found.run
    models = [run.run for run in runs_of(store, dataset) if run.source == "model" and run.done]
    if not models:
        raise BadInput(f"no model has run over {dataset.name} yet: this order goes by one")
    return models[0]


def _uncertainty(store: Store, dataset: Dataset, run: str) -> dict[int, float]:
    """The share of an answer that is expected to be wrong, by the model's own probabilities; of spans that have a score
    1 less its mean, on the model's own scale. What the model says nothing measurable about comes last.
    """
    task = task_named(dataset.task)
    samples = dict(stored_samples(store, dataset, dataset.n))
    found: dict[int, float] = {}
    for row in last_attempts(store.results.of_run(run)):
        if row.prediction is None or row.repeat:
            continue
        prediction = msgspec.json.decode(row.prediction, type=task.prediction)
        lines = [line for line in task.said(samples[row.sample], prediction) if line.p is not None]
        strengths = [one for one in getattr(prediction, "strengths", ()) if one is not None]
        if lines:
            found[row.sample] = sum(map(_expected_wrong, lines)) / len(lines)
        elif strengths:
            found[row.sample] = 1 - sum(strengths) / len(strengths)
    return found


def _expected_wrong(line: SaidLine) -> float:
    p = line.p or 0.0
    if line.cut is not None:
        return 1 - p if p >= line.cut else p
    if line.predicted in _YES_OR_NO:
        return min(p, 1 - p)
    return 1 - p if line.predicted else p


def _errors(store: Store, dataset: Dataset, run: str) -> dict[int, float]:
    """1 less the task's first metric where gold is known; elsewhere, behind these, by uncertainty."""
    metric = task_named(dataset.task).metrics[0]
    found = {sample: use - 1 for sample, use in _uncertainty(store, dataset, run).items()}
    for row in last_attempts(store.results.of_run(run)):
        value = None if row.score is None else row.score.values.get(metric.name)
        if value is not None and not row.repeat:
            found[row.sample] = 1 - value if metric.higher_is_better else value
    return found


def _voices(store: Store, dataset: Dataset, scheme: Scheme, chosen: Order) -> Mapping[int, list[Answer]]:
    sources = chosen.sources or tuple(votes_of(store, dataset))
    said = source_answers(store, dataset, [name for name in sources if name != GOLD], words=bool(scheme.of(MASK)))
    return by_sample(said)


def _disagreement(store: Store, dataset: Dataset, scheme: Scheme, chosen: Order) -> dict[int, float]:
    voices = _voices(store, dataset, scheme, chosen)
    found = {sample: spread(answers, ranges_of(scheme)) for sample, answers in voices.items() if len(answers) > 1}
    if not found:
        raise BadInput(f"fewer than two sources say something about the texts of {dataset.name}: this order needs two")
    return found


def _doubt_of_gold(store: Store, dataset: Dataset, scheme: Scheme, chosen: Order) -> dict[int, float]:
    """How far others are from gold, times how near they are to each other: one voice alone counts half."""
    voices = _voices(store, dataset, scheme, chosen)
    ranges = ranges_of(scheme)
    found = {}
    for number, sample in stored_samples(store, dataset, dataset.n):
        gold = gold_answer(sample, words=bool(scheme.of(MASK)))
        answers = voices.get(number, [])
        if gold is not None and answers:
            away = sum(distance(gold, answer, ranges) for answer in answers) / len(answers)
            together = 1 - spread(answers, ranges) if len(answers) > 1 else 0.5
            found[number] = away * together
    if not found:
        raise BadInput(f"nobody but gold says something about the texts of {dataset.name}: this order needs a source")
    return found


def ranges_of(scheme: Scheme) -> dict[str, float]:
    """The lengths of the scheme's scales by name."""
    return {group.name: group.scale.maximum - group.scale.minimum for group in scheme.groups if group.scale}
