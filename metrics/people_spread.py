"""A source against the spread of people's labels, in place of one gold label: how far, and how well calibrated.

People who differ are not wrong: what is compared is a probability with the share of annotators who give the label
(soft evaluation: Uma et al. 2021, Learning from Disagreement, section 4; Baan et al. 2022, Stop Measuring Calibration
When Humans Disagree). Each label of a text is a question of its own, yes or no.

The measures of LeWiDi, the shared tasks on learning with disagreement, stand below, under their own names, with the
document of `emotui score class` and `emotui score labels` against people (of numbers: `emotui.metrics.people_numbers`).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import ne
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import jensenshannon
from scipy.special import xlogy

from emotui.metrics.beside import Parts, Shared, beside, drawn, intervals, ratios, with_beside
from emotui.metrics.labels import as_table
from emotui.metrics.probabilities import BINS
from emotui.metrics.states import Floats

FLOOR = 1e-3
"""No probability counts as less sure than this: a source that says yes or no alone would be infinitely far."""


MARKS = "marks"
"""The kind of answers that are a `1` for each character that is marked, and a `0` for each other one."""


class Bin(NamedTuple):
    """`probability`, `share`: means over the `n` questions of a bin."""

    probability: float
    share: float
    n: int


def cross_entropy(shares: ArrayLike, probabilities: ArrayLike, floor: float = FLOOR) -> Floats:
    """-q log p - (1 - q) log(1 - p) in nats for each question; where p is q it is the entropy of people.

    Args:
        shares, probabilities: (n, k) in [0, 1]; probabilities are moved to [floor, 1 - floor].

    Returns:
        (n, k), at least 0.

    Source: Peterson et al. 2019; Uma et al. 2021, section 4.2.
    """
    q, p = _same(shares, probabilities)
    p = np.clip(p, floor, 1 - floor)
    found: Floats = -xlogy(q, p) - xlogy(1 - q, 1 - p)
    return found


def jensen_shannon(shares: ArrayLike, probabilities: ArrayLike) -> Floats:
    """The Jensen-Shannon divergence, base 2, for each question: 0 where both are equal, 1 for yes against no.

    Args:
        shares, probabilities: (n, k) in [0, 1].

    Returns:
        (n, k) in [0, 1].

    Source: Lin 1991; Uma et al. 2021, section 4.2.
    """
    # A number below the smallest normal one has a half that is 0, and what is over 0 there would be infinitely far.
    q, p = (np.where(part < np.finfo(np.float64).tiny, 0.0, part) for part in _same(shares, probabilities))
    distance = jensenshannon(np.stack([q, 1 - q]), np.stack([p, 1 - p]), base=2, axis=0)
    found: Floats = np.nan_to_num(np.asarray(distance, dtype=np.float64)) ** 2  # rounding below 0 under the root
    return found


def squared_distance(shares: ArrayLike, probabilities: ArrayLike) -> Floats:
    """(p - q)^2 for each question: the Brier score against people's shares; of one gold label it is Brier's own.

    Args:
        shares, probabilities: (n, k) in [0, 1].

    Source: Brier 1950, in the form that is halved.
    """
    q, p = _same(shares, probabilities)
    found: Floats = (p - q) ** 2
    return found


def reliability(shares: ArrayLike, probabilities: ArrayLike, bins: int = BINS) -> list[Bin]:
    """Probability against the share of people who say so, over bins of equal width that hold a question.

    Args:
        shares, probabilities: of one shape, in [0, 1].
        bins: half open at the top, the last one closed.

    Source: Guo et al. 2017, Figure 1, with shares in place of right and wrong (Baan et al. 2022).
    """
    q, p = (one.ravel() for one in _same(shares, probabilities))
    places = np.minimum((p * bins).astype(np.int64), bins - 1)
    sizes = np.bincount(places, minlength=bins)
    sums = [np.bincount(places, weights=one, minlength=bins) for one in (p, q)]
    return [Bin(float(sums[0][at] / n), float(sums[1][at] / n), int(n)) for at, n in enumerate(sizes) if n]


def calibration_error(shares: ArrayLike, probabilities: ArrayLike, bins: int = BINS) -> float | None:
    """Mean distance of probability and share over the bins of `reliability`, weighted by their sizes; None of nothing.

    Source: Guo et al. 2017, equation 3, with shares in place of right and wrong.
    """
    found = reliability(shares, probabilities, bins)
    n = sum(one.n for one in found)
    return sum(one.n * abs(one.probability - one.share) for one in found) / n if n else None


def majority(shares: ArrayLike) -> Floats:
    """1 where more than half of the people say so, else 0: also where just half do."""
    found: Floats = (np.asarray(shares, dtype=np.float64) > 0.5).astype(np.float64)
    return found


def _same(shares: ArrayLike, probabilities: ArrayLike) -> tuple[Floats, Floats]:
    q, p = np.asarray(shares, dtype=np.float64), np.asarray(probabilities, dtype=np.float64)
    if q.shape != p.shape:
        raise ValueError(f"shares {q.shape} and probabilities {p.shape} must have one shape")
    return q, p


# The measures of LeWiDi: soft ones of two distributions, and those of each annotator's own answer.

LEAST = 2
"""Annotators of a text that make a distribution."""

SMALLEST, ADDED = 1e-12, 1e-9
"""LeWiDi's own: a probability lies in [SMALLEST, 1 - SMALLEST], and ADDED to it is what the logarithm is of."""

