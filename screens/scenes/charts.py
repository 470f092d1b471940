"""Charts of the Scenes place as lines of parts: the slider, the sweep over alpha, and heatmaps that need no colour."""

from collections.abc import Callable, Mapping, Sequence
from math import isnan
from typing import TYPE_CHECKING

from emotui.screens.widgets.cell_width import fit
from emotui.screens.widgets.charts import shade
from emotui.screens.widgets.line import Part
from emotui.screens.widgets.number_format import UNDEFINED, share
from emotui.screens.widgets.page import Lines

if TYPE_CHECKING:
    import numpy as np

    from emotui.workbench.scenes.decoding import Chosen, Figures, Sweep

_LEVELS = "▁▂▃▄▅▆▇█"
_LABEL = 21

CURVES: tuple[tuple[str, "Callable[[Figures], float]"], ...] = (
    ("macro-F1", lambda figures: figures.macro_f1),
    ("vectors right", lambda figures: figures.vector_accuracy),
    ("Hamming ↓", lambda figures: figures.hamming_loss),
)


def alpha_text(alpha: float) -> str:
    """An alpha as people write it: `0`, `.25`, `2`."""
    written = f"{alpha:.3g}"
    return written[1:] if written.startswith("0.") else written


def track(alphas: Sequence[float], here: int, cells: int) -> list[Part]:
    """The slider in so many cells: where alpha stands among its steps."""
    room = max(cells - 2, 3)
    at = round(here * (room - 1) / max(len(alphas) - 1, 1))
    return [
        Part("├", "dim"),
        Part("─" * at, "said"),
        Part("●", "strong"),
        Part("─" * (room - 1 - at), "rest"),
        Part("┤", "dim"),
    ]


