"""What a run was computed on, and its energy by counters that begin again."""

from pathlib import Path

import pytest

from emotui.workbench.runs import machine
from emotui.workbench.runs.machine import Measured, energy_counters, joules_between, keep_measured, measured
from emotui.workbench.workspace import Workspace


def zone(folder: Path, name: str, now: str, most: str = "1000000") -> None:
    (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / name / "energy_uj").write_text(now)
    (folder / name / "max_energy_range_uj").write_text(most)


def test_packages_are_added_up_and_their_parts_are_not(tmp_path: Path) -> None:
    for name in ("intel-rapl:0", "intel-rapl:1"):
        zone(tmp_path, name, "100000\n")
    zone(tmp_path, "intel-rapl:0:0", "0")
    zone(tmp_path, "intel-rapl:2", "no number")
    before = energy_counters(tmp_path)
    zone(tmp_path, "intel-rapl:0", "350000")
    zone(tmp_path, "intel-rapl:1", "50000")  # begun again: 900000 to the end, and 50000
    assert joules_between(before, energy_counters(tmp_path)) == pytest.approx(0.25 + 0.95)


def test_a_machine_without_counters_says_so(tmp_path: Path) -> None:
    assert joules_between(energy_counters(tmp_path), energy_counters(tmp_path)) is None


def test_parts_of_a_run_are_added_up_and_energy_only_where_all_of_it_is_known(tmp_path: Path) -> None:
    store = Workspace.open(tmp_path / "w.duckdb").store
    keep_measured(store, "r", Measured(processor="p", seconds=2, joules=5))
    keep_measured(store, "r", Measured(processor="p", seconds=3, joules=7))
    assert measured(store, "r") == Measured(processor="p", seconds=5, joules=12)
    keep_measured(store, "r", Measured(processor="p", seconds=1))
    assert measured(store, "r") == Measured(processor="p", seconds=6)
    assert measured(store, "other") is None


def test_a_run_keeps_what_it_ran_on(tmp_path: Path) -> None:
    assert machine.machine().cores > 0
    assert machine.machine().python.count(".") == 2