SOURCE = "LeWiDi (SemEval-2023 task 11, Leonardelli and others 2023; LeWiDi-2025, Leonardelli and others 2025)"


def manhattan(people: ArrayLike, source: ArrayLike) -> Floats:
    """The sum over outcomes of |p - q|, of each text: 0 where both are spread alike, 2 where they share nothing.

    Args:
        people, source: (..., m), each row adds up to 1.

    Returns:
        (...,) in [0, 2].

    Source: LeWiDi-2025, the soft measure of irony (Average Manhattan Distance); of several labels its mean over
    labels, each with the outcomes yes and no.
    """
    q, p = _same(people, source)
    distances: Floats = np.abs(q - p).sum(axis=-1)
    return distances


def soft_cross_entropy(people: ArrayLike, source: ArrayLike) -> Floats:
    """-sum over outcomes of q log p in nats, of each text; of a source that is sure and wrong it is about 20.7.

    Args:
        people, source: (..., m), each row adds up to 1.

    Source: LeWiDi at SemEval-2023 (task 11), with the bounds of its program: `SMALLEST` and `ADDED`.
    """
    q, p = _same(people, source)
    entropies: Floats = -(q * np.log(np.clip(p, SMALLEST, 1 - SMALLEST) + ADDED)).sum(axis=-1)
    return np.maximum(entropies, 0.0)  # what is added makes a sure and right source less than 0 by as much


def error_rates(given: ArrayLike, predicted: ArrayLike) -> Floats:
    """1 less the share of annotators whose own answer is predicted, of each text; of several labels over all of them.

    Args:
        given: (n, people) numbers that stand for answers, or (n, people, k) of 0 or 1; NaN where somebody gives none,
            each text has an answer.
        predicted: of the same shape, or with 1 in place of `people` where one answer stands for all of them.

    Returns:
        (n,) in [0, 1].

    Source: LeWiDi-2025, the perspectivist measure of irony (Average Error Rate) and of inference (Multilabel ER).
    """
    g, p = np.asarray(given, dtype=np.float64), np.asarray(predicted, dtype=np.float64)
    off = np.where(np.isnan(g), np.nan, g != p)
    rates: Floats = np.nanmean(off, axis=tuple(range(1, off.ndim))) if len(off) else np.zeros(0)
    return rates


