"""The figures of a dataset of versions: models by metrics, metrics against human F1, and models by emotion."""

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from statistics import fmean
from typing import Any

import msgspec
import numpy as np

from emotui.metrics.human_intervals import weighted_f1_interval
from emotui.metrics.human_labels import Ties, human_report, majority_label, majority_share, neutral_report, of_people
from emotui.metrics.metric import Metric
from emotui.metrics.metric_trust import trust
from emotui.metrics.resampling import BESIDE, Interval, drawn_by, interval_of, mean_replicates, resamples_for
from emotui.metrics.text_trust import text_trust
from emotui.tasks.generation.whole import folded
from emotui.workbench.generation.versions import Version, Writer

# What the emotion generation paper prints in Tables 4 to 14, and its Table 11 computed again.

Cells = Mapping[str, Mapping[str, float]]
"""Row to column to what is printed."""

CORRELATION = "Correlation"
HUMAN = "human_f1"
TOTAL = "total (weighted f1)"


class PublishedTables(msgspec.Struct, frozen=True):
    """`tables` by their numbers. `original`: the figures that Table 4's caption has of the original texts."""

    cite: str
    original: Mapping[str, float]
    notes: tuple[str, ...]
    tables: Mapping[str, Cells]


@cache
def published_tables() -> PublishedTables:
    """The tables as they stand in the package."""
    path = files("emotui.sample_data.published") / "generation_tables.json"
    return msgspec.json.decode(path.read_bytes(), type=PublishedTables)


def table_11() -> dict[str, dict[str, Any]]:
    """The correlations of Table 11 from its own columns, with what the paper leaves out (intervals, p, corrections)."""
    rows = {model: row for model, row in published_tables().tables["11"].items() if model != CORRELATION}
    human = {model: row[HUMAN] for model, row in rows.items()}
    names = [name for name in next(iter(rows.values())) if name != HUMAN]
    return trust(human, {name: {model: row[name] for model, row in rows.items()} for name in names})


def table_11_on_all_texts() -> dict[str, dict[str, Any]]:
    """The correlations of ERS on all 964 texts (Table 12) with human F1 on the 277 (the totals of Table 10).

    Of the other metrics the paper prints nothing on all texts.
    """
    tables = published_tables().tables
    human = dict(tables["10"][TOTAL])
    judged = tables["12"]
    names = next(iter(judged.values()))
    return trust(human, {name: {model: row[name] for model, row in judged.items()} for name in names})


HUMAN_F1 = "human_f1"
PEOPLE = (
    Metric(HUMAN_F1, (0, 1), True, "F1 of the raters' majority label against the target, weighted (Table 10)",
           "Human F1"),
    Metric("agreement", (0, 1), True, "mean share of the most frequent label among the raters' (equation 6)",
           "Agreement"),
    Metric("human_alpha", (None, 1), True, "Krippendorff's alpha of the labels of emotional versions (Table 9)",
           "alpha"),
    Metric("human_kappa", (None, 1), True, "Fleiss' kappa of the labels of emotional versions (Table 9)", "kappa"),
    Metric("human_neutral", (0, 1), True, "share of neutral versions that most raters see as neutral (Table 7: recall)",
           "Seen as neutral"),
    Metric("human_neutral_f1", (0, 1), True, "of neutral versions the class F1 2r/(1+r), which Table 7 prints",
           "F1"),
    Metric("human_neutral_alpha", (None, 1), True, "Krippendorff's alpha of the labels of neutral versions (Table 6)",
           "alpha"),
    Metric("human_neutral_kappa", (None, 1), True, "Fleiss' kappa of the labels of neutral versions (Table 6)",
           "kappa"),
)  # fmt: skip
"""What raters give, beside the metrics of the task."""

_CORRECTED = ("eps", "eas", "ers", "r1_", "r2_", "r3_")
"""How the names of the paper's thirteen metrics begin, over which p is corrected."""


def of_the_paper(metric: str) -> bool:
    """Is it one of the thirteen, whose p are corrected together? All others are a family of their own."""
    return metric.startswith(_CORRECTED)


Texts = Sequence[tuple[str, Version]]
"""Targets with versions, of one writer."""


