"""Charts of the Scenes place as lines of parts: the sweep over alpha, and numbers on graded grounds."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import isnan
from typing import TYPE_CHECKING

from emotui.screens.keymaps import keyed
from emotui.screens.scenes.axis import LABEL, Axis, alpha_text, nearest_step
from emotui.screens.widgets.cell_width import fit, width
from emotui.screens.widgets.drawing import ground
from emotui.screens.widgets.line import Part, taken
from emotui.screens.widgets.number_format import UNDEFINED, share
from emotui.screens.widgets.page import Lines
from emotui.tables import short_names

if TYPE_CHECKING:
    import numpy as np

    from emotui.workbench.scenes.decoding import Chosen, Figures, Sweep

_LEVELS = "▁▂▃▄▅▆▇█"

CURVES: tuple[tuple[str, "Callable[[Figures], float]", str], ...] = (
    ("Macro-F1", lambda figures: figures.macro_f1, "said"),
    ("Acc_v", lambda figures: figures.vector_accuracy, "said"),
    ("Hamming↓", lambda figures: figures.hamming_loss, "mark"),
)
"""The name of each figure, where it stands, and what its curve is: what is right, or what is wrong."""


def sweep(
    found: "Sweep", chosen: "Chosen | None", here: int, axis: Axis, rows: int, *, in_sample: bool, cells: int = 0
) -> list[list[Part]]:
    """A curve a figure over the alphas, all from 0 to one greatest value, on so many lines each, over their axis.

    Args:
        cells: for the words under them, where these have more room than the axis.
    """
    series = found.in_sample if in_sample else found.nested_cv
    nested_cv = None if chosen is None else nearest_step(found.alphas, chosen.choice.alpha)
    lines: list[list[Part]] = [axis.track(here, nested_cv)]
    curves = [(name, [figure(one) for one in series], kind) for name, figure, kind in CURVES]
    most = max(max(values) for _, values, _ in curves) or 1.0
    for name, values, kind in curves:
        lines += _curve(name, values, most, here, rows, axis, kind)
    told = f"full height {share(most).strip()}; Acc_v: scenarios all right; Hamming↓: emotions wrong"
    return [
        *lines,
        [Part(axis.ticks(), "dim")],
        *_broken([Part(f"  {told}", "dim")], max(cells, axis.cells)),
    ]


def choice(chosen: "Chosen | None", with_prior: "Chosen | None", cells: int, *, in_sample: bool) -> Lines:
    """What nested cross-validation chose, with the honest figure beside the model alone; and the leaked one.

    `with_prior`: where prior and temperature are chosen inside the folds too.
    """
    if chosen is None:
        return [[Part("choosing α inside folds…", "dim")]]
    folds = _counted([alpha_text(one.alpha) for one in chosen.by_fold])
    lines = _fitted(
        cells,
        [
            Part("◆ ", "key"),
            Part(f"chosen by cross-validation: α {alpha_text(chosen.choice.alpha)}", "strong"),
        ],
        [
            Part("  honest macro-F1 "),
            Part(share(chosen.nested_cv.macro_f1).strip(), "strong"),
            Part(f", model alone {share(chosen.alone.macro_f1).strip()}"),
        ],
        *_worded(folds),
        [] if in_sample else [Part(keyed("  {leaked}: the leaked figure too"), "dim")],
    )
    if in_sample:
        at = chosen.in_sample_choice.alpha
        lines += _fitted(
            cells,
            [Part("  leaked ", "mark"), Part(share(chosen.in_sample.macro_f1).strip(), "mark")],
            [Part(f" at α {alpha_text(at)}: "), Part("fitted, chosen and scored on the same scenarios")],
        )
    if with_prior is None:
        return lines
    best = with_prior.choice
    said = _counted([f"{one.prior} {alpha_text(one.alpha)}" for one in with_prior.by_fold])
    return [
        *lines,
        *_fitted(
            cells,
            [
                Part("◇ ", "key"),
                Part(
                    f"prior chosen too: {best.prior}, temperature {best.temperature:.2f}, α {alpha_text(best.alpha)}",
                    "strong",
                ),
            ],
            [Part("  honest macro-F1 "), Part(share(with_prior.nested_cv.macro_f1).strip(), "strong")],
            *_worded(said),
        ),
    ]


def _counted(choices: Sequence[str]) -> str:
    """What the folds chose, each choice once with how often it was made."""
    if len(set(choices)) == 1:
        return f"every fold chose {choices[0]}"
    often = Counter(choices).most_common()
    return "folds chose " + ", ".join(f"{choice} ×{n}" if n > 1 else choice for choice, n in often)


def _worded(choices: str) -> list[list[Part]]:
    """What the folds chose, a group a choice, so that a line may end between them."""
    return [[Part(f"{' ' if at else '  '}{words}", "dim")] for at, words in enumerate(re.split(r"(?<=,) ", choices))]


def _fitted(cells: int, *groups: Sequence[Part]) -> list[list[Part]]:
    """Groups of parts on as few lines as hold them; only a group that is longer than a line is broken."""
    lines: list[list[Part]] = [[]]
    used = 0
    for group in groups:
        size = sum(len(part.text) for part in group)
        if used and used + size > cells:
            lines.append([])
            used = 0
            group = [Part("  "), *_without_space(group)]
            size = taken(group)
        lines[-1] += group
        used += size
    return [broken for line in lines if line for broken in (_broken(line, cells) if taken(line) > cells else [line])]


def _without_space(group: Sequence[Part]) -> list[Part]:
    """A group without what it begins with where it stands behind another."""
    return [Part(group[0].text.lstrip(), group[0].kind, group[0].press), *group[1:]] if group else []


def _broken(line: Sequence[Part], cells: int) -> list[list[Part]]:
    """A line on as few lines as hold its words."""
    lines: list[list[Part]] = [[]]
    for part in line:
        for word in re.findall(r"\s*\S+|\s+$", part.text):
            if lines[-1] and taken([*lines[-1], Part(word)]) > cells:
                lines.append([Part("  ")])
                word = word.lstrip()
            lines[-1].append(Part(word, part.kind, part.press))
    return lines


def _curve(
    name: str, values: list[float], most: float, here: int, rows: int, axis: Axis, kind: str
) -> list[list[Part]]:
    """A curve from 0 to `most`; only 0 itself is drawn as nothing."""
    sizes = [0 if value <= 0 else max(round(value / most * rows * 8), 1) for value in values]
    said = [f"  {name} {share(values[here]).strip()}", *[""] * (rows - 1)]
    if rows > 1:
        said[:2] = [f"  {name}", f"  now {share(values[here]).strip()}"]
    if axis.label < LABEL:
        said = [words.removeprefix("  ") for words in said]
    lines = []
    for row in range(rows):
        floor = (rows - 1 - row) * 8
        parts = [Part(fit(said[row], axis.label), "strong" if row == 0 else "dim")]
        for cell, group in enumerate(axis.shared(sizes)):
            filled = min(max(max(group) - floor, 0), 8)
            block = _LEVELS[filled - 1] if filled else " "
            parts.append(Part(block * axis.repeat, f"{kind}-now" if cell == axis.cell_of(here) else kind))
        lines.append(parts)
    return lines


def figure_cells(matrices: Sequence["np.ndarray"], names: Sequence[str]) -> int:
    """Cells that a figure of these matrices takes, or a short name over it, with the gap before it."""
    figures = (_figure(value) for matrix in matrices for value in matrix.ravel().tolist())
    return 1 + max(*map(len, figures), *map(width, short_names(names)), 3)


def label_cells(names: Sequence[str], cell: int, cells: int, blocks: int = 1) -> int:
    """Cells for the names of a square's rows: whole, unless that puts one of so many squares under the others."""

    def high(label: int) -> int:
        return -(-blocks // max((cells + 2) // (label + len(names) * cell + 2), 1))

    whole, least = (max(map(width, said)) + 2 for said in (names, short_names(names)))
    return whole if high(whole) == high(least) and whole + len(names) * cell <= cells else least


def heatmap(
    title: str,
    names: Sequence[str],
    matrix: "np.ndarray",
    *,
    cell: int,
    diagonal: bool = True,
    most: float | None = None,
    upper: bool = False,
    label: int = 0,
) -> list[list[Part]]:
    """A square of figures, each on a ground that is the stronger the greater it is.

    Args:
        matrix: (k, k).
        cell: how many cells a figure takes.
        diagonal: whether the diagonal means something.
        most: what the strongest ground stands for; None: the largest size in the matrix.
        upper: only what is above the diagonal, of a matrix that is symmetric.
        label: cells of the rows' names with the gaps around them, as `label_cells` has them; 0: of short ones.
    """
    k = len(names)
    full = most if most is not None else largest(matrix, diagonal=diagonal)
    columns, rows = (range(1, k), range(k - 1)) if upper else (range(k), range(k))
    short = short_names(names)
    least = max(map(width, short)) + 2
    label = max(label, least)
    heads = names if max(map(width, names)) < cell else short
    said = names if max(map(width, names)) + 2 <= label else short
    lines = [[Part(fit(title, label + len(columns) * cell), "strong")]]
    lines.append([Part(" " * label), *(Part(fit(heads[j].rjust(cell), cell), "dim") for j in columns)])
    for i in rows:
        parts = [Part(f" {fit(said[i], label - 2)} ", "dim")]
        for j in columns:
            value = float(matrix[i, j])
            if (i == j and not diagonal) or (upper and j <= i):
                parts.append(Part(" " * cell))
            elif isnan(value):
                parts.append(Part(f"{UNDEFINED:>{cell}}", "dim"))
            else:
                parts += [Part(" "), Part(f"{_figure(value):>{cell - 1}}", ground(value, full))]
        lines.append(parts)
    return lines


def largest(matrix: "np.ndarray", *, diagonal: bool = False) -> float:
    """The largest size in a square matrix, of what is defined; 0 where nothing is."""
    k = len(matrix)
    sizes = [abs(float(matrix[i, j])) for i in range(k) for j in range(k) if diagonal or i != j]
    return max((size for size in sizes if not isnan(size)), default=0.0)


def rates(title: str, names: Sequence[str], rows: Mapping[str, Sequence[float | None]], cells: int) -> list[list[Part]]:
    """Figures in [0, 1], a line a run and a column an emotion, each on its ground."""
    label, whole = 24, [max(width(name) + 2, 5) for name in names]
    heads, columns = (names, whole) if sum(whole) + label <= cells else (short_names(names), [5] * len(names))
    columns = [max(size, width(head) + 1) for size, head in zip(columns, heads, strict=True)]
    label = min(max(cells - sum(columns), 12), label)
    over = (Part(fit(head.rjust(size), size), "dim") for head, size in zip(heads, columns, strict=True))
    lines = [[Part(fit(title, label), "strong"), *over]]
    for run, figures in rows.items():
        line = [Part(fit(f"  {run}", label - 1) + " ")]
        for figure, size in zip(figures, columns, strict=True):
            written = share(figure)
            line += [Part(" " * (size - len(written))), Part(written, "dim" if figure is None else ground(figure, 1.0))]
        lines.append(line)
    return lines


def _figure(value: float) -> str:
    """A figure in few cells: `.25`, `-.25`, `-1.3`; the sign of what is positive is left out."""
    if isnan(value):
        return UNDEFINED
    written = f"{value:.2f}"
    if written.lstrip("-").startswith("0."):
        return written.replace("0.", ".", 1) if float(written) else "0"
    return f"{value:.1f}"
