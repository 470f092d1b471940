"""Agreement on numbers about texts, by the name of the number: alpha at the level of the scale, and each two."""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from emotui.metrics.alpha import Level, alpha, item_disagreement
from emotui.metrics.beside import of_numbers
from emotui.metrics.figure import Figure, with_interval
from emotui.metrics.rating_intervals import PAIRS
from emotui.metrics.values import concordance, pearson, rmse
from emotui.workbench.agreement.documents import Between, Measured
from emotui.workbench.agreement.of_labels import ABOUT
from emotui.workbench.agreement.of_spans import behind
from emotui.workbench.agreement.panel import Panel

Floats = NDArray[np.float64]

_OF_TWO = {
    "pearson": ("r", "linear correlation of the two", pearson),
    "ccc": ("CCC", "Lin's concordance of the two (Lin 1989)", concordance),
    "rmse": ("RMSE", "root of the mean squared difference of the two", rmse),
}


def values_table(panel: Panel, name: str) -> Floats:
    """(texts, sources): the number of this name, NaN where there is none."""
    table = np.full((len(panel.texts), len(panel.said)), np.nan)
    for column, said in enumerate(panel.said.values()):
        for at, answer in said.items():
            if isinstance(answer, Mapping) and name in answer:
                table[at, column] = answer[name]
    return table


def value_names(panel: Panel) -> list[str]:
    """The names of all numbers, in order of appearance."""
    answers = [answer for said in panel.said.values() for answer in said.values()]
    return list(dict.fromkeys(str(name) for answer in answers for name in answer))


def measure_values(
    panel: Panel, *, levels: Sequence[Level], resamples: int, seed: int
) -> tuple[list[Measured], dict[str, list[Measured]], list[Between], dict[str, str]]:
    """No figure over all names, for scales may differ; by name, and of each two; and notes."""
    numbers = [text.sample for text in panel.texts]
    drawn = panel.drawn(range(len(panel.texts)))
    by_name: dict[str, list[Measured]] = {}
    tables = {name: values_table(panel, name) for name in value_names(panel)}
    notes = {"levels": "the numbers count as " + " and as ".join(levels)}
    for name, table in tables.items():
        found = []
        for level in levels:
            if level == "ratio" and (table < 0).any():
                figure = Figure(None, 0, why="a ratio scale begins at 0, and some numbers are below")
                apart = np.full(len(table), np.nan)
            else:
                figure, apart = alpha(table, level, resamples, seed, drawn), item_disagreement(table, level)
            known = [None if np.isnan(value) else float(value) for value in apart]
            found.append(
                Measured(
                    f"krippendorff_alpha_{level}",
                    f"alpha, {level}",
                    ABOUT["alpha"].format(level=level),
                    figure,
                    behind(numbers, known),
                )
            )
        by_name[name] = found
    each = list(combinations(range(len(panel.said)), 2))
    sure = resamples > 0 and len(each) <= PAIRS
    pairs = [_between(panel, tables, a, b, numbers, sure=sure) for a, b in each]
    return [], by_name, pairs, notes


def _between(
    panel: Panel, tables: Mapping[str, Floats], a: int, b: int, numbers: Sequence[int], *, sure: bool
) -> Between:
    measured = []
    worst = np.zeros(len(panel.texts))
    n = 0
    for name, table in tables.items():
        x, y = table[:, a], table[:, b]
        both = ~np.isnan(x) & ~np.isnan(y)
        n = max(n, int(both.sum()))
        spread = np.ptp(table[~np.isnan(table)]) if (~np.isnan(table)).any() else 0.0
        if spread > 0:
            worst[both] += np.abs(x[both] - y[both]) / spread
        ends = of_numbers(x[both], y[both], list(map(str, panel.drawn(np.flatnonzero(both).tolist())))) if sure else {}
        for key, (title, about, compute) in _OF_TWO.items():
            value = compute(x[both], y[both]) if both.any() else None
            why = None
            if value is None:
                why = "one of the two never varies" if both.any() else "no text of which both give this number"
            figure = Figure(value, int(both.sum()), why=why)
            figure = with_interval(figure, ends[key]) if key in ends else figure
            measured.append(Measured(f"{name}.{key}", f"{name}: {title}", about, figure))
    raters = panel.raters
    apart = behind(numbers, (worst / max(1, len(tables))).tolist())
    return Between(raters[a], raters[b], n, measured, {}, apart)
