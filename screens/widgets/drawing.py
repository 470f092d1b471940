"""Shapes that figures are drawn as."""

from collections.abc import Iterable, Sequence
from math import ceil, floor, log10

import msgspec

from emotui.screens.widgets.line import Part

# A figure a row on one axis: dot and interval, over a shaded range and faint ticks. Shapes tell, colours repeat.

OWN, PERSON, BASELINE, OTHER = "●", "◆", "×", "◇"
"""The dots: of what was run here, of people, of baselines, and of the second of two sources."""
TOGETHER = "◈"
"""Both of two sources in one cell."""

_KIND = {OWN: "said", PERSON: "gold", BASELINE: "plain", OTHER: "gold"}
_BAND, _TICK = "░", "┊"
_APART = 7
"""Cells that a tick has at least, with what is written over it."""


class Dot(msgspec.Struct, frozen=True):
    """A figure with its 95% interval; each is None where there is none. `sign`: one of the dots."""

    value: float | None
    low: float | None = None
    high: float | None = None
    sign: str = OWN


class Scale(msgspec.Struct, frozen=True):
    """The axis: its ends, the cells it has, the values of its ticks, and the range that is shaded."""

    low: float
    high: float
    cells: int
    ticks: tuple[float, ...] = ()
    shaded: tuple[float, float] | None = None

    def place(self, value: float) -> int:
        """The cell of a value, the nearest there is."""
        return min(max(round((value - self.low) / (self.high - self.low) * (self.cells - 1)), 0), self.cells - 1)


def ends(
    dots: Iterable[Dot],
    shaded: tuple[float, float] | None,
    least: float | None,
    most: float | None,
    span: float = 0.0,
) -> tuple[float, float]:
    """The least and the greatest value that is drawn, with a little room; never the same.

    Args:
        least, most: what no value can pass; the room stops there.
        span: so far apart they are at least, so that a small difference does not look like a large one.
    """
    values = [value for dot in dots for value in (dot.value, dot.low, dot.high) if value is not None]
    values += list(shaded or ())
    low, high = min(values, default=0.0), max(values, default=1.0)
    margin = max((high - low) * 0.03, (span - high + low) / 2) or 0.05
    low, high = low - margin, high + margin
    return max(low, least) if least is not None else low, min(high, most) if most is not None else high


def scaled(low: float, high: float, cells: int, shaded: tuple[float, float] | None = None) -> Scale:
    """An axis from `low` to `high` with ticks at round values."""
    power = 10.0 ** (floor(log10(high - low)) - 1) if high > low else 1.0
    finer: list[float] = []
    values: list[float] = []
    for step in (power * one for one in (1, 2, 5, 10, 20, 50)):
        finer, values = values, [round(at * step, 10) for at in range(ceil(low / step), floor(high / step) + 1)]
        if len(values) * _APART <= cells:
            break
    if len(values) < 2 <= len(finer):
        values = [finer[0], finer[-1]]  # one tick alone is no axis
    return Scale(low, high, cells, tuple(values), shaded)


_MOST_DECIMALS = 4


def written(ticks: Sequence[float]) -> list[str]:
    """Ticks with as many decimals each as tell them apart: two of a share at least, of larger values as few as can be.

    0 alone is `0`.
    """
    least = 2 if all(abs(tick) <= 1 for tick in ticks) else 0
    exact = (n for n in range(least, _MOST_DECIMALS) if all(abs(round(tick, n) - tick) < 1e-9 for tick in ticks))
    n = next(exact, _MOST_DECIMALS)
    words = (f"{tick:.{n}f}" for tick in ticks)
    return [
        "0" if not tick else word.replace("0.", ".", 1) if word.lstrip("-").startswith("0.") else word
        for tick, word in zip(ticks, words, strict=True)
    ]


