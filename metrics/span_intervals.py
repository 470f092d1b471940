"""How sure the figures of spans are, over samples or over what samples share, all repeats together."""

from collections.abc import Mapping, Sequence
from functools import cache, partial

import numpy as np
from msgspec.structs import replace

from emotui.metrics.beside import SEED, Intervals, Resampled, Shared, intervals, single_labels
from emotui.metrics.label_sums import Figures, of_pairs
from emotui.metrics.resampling import (
    Drawn,
    Interval,
    Numbers,
    group_numbers,
    grouped_sums,
    interval_of,
    known_means,
    replicated_sums,
    replicates,
)
from emotui.metrics.span_errors import COUNTED, Facts, Figure, Labels, Means, SpanErrors, Tally, over_repeats
from emotui.metrics.span_matching import has_labels, matching_names, matching_parts, matching_table
from emotui.metrics.span_scoring import SampleDetail
from emotui.metrics.states import Floats
from emotui.metrics.sums import Bools, SumFigure, ratio
from emotui.records import SpanSample

_RATIOS = {
    "f1": ("f1", "n"),
    "sim": ("sim", "n"),
    "labelled_f1": ("labelled_f1", "n"),
    "precision": ("met", "predicted"),
    "recall": ("met", "gold"),
    "f1_gold": ("f1_of_marked", "marked"),
    "token_precision": ("shared_tokens", "predicted_tokens"),
    "token_recall": ("shared_tokens", "gold_tokens"),
    "token_f1": ("shared_tokens_twice", "all_tokens"),
    "hallucination_rate": ("hallucinated", "predicted"),
    "fixation_rate": ("fixated", "keyword"),
    "fixation_rate_by_sentence": ("fixated_sentences", "keyword_sentences"),
    "neutral_sentence_fpr": ("neutral_hit", "neutral"),
    "neutral_span_share": ("in_neutral", "located"),
    "invalid_share": ("invalid", "n"),
}
"""Each figure as a sum over a sum of what a `Tally` counts of each sample."""


def with_intervals(errors: SpanErrors, tallies: Sequence[Tally], groups: Mapping[int, int] | None = None) -> SpanErrors:
    """The figures of `over_repeats(tallies)` with their 95% intervals, where there are two samples or more.

    Args:
        groups: by the number of each sample that of what it shares with others; None: samples share nothing.
    """
    tables = [_of_tally(tally) for tally in tallies]
    names = list(_RATIOS)
    found = _intervals([(numbers, table) for numbers, table in tables], groups)
    figures = {
        name: _with(figure, found[names.index(name)] if name in _RATIOS else None)
        for name, figure in errors.figures.items()
    }
    return replace(
        errors,
        figures=figures,
        by_emotion=_by_label(errors.by_emotion, [tally.emotions for tally in tallies], groups),
        by_valence=_by_label(errors.by_valence, [tally.valences for tally in tallies], groups),
    )


def span_sums(samples: Sequence[SpanSample], facts: Sequence[Facts]) -> Figures:
    """The figures of `emotui score spans` that are made of sums over samples, by their names.

    Args:
        samples, facts: of each answer of one repeat; a row each.
    """
    tally = Tally()
    scored = np.array([not one.unlabelled for one in facts])
    rows = np.flatnonzero(scored)
    for row in rows.tolist():
        sample = samples[row]
        tally.add(row, Labels(sample.emotion, sample.valence, sample.sentences), facts[row])
    _, table = _of_tally(tally)
    known = tally.figures()
    figures: Figures = {}
    for at, name in enumerate(_RATIOS):
        if name == "fixation_rate_by_sentence" or known.get(name, (None,))[0] is None:
            continue
        above, below = np.zeros(len(facts)), np.zeros(len(facts))
        # A text that was not embedded has no Sim, and no say in it.
        sides = table[:, 2 * at], np.where(np.isnan(table[:, 2 * at]), 0.0, table[:, 2 * at + 1])
        above[rows], below[rows] = np.nan_to_num(sides[0]), sides[1]
        figures[name.replace("token_", "tokens.")] = partial(ratio, above, below, scored)
    for group, means in (("by_emotion", tally.emotions), ("by_valence", tally.valences)):
        for label, mean in means.items():
            numbers = np.array(mean.numbers, dtype=np.int64)
            times = np.bincount(numbers, minlength=len(facts)).astype(np.float64)
            for name, values in (("f1", mean.f1), ("sim", mean.sim)):
                if len(values) == len(numbers):
                    sums = np.bincount(numbers, np.array(values), minlength=len(facts))
                    figures[f"{group}.{label}.{name}"] = partial(ratio, sums, times, scored)
    pairs = {
        pair: np.bincount(numbers, minlength=len(facts)).astype(np.float64) for pair, numbers in tally.confused.items()
    }
    figures |= {f"labels.{name}": make for name, make in (of_pairs(pairs, scored) if pairs else {}).items()}
    return figures | _matching_sums(samples, facts, scored)


