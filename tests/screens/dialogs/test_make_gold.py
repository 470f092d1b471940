"""A source is made gold, scored again, or taken in from the dialog of sources, and told what that does first."""

from pathlib import Path

import pytest

from emotui.workbench.workspace import Workspace
from tests.screens.browse_workspace import workspace
from tests.screens.driving import frame, notified, opened, press, screen_text, settle


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setattr("emotui.workbench.runs.run.EMBEDDING", "no such model")
    monkeypatch.setattr("emotui.tasks.spans.task.Spans.embeds", False)
    return workspace(tmp_path / "workspace.duckdb")


def _gold(source: Workspace) -> int:
    return source.datasets()[0].gold


async def test_a_run_is_made_gold_after_it_was_said_what_that_does(source: Workspace) -> None:
    before = source.datasets()[0].fingerprint
    async with opened(source, (80, 24)) as pilot:
        await press(pilot, "r", "U")
        said = screen_text(pilot)
        assert "becomes version 2: what rule-1 says" in said
        assert "One source has scores: they stay" in said
        await press(pilot, "escape")
        assert _gold(source) == 1
        await press(pilot, "U", "enter")
        await settle(pilot, work=True)
        assert _gold(source) == 2
        assert any("gold is version 2, from rule-1" in line for line in notified(pilot))
        assert source.store.gold.scored_under("rule-1") == 1
        await press(pilot, "u")
        await settle(pilot, work=True)
        assert any("gold is version 3, what version 1 said" in line for line in notified(pilot))
        assert source.datasets()[0].fingerprint == before
        await press(pilot, "u")
        assert _gold(source) == 3


async def test_scores_keep_their_gold_until_they_are_scored_again(source: Workspace) -> None:
    async with opened(source, (80, 24)) as pilot:
        await press(pilot, "U", "enter")
        await settle(pilot, work=True)
        before = source.summary("rule-1")
        assert "gold" in before["notes"]  # type: ignore[operator]
        await press(pilot, "r", "S")
        await settle(pilot, work=True)
        assert source.store.gold.scored_under("rule-1") == 2
        assert "gold" not in source.summary("rule-1").get("notes", {})  # type: ignore[operator]


async def test_runs_are_scored_again_at_once_where_that_is_ticked(source: Workspace) -> None:
    async with opened(source, (80, 24)) as pilot:
        await press(pilot, "U", "space")
        assert "[x] score it again at once" in screen_text(pilot)
        await press(pilot, "enter")
        await settle(pilot, work=True)
        assert source.store.gold.scored_under("rule-1") == 2


async def test_people_inside_the_gold_records_are_listed_and_taken_in(source: Workspace) -> None:
    people = source.store.samples.annotators(source.datasets()[0].dataset)
    async with opened(source, (80, 24)) as pilot:
        await press(pilot, "r", "j", "j")
        said = screen_text(pilot)
        assert all(name in said for name, _ in people)
        await press(pilot, "enter")
        await settle(pilot, work=True)
        shown = frame(pilot).session.run_shown
        assert shown is not None
        assert (shown.model, shown.source) == (people[0][0], "person")
        await press(pilot, "r")
        assert "a person" in screen_text(pilot)


async def test_where_nothing_may_be_written_nothing_is_made_gold(tmp_path: Path, source: Workspace) -> None:
    assert _gold(source) == 1
    reading = Workspace.open(tmp_path / "workspace.duckdb", read_only=True)
    async with opened(reading, (80, 24)) as pilot:
        await press(pilot, "U", "S")
        assert frame(pilot).session.job is None
        await press(pilot, "r")
        assert "as gold" not in screen_text(pilot)
        await press(pilot, "U")
        assert "becomes version" not in screen_text(pilot)
