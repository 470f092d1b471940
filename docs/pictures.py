"""Make all pictures of README and docs: the workbench itself on its sample data, with what its own model says.

Usage: python docs/pictures.py [--to FOLDER] [--only NAME,...]

Each place is an SVG; `minute.gif` and `minute.cast` (for `asciinema play`) show a minute of work.
"""

import argparse
import asyncio
import json
import os
import tempfile
from pathlib import Path

os.environ["COLORTERM"] = "truecolor"

from drawing import Lines, cast, gif, svg
from rich.segment import Segment
from textual.pilot import Pilot

from emotui.screens.app import EmotuiApp
from emotui.screens.frame import Frame
from emotui.workbench.workspace import Workspace

SIZE = (140, 36)
SMALL = (100, 30)

TEXT = "I rang the bell twice. Nobody came, and I was so relieved that I sat down on the step and laughed."

PICTURES: dict[str, tuple[str, ...]] = {
    "browse": ("1", "n", "n"),
    "annotate": ("2", "v", "l", "l", "H", "i"),
    "annotate_adjudicate": ("escape", "f4"),
    "rephrase": ("escape", "3", "i"),
    "scenes": ("escape", "4", "n"),
    "masked": ("5", "j", "j"),
    "generate": ("6", "j"),
    "results": ("1", "7"),
    "models": ("m",),
    "spot": ("escape", "8", *TEXT),
    "compare": ("escape", "9"),
}
"""By file: what is pressed after the picture before it."""

MINUTE: tuple[tuple[float, tuple[str, ...]], ...] = (
    (3.0, ("1",)),
    *((1.2, ("j",)),) * 3,
    *((2.0, ("n",)),) * 3,
    (3.0, ("a",)),
    (1.0, ("a",)),
    (3.0, ("f",)),
    (1.0, ("escape",)),
    (1.5, ("4",)),
    *((0.7, ("right",)),) * 8,
    (2.5, ("n",)),
    (3.0, ("v",)),
    (3.0, ("5",)),
    (3.0, ("6",)),
    (4.0, ("1", "7")),
    (3.0, ("9",)),
    (2.5, ("8",)),
    (0.4, ("i",)),
    *((0.6, tuple(TEXT[at : at + 6])) for at in range(0, 60, 6)),
    (3.0, ("escape",)),
    (2.0, ("1",)),
)
"""Seconds that a frame is shown, and what is pressed before it."""


async def rest(pilot: "Pilot[None]") -> None:
    """Wait until every question has its answer and all is drawn."""
    app = pilot.app
    assert isinstance(app, EmotuiApp)
    frame, quiet = app.frame, 0
    while quiet < 3:
        await pilot.pause(0.05)
        working = [worker for worker in app.workers if not worker.is_finished]
        busy = working or (isinstance(frame, Frame) and (frame.busy or frame.session.job is not None))
        quiet = 0 if busy else quiet + 1


def seen(pilot: "Pilot[None]") -> Lines:
    """The cells of the screen, with what lies under a sheet."""
    app = pilot.app
    compositor, under = app.screen._compositor, app._background_screens  # noqa: SLF001
    update = compositor.render_update(full=True, screen_stack=under)
    return [[Segment(text, style) for strip in line for text, style, _ in strip] for line in update.strips]  # type: ignore[union-attr]


async def draw(file: Path, to: Path, only: set[str]) -> None:
    """Draw all that is asked for."""
    workspace = Workspace.open(file)
    workspace.set_setting("theme", "dark")
    app = EmotuiApp(lambda: workspace, poll=None, annotator="you")
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        await rest(pilot)
        for name, keys in PICTURES.items():
            for key in keys:
                await pilot.press(_named(key))
                if key.isdigit():
                    await rest(pilot)  # the next key is for that place
            await rest(pilot)
            app.clear_notifications()
            await rest(pilot)
            if not only or name in only:
                (to / f"{name}.svg").write_text(svg(seen(pilot), f"emotui: {name}"), encoding="utf-8")
                print(to / f"{name}.svg")
        if not only or "minute" in only:
            await pilot.resize_terminal(*SMALL)
            await minute(pilot, to)
    workspace.close()


async def minute(pilot: "Pilot[None]", to: Path) -> None:
    """Film a minute."""
    frames, lasting = [], []
    for seconds, keys in MINUTE:
        for key in keys:
            await pilot.press(_named(key))
            if key.isdigit():
                await rest(pilot)
        await rest(pilot)
        frames.append(seen(pilot))
        lasting.append(seconds)
    gif(frames, lasting, to / "minute.gif")
    lines = [json.dumps({"version": 2, "width": SMALL[0], "height": SMALL[1], "title": "emotui"})]
    at = 0.0
    for before, now, seconds in zip([None, *frames], frames, lasting, strict=False):
        lines.append(json.dumps([round(at, 3), "o", cast(before, now)]))
        at += seconds
    lines.append(json.dumps([round(at, 3), "o", "\x1b[?25h"]))
    (to / "minute.cast").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(to / "minute.gif", to / "minute.cast", f"{at:.0f} s")


def _named(key: str) -> str:
    return {" ": "space", ".": "full_stop", ",": "comma"}.get(key, key)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", type=Path, default=Path(__file__).parent)
    parser.add_argument("--only", default="")
    parser.add_argument("--workspace", type=Path, help="one past its first start, instead of a new one")
    chosen = parser.parse_args()
    only = {name for name in chosen.only.split(",") if name}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "sample.duckdb"
        if chosen.workspace is not None:
            file.write_bytes(chosen.workspace.read_bytes())
        else:
            workspace = Workspace.open(file)
            workspace.first_start()
            workspace.close()
        asyncio.run(draw(file, chosen.to, only))


if __name__ == "__main__":
    main()
