"""What a run was computed on, and its energy by counters that begin again."""

import os
from pathlib import Path

import pytest

from emotui.workbench.paper import methods
from emotui.workbench.runs import machine
from emotui.workbench.runs.machine import (
    GraphicsMeter,
    Measured,
    energy_counters,
    joules_between,
    keep_measured,
    measured,
    power_used,
)
from emotui.workbench.workspace import Workspace
from tests.waiting import wait_until


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


SMI = """#!/bin/sh
case "$*" in *name*) echo "NVIDIA H200, 143771 MiB"; exit;; esac
for watts in "76.41" "[N/A]" "80.00" "120.35"; do echo "0, $watts"; echo "1, 70.12"; done
exec sleep 60
"""
"""Writes what `nvidia-smi` does of two cards, and stays as it does with --loop-ms."""


def test_the_power_of_cards_is_added_up_over_time() -> None:
    before: dict[str, tuple[float, float]] = {}
    assert power_used(before, "0, 76.00", 10.0) is None
    assert power_used(before, "1, 50.00", 10.0) is None
    assert power_used(before, "0, 80.00", 12.0) == pytest.approx(2 * 78)
    assert power_used(before, "0, [N/A]", 13.0) is None
    assert power_used(before, "1, 50.00", 14.0) == pytest.approx(4 * 50)
    assert power_used(before, "", 14.0) is None


def test_what_nvidia_smi_tells_is_measured_and_its_process_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "nvidia-smi").write_text(SMI)
    (tmp_path / "nvidia-smi").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert machine._graphics() == ("NVIDIA H200, 143771 MiB",)
    cards = GraphicsMeter()
    wait_until(lambda: cards.joules is not None)
    assert (cards.stop() or 0) >= 0
    assert cards.ended
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    assert GraphicsMeter().stop() is None


def test_energy_names_what_it_is_of_and_what_it_leaves_out() -> None:
    both = methods._energy(Measured(graphics=("H200",), joules=3600, graphics_joules=7200))
    assert both.startswith("Energy: about 1 Wh of the processor")
    assert "about 2 Wh of all graphics cards" in both
    assert both.endswith("without memory of its own, disks and losses.")
    alone = methods._energy(Measured(graphics=("H200",), joules=3600))
    assert alone.endswith("without graphics cards, memory of its own, disks and losses.")
    assert "RAPL, nvidia-smi" in methods._energy(Measured())


def test_a_run_keeps_what_it_ran_on(tmp_path: Path) -> None:
    assert machine.machine().cores > 0
    assert machine.machine().python.count(".") == 2
