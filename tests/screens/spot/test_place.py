"""Spot check: the text of the selected sample or any other, kept as a sample, and what works without models."""

from pathlib import Path

from emotui.screens.frame import Frame
from emotui.screens.spot.view import SpotEditor, evidence
from emotui.screens.widgets.line import Line
from emotui.store.store import Store
from emotui.workbench.datasets.spot_checks import SPOT_CHECKS
from emotui.workbench.files.view import FileView
from emotui.workbench.workspace import Workspace
from tests.screens.browse_workspace import sample_records
from tests.screens.driving import click, frame, help_text, listed, notified, opened, press, screen_text, settle
from tests.screens.spot import driving as spot_driving
from tests.screens.spot.driving import TINY, editor, page, spot, write

machine, source, empty = spot_driving.machine, spot_driving.source, spot_driving.empty


async def test_the_selected_text_is_tried_at_once_by_the_embedded_model(source: Workspace) -> None:
    source.set_setting("live model", "embedded")
    async with opened(source) as pilot:
        await press(pilot, "8", "escape")
        await settle(pilot, work=True)
        assert editor(pilot).text == sample_records(1, 0)[0].text
        text, shown = page(pilot), screen_text(pilot)
        for said in ("goemotions", "ekman", "plutchik", "emotions  log-odds of yes", "evidence", "words that carry"):
            assert said in text
        assert "embedded cannot write; kinds of model that can: hf:, gguf:, openai:" in text
        assert f"of {sample_records(1, 0)[0].id}" in shown
        column = spot(pilot).columns[0]
        spans = column.answers["spans"].probe.spans
        assert spans
        assert evidence(column, editor(pilot).text) == [(span.start, span.end) for span in spans]
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
        await press(pilot, "B", *"breaking", "colon", "enter")
        await settle(pilot, work=True)
        assert [column.spec for column in spot(pilot).columns] == ["embedded", "breaking:"]
        assert "● embedded" in screen_text(pilot)
        assert "◇ breaking:" in screen_text(pilot)
        assert "≠" in page(pilot)
        assert "◇ breaking cannot classify; kinds of model that can: embedded, hf:" in page(pilot), page(pilot)
        (line,) = [line for line in page(pilot).splitlines() if "evidence" in line]
        assert line.count("evidence") == 2


async def test_a_tasks_prompt_and_raw_output_are_shown_as_a_model_read_and_wrote_them(empty: Workspace) -> None:
    empty.set_setting("live model", f"hf:{TINY / 'hf'}")
    async with opened(empty, size=(120, 40)) as pilot:
        await press(pilot, "8")
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


async def test_an_untouched_text_follows_the_selection_and_an_edited_one_stays(source: Workspace) -> None:
    first, second, third, _ = sample_records(2, 2)
    async with opened(source) as pilot:
        await press(pilot, "8", "escape")
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
    from emotui.workbench.datasets.samples import add_samples

    scene = ScenesGold(id="s-1", text="Mara put the phone face down.", labels=dict.fromkeys(PLUTCHIK, 0))
    add_samples(source.store, "scenes", "scenes", [scene], "file")
    async with opened(source) as pilot:
        await press(pilot, "4", "8", "escape")
        await settle(pilot, work=True)
        assert editor(pilot).text == "Mara put the phone face down."
        assert listed(pilot) == ["s-1"]
        await press(pilot, "1", "8")
        assert len(listed(pilot)) == 4


async def test_a_text_is_kept_by_one_key_and_found_in_browse(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "8", "escape")
        await settle(pilot, work=True)
        await press(pilot, "i", "ctrl+end")
        await write(pilot, " Tried.")
        await press(pilot, "f8")
        where = f"in the dataset “{SPOT_CHECKS}”: d in Browse shows it, u takes it out again"
        assert notified(pilot) == [f"kept as spot-001 {where}"]
        await press(pilot, "escape", "f8")
        assert notified(pilot)[-1].startswith("spot-001 is there already")
        await press(pilot, "u")
        assert notified(pilot)[-1] == "spot-001 is not kept any more"
        assert SPOT_CHECKS not in [one.name for one in source.datasets()]
        await press(pilot, "f8", "1", "d", "down", "enter")
        assert listed(pilot) == ["spot-001"]
        assert "Tried." in screen_text(pilot)


async def test_a_read_only_workspace_says_why_it_keeps_nothing(source: Workspace) -> None:
    path = source.store.path
    source.model("breaking:").load()
    read = Workspace(Store.open(path, read_only=True))
    async with opened(read) as pilot:
        await press(pilot, "8", "escape", "m", *"breaking", "colon", "enter")
        await settle(pilot, work=True)
        await press(pilot, "f8")
        assert any("open read-only" in told for told in notified(pilot))
    read.close()


async def test_files_are_browsed_without_models(tmp_path: Path) -> None:
    file = tmp_path / "g.jsonl"
    file.write_text('{"id": "a", "text": "a fine day", "spans": [[2, 6]]}\n')
    async with opened(FileView(str(file), (), warn=lambda line: None)) as pilot:
        await press(pilot, "8")
        assert "Models answer in a workspace" in screen_text(pilot)
        await press(pilot, "i", "f8", "f5", "T", "1")
        assert isinstance(pilot.app.screen, Frame)


async def test_the_mouse_does_what_the_keys_do(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "8", "escape")
        await settle(pilot, work=True)
        assert not editor(pilot).has_focus
        await click(pilot, SpotEditor, offset=(8, 0))
        await settle(pilot)
        assert editor(pilot).has_focus
        line = frame(pilot).query_one("#spot-models")
        await click(pilot, "#spot-models", offset=(line.size.width - 5, 0))
        await settle(pilot)
        assert "Second model" in screen_text(pilot)


async def test_every_key_of_the_place_is_in_the_help(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "8", "escape", "question_mark")
        said = " ".join(help_text(pilot).split())
        for words in (
            "Spot check",
            "Try the text of the selected sample",
            "Keep the text as a sample",
            "A second model",
        ):
            assert words in said


async def test_the_heading_names_the_key_that_writes_as_soon_as_the_text_has_the_focus_no_more(
    empty: Workspace,
) -> None:
    async with opened(empty, size=(120, 40)) as pilot:
        await press(pilot, "8")
        title = frame(pilot).query_one("#spot-title", Line)
        editor(pilot).focus()
        await settle(pilot)
        assert "writes" not in title.text
        pilot.app.screen.set_focus(None)
        await settle(pilot)
        assert "i writes" in title.text
