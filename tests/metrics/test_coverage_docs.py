"""The simulation of intervals and tests stands in the docs, a line for every kind of them."""

from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_docs_have_every_cell_of_the_simulation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks" / "soundness"))
    cells = [*import_module("simulated_intervals").intervals(), *import_module("simulated_tests").tests()]
    lines = (ROOT / "docs" / "results.md").read_text("utf-8").replace("\\|", "|").splitlines()
    assert len(cells) > 200
    for cell in cells:
        size, _, unit = cell.n.partition(" ")
        (line,) = [one for one in lines if one.startswith((f"| {cell.name} |", f"| {cell.name} ° |"))]
        over = line.removeprefix(f"| {cell.name}").split(" | ")[1]
        assert over.endswith(unit), line
        assert size in over.removesuffix(unit).strip().split(", "), line
