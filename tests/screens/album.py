"""Several pictures of one session: a session takes far longer than what is drawn in it."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

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
        if kept != pilot.app.export_screenshot(title=pilot.app.title, simplify=True):
            self.changed.append(name or pilot.app.title)

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
