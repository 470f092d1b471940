"""An agreement study of a dataset: all figures of its kind, each source against itself, and the doubts about gold."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import msgspec
import numpy as np
from numpy.typing import NDArray

from emotui.backends.host import IsCancelled
from emotui.errors import BadInput
from emotui.metrics.alpha import LEVELS, Level
from emotui.metrics.dawid_skene import DawidSkene, dawid_skene
from emotui.metrics.gamma_alignment import Dissimilarity, Units, aligned_in_turn, best_alignment
from emotui.metrics.rating_tables import votes
from emotui.metrics.resampling import FEW_GROUPS
from emotui.metrics.suspicion import AGREED, KINDS, Suspicion, suspicions
from emotui.records import Mark
from emotui.store.store import Store
from emotui.workbench.agreement.documents import (
    LABELS,
    SPANS,
    VALUES,
    Agreement,
    Behind,
    Between,
    Doubt,
    Estimate,
    Itself,
    Measured,
    Rater,
)
from emotui.workbench.agreement.of_labels import YES_NO, measure_labels, questions_of
from emotui.workbench.agreement.of_spans import marks_of, measure_spans
from emotui.workbench.agreement.of_values import measure_values
from emotui.workbench.agreement.panel import Panel, read_panel
from emotui.workbench.datasets.sources import GOLD
from emotui.workbench.progress import Cancelled

# How good each source is, and which gold is likely wrong: Dawid and Skene's estimate over what sources say.

Floats = NDArray[np.float64]

NOTHING = "nothing"
"""What a source says of a place that it did not mark."""

UNLABELLED = "marked"
"""What it says of one that it marked without a label."""

_HARDLY = 5e-4
"""Probabilities up to which a cell or a text is left out."""

MOST_ANSWERS = 60
"""Different answers up to which annotators' confusions are estimated: there are so many squared for each of them."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """Questions with the votes of all but gold, and gold's answer; rows of one group are estimated together."""

    table: Floats
    owner: Sequence[int]
    names: Sequence[str]
    gold: Sequence[str | None]
    answers: Sequence[str]
    groups: Sequence[str]


@dataclass(frozen=True, slots=True)
class _Group:
    """Questions that were estimated together, with their votes and the sample that each is about."""

    estimate: DawidSkene
    counts: Floats
    samples: Sequence[int]


def estimate(
    panel: Panel, *, cancelled: IsCancelled | None = None
) -> tuple[Estimate | None, list[Doubt], dict[str, str]]:
    """Dawid and Skene's estimate of all sources but gold, the doubts about gold that follow, and notes.

    Of several labels a text every label is estimated by itself, as yes and no. Of spans the questions are the unitary
    alignments of all sources, gold among them; a source that marked nothing there says so.
    """
    judges = [name for name in panel.raters if name != GOLD]
    if panel.kind == VALUES:
        return None, [], {"estimate": "numbers have no classes: Dawid and Skene's estimate is of labels"}
    if len(judges) < 2:
        return None, [], {"estimate": "needs two sources beside gold"}
    asked = _of_spans(panel, judges, cancelled) if panel.kind == SPANS else _of_labels(panel, judges)
    if not len(asked.table) or np.isnan(asked.table).all():
        return None, [], {"estimate": "no question was answered"}
    if len(asked.answers) > MOST_ANSWERS:
        return None, [], {"estimate": f"{len(asked.answers)} different answers: the estimate is for {MOST_ANSWERS}"}
    found: list[_Group] = []
    doubts: list[Doubt] = []
    for _, rows in groupby(
        sorted(range(len(asked.table)), key=lambda row: asked.groups[row]), asked.groups.__getitem__
    ):
        chosen = list(rows)
        counts = votes(asked.table[chosen], len(asked.answers))
        if not counts.any():
            continue
        one = dawid_skene(counts)
        found.append(_Group(one, counts, [panel.texts[asked.owner[row]].sample for row in chosen]))
        suspicious = suspicions([asked.gold[row] for row in chosen], counts, asked.answers, one)
        doubts += [_doubt(panel, asked, chosen[doubt.item], doubt) for doubt in suspicious if doubt.kind != AGREED]
        if cancelled is not None and cancelled():
            raise Cancelled
    doubts.sort(key=lambda doubt: (KINDS.index(doubt.kind), -doubt.suspicion, doubt.sample))
    raters = [_rater(name, at, found, asked.answers) for at, name in enumerate(judges)]
    converged = all(one.estimate.converged for one in found)
    whole = Estimate(raters, len(asked.table), converged, max(one.estimate.steps for one in found))
    notes = {} if any(answer is not None for answer in asked.gold) else {"doubts": "there is no gold to doubt"}
    if panel.kind == SPANS and len(judges) + bool(panel.gold) > ALIGNED_AT_BEST:
        notes["estimate"] = f"spans of more than {ALIGNED_AT_BEST} sources are aligned one source after another"
    return whole, doubts, notes


def _rater(name: str, at: int, found: Sequence[_Group], answers: Sequence[str]) -> Rater:
    right = sum(float((one.estimate.classes * one.counts[:, at]).sum()) for one in found)
    total = sum(float(one.counts[:, at].sum()) for one in found)
    worst: dict[int, float] = {}
    for one in found:
        said = one.counts[:, at]
        wrong = 1 - (one.estimate.classes * said).sum(axis=1)
        for at_row in np.nonzero((said.sum(axis=1) > 0) & (wrong > _HARDLY))[0].tolist():
            number = one.samples[at_row]
            worst[number] = max(worst.get(number, 0.0), float(wrong[at_row]))
    behind = sorted(worst.items(), key=lambda one: (-one[1], one[0]))
    confusion: dict[str, dict[str, float]] = {}
    cells: dict[str, dict[str, Behind]] = {}
    if len(found) == 1:
        for there, (row, line) in enumerate(zip(answers, found[0].estimate.confusion[at], strict=True)):
            if not np.isnan(line).any():
                shown = [(k, answer) for k, answer in enumerate(answers) if line[k] > _HARDLY]
                confusion[row] = {answer: float(line[k]) for k, answer in shown}
                cells[row] = {answer: _says(found[0], at, there, k) for k, answer in shown}
    return Rater(name, int(total), right / total if total else None, confusion, behind, cells)


def _says(group: _Group, at: int, there: int, said: int) -> list[tuple[int, float]]:
    """The samples in which a source says one class, with the probability that another is there."""
    probable = group.estimate.classes[:, there] * group.counts[:, at, said]
    worst: dict[int, float] = {}
    for row in np.nonzero(probable > _HARDLY)[0].tolist():
        worst[group.samples[row]] = max(worst.get(group.samples[row], 0.0), float(probable[row]))
    return sorted(worst.items(), key=lambda one: (-one[1], one[0]))


def _doubt(panel: Panel, asked: _Asked, row: int, doubt: Suspicion) -> Doubt:
    text = panel.texts[asked.owner[row]]
    said = msgspec.structs.asdict(doubt)
    return Doubt(**said, sample=text.sample, id=text.id, question=asked.names[row])


def _of_labels(panel: Panel, judges: Sequence[str]) -> _Asked:
    """The questions of all, with gold as one more column, so that its labels are among the answers."""
    whole = Panel(
        panel.dataset,
        panel.kind,
        panel.texts,
        {**{name: panel.said[name] for name in judges}, GOLD: panel.gold},
    )
    asked = questions_of(whole)
    column = asked.table[:, -1]
    gold = [None if np.isnan(answer) else asked.answers[int(answer)] for answer in column]
    several = panel.kind == LABELS
    answers = YES_NO if several else asked.answers
    groups = asked.names if several else [""] * len(gold)
    return _Asked(asked.table[:, :-1], asked.owner.tolist(), asked.names, gold, answers, groups)


def _of_spans(panel: Panel, judges: Sequence[str], cancelled: IsCancelled | None) -> _Asked:
    said = [panel.said[name] for name in judges]
    labels = {
        mark.label or UNLABELLED
        for answers in (*said, panel.gold)
        for answer in answers.values()
        for mark in marks_of(answer)
    }
    answers = [NOTHING, *sorted(labels)]
    number_of = {label: number for number, label in enumerate(answers)}
    rows: list[list[float]] = []
    owner: list[int] = []
    names: list[str] = []
    gold: list[str | None] = []
    for at, text in enumerate(panel.texts):
        if cancelled is not None and at % 500 == 0 and cancelled():
            raise Cancelled
        there = [place for place, answer in enumerate(said) if at in answer]
        if not there:
            continue
        known = at in panel.gold
        marks = [_distinct(marks_of(said[place][at])) for place in there]
        marks += [_distinct(marks_of(panel.gold[at]))] if known else []
        if not any(marks):
            continue
        units = [_units(one, number_of) for one in marks]
        few = 1 < len(units) <= ALIGNED_AT_BEST
        groups = best_alignment(units, Dissimilarity()).groups if few else aligned_in_turn(units, Dissimilarity())
        for group in groups:
            row = [float("nan")] * len(judges)
            for place, unit, own in zip(there, group, marks, strict=False):
                row[place] = number_of[own[unit].label or UNLABELLED] if unit >= 0 else 0
            span = next(own[unit] for unit, own in zip(group, marks, strict=True) if unit >= 0)
            rows.append(row)
            owner.append(at)
            names.append(f"[{span.start},{span.end}] {text.text[span.start : span.end]}")
            of_gold = group[-1]
            gold.append((marks[-1][of_gold].label or UNLABELLED if of_gold >= 0 else NOTHING) if known else None)
    table = np.array(rows, dtype=np.float64).reshape(len(rows), len(judges))
    return _Asked(table, owner, names, gold, answers, [""] * len(rows))


ALIGNED_AT_BEST = 8
"""Sources, gold among them, whose spans are aligned as well as can be to be estimated; of more, one after another."""


def _distinct(marks: Sequence[Mark]) -> list[Mark]:
    once = {(mark.place, mark.label): mark for mark in marks}
    return sorted(once.values(), key=lambda mark: (mark.place, mark.label or ""))


def _units(marks: Sequence[Mark], number_of: dict[str, int]) -> Units:
    return Units(
        np.array([mark.start for mark in marks], dtype=np.float64),
        np.array([mark.end for mark in marks], dtype=np.float64),
        np.array([number_of[mark.label or UNLABELLED] for mark in marks], dtype=np.int64),
    )


RESAMPLES = 1000
"""Of the bootstrap of every interval."""


def study(
    store: Store,
    dataset: str,
    sources: Sequence[str] | None = None,
    *,
    kind: str | None = None,
    levels: Sequence[Level] | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
    with_gamma: bool | None = None,
    check_gold: bool = True,
    cancelled: IsCancelled | None = None,
) -> Agreement:
    """How far sources of a dataset agree.

    Args:
        sources, kind: as for `read_panel`.
        levels: of Krippendorff's alpha. None: nominal for labels, interval for numbers. Spans have their own alpha.
        resamples: 0: no intervals.
        with_gamma: None: of spans of few sources (`emotui.workbench.agreement.of_spans`).
        check_gold: whether sources are estimated by Dawid and Skene, and gold is doubted.

    Raises:
        BadInput: as `read_panel`; a level that there is not, or that the answers do not have.
        Cancelled: by `cancelled`.
    """
    panel = read_panel(store, dataset, sources, kind=kind, cancelled=cancelled)
    if levels is not None and panel.kind == SPANS:
        raise BadInput("--levels is for labels and numbers: spans have unitizing alpha")
    if levels and (strange := [level for level in levels if level not in LEVELS]):
        raise BadInput(f"there is no level {strange[0]!r}; there are: {', '.join(LEVELS)}")
    measured, by_label, pairs, notes = _measure(panel, levels, resamples, seed, with_gamma, cancelled)
    itself = [_against_itself(panel, name, levels, resamples, seed) for name in panel.again]
    found, doubts, more = estimate(panel, cancelled=cancelled) if check_gold else (None, [], {})
    return Agreement(
        panel.dataset.name,
        panel.kind,
        panel.counts,
        len(panel.shared()),
        measured,
        by_label,
        pairs,
        itself,
        found,
        doubts,
        {**panel.notes, **notes, **_drawn(panel, resamples), **more},
        resamples,
        seed,
    )


def _drawn(panel: Panel, resamples: int) -> dict[str, str]:
    """What intervals draw where texts share something."""
    if not resamples or not panel.groups:
        return {}
    n = len({panel.groups[at] for at in panel.shared()})
    t = f", fewer than {FEW_GROUPS}: they are Student's t" if n < FEW_GROUPS else ""
    return {"intervals": f"texts with one `{panel.column}` are drawn together: {n} groups{t}"}


def _measure(
    panel: Panel,
    levels: Sequence[Level] | None,
    resamples: int,
    seed: int,
    with_gamma: bool | None,
    cancelled: IsCancelled | None = None,
) -> tuple[list[Measured], dict[str, list[Measured]], list[Between], dict[str, str]]:
    if panel.kind == SPANS:
        return measure_spans(panel, resamples=resamples, seed=seed, with_gamma=with_gamma, cancelled=cancelled)
    if panel.kind == VALUES:
        return measure_values(panel, levels=levels or ("interval",), resamples=resamples, seed=seed)
    return measure_labels(panel, levels=levels or ("nominal",), resamples=resamples, seed=seed, cancelled=cancelled)


def _against_itself(panel: Panel, name: str, levels: Sequence[Level] | None, resamples: int, seed: int) -> Itself:
    """Its first answer against its second; of numbers, alphas by name."""
    twice = panel.twice(name)
    measured, by_name, pairs, _ = _measure(twice, levels, resamples, seed, with_gamma=False)
    if panel.kind == VALUES:
        measured = [
            Measured(f"{value}.{one.name}", f"{value}: {one.title}", one.about, one.figure, one.behind)
            for value, figures in by_name.items()
            for one in figures
        ]
    elif panel.kind == SPANS:
        measured = [
            *measured,
            *(Measured(m.name, m.title, m.about, m.figure, pairs[0].behind) for m in pairs[0].measured),
        ]
    return Itself(name, len(twice.shared()), measured)
