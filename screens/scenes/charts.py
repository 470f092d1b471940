"""Charts of the Scenes place as lines of parts: the sweep over alpha, and numbers on graded grounds."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import isnan
from typing import TYPE_CHECKING

from emotui.screens.keymaps import keyed
from emotui.screens.scenes.axis import LABEL, Axis, alpha_text, nearest_step
from emotui.screens.widgets.cell_width import fit
from emotui.screens.widgets.line import Part, cut, taken
from emotui.screens.widgets.number_format import UNDEFINED, share
from emotui.screens.widgets.page import Lines

if TYPE_CHECKING:
    import numpy as np

    from emotui.workbench.scenes.decoding import Chosen, Figures, Sweep

_LEVELS = "▁▂▃▄▅▆▇█"
_GROUNDS = 4

CURVES: tuple[tuple[str, "Callable[[Figures], float]"], ...] = (
    ("Macro-F1", lambda figures: figures.macro_f1),
    ("Acc_v", lambda figures: figures.vector_accuracy),
    ("Hamming↓", lambda figures: figures.hamming_loss),
)


def sweep(
    found: "Sweep", chosen: "Chosen | None", here: int, axis: Axis, rows: int, *, in_sample: bool
) -> list[list[Part]]:
    """A curve a figure over the alphas, each scaled to its own range, on so many lines each, over their axis."""
    series = found.in_sample if in_sample else found.nested_cv
    nested_cv = None if chosen is None else nearest_step(found.alphas, chosen.choice.alpha)
    lines: list[list[Part]] = [axis.track(here, nested_cv)]
    for name, figure in CURVES:
        lines += _curve(name, [figure(one) for one in series], here, rows, axis)
    return [*lines, [Part(axis.ticks(), "dim")]]


def choice(chosen: "Chosen | None", with_prior: "Chosen | None", cells: int, *, in_sample: bool) -> Lines:
    """What nested cross-validation chose, with the honest figure beside the model alone; and the leaked one.

    `with_prior`: where prior and temperature are chosen inside the folds too.
    """
    if chosen is None:
        return [[Part("choosing alpha inside folds…", "dim")]]
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
        [Part(f"  {folds}", "dim")],
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
                Part(f"prior chosen too: {best.prior} T {best.temperature:.2f} α {alpha_text(best.alpha)}", "strong"),
            ],
            [Part("  honest macro-F1 "), Part(share(with_prior.nested_cv.macro_f1).strip(), "strong")],
            [Part(f"  {said}", "dim")],
        ),
    ]


def _counted(choices: Sequence[str]) -> str:
    """What the folds chose, each choice once with how often it was made."""
    if len(set(choices)) == 1:
        return f"every fold chose {choices[0]}"
    often = Counter(choices).most_common()
    return "folds chose " + ", ".join(f"{choice} ×{n}" if n > 1 else choice for choice, n in often)


def _fitted(cells: int, *groups: Sequence[Part]) -> list[list[Part]]:
    """Groups of parts on as few lines as hold them; a group is not broken."""
    lines: list[list[Part]] = [[]]
    used = 0
    for group in groups:
        size = sum(len(part.text) for part in group)
        if used and used + size > cells:
            lines.append([])
            used = 0
            indented = [Part("  "), *group]
            size += 2
            group = indented if not group or not group[0].text.startswith(" ") else group
        lines[-1] += group
        used += size
    return [cut(line, cells) if taken(line) > cells else line for line in lines if line]


def _curve(name: str, values: list[float], here: int, rows: int, axis: Axis) -> list[list[Part]]:
    low, high = min(values), max(values)
    span = high - low
    sizes = [round((value - low) / span * (rows * 8 - 1)) + 1 if span else 1 for value in values]
    said = [f"  {name:<8} {share(values[here]).strip()}"]
    if rows > 1:
        said = [f"  {name}", f"  now {share(values[here]).strip()}"]
    if rows > 2:
        said = [*said, *[""] * (rows - 3), f"  {share(low).strip()}–{share(high).strip()}"]
    if axis.label < LABEL:
        said = [words.removeprefix("  ") for words in said]
    lines = []
    for row in range(rows):
        floor = (rows - 1 - row) * 8
        parts = [Part(fit(said[row], axis.label), "strong" if row == 0 else "dim")]
        for cell, group in enumerate(axis.shared(sizes)):
            filled = min(max(max(group) - floor, 0), 8)
            block = _LEVELS[filled - 1] if filled else " "
            parts.append(Part(block * axis.repeat, "said-now" if cell == axis.cell_of(here) else "said"))
        lines.append(parts)
    return lines


def figure_cells(matrices: Sequence["np.ndarray"]) -> int:
    """Cells that a figure of these matrices takes, with the gap before it."""
    figures = (_figure(value) for matrix in matrices for value in matrix.ravel().tolist())
    return 1 + max((len(figure) for figure in figures), default=3)


def heatmap(
    title: str,
    names: Sequence[str],
    matrix: "np.ndarray",
    *,
    cell: int,
    diagonal: bool = True,
    most: float | None = None,
    upper: bool = False,
) -> list[list[Part]]:
    """A square of figures, each on a ground that is the stronger the greater it is.

    Args:
        matrix: (k, k).
        cell: how many cells a figure takes.
        diagonal: whether the diagonal means something.
        most: what the strongest ground stands for; None: the largest size in the matrix.
        upper: only what is above the diagonal, of a matrix that is symmetric.
    """
    k = len(names)
    full = most if most is not None else largest(matrix, diagonal=diagonal)
    columns, rows = (range(1, k), range(k - 1)) if upper else (range(k), range(k))
    lines = [[Part(fit(title, 4 + len(columns) * cell), "strong")]]
    lines.append([Part(" " * 4), *(Part(f"{short(names[j]):>{cell}}", "dim") for j in columns)])
    for i in rows:
        parts = [Part(f" {short(names[i])} ", "dim")]
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


def ground(value: float, most: float) -> str:
    """The kind of part whose ground suits a size; one for each sign."""
    level = min(round(abs(value) / most * _GROUNDS), _GROUNDS) if most else 0
    return "plain" if not level else f"{'cold' if value < 0 else 'heat'}-{level}"


def largest(matrix: "np.ndarray", *, diagonal: bool = False) -> float:
    """The largest size in a square matrix, of what is defined; 0 where nothing is."""
    k = len(matrix)
    sizes = [abs(float(matrix[i, j])) for i in range(k) for j in range(k) if diagonal or i != j]
    return max((size for size in sizes if not isnan(size)), default=0.0)


def rates(title: str, names: Sequence[str], rows: Mapping[str, Sequence[float | None]], cells: int) -> list[list[Part]]:
    """Figures in [0, 1], a line a run and a column an emotion, each on its ground."""
    label = min(max(cells - 5 * len(names), 12), 24)
    lines = [[Part(fit(title, label), "strong"), *(Part(f"{short(name):>5}", "dim") for name in names)]]
    for run, figures in rows.items():
        line = [Part(fit(f"  {run}", label - 1) + " ")]
        for figure in figures:
            line += [Part(" "), Part(share(figure), "dim" if figure is None else ground(figure, 1.0))]
        lines.append(line)
    return lines


def short(name: str) -> str:
    """A label in two letters, as the matrices name it."""
    return {"anticipation": "ac"}.get(name, name[:2])


def _figure(value: float) -> str:
    """A figure in few cells: `.25`, `-.25`, `-1.3`; the sign of what is positive is left out."""
    if isnan(value):
        return UNDEFINED
    written = f"{value:.2f}"
    if written.lstrip("-").startswith("0."):
        return written.replace("0.", ".", 1) if float(written) else "0"
    return f"{value:.1f}"
