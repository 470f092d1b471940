"""The tour: at the first start and never again, led on by the key that it names, and in nobody's way."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from emotui.screens.dialogs.tour import STEPS, Meant, Tour, told
from emotui.screens.keymaps import keyed
from emotui.screens.places import ACTIONS, TITLES
from emotui.screens.samples.corpus import CorpusLine
from emotui.screens.widgets.cell_width import NOT_TURNED, width
from emotui.screens.widgets.editor import DirectionLine
from emotui.store.store import Store
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.workspace import FIRST_START, Workspace
from tests.screens.browse_workspace import add_run, sample_records
from tests.screens.driving import frame, opened, press, screen_text, settle, until
from tests.waiting import awaited


class New(Workspace):
    """An empty workspace whose first start is a run that is over at once."""

    def first_start(self, on_progress: Callable[..., object] = lambda progress: None) -> None:
        records = sample_records()[:6]
        add_run(self.store, add_samples(self.store, "spans", "sample", records, "sample data"), records)
        self.set_setting(FIRST_START, "done")


async def test_the_tour_comes_once_and_is_led_on_by_the_key_it_names_alone(tmp_path: Path) -> None:
    path = tmp_path / "w.duckdb"
    async with opened(New(Store.open(path)), size=(60, 16)) as pilot:
        await settle(pilot, work=True)
        shown = screen_text(pilot).splitlines()
        assert shown[-3].strip() == keyed(STEPS[0].folded)
        assert " ".join(shown[-2].split()) == "tour 1 of 6 then j or Enter: next text Esc ends the tour"
        before = frame(pilot).pane.sample
        await press(pilot, "G")
        assert frame(pilot).pane.sample != before
        assert "tour 1 of 6" in screen_text(pilot)
        await press(pilot, "j")
        assert "tour 2 of 6" in screen_text(pilot)
        await press(pilot, "n", "2")
        assert "tour 3 of 6  then 1: Browse" in screen_text(pilot)
        await press(pilot, "1")
        assert keyed(STEPS[2].says) in screen_text(pilot)
        for number, key in enumerate("743", 4):
            await press(pilot, key)
            assert f"tour {number} of 6" in screen_text(pilot)
            assert keyed(STEPS[number - 1].says) in screen_text(pilot)
        await press(pilot, "question_mark", "escape")
        assert "tour" not in screen_text(pilot)
        await press(pilot, "question_mark", "f12", "1", "f12", "f12")
        assert len(frame(pilot).query(Tour)) == 1, "during the tour F12 begins it again"
        await press(pilot, "slash", "x")
        assert "tour 1 of 6  then Esc and j: next text" in screen_text(pilot)
        await press(pilot, "escape")
        assert "Esc ends the tour" in screen_text(pilot)
        await press(pilot, "escape")
        assert "tour" not in screen_text(pilot)
        await press(pilot, "q")
    async with opened(New(Store.open(path)), size=(60, 16)) as pilot:
        assert frame(pilot).pane.n == 6
        assert "tour" not in screen_text(pilot)


async def test_the_tour_begins_with_the_first_texts_and_waits_for_no_run(tmp_path: Path) -> None:
    there, over = threading.Event(), threading.Event()

    class Slow(New):
        def first_start(self, on_progress: Callable[..., object] = lambda progress: None) -> None:
            records = sample_records()[:6]
            add_samples(self.store, "spans", "sample", records, "sample data")
            there.set()
            over.wait(30)

    async with opened(Slow(Store.open(tmp_path / "w.duckdb")), size=(120, 35)) as pilot:
        try:
            await awaited(there.is_set, lambda: "no texts were added")
            frame(pilot).session.look_again()
            await until(pilot, "tour 1 of 6", keyed(STEPS[0].says))
            assert frame(pilot).session.starts_first
            await until(pilot, "F1 errors")  # the columns of the run that is being made are kept free
            assert "–" not in frame(pilot).pane.rows._row(0).text
            assert frame(pilot).query_one(CorpusLine).display
            assert frame(pilot).keys.in_list, "where the list has the focus, Enter goes on too"
            assert "then j or Enter: next text" in screen_text(pilot)
            await press(pilot, "enter", "n", "7")
            assert keyed(STEPS[3].soon) in screen_text(pilot)
            assert not frame(pilot).session.overview.runs
            comes = "first start: the top line says how far"
            await press(pilot, "6", "r")
            await until(pilot, comes, f"r runs: there are no runs yet; {comes}")
        finally:
            over.set()


@pytest.mark.parametrize("there", [True, False])
def test_what_stands_there_already_is_not_said_to_come(there: bool) -> None:
    class Known(Meant):
        actions, titles, in_field, starts_first, title = ACTIONS, TITLES, False, True, "Scenes"

        def can(self, action: str) -> bool:
            return there and action == "alpha_less"

        def meant(self, key: str) -> None:
            return None

    says, _, _ = told(4, Known(), folded=False)
    assert says[0].text == keyed(STEPS[4].says if there else STEPS[4].soon)


def test_every_step_fits_sixty_columns_and_leads_to_something_that_there_is() -> None:
    assert len(STEPS) <= 6
    for step in STEPS:
        every = [keyed(said) for said in (step.says, step.folded, step.soon, step.typed) if said]
        assert max(map(width, every)) <= 58
        assert all(said.endswith(".") for said in every), "whole sentences"
        assert step.soon or step.folded, "what no run has said yet is not told as if it stood there"
        assert step.place in TITLES.values()
        assert step.to in {*TITLES.values(), *(one.id for one in ACTIONS)}


@pytest.mark.parametrize(
    ("text", "version", "told"), [("שלום", "", True), ("hello", "", False), ("שלום", "7000", False)]
)
def test_an_editor_says_where_letters_are_not_turned(
    monkeypatch: pytest.MonkeyPatch, text: str, version: str, told: bool
) -> None:
    for name in ("KONSOLE_VERSION", "TERM_PROGRAM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("VTE_VERSION", version)
    line = DirectionLine()
    line.about(text)
    assert (line.display, line.text) == (told, NOT_TURNED if told else "")


async def test_enter_in_a_text_leads_nowhere_nor_does_it_end_the_tour(tmp_path: Path) -> None:
    async with opened(New(Store.open(tmp_path / "w.duckdb")), size=(80, 24)) as pilot:
        await settle(pilot, work=True)
        tour = frame(pilot).query_one(Tour)
        assert tour.leads
        await press(pilot, "slash")
        assert not tour.leads
        await press(pilot, "escape")
        tour.step = len(STEPS) - 1
        await press(pilot, "3")
        assert "then ?: all keys" in screen_text(pilot)
        assert not tour.leads, "Enter never opens help"
        await settle(pilot, work=True)


async def test_enter_goes_on_with_the_tour_where_it_means_nothing_else(tmp_path: Path) -> None:
    async with opened(New(Store.open(tmp_path / "w.duckdb")), size=(60, 16)) as pilot:
        await settle(pilot, work=True)
        before = frame(pilot).pane.sample
        await press(pilot, "enter")
        assert "tour 2 of 6" in screen_text(pilot)
        assert frame(pilot).pane.sample != before
        await press(pilot, "escape", "enter")
        assert "Enter opens a text from the list" in screen_text(pilot)
