"""A way through keys: what has the focus, one step back, what is selected with the mouse."""

from pathlib import Path

from textual.geometry import Offset
from textual.pilot import Pilot
from textual.selection import Selection

from emotui.screens.widgets.footer import KeyBar
from tests.screens.browse_workspace import workspace
from tests.screens.driving import frame, listed, notified, opened, press, screen_text, stave


async def test_escape_goes_one_step_back_and_keys_without_effect_say_why(tmp_path: Path) -> None:
    async with opened(workspace(tmp_path / "w.duckdb")) as pilot:
        here = frame(pilot)
        bar = here.query_one(KeyBar)
        await press(pilot, "slash", "t", "h", "e")
        assert "search" not in bar.text
        assert "Enter keep" in bar.text
        await press(pilot, "enter", "f", "space", "enter")
        assert here.session.state.text == "the"
        assert here.session.state.emotions
        await press(pilot, "escape")
        assert here.session.state.text == ""
        assert here.session.state.emotions
        await press(pilot, "escape")
        assert not here.session.state.filtered
        await press(pilot, "escape")
        assert "nothing to go back from" in bar.text
        await press(pilot, "enter")
        assert pilot.app.focused is stave(pilot)
        sample = here.pane.sample
        await press(pilot, "end", "pageup")
        assert here.pane.sample == sample
        await press(pilot, "number_sign")
        assert "# does nothing" in bar.text
        await press(pilot, "left", "left", "left")
        assert bar.text == "this is the first span"
        await press(pilot, "right")
        assert "span" not in bar.text
        await press(pilot, "escape")
        assert pilot.app.focused is here.pane.rows
        await press(pilot, "v")
        assert bar.text == "v: Browse has one view"
        await press(pilot, "s", "enter")
        assert not here.session.state.descending
        await press(pilot, "s", "space", "enter")
        assert here.session.state.descending
        await press(pilot, "question_mark", "escape")
        assert pilot.app.screen is here
        await press(pilot, "ctrl+c")
        assert any("q leaves emotui" in told for told in notified(pilot))
        text = stave(pilot).score.text
        here.selections = {stave(pilot): Selection(None, None)}
        await press(pilot, "y")
        assert pilot.app.clipboard == text
        assert not here.selections
        await press(pilot, "y")
        assert text.split()[0] in pilot.app.clipboard
        assert pilot.app.clipboard != text


async def test_what_is_dragged_over_is_the_text_itself_without_what_stands_beside_it(tmp_path: Path) -> None:
    async with opened(workspace(tmp_path / "w.duckdb")) as pilot:
        view = stave(pilot)
        text = view.score.text
        drawn = [segment for y in range(view.size.height) for segment in view.render_line(y)]
        x, y = next(one.style.meta["offset"] for one in drawn if one.style and one.text.startswith(text[:4]))
        selected = view.get_selection(Selection(Offset(x, y), Offset(x + 10, y)))
        assert selected is not None
        assert selected[0] == text[:10]
        assert text[:20] in screen_text(pilot)
        rows = frame(pilot).pane.rows
        chosen = rows.get_selection(Selection(Offset(2, 1), Offset(5, 2)))
        assert chosen is not None
        first, second = chosen[0].split("\n")
        assert first.startswith(listed(pilot)[1])
        assert second == f"  {listed(pilot)[2][:3]}"
        rows.text_select_all()
        assert not frame(pilot).selections
        frame(pilot).selections = {view: Selection(None, None)}
        await press(pilot, "escape")
        assert not frame(pilot).selections


async def test_f6_goes_between_list_and_place_and_letters_to_the_next_error_of_their_kind(tmp_path: Path) -> None:
    async with opened(workspace(tmp_path / "w.duckdb"), size=(80, 24)) as pilot:
        here = frame(pilot)
        before = here.folding.covers
        await press(pilot, "f6")
        assert here.folding.covers != before
        await press(pilot, "f6")
        assert here.folding.covers == before
        for letter in "MX":
            marked = [at for at in range(here.pane.n) if letter in _marks(pilot, at)]
            await press(pilot, "g")
            at = here.pane.rows.cursor
            await press(pilot, letter)
            assert here.pane.rows.cursor == next((one for one in marked if one > at), marked[0])


def _marks(pilot: Pilot[None], at: int) -> str:
    row = frame(pilot).pane.rows.row(at)
    assert row is not None
    return row.marks