class Estimate(msgspec.Struct, frozen=True):
    """A figure of a model with its 95% interval over `n` texts; None where it is undefined."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0


class Model(msgspec.Struct, frozen=True):
    """One writer's figures. `by_emotion`: figure to target emotion to mean; `labels`: how raters' labels spread.

    `silent`: answers without two versions. `people`, `neutral`: `human_report` and `neutral_report`, where there are
    raters' labels.
    """

    writer: Writer
    n: int
    silent: int
    values: Mapping[str, Estimate]
    by_emotion: Mapping[str, Mapping[str, float | None]]
    people: Mapping[str, Any] | None = None
    neutral: Mapping[str, Any] | None = None


class Figures(msgspec.Struct, frozen=True):
    """All models of a dataset. `metrics`: those of raters first; `trust`: a metric's correlations with human F1.

    `ties`: what a text gets that several labels are the most frequent of.
    """

    models: tuple[Model, ...]
    metrics: tuple[Metric, ...]
    emotions: tuple[str, ...]
    trust: Mapping[str, Mapping[str, Any]]
    illustration: bool
    ties: Ties = "none"


def model_figures(writer: Writer, texts: Texts, metrics: Sequence[Metric], ties: Ties) -> Model:
    """The figures of one writer's versions; a text without a value is left out of that figure, and counted."""
    names = [metric.name for metric in metrics]
    values = _means(texts, names)
    by_emotion = {name: _by_emotion(texts, name) for name in names}
    rated = [(target, one) for target, one in texts if one.human]
    people = neutral = None
    if rated:
        people = human_report([target for target, _ in rated], [one.human for _, one in rated], ties)
        found = [majority_label(one.human, target, ties) for target, one in rated]
        sure = weighted_f1_interval([target for target, _ in rated], found, resamples=BESIDE)
        values[HUMAN_F1] = _estimate(people["human_f1"], sure, len(rated))
        shares = [majority_share(one.human) or 0.0 for _, one in rated]
        values["agreement"] = _mean(shares)
        values |= _beyond_chance("human", people, len(rated))
        by_emotion[HUMAN_F1] = {emotion: row["f1"] for emotion, row in people["by_emotion"].items()}
        by_emotion["agreement"] = {emotion: row["agreement"] for emotion, row in people["by_emotion"].items()}
    of_neutral = [(target, one.human_neutral) for target, one in texts if one.human_neutral]
    if of_neutral:
        neutral = neutral_report([labels for _, labels in of_neutral], ties)
        hits = [float(majority_label(labels, "neutral", ties) == "neutral") for _, labels in of_neutral]
        values["human_neutral"] = _mean(hits)
        values["human_neutral_f1"] = Estimate(neutral["f1"], n=len(hits))
        values |= _beyond_chance("human_neutral", neutral, len(hits))
        by_emotion["human_neutral"] = {
            emotion: fmean(hit for hit, (target, _) in zip(hits, of_neutral, strict=True) if target == emotion)
            for emotion in dict.fromkeys(target for target, _ in of_neutral)
        }
    silent = sum(one.silent for _, one in texts)
    return Model(writer, len(texts), silent, values, by_emotion, people, neutral)


def figures_of(
    by_writer: Mapping[str, tuple[Writer, Texts]], metrics: Sequence[Metric], *, illustration: bool, ties: Ties = "none"
) -> Figures:
    """The figures of all writers, by their runs. Metrics that no text has a value of are left out."""
    known = [
        metric
        for metric in metrics
        if any(one.values.get(metric.name) is not None for _, texts in by_writer.values() for _, one in texts)
    ]
    models = tuple(model_figures(writer, texts, known, ties) for writer, texts in by_writer.values())
    people = tuple(metric for metric in PEOPLE if any(metric.name in model.values for model in models))
    emotions = dict.fromkeys(target for _, texts in by_writer.values() for target, _ in texts)
    human = {
        model.writer.run: value
        for model in models
        if HUMAN_F1 in model.values and (value := model.values[HUMAN_F1].value) is not None
    }
    by_metric = {
        metric.name: {model.writer.run: model.values[metric.name].value for model in models} for metric in known
    }
    thirteen = {name: row for name, row in by_metric.items() if of_the_paper(name)}
    others = {name: row for name, row in by_metric.items() if name not in thirteen}
    correlations = {**trust(human, thirteen), **trust(human, others)} if human else {}
    for metric in known:
        one = correlations.get(metric.name)
        if one is not None and one["pearson"] is not None:
            # The task says of every metric which end is better; `trust` knows it of the paper's alone.
            one["oriented_pearson"] = one["pearson"] if metric.higher_is_better else -one["pearson"]
            one["oriented_spearman"] = one["spearman"] if metric.higher_is_better else -one["spearman"]
    return Figures(models, (*people, *known), tuple(emotions), correlations, illustration, ties)


def on_texts(by_writer: Mapping[str, tuple[Writer, Texts]], metric: str) -> Mapping[str, Any]:
    """How a metric goes with people text by text (`emotui.metrics.text_trust`)."""
    pairs = [(run, target, one) for run, (_, texts) in by_writer.items() for target, one in texts if one.human]
    seen = of_people([[folded(label) for label in one.human] for _, _, one in pairs], [folded(t) for _, t, _ in pairs])
    found = text_trust({metric: [one.values.get(metric) for _, _, one in pairs]}, seen, [run for run, _, _ in pairs])
    return found[metric]


def _means(texts: Texts, names: Sequence[str]) -> dict[str, Estimate]:
    """The mean of each metric over the texts that have it."""
    if not names or not texts:
        return {name: Estimate() for name in names}
    table = np.array(
        [[np.nan if (value := one.values.get(name)) is None else value for name in names] for _, one in texts],
        dtype=np.float64,
    )
    counts = (~np.isnan(table)).sum(axis=0)
    drawn = mean_replicates(table, drawn_by(None, len(table)), resamples=resamples_for(len(table)))
    found = {}
    for at, name in enumerate(names):
        n = int(counts[at])
        found[name] = _estimate(float(np.nanmean(table[:, at])) if n else None, interval_of(drawn[at]), n)
    return found


def _beyond_chance(name: str, report: Mapping[str, Any], n: int) -> dict[str, Estimate]:
    """Both coefficients of a report; without intervals."""
    both = (("alpha", "krippendorff_alpha"), ("kappa", "fleiss_kappa"))
    return {f"{name}_{short}": Estimate(report[key], n=n) for short, key in both}


def _mean(values: Sequence[float]) -> Estimate:
    column = np.array(values, dtype=np.float64)[:, None]
    (made,) = mean_replicates(column, drawn_by(None, len(column)), resamples=resamples_for(len(values)))
    return _estimate(fmean(values), interval_of(made), len(values))


def _estimate(value: float | None, sure: Interval, n: int) -> Estimate:
    return Estimate(value, sure.low, sure.high, n)


def _by_emotion(texts: Texts, name: str) -> dict[str, float | None]:
    found: dict[str, list[float]] = {}
    for target, one in texts:
        if (value := one.values.get(name)) is not None:
            found.setdefault(target, []).append(value)
    return {emotion: fmean(values) for emotion, values in found.items()}