def label_people_report(
    people: Sequence[Mapping[str, Sequence[str]]],
    probabilities: Sequence[Mapping[str, float]],
    chosen: Sequence[Sequence[str]],
    labels: Sequence[str],
    shared: Shared,
) -> dict[str, Any]:
    """What `emotui score labels --against people` adds, of several labels a text.

    Args:
        people: of each text the labels that each of its annotators gives, `LEAST` of them or more.
        probabilities: of each text the probability of each label, or 0 and 1; a label without one has 0.
        chosen: of each text the labels that count as predicted.
        labels: all that anybody names.
        shared: of each text what it shares with others.

    Returns:
        `n` texts; `annotators`; `manhattan`, `cross_entropy` and `entropy` (the cross-entropy that people's own shares
        have), means over labels and then texts; `error_rate`; `by_label` with the first two; `by_annotator` with `n`
        and `error_rate`; `ci95`, `conventions`, `notes`.
    """
    names, told = (
        annotator_places(people),
        f"{SOURCE}; each label has the outcomes yes and no, means over labels, then texts",
    )
    if not labels:
        blank = dict.fromkeys(("manhattan", "cross_entropy", "entropy", "error_rate"), np.full(len(people), np.nan))
        return people_document(blank, {"by_label": {}}, names, {}, shared, told)
    given = np.full((len(people), len(names), len(labels)), np.nan)
    for row, own in zip(given, people, strict=True):
        for name, answer in own.items():
            row[names[name]] = as_table([answer], labels)[0]
    p, decided = as_table(probabilities, labels), as_table(chosen, labels)
    q = np.nanmean(given, axis=1)
    yes_no = [np.stack([one, 1 - one], axis=-1) for one in (q, p)]
    apart, crossed, own_spread = manhattan(*yes_no), soft_cross_entropy(*yes_no), soft_cross_entropy(*[yes_no[0]] * 2)
    columns = {
        "manhattan": apart.mean(axis=1),
        "cross_entropy": crossed.mean(axis=1),
        "entropy": own_spread.mean(axis=1),
        "error_rate": error_rates(given, decided[:, None, :]),
    }
    by_label = {name: {"manhattan": apart[:, at], "cross_entropy": crossed[:, at]} for at, name in enumerate(labels)}
    off = np.where(np.isnan(given), np.nan, given != decided[:, None, :]).mean(axis=2)
    return people_document(columns, {"by_label": by_label}, names, {"error_rate": off}, shared, told)


def own_answers_report(
    people: Sequence[Mapping[str, Any]], predicted: Sequence[Mapping[str, Any]], kind: str, shared: Shared = ()
) -> dict[str, Any]:
    """What `emotui score annotators` prints: each annotator's own answer against what is predicted of just them.

    Args:
        people: of each text its annotators' answers: a label, a list of labels, or numbers by name.
        predicted: the same of the same annotators; None: nothing is predicted, which is wrong and as far as can be.
        kind: `label`, `labels`, `values` or `MARKS`.
        shared: of each text what it shares with others.

    Returns:
        `n` texts, `annotators`, `answers`; `error_rate` (of several labels over all labels; of numbers over
        their names; of marks over characters) and, where all answers are numbers, `normalised_absolute_distance` (over
        the width of the scale, from the lowest to the highest number that people give); `same_for_all`: the error rate
        where the answer predicted most often for a text stands for all of its annotators, which those predicted for
        each have to beat; `by_annotator`, `ci95`, `conventions`, `notes`.
    """
    names = annotator_places(people)
    shape = len(people), len(names)
    off, far, alike = np.full(shape, np.nan), np.full(shape, np.nan), np.full(shape, np.nan)
    every = [answer for own in people for answer in own.values()]
    labels = sorted({label for answer in every for label in answer} if kind == "labels" else ())
    scales = _scales(every, kind)
    for at, (own, said) in enumerate(zip(people, predicted, strict=True)):
        told = Counter(repr(said[name]) for name in own if said[name] is not None)
        usual = told.most_common(1)[0][0] if told else ""
        most = next((said[name] for name in own if repr(said[name]) == usual), None)
        for name, answer in own.items():
            place = at, names[name]
            off[place], alike[place] = _wrong(answer, said[name], kind, labels), _wrong(answer, most, kind, labels)
            far[place] = _away(answer, said[name], kind, scales)
    columns = {"error_rate": _mean_of_rows(off), "same_for_all": _mean_of_rows(alike)}
    own_off = {"error_rate": off}
    if scales:
        own_off["normalised_absolute_distance"] = far
        columns["normalised_absolute_distance"] = _mean_of_rows(far)
    told_words = f"{SOURCE}; of each text the mean over its annotators, then over texts"
    document = people_document(columns, {}, names, own_off, shared or [None] * len(people), told_words)
    return {"n": document.pop("n"), "annotators": document.pop("annotators"), "answers": len(every), **document}


