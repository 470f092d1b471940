"""From the values of metrics to figures: models by metrics, what people see, and which metric goes with them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from emotui.metrics.beside import SEED, Drawn, Resampled, beside_repeats, ratios, with_beside
from emotui.metrics.ers import METRIC as ERS
from emotui.metrics.ers import ers_report
from emotui.metrics.fluency import METRIC as PERPLEXITY
from emotui.metrics.human_labels import (
    NEUTRAL,
    Ties,
    human_report,
    majority_label,
    majority_share,
    neutral_report,
    of_people,
)
from emotui.metrics.metric_trust import trust
from emotui.metrics.permutation import weighted_f1_of_sums
from emotui.metrics.resampling import estimates
from emotui.metrics.states import Floats
from emotui.metrics.text_trust import text_trust
from emotui.tasks.generation.scoring import KINDS

ILLUSTRATIVE = "(illustration)"
"""How the names of the sample data's writers end."""

ILLUSTRATION = (
    "ILLUSTRATION: the writers and raters of the sample data are invented, and so is every figure about them here."
)


class ScoredText(msgspec.Struct, frozen=True):
    """What one model made of one text, with what every metric says of it.

    `values`: by metric; one that is not there says nothing of the text. `found`: by classifier the emotion that it
    finds. `lengths`: (words, characters) of original, neutral and emotional text. `failed`: there are no versions.
    """

    id: str
    model: str
    target: str
    repeat: int = 0
    failed: bool = False
    values: Mapping[str, float] = {}
    found: Mapping[str, str | None] = {}
    lengths: Sequence[tuple[int, int]] = ()
    human: tuple[str, ...] = ()
    human_neutral: tuple[str, ...] = ()


def model_figures(
    texts: Sequence[ScoredText], names: Sequence[str], ties: Ties, shared: Mapping[str, str | None]
) -> dict[str, Any]:
    """One model's row of Tables 4, 7, 8, 9, 10 and 11, with intervals of the means.

    A failed answer matches no target (it has 0 under `ers`), and is in no other figure.

    Args:
        names: of all metrics.
        shared: by a text's id what it shares with others.
    """
    there = [one for one in texts if not one.failed]
    figures: dict[str, Any] = {"n": len(texts), "silent": len(texts) - len(there)}
    for name in names:
        known = [one.values[name] for one in texts if name in one.values]
        figures[name] = fmean(known) if known else None
    specs = dict.fromkeys(spec for one in there for spec in one.found)
    asked = [one for one in texts if one.failed or one.found]
    figures["recognition"] = {
        spec: ers_report([one.target for one in asked], [one.found.get(spec) or None for one in asked])
        for spec in specs
    }
    for k, kind in enumerate(KINDS):
        for unit, at in (("words", 0), ("characters", 1)):
            lengths = [one.lengths[k][at] for one in there if one.lengths]
            figures[f"{unit}_{kind}"] = fmean(lengths) if lengths else None
    figures = with_beside(figures, beside_repeats(texts, shared, lambda here, by: _resampled(here, by, ties)))
    # People rate a text once, however often a run was repeated.
    first = min((one.repeat for one in there), default=0)
    rated = [one for one in there if one.repeat == first]
    if any(one.human for one in rated):
        people = human_report([one.target for one in rated], [one.human for one in rated], ties)
        figures |= {"human_f1": people["human_f1"], "agreement": people["agreement"], "human": people}
    if any(one.human_neutral for one in rated):
        figures["human_neutral"] = neutral_report([one.human_neutral for one in rated], ties)
    return figures


def _resampled(texts: Sequence[ScoredText], by: Drawn, ties: Ties) -> Resampled:
    names = dict.fromkeys(name for one in texts for name in one.values)
    parts: dict[str, tuple[ArrayLike, ArrayLike]] = {
        name: ([one.values.get(name, 0.0) for one in texts], [float(name in one.values) for one in texts])
        for name in names
    }
    rated = [bool(one.human) and not one.failed for one in texts]
    shares = [majority_share(one.human) or 0.0 if known else 0.0 for one, known in zip(texts, rated, strict=True)]
    parts["agreement"] = shares, [float(known) for known in rated]
    measured = [float(bool(one.lengths) and not one.failed) for one in texts]
    for k, kind in enumerate(KINDS):
        for unit, at in (("words", 0), ("characters", 1)):
            lengths = [one.lengths[k][at] if known else 0.0 for one, known in zip(texts, measured, strict=True)]
            parts[f"{unit}_{kind}"] = lengths, measured
    of_neutral = [bool(one.human_neutral) and not one.failed for one in texts]
    seen = [
        majority_label(one.human_neutral, NEUTRAL, ties) if known else None
        for one, known in zip(texts, of_neutral, strict=True)
    ]
    weight = [float(known) for known in of_neutral]
    parts["human_neutral.recall"] = [float(label == NEUTRAL) for label in seen], weight
    agreeing = [majority_share(one.human_neutral) or 0.0 for one in texts]
    parts["human_neutral.agreement"] = np.multiply(agreeing, weight), weight
    for emotion in dict.fromkeys(one.target for one, known in zip(texts, rated, strict=True) if known):
        own = [float(known and one.target == emotion) for one, known in zip(texts, rated, strict=True)]
        parts[f"human.by_emotion.{emotion}.agreement"] = np.multiply(shares, own), own
    found = ratios(parts, by)
    if by.n > 1:
        table = np.stack([parts["human_neutral.recall"][0], weight], axis=1)
        (found["human_neutral.f1"],) = estimates(
            table, _f1_of_one, by, seed=SEED, n=by.holding(weight), bounds=(0.0, 1.0)
        )
    return found | _human_f1(texts, rated, by, ties) | _recognition(texts, by)


