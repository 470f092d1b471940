"""The console: a question in SQL, its answer in a table, and a long one stopped."""

from pathlib import Path

import pytest
from textual.geometry import Size
from textual.widgets import Input

from emotui.screens.dialogs.sql import SqlDialog, lines_of
from emotui.screens.widgets.page import Page
from emotui.workbench.query_process import Table
from emotui.workbench.workspace import Workspace
from tests.screens.browse_workspace import workspace
from tests.screens.driving import frame, opened, press, screen_text, settle
from tests.waiting import awaited


@pytest.fixture
def source(tmp_path: Path) -> Workspace:
    return workspace(tmp_path / "w.duckdb")


async def test_a_question_is_asked_answered_and_kept_for_the_next_time(source: Workspace) -> None:
    async with opened(source, (120, 30)) as pilot:
        await press(pilot, "Q")
        dialog = pilot.app.screen
        assert isinstance(dialog, SqlDialog)
        query = dialog.query_one(Input)
        for asked, answer in (
            ("SELECT count(*) AS texts FROM texts", "texts\n   30\n1 row"),
            ("SELECT nope FROM texts", ""),
            ("DROP TABLE samples", ""),
        ):
            query.value = asked
            await press(pilot, "enter")
            await awaited(lambda: not dialog.busy, lambda: "no answer")
            await settle(pilot)
            assert dialog.query_one("#answer", Page).text == answer
        assert "nothing can be changed" in screen_text(pilot)
        await press(pilot, "escape")
        assert pilot.app.screen is not dialog
        await press(pilot, "Q")
        assert pilot.app.screen.query_one(Input).value == "DROP TABLE samples"
        assert len(frame(pilot).session.overview.runs) == 1


async def test_a_query_that_takes_long_is_stopped_by_escape_and_the_console_stays(source: Workspace) -> None:
    async with opened(source, (80, 24)) as pilot:
        await press(pilot, "Q")
        dialog = pilot.app.screen
        assert isinstance(dialog, SqlDialog)
        dialog.query_one(Input).value = "SELECT count(*) FROM range(1000000) a, range(1000000) b"
        await pilot.press("enter")
        await awaited(lambda: dialog.busy, lambda: "nothing is asked")
        await pilot.press("escape")
        await awaited(lambda: not dialog.busy, lambda: "the query goes on")
        await settle(pilot)
        assert pilot.app.screen is dialog
        assert "the query was stopped" in screen_text(pilot)


def text_of(table: Table, width: int) -> list[str]:
    return ["".join(part.text for part in line).rstrip() for line in lines_of(table, Size(width, 10))]


def test_a_table_that_does_not_fit_stands_a_value_a_line() -> None:
    table = Table(("id", "words"), (("1", "one two three four"), ("22", "five")), (True, False))
    assert text_of(table, 40) == ["id  words", " 1  one two three four", "22  five", "2 rows"]
    assert text_of(table, 20) == [
        *("id     1", "words  one two three", "        four", ""),
        *("id     22", "words  five", "", "2 rows"),
    ]
    assert text_of(Table(("id",), (), (False,)), 20) == ["0 rows"]
