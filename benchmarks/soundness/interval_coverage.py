"""How often intervals hold the truth, and how often tests find what is not there, by simulation.

    python benchmarks/soundness/interval_coverage.py [--simulations 1000] [--others 400] [--only interval|test]
                                                     [--jobs N] [--markdown]

Prints a row a cell: of an interval how often it holds the true figure (of those that there are), how often there is
none, how often it is Student's t, told with how many there are (`few`), and how often a note says that it misses more
often (`noted`); of a test how often p is at most .05 between equals. `goal`: 93 to 97% for means and differences from
30 samples or 10 groups on and for macro F1 from 200, at most 6% for tests; other cells are printed as they are. All
have the error of the simulation besides (1.4 points either way of 1,000, 2.2 of 400). Exits 1 where a goal is missed.
`--markdown` prints the tables of docs/results.md instead.

The cells are in `simulated_intervals.py` and `simulated_tests.py`, beside this file.
"""

import argparse
import json
import os
import sys
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from simulated_intervals import Cell, intervals
from simulated_tests import tests

Row = dict[str, object]


def cells() -> list[Cell]:
    """Every kind of interval and of test that is printed."""
    return [*intervals(), *tests()]


def row(at: int, simulations: int, others: int) -> Row:
    """One cell, simulated: so often with a goal, without one as often as others are."""
    cell = cells()[at]
    draw = np.random.default_rng(1)
    times = min(simulations if cell.goal else others, cell.most)
    found = [cell.once(draw) for _ in range(times)]
    if cell.is_test:
        share = float(np.mean([p is not None and p <= 0.05 for p in found]))  # type: ignore[operator]
        return {"test": cell.name, "n": cell.n, "type_1": share} | _met(cell, times, share <= 0.06)
    sure = [one for one in found if isinstance(one, tuple)]
    there = [(one, truth) for one, truth in sure if one.low is not None and one.high is not None]
    held = float(np.mean([one.low <= truth <= one.high for one, truth in there])) if there else None  # type: ignore[operator]
    noted = sum("miss more" in one.note or "too narrow" in one.note for one, _ in there)
    shares = {
        "none": 1 - len(there) / len(sure),
        "few": sum("Student" in one.note for one, _ in there) / max(len(there), 1),
        "noted": noted / max(len(there), 1),
    }
    held_well = held is not None and 0.93 <= held <= 0.97
    return {"interval": cell.name, "n": cell.n, "coverage": held} | shares | _met(cell, times, held_well)


def _met(cell: Cell, times: int, met: bool) -> Row:
    return {"simulations": times, "goal": cell.goal, "met": met or not cell.goal}


def tables(rows: Iterable[Row]) -> str:
    """The tables of the docs, a line for each figure or test, its cells side by side."""
    lines: dict[tuple[str, str], list[Row]] = {}
    for one in rows:
        kind = "interval" if "interval" in one else "test"
        lines.setdefault((kind, str(one[kind])), []).append(one)
    heads = {
        "interval": "| interval of | over | holds the truth | none | Student's t | noted |\n|---|---|---|---|---|---|",
        "test": "| test | over | p at most .05 between equals |\n|---|---|---|",
    }
    found = []
    for kind, head in heads.items():
        own = [(name, each) for (what, name), each in lines.items() if what == kind]
        if not own:
            continue
        found.append(head)
        for name, each in own:
            figures = ["coverage", "none", "few", "noted"] if kind == "interval" else ["type_1"]
            unit = str(each[0]["n"]).partition(" ")[2]
            over = ", ".join(str(one["n"]).partition(" ")[0] for one in each) + f" {unit}"
            columns = [_percents(each, figure) for figure in figures]
            found.append(f"| {name}{'' if all(one['goal'] for one in each) else _which(each)} | {over} | ")
            found[-1] += " | ".join(columns) + " |"
        found.append("")
    return "\n".join(found)


def _percents(each: list[Row], figure: str) -> str:
    """One after another; nothing where all are 0, but for what every cell has."""
    values = [one[figure] for one in each]
    if figure in ("none", "few", "noted") and not any(values):
        return ""
    marks = ["" if one["met"] else " (!)" for one in each] if figure in ("coverage", "type_1") else [""] * len(each)
    told = ["–" if v is None else f"{100 * float(v):.0f}{mark}" for v, mark in zip(values, marks, strict=True)]  # type: ignore[arg-type]
    return ", ".join(told) + "%"


def _which(each: list[Row]) -> str:
    """Of which cells nothing is asked: all, or some."""
    return "" if any(one["goal"] for one in each) else " °"


def main() -> None:
    """Simulate, print, and say by the exit status whether the goals are met."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=1000, help="of cells with a goal")
    parser.add_argument("--others", type=int, default=400, help="simulations of the others")
    parser.add_argument("--only", choices=["interval", "test"])
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--markdown", action="store_true")
    given = parser.parse_args()
    wanted = [at for at, one in enumerate(cells()) if given.only is None or one.is_test == (given.only == "test")]
    rows = []
    with ProcessPoolExecutor(given.jobs, mp_context=get_context("spawn")) as pool:
        for found in pool.map(row, wanted, [given.simulations] * len(wanted), [given.others] * len(wanted)):
            rows.append(found)
            short = {name: round(value, 3) if isinstance(value, float) else value for name, value in found.items()}
            print(json.dumps(short), file=sys.stderr if given.markdown else sys.stdout, flush=True)
    if given.markdown:
        print(tables(rows))
    sys.exit(0 if all(one["met"] for one in rows) else 1)


if __name__ == "__main__":
    main()