def _matching_sums(samples: Sequence[SpanSample], facts: Sequence[Facts], scored: Bools) -> Figures:
    """Those of `emotui.metrics.span_matching`; spans are matched once, when the first of them is asked for."""
    labelled = has_labels(facts)

    @cache
    def parts() -> dict[str, tuple[Floats, Floats]]:
        table = matching_table(samples, facts)
        table[~scored] = 0.0
        return matching_parts(table, labelled=labelled)

    def figure(name: str) -> SumFigure:
        return ratio(*parts()[name], scored)

    return {name: partial(figure, name) for name in matching_names(samples, labelled=labelled)}


def span_intervals(gold: Sequence[SpanSample], details: Sequence[SampleDetail], shared: Shared) -> Intervals:
    """The intervals of the figures of `emotui score spans`, by their names; those in a group behind a dot."""
    place = {sample.id: at for at, sample in enumerate(gold)}
    tallies: dict[int, Tally] = {}
    for detail in details:
        at = place[detail.id]
        labels = Labels(gold[at].emotion, gold[at].valence, gold[at].sentences)
        tallies.setdefault(detail.repeat, Tally()).add(at, labels, detail)
    if not tallies:
        return {}
    numbers = group_numbers(shared)
    held = [tallies[repeat] for repeat in sorted(tallies)]
    errors = with_intervals(over_repeats(held), held, dict(enumerate(numbers.tolist())))
    named = {name.replace("token_", "tokens."): figure for name, figure in errors.figures.items()}
    del named["fixation_rate_by_sentence"], named["invalid_share"]
    for by, of in (("by_emotion", errors.by_emotion), ("by_valence", errors.by_valence)):
        for label, figures in of.items():
            named |= {f"{by}.{label}.{name}": figure for name, figure in figures.items()}
    found = {name: Interval(figure.low, figure.high, figure.note or "") for name, figure in named.items()}
    found |= _of_matches(gold, details, numbers)
    return found | _of_labels(details, dict(zip(place, numbers.tolist(), strict=True)))


def _of_matches(gold: Sequence[SpanSample], details: Sequence[SampleDetail], groups: Numbers) -> Intervals:
    """Of the figures of `emotui.metrics.span_matching`. Args: groups: (gold,) the number of each sample's group."""
    place, labelled = {sample.id: at for at, sample in enumerate(gold)}, has_labels(details)
    tables, names = [], list[str]()
    for repeat in sorted({detail.repeat for detail in details}):
        own = [detail for detail in details if detail.repeat == repeat]
        places = np.array([place[detail.id] for detail in own], dtype=np.int64)
        parts = matching_parts(matching_table([gold[at] for at in places.tolist()], own), labelled=labelled)
        names = list(parts)
        tables.append((places, np.stack([side for part in parts.values() for side in part], axis=1)))
    return dict(zip(names, _intervals(tables, dict(enumerate(groups.tolist()))), strict=True))


