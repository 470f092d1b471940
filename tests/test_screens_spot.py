"""Spot check: any text, and at once what the live model makes of it; one that is slow, dies or is not there."""

import asyncio
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from emotui.backends.base import Request, Score
from emotui.screens.frame import Frame
from emotui.screens.spot import Spot
from emotui.screens.spot_editor import LONGEST, SpotEditor
from emotui.screens.spot_view import SpotPage
from emotui.screens.stave import Stave
from emotui.store.store import Store
from emotui.workbench.file_view import FileView
from emotui.workbench.spot_checks import SPOT_CHECKS
from emotui.workbench.workspace import Workspace
from tests.browse_workspace import sample_records, workspace
from tests.installed_kind import install_kind
from tests.screen_driving import frame, listed, notified, opened, press, screen_text, settle

TINY = Path(__file__).parent / "tiny" / "model"
KEYS = {" ": "space", ".": "full_stop", "<": "less_than_sign", ">": "greater_than_sign", ":": "colon", "/": "slash"}


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kind of model that does what its text says, and no models of the person who runs the tests."""
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setenv("EMOTUI_MODELS", str(TINY))
    install_kind(monkeypatch, "breaking", "tests.breaking_backend:load")


@pytest.fixture
def source(tmp_path: Path) -> Iterator[Workspace]:
    """Four samples, and as live model one that breaks on request."""
    made = workspace(tmp_path / "w.duckdb", samples=sample_records(2, 2), run=False)
    made.set_setting("live model", "breaking:")
    yield made
    made.close()


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Workspace]:
    """No samples."""
    made = workspace(tmp_path / "w.duckdb", samples=[], run=False)
    made.set_setting("live model", "breaking:")
    made.model("breaking:").load()
    yield made
    made.close()


def spot(pilot: "Pilot[None]") -> Spot:
    return frame(pilot).query_one(Spot)


def editor(pilot: "Pilot[None]") -> SpotEditor:
    return frame(pilot).query_one(SpotEditor)


def page(pilot: "Pilot[None]") -> str:
    return frame(pilot).query_one(SpotPage).text


async def keys(pilot: "Pilot[None]", text: str) -> None:
    """Press the keys of a text without waiting for any model."""
    await pilot.press(*[KEYS.get(letter, letter) for letter in text])


async def write(pilot: "Pilot[None]", text: str) -> None:
    """Type, and wait for all that is asked then."""
    await keys(pilot, text)
    await settle(pilot)


async def until(pilot: "Pilot[None]", said: str, *, seconds: float = 20) -> None:
    """Wait until the screen says it."""
    begun = time.monotonic()
    while said not in screen_text(pilot):
        assert time.monotonic() - begun < seconds, f"{said!r} is not in\n{screen_text(pilot)}"
        await pilot.pause(0.02)


def asked_texts(source: Workspace, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that the model is asked to score, as they come; its answers are its own."""
    found: list[str] = []
    model = source.model("breaking:")
    ask = model.ask

    def heard(requests: Sequence[Request], **how: Any) -> Any:
        found.extend(one.text for one in requests if isinstance(one, Score))
        return ask(requests, **how)

    monkeypatch.setattr(model, "ask", heard)
    return found


# The embedded model, really.


