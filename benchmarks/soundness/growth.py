"""How the work of import, run, score, compare and list grows with the number of samples.

    python benchmarks/soundness/growth.py [--samples N ...] [--times K]

Each is done in a process of its own over N texts and twice and four times as many, and takes processor time (of all
its processes, waits and other programs left out; the least of K times). The time of the empty work, of starting Python
and reading the libraries, is taken off: what is left may grow by 2.2 where the work doubles.
"""

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
"""What is measured, whatever is installed and wherever this is run from."""

MOST = 2.2
LEAST = 0.3
"""Seconds of processor time, beside the start."""
WORDS = ("I was so glad when she wept for hours at the station", "nobody came until late in the cold evening")


def write(folder: Path, n: int) -> None:
    """Gold, and two sources that say something else of some texts."""
    draw, words = random.Random(n), " ".join(WORDS).split()
    gold, first, second = [], [], []
    for number in range(n):
        said = [draw.choice(words) for _ in range(24)]
        text = " ".join(said)
        end = len(" ".join(said[:3]))
        gold.append({"id": str(number), "text": text, "spans": [[0, end]]})
        for answers in (first, second):
            answers.append({"id": str(number), "spans": [" ".join(said[draw.randrange(3) : 3 + draw.randrange(3)])]})
    scores = [[{"id": str(number), "score": draw.random()} for number in range(n)] for _ in range(2)]
    for name, rows in (("gold", gold), ("a", first), ("b", second), ("score-a", scores[0]), ("score-b", scores[1])):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def processor(words: Sequence[str], folder: Path) -> float:
    """Seconds of processor time that a command and its children take."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, "-m", "emotui", *words], cwd=folder, capture_output=True, check=False)
    if done.returncode:
        raise SystemExit(f"emotui {' '.join(words)}: {done.stderr.decode()}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


WORK: dict[str, tuple[str, ...]] = {
    "import": ("import", "spans", "gold.jsonl", "--db", "w.duckdb"),
    "run": ("run", "spans", "--dataset", "gold", "--db", "w.duckdb", "--json"),
    "list": ("runs", "--db", "w.duckdb", "--json"),
    "results": ("results", "--db", "w.duckdb", "--json"),
    "score": ("score", "spans", "--gold", "gold.jsonl", "--pred", "a.jsonl", "--no-sim", "--json"),
    "compare": ("compare", "--a", "score-a.jsonl", "--b", "score-b.jsonl", "--json"),
}


def measured(n: int, names: Sequence[str], times: int) -> dict[str, float]:
    """By the name of the work: the least processor time of so many tries."""
    found: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(times):
        with tempfile.TemporaryDirectory() as folder:
            write(Path(folder), n)
            for name in names:
                found[name].append(processor(WORK[name], Path(folder)))
    return {name: min(each) for name, each in found.items()}


def verdict(net: float, ratio: float) -> str:
    """What the ratios say, where there was enough work to tell: a start of Python varies by some hundredths."""
    if net < LEAST:
        return "too little work to tell: more --samples"
    return f"MORE THAN {MOST}" if ratio > MOST else "ok"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=10_000)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--work", nargs="*", choices=list(WORK), default=list(WORK))
    options = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(CHECKOUT), os.environ.get("PYTHONPATH"))))
    sizes = [1, options.samples, 2 * options.samples, 4 * options.samples]
    took = {n: measured(n, options.work, options.times) for n in sizes}
    print("processor time in seconds; in brackets by how much it grows over the smallest where the work doubles")
    print(f"{'work':10}" + "".join(f"{n:>18,}" for n in sizes))
    for name in options.work:
        base = took[1][name]
        net = [max(took[n][name] - base, 1e-3) for n in sizes[1:]]
        ratios = [later / before for before, later in pairwise(net)]
        cells = [f"{base:18.2f}", f"{took[sizes[1]][name]:18.2f}"]
        cells += [f"{took[n][name]:11.2f} ({ratio:.2f})" for n, ratio in zip(sizes[2:], ratios, strict=True)]
        print(f"{name:10}" + "".join(cells) + ("   " + verdict(net[0], max(ratios))), flush=True)


if __name__ == "__main__":
    main()
