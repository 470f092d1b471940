"""Agreement on one label a text, on several, and on a word a mask: alpha, Fleiss, Cohen and percent, by label too."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray

from emotui.backends.host import IsCancelled
from emotui.errors import BadInput
from emotui.metrics.alpha import Level, alpha, item_disagreement
from emotui.metrics.figure import Figure, with_interval
from emotui.metrics.rating_tables import TableAgreement, table_agreement
from emotui.metrics.resampling import group_numbers, ratio_intervals
from emotui.workbench.agreement.documents import LABELS, WORDS, Behind, Between, Measured
from emotui.workbench.agreement.of_spans import behind
from emotui.workbench.agreement.panel import Panel
from emotui.workbench.progress import Cancelled

Floats = NDArray[np.float64]

YES_NO = ("no", "yes")

ABOUT = {
    "alpha": "Krippendorff's alpha, {level}; any number of ratings a text (Krippendorff 2011)",
    "fleiss_kappa": "Fleiss' kappa; the same number of ratings for every item (Fleiss 1971)",
    "mean_cohen_kappa": "mean of Cohen's kappa over each two sources (Cohen 1960)",
    "percent": "of all pairs of answers to the same question the share that agree; chance is in it",
    "kappa": "Cohen's kappa (Cohen 1960)",
    "pair_percent": "the share of questions on which the two agree; chance is in it",
    "vectors": "of all pairs of answers to the same text the share in which every label is the same",
}


@dataclass(frozen=True, slots=True)
class Questions:
    """A panel as a table: (questions, sources), the number of the answer, NaN where there is none.

    `owner`: of each question the place of its text. `names`: which question of its text (a label, a mask); empty where
    a text is one question. `answers`: by their numbers.
    """

    table: Floats
    owner: NDArray[np.int64]
    names: Sequence[str]
    answers: Sequence[str]
    raters: Sequence[str]


def questions_of(panel: Panel) -> Questions:
    """One question a text; of several labels a question a label (yes or no); of words a question a mask."""
    raters = panel.raters
    if panel.kind == LABELS:
        return _yes_or_no(panel, raters)
    rows: dict[tuple[int, int], list[str | None]] = {}
    for column, name in enumerate(raters):
        for at, said in panel.said[name].items():
            for number, answer in enumerate(said):
                rows.setdefault((at, number), [None] * len(raters))[column] = str(answer)
    order = sorted(rows)
    answers = sorted({answer for row in rows.values() for answer in row if answer is not None})
    number_of = {answer: number for number, answer in enumerate(answers)}
    table = np.full((len(order), len(raters)), np.nan)
    for line, key in zip(table, order, strict=True):
        for column, answer in enumerate(rows[key]):
            if answer is not None:
                line[column] = number_of[answer]
    names = [f"mask {number + 1}" for _, number in order] if panel.kind == WORDS else [""] * len(order)
    return Questions(table, np.array([at for at, _ in order], dtype=np.int64), names, answers, raters)


def labels_of(panel: Panel) -> list[str]:
    """All labels that somebody names, in order of appearance."""
    found: dict[str, None] = {}
    for said in panel.said.values():
        for answer in said.values():
            found.update(dict.fromkeys(str(label) for label in answer))
    return list(found)


def _yes_or_no(panel: Panel, raters: Sequence[str]) -> Questions:
    labels = labels_of(panel)
    number_of = {label: number for number, label in enumerate(labels)}
    places = sorted({at for said in panel.said.values() for at in said})
    row_of = {at: row for row, at in enumerate(places)}
    table = np.full((len(places), len(labels), len(raters)), np.nan)
    for column, name in enumerate(raters):
        for at, said in panel.said[name].items():
            given = (
                [label for label, there in said.items() if there] if isinstance(said, Mapping) else list(map(str, said))
            )
            line = table[row_of[at], :, column]
            line[:] = 0
            line[[number_of[label] for label in given]] = 1
    owner = np.repeat(np.array(places, dtype=np.int64), len(labels))
    flat = table.reshape(len(places) * len(labels), len(raters))
    return Questions(flat, owner, labels * len(places), YES_NO, raters)


def measure_labels(
    panel: Panel, *, levels: Sequence[Level], resamples: int, seed: int, cancelled: IsCancelled | None = None
) -> tuple[list[Measured], dict[str, list[Measured]], list[Between], dict[str, str]]:
    """Figures of all sources, by label, and of each two; and notes."""
    asked = questions_of(panel)
    several = panel.kind == LABELS
    values = _as_values(asked, levels)
    found = (
        table_agreement(
            values,
            asked.raters,
            asked.answers,
            levels=levels,
            resamples=resamples,
            seed=seed,
            texts=panel.drawn(asked.owner.tolist()),
        )
        if values is asked.table
        else _with_values(panel, asked, values, levels, resamples, seed)
    )
    _stop(cancelled)
    apart = _by_text(panel, asked, values, levels[0])
    measured = _figures(found, levels, apart)
    notes: dict[str, str] = {}
    if several:
        notes["questions"] = (
            f"every label of a text is a question with the answers no and yes: {len(asked.table):,} questions"
            + ("" if panel.groups else "; intervals draw texts")
        )
        measured.append(
            Measured("vectors", "whole vectors", ABOUT["vectors"], _whole(panel, asked, resamples, seed), apart)
        )
    by_label: dict[str, list[Measured]] = {}
    for label in dict.fromkeys(asked.names) if several else asked.answers:
        by_label[label] = _of_label(panel, asked, label, resamples, seed)
        _stop(cancelled)
    pairs = [
        Between(
            pair.a,
            pair.b,
            pair.n,
            [
                Measured("kappa", "kappa", ABOUT["kappa"], pair.kappa),
                Measured("percent", "agree", ABOUT["pair_percent"], pair.percent),
            ],
            pair.confusion,
            _by_text(panel, _columns(asked, pair.a, pair.b), None, "nominal"),
            _cells(panel, _columns(asked, pair.a, pair.b)),
        )
        for pair in found.pairs
    ]
    return measured, by_label, pairs, notes


def _figures(found: TableAgreement, levels: Sequence[Level], apart: Behind) -> list[Measured]:
    alphas = [
        Measured(
            "krippendorff_alpha" if level == "nominal" else f"krippendorff_alpha_{level}",
            "alpha" if level == "nominal" else f"alpha, {level}",
            ABOUT["alpha"].format(level=level),
            found.alphas[level],
            apart,
        )
        for level in levels
    ]
    return [
        *alphas,
        Measured("fleiss_kappa", "Fleiss' kappa", ABOUT["fleiss_kappa"], found.fleiss_kappa, apart),
        Measured("mean_cohen_kappa", "mean Cohen's kappa", ABOUT["mean_cohen_kappa"], found.mean_cohen_kappa, apart),
        Measured("percent", "agree", ABOUT["percent"], found.percent, apart),
    ]


def _of_label(panel: Panel, asked: Questions, label: str, resamples: int, seed: int) -> list[Measured]:
    """The label against all others: whether it is given."""
    if panel.kind == LABELS:
        rows = np.array([name == label for name in asked.names])
        alone = Questions(asked.table[rows], asked.owner[rows], [label] * int(rows.sum()), YES_NO, asked.raters)
    else:
        number = asked.answers.index(label)
        table = np.where(np.isnan(asked.table), np.nan, (asked.table == number).astype(np.float64))
        alone = Questions(table, asked.owner, asked.names, YES_NO, asked.raters)
    found = table_agreement(
        alone.table, alone.raters, YES_NO, resamples=resamples, seed=seed, texts=panel.drawn(alone.owner.tolist())
    )
    return _figures(found, ("nominal",), _by_text(panel, alone, None, "nominal"))


def _as_values(asked: Questions, levels: Sequence[Level]) -> Floats:
    """The table itself, or the numbers that the answers are, where levels above nominal are asked for."""
    if set(levels) == {"nominal"}:
        return asked.table
    try:
        numbers = np.array([float(answer) for answer in asked.answers])
    except ValueError:
        above = next(level for level in levels if level != "nominal")
        first = next(answer for answer in asked.answers if not _is_number(answer))
        raise BadInput(f"{above} alpha needs answers that are numbers; {first!r} is none") from None
    found = np.full(asked.table.shape, np.nan)
    there = ~np.isnan(asked.table)
    found[there] = numbers[asked.table[there].astype(np.int64)]
    return found


def _with_values(
    panel: Panel, asked: Questions, values: Floats, levels: Sequence[Level], resamples: int, seed: int
) -> TableAgreement:
    """Figures of labels by their names, alphas by the numbers that they are."""
    plain = table_agreement(asked.table, asked.raters, asked.answers)
    alphas = {level: alpha(values, level, resamples, seed, panel.drawn(asked.owner.tolist())) for level in levels}
    return msgspec.structs.replace(plain, alphas=alphas)


def _is_number(answer: str) -> bool:
    try:
        float(answer)
    except ValueError:
        return False
    return True


def _by_text(panel: Panel, asked: Questions, values: Floats | None, level: Level) -> Behind:
    """How far apart the answers about each text are: the mean over its questions."""
    apart = item_disagreement(asked.table if values is None else values, level)
    known = ~np.isnan(apart)
    if not known.any():
        return ()
    owners, place = np.unique(asked.owner[known], return_inverse=True)
    means = np.bincount(place, weights=apart[known]) / np.bincount(place)
    return behind([panel.texts[at].sample for at in owners.tolist()], means.tolist())


def _columns(asked: Questions, a: str, b: str) -> Questions:
    columns = [asked.raters.index(a), asked.raters.index(b)]
    return Questions(asked.table[:, columns], asked.owner, asked.names, asked.answers, (a, b))


def _cells(panel: Panel, asked: Questions) -> dict[str, dict[str, Behind]]:
    """The samples behind each cell of the confusion of two sources, with at how many of their questions it is so."""
    both = ~np.isnan(asked.table).any(axis=1)
    k = len(asked.answers)
    first, second = asked.table[both].astype(np.int64).T
    pairs = (first * k + second) * len(panel.texts) + asked.owner[both]
    found: dict[str, dict[str, list[tuple[int, float]]]] = {}
    for pair, n in zip(*(side.tolist() for side in np.unique(pairs, return_counts=True)), strict=True):
        cell, at = divmod(pair, len(panel.texts))
        line = found.setdefault(asked.answers[cell // k], {})
        line.setdefault(asked.answers[cell % k], []).append((panel.texts[at].sample, float(n)))
    return {
        row: {column: sorted(there, key=lambda one: (-one[1], one[0])) for column, there in line.items()}
        for row, line in found.items()
    }


def _whole(panel: Panel, asked: Questions, resamples: int, seed: int) -> Figure:
    """Of all pairs of answers to the same text, the share in which every label is the same."""
    k = len(set(asked.names))
    vectors = asked.table.reshape(-1, k, len(asked.raters))
    there: NDArray[np.bool_] = np.asarray(~np.isnan(vectors).any(axis=1))
    agree, total = np.zeros(len(vectors)), np.zeros(len(vectors))
    for a in range(len(asked.raters)):
        for b in range(a + 1, len(asked.raters)):
            both = there[:, a] & there[:, b]
            agree += both & (vectors[:, :, a] == vectors[:, :, b]).all(axis=1)
            total += both
    texts = int((there.sum(axis=1) > 1).sum())
    if not total.any():
        return Figure(None, 0, why="no text has two answers")
    found = Figure(float(agree.sum() / total.sum()), texts)
    if not resamples:
        return found
    groups = group_numbers(panel.drawn(asked.owner[::k].tolist()))
    return with_interval(found, ratio_intervals([(agree, total)], groups, seed=seed)[0])


def _stop(cancelled: IsCancelled | None) -> None:
    if cancelled is not None and cancelled():
        raise Cancelled
