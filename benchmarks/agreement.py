"""How long agreement over a large dataset takes: every figure with its interval, from the store, gamma left out.

    python benchmarks/agreement.py [--texts 10000] [--sources 3] [--resamples 1000] [--only spans,label,...] [--gamma]

Texts of about 200 characters; annotators who say the same with a probability of .7. Prints one JSON document: seconds
by kind of answer, of reading what sources say and of the whole study; exits 1 where a study took 5 seconds or more.
"""

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from emotui.records import LabelsGold, Mark, ScenesGold, SpanSample, ValuesGold
from emotui.store.store import Store
from emotui.workbench.agreement.panel import read_panel
from emotui.workbench.agreement.study import study
from emotui.workbench.datasets.samples import add_samples

GOAL = 5.0
EMOTIONS = ("joy", "anger", "fear", "surprise", "sadness", "anticipation", "disgust", "trust")
WORDS = ("the bus", "let me off", "at the corner", "before six", "and nobody", "had noticed", "so long", "I was gone")


def _text(draw: random.Random) -> str:
    return " ".join(draw.choice(WORDS) for _ in range(20))


def _marks(draw: random.Random, text: str) -> tuple[Mark, ...]:
    found = []
    for start in range(0, len(text) - 40, 60):
        if draw.random() < 0.8:
            at = start + draw.randrange(15)
            found.append(Mark(at, at + draw.randrange(8, 30), draw.choice(EMOTIONS[:4])))
    return tuple(found)


def _moved(draw: random.Random, marks: tuple[Mark, ...], text: str) -> tuple[Mark, ...]:
    kept = [mark for mark in marks if draw.random() < 0.8]
    return tuple(
        mark
        if draw.random() < 0.5
        else Mark(mark.start, min(len(text), mark.end + draw.randrange(6)), draw.choice(EMOTIONS[:4]))
        for mark in kept
    )


def _same(draw: random.Random, own: Any, other: Callable[[], Any]) -> Any:
    return own if draw.random() < 0.7 else other()


def _samples(kind: str, n: int, sources: int) -> tuple[str, list[Any]]:
    draw = random.Random(1)
    names = [f"a{at}" for at in range(sources)]
    made: list[Any] = []
    for at in range(n):
        key, text = f"t{at}", _text(draw)
        if kind == "spans":
            marks = _marks(draw, text)
            said: dict[str, Any] = {name: _moved(draw, marks, text) for name in names}
            made.append(SpanSample(id=key, text=text, spans=marks, annotators=said))
        elif kind == "vectors":
            vector = {name: int(draw.random() < 0.25) for name in EMOTIONS}
            said = {name: {e: _same(draw, v, lambda: draw.randrange(2)) for e, v in vector.items()} for name in names}
            made.append(ScenesGold(id=key, text=text, labels=vector, annotators=said))
        elif kind == "values":
            value = draw.randrange(1, 10)
            said = {
                name: {"values": {"valence": float(_same(draw, value, lambda: draw.randrange(1, 10)))}}
                for name in names
            }
            made.append(ValuesGold(id=key, text=text, values={"valence": float(value)}, annotators=said))
        else:
            label = draw.choice(EMOTIONS)
            said = {name: (_same(draw, label, lambda: draw.choice(EMOTIONS)),) for name in names}
            made.append(LabelsGold(id=key, text=text, labels=(label,), annotators=said))
    return {"vectors": "scenes", "label": "labels"}.get(kind, kind), made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=10_000)
    parser.add_argument("--sources", type=int, default=3)
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--only", default="spans,label,vectors,values")
    parser.add_argument("--gamma", action="store_true")
    given = parser.parse_args()
    seconds: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(Path(folder) / "w.duckdb")
        for kind in given.only.split(","):
            task, samples = _samples(kind, given.texts, given.sources)
            add_samples(store, task, kind, samples, "made")
            started = time.perf_counter()
            read_panel(store, kind)
            read = time.perf_counter() - started
            started = time.perf_counter()
            study(store, kind, resamples=given.resamples, with_gamma=given.gamma)
            seconds[kind] = {"reading": round(read, 3), "study": round(time.perf_counter() - started, 3)}
    print(json.dumps({"texts": given.texts, "sources": given.sources, "seconds": seconds}))
    sys.exit(int(any(one["study"] >= GOAL for one in seconds.values())))


if __name__ == "__main__":
    main()
