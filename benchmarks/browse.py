"""The workbench on a million samples: what a person presses, until what it asked for stands on the screen.

    python benchmarks/browse.py [--samples N] [--keep FILE]

The store is made first (or taken from FILE, where a run before has left it). Target: each under 300 ms, under 300 MB.
"""

import argparse
import asyncio
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
from store import RUN, samples
from textual.pilot import Pilot

from emotui.screens.app import EmotuiApp
from emotui.screens.list_state import HEADLINE

if TYPE_CHECKING:
    from emotui.store.rows import ResultRow

TIMES = 5
Shown = Callable[["Pilot[None]"], Awaitable[None]]
_BATCH = 20_000


def answers(start: int, stop: int, draw: random.Random) -> "list[ResultRow]":
    """A scored answer for each sample, complete as a run leaves it."""
    from emotui.store.rows import ResultRow, ScoreRow

    detail = (
        b'{"id":"s","repeat":0,"f1":0.5,"sim":0.7,"gold":["made"],"predicted":["made up"],'
        b'"pairs":[{"gold":0,"predicted":0,"f1":0.5,"sim":0.7}],'
        b'"located":[[0,5]],"hallucinated":[],"fixated":[],"keyword":false,"neutral_hits":[],"missed":[],"extra":[],'
        b'"invalid":null,"sentences":[]}'
    )
    return [
        ResultRow(
            *(number, 0, 0, "Mark the evidence.", '["made up"]', None, 0.02, b'{"spans":["made up"]}'),
            ScoreRow("benchmark", {"f1": draw.random(), "sim": draw.random()}, draw.choice(("", "H", "MX")), detail),
        )
        for number in range(start, stop)
    ]


def build(path: Path, n: int) -> None:
    """A dataset of n samples, and a run over it."""
    from emotui.store.store import Store
    from emotui.workbench.workspace import FIRST_START

    store = Store.open(path)
    store.datasets.add("million", "spans", samples(n), "benchmark", "benchmark")
    store.runs.start(RUN, "identity", "spans", "none", 1, {}, n)
    draw = random.Random(3)
    for start in range(1, n + 1, _BATCH):
        store.results.commit(RUN, answers(start, min(start + _BATCH, n + 1), draw))
    store.runs.set_state(RUN, "done")
    store.settings.set(FIRST_START, "done")


async def quiet(busy: Callable[[], bool]) -> None:
    """Until nothing is on its way, and no message that would ask for more."""
    still = 0
    while still < 4:
        await asyncio.sleep(0.001)
        still = 0 if busy() else still + 1


async def rows_shown(pilot: "Pilot[None]") -> None:
    """Until the rows in sight are those that were asked for."""
    app = pilot.app
    assert isinstance(app, EmotuiApp)
    pane = app.frame.pane
    await quiet(lambda: pane.n == 0 or pane.reading)


async def rest(pilot: "Pilot[None]") -> None:
    """Until nothing at all is on its way any more."""
    app = pilot.app
    assert isinstance(app, EmotuiApp)
    frame = app.frame
    await quiet(lambda: frame.pane.n == 0 or frame.busy)


async def measure(path: Path) -> None:
    """Open, and press."""
    from emotui.workbench.workspace import Workspace

    app = EmotuiApp(lambda: Workspace.open(path), poll=None)
    began, worked = time.perf_counter(), time.process_time()
    async with app.run_test(size=(160, 45)) as pilot:
        await rows_shown(pilot)
        print(f"{'open':28} {(time.perf_counter() - began) * 1000:6.0f} ms once")
        frame = app.frame

        async def timed(what: str, do: Callable[[], object], back: Callable[[], object], shown: Shown = rest) -> None:
            taken = []
            for _ in range(TIMES):
                begun = time.perf_counter()
                do()
                await shown(pilot)
                taken.append(time.perf_counter() - begun)
                await rest(pilot)
                back()
                await rest(pilot)
            print(f"{what:28} {statistics.median(taken) * 1000:6.0f} ms   slowest {max(taken) * 1000:.0f}", flush=True)

        from msgspec.structs import replace

        await rest(pilot)
        print(f"{'processor until all is at rest':28} {(time.process_time() - worked) * 1000:6.0f} ms once")
        session, whole = frame.session, frame.session.state
        await timed("next sample (j)", lambda: frame.action_do("next"), lambda: None)
        await timed("jump to the end (G)", lambda: frame.action_do("last"), lambda: frame.action_do("first"))
        await timed("next error (n)", lambda: frame.action_do("next_error"), lambda: None)
        for what, state in (
            ("filter by emotion", replace(whole, emotions=("fear", "sad"))),
            ("search a word", replace(whole, text="abc")),
            ("filter by kind of error", replace(whole, marks="H")),
            ("sort by F1", replace(whole, sort=HEADLINE)),
        ):
            await timed(what, lambda state=state: session.change(state), lambda: session.change(whole), rows_shown)  # type: ignore[misc]
        memory = psutil.Process().memory_info().rss / 2**20
        print(f"{'memory of the process':28} {memory:6.0f} MB")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--samples", type=int, default=1_000_000)
    options.add_argument("--keep", type=Path)
    options.add_argument("--build", action="store_true", help="only make the store at FILE")
    chosen = options.parse_args()
    if chosen.build:
        build(chosen.keep, chosen.samples)
        return
    with tempfile.TemporaryDirectory(prefix="emotui-benchmark-") as folder:
        path = chosen.keep or Path(folder) / "workspace.duckdb"
        if not path.exists():
            # In a process of its own: what building takes in memory is not what browsing takes.
            command = [sys.executable, __file__, "--build", "--keep", str(path), "--samples", str(chosen.samples)]
            subprocess.run(command, check=True)
        asyncio.run(measure(path))


if __name__ == "__main__":
    main()