def _scales(answers: Sequence[Any], kind: str) -> dict[str, tuple[float, float]]:
    """By name (of labels the empty one) the lowest and the highest number; none where labels are no numbers."""
    numbers: dict[str, list[float]] = {}
    try:
        for answer in answers:
            for name, value in answer.items() if kind == "values" else [("", answer)] if kind == "label" else ():
                numbers.setdefault(name, []).append(float(value))
    except (TypeError, ValueError):
        return {}
    return {name: (min(each), max(each)) for name, each in numbers.items() if min(each) < max(each)}


def _wrong(answer: Any, said: Any, kind: str, labels: Sequence[str]) -> float:
    """The share of what is asked that is wrong."""
    if said is None:
        return 1.0
    if kind == "labels":
        return len(set(answer) ^ set(said)) / max(len({*labels, *said}), 1)
    if kind == MARKS:
        return float(sum(map(ne, answer, said)) / max(len(answer), 1))
    if kind == "values":
        wrong = sum(bool(said.get(name) != value) for name, value in answer.items())
        return wrong / max(len(answer), 1)
    return float(not _equal(answer, said))


def _equal(one: str, other: str) -> bool:
    try:
        return float(one) == float(other)
    except ValueError:
        return one == other


def _away(answer: Any, said: Any, kind: str, scales: Mapping[str, tuple[float, float]]) -> float:
    """Mean over names of the distance over the width of the scale; what is no number there is at the farther end."""
    found = []
    for name, (low, high) in scales.items():
        value = answer.get(name) if kind == "values" else answer
        if value is None:
            continue
        given: Any = (said or {}).get(name) if kind == "values" else said
        try:
            distance = abs(float(value) - float(given))
        except (TypeError, ValueError):
            distance = max(float(value) - low, high - float(value))
        found.append(distance / (high - low))
    return sum(found) / len(found) if found else np.nan


def _mean_of_rows(table: Floats) -> Floats:
    """(n,): the mean of what is there; NaN in an empty row."""
    there = ~np.isnan(table)
    counts = there.sum(axis=1)
    means: Floats = np.divide(
        np.where(there, table, 0.0).sum(axis=1), counts, out=np.full(len(table), np.nan), where=counts > 0
    )
    return means


class SpanSaid(NamedTuple):
    """One text with the marks of its `people` by name, and of a source, `predicted`, one list a repeat.

    A mark is (start, end, label or None), half open; a predicted span that stands nowhere in the text is left out.
    """

    text: str
    people: Mapping[str, Sequence[tuple[int, int, str | None]]]
    predicted: Sequence[Sequence[tuple[int, int, str | None]]]


def span_people_report(texts: Sequence[SpanSaid], shared: Shared) -> dict[str, Any]:
    """What `emotui score spans --against people` adds: soft spans, character by character.

    The convention is ours, as LeWiDi has no spans: each character that is no white space is a question with the
    outcomes marked and not, as each label is of several labels a text. People's distribution is the share of annotators
    who mark it, the source's the share of its repeats (0 or 1 where there is one). A figure is the mean over a text's
    characters, then over texts. Where labels are named, `by_label` has the same of the marks of each label alone.

    Args:
        texts: each with `LEAST` annotators or more, who may mark nothing.
        shared: of each text what it shares with others.

    Returns:
        As of `label_people_report`. The answer that annotators are compared with is what half of the repeats mark, or
        more.
    """
    names = annotator_places([one.people for one in texts])
    labels = sorted(
        {mark[2] for one in texts for marks in (*one.people.values(), *one.predicted) for mark in marks if mark[2]}
    )
    figures = ("manhattan", "cross_entropy", "entropy", "error_rate")
    columns = {name: np.full(len(texts), np.nan) for name in figures}
    by_label = {label: {name: np.full(len(texts), np.nan) for name in figures[:2]} for label in labels}
    off = np.full((len(texts), len(names)), np.nan)
    for at, one in enumerate(texts):
        kept = np.array([not sign.isspace() for sign in one.text], dtype=bool)
        if not kept.any():
            continue
        given = np.array([_marked(one.text, marks)[kept] for marks in one.people.values()])
        p = np.array([_marked(one.text, marks)[kept] for marks in one.predicted]).mean(axis=0)
        q = given.mean(axis=0)
        wrong = given != (p >= 0.5)
        apart, crossed, own = _yes_no(q, p)
        columns["manhattan"][at], columns["cross_entropy"][at], columns["entropy"][at] = apart, crossed, own
        columns["error_rate"][at] = wrong.mean()
        off[at, [names[name] for name in one.people]] = wrong.mean(axis=1)
        for label in labels:
            sides = [
                np.mean([_marked(one.text, marks, label)[kept] for marks in side], axis=0)
                for side in (one.people.values(), one.predicted)
            ]
            by_label[label]["manhattan"][at], by_label[label]["cross_entropy"][at], _ = _yes_no(*sides)
    told = f"{SOURCE} has no spans; ours: each character but white space is marked or not, means over these, then texts"
    return people_document(columns, {"by_label": by_label}, names, {"error_rate": off}, shared, told)


