"""The sheet of labels: a guess is offered, changed by keys, and kept for one source by Enter alone."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from emotui.workbench.datasets.label_maps import label_map
from emotui.workbench.datasets.sources import LabelSheet, SourceBench
from emotui.workbench.workspace import Workspace
from tests.screens.driving import notified, opened, press, screen_text, settle
from tests.screens.labelled_workspace import labelled_workspace


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    def near(self: SourceBench, sheet: LabelSheet) -> Mapping[str, tuple[str, float]]:
        return dict.fromkeys(sheet.theirs, ("anger", 0.61))

    monkeypatch.setattr(SourceBench, "nearest", near)
    return labelled_workspace(tmp_path / "w.duckdb")


def _kept(source: Workspace) -> dict[str, str]:
    return label_map(source.store, source.datasets()[0], "marker")


async def test_labels_of_a_run_are_mapped_by_what_is_shown_when_enter_is_pressed(source: Workspace) -> None:
    async with opened(source, (80, 24)) as pilot:
        # `sadness` is the one label of the run that gold (fear, joy, anger) has not.
        await press(pilot, "=")
        assert "sadness  →  –" in screen_text(pilot)
        await press(pilot, "escape")
        assert _kept(source) == {}
        await press(pilot, "=", "e")
        assert "sadness  →  anger   nearest 0.61" in screen_text(pilot)
        assert _kept(source) == {}
        await press(pilot, "left")
        assert "sadness  →  joy   nearest anger 0.61" in screen_text(pilot)
        await press(pilot, "enter")
        await settle(pilot, work=True)
        assert _kept(source) == {"sadness": "joy"}
        assert label_map(source.store, source.datasets()[0]) == {}
        assert any("S scores marker-1 again" in line for line in notified(pilot))


async def test_what_is_kept_stands_there_and_can_be_taken_out(source: Workspace) -> None:
    async with opened(source, (80, 24)) as pilot:
        await press(pilot, "=", "right", "enter")
        await settle(pilot, work=True)
        assert _kept(source) == {"sadness": "fear"}
        await press(pilot, "=")
        assert "sadness  →  fear   kept" in screen_text(pilot)
        await press(pilot, "delete", "enter")
        await settle(pilot, work=True)
        assert _kept(source) == {}
        for before in ({"sadness": "fear"}, {}):
            await press(pilot, "u")
            await settle(pilot, work=True)
            assert _kept(source) == before
