"""The tables of Results for texts with several labels: runs side by side, one run by label, and its confusion.

Each run stands there as it decided, and once more with thresholds that were chosen where the texts are others: on a run
of the same model over another dataset, else in folds of this one.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import mean, stdev
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emotui.metrics.beside import Drawn, Resampled, beside_rows, merged, probabilities, vectors
from emotui.metrics.labels import as_table, labels_metrics
from emotui.metrics.nested_cv import assign_folds
from emotui.metrics.states import Bits, Floats
from emotui.metrics.thresholds import best_thresholds, decided
from emotui.tables import Cell, Column, ResultsTable, Row, interval_notes, number_that, sure_of
from emotui.tasks.label_answers import (
    CONVENTION,
    LabelAnswers,
    confusion_table,
    details_alike,
    named_in,
    with_probabilities,
)
from emotui.tasks.parts import ScoredRun

FOLDS = 5
LEAST = 20
"""Labelled texts from which on thresholds are chosen in folds."""

_SUMMARY = (
    ("macro_f1", "Macro-F1", "Macro-F1"),
    ("micro_f1", "Micro-F1", "Micro-F1"),
    ("weighted_f1", "Weighted-F1", "Weighted"),
    ("samples_f1", "Samples-F1", "Samples"),
    ("jaccard", "Jaccard", "Jacc"),
    ("vector_accuracy", "Exact match", "Exact"),
    ("hamming_loss", "Hamming loss", "Hamm"),
    ("average_precision", "Average precision", "AP"),
    ("brier", "Brier score", "Brier"),
    ("ece", "Calibration error", "ECE"),
)
_BY_LABEL = (
    ("precision", "Precision", "P"),
    ("recall", "Recall", "R"),
    ("f1", "F1", "F1"),
    ("threshold", "Threshold", "From"),
)
_OF_PROBABILITIES = (
    ("average_precision", "Average precision", "AP"),
    ("brier", "Brier score", "Brier"),
    ("ece", "Calibration error", "ECE"),
)
FIGURES = (
    "Macro: mean over labels, a label that is neither gold nor given counts 0. Weighted: the same, each label as often "
    "as it is gold. Samples, Jaccard: means over texts, 1 where a text has no label and none is given. AP, Brier and "
    "ECE (15 bins): means over labels."
)
BY_LABEL = "Labels by how often they are gold."
BEHIND = "Enter on precision lists texts with the label given too much, on recall those where it was missed."


def label_tables(runs: Sequence[ScoredRun], elsewhere: Sequence[ScoredRun]) -> tuple[ResultsTable, ...]:
    """A table over all runs, and for each run one by label and one of its confusion.

    Args:
        runs: over one dataset.
        elsewhere: over other datasets of this task; of those with the model and way of a run the largest chooses its
            thresholds.
    """
    counted = [counts for run in runs if (counts := _Counts.of(run)) is not None]
    others = [counts for run in elsewhere if (counts := _Counts.of(run)) is not None]
    if not counted:
        return ()
    chosen = [_chosen(one, others) for one in counted]
    tables = [_summary(counted, chosen)]
    for one, other in zip(counted, chosen, strict=True):
        tables += [_by_label(one, other), confusion_table(one.answers)]
    return tuple(tables)


@dataclass(frozen=True)
class _Counts:
    """What a run said, as tables: a line an answer, a column a label, the most frequent gold label first."""

    scored: ScoredRun
    labels: tuple[str, ...]
    ids: tuple[str, ...]
    numbers: NDArray[np.int64]
    repeats: NDArray[np.int64]
    gold: Bits
    said: Bits
    probs: Floats | None
    thresholds: Mapping[str, float]
    unlabelled: int
    astray: int

    @classmethod
    def of(cls, scored: ScoredRun) -> "_Counts | None":
        """Of all answers to labelled texts; None where there is none."""
        details = details_alike(detail for _, detail in scored.scores)
        numbers = (number for number, _ in scored.scores)
        known = [(number, one, one.gold) for number, one in zip(numbers, details, strict=True) if one.gold is not None]
        if not known:
            return None
        options: Any = scored.run.config.get("options") or {}
        names = named_in(options.get("labels"), [one for _, one, _ in known])
        gold = as_table([gold for _, _, gold in known], names)
        order = np.argsort(-gold.sum(axis=0), kind="stable")
        said = as_table([one.predicted for _, one, _ in known], names)
        probable = with_probabilities([one for _, one, _ in known])
        return cls(
            scored,
            tuple(names[place] for place in order),
            tuple(one.id for _, one, _ in known),
            np.array([number for number, _, _ in known], dtype=np.int64),
            np.array([one.repeat for _, one, _ in known], dtype=np.int64),
            gold[:, order].astype(np.uint8),
            said[:, order].astype(np.uint8),
            as_table([one.probs for _, one, _ in known], names)[:, order] if probable else None,
            options.get("thresholds") or {},
            len(details) - len(known),
            sum(one.astray for _, one, _ in known),
        )

    @property
    def name(self) -> str:
        """The model, and the way where it is not its only one."""
        way = self.scored.run.config.get("way")
        return f"{self.scored.run.model} {way}" if way else self.scored.run.model

    @property
    def answers(self) -> LabelAnswers:
        """What was given for what, as the run decided."""
        return LabelAnswers(self.scored.run.run, self.name, self.labels, self.numbers, self.gold, self.said)

    @cached_property
    def by_threshold(self) -> bool:
        """Whether labels were given by thresholds of probabilities."""
        if self.probs is None:
            return False
        return bool((decided(self.probs, [self.thresholds.get(name, 0.5) for name in self.labels]) == self.said).all())

    def reports(self, said: Bits, thresholds: Mapping[str, float] | None) -> list[dict[str, Any]]:
        """The figures of each repeat."""
        return [
            labels_metrics(
                self.gold[here], said[here], self.labels, None if self.probs is None else self.probs[here], thresholds
            )
            for here in (self.repeats == repeat for repeat in np.unique(self.repeats))
        ]

    @cached_property
    def own(self) -> list[dict[str, Any]]:
        """The figures of each repeat as the run decided."""
        used = {name: self.thresholds.get(name, 0.5) for name in self.labels} if self.by_threshold else None
        return self.reports(self.said, used)

    def sure(self, said: Bits) -> dict[str, Any]:
        """The intervals of the figures of what was given, and their convention; counted once for each table."""
        kept = self._sure.get(id(said))
        if kept is None:
            found = self._drawn(lambda rows, by: vectors(self.gold[rows], said[rows], self.labels, by))
            kept = said, merged(found, self._of_probabilities)
            self._sure[id(said)] = kept
        return kept[1]

    @cached_property
    def _sure(self) -> dict[int, tuple[Bits, dict[str, Any]]]:
        return {}

    @cached_property
    def _of_probabilities(self) -> dict[str, Any]:
        """The intervals of what is of probabilities, which is the same whatever was given."""
        probs = self.probs
        if probs is None:
            return {}
        return self._drawn(lambda rows, by: probabilities(self.gold[rows], probs[rows], self.labels, by))

    def _drawn(self, of: Callable[[NDArray[np.int64], Drawn], Resampled]) -> dict[str, Any]:
        shared = self.scored.shared(zip(self.numbers.tolist(), self.ids, strict=True))
        return beside_rows(self.ids, self.repeats.tolist(), shared, of)

    def samples(self, wanted: NDArray[np.bool_]) -> tuple[int, ...]:
        """The numbers of the texts of these answers."""
        return tuple(int(number) for number in np.unique(self.numbers[wanted]))


@dataclass(frozen=True)
class _Chosen:
    """What a run would have given with thresholds chosen elsewhere: where, and the figures of each repeat.

    `spread`: the standard deviation of a label's threshold over folds.
    """

    where: str
    said: Bits
    reports: Sequence[Mapping[str, Any]]
    spread: Mapping[str, float]


def _chosen(own: _Counts, others: Sequence[_Counts]) -> _Chosen | str:
    """Thresholds from elsewhere, or why there are none."""
    if own.probs is None:
        return "the answers hold no probabilities"
    asked = own.scored.run.model, own.scored.run.config.get("way")
    fitting = [
        one
        for one in others
        if (one.scored.run.model, one.scored.run.config.get("way")) == asked
        and one.probs is not None
        and set(own.labels) <= set(one.labels)
    ]
    if fitting:
        other = max(fitting, key=lambda one: len(one.ids))
        assert other.probs is not None
        found = dict(zip(other.labels, best_thresholds(other.gold, other.probs), strict=True))
        values = {name: found[name].value for name in own.labels}
        said = decided(own.probs, list(values.values()))
        return _Chosen(f"{other.scored.dataset}", said, own.reports(said, values), {})
    names = list(dict.fromkeys(own.ids))
    if len(names) < LEAST:
        return f"fewer than {LEAST} labelled texts, and no run of this model over other texts"
    fold_of = dict(zip(names, assign_folds(names, FOLDS).tolist(), strict=True))
    folds = np.array([fold_of[key] for key in own.ids])
    said = np.zeros_like(own.said)
    by_fold = []
    for fold in range(FOLDS):
        here = folds == fold
        by_fold.append([one.value for one in best_thresholds(own.gold[~here], own.probs[~here])])
        said[here] = decided(own.probs[here], by_fold[-1])
    columns = list(zip(*by_fold, strict=True))
    values = {name: mean(column) for name, column in zip(own.labels, columns, strict=True)}
    spread = {name: stdev(column) for name, column in zip(own.labels, columns, strict=True)}
    return _Chosen(f"{FOLDS} folds", said, own.reports(said, values), spread)


def _summary(counted: Sequence[_Counts], chosen: Sequence[_Chosen | str]) -> ResultsTable:
    columns = tuple(Column(key, title, short=short) for key, title, short in _SUMMARY)
    rows, notes, told = [], [FIGURES], list[Mapping[str, Any]]()
    for own, other in zip(counted, chosen, strict=True):
        run, wrong = own.scored.run, (own.said != own.gold).any(axis=1)
        told.append(own.sure(own.said))
        unchosen = f"no thresholds are chosen: {other}" if isinstance(other, str) else ""
        remark = "; ".join(filter(None, (_remark(own), unchosen)))
        rows.append(Row(own.name, "run", run.run, _summary_cells(own, own.own, wrong, told[-1]), remark))
        if isinstance(other, str):
            continue
        wrong = (other.said != own.gold).any(axis=1)
        told.append(own.sure(other.said))
        label, remark = f"… thresholds of {other.where}", _where(other)
        rows.append(Row(label, "run", run.run, _summary_cells(own, other.reports, wrong, told[-1]), remark))
    notes += [f"{own.name}: {binned}" for own in counted if (binned := _binned(own))]
    notes += interval_notes(told)
    return ResultsTable("labels", "Several labels a text", columns, tuple(rows), tuple(notes))


def _summary_cells(
    own: _Counts, reports: Sequence[Mapping[str, Any]], wrong: NDArray[np.bool_], sure: Mapping[str, Any]
) -> tuple[Cell, ...]:
    behind = {
        key: own.samples(wrong)
        for key in ("macro_f1", "micro_f1", "weighted_f1", "samples_f1", "jaccard", "hamming_loss")
    }
    behind["vector_accuracy"] = own.samples(~wrong)
    return tuple(
        _cell(own, [report[key] for report in reports], behind.get(key, ()), _why(reports, key), sure, key)
        for key, _, _ in _SUMMARY
    )


def _by_label(own: _Counts, other: _Chosen | str) -> ResultsTable:
    groups = (
        [("", "as it decided")]
        if isinstance(other, str)
        else [("", "as it decided"), ("chosen/", f"thresholds of {other.where}")]
    )
    figures = [one for one in _BY_LABEL if one[0] != "threshold" or own.probs is not None]
    columns = [Column("support", "Gold", unit="count")]
    columns += [
        Column(f"{at}{key}", title, group, short=short) for at, group in groups for key, title, short in figures
    ]
    probable = [] if own.probs is None else _OF_PROBABILITIES
    columns += [Column(key, title, "probabilities", short=short) for key, title, short in probable]
    rows = []
    sure = [own.sure(side) for side in ([own.said] if isinstance(other, str) else [own.said, other.said])]
    for place, name in enumerate(own.labels):
        truth = own.gold[:, place] == 1
        support = sum(report["by_label"][name]["support"] for report in own.own)
        cells = [Cell(support, samples=own.samples(truth), run=own.scored.run.run)]
        sides: list[tuple[Bits, Sequence[Mapping[str, Any]], Mapping[str, float]]] = [(own.said, own.own, {})]
        if not isinstance(other, str):
            sides.append((other.said, other.reports, other.spread))
        for (said, reports, spread), surely in zip(sides, sure, strict=True):
            given = said[:, place] == 1
            behind = {"precision": given & ~truth, "recall": truth & ~given, "f1": given != truth}
            for key, _, _ in figures:
                values = [report["by_label"][name][key] for report in reports]
                samples = own.samples(behind[key]) if key in behind else ()
                figure = f"by_label.{name}.{key}"
                cell = _cell(own, values, samples, _why(reports, figure), surely, figure)
                cells.append(cell if key != "threshold" or not spread else Cell(cell.value, spread[name], run=cell.run))
        for key, _, _ in probable:
            values = [report["by_label"][name][key] for report in own.own]
            figure = f"by_label.{name}.{key}"
            cells.append(_cell(own, values, (), _why(own.own, figure, key), sure[0], figure))
        rows.append(Row(name, "label", own.scored.run.run, tuple(cells)))
    notes = [BY_LABEL]
    notes.append(f"Thresholds: {other}." if isinstance(other, str) else _where(other) + ".")
    notes += [binned] if (binned := _binned(own)) else []
    notes += interval_notes(sure)
    remark = _remark(own)
    title = f"{own.name} by label"
    return ResultsTable(
        f"labels-{own.scored.run.run}",
        title,
        tuple(columns),
        tuple(rows),
        (*notes, *([remark + "."] if remark else ())),
        hints=(BEHIND,),
    )


def _cell(
    own: _Counts,
    values: Sequence[float | None],
    samples: tuple[int, ...],
    why: str | None,
    sure: Mapping[str, Any] | None = None,
    key: str = "",
) -> Cell:
    known = [value for value in values if value is not None]
    run = own.scored.run.run
    if not known:
        return Cell(None, None, CONVENTION, why or "undefined", samples, run)
    spread = stdev(known) if len(known) > 1 else None
    return Cell(mean(known), spread, CONVENTION, None, samples, run, *sure_of(sure or {}, key))


def _why(reports: Sequence[Mapping[str, Any]], *keys: str) -> str | None:
    notes = [report["notes"][key] for report in reports for key in keys if key in report["notes"]]
    return notes[0] if notes else None


def _binned(own: _Counts) -> str:
    """What Brier and ECE of a run are over; empty without probabilities."""
    each = [report["calibration"] for report in own.own if "calibration" in report]
    if not each:
        return ""
    texts, repeats = each[0]["texts"], f" in each of {len(each)} repeats" if len(each) > 1 else ""
    fewest, most = min(one["fewest_filled"] for one in each), max(one["most_filled"] for one in each)
    filled = f"{fewest} to {most}" if fewest < most else f"{most}"
    bins = f"{each[0]['bins']} bins of equal width"
    return (
        f"Brier and ECE over {texts} texts a label{repeats}; ECE over {bins}, of which {filled} hold a text of a label."
    )


def _where(chosen: _Chosen) -> str:
    if chosen.spread:
        return (
            f"thresholds with the best F1 of each label, chosen on the other {FOLDS - 1} of {FOLDS} folds; ± over folds"
        )
    return f"thresholds with the best F1 of each label, chosen on {chosen.where}, where the texts are others"


def _remark(own: _Counts) -> str:
    run = own.scored.run
    parts = [f"{run.done} of {run.n} answered"] if run.done < run.n else []
    if own.unlabelled:
        told = number_that(own.unlabelled, "answer", "is about an unlabelled text", "are about unlabelled texts")
        parts.append(f"{told} and left out")
    if own.by_threshold and own.thresholds:
        parts.append("labels are given by the model's own thresholds")
    if own.astray:
        parts.append(f"in {own.astray} answers (marked !) yes and no have little probability")
    if trained := run.config.get("trained_on"):
        parts.append(str(trained))
    return "; ".join(parts)