def sweep(
    found: "Sweep",
    chosen: "Chosen | None",
    with_prior: "Chosen | None",
    here: int,
    cells: int,
    height: int,
    *,
    in_sample: bool,
) -> Lines:
    """A curve a figure over the slider's steps, each scaled to its own range, and under them where one stands.

    `with_prior`: where prior and temperature are chosen inside the folds too.
    """
    series = found.in_sample if in_sample else found.nested_cv
    step = max(1, min(2, (cells - _LABEL) // len(found.alphas)))
    rows = max(1, min(5, (height - 4) // len(CURVES)))
    lines: list[list[Part]] = []
    for name, figure in CURVES:
        lines += _curve(name, [figure(one) for one in series], here, rows, step)
    pointers = [" "] * len(found.alphas)
    nested_cv = None if chosen is None else _nearest(found.alphas, chosen.choice.alpha)
    if nested_cv is not None:
        pointers[nested_cv] = "◆"
    pointers[here] = "▲" if here != nested_cv else "◈"
    lines.append([Part(" " * _LABEL), *(Part(mark + " " * (step - 1), "key") for mark in pointers)])
    lines.append([Part(fit("alpha", _LABEL), "dim"), Part(_axis(found.alphas, step), "dim")])
    return [*lines, *_choice(chosen, in_sample=in_sample), *_prior_choice(with_prior)]


def _prior_choice(chosen: "Chosen | None") -> list[list[Part]]:
    if chosen is None:
        return []
    folds = ", ".join(f"{one.prior} {alpha_text(one.alpha)}" for one in chosen.by_fold)
    choice = chosen.choice
    return [
        [
            Part("◇ ", "key"),
            Part(f"prior chosen too: {choice.prior} T {choice.temperature:.2f} α {alpha_text(choice.alpha)}", "strong"),
            Part("   honest macro-F1 "),
            Part(share(chosen.nested_cv.macro_f1).strip(), "strong"),
        ],
        [Part(f"  the folds chose {folds}", "dim")],
    ]


def _choice(chosen: "Chosen | None", *, in_sample: bool) -> list[list[Part]]:
    if chosen is None:
        return [[Part("choosing alpha inside folds…", "dim")]]
    folds = " ".join(alpha_text(one.alpha) for one in chosen.by_fold)
    lines = [
        [
            Part("◆ ", "key"),
            Part(f"chosen by cross-validation: α {alpha_text(chosen.choice.alpha)}", "strong"),
            Part(f"   the folds chose {folds}", "dim"),
        ],
        [
            Part("  honest macro-F1 "),
            Part(share(chosen.nested_cv.macro_f1).strip(), "strong"),
            Part(f"   model alone {share(chosen.alone.macro_f1).strip()}"),
            Part("   L also shows the leaked figure" if not in_sample else "", "dim"),
        ],
    ]
    if in_sample:
        at = chosen.in_sample_choice.alpha
        lines.append(
            [
                Part("  leaked ", "mark"),
                Part(share(chosen.in_sample.macro_f1).strip(), "mark"),
                Part(f" at α {alpha_text(at)}: fitted, chosen and scored on the same scenarios"),
            ]
        )
    return lines


def _curve(name: str, values: list[float], here: int, rows: int, step: int) -> list[list[Part]]:
    low, high = min(values), max(values)
    span = high - low
    sizes = [round((value - low) / span * (rows * 8 - 1)) + 1 if span else 1 for value in values]
    lines = []
    for row in range(rows):
        floor = (rows - 1 - row) * 8
        said = ""
        if row == 0:
            said = f"{name:<14}{share(high if rows > 1 else values[here]).strip():>5}"
        elif row == rows - 1:
            said = f"{share(low).strip():>19}"
        elif row == 1:
            said = f"  now {share(values[here]).strip()}"
        parts = [Part(fit(said, _LABEL), "strong" if row == 0 else "dim")]
        for place, size in enumerate(sizes):
            filled = min(max(size - floor, 0), 8)
            block = _LEVELS[filled - 1] * step if filled else " " * step
            parts.append(Part(block, "key" if place == here else "said"))
        lines.append(parts)
    return lines


def _axis(alphas: Sequence[float], step: int) -> str:
    cells = [" "] * (len(alphas) * step + 4)
    for tick in (0.0, 0.25, 0.5, 1.0, 2.0, 5.0):
        place = _nearest(alphas, tick) * step
        cells[place : place + len(alpha_text(tick))] = alpha_text(tick)
    return "".join(cells).rstrip()


def _nearest(alphas: Sequence[float], alpha: float) -> int:
    return min(range(len(alphas)), key=lambda step: abs(alphas[step] - alpha))


def heatmap(
    title: str,
    names: Sequence[str],
    matrix: "np.ndarray",
    *,
    values: bool,
    diagonal: bool = True,
    most: float | None = None,
) -> list[list[Part]]:
    """A square of shades, its sign before each; with `values` the figures instead.

    Args:
        matrix: (k, k).
        diagonal: whether the diagonal means something.
        most: what a full block stands for; None: the largest size in the matrix.
    """
    k = len(names)
    full = most if most is not None else largest(matrix, diagonal=diagonal)
    cell = 6 if values else 3
    lines = [[Part(fit(title, 4 + k * cell), "strong")]]
    lines.append([Part(" " * 4), *(Part(f"{short(name):>{cell}}", "dim") for name in names)])
    for i, name in enumerate(names):
        parts = [Part(f" {short(name)} ", "dim")]
        for j in range(k):
            value = float(matrix[i, j])
            kind = "mark" if value < 0 else "said"
            if isnan(value):
                parts.append(Part(f"{UNDEFINED:>{cell}}", "rest"))
            elif i == j and not diagonal:
                parts.append(Part(f"{'·':>{cell}}", "rest"))
            elif values:
                parts.append(Part(f"{_signed(value):>{cell}}", kind))
            else:
                glyph = shade(value, full)
                parts.append(Part(f"{'-' if value < 0 and glyph != ' ' else ' '}{glyph * 2}", kind))
        lines.append(parts)
    return lines


def largest(matrix: "np.ndarray", *, diagonal: bool = False) -> float:
    """The largest size in a square matrix, of what is defined; 0 where nothing is."""
    k = len(matrix)
    sizes = [abs(float(matrix[i, j])) for i in range(k) for j in range(k) if diagonal or i != j]
    return max((size for size in sizes if not isnan(size)), default=0.0)


def rates(title: str, names: Sequence[str], rows: Mapping[str, Sequence[float | None]]) -> list[list[Part]]:
    """Figures in [0, 1], a line a run and a column an emotion, each with its shade."""
    lines = [[Part(fit(title, 24), "strong"), *(Part(f"  {short(name)}   ", "dim") for name in names)]]
    for run, figures in rows.items():
        line = [Part(fit(f"  {run}", 23) + " ")]
        for figure in figures:
            line += [Part(share(figure)), Part(shade(figure or 0.0, 1.0) * 2 + " ", "said")]
        lines.append(line)
    return lines


def short(name: str) -> str:
    """A label in two letters, as the matrices name it."""
    return {"anticipation": "ac"}.get(name, name[:2])


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("0.", ".") if abs(value) < 1 else f"{value:+.1f}"
