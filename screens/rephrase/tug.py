"""Gold against its best rival as a rope over the full width, with a sparkline by keystroke, and the verdict in words.

The knot stands where their two probabilities divide the rope: left of the middle the rival is ahead, which is what
decides. Whoever is ahead is solid, so that the rope turns over on a win.
"""

from collections.abc import Mapping, Sequence

from emotui.screens.widgets.cell_width import fit, width
from emotui.screens.widgets.line import Part, fitted
from emotui.screens.widgets.number_format import share
from emotui.screens.widgets.page import Lines

AHEAD, BEHIND, MIDDLE = "█", "░", "┃"
_LEVELS = "▁▂▃▄▅▆▇█"
_NAME = 16
_WIDE, _SPARK, _SHORT = 80, 16, 8
NOTHING = "an empty text has no prediction: write one, or skip the text"


def rival(probs: Mapping[str, float], gold: str) -> str | None:
    """The label with the greatest probability beside gold."""
    others = [label for label in probs if label != gold]
    return max(others, key=lambda label: probs[label]) if others else None


def lines(probs: Mapping[str, float], gold: str, was: float | None, history: Sequence[float], cells: int) -> Lines:
    """The rope and, under it, what it says.

    Args:
        was: the probability of gold for the original.
        history: those of gold so far, a figure a keystroke that was answered.
    """
    other = rival(probs, gold)
    if other is None:
        return []
    for_gold, against = probs.get(gold, 0.0), probs[other]
    wins = against > for_gold
    left = Part(fit(gold, min(width(gold), _NAME)), "gold-line")
    right = Part(fit(other, min(width(other), _NAME)), "strong" if wins else "plain")
    figures = [
        Part(f"  {share(for_gold).strip()}", "plain" if wins else "strong"),
        Part(" : "),
        Part(share(against).strip(), "strong" if wins else "plain"),
    ]
    room = _SPARK if cells >= _WIDE else _SHORT
    spark = Part(f"  {sparkline(history, room)}", "gold")
    used = sum(width(part.text) for part in (left, right, *figures, spark)) + 2
    rope = _rope(for_gold, against, max(cells - used, 9), wins=wins)
    return [[left, Part(" "), *rope, Part(" "), right, *figures, spark], verdict(probs, gold, was, cells)]


def verdict(probs: Mapping[str, float], gold: str, was: float | None, cells: int) -> Sequence[Part]:
    """Who is ahead, and by how much, in words."""
    other = rival(probs, gold)
    if other is None:
        return []
    for_gold, against = probs.get(gold, 0.0), probs[other]
    before = f", was {share(was).strip()}" if was is not None else ""
    said = f"{gold} {share(for_gold).strip()}{before}; "
    if against > for_gold:
        return fitted([Part("✓ ", "said"), Part(said, "plain"), Part(f"{other} wins", "strong")], cells)
    behind = f"{other} is {share(for_gold - against).strip()} behind"
    return fitted([Part("  "), Part(said, "plain"), Part(behind, "dim")], cells)


def sparkline(history: Sequence[float], cells: int) -> str:
    """The last figures in [0, 1], an eighth of the height each, in so many cells."""
    last = list(history)[-cells:]
    return "".join(_LEVELS[min(int(value * 8), 7)] for value in last).ljust(cells)


def _rope(for_gold: float, against: float, cells: int, *, wins: bool) -> list[Part]:
    """The cells of gold, then those of the rival, with the middle marked."""
    whole = for_gold + against
    knot = round(cells * for_gold / whole) if whole else cells // 2
    middle = cells // 2
    # The one who is ahead has the middle, however little they differ.
    knot = min(knot, middle) if wins else max(knot, middle + 1)
    drawn = [AHEAD if (at < knot) is not wins else BEHIND for at in range(cells)]
    drawn[middle] = MIDDLE
    parts = []
    for at, glyph in enumerate(drawn):
        kind = "strong" if at == middle else "gold" if at < knot else "said"
        parts.append(Part(glyph, kind))
    return parts