async def test_the_selected_text_is_tried_at_once_by_the_embedded_model(source: Workspace) -> None:
    source.set_setting("live model", "embedded")
    async with opened(source) as pilot:
        await press(pilot, "9")
        await settle(pilot, work=True)
        assert editor(pilot).text == sample_records(1, 0)[0].text
        text, shown = page(pilot), screen_text(pilot)
        for said in ("goemotions", "ekman", "plutchik", "emotions  log-odds", "evidence", "words that carry"):
            assert said in text
        assert "embedded cannot generate; kinds of model that can: hf:, gguf:, openai:" in text
        assert f"of {sample_records(1, 0)[0].id}" in shown
        column = spot(pilot).columns[0]
        spans = column.answers["spans"].probe.spans
        assert spans
        layers = spot(pilot).view._layers(editor(pilot).text)
        assert layers[0] == [(span.start, span.end) for span in spans]
        marked = {kind for kind, rows in editor(pilot)._rows.items() if rows}
        assert "editor--evidence" in marked
        # A word is left out: now there is something to fill in.
        await press(pilot, "i", "ctrl+end")
        await write(pilot, " I am <mask>.")
        assert "masks" in page(pilot)
        filled = column.answers["masks"].probe.masks
        assert filled is not None
        assert filled.masks[0][0][0] in page(pilot)
        # What the person asks a task's own way.
        await press(pilot, "escape", "O")
        assert "task spans" in screen_text(pilot)
        assert "(this model is not asked in words)" in page(pilot)
        assert "what is read from it" in page(pilot)
        # A second model beside it: where they disagree is marked.
        await press(pilot, "O", "O", "O", "O")
        while spot(pilot).view.asked_task is not None:
            await press(pilot, "O")
        await press(pilot, "M", *"breaking", "colon", "enter")
        await settle(pilot, work=True)
        assert [column.spec for column in spot(pilot).columns] == ["embedded", "breaking:"]
        assert "A embedded" in screen_text(pilot)
        assert "B breaking:" in screen_text(pilot)
        assert "≠" in page(pilot)
        assert "B breaking cannot classify; kinds of model that can: embedded, hf:" in page(pilot), page(pilot)
        (line,) = [line for line in page(pilot).splitlines() if "evidence" in line]
        assert line.count("evidence") == 2


async def test_a_tasks_prompt_and_raw_output_are_shown_as_a_model_read_and_wrote_them(empty: Workspace) -> None:
    empty.set_setting("live model", f"hf:{TINY / 'hf'}")
    async with opened(empty, size=(120, 40)) as pilot:
        await press(pilot, "9")
        await write(pilot, "I miss her.")
        await settle(pilot, work=True)
        await press(pilot, "escape", "f5")
        assert "written" in page(pilot)
        assert "cannot classify" in page(pilot)
        await press(pilot, "O")
        (answer,) = spot(pilot).columns[0].answers["task spans"].probe.tasks.values()
        if answer.raw is None:
            assert str(answer.why)[:30] in page(pilot)
        else:
            assert "what it wrote" in page(pilot)
        assert "what the model read" in page(pilot) or "what it was sent" in page(pilot)


# Typing.


async def test_without_samples_the_keys_go_into_the_text_and_come_out_by_escape(empty: Workspace) -> None:
    async with opened(empty) as pilot:
        await press(pilot, "9")
        assert editor(pilot).has_focus
        assert "T the selected sample's text" in screen_text(pilot)
        await write(pilot, "quite 1 j k m?")
        assert editor(pilot).text == "quite 1 j k m?"
        assert frame(pilot).place is spot(pilot)
        assert "emotions" in page(pilot)
        await press(pilot, "escape")
        assert not editor(pilot).has_focus
        await press(pilot, "v", "8")
        assert frame(pilot).place is not spot(pilot)
        assert editor(pilot).text == "quite 1 j k m?"
        await press(pilot, "9", "i")
        await write(pilot, "!")
        assert editor(pilot).text == "quite 1 j k m?!"


async def test_enter_starts_a_line_and_undo_takes_typing_back(empty: Workspace) -> None:
    async with opened(empty) as pilot:
        await press(pilot, "9")
        await write(pilot, "one")
        await press(pilot, "enter")
        await write(pilot, "two")
        assert editor(pilot).text == "one\ntwo"
        await press(pilot, "escape", "u")
        assert editor(pilot).text != "one\ntwo"
        await press(pilot, "ctrl+r")
        assert editor(pilot).text == "one\ntwo"


