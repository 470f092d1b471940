"""The text pane: hostile text, very long text, and text without colours."""

import time
from pathlib import Path

import pytest
from textual.pilot import Pilot

from emotui.records import Mark, SpanSample
from emotui.screens.browse.score import Score
from emotui.workbench.workspace import Workspace
from tests.screens.browse_workspace import workspace
from tests.screens.driving import frame, opened, press, screen_text, stave


@pytest.fixture
def source(tmp_path: Path) -> Workspace:
    return workspace(tmp_path / "workspace.duckdb")


async def test_hostile_text_is_shown_literally_with_its_spans_in_place(tmp_path: Path) -> None:
    text = "[red]hot[/] \x1b[31mred\x1b[0m a\u200bb שלום cafe\u0301 👩\u200d👧 \u202edlrow end"
    place = text.index("end")
    samples = [SpanSample(id="[b]odd[/b]\x1b", text=text, spans=(Mark(place, place + 3), Mark(0, 8)))]
    async with opened(workspace(tmp_path / "w.duckdb", samples=samples, run=False)) as pilot:
        drawn = screen_text(pilot)
        assert "[red]hot[/] ␛[31mred␛[0m a◦b שלום cafe\u0301 👩◦👧 ◂dlrow end" in drawn
        assert "[b]odd[/b]␛" in drawn
        assert _underlined(pilot) == ["[red]hot", "end"]


async def test_a_text_of_a_megabyte_is_laid_out_in_less_than_a_second(tmp_path: Path) -> None:
    text = "The long day went on. " * 50_000
    assert len(text) > 1_000_000
    samples = [SpanSample(id="long", text=text, spans=(Mark(1_000_000, 1_000_012),))]
    async with opened(workspace(tmp_path / "w.duckdb", samples=samples, run=False)) as pilot:
        view = stave(pilot)
        score = view.score
        view.show(type(score)(""))
        began = time.process_time()
        view.show(score)
        assert time.process_time() - began < 1
        await press(pilot, "tab", "end")
        assert view.scroll_offset.y > 10_000


async def test_without_colour_predicted_is_reversed_and_gold_underlined(
    source: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with opened(source) as pilot:
        await press(pilot, "o")
        assert _underlined(pilot)
        assert not _reversed(pilot)
        await press(pilot, "o")
        assert _reversed(pilot)
        assert not _underlined(pilot)
        await press(pilot, "o")
        assert _reversed(pilot)
        assert _underlined(pilot)
        at_hand = frame(pilot).query_one(Score).thing
        assert at_hand is not None
        assert at_hand.said in _reversed(pilot), "the span at hand keeps the shape of what is predicted"
        view = frame(pilot).query_one(Score)
        slanted = {s.text for y in range(view._foot_at) for s in view.render_line(y) if s.style and s.style.italic}
        assert slanted == {at_hand.said}, "it alone stands in italics"
        colours = {
            segment.style.color.name
            for strip in pilot.app.screen._compositor.render_strips()
            for segment in pilot.app._filters[-1].apply(list(strip), pilot.app.screen.styles.background)
            if segment.style is not None and segment.style.color is not None
        }
        assert colours == {"default"}


def _underlined(pilot: "Pilot[None]") -> list[str]:
    """Stretches of the text pane that are underlined, but for what is told under the text."""
    view = frame(pilot).query_one(Score)
    return [
        segment.text
        for y in range(view._foot_at)
        for segment in view.render_line(y)
        if segment.style is not None and segment.style.underline
    ]


def _reversed(pilot: "Pilot[None]") -> list[str]:
    """Stretches of the text pane that are reversed, but for the row of its cursor."""
    view = frame(pilot).query_one(Score)
    return [
        segment.text
        for y in range(view._foot_at)
        for segment in view.render_line(y)
        if segment.style is not None and segment.style.reverse and "▸" not in segment.text
    ]
