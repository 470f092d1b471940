"""Names that hold markup or are too long end no program: they are shown as they are, or told."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.widgets import Input, Label

from emotui.screens.dialogs.file import ExportDialog
from emotui.workbench.datasets.sets import rename
from emotui.workbench.workspace import Workspace
from tests.screens.browse_workspace import workspace
from tests.screens.driving import opened, press, screen_text, settle

NAME = "[/] [bold]x[/red] [@click=app.quit]y"


@pytest.fixture
def source(tmp_path: Path) -> Iterator[Workspace]:
    made = workspace(tmp_path / "w.duckdb", run=False)
    rename(made.store, made.datasets()[0].name, NAME)
    yield made
    made.close()


@pytest.mark.parametrize("key", ["R", "e", "f", "d", "D", "L", "i", "ctrl+p", "question_mark"])
async def test_a_dataset_whose_name_is_markup_ends_no_sheet(source: Workspace, key: str) -> None:
    async with opened(source) as pilot:
        assert NAME in screen_text(pilot)
        await press(pilot, key)
        await settle(pilot)
        if key == "R":
            assert "[/] [bold]x[/red]" in screen_text(pilot)
        await press(pilot, "escape")
        await settle(pilot)
        assert pilot.app.is_running


@pytest.mark.parametrize("name", ["x" * 300 + ".jsonl", "x" * 5000 + ".jsonl", "~nosuchuser/a.jsonl"])
async def test_a_file_that_cannot_be_named_so_is_told_in_the_sheet(source: Workspace, name: str) -> None:
    given: list[str] = []
    async with opened(source) as pilot:
        dialog = ExportDialog(3, None)
        dialog.ask(pilot.app, given.append)
        await settle(pilot)
        dialog.query_one("#path", Input).value = name
        await press(pilot, "enter")
        await settle(pilot)
        assert str(dialog.query_one("#why", Label).content)
        assert given == []
        assert pilot.app.is_running