def headed(scale: Scale, written: Sequence[str]) -> str:
    """The line over an axis: what is written of each tick stands over it, where it has room."""
    line = [" "] * scale.cells
    free = 0
    for value, word in zip(scale.ticks, written, strict=True):
        at = min(max(scale.place(value) - (len(word) - 1) // 2, 0), scale.cells - len(word))
        if at >= free:
            line[at : at + len(word)] = word
            free = at + len(word) + 1
    return "".join(line)


def on_axis(dot: Dot, scale: Scale) -> list[Part]:
    """A row of the axis in exactly its cells; an arrow at an end stands for what is beyond it."""
    cells, kinds = _empty(scale)
    kind = _KIND[dot.sign]
    if dot.low is not None and dot.high is not None:
        left, right = scale.place(dot.low), scale.place(dot.high)
        cells[left : right + 1] = "─" * (right - left + 1)
        kinds[left : right + 1] = [kind] * (right - left + 1)
        cells[left], cells[right] = _sign(dot.low, scale, "├"), _sign(dot.high, scale, "┤")
    if dot.value is not None:
        at = scale.place(dot.value)
        cells[at], kinds[at] = _sign(dot.value, scale, dot.sign), kind
    return _grouped(cells, kinds)


def joined(first: float | None, second: float | None, scale: Scale, *, strong: bool) -> list[Part]:
    """Two figures on a row of the axis with a line between them; where both fall into one cell `TOGETHER` stands there.

    An arrow at an end of the axis stands for a figure beyond it.

    Args:
        strong: whether the line is drawn as what is sure.
    """
    cells, kinds = _empty(scale)
    if first is not None and second is not None:
        left, right = sorted((scale.place(first), scale.place(second)))
        cells[left : right + 1] = "━" * (right - left + 1)
        kinds[left : right + 1] = ["plain" if strong else "dim"] * (right - left + 1)
    for value, sign in ((second, OTHER), (first, OWN)):
        if value is not None:
            at = scale.place(value)
            both = cells[at] == OTHER and sign == OWN
            cells[at], kinds[at] = _sign(value, scale, TOGETHER if both else sign), _KIND[sign]
    return _grouped(cells, kinds)


def _sign(value: float, scale: Scale, sign: str) -> str:
    """The sign of a value, or the arrow to where it is."""
    return "→" if value > scale.high else "←" if value < scale.low else sign


def _empty(scale: Scale) -> tuple[list[str], list[str]]:
    """The cells of a row with ticks and shaded range alone, and how each is drawn."""
    cells = [" "] * scale.cells
    for value in scale.ticks:
        cells[scale.place(value)] = _TICK
    if scale.shaded is not None:
        for at in range(scale.place(scale.shaded[0]), scale.place(scale.shaded[1]) + 1):
            cells[at] = _BAND
    return cells, ["rest" if sign == _TICK else "dim" for sign in cells]


def _grouped(cells: Sequence[str], kinds: Sequence[str]) -> list[Part]:
    parts: list[Part] = []
    for sign, kind in zip(cells, kinds, strict=True):
        if parts and parts[-1].kind == kind:
            parts[-1] = Part(parts[-1].text + sign, kind)
        else:
            parts.append(Part(sign, kind))
    return parts


_MEANINGS = {PERSON: "annotator", BASELINE: "baseline or former gold"}
"""What the dots stand for that are not of what was run here."""


def legend(
    *, shaded: str = "", signs: Iterable[str] = (), intervals: bool = True, deviations: bool = False
) -> list[Part]:
    """What the shapes mean that are drawn.

    Args:
        shaded: of whom the range is.
        signs: the dots that are drawn.
        deviations: whether `±` stands behind a figure.
    """
    there = set(signs)
    said = ["├─●─┤ value and 95% interval" if intervals else "● value"]
    said += [f"{sign} {words}" for sign, words in _MEANINGS.items() if sign in there]
    said += [f"{_BAND} {shaded}"] if shaded else []
    said += ["± standard deviation"] if deviations else []
    return [Part("   ".join(said), "dim")]


# A figure on a ground that is the stronger the greater it is.

_GROUNDS = 4


def ground(value: float, most: float) -> str:
    """The kind of part whose ground suits a size; one for each sign."""
    level = min(round(abs(value) / most * _GROUNDS), _GROUNDS) if most else 0
    return "plain" if not level else f"{'cold' if value < 0 else 'heat'}-{level}"
