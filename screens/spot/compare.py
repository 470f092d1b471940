"""Blocks of one model, or of two with the same things beside or under each other so that differences show."""

from collections.abc import Mapping, Sequence

from emotui.screens.keymaps.words import keyed
from emotui.screens.spot.blocks import Block
from emotui.screens.widgets.line import Part, cut
from emotui.screens.widgets.page import Lines

LETTERS = "AB"
GAP = 3
WIDEST = 120
_TWO = 74
"""From so many cells on, what is narrow of one model stands in two columns."""

ASK_AGAIN = "{ask} asks again"


def shares(cells: int, models: int, stacked: bool) -> tuple[int, int]:
    """The cells that a block gets, and one that is not wide."""
    if models == 1:
        room = min(cells, WIDEST)
        return room, (room - GAP) // 2 if room >= _TWO else room
    room = cells - 2 if stacked else (cells - GAP) // 2
    return room, room


def arranged(models: Sequence[Mapping[str, Block]], cells: int, *, stacked: bool, spared: str | None) -> Lines:
    """All blocks of one or two models in lines of so many cells; of two, first what both have, side by side.

    Args:
        stacked: two models under each other, with their letters, instead of side by side.
        spared: stale blocks about this text are not greyed yet.
    """
    wide, narrow = shares(cells, len(models), stacked)
    if len(models) == 1:
        return _flowing(models[0], wide, narrow, spared)
    first, second = models
    shared = [key for key in first if key in second]
    lines: list[list[Part]] = []
    use = ""
    for key in shared:
        if first[key].use != use:
            use = first[key].use
            lines.append(used_for(use, cells))
        differs = _differ(first[key], second[key])
        drawn = [_drawn(blocks[key], wide, differs, spared) for blocks in models]
        lines += _stacked(drawn) if stacked else _beside(drawn[0], drawn[1], wide)
    alone = [
        [line for key, block in blocks.items() if key not in shared for line in _drawn(block, wide, False, spared)]
        for blocks in models
    ]
    return [*lines, *(_stacked(alone) if stacked else _beside(alone[0], alone[1], wide))]


def _stacked(drawn: Sequence[list[list[Part]]]) -> list[list[Part]]:
    """One under the other, each with its letter."""
    return [
        [Part(f"{letter} " if not at else "  ", "key"), *line]
        for letter, block in zip(LETTERS, drawn, strict=True)
        for at, line in enumerate(block)
    ]


def _flowing(blocks: Mapping[str, Block], wide: int, narrow: int, spared: str | None) -> Lines:
    """One model's blocks in their order, two that are not wide beside each other."""
    lines: list[list[Part]] = []
    waiting: list[list[Part]] = []
    use = ""
    for block in blocks.values():
        if block.use != use:
            use = block.use
            lines += [*waiting, used_for(use, wide)]
            waiting = []
        if block.wide or narrow == wide:
            lines += [*waiting, *_drawn(block, wide, False, spared)]
            waiting = []
        elif waiting:
            lines += _beside(waiting, _drawn(block, narrow, False, spared), narrow)
            waiting = []
        else:
            waiting = _drawn(block, narrow, False, spared)
    return [*lines, *waiting]


def used_for(use: str, cells: int) -> list[Part]:
    """The heading over blocks of one use."""
    return [Part(f"─ {use} ", "dim"), Part("─" * max(cells - len(use) - 3, 0), "rest")]


def _differ(one: Block, other: Block) -> bool:
    return bool(one.top and other.top) and not one.stale and not other.stale and one.top != other.top


def _drawn(block: Block, cells: int, differs: bool, spared: str | None) -> list[list[Part]]:
    left = [Part(block.title, "strong")]
    if differs:
        left.append(Part("  ≠", "mark"))
    if block.note:
        left.append(Part(f"  {block.note}", "dim"))
    if block.slow:
        left.append(Part(f"  {keyed(ASK_AGAIN)}", "key", "do('ask')"))
    right = f" {block.seconds:.2f} s" if block.seconds is not None else ""
    used = cells - len(right)
    lines = [[*cut(left, used), Part(right, "dim")], *(list(line) for line in block.lines)]
    if block.stale and block.of != spared:
        return [[Part(part.text, "key" if part.press else "stale", part.press) for part in line] for line in lines]
    return lines


def _beside(left: list[list[Part]], right: list[list[Part]], cells: int) -> list[list[Part]]:
    lines = []
    for at in range(max(len(left), len(right))):
        line = left[at] if at < len(left) else []
        lines.append([*cut(line, cells), Part(" │ ", "rest"), *(right[at] if at < len(right) else [])])
    return lines
