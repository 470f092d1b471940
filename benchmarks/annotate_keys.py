"""How long a key of Annotate takes to be drawn, on one megabyte of text and on one with 2,000 spans.

    python benchmarks/annotate_keys.py [--keys 160] [--passages 50]

Opens the real workbench, without a terminal, on a workspace of its own at 160 by 45. A key is timed from its event to
the cells that a terminal would be sent; what is kept goes on in a thread. The processor time of the screen's own
thread says what the workbench costs; milliseconds by the clock also what else runs, and that Textual draws at most 60
times a second. Then a session of as many passages
is replayed, all gold spans marked by letters, by the caret and by the mouse: keystrokes (or mouse events) and seconds a
span, as the workbench takes them without a person's thinking. Prints one JSON document and exits 1 where an echo is
above 16 ms at the median or 33 ms at the 99th percentile.
"""

import argparse
import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from textual.pilot import Pilot

from emotui.collector import collect_seldom
from emotui.records import SpanSample
from emotui.screens.annotate.passage import Passage
from emotui.screens.annotate.place import Annotate
from emotui.screens.app import EmotuiApp
from emotui.workbench.annotate.answers import SpanMark
from emotui.workbench.annotate.events import AddSpan
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.workspace import FIRST_START, Workspace
from tests.screens.browse_workspace import sample_records
from tests.screens.driving import event_of, frame, make_cells, settle, strike

MEDIAN_MS, SLOWEST_MS = 16.0, 33.0
SENTENCE = "The bus let me off at the corner, a little before six, and nobody had noticed that I was gone. "
KEYS = ("l", "v", "l", "l", "H", "]", "}", "escape", ")", "S", "tab", "x", "down", "i", "escape", "pagedown")