def _of_labels(details: Sequence[SampleDetail], numbers: Mapping[str, int]) -> Intervals:
    """Of what the labels of aligned spans come to; a sample is drawn with all its pairs."""
    every = [pair for detail in details for pair in detail.label_pairs]
    if not every:
        return {}
    names, n = list(dict.fromkeys(name for pair in every for name in pair)), max(numbers.values()) + 1
    each: list[Resampled] = []
    for repeat in sorted({detail.repeat for detail in details}):
        own = [(numbers[one.id], *pair) for one in details if one.repeat == repeat for pair in one.label_pairs]
        places, gold, said = zip(*own, strict=True) if own else ((), (), ())
        found = single_labels(gold, said, names, Drawn(np.array(places, dtype=np.int64), n, n < len(numbers)))
        each.append({name: found[name] for name in ("accuracy", "macro_f1") if name in found})
    return {f"labels.{name}": ends for name, ends in intervals(each).items()}


def _with(figure: Figure, found: Interval | None) -> Figure:
    if found is None or figure.value is None:
        return figure
    return replace(figure, low=found.low, high=found.high, note=found.note)


def _of_tally(tally: Tally) -> tuple[Numbers, Floats]:
    """(n,) numbers of samples, and (n, 2 * figures) numerators and denominators side by side."""
    counts = np.array(tally.counted, dtype=np.float64).reshape(-1, len(COUNTED))
    column = dict(zip(COUNTED, counts.T, strict=True))
    column["n"] = np.ones(len(counts))
    column["f1_of_marked"] = column["f1"] * column["marked"]
    column["shared_tokens_twice"] = 2 * column["shared_tokens"]
    column["all_tokens"] = column["gold_tokens"] + column["predicted_tokens"]
    pairs = [column[side] for ratio in _RATIOS.values() for side in ratio]
    return column["number"].astype(np.int64), np.stack(pairs, axis=1)


def _by_label(
    figures: Mapping[str, Mapping[str, Figure]], each: Sequence[Mapping[str, Means]], groups: Mapping[int, int] | None
) -> dict[str, dict[str, Figure]]:
    found = {}
    for name, own in figures.items():
        means = [held[name] for held in each if name in held]
        one = np.ones(1)
        tables = []
        for mean in means:
            f1 = np.array(mean.f1)
            sim = np.array(mean.sim) if len(mean.sim) == len(f1) else np.full(len(f1), np.nan)
            ones = np.broadcast_to(one, len(f1))
            tables.append((np.array(mean.numbers, dtype=np.int64), np.stack([f1, ones, sim, ones], axis=1)))
        f1_sim = _intervals(tables, groups)
        known = dict(zip(("f1", "sim"), f1_sim, strict=True))
        found[name] = {key: _with(figure, known.get(key)) for key, figure in own.items()}
    return found


def _intervals(tables: Sequence[tuple[Numbers, Floats]], groups: Mapping[int, int] | None) -> list[Interval]:
    """Of the mean over tallies of each ratio; all tallies share the draws of samples."""
    if not tables:
        return []
    width = tables[0][1].shape[1]
    numbers = np.concatenate([own for own, _ in tables])
    if groups is not None:
        numbers = np.array([groups.get(number, -1 - number) for number in numbers.tolist()], dtype=np.int64)
    _, places = np.unique(numbers, return_inverse=True)
    n = int(places.max(initial=-1)) + 1
    sums = np.zeros((n, len(tables) * width))
    start, grouped = 0, False
    for at, (own, table) in enumerate(tables):
        here = places[start : start + len(own)]
        start += len(own)
        grouped |= len(np.unique(here)) < len(here)
        sums[:, at * width : (at + 1) * width] = grouped_sums(table, here, n)
    by = Drawn(np.arange(n, dtype=np.int64), n, grouped)
    drawn = replicated_sums(sums, by, seed=SEED).reshape(-1, len(tables), width)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios = drawn[:, :, ::2] / drawn[:, :, 1::2]
    ratios[~np.isfinite(ratios)] = np.nan
    below = (sums.reshape(n, len(tables), width)[:, :, 1::2] != 0).sum(axis=1)
    return [
        interval_of(
            replicates(known_means(ratios[:, :, at].T), by, int((below[:, at] > 0).sum()), bounds=(0.0, 1.0)),
        )
        for at in range(width // 2)
    ]
