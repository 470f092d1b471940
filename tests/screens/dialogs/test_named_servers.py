"""A model at a server that only the workspace names is used once a person has said so twice."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.widgets import Input, Label

from emotui.backends.servers import named
from emotui.screens.dialogs.choices import NameDialog
from emotui.screens.dialogs.dialog import Dialog
from emotui.screens.dialogs.run_model import ModelDialog
from emotui.screens.models.sheet import ModelChoice, ModelSheet
from emotui.workbench.workspace import Workspace
from tests.screens.browse_workspace import workspace
from tests.screens.driving import frame, opened, press, settle

SPEC = "openai:m@http://elsewhere.example/v1"


@pytest.fixture(autouse=True)
def _nobody_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(named, "_here", set())


@pytest.fixture
def source(tmp_path: Path) -> Iterator[Workspace]:
    made = workspace(tmp_path / "w.duckdb", run=False)
    made.set_setting("live model", SPEC)
    yield made
    made.close()


async def test_each_sheet_asks_before_a_server_of_the_workspace_is_used(source: Workspace) -> None:
    given: list[str | ModelChoice] = []
    async with opened(source) as pilot:
        sheets = (
            (ModelSheet(frame(pilot).session, SPEC), ModelChoice(SPEC)),
            (NameDialog("Suggestions", (), SPEC), SPEC),
        )
        for dialog, choice in sheets:
            dialog.ask(pilot.app, given.append)
            await settle(pilot)
            await press(pilot, "enter")
            assert given == []
            assert named.unnamed(SPEC) is not None
            assert "http://elsewhere.example" in str(dialog.query_one("#why", Label).content)
            await press(pilot, "enter")
            assert given == [choice]
            assert named.unnamed(SPEC) is None
            given.clear()
            named._here.clear()
            named.kept_in().unlink()


async def test_a_run_over_the_live_model_of_the_workspace_is_asked_about_first(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "R")
        sheet = pilot.app.screen
        assert isinstance(sheet, ModelDialog)
        assert sheet.query_one("#spec", Input).value == SPEC
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, Dialog)
        assert "http://elsewhere.example" in str(sheet.query_one("#why", Label).content)
        assert named.unnamed(SPEC) is not None


async def test_a_server_that_is_typed_is_named_at_once(source: Workspace) -> None:
    given: list[ModelChoice] = []
    async with opened(source) as pilot:
        dialog = ModelSheet(frame(pilot).session, "embedded")
        dialog.ask(pilot.app, given.append)
        await settle(pilot)
        dialog.query_one("#spec", Input).value = SPEC
        await press(pilot, "enter")
    assert given == [ModelChoice(SPEC)]
    assert named.unnamed(SPEC) is None