def texts() -> list[SpanSample]:
    """A text of a megabyte, and one of 200,000 characters on which spans are put."""
    return [
        SpanSample(id="megabyte", text=SENTENCE * (1_000_000 // len(SENTENCE) + 1)),
        SpanSample(id="spans", text=SENTENCE * 2100),
    ]


def place(pilot: "Pilot[None]") -> Annotate:
    return frame(pilot).query_one(Annotate)


async def echoes(pilot: "Pilot[None]", keys: Sequence[str]) -> dict[str, float]:
    """Milliseconds from each key to its cells; between two keys the log gets its turn, as between a person's."""
    clock, processor = [], []
    for key in keys:
        begun, before = time.perf_counter(), time.thread_time()
        pilot.app.post_message(event_of(key))
        await pilot._wait_for_screen()
        pilot.app.screen._on_timer_update()
        make_cells(pilot)
        clock.append((time.perf_counter() - begun) * 1000)
        processor.append((time.thread_time() - before) * 1000)
        await settle(pilot)
    return {
        "keys": len(keys),
        "median_ms": round(statistics.median(processor), 2),
        "p99_ms": round(p99(processor), 2),
        "clock_median_ms": round(statistics.median(clock), 2),
        "clock_p99_ms": round(p99(clock), 2),
        "clock_fastest_ms": round(min(clock), 2),
    }


def p99(taken: Sequence[float]) -> float:
    return sorted(taken)[min(int(len(taken) * 0.99), len(taken) - 1)]


async def measure_echo(path: Path, n: int) -> dict[str, dict[str, float]]:
    source = Workspace.open(path)
    source.set_setting(FIRST_START, "done")
    dataset = add_samples(source.store, "spans", "long", texts(), "benchmark")
    desk_of = source.annotating
    assert desk_of is not None
    bench = desk_of().begin(dataset.dataset, "someone")
    marked = source.store.samples.file_order(dataset.dataset)[1]
    places = [(at * 97, at * 97 + 40 + at % 60) for at in range(2000)]
    labels = ("happy", "sad", "fear")
    events = [AddSpan(SpanMark(id=f"{n:08x}", start=a, end=b, label=labels[n % 3])) for n, (a, b) in enumerate(places)]
    bench.do(marked, *events)
    app = EmotuiApp(lambda: source, poll=None)
    found = {}
    keys = (KEYS * (n // len(KEYS) + 1))[:n]
    async with app.run_test(size=(160, 45)) as pilot:
        await settle(pilot)
        await strike(pilot, "2")
        await settle(pilot)
        found["one megabyte"] = await echoes(pilot, keys)
        await strike(pilot, "j")
        await settle(pilot)
        assert len(place(pilot).at_work.said.spans) == 2000
        found["2,000 spans"] = await echoes(pilot, keys)
    return found


async def stroke(pilot: "Pilot[None]", *keys: str) -> None:
    """Press keys, each once what the one before changes is drawn; waits for no widget that has nothing to do."""
    screen = pilot.app.screen
    pumps = [pilot.app, *screen.walk_children(with_self=True)]
    for key in keys:
        pilot.app.post_message(event_of(key))
        quiet = 0
        while quiet < 3:
            await asyncio.sleep(0)
            quiet = 0 if any(pump._message_queue.qsize() or pump._next_callbacks for pump in pumps) else quiet + 1
        screen._on_timer_update()
        make_cells(pilot)


async def type_hint(pilot: "Pilot[None]", at: int) -> int:
    """Type the letters of the word at an offset, in sight; how many they are."""
    marking = place(pilot).at_work.marking
    code = next(code for code, start in marking.hints.items() if start == at)
    for letter in code:
        await stroke(pilot, letter)
    return len(code)


async def by_letters(pilot: "Pilot[None]", start: int, end: int) -> int:
    units = place(pilot).at_work.marking.units
    first, last = units.word_at(start), units.word_at(end - 1)
    assert first is not None
    assert last is not None
    await stroke(pilot, "i")
    keys = 1 + await type_hint(pilot, first[0])
    keys += await type_hint(pilot, last[0])
    await stroke(pilot, "s")
    return keys + 1


async def by_caret(pilot: "Pilot[None]", start: int, end: int) -> int:
    """To the sentence, the clause, the word; then on to the last word."""
    marking = place(pilot).at_work.marking
    keys = 0

    async def press(key: str) -> None:
        nonlocal keys
        keys += 1
        await stroke(pilot, key)

    async def reach(at: int) -> None:
        units = marking.units
        target = units.word_at(at)
        assert target is not None
        for key, unit in ((")", units.clause_at), ("l", units.word_at)):
            goal = unit(target[0])
            while goal is not None and marking.at < goal[0]:
                before = marking.at
                await press(key)
                if marking.at == before and marking.caret is not None and marking.caret[1] > goal[0]:
                    break
        while marking.at > target[0]:
            await press("h")

    if marking.at > start:
        while marking.at > start:
            await press("(")
    await reach(start)
    await press("v")
    await reach(end - 1)
    await press("S")
    return keys


async def by_mouse(pilot: "Pilot[None]", start: int, end: int) -> int:
    passage = pilot.app.screen.query_one(Passage)
    places = [passage.cell_of(start), passage.cell_of(end - 1)]
    await pilot.mouse_down(passage, offset=places[0])
    await pilot.hover(passage, offset=places[1])
    await pilot.mouse_up(passage, offset=places[1])
    await stroke(pilot, "s")
    return 4


WAYS = {"letters": by_letters, "caret": by_caret, "mouse": by_mouse}


async def measure_session(path: Path, n: int) -> dict[str, dict[str, float]]:
    """All gold spans of the passages, marked in each way by another annotator."""
    source = Workspace.open(path)
    source.set_setting(FIRST_START, "done")
    samples = [sample for sample in sample_records(n, 0) if sample.spans][:n]
    add_samples(source.store, "spans", "passages", samples, "benchmark")
    found = {}
    for name, way in WAYS.items():
        app = EmotuiApp(lambda: source, poll=None, annotator=name)
        keys, spans, seconds = 0, 0, 0.0
        async with app.run_test(size=(100, 40)) as pilot:
            await settle(pilot)
            await strike(pilot, "2")
            await settle(pilot)
            for sample in samples:
                begun = time.perf_counter()
                for span in sample.spans or ():
                    keys += await way(pilot, span.start, span.end)
                    await stroke(pilot, "escape")
                await stroke(pilot, "space")
                keys += 1
                seconds += time.perf_counter() - begun
                await settle(pilot)
                spans += len(sample.spans or ())
        found[name] = {
            "spans": spans,
            "strokes_a_span": round(keys / spans, 2),
            "seconds_a_span": round(seconds / spans, 3),
        }
    return found


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--keys", type=int, default=160)
    options.add_argument("--passages", type=int, default=50)
    given = options.parse_args()
    collect_seldom()
    with tempfile.TemporaryDirectory(prefix="emotui-benchmark-") as folder:
        echo = asyncio.run(measure_echo(Path(folder) / "echo.duckdb", given.keys))
        session = asyncio.run(measure_session(Path(folder) / "session.duckdb", given.passages))
    print(json.dumps({"echo": echo, "session": session, "load": round(os.getloadavg()[0], 1)}, indent=1))
    good = all(one["median_ms"] <= MEDIAN_MS and one["p99_ms"] <= SLOWEST_MS for one in echo.values())
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
