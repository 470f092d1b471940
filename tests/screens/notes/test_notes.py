"""Notes and codes on the screen: from a note to a code, its samples, a slice, and back."""

from pathlib import Path

import numpy as np
import pytest

from emotui.metrics.saturation import saturation
from emotui.screens.list_state import ListState
from emotui.screens.notes.sheets import CodeSuggester, curve, fitting
from emotui.store.query import Bounds
from emotui.workbench.slices import near
from emotui.workbench.slices.conditions import parsed
from tests.screens.driving import frame, listed, opened, press, screen_text, settle
from tests.screens.results_workspace import several_runs

CODES = ["irony", "no cue word", "ironic title"]


async def test_a_code_is_chosen_by_some_of_its_name_and_completed_after_the_last_comma() -> None:
    assert fitting(CODES, "iro") == ["irony", "ironic title"]
    assert fitting(CODES, "irony, i") == ["ironic title"]
    assert fitting(CODES, "cue") == ["no cue word"]
    assert await CodeSuggester(CODES).get_suggestion("irony, No") == "irony, No cue word"
    assert await CodeSuggester(CODES).get_suggestion("irony, x") is None
    assert await CodeSuggester(CODES).get_suggestion("irony, ") is None


def test_the_curve_says_whether_new_samples_bring_new_codes() -> None:
    assert curve(saturation([])) == []
    assert curve(saturation([{"a"}, {"b"}]))[0] == "▄█  2 codes in 2 samples"
    told = curve(saturation([{"a"}, {"b"}] + [{"a"}] * 18))
    assert told[1] == "the last 10 brought 0% of the codes of the first 10: saturated after 20 samples"


def test_a_filter_is_a_line_of_conditions_and_only_a_plain_column_is_the_stores_own() -> None:
    state = ListState(
        text='a "b"', emotions=("sad", "fear"), marks="HF", bounds=(Bounds("f1", 0.25, None),), column="speaker=Ann"
    )
    line = state.as_conditions(())
    assert line == 'text="a ""b""" & emotion=sad|fear & mark=H|F & f1>=0.25 & speaker=Ann'
    assert len(parsed(line)) == 5
    assert (state.query(1, None, ()).column, state.query(1, None, ()).conditions) == (("speaker", "Ann"), "")
    for column in ("code=irony", "speaker=Ann & length=long", "age>3", "speaker!=Ann"):
        query = ListState(column=column, slices=("x",)).query(1, None, ())
        assert (query.column, query.conditions) == (None, f"{column} & slice=x")


async def test_from_a_note_to_its_code_to_the_samples_to_a_slice_and_back(tmp_path: Path) -> None:
    source = several_runs(tmp_path / "w.duckdb")
    async with opened(source, (100, 30)) as pilot:
        pane = frame(pilot).pane
        n, dataset = pane.n, source.datasets()[0].dataset
        await press(pilot, "semicolon", *"why", "tab", *"irony", "enter")
        await settle(pilot)
        assert f"note  {frame(pilot).session.annotator}: why [irony]" in screen_text(pilot)
        assert "  note " in screen_text(pilot).splitlines()[1], "over the text it is said that there is a note"
        await press(pilot, "l")
        noted = [line for line in screen_text(pilot).splitlines() if line.startswith(("  id", "▸", "  s"))]
        assert [line.split().count("note") for line in noted if "  id" in line] == [1]
        assert [" yes " in line for line in noted if line.startswith("▸")] == [True]
        await press(pilot, "l")
        await press(pilot, "j", "semicolon", "tab", *"iro", "right", "enter", "colon")
        await settle(pilot)
        assert "irony" in screen_text(pilot)
        assert [(code.name, len(code.samples)) for code in source.notes().codes(dataset)] == [("irony", 2)]
        await press(pilot, "r", "ctrl+u", *"sarcasm", "enter")
        await settle(pilot)
        await press(pilot, "enter")
        await settle(pilot)
        assert (pane.n, frame(pilot).session.state.column) == (2, "code=sarcasm")
        await press(pilot, "f")
        pilot.app.screen.query_one("#name").focus()
        await press(pilot, *"odd", "enter")
        await settle(pilot)
        assert [(one.name, one.conditions, one.n) for one in source.slicing().saved(dataset)] == (
            [("odd", "code=sarcasm", 2)]
        )
        await press(pilot, "x", "u")
        await settle(pilot)
        assert (pane.n, source.notes().codes(dataset)[0].name) == (n, "irony")
        await press(pilot, "f")
        pilot.app.screen.query_one("#column").focus()
        await press(pilot, *"code=irony &", "enter")
        assert frame(pilot).session.state.column == ""
        await press(pilot, "escape")


async def test_f9_notes_where_a_semicolon_means_something_else_and_a_tilde_lists_what_is_nearest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def vectors(model: object, texts: list[str], store: object) -> np.ndarray:
        return np.array([[np.cos(at), np.sin(at)] for at in range(len(texts))], dtype=np.float32)

    monkeypatch.setattr(near, "kept_embeddings", vectors)
    source = several_runs(tmp_path / "w.duckdb")
    async with opened(source, (100, 30)) as pilot:
        pane = frame(pilot).pane
        dataset = source.datasets()[0].dataset
        await press(pilot, "2", "f9", *"odd", "enter")
        await settle(pilot)
        assert [note.text for note in source.notes().notes(dataset)] == ["odd"]
        await press(pilot, "1", "s", "j", "enter")
        ordered = listed(pilot)
        await press(pilot, "tilde")
        await settle(pilot)
        assert "nearest first" in screen_text(pilot) or frame(pilot).folding.narrow
        assert pane.n == min(10, source.datasets()[0].n - 1) + 1
        assert len(listed(pilot)) == pane.n
        assert listed(pilot) != sorted(listed(pilot))
        await press(pilot, "l", "escape")
        assert listed(pilot) == ordered, "the order that was chosen is back with all samples"