def _marked(text: str, marks: Sequence[tuple[int, int, str | None]], label: str | None = None) -> Floats:
    """(characters,): 1 where a mark is, of this label alone if one is given."""
    found = np.zeros(len(text))
    for start, end, named in marks:
        if label is None or named == label:
            found[start:end] = 1.0
    return found


def _yes_no(people: Floats, source: Floats) -> tuple[float, float, float]:
    """Manhattan distance, cross-entropy and people's own entropy, mean over questions."""
    q, p = (np.stack([one, 1 - one], axis=-1) for one in (people, source))
    return float(manhattan(q, p).mean()), float(soft_cross_entropy(q, p).mean()), float(soft_cross_entropy(q, q).mean())


BOUNDS = {"manhattan": 2.0, "error_rate": 1.0, "same_for_all": 1.0}
"""The greatest that a figure can be, where there is one; the least is 0."""


def people_document(
    columns: Mapping[str, Floats],
    groups: Mapping[str, Mapping[str, Mapping[str, Floats]]],
    names: Mapping[str, int],
    own_off: Mapping[str, Floats],
    shared: Shared,
    told: str,
) -> dict[str, Any]:
    """Figures against people as a document.

    Args:
        columns: by figure (n,), one number a text; NaN where a text has no say in it.
        groups: by group and name such columns too.
        names: the place of each annotator.
        own_off: by figure (n, people) what each annotator's answers come to; NaN where there is none.
        shared: of each text what it shares with others.
        told: the convention.
    """
    nested = {
        f"{group}.{name}.{figure}": column
        for group, each in groups.items()
        for name, own in each.items()
        for figure, column in own.items()
    }
    parts: Parts = {
        name: (np.nan_to_num(column), ~np.isnan(column) * 1.0) for name, column in {**columns, **nested}.items()
    }
    document: dict[str, Any] = {"n": len(shared), "annotators": len(names)}
    document |= {figure: _mean(column) for figure, column in columns.items()}
    for group, each in groups.items():
        document[group] = {
            name: {figure: _mean(column) for figure, column in own.items()} for name, own in each.items()
        }
    there = ~np.isnan(np.array([*own_off.values()])).all(axis=0) if own_off else np.zeros((0, len(names)), dtype=bool)
    document["by_annotator"] = {
        name: {"n": int(there[:, at].sum())} | {figure: _mean(column[:, at]) for figure, column in own_off.items()}
        for name, at in names.items()
    }
    document |= {"conventions": {"people": told}, "notes": {}}
    each_of = {
        name: replace(one, bounds=(0.0, BOUNDS.get(name.rpartition(".")[2], np.inf)))
        for name, one in (ratios(parts, drawn(shared)) if parts else {}).items()
    }
    return with_beside(document, beside(intervals([each_of]), shared))


def annotator_places(people: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """The place of each annotator, in the order in which they first come."""
    return {name: at for at, name in enumerate(dict.fromkeys(name for own in people for name in own))}


def _mean(column: Floats) -> float | None:
    known = column[~np.isnan(column)]
    return float(known.mean()) if len(known) else None
