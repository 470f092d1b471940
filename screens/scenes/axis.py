"""The axis of alpha: a cell a step, two where there is room, half a one where there is little."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from emotui.screens.widgets.cell_width import fit
from emotui.screens.widgets.line import Part

T = TypeVar("T")

LABEL = 15
"""Cells of the names before it; the same in every chart over alpha, so that their columns stand under each other."""

TAIL = 11
"""Cells that are wanted behind it, for figures."""

_TICKS = (0.0, 0.25, 0.5, 1.0, 2.0, 5.0)
_LEVELS = "▁▂▃▄▅▆▇█"


def alpha_text(alpha: float) -> str:
    """An alpha as people write it: `0`, `.25`, `2`."""
    written = f"{alpha:.3g}"
    return written[1:] if written.startswith("0.") else written


def levels(shares: Sequence[float]) -> list[int]:
    """Eighths of a cell for shares in [0, 1]; 0 only for 0."""
    return [0 if share <= 0 else min(max(round(share * 8), 1), 8) for share in shares]


@dataclass(frozen=True, slots=True)
class Axis:
    """`label`: cells before it; `repeat`: cells a step; `together`: steps a cell."""

    alphas: tuple[float, ...]
    label: int
    repeat: int
    together: int

    @classmethod
    def of(cls, alphas: Sequence[float], cells: int, label: int = LABEL, tail: int = TAIL) -> "Axis":
        """The axis that fits into so many cells with its label and what stands behind it."""
        n, room = len(alphas), cells - label - tail
        repeat, together = (2, 1) if room >= 2 * n + 26 else (1, 1) if room >= n else (1, 2)
        return cls(tuple(alphas), label, repeat, together)

    @property
    def cells(self) -> int:
        """Cells of label and axis."""
        return self.label + -(-len(self.alphas) // self.together) * self.repeat

    def cell_of(self, step: int) -> int:
        """The cell (or pair of cells) in which a step stands."""
        return step // self.together

    def step_at(self, column: int) -> int | None:
        """The step at this column of a line; None beside the axis."""
        if not self.label <= column < self.cells:
            return None
        return min((column - self.label) // self.repeat * self.together, len(self.alphas) - 1)

    def shared(self, values: Iterable[T]) -> list[list[T]]:
        """What belongs to each step, by cell."""
        every = list(values)
        return [every[at : at + self.together] for at in range(0, len(every), self.together)]

    def curve(self, eighths: Sequence[int], step: int, kind: str) -> list[Part]:
        """One line of bars; of steps that share a cell the higher one is drawn."""
        parts = []
        for cell, sizes in enumerate(self.shared(eighths)):
            block = _LEVELS[max(sizes) - 1] if max(sizes) else " "
            parts.append(Part(block * self.repeat, f"{kind}-now" if self.cell_of(step) == cell else kind))
        return parts

    def track(self, step: int, chosen: int | None) -> list[Part]:
        """Where alpha stands (▼), and where the one that cross-validation chose (◆)."""
        marks = {} if chosen is None else {self.cell_of(chosen): "◆"}
        marks[self.cell_of(step)] = "▼"
        parts = [Part(fit("  α", self.label), "dim")]
        for cell in range(len(self.shared(self.alphas))):
            mark = marks.get(cell)
            parts.append(Part((mark or "─") + "─" * (self.repeat - 1), "key" if mark else "rest"))
        return parts

    def ticks(self) -> str:
        """The line under it: alphas in figures, each beginning at its own cell."""
        cells = [" "] * (self.cells - self.label + 4)
        for tick in _TICKS:
            text = alpha_text(tick)
            at = self.cell_of(nearest_step(self.alphas, tick)) * self.repeat
            if not "".join(cells[max(at - 1, 0) : at + len(text)]).strip():
                cells[at : at + len(text)] = text
        return fit("  alpha", self.label) + "".join(cells).rstrip()


def nearest_step(alphas: Sequence[float], alpha: float) -> int:
    """The step next to an alpha."""
    return min(range(len(alphas)), key=lambda step: abs(alphas[step] - alpha))
