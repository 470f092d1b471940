"""Intervals beside the figures of a score document: `ci95` by the figure's name, and under which convention.

What a figure comes to over resamples is told first, and its interval then: repeats share the draws of samples, so
that of repeated answers the figures are averaged before the interval is taken.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from emotui.metrics.permutation import f1_of_sums, weighted_f1_of_sums
from emotui.metrics.resampled_order import named, resampled_probabilities, resampled_spearman
from emotui.metrics.resampling import (
    Drawn as Drawn,
)
from emotui.metrics.resampling import (
    Interval,
    Numbers,
    Replicates,
    averaged,
    convention,
    estimates,
    interval_of,
    ratio_columns,
    ratio_replicates,
    replicated_sums,
    resamples_for,
    told_of_t,
)
from emotui.metrics.resampling import (
    drawn as drawn,
)
from emotui.metrics.states import Floats
from emotui.metrics.sums import of_numbers_sums

SEED = 0

RARE = 5
"""Gold texts below which a label makes the interval of a macro F1 too narrow, which is told."""

Shared = Sequence[str | None]
"""Of each sample which passage, post or original it shares with others; None: none."""

Intervals = dict[str, Interval]
Resampled = dict[str, Replicates]
"""By figure what it comes to over resamples."""

Parts = Mapping[str, tuple[ArrayLike, ArrayLike]]
"""By figure (n,) numerators and denominators, as of `ratio_intervals`."""


class Answer(Protocol):
    """What was scored of one answer about a sample."""

    @property
    def id(self) -> str: ...

    @property
    def repeat(self) -> int: ...


A = TypeVar("A", bound=Answer)


def beside(
    found: Intervals, shared: Shared, of: str = "samples", fewer: Mapping[str, int] | None = None
) -> dict[str, Any]:
    """What is added to a document: `ci95` `{figure: [low, high]}`, its convention, and notes; nothing without a figure.

    A figure without an interval is null in `ci95`. `notes` say why, and what has to be known of the others: `ci95` of
    all, `ci95.FIGURE` of one.

    Args:
        fewer: the figures that are of the first so many resamples alone (`fewer_of`).
    """
    known = {name: each for name, each in found.items() if each.ends is not None or each.note}
    if not known:
        return {}
    by = drawn(shared)
    what = f"groups of {of} that share a text" if by.grouped else of
    told = convention(by.n, what, resamples_for(by.n), SEED)
    for count in sorted(set((fewer or {}).values())):
        kinds = dict.fromkeys(name.rpartition(".")[2] for name, own in (fewer or {}).items() if own == count)
        told += f"; {', '.join(kinds)}: the first {count:,}"
    ends = {name: None if each.ends is None else list(each.ends) for name, each in known.items()}
    return {"ci95": ends, "conventions": {"ci95": told}, "notes": _notes(known, by)}


def _notes(known: Intervals, by: Drawn) -> dict[str, str]:
    """What all that are Student's t over everything there is say alike is said once."""
    whole = told_of_t(by.n, by.grouped)
    notes = {"ci95": whole} if any(one.note == whole for one in known.values()) else {}
    return notes | {f"ci95.{name}": one.note for name, one in known.items() if one.note not in ("", whole)}


def with_beside(document: Mapping[str, Any], sure: Mapping[str, Any]) -> dict[str, Any]:
    """A document with what `beside` adds; its own conventions and notes stay."""
    both = {key: {**document.get(key, {}), **sure[key]} for key in ("conventions", "notes") if key in sure}
    return {**document, **sure, **both}


