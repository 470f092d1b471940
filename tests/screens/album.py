"""Several pictures of one session: a session takes far longer than what is drawn in it."""

import re
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from difflib import unified_diff
from html import unescape

from pytest_textual_snapshot import SVGImageExtension
from syrupy.assertion import SnapshotAssertion
from textual.pilot import Pilot
from textual.widgets import Input

from emotui.screens.app import EmotuiApp
from tests.screens.driving import drawn, press, settle

SIZES = ((80, 24), (160, 45))


class Album:
    """The pictures of one test, each compared with the one that was kept under its name."""

    def __init__(self, snapshot: SnapshotAssertion) -> None:
        self._kept = snapshot.use_extension(SVGImageExtension)
        self.changed: list[str] = []

    async def take(self, pilot: "Pilot[None]", name: str = "") -> None:
        """Take a picture of what is shown now, without a cursor that blinks. The one picture of a test has no name."""
        for field in pilot.app.screen.query(Input):
            field.cursor_blink = False
        await drawn(pilot)
        kept = self._kept(name=name) if name else self._kept
        picture = pilot.app.export_screenshot(title=pilot.app.title, simplify=True)
        if kept != picture:
            before = kept.executions[kept.num_executions - 1].recalled_data
            self.changed += [f"{name or pilot.app.title}:", *(changes(str(before), picture) or ["its styles alone"])]

    async def take_at_sizes(self, pilot: "Pilot[None]", name: str, sizes: Iterable[tuple[int, int]] = SIZES) -> None:
        """Take a picture at each size; the terminal has the first one before and after."""
        first, *others = sizes
        await self.take(pilot, f"{name}-{first}" if name else str(first))
        for size in others:
            await resize(pilot, size)
            await self.take(pilot, f"{name}-{size}" if name else str(size))
        await resize(pilot, first)

    async def walk(self, pilot: "Pilot[None]", steps: "dict[str, tuple[str, ...]]", *, sizes: bool = True) -> None:
        """Press the keys of each step and take a picture of it; a step without a name is only gone."""
        for name, keys in steps.items():
            await press(pilot, *keys)
            if name.startswith("("):
                continue
            await (self.take_at_sizes(pilot, name) if sizes else self.take(pilot, name))


_CELL = 12.2
"""Of a picture's width, a cell."""


def changes(before: str, now: str) -> list[str]:
    """The lines of the terminal in which two pictures differ in their words, old ones after `-`, new ones after `+`."""
    told = unified_diff(_lines(before), _lines(now), n=0, lineterm="")
    return [line for line in told if not line.startswith(("---", "+++", "@@"))]


def _lines(picture: str) -> list[str]:
    rows: dict[float, list[tuple[float, str]]] = {}
    for left, top, words in re.findall(r'<text[^>]*x="([\d.]+)" y="([\d.]+)"[^>]*>([^<]*)</text>', picture):
        rows.setdefault(float(top), []).append((float(left), unescape(words).replace("\xa0", " ")))
    lines = []
    for _, parts in sorted(rows.items()):
        line = ""
        for left, words in sorted(parts):
            line = line.ljust(round(left / _CELL)) + words
        lines.append(line.rstrip())
    return lines


async def resize(pilot: "Pilot[None]", size: tuple[int, int]) -> None:
    """Give the terminal another size and wait until all is laid out anew."""
    await pilot.resize_terminal(*size)
    await settle(pilot)


@asynccontextmanager
async def at_rest(app: EmotuiApp, size: tuple[int, int] = SIZES[0]) -> "AsyncIterator[Pilot[None]]":
    """The workbench at rest, as a person sees it."""
    async with app.run_test(size=size, notifications=True) as pilot:
        await settle(pilot)
        yield pilot