async def test_a_key_is_echoed_while_the_model_works_and_only_the_newest_text_is_asked(
    empty: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = asked_texts(empty, monkeypatch)
    async with opened(empty) as pilot:
        await press(pilot, "9")
        editor(pilot).load_text("SLEEP 1")
        while not asked:
            await pilot.pause(0.01)
        begun = time.monotonic()
        await keys(pilot, ".2")
        assert spot(pilot).sides is not None
        assert spot(pilot).sides.busy
        assert editor(pilot).text.strip("SLEP 1") == ".2"
        assert time.monotonic() - begun < 1
        editor(pilot).load_text("happy")
        await settle(pilot)
        assert asked[0] == "SLEEP 1"
        assert asked[-1] == "happy"
        assert len(asked) <= 3
        (answer,) = [spot(pilot).columns[0].answers["spans"]]
        assert answer.text == "happy"


async def test_an_answer_to_another_text_is_grey_until_the_new_one_comes(empty: Workspace) -> None:
    async with opened(empty) as pilot:
        await press(pilot, "9")
        await write(pilot, "happy")
        assert not any("stale" in str(part.kind) for line in spot_lines(pilot) for part in line)
        spot(pilot).rest = 2
        await keys(pilot, "!")
        await asyncio.sleep(0.3)
        await pilot.pause()
        kinds = {part.kind for line in spot_lines(pilot) for part in line}
        assert "stale" in kinds
        await settle(pilot)
        assert not any(part.kind == "stale" for line in spot_lines(pilot) for part in line)


def spot_lines(pilot: "Pilot[None]") -> Any:
    return frame(pilot).query_one(SpotPage)._lines


async def test_what_takes_over_a_second_is_asked_again_only_on_a_key(
    empty: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = asked_texts(empty, monkeypatch)
    async with opened(empty) as pilot:
        await press(pilot, "9")
        for text in ("SLEEP 1.1", "SLEEP 1.2"):
            editor(pilot).load_text(text)
            await settle(pilot)
        before = list(asked)
        assert before[-1] == "SLEEP 1.2"
        editor(pilot).load_text("SLEEP 1.3")
        await settle(pilot)
        assert asked == before
        assert "F5 asks again" in page(pilot)
        await press(pilot, "f5")
        assert asked[-1] == "SLEEP 1.3"
        assert "F5 asks again" not in page(pilot)


async def test_escape_stops_what_takes_long_and_the_next_question_is_answered(empty: Workspace) -> None:
    async with opened(empty) as pilot:
        await press(pilot, "9")
        await keys(pilot, "SLEEP 50")
        await until(pilot, "Esc stops")
        await pilot.press("escape", "escape")
        await settle(pilot)
        assert "stopped: F5 asks again" in screen_text(pilot)
        await press(pilot, "i")
        await pilot.press(*["backspace"] * 8)
        await write(pilot, "happy")
        await settle(pilot, work=True)
        assert spot(pilot).columns[0].answers["spans"].text == "happy"


async def test_a_paste_of_100_kb_costs_a_line_and_not_the_screen(empty: Workspace) -> None:
    async with opened(empty) as pilot:
        await press(pilot, "9")
        await write(pilot, "here")
        begun = time.monotonic()
        editor(pilot).paste("word " * 20_000)
        await settle(pilot)
        assert time.monotonic() - begun < 2
        assert editor(pilot).text == "here"
        assert any("100 004 characters; 20 000 fit" in told for told in notified(pilot))
        editor(pilot).paste("word " * 3_000)
        await settle(pilot)
        assert len(editor(pilot).text) == 15_004
        assert len(editor(pilot).text) <= LONGEST


async def test_control_characters_and_markup_stay_what_they_are(empty: Workspace) -> None:
    async with opened(empty) as pilot:
        await press(pilot, "9")
        editor(pilot).paste("[red]no\x1b[31m markup\u202e[/red]")
        await settle(pilot)
        assert editor(pilot).text == "[red]no[31m markup[/red]"
        assert "[red]no[31m markup[/red]" in screen_text(pilot)


# Models that fail.


async def test_a_model_that_dies_leaves_its_last_words_and_is_asked_again_on_a_key(empty: Workspace) -> None:
    async with opened(empty, size=(80, 24)) as pilot:
        await press(pilot, "9")
        await write(pilot, "SEGFAULT now")
        text = " ".join(page(pilot).split())
        assert "was killed by SIGSEGV; its last words: about to touch what is not mine" in text
        assert "F5 asks again, m takes another model" in text
        assert "failed" in screen_text(pilot)
        editor(pilot).load_text("happy")
        await settle(pilot)
        assert "SIGSEGV" in page(pilot)
        await press(pilot, "f5")
        await settle(pilot, work=True)
        assert "SIGSEGV" not in page(pilot)
        assert spot(pilot).columns[0].answers["spans"].text == "happy"


async def test_a_model_that_died_answers_again_when_it_is_chosen_again(empty: Workspace) -> None:
    async with opened(empty) as pilot:
        await press(pilot, "9")
        await write(pilot, "SEGFAULT now")
        editor(pilot).load_text("happy")
        await settle(pilot)
        await press(pilot, "escape", "m", "enter")
        await settle(pilot, work=True)
        assert "SIGSEGV" not in page(pilot)
        assert spot(pilot).columns[0].answers["spans"].text == "happy"


async def test_a_text_that_a_model_refuses_says_why_and_the_rest_is_there(empty: Workspace) -> None:
    async with opened(empty) as pilot:
        await press(pilot, "9")
        await write(pilot, "REFUSE this")
        assert "the text is longer than the context (9999 tokens of 512)" in page(pilot)


async def test_a_model_is_loaded_with_its_progress_in_the_top_line_and_escape_stops_it(source: Workspace) -> None:
    source.set_setting("live model", "breaking:slow")
    async with opened(source) as pilot:
        await pilot.press("9")
        await until(pilot, "thinking about it")
        assert "breaking:slow: thinking about it" in screen_text(pilot).splitlines()[0]
        assert "loading" in screen_text(pilot)
        await pilot.press("escape")
        await settle(pilot, work=True)
        assert "It is not loaded: that was stopped" in page(pilot)
        assert source.model("breaking:slow").pid is None


async def test_a_model_that_cannot_be_loaded_says_why_where_its_answers_would_stand(source: Workspace) -> None:
    source.set_setting("live model", "breaking:cannot")
    async with opened(source) as pilot:
        await press(pilot, "9")
        await settle(pilot, work=True)
        assert "model.bin is cut short (1 of 2 bytes): download it again" in " ".join(page(pilot).split())
        await press(pilot, "m", *"breaking", "colon", "enter")
        await settle(pilot, work=True)
        assert "cut short" not in page(pilot)
        assert "emotions" in page(pilot)


async def test_a_kind_of_model_that_is_not_there_is_told_in_words(source: Workspace) -> None:
    source.set_setting("live model", "nonsense:x")
    async with opened(source) as pilot:
        await press(pilot, "9")
        await settle(pilot, work=True)
        assert "nonsense" in page(pilot)
        assert "F5 asks again" in page(pilot)


# Two models.


async def test_two_models_stand_side_by_side_and_under_each_other_where_there_is_no_room(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "9", "M", *"breaking", "colon", *"other", "enter")
        await settle(pilot, work=True)
        assert len({source.model(spec).pid for spec in ("breaking:", "breaking:other")} - {None}) == 2
        (heading,) = [line for line in page(pilot).splitlines() if line.startswith("emotions")]
        assert heading.count("emotions") == 2
        assert "≠" not in page(pilot)
        await pilot.resize_terminal(80, 24)
        await settle(pilot)
        assert [line[0] for line in page(pilot).splitlines() if "emotions" in line] == ["A", "B"]
        await press(pilot, "M")
        assert [column.spec for column in spot(pilot).columns] == ["breaking:"]


async def test_who_marked_what_has_a_row_for_each_model(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "9", "M", *"breaking", "colon", *"other", "enter")
        await settle(pilot, work=True)
        await press(pilot, "a")
        rows = frame(pilot).query_one("#spot-rows", Stave)
        assert rows.display
        assert [voice.name for voice in rows.score.voices] == ["A evidence", "A carries", "B evidence", "B carries"]
        assert rows.score.voices[0].spans == rows.score.voices[2].spans != ()
        await press(pilot, "i")
        assert not rows.display
        assert editor(pilot).has_focus


async def test_the_live_model_is_not_its_own_second(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "9", "M", "enter")
        assert len(spot(pilot).columns) == 1
        assert notified(pilot) == ["That is the live model already"]


async def test_another_live_model_takes_the_place_of_the_one_before(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "9", "m", *"breaking", "colon", *"other", "enter")
        await settle(pilot, work=True)
        assert [column.spec for column in spot(pilot).columns] == ["breaking:other"]
        assert "emotions" in page(pilot)


# Samples.


async def test_an_untouched_text_follows_the_selection_and_an_edited_one_stays(source: Workspace) -> None:
    first, second, third, _ = sample_records(2, 2)
    async with opened(source) as pilot:
        await press(pilot, "9")
        await settle(pilot, work=True)
        assert editor(pilot).text == first.text
        await press(pilot, "j")
        assert editor(pilot).text == second.text
        assert spot(pilot).columns[0].answers["spans"].text == second.text
        await press(pilot, "i", "ctrl+end")
        await write(pilot, " No.")
        await press(pilot, "escape", "j")
        assert editor(pilot).text == second.text + " No."
        assert f"T takes {third.id}" in screen_text(pilot)
        await press(pilot, "T")
        assert editor(pilot).text == third.text
        await press(pilot, "u")
        assert editor(pilot).text == second.text + " No."


async def test_the_sample_of_another_task_travels_along(source: Workspace) -> None:
    from emotui.records import PLUTCHIK, ScenesGold
    from emotui.workbench.samples import add_scenes

    scene = ScenesGold(id="s-1", text="Mara put the phone face down.", labels=dict.fromkeys(PLUTCHIK, 0))
    add_scenes(source.store, "scenes", [scene], "file")
    async with opened(source) as pilot:
        await press(pilot, "4", "9")
        await settle(pilot, work=True)
        assert editor(pilot).text == "Mara put the phone face down."
        assert listed(pilot) == ["s-1"]
        await press(pilot, "1", "9")
        assert len(listed(pilot)) == 4


async def test_a_text_is_kept_by_one_key_and_found_in_browse(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "9")
        await settle(pilot, work=True)
        await press(pilot, "i", "ctrl+end")
        await write(pilot, " Tried.")
        await press(pilot, "f8")
        assert notified(pilot) == [f"kept as spot-001 in the dataset “{SPOT_CHECKS}”: d in Browse shows it"]
        await press(pilot, "escape", "K")
        assert notified(pilot)[-1].startswith("spot-001 is there already")
        await press(pilot, "1", "d", "down", "enter")
        assert listed(pilot) == ["spot-001"]
        assert "Tried." in screen_text(pilot)


async def test_a_read_only_workspace_says_why_it_keeps_nothing(source: Workspace) -> None:
    path = source.store.path
    source.model("breaking:").load()
    read = Workspace(Store.open(path, read_only=True))
    async with opened(read) as pilot:
        await press(pilot, "9", "m", *"breaking", "colon", "enter")
        await settle(pilot, work=True)
        await press(pilot, "K")
        assert any("open read-only" in told for told in notified(pilot))
    read.close()


async def test_files_are_browsed_without_models(tmp_path: Path) -> None:
    file = tmp_path / "g.jsonl"
    file.write_text('{"id": "a", "text": "a fine day", "spans": [[2, 6]]}\n')
    async with opened(FileView(str(file), (), warn=lambda line: None)) as pilot:
        await press(pilot, "9")
        assert "Models answer in a workspace" in screen_text(pilot)
        await press(pilot, "i", "K", "f5", "T", "1")
        assert isinstance(pilot.app.screen, Frame)


async def test_the_mouse_does_what_the_keys_do(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "9")
        await settle(pilot, work=True)
        assert not editor(pilot).has_focus
        await pilot.click(SpotEditor, offset=(8, 0))
        await settle(pilot)
        assert editor(pilot).has_focus
        line = frame(pilot).query_one("#spot-models")
        await pilot.click("#spot-models", offset=(line.size.width - 5, 0))
        await settle(pilot)
        assert "Second model" in screen_text(pilot)


async def test_every_key_of_the_place_is_in_the_help(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "9", "question_mark")
        from textual.widgets import Static

        said = str(pilot.app.screen.query_one("#help-page", Static).content)
        for words in (
            "Spot check",
            "Try the text of the selected sample",
            "Keep the text as a sample",
            "A second model",
        ):
            assert words in said