def merged(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """What two documents over the same draws add, as one; its convention is that which says more."""
    known = [each for each in (one, other) if each]
    if not known:
        return {}
    told = max((each["conventions"]["ci95"] for each in known), key=len)
    both = {key: {**one.get(key, {}), **other.get(key, {})} for key in ("ci95", "notes")}
    return both | {"conventions": {"ci95": told}}


def fewer_of(each: Sequence[Resampled], n: int) -> dict[str, int]:
    """The figures of which fewer resamples were read than are drawn of n groups."""
    least = {name: min(len(one[name].resampled) for one in each if name in one) for one in each for name in one}
    return {name: count for name, count in least.items() if count < resamples_for(n)}


def beside_repeats(
    answers: Sequence[A], shared: Mapping[str, str | None], of: Callable[[list[A], Drawn], Resampled]
) -> dict[str, Any]:
    """As `beside`, of figures over repeats: of each resample of samples the mean over repeats.

    Args:
        shared: by a sample's id what it shares with others.
        of: the figures of one repeat's answers over resamples.
    """
    ids, repeats = [one.id for one in answers], [one.repeat for one in answers]

    def of_rows(rows: Numbers, by: Drawn) -> Resampled:
        return of(list(answers) if len(rows) == len(answers) else [answers[at] for at in rows.tolist()], by)

    return beside_rows(ids, repeats, shared, of_rows)


def beside_rows(
    ids: Sequence[str],
    repeats: Sequence[int],
    shared: Mapping[str, str | None],
    of: Callable[[Numbers, Drawn], Resampled],
) -> dict[str, Any]:
    """As `beside_repeats`, of rows that have these samples and repeats. Args: of: of the rows at these places."""
    place: dict[str, int] = {}
    sample_of_rows = np.array([place.setdefault(key, len(place)) for key in ids], dtype=np.int64)
    groups = [shared.get(key) for key in place]
    del place  # a million ids are a hundred megabytes
    every = drawn(groups)
    if every.n < 2:
        return {}
    repeat_of_rows = np.asarray(repeats)
    each = []
    for repeat in sorted(set(repeats)):
        rows = np.flatnonzero(repeat_of_rows == repeat).astype(np.int64)
        each.append(of(rows, every.rows(sample_of_rows[rows])))
    return beside(intervals(each), groups, fewer=fewer_of(each, every.n))


def intervals(each: Sequence[Resampled]) -> Intervals:
    """Of figures over the same resamples, a repeat each: the intervals of their means over the repeats."""
    names = dict.fromkeys(name for one in each for name in one)
    return {name: interval_of(averaged([one[name] for one in each if name in one])) for name in names}


def of_ratios(parts: Parts, shared: Shared) -> Intervals:
    """Of means and rates."""
    return intervals([ratios(parts, drawn(shared))])


def ratios(parts: Parts, by: Drawn) -> Resampled:
    """Means and rates over resamples."""
    if not len(by.numbers):
        return {}
    return dict(zip(parts, ratio_replicates(list(parts.values()), by, seed=SEED), strict=True))


def of_vectors(gold: ArrayLike, said: ArrayLike, labels: Sequence[str], shared: Shared) -> Intervals:
    """Of the figures of `scenes_metrics` and `labels_metrics` that are made of counts.

    Args:
        gold, said: (n, k) of 0 or 1.
    """
    return intervals([vectors(gold, said, labels, drawn(shared))])


def vectors(gold: ArrayLike, said: ArrayLike, labels: Sequence[str], by: Drawn) -> Resampled:
    """Such figures over resamples."""
    g, p = (np.asarray(each, dtype=bool) for each in (gold, said))
    n, k = g.shape
    right, ones, all_labels = (g == p).sum(axis=1), np.broadcast_to(1.0, n), np.broadcast_to(float(k), n)
    both, either, size = (g & p).sum(axis=1), (g | p).sum(axis=1), g.sum(axis=1) + p.sum(axis=1)
    parts: Parts = {
        "lexical_accuracy": (right, all_labels),
        "vector_accuracy": (right == k, ones),
        "hamming_loss": (k - right, all_labels),
        "jaccard": (np.divide(both, either, out=np.ones(n), where=either > 0), ones),
        "samples_f1": (np.divide(2 * both, size, out=np.ones(n), where=size > 0), ones),
    }
    return _ratios_and_f1(parts, g, p, labels, by)


def probabilities(gold: ArrayLike, given: ArrayLike, labels: Sequence[str], by: Drawn) -> Resampled:
    """Brier score, calibration error and average precision over resamples. Args: gold, given: (n, k)."""
    if by.n < 2 or not labels or not len(by.numbers):
        return {}
    return named(*resampled_probabilities(gold, given, by, SEED), labels)


def of_labels(gold: Sequence[str], said: Sequence[str], labels: Sequence[str], shared: Shared) -> Intervals:
    """Of accuracy and F1 of one label a sample; a label said that is none of `labels` is a missing answer."""
    return intervals([single_labels(gold, said, labels, drawn(shared))])


def single_labels(gold: Sequence[str], said: Sequence[str], labels: Sequence[str], by: Drawn) -> Resampled:
    """Such figures over resamples."""
    names = np.array(labels, dtype=object)
    g, p = (np.array(each, dtype=object)[:, None] == names for each in (gold, said))
    found = _ratios_and_f1({"accuracy": ((g & p).any(axis=1), np.ones(len(g)))}, g, p, labels, by)
    return {name: each for name, each in found.items() if name != "micro_f1"}


def _ratios_and_f1(
    parts: Parts, gold: NDArray[np.bool_], said: NDArray[np.bool_], labels: Sequence[str], by: Drawn
) -> Resampled:
    """Both of the same draws, which are drawn and added up once: that takes most of the time.

    Args:
        parts: each a function of a row of `gold` and `said`, so that equal rows are added up by their count.
    """
    if not len(by.numbers):
        return {}
    ratios = list(parts.values())
    first, kinds = _kinds(gold, said)
    different = [(np.asarray(above)[first], np.asarray(below)[first]) for above, below in ratios]
    columns = np.concatenate([ratio_columns(different), _f1_columns(gold[first], said[first])], axis=1)
    sums = replicated_sums(columns, by, seed=SEED, kinds=kinds)
    split = 2 * len(ratios)
    found = dict(zip(parts, ratio_replicates(ratios, by, seed=SEED, sums=sums[:, :split]), strict=True))
    return found | _f1(gold, said, labels, by, sums[:, split:])


def _kinds(gold: NDArray[np.bool_], said: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where each different pair of rows stands first, and (n,) which of these each row is."""
    bits = np.packbits(np.concatenate([gold, said], axis=1), axis=1)
    wide = np.zeros((len(bits), -(-max(bits.shape[1], 1) // 8) * 8), dtype=np.uint8)
    wide[:, : bits.shape[1]] = bits
    words = wide.view(np.uint64)
    keys = words.ravel() if words.shape[1] == 1 else words.view(np.dtype((np.void, wide.shape[1]))).ravel()
    _, first, kinds = np.unique(keys, return_index=True, return_inverse=True)
    return first, kinds


def _f1_columns(gold: NDArray[np.bool_], said: NDArray[np.bool_]) -> NDArray[np.float64]:
    """(n, 3 k): what is right, said and there of each label."""
    return np.concatenate([gold & said, said, gold], axis=1).astype(np.float64)


def _f1(
    gold: NDArray[np.bool_], said: NDArray[np.bool_], labels: Sequence[str], by: Drawn, sums: NDArray[np.float64]
) -> Resampled:
    """Args: sums: of `_f1_columns` over resamples."""
    k = len(labels)
    if by.n < 2 or not k or not len(gold):
        return {}
    found = estimates((), _f1s_of_sums, by, seed=SEED, bounds=(0.0, 1.0), sums=sums)
    rare = [label for label, n in zip(labels, gold.sum(axis=0).tolist(), strict=True) if n < RARE]
    macro = replace(found[0], caution=_of_rare(rare)) if rare else found[0]
    each: Resampled = {"macro_f1": macro, "micro_f1": found[1], "weighted_f1": found[2]}
    there = {"f1": gold | said, "precision": said, "recall": gold}
    for place, (figure, has) in enumerate(there.items()):
        for at, label in enumerate(labels):
            one = found[3 + place * k + at]
            each[f"by_label.{label}.{figure}"] = replace(one, n=by.holding(has[:, at]))
    return each


def _f1s_of_sums(sums: Floats) -> Floats:
    """(m, 3 + 3 k): macro, micro and weighted F1, then F1, precision and recall of each label. Args: sums: (m, 3 k)."""
    hits, given, there = np.split(sums, 3, axis=1)
    size = given + there
    weighted = weighted_f1_of_sums(hits, given, there)
    averages = f1_of_sums(hits, size, "macro", size[0] > 0), f1_of_sums(hits, size, "micro"), weighted
    return np.concatenate([np.stack(averages, axis=1), 2 * hits / size, hits / given, hits / there], axis=1)


def _of_rare(labels: Sequence[str]) -> str:
    named = ", ".join(labels[:4]) + (f" and {len(labels) - 4} more" if len(labels) > 4 else "")
    return f"rather too narrow: fewer than {RARE} gold texts of {named}"


def of_numbers(gold: ArrayLike, said: ArrayLike, shared: Shared) -> Intervals:
    """Of the figures of `numbers`."""
    return intervals([numbers(gold, said, drawn(shared))])


def numbers(gold: ArrayLike, said: ArrayLike, by: Drawn) -> Resampled:
    """Both correlations, Lin's concordance, RMSE and MAE over resamples. Args: gold, said: (n,)."""
    x, y = (np.asarray(each, dtype=np.float64) for each in (gold, said))
    if by.n < 2 or not len(x):
        return {}
    figures = {name: make() for name, make in of_numbers_sums(x, y, np.ones(len(x), dtype=np.bool_)).items()}
    columns = next(iter(figures.values())).columns

    def of_sums(sums: Floats) -> Floats:
        return np.stack([figure.statistic(sums) for figure in figures.values()], axis=1)

    made = zip(figures.items(), estimates(columns, of_sums, by, seed=SEED), strict=True)
    found = {name: replace(one, bounds=figure.bounds) for (name, figure), one in made}
    return found | {"spearman": resampled_spearman(x, y, by, SEED)}
