"""Own evidence, bias and the pull of the other emotions as a sum: stacks on one scale, with where alpha 0 stands.

What speaks for an emotion is stacked to the right of 0, what speaks against it to the left.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from emotui.screens.widgets.cell_width import fit, width
from emotui.screens.widgets.line import Part
from emotui.screens.widgets.number_format import share
from emotui.screens.widgets.page import Lines

if TYPE_CHECKING:
    from emotui.workbench.scenes.ribbons import Row

_NAME = 15
_TERMS = (("own", "▆", "said"), ("bias", "▓", "dim"), ("others", "░", "plain"))
ALONE, NOW = "○", "●"
LEAST = 8
"""Cells below which a stack says nothing."""


@dataclass(frozen=True, slots=True)
class Scale:
    """One scale for all emotions, in nats: 0 stands in cell `zero` of `cells`, `nats` is the size of a cell."""

    cells: int
    zero: int
    nats: float

    @classmethod
    def of(cls, rows: "Sequence[Row]", cells: int) -> "Scale":
        """The scale on which every stack fits."""
        terms = [_terms(row) for row in rows]
        against = max((-sum(min(term, 0.0) for term in one) for one in terms), default=0.0)
        for_it = max((sum(max(term, 0.0) for term in one) for one in terms), default=0.0)
        whole = max(against + for_it, 0.1)
        zero = min(max(round(against / whole * (cells - 1)), 1), cells - 2)
        room = min(zero / against if against else cells, (cells - 1 - zero) / for_it if for_it else cells)
        return cls(cells, zero, 1 / room)

    def at(self, nats: float) -> int:
        """The cell in which a size stands."""
        return min(max(self.zero + round(nats / self.nats), 0), self.cells - 1)

    def stack(self, row: "Row") -> list[Part]:
        """The three terms outward from 0, where alpha 0 stands and where the sum does."""
        drawn = [(" ", "plain")] * self.cells
        drawn[self.zero] = ("│", "rest")
        for sign in (-1, 1):
            reach = 0.0
            for (_, glyph, kind), term in zip(_TERMS, _terms(row), strict=True):
                if term * sign <= 0:
                    continue
                first, last = self.at(reach), self.at(reach + term)
                for cell in range(first, last, sign):
                    drawn[cell + sign] = (glyph, kind)
                reach += term
        drawn[self.at(row.own)] = (ALONE, "strong")
        drawn[self.at(row.total)] = (NOW, "key")
        return [Part(glyph, kind) for glyph, kind in drawn]

    def ends(self) -> str:
        """The scale in figures: its ends and 0, in nats."""
        low, high = -self.zero * self.nats, (self.cells - 1 - self.zero) * self.nats
        left, right = f"{low:+.1f}", f"{high:+.1f}"
        cells = [" "] * self.cells
        cells[self.zero] = "0"
        if self.zero > len(left):
            cells[: len(left)] = left
        if self.cells - 1 - self.zero > len(right):
            cells[self.cells - len(right) :] = right
        return "".join(cells)


def _terms(row: "Row") -> tuple[float, float, float]:
    return row.own, row.bias, row.neighbours


def evidence(rows: "Sequence[Row]", cursor: int, cells: int, height: int) -> Lines:
    """All emotions where there are lines for them, else the picked one alone."""
    return _one(rows, cursor, cells) if height < len(rows) + 2 else _all(rows, cursor, cells)


def _all(rows: "Sequence[Row]", cursor: int, cells: int) -> Lines:
    figure, decimals = (7, 2) if cells >= 64 else (6, 1)
    names = ("own", "bias", "others" if figure > 6 else "other", "sum")
    room = cells - _NAME - len(names) * figure - 2
    scale = Scale.of(rows, room) if room >= LEAST else None
    head = fit("  nats", _NAME) + "".join(f"{name:>{figure}}" for name in names)
    lines = [[Part(head, "dim"), Part(f"  {scale.ends()}" if scale else "", "dim")]]
    for place, row in enumerate(rows):
        here = place == cursor
        name = fit(row.label, _NAME - 3).rstrip()
        line = [
            Part("▸ " if here else "  ", "picked" if here else "plain"),
            Part(name, "gold-line" if row.gold else "strong" if here else "plain"),
            Part(" " * (_NAME - 2 - width(name))),
            *(Part(f"{_nats(term, decimals):>{figure}}") for term in _terms(row)),
            Part(f"{_nats(row.total, decimals):>{figure}}", "strong"),
        ]
        lines.append([*line, Part("  "), *scale.stack(row)] if scale else line)
    return [*lines, _legend(cells)]


def _one(rows: "Sequence[Row]", cursor: int, cells: int) -> Lines:
    if not 0 <= cursor < len(rows):
        return []
    row = rows[cursor]
    scale = Scale.of(rows, max(cells, LEAST))
    sums: list[Part] = [Part(fit(row.label, min(width(row.label), 14)), "gold-line" if row.gold else "strong")]
    for (name, glyph, kind), term in zip(_TERMS, _terms(row), strict=True):
        sums += [Part(f"  {name} "), Part(glyph, kind), Part(f" {_nats(term, 2)}")]
    said = "yes" if row.now else "no"
    sums += [Part(f"  = {_nats(row.total, 2)}", "strong"), Part(f"  P {share(row.posterior).strip()}  {said}")]
    return [sums, scale.stack(row), [Part(scale.ends(), "dim")], _legend(cells)]


def _legend(cells: int) -> list[Part]:
    parts: list[Part] = [Part("  ")]
    for name, glyph, kind in _TERMS:
        parts += [Part(glyph, kind), Part(f" {name}  ", "dim")]
    parts += [Part(ALONE, "strong"), Part(" at alpha 0  ", "dim"), Part(NOW, "key"), Part(" now", "dim")]
    if cells >= 80:
        parts.append(Part("   right of 0: for it, left: against", "dim"))
    return parts


def _nats(value: float, decimals: int) -> str:
    """A term in nats, `–` where there is none."""
    return "–" if value == 0 else f"{value:+.{decimals}f}"
