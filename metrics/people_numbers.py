"""A source's numbers against the spread of the numbers that people give, in place of one gold number.

People are a distribution: of n answers each has the weight 1/n. So is a source: of its repeats each has the weight
1/repeats, and a single number has all of it.

`number_people_report` has the measures of LeWiDi of numbers on a scale (their names: `emotui.metrics.people_spread`).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import jensenshannon
from scipy.special import xlogy
from scipy.stats import wasserstein_distance

from emotui.metrics.beside import Shared
from emotui.metrics.labels import as_table
from emotui.metrics.people_spread import (
    FLOOR,
    LEAST,
    SOURCE,
    annotator_places,
    error_rates,
    manhattan,
    people_document,
    soft_cross_entropy,
)
from emotui.metrics.states import Floats

MOST_LEVELS = 21
"""Numbers that differ more often are no levels, of which a share could be taken."""


def wasserstein(answers: ArrayLike, numbers: ArrayLike) -> Floats:
    """How far a source's numbers have to be moved in the mean to be spread as people's answers, of each text.

    0 where both are spread alike; for a single number it is its mean distance to an answer.

    Args:
        answers: (n, people); NaN where somebody gives none, each row at least one.
        numbers: (n, repeats); likewise.

    Returns:
        (n,), at least 0, in points of the scale.

    Source: Vaserstein 1969; scipy's `wasserstein_distance`.
    """
    a, s = np.asarray(answers, dtype=np.float64), np.asarray(numbers, dtype=np.float64)
    single = (~np.isnan(s)).sum(axis=1) == 1
    off = np.abs(a - np.nanmin(s, axis=1, keepdims=True))
    found: Floats = np.nanmean(off, axis=1)
    for at in np.flatnonzero(~single):
        found[at] = wasserstein_distance(a[at][~np.isnan(a[at])], s[at][~np.isnan(s[at])])
    return found


def levels_of(answers: ArrayLike) -> Floats | None:
    """The different numbers that people give, in order; None where they are more than `MOST_LEVELS`."""
    given = np.asarray(answers, dtype=np.float64)
    levels: Floats = np.unique(given[~np.isnan(given)])
    return levels if len(levels) <= MOST_LEVELS else None


def level_shares(numbers: ArrayLike, levels: ArrayLike) -> Floats:
    """The share of numbers that are nearest to each level; of one just between two the lower one counts.

    Args:
        numbers: (n, k); NaN where there is none, each row at least one.
        levels: (m,), in order.

    Returns:
        (n, m), rows add up to 1.
    """
    x, at = np.asarray(numbers, dtype=np.float64), np.asarray(levels, dtype=np.float64)
    places = np.searchsorted((at[1:] + at[:-1]) / 2, x, side="left")
    there = ~np.isnan(x)
    found = np.zeros((len(x), len(at)))
    rows = np.broadcast_to(np.arange(len(x))[:, None], x.shape)
    np.add.at(found, (rows[there], places[there]), 1.0)
    shares: Floats = found / there.sum(axis=1, keepdims=True)
    return shares


def levels_cross_entropy(people: ArrayLike, source: ArrayLike, floor: float = FLOOR) -> Floats:
    """-sum over levels of q log p, in nats, of each text; where p is q it is the entropy of people.

    Args:
        people, source: (n, m) shares; those of the source count as `floor` at least, and then add up to 1 again.

    Source: Peterson et al. 2019; Uma et al. 2021, section 4.2.
    """
    q, p = np.asarray(people, dtype=np.float64), np.maximum(np.asarray(source, dtype=np.float64), floor)
    found: Floats = -xlogy(q, p / p.sum(axis=1, keepdims=True)).sum(axis=1)
    return found


def levels_divergence(people: ArrayLike, source: ArrayLike) -> Floats:
    """The Jensen-Shannon divergence, base 2, of each text: in [0, 1]. Args: people, source: (n, m) shares.

    Source: Lin 1991; Uma et al. 2021, section 4.2.
    """
    q, p = np.asarray(people, dtype=np.float64), np.asarray(source, dtype=np.float64)
    distance = jensenshannon(q, p, base=2, axis=1)
    found: Floats = np.nan_to_num(np.asarray(distance, dtype=np.float64)) ** 2  # rounding below 0 under the root
    return found


def inside(answers: ArrayLike, numbers: ArrayLike) -> Floats:
    """1 where the mean of a source's numbers lies from the least to the greatest answer of people, else 0.

    Args:
        answers, numbers: (n, k), as of `wasserstein`.
    """
    a, s = np.asarray(answers, dtype=np.float64), np.nanmean(np.asarray(numbers, dtype=np.float64), axis=1)
    within = (np.nanmin(a, axis=1) <= s) & (s <= np.nanmax(a, axis=1))
    found: Floats = within.astype(np.float64)
    return found


# The measures of LeWiDi on a scale.


def wasserstein_of_shares(people: ArrayLike, source: ArrayLike, levels: ArrayLike) -> Floats:
    """The sum over the cuts of a scale of |P - Q|, P and Q the shares below the cut, each as wide as its step.

    Args:
        people, source: (n, m), each row adds up to 1.
        levels: (m,) the place of each column on the scale, in any order.

    Returns:
        (n,) in points of the scale: 0 to its width.

    Source: LeWiDi-2025, the soft measure of sarcasm and paraphrase, whose levels lie 1 apart.
    """
    at = np.asarray(levels, dtype=np.float64)
    order = np.argsort(at, kind="stable")
    off = (np.asarray(people, dtype=np.float64) - np.asarray(source, dtype=np.float64))[:, order]
    distances: Floats = (np.abs(off.cumsum(axis=1)[:, :-1]) * np.diff(at[order])).sum(axis=1)
    return distances


def distances_of_answers(given: ArrayLike, predicted: ArrayLike, low: float, high: float) -> Floats:
    """|predicted - given| over the width of the scale, of each answer; the mean of a text is LeWiDi's measure.

    Args:
        given: (n, people); NaN where somebody gives none.
        predicted: (n, people), or (n, 1) where one number stands for all.
        low, high: the ends of the scale; where they are equal nothing can be off.

    Returns:
        (n, people), 0 to 1 for what lies on the scale.

    Source: LeWiDi-2025, the perspectivist measure of sarcasm and paraphrase (Average Normalized Absolute Distance).
    Its program divides by the number of levels (6, 11), its description by the width (5, 10), which is done here.
    """
    off = np.abs(np.asarray(predicted, dtype=np.float64) - np.asarray(given, dtype=np.float64))
    scaled: Floats = off / ((high - low) or 1.0)
    return scaled


def scale_of(labels: Sequence[str]) -> Floats | None:
    """Where each label stands on a scale; None where one of them is no number, or two are equal."""
    try:
        levels = np.array([float(label) for label in labels], dtype=np.float64)
    except ValueError:
        return None
    return levels if len(levels) > 1 and np.isfinite(levels).all() and len(np.unique(levels)) == len(levels) else None


def number_people_report(
    people: Sequence[Mapping[str, Mapping[str, float]]],
    predicted: Sequence[Mapping[str, float]],
    scales: Mapping[str, tuple[float, float]],
    shared: Shared,
) -> dict[str, Any]:
    """What `emotui score values --against people` adds.

    Args:
        people: of each text the numbers by name that each of its annotators gives.
        predicted: of each text numbers by name.
        scales: the ends of the scale of each name; what is not here goes from people's lowest to their highest number.
        shared: of each text what it shares with others.

    Returns:
        `n`, `annotators`; `by_name` with `wasserstein`, `normalised_absolute_distance` and, where people give
        `MOST_LEVELS` different numbers or fewer, `manhattan`, `cross_entropy`, `entropy` and `error_rate`, over texts
        of which `people_spread.LEAST` annotators give that number (and `n`, `low`, `high`, and `without`: such texts
        without a prediction, left out); `by_annotator` with the distance by name; `ci95`, `conventions`, `notes`.
    """
    names = {name: at for at, name in enumerate(dict.fromkeys(name for own in people for name in own))}
    groups: dict[str, dict[str, Floats]] = {}
    own_off: dict[str, Floats] = {}
    about: dict[str, dict[str, Any]] = {}
    notes: dict[str, str] = {}
    for key in dict.fromkeys(key for own in people for answer in own.values() for key in answer):
        given = np.full((len(people), len(names)), np.nan)
        for row, own in zip(given, people, strict=True):
            row[[names[name] for name, answer in own.items() if key in answer]] = [
                answer[key] for answer in own.values() if key in answer
            ]
        numbers = np.array([one.get(key, np.nan) for one in predicted], dtype=np.float64)
        wanted = (~np.isnan(given)).sum(axis=1) >= LEAST
        if not wanted.any():
            continue
        there = wanted & ~np.isnan(numbers)
        low, high = scales.get(key, (float(np.nanmin(given)), float(np.nanmax(given))))
        levels = _levels(given)
        off = np.full_like(given, np.nan)
        off[there] = distances_of_answers(given[there], numbers[there, None], low, high)
        columns = {"normalised_absolute_distance": np.nanmean(off[there], axis=1)}
        if levels is None:  # without levels there are no cuts, and the numbers stay where they are
            columns = {"wasserstein": wasserstein(given[there], numbers[there, None]), **columns}
        else:
            q, p = level_shares(given[there], levels), level_shares(numbers[there, None], levels)
            columns = {"wasserstein": wasserstein_of_shares(q, p, levels), **columns}
            columns |= {"manhattan": manhattan(q, p), "cross_entropy": soft_cross_entropy(q, p)}
            columns |= {"entropy": soft_cross_entropy(q, q)}
            columns["error_rate"] = error_rates(given[there], levels[p.argmax(axis=1)][:, None])
        groups[key] = {figure: _spread_out(column, there) for figure, column in columns.items()}
        own_off[key] = off
        about[key] = {"n": int(there.sum()), "low": low, "high": high}
        if lost := int((wanted & ~there).sum()):
            about[key]["without"] = lost
            notes[f"by_name.{key}.n"] = f"{lost} of {int(wanted.sum())} texts have no number for it and are left out"
    told = (
        f"{SOURCE}; a number has all of its probability at the nearest level, levels are the numbers that people give,"
        f" all whole ones between where all are whole (more than {MOST_LEVELS} are none, and numbers stay as they are);"
        " Wasserstein in points of the scale; absolute distance, of the number as it is, over the width of the scale"
        " (`low` to `high`); means over texts"
    )
    document = people_document({}, {"by_name": groups}, names, own_off, shared, told)
    for key, more in about.items():
        document["by_name"][key] |= more
    return {**document, "notes": {**document["notes"], **notes}}


UNEVEN = 0.01
"""Probabilities that add up to 1 but for so much are only rounded."""


def class_people_report(
    people: Sequence[Mapping[str, str]],
    predicted: Sequence[str | Mapping[str, float]],
    chosen: Sequence[str],
    labels: Sequence[str],
    shared: Shared,
) -> dict[str, Any]:
    """What `emotui score class --against people` adds, of one label a text.

    Args:
        people: of each text the label that each of its annotators gives, `LEAST` of them or more.
        predicted: of each text a label, or a probability for each label; what does not add up to 1 is made to.
        chosen: of each text the label that counts as predicted; empty where there is no answer, which then shares
            nothing with anybody.
        labels: all that anybody names. Where all of them are numbers they are a scale, in its order.

    Returns:
        As `label_people_report`, without `by_label`; of a scale with `wasserstein` and `normalised_absolute_distance`.
    """
    names, places = annotator_places(people), {name: at for at, name in enumerate(labels)}
    given = np.full((len(people), len(names)), np.nan)
    for row, own in zip(given, people, strict=True):
        row[[names[name] for name in own]] = [places[label] for label in own.values()]
    # The last outcome is no label: where there is no answer all of the probability is there.
    q, p = np.zeros((len(people), len(labels) + 1)), np.zeros((len(people), len(labels) + 1))
    uneven = 0
    for at, answer in enumerate(predicted):
        q[at] = np.bincount(given[at][~np.isnan(given[at])].astype(int), minlength=q.shape[1])
        p[at, :-1] = as_table([[answer] if isinstance(answer, str) and answer else answer or {}], labels)[0]
        total = p[at].sum()
        uneven += bool(total) and abs(total - 1) > UNEVEN
        p[at] = p[at] / total if total else [*[0.0] * len(labels), 1.0]
    q /= np.maximum(q.sum(axis=1, keepdims=True), 1)
    guessed = np.array([places.get(label, len(labels)) for label in chosen], dtype=np.float64)[:, None]
    columns = {
        "manhattan": manhattan(q, p),
        "cross_entropy": soft_cross_entropy(q, p),
        "entropy": soft_cross_entropy(q, q),
        "error_rate": error_rates(given, guessed),
    }
    own_off = {"error_rate": np.where(np.isnan(given), np.nan, given != guessed)}
    told = f"{SOURCE}; means over texts"
    levels = scale_of(labels)
    if levels is not None and len(people):
        # An answer that is missing stands at the end of the scale that is farther from people.
        on_scale = np.append(levels, np.nan)
        numbers = np.where(np.isnan(given), np.nan, on_scale[np.nan_to_num(given).astype(int)])
        low, high = float(levels.min()), float(levels.max())
        nearer_low = np.nanmean(numbers, axis=1) - low <= high - np.nanmean(numbers, axis=1)
        silent, farther = p[:, -1] == 1, np.where(nearer_low, levels.argmax(), levels.argmin())
        spread = np.where(silent[:, None], np.eye(len(labels))[farther], p[:, :-1])
        answers = np.where(silent, levels[farther], on_scale[guessed[:, 0].astype(int)])[:, None]
        columns["wasserstein"] = wasserstein_of_shares(q[:, :-1], spread, levels)
        off = distances_of_answers(numbers, answers, low, high)
        columns["normalised_absolute_distance"] = np.nanmean(off, axis=1)
        own_off["normalised_absolute_distance"] = off
        told += f"; absolute distance over the width of the scale, {low:g} to {high:g}"
    document = people_document(columns, {}, names, own_off, shared, told)
    if uneven:
        texts = "1 text" if uneven == 1 else f"{uneven} texts"
        document["notes"]["manhattan"] = f"probabilities of {texts} do not add up to 1, and are made to"
    return document


def _levels(given: Floats) -> Floats | None:
    """The different numbers that people give; where all are whole, those between too. None where they are many."""
    levels = levels_of(given)
    if levels is None or not (levels == np.round(levels)).all() or levels[-1] - levels[0] >= MOST_LEVELS:
        return levels
    whole: Floats = np.arange(levels[0], levels[-1] + 1, dtype=np.float64)
    return whole


def _spread_out(column: Floats, there: Any) -> Floats:
    """(n,): a column of some texts over all of them."""
    whole: Floats = np.full(len(there), np.nan)
    whole[there] = column
    return whole
