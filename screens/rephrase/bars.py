"""The classifier's probabilities as bars that follow what is typed: gold, top and where gold began are marked."""

from collections.abc import Mapping, Sequence

from emotui.screens.widgets.cell_width import fit
from emotui.screens.widgets.line import Part
from emotui.screens.widgets.number_format import count, share
from emotui.screens.widgets.page import Lines, Page

FEW = 10
"""Up to so many labels stand in an order of their own, so that a bar grows in its place; more are sorted by size."""

_NAME = 15
_WAS = " was .00"
_GOLD = " gold"
_LEAST_BAR, _FAIR_BAR, _MOST_BAR = 5, 12, 24
"""Cells; below the one in the middle the bar comes before the word for gold."""

_GAP = 2
_EIGHTHS = ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")


class Bars(Page):
    """A line a label, in one column or, where there are more labels than lines, in two."""

    DEFAULT_CSS = "Bars { height: auto; }"


def order(probs: Mapping[str, float], gold: str, room: int) -> tuple[list[str], int]:
    """Which labels are shown, gold first, and how many are not: with many labels the most probable are."""
    others = [label for label in probs if label != gold]
    if len(probs) > FEW:
        others.sort(key=lambda label: -probs[label])
    labels = [gold, *others]
    if len(labels) <= room:
        return labels, 0
    kept = labels[: max(room - 1, 1)]
    return kept, len(labels) - len(kept)


def lines(probs: Mapping[str, float], gold: str, was: float | None, cells: int, room: int) -> Lines:
    """The bars in so many columns and lines.

    Args:
        probs: the classifier's probability of each of its labels; the largest is marked with ▸.
        gold: its line comes first and says `gold` where that fits; it may be missing from `probs`, and is then –.
        was: the probability of gold for the original; a tick stands in the bar there.
    """
    if not probs:
        return []
    two = len(probs) > room and cells >= 2 * (2 + _NAME + _LEAST_BAR + 5 + len(_WAS) + len(_GOLD)) + _GAP
    labels, hidden = order(probs, gold, 2 * room if two else room)
    top = max(probs, key=lambda label: probs[label])
    width = (cells - _GAP) // 2 if two else cells
    drawn = [
        _bar(label, probs.get(label), label == top, was if label == gold else None, gold, width) for label in labels
    ]
    if hidden:
        rest = sum(probs.values()) - sum(probs.get(label, 0.0) for label in labels)
        drawn.append([Part(fit(f"  {count(hidden)} others, together {share(rest).strip()}", width), "dim")])
    if not two:
        return drawn
    half = -(-len(drawn) // 2)
    right = [*drawn[half:], *([[]] * (2 * half - len(drawn)))]
    return [[*one, Part(" " * _GAP), *other] for one, other in zip(drawn[:half], right, strict=True)]


def _bar(label: str, value: float | None, top: bool, was: float | None, gold: str, width: int) -> list[Part]:
    is_gold = label == gold
    room = width - 2 - _NAME - 5 - len(_WAS)
    size = min(max(room - len(_GOLD), min(room, _FAIR_BAR), _LEAST_BAR), _MOST_BAR)
    name = [Part("▸ " if top else "  ", "said" if top else "plain")]
    drawn = fit(label, _NAME - 1)
    if is_gold:
        word = drawn.rstrip()
        name += [Part(word, "gold-line"), Part(" " * (_NAME - len(word)))]
    else:
        name.append(Part(f"{drawn} ", "strong" if top else "plain"))
    parts = [*name, *_track(value, was, size, "gold" if is_gold else "said"), Part(f" {share(value)}")]
    if is_gold:
        tail = f" was {share(was).strip()}" if was is not None else ""
        parts.append(Part(fit(tail, len(_WAS)), "dim"))
    used = sum(len(part.text) for part in parts)
    if is_gold and used + len(_GOLD) <= width:  # else the underline says it
        parts.append(Part(_GOLD, "gold"))
        used += len(_GOLD)
    return [*parts, Part(" " * max(width - used, 0))]


def _track(value: float | None, was: float | None, size: int, kind: str) -> Sequence[Part]:
    """A bar of `size` cells, full up to `value` in eighths of a cell, with a tick where it was."""
    eighths = 0 if value is None else round(min(max(value, 0.0), 1.0) * size * 8)
    full, part = divmod(eighths, 8)
    solid = "█" * full + _EIGHTHS[part]
    if was is None:
        return [Part(solid, kind), Part("·" * (size - len(solid)), "rest")]
    tick = min(int(min(max(was, 0.0), 1.0) * size), size - 1)
    left, right = solid[:tick], solid[tick + 1 :]
    return [
        Part(left, kind),
        Part("·" * (tick - len(left)), "rest"),
        Part("│", "strong"),
        Part(right, kind),
        Part("·" * (size - tick - 1 - len(right)), "rest"),
    ]
