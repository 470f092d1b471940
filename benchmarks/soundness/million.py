"""What a file of texts and its predictions cost, from the file to the tables, against `json.loads` of the same lines.

    python benchmarks/soundness/million.py [--kinds labels values spans] [--texts N ...]

N texts with one of four labels each (`labels`), two numbers (`values`) or up to three spans (`spans`), and predictions
of all of them. Each step is a process of its own; its processor time stands (waits and other programs left out) and
the most memory that it had. `json` is `json.loads` of every line of both files, in a process of its own too, and the
time of an empty process is taken off everything. Several N print the curve: times of `json` should not grow with N.
"""

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
"""What is measured, whatever is installed and wherever this is run from."""

LABELS = ("joy", "anger", "fear", "sadness")
GOALS = {"import": 4, "score": 5, "predictions": 12, "results": 6}
"""Times of `json.loads` of the same lines, of labels and numbers."""

MEMORY = 1024
"""Megabytes at most."""

LOADS = "import json, sys\nfor name in sys.argv[1:]:\n    for line in open(name, 'rb'):\n        json.loads(line)\n"


def texts(n: int, draw: random.Random) -> Iterator[tuple[str, str]]:
    """(id, text) of passages of 15 of 5,000 made-up words."""
    words = ["".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=draw.randint(2, 9))) for _ in range(5_000)]
    for number in range(n):
        yield f"t{number:08d}", " ".join(draw.choices(words, k=15))


def _labels(key: str, text: str, draw: random.Random) -> tuple[dict[str, object], dict[str, object]]:
    gold = draw.choice(LABELS)
    return {"labels": [gold]}, {"labels": [gold if draw.random() < 0.7 else draw.choice(LABELS)]}


def _values(key: str, text: str, draw: random.Random) -> tuple[dict[str, object], dict[str, object]]:
    gold = {"valence": round(draw.random(), 3), "arousal": round(draw.random(), 3)}
    return {"values": gold}, {"values": {name: round(value + draw.gauss(0, 0.1), 3) for name, value in gold.items()}}


def _spans(key: str, text: str, draw: random.Random) -> tuple[dict[str, object], dict[str, object]]:
    words = text.split()
    starts = [sum(map(len, words[:place])) + place for place in range(len(words))]

    def some() -> list[list[int]]:
        places = sorted(draw.sample(range(0, 14, 3), draw.randint(1, 3)))
        return [[starts[place], starts[place + 1] + len(words[place + 1])] for place in places]

    return {"spans": some()}, {"spans": [text[start:end] for start, end in some()]}


KINDS = {"labels": _labels, "values": _values, "spans": _spans}


def write(folder: Path, kind: str, n: int) -> None:
    """Gold and predictions, as `emotui import` and `import predictions` read them."""
    draw = random.Random(n)
    with (folder / "gold.jsonl").open("w") as gold, (folder / "pred.jsonl").open("w") as predicted:
        for key, text in texts(n, draw):
            true, said = KINDS[kind](key, text, draw)
            gold.write(json.dumps({"id": key, "text": text, **true}) + "\n")
            predicted.write(json.dumps({"id": key, **said}) + "\n")


def cost(words: Sequence[str], folder: Path) -> tuple[float, float]:
    """Seconds of processor time, and megabytes at most, of a command and its children."""
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with (folder / "told").open("wb") as told:
        process = subprocess.Popen(words, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=told)
        most = _watch(process)
    if process.returncode:
        raise SystemExit(f"{' '.join(words)}: {(folder / 'told').read_text()}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, most


def _watch(process: "subprocess.Popen[bytes]") -> float:
    """The most memory of the process until it ends, in megabytes, as the system keeps it."""
    most = 0.0
    status = Path(f"/proc/{process.pid}/status")
    while True:
        try:
            process.wait(0.1)
        except subprocess.TimeoutExpired:
            lines = status.read_text().splitlines() if status.exists() else []
            most = max([most, *(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))])
        else:
            return most


def steps(kind: str) -> dict[str, tuple[str, ...]]:
    """The commands in their order."""
    no_sim = ("--no-sim",) if kind == "spans" else ()
    db = ("--db", "w.duckdb")
    return {
        "import": ("import", kind, "gold.jsonl", *db),
        "predictions": (
            *("import", "predictions", "pred.jsonl", "--dataset", "gold", "--source", "theirs"),
            *(*no_sim, *db),
        ),
        "score": ("score", kind, "--gold", "gold.jsonl", "--pred", "pred.jsonl", *no_sim, "--json"),
        "results": ("results", *no_sim, "--json", *db),
    }


def measured(kind: str, n: int) -> dict[str, tuple[float, float]]:
    """By the name of the step: seconds over those of an empty process, and megabytes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, kind, n)
        empty = min(cost([sys.executable, "-c", "pass"], folder)[0] for _ in range(3))
        seconds, most = cost([sys.executable, "-c", LOADS, "gold.jsonl", "pred.jsonl"], folder)
        found = {"json": (seconds - empty, most)}
        for step, words in steps(kind).items():
            seconds, most = cost([sys.executable, "-m", "emotui", *words], folder)
            found[step] = (seconds - empty, most)
            print(f"  {kind} {n:,} {step}: {seconds:.1f} s, {most:.0f} MB", file=sys.stderr, flush=True)
        found["store"] = (0.0, (folder / "w.duckdb").stat().st_size / 2**20)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", nargs="+", choices=list(KINDS), default=["labels"])
    parser.add_argument("--texts", type=int, nargs="+", default=[10_000, 100_000])
    options = parser.parse_args()
    names = ("json", *steps("labels"))
    for kind in options.kinds:
        took = {n: measured(kind, n) for n in options.texts}
        print(f"{kind}: seconds of processor time, times of json.loads of the lines, megabytes at most")
        print(f"{'texts':>12}" + "".join(f"{name:>26}" for name in names) + f"{'store':>10}")
        for n, found in took.items():
            base = found["json"][0]
            cells = [f"{s:10.2f} s {s / base:6.1f} {most:4.0f} MB" for s, most in (found[name] for name in names)]
            print(f"{n:12,}" + "".join(f"{cell:>26}" for cell in cells) + f"{found['store'][1]:7.0f} MB")
        if kind != "spans":
            print(f"{'goal':>12}{'':26}" + "".join(f"{f'{GOALS[name]} times':>26}" for name in names[1:]))
        print(flush=True)


if __name__ == "__main__":
    main()