def _f1_of_one(sums: Floats) -> Floats:
    """(m,): F1 where every text has the one label, so that precision is 1. Args: sums: (m, 2), hits and texts."""
    recall = sums[:, 0] / sums[:, 1]
    f1: Floats = 2 * recall / (1 + recall)
    return f1


def _recognition(texts: Sequence[ScoredText], by: Drawn) -> Resampled:
    """The figures of `ers_report` by each classifier over resamples; those of an emotion behind its name."""
    found: Resampled = {}
    asked = [at for at, one in enumerate(texts) if one.failed or one.found]
    if by.n < 2 or not asked:
        return found
    targets = list(dict.fromkeys(texts[at].target for at in asked))
    support = np.array([[texts[at].target == name for name in targets] for at in asked], dtype=np.float64)
    here = by.rows(asked)

    def figures(sums: Floats) -> Floats:
        hits, gold, given = np.split(sums, 3, axis=1)
        each = hits / given, hits / gold, 2 * hits / (gold + given)
        means = [hits.sum(axis=1) / gold.sum(axis=1)]
        for one in each:
            # An emotion that is never found has precision 0 in the means.
            known, drawn = np.where(np.isnan(one), 0.0, one), gold > 0
            means += [(known * drawn).sum(axis=1) / drawn.sum(axis=1), (known * gold).sum(axis=1) / gold.sum(axis=1)]
        return np.concatenate([np.stack(means, axis=1), *each], axis=1)

    kinds = ("precision", "recall", "f1")
    names = ["accuracy", *(f"{mean}.{kind}" for kind in kinds for mean in ("macro", "weighted"))]
    names += [f"by_emotion.{label}.{kind}" for kind in kinds for label in targets]
    for spec in dict.fromkeys(spec for one in texts if not one.failed for spec in one.found):
        labels = [texts[at].found.get(spec) or None for at in asked]
        said = np.array([[label == name for name in targets] for label in labels], dtype=np.float64)
        columns = np.concatenate([support * said, support, said], axis=1)
        made = estimates(columns, figures, here, seed=SEED, bounds=(0.0, 1.0))
        there = {"precision": said, "recall": support, "f1": support + said}
        of_label = [here.holding(there[kind][:, at]) for kind in kinds for at in range(len(targets))]
        made[len(names) - len(of_label) :] = [
            replace(one, n=n) for one, n in zip(made[len(names) - len(of_label) :], of_label, strict=True)
        ]
        found |= {f"recognition.{spec}.{name}": one for name, one in zip(names, made, strict=True)}
    return found


def _human_f1(texts: Sequence[ScoredText], rated: Sequence[bool], by: Drawn, ties: Ties) -> Resampled:
    """Accuracy and F1 of the raters' majority label over resamples: by emotion, and weighted by support."""
    own = [one for one, known in zip(texts, rated, strict=True) if known]
    if by.n < 2 or not own:
        return {}
    emotions = list(dict.fromkeys(one.target for one in own))
    seen = [majority_label(one.human, one.target, ties) for one in own]
    support = np.array([[one.target == emotion for emotion in emotions] for one in own], dtype=np.float64)
    said = np.array([[label == emotion for emotion in emotions] for label in seen], dtype=np.float64)

    def figures(sums: Floats) -> Floats:
        hits, gold, given = np.split(sums, 3, axis=1)
        each = np.divide(2 * hits, gold + given, out=np.zeros_like(hits), where=gold + given > 0)
        whole = [weighted_f1_of_sums(hits, given, gold), hits.sum(axis=1) / gold.sum(axis=1)]
        return np.concatenate([np.stack(whole, axis=1), np.where(gold > 0, each, np.nan)], axis=1)

    here = by.rows(np.flatnonzero(rated))
    columns = np.concatenate([support * said, support, said], axis=1)
    made = estimates(columns, figures, here, seed=SEED, bounds=(0.0, 1.0))
    found = {"human_f1": made[0], "human.accuracy": made[1]}
    for at, emotion in enumerate(emotions):
        n = here.holding(support[:, at] + said[:, at])
        found[f"human.by_emotion.{emotion}.f1"] = replace(made[2 + at], n=n)
    return found


def trusted(
    texts: Sequence[ScoredText], models: Mapping[str, Mapping[str, Any]], names: Sequence[str], seed: int
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Which metric goes with people: over models (Table 11), and over single texts; both empty without raters.

    Perplexity is none of the thirteen, and is corrected by itself.
    """
    human = {model: one["human_f1"] for model, one in models.items() if one.get("human_f1") is not None}
    if not human:
        return {}, {}
    by_model = {name: {model: models[model][name] for model in human} for name in names}
    thirteen = {name: row for name, row in by_model.items() if not name.startswith(PERPLEXITY.name)}
    fluency = {name: row for name, row in by_model.items() if name.startswith(PERPLEXITY.name)}
    there = [one for one in texts if not one.failed]
    seen = of_people([one.human for one in there], [one.target for one in there])
    values = {name: [one.values.get(name) for one in there] for name in names}
    each = text_trust(values, seen, [one.model for one in there], seed)
    return trust(human, thirteen, seed) | trust(human, fluency, seed), each


def is_ers(name: str) -> bool:
    """Whether a metric is ERS, by whichever classifier."""
    return name.partition(":")[0] == ERS.name
