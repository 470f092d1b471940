"""How much each word of what is typed carries the gold label, as shades of the editor."""

from typing import TYPE_CHECKING

from emotui.records import Span

if TYPE_CHECKING:
    from emotui.workbench.rephrase.views import CarryingWords

SHADES = 3
LEAST = 0.05
"""The share of what the strongest word carries below which a word is not shaded."""
STALE = "editor--carried"
"""Words that carried before something was typed; in grey until it is known whether they still do."""


def carried(words: "CarryingWords | None", text: str) -> dict[str, list[Span]]:
    """The words that make gold likelier, by shade: `editor--carries-1` to `-3`, each a third of the greatest."""
    found: dict[str, list[Span]] = {}
    if words is None:
        return found
    if words.text != text:
        stale = _still_there(words, text)
        return {STALE: stale} if stale else {}
    most = max((drop for _, _, drop in words.gold), default=0.0)
    for start, end, drop in words.gold:
        if drop > most * LEAST:
            shade = min(int(drop / most * SHADES) + 1, SHADES)
            found.setdefault(f"editor--carries-{shade}", []).append((start, end))
    return found


def _still_there(words: "CarryingWords", text: str) -> list[Span]:
    """Where the words that carried stand now: those before and behind what has changed."""
    before = _alike(words.text, text)
    shorter = min(len(words.text), len(text))
    behind = min(_alike(words.text[::-1], text[::-1]), shorter - before)
    moved = len(text) - len(words.text)
    spans = []
    for start, end, drop in words.gold:
        if drop > 0 and end <= before:
            spans.append((start, end))
        elif drop > 0 and start >= len(words.text) - behind:
            spans.append((start + moved, end + moved))
    return spans


def _alike(one: str, other: str) -> int:
    """With how many characters both begin."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
