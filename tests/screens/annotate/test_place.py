"""Annotate: what a person presses, and what is kept for it."""

import threading
from pathlib import Path
from typing import Any

import msgspec
import pytest
from textual.pilot import Pilot

from emotui.errors import EmotuiError
from emotui.records import Mark, SpanSample
from emotui.screens.annotate import drawing
from emotui.screens.annotate import requests as asking
from emotui.screens.annotate.passage import Passage
from emotui.screens.annotate.place import Annotate
from emotui.screens.app import EmotuiApp
from emotui.screens.results.place import Results
from emotui.screens.widgets.cell_width import width as cells
from emotui.screens.widgets.line import Part
from emotui.workbench.annotate.marks import Said
from emotui.workbench.annotate.planning.assignment import Assignment, assign
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.workspace import Workspace
from tests.screens.browse_workspace import workspace
from tests.screens.driving import click, frame, help_text, notified, opened, press, screen_text, settle, strike

Pilots = Pilot[None]


@pytest.fixture
def source(tmp_path: Path) -> Workspace:
    return workspace(tmp_path / "workspace.duckdb")


def place(pilot: Pilots) -> Annotate:
    return frame(pilot).query_one(Annotate)


def kept(source: Workspace, pilot: Pilots) -> Said:
    """What the log has of the text that is shown, read anew."""
    desk = source.annotating
    assert desk is not None
    work = place(pilot).at_work
    return desk().begin(place(pilot).bench_of.dataset.dataset, "someone").said(work.text.number)


def spans(pilot: Pilots) -> list[tuple[str, str | None]]:
    """The words and the label of each span on the screen."""
    work = place(pilot).at_work
    return [(work.text.text[span.start : span.end], span.label) for span in work.said.spans]


def settled(pilot: Pilots) -> int:
    """How many disagreements the adjudication has settled."""
    standing = place(pilot).at_work.standing
    assert standing is not None
    return standing.disagreed_settled


async def choose(pilot: Pilots, word: str) -> None:
    """Type the letters over a word."""
    work = place(pilot).at_work
    at = work.text.text.index(word)
    await press(pilot, *next(code for code, start in work.marking.hints.items() if start == at))


async def mark(pilot: Pilots, first: str, last: str, key: str) -> None:
    """Mark from one word to another by their letters."""
    await press(pilot, "i")
    await choose(pilot, first)
    await choose(pilot, last)
    await press(pilot, key)


async def test_letters_mark_a_span_in_four_to_six_keys_and_it_is_kept(source: Workspace) -> None:
    async with opened(source, (80, 24)) as pilot:
        await press(pilot, "2", "i")
        hints = place(pilot).at_work.marking.hints
        assert max(map(len, hints)) <= 2
        assert not set("".join(hints)) & set("hsdcfaz")
        await press(pilot, "escape")
        await mark(pilot, "I held", "extinguisher", "f")
        assert spans(pilot) == [("I held on to a fire extinguisher", "fear")]
        assert kept(source, pilot).answer == place(pilot).at_work.said.answer
        assert "├fear" in screen_text(pilot)


async def test_e_writes_what_the_annotator_says_beside_gold(
    source: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with opened(source, (80, 24)) as pilot:
        await press(pilot, "2", "e")
        assert "Export the annotations of" in screen_text(pilot)
        await press(pilot, "escape")
        await mark(pilot, "I held", "extinguisher", "f")
        text = place(pilot).at_work.text
        await press(pilot, "e", "enter")
        await settle(pilot, work=True)
        assert notified(pilot) == ["someone has accepted no text yet: nothing is written"]
        await press(pilot, "enter", "e", "enter")
        await settle(pilot, work=True)
    rows = [msgspec.json.decode(line) for line in Path("annotations.jsonl").read_bytes().splitlines()]
    row = next(row for row in rows if row["id"] == text.id)
    (said,) = [said for person, said in row["annotators"].items() if person == "someone"]
    assert [(text.text[span["start"] : span["end"]], span["label"]) for span in said["spans"]] == [
        ("I held on to a fire extinguisher", "fear")
    ]


async def test_letters_that_were_asked_for_from_the_list_are_typed_in_the_text(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "2")
        while place(pilot).passage.has_focus:
            await press(pilot, "escape")
        await press(pilot, "i")
        assert place(pilot).passage.has_focus
        await choose(pilot, "held")
        assert place(pilot).at_work.marking.ends_hinted


async def test_every_word_in_sight_has_its_letters_wherever_the_caret_is(source: Workspace) -> None:
    async with opened(source, (80, 24)) as pilot:
        await press(pilot, "2", ">", ">", ">", "i")
        work = place(pilot).at_work
        words_there = work.marking.units.words(0, len(work.text.text))
        assert sorted(work.marking.hints.values()) == [start for start, _ in words_there]
        lines = screen_text(pilot).splitlines()
        code = next(code for code, start in work.marking.hints.items() if start == 0)
        assert lines[4].split()[0] == code
        first = work.text.text.splitlines()[0].partition(".")[0]
        assert all(word in lines[3] for word in first.split()), "no word is covered"


async def test_where_not_all_words_have_room_for_letters_space_deals_them_to_the_next_ones(tmp_path: Path) -> None:
    text = "The old ferry was still there and I stood and cried. " * 25
    source = workspace(tmp_path / "long.duckdb", samples=[SpanSample(id="a", text=text)], run=False)
    async with opened(source, (80, 24)) as pilot:
        await press(pilot, "2", "i")
        work = place(pilot).at_work
        words = [start for start, _ in work.marking.units.words(0, len(work.text.text))]
        seen: set[int] = set()
        while not seen & set(work.marking.dealt):
            seen |= set(work.marking.dealt)
            shown = screen_text(pilot)
            assert all(f" {code}" in shown for code in work.marking.dealt.values()), shown
            assert "Space: words" in shown
            await press(pilot, "space")
        assert sorted(seen) == words
        assert min(work.marking.dealt) == 0, "and begins again"
        await press(pilot, *work.marking.dealt[words[0]], "space")
        assert work.marking.ends_hinted, "a span that is begun stays so"
        await press(pilot, *work.marking.dealt[max(work.marking.dealt)])
        assert work.marking.selection is not None
        assert work.marking.selection[0] == 0


async def test_a_labels_key_after_the_first_letters_marks_one_word(source: Workspace) -> None:
    async with opened(source, (80, 24)) as pilot:
        await press(pilot, "2", "i")
        await choose(pilot, "pray")
        await press(pilot, "f")
        assert spans(pilot) == [("pray", "fear")]


async def test_after_an_answer_the_title_says_what_tab_does_first(source: Workspace) -> None:
    async with opened(source, (160, 45)) as pilot:
        await press(pilot, "2", "v", "l", "H", "enter")
        lines = screen_text(pilot).splitlines()
        assert any("✓ done   Tab next: others" in line for line in lines)
        assert "Tab next part" in lines[-1], "title and footer have one word for it"
        await press(pilot, "tab")
        assert "sentences 1 neutral" in screen_text(pilot), "what gold says of sentences is in words"
        assert ": their spans have no labels" in screen_text(pilot), "why gold's bars are bare"
        assert "Tab next: others" not in screen_text(pilot)


async def test_nothing_is_said_of_a_text_that_the_list_covers_its_keys_open_it(source: Workspace) -> None:
    async with opened(source, (80, 24)) as pilot:
        await press(pilot, "l", "2")
        listed = screen_text(pilot)
        assert "The ferry" not in listed.splitlines()[1]
        for key, label in (("space", "Space “accept, next”"), ("H", "H “happy”"), ("minus", "- “skip, next”")):
            assert "Space accept" not in screen_text(pilot).splitlines()[-1]
            await press(pilot, key)
            told = screen_text(pilot)
            assert f"{label} was not done: the text was not in sight; here it is" in told
            assert "open" in told.splitlines()[1]
            said = kept(source, pilot)
            assert not said.accepted
            assert said.answer.silent
            await press(pilot, "f6")
        await press(pilot, "enter")
        assert not kept(source, pilot).accepted, "Enter opens it too"
        await press(pilot, "space", "space")
        assert place(pilot).at_work.progress.accepted == 1


def test_labels_stand_in_lines_of_about_one_length_and_closer_where_that_saves_one() -> None:
    names = ("happy", "sad", "disgust", "contempt", "fear", "angry", "surprise")
    parts = [Part(" label ")]
    for name in names:
        parts += [Part(" "), Part(name[0], "key"), Part(f" {name}"), Part(" ")]

    def lines(cells: int) -> list[str]:
        return ["".join(part.text for part in line) for line in drawing.folded(parts, cells)]

    assert lines(80) == [" label  h happy  s sad  d disgust  c contempt  f fear  a angry  s surprise "]
    assert lines(70) == [" label  h happy s sad d disgust c contempt f fear a angry s surprise"]
    assert lines(62) == [" label  h happy  s sad  d disgust  c contempt ", "        f fear  a angry  s surprise "]


async def test_while_a_span_is_begun_the_line_says_what_keys_do_and_v_is_not_offered(source: Workspace) -> None:
    async with opened(source, (80, 24)) as pilot:
        await press(pilot, "2")
        assert "v begins a span, h l move it, a label's key ends it" in screen_text(pilot)
        assert (
            screen_text(pilot)
            .splitlines()[-1]
            .startswith(" v begin span  i letters  Space accept, next  Enter accept  j k move")
        )
        await press(pilot, "l", "v", "l")
        assert "a label's key marks it, Enter without a label" in screen_text(pilot)
        assert "v begin" not in screen_text(pilot).splitlines()[-1]
        await press(pilot, "H", "escape", "l", "v")
        assert "a label's key marks it, Enter as happy" in screen_text(pilot)
        await press(pilot, "v")
        assert "v begin span: a label's key or Enter ends the one that is begun, Esc drops it" in screen_text(pilot)


async def test_the_caret_marks_by_words_characters_clauses_and_sentences(source: Workspace) -> None:
    async with opened(source, (80, 24)) as pilot:
        await press(pilot, "2", "l", "v", "l", "l", "H", "escape")
        assert spans(pilot) == [("ferry to Stornoway", "happy")]
        await press(pilot, ">", ">", "S")
        assert spans(pilot)[1] == ("My sister had packed egg sandwiches and a flask.", "sad")
        await press(pilot, "escape", ")", "v", "shift+left", "enter")
        assert spans(pilot)[2] == ("Then the floor tilted in a way floors shouldn't", "sad")


async def test_spans_overlap_nest_and_equal_each_other_with_other_labels(source: Workspace) -> None:
    async with opened(source, (80, 24)) as pilot:
        await press(pilot, "2", "v", "l", "l", "H", "v", "H", "escape", "h", "v", "l", "l", "S", "v", "h", "h", "H")
        assert len(set(spans(pilot))) == len(spans(pilot)) == 4


async def test_borders_move_tab_walks_and_x_removes(source: Workspace) -> None:
    async with opened(source, (80, 24)) as pilot:
        await press(pilot, "2", "l", "l", "v", "l", "H", "]", "}", "}")
        assert spans(pilot) == [("Stornoway left at", "happy")]
        await press(pilot, "[", "[", "{")
        assert spans(pilot) == [("ferry to Stornoway left", "happy")]
        await press(pilot, "escape", ">", ">", "S", "shift+tab")
        assert place(pilot).at_work.marking.chosen_span == place(pilot).at_work.said.spans[0]
        await press(pilot, "tab", "x")
        assert spans(pilot) == [("ferry to Stornoway left", "happy")]
        assert kept(source, pilot).answer == place(pilot).at_work.said.answer


async def test_tab_goes_from_span_to_span_and_past_the_last_to_the_next_pane(source: Workspace) -> None:
    async with opened(source, (120, 35)) as pilot:
        await press(pilot, "2", "v", "H", "escape", ">", ">", "v", "S", "escape", "<", "<")
        passage, marking = pilot.app.focused, place(pilot).at_work.marking
        first, last = marking.spans
        walked = []
        for _ in marking.spans:
            await press(pilot, "tab")
            walked.append(marking.chosen_span)
        assert (walked, pilot.app.focused) == ([first, last], passage)
        await press(pilot, "tab")
        assert pilot.app.focused is not passage
        await press(pilot, "shift+tab", "shift+tab")
        assert (marking.chosen_span, pilot.app.focused) == (first, passage)


async def test_undo_and_redo_go_over_texts_and_restarts(source: Workspace, tmp_path: Path) -> None:
    async with opened(source, (80, 24)) as pilot:
        await press(pilot, "2", "v", "H", "space")
        second = place(pilot).at_work.text.id
        await press(pilot, "v", "S")
    async with opened(Workspace.open(tmp_path / "workspace.duckdb"), (80, 24)) as pilot:
        await press(pilot, "2", "u")
        assert place(pilot).at_work.text.id == second
        assert spans(pilot) == []
        await press(pilot, "u")
        first = place(pilot).at_work
        assert first.text.id != second
        assert not first.said.accepted
        await press(pilot, "u")
        assert spans(pilot) == []
        await press(pilot, *["ctrl+r"] * 3)
        assert place(pilot).at_work.text.id == second
        assert [label for _, label in spans(pilot)] == ["sad"]
        await press(pilot, "ctrl+r")
        assert "Nothing was taken back" in screen_text(pilot).splitlines()[-1]


async def test_gold_and_others_are_hidden_until_one_has_answered_and_then_tab_reveals_them(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "2")
        shown = screen_text(pilot)
        assert "gold" not in shown
        assert "  emotion  " not in shown
        assert "F1" not in shown
        await press(pilot, "v", "H", "tab")
        assert place(pilot).at_work.others == ()
        await press(pilot, "enter", "tab")
        work = place(pilot).at_work
        assert work.said.revealed
        assert "gold" in [other.name for other in work.others]
        assert "gold" in screen_text(pilot)
        await press(pilot, "x")
        assert work.said.changed
        assert kept(source, pilot).first is not None


async def test_space_accepts_and_goes_on_to_the_next_open_text_and_keys_typed_meanwhile_wait(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "2")
        first = place(pilot).at_work.text.number
        await press(pilot, "enter")
        assert not place(pilot).at_work.said.accepted, "Enter may have been meant to open the text"
        assert "Nothing is marked: Enter again accepts it so" in screen_text(pilot).splitlines()[-1]
        await press(pilot, "space")
        second = place(pilot).at_work.text.number
        assert second != first
        assert "is done, with nothing marked; u takes it back" in screen_text(pilot).splitlines()[-1]
        assert "✓" in screen_text(pilot)
        assert "1 of 30" in screen_text(pilot)
        await press(pilot, "space")
        assert place(pilot).at_work.text.number != second, "asked once, no more"


async def test_the_mouse_marks_by_dragging_and_chooses_by_clicking(source: Workspace) -> None:
    async with opened(source, (80, 24)) as pilot:
        await press(pilot, "2")
        passage = pilot.app.screen.query_one(Passage)
        await pilot.mouse_down(passage, offset=(5, 1))
        await pilot.hover(passage, offset=(15, 1))
        await pilot.mouse_up(passage, offset=(15, 1))
        await press(pilot, "y")
        assert pilot.app.clipboard == "The ferry to"
        await press(pilot, "h")
        assert spans(pilot) == [("The ferry to", "happy")]
        await press(pilot, "escape")
        await click(pilot, passage, offset=(8, 2))
        chosen = place(pilot).at_work.marking.chosen_span
        assert chosen == place(pilot).at_work.said.spans[0]


async def test_suggestions_are_taken_mended_and_refused_one_by_one(source: Workspace) -> None:
    async with opened(source, (80, 24)) as pilot:
        await press(pilot, "2", "b", "enter")
        work = place(pilot).at_work
        assert work.said.suggestion is not None
        open_before = len(work.said.suggestion.open)
        await press(pilot, "tab", "enter", "x")
        assert work.said.suggestion is not None
        assert len(work.said.spans) == 1
        assert len(work.said.suggestion.open) == open_before - 2 - len(work.said.answer.sentences)


async def test_notes_flags_and_doubt_are_kept(source: Workspace) -> None:
    async with opened(source, (80, 24)) as pilot:
        await press(pilot, "2", "w", "!", "semicolon", "a", "b", "enter")
        said = kept(source, pilot)
        assert (said.unsure, said.flag, said.note) == (True, True, "ab")
        await press(pilot, "f2")
        assert "Emotion evidence" in screen_text(pilot)


async def test_a_text_is_passed_over_and_the_next_one_opens(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "2")
        first = place(pilot).at_work.text.number
        await press(pilot, "minus")
        await settle(pilot)
        second = place(pilot).at_work.text.number
        assert second != first
        await press(pilot, "underscore")
        await settle(pilot)
        await press(pilot, "k")
        await settle(pilot)
        assert place(pilot).at_work.text.number == second
        assert place(pilot).at_work.said.skipped == "cannot judge"
        assert "cannot judge" in screen_text(pilot)
        await press(pilot, "backspace")
        await settle(pilot)
        assert not place(pilot).at_work.said.accepted


async def test_adjudication_visits_disagreements_and_a_digit_takes_that_version(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "2", "f4", "enter")
        work = place(pilot).at_work
        assert work.standing is not None
        assert [other.name for other in work.others] == ["1 A1", "2 A2", "3 A3"]
        assert "0 of" in screen_text(pilot)
        await press(pilot, "space")
        assert screen_text(pilot).splitlines()[-1].strip().startswith("No version is chosen: 1 to 3")
        assert not notified(pilot), "nothing lies over text and labels"
        assert not place(pilot).at_work.said.accepted
        await press(pilot, "9")
        assert "There are 3 sources; F4 ends the adjudication" in screen_text(pilot).splitlines()[-1]
        assert place(pilot).display, "digits open no places meanwhile"
        await press(pilot, "2")
        assert work.said.answer.same_as(work.others[1].answer)
        await press(pilot, "plus")
        union = work.said.answer.places
        assert union == frozenset(place for other in work.others for place in other.answer.places)
        first = work.text.number
        await press(pilot, "space")
        there = place(pilot).at_work
        assert there.text.number != first
        assert there.standing is not None
        assert there.standing.disagreed_settled == 1
        await press(pilot, "tab", "enter")
        assert len(there.said.spans) == 1
        await press(pilot, "u", "u")
        assert place(pilot).at_work.text.number == first
        await press(pilot, "dollar_sign", "f4")
        assert place(pilot).at_work.standing is None
        assert place(pilot).at_work.said.spans == ()


async def test_a_hostile_text_is_shown_literally_with_bars_under_its_words(tmp_path: Path) -> None:
    text = "[b]bold[/b] \x1b[31m 👨‍👩‍👧 te\u0301 日本語 שלום \u202eend"
    source = workspace(tmp_path / "hostile.duckdb", samples=[SpanSample(id="a[red]", text=text)], run=False)
    async with opened(source, (80, 24)) as pilot:
        await press(pilot, "2")
        for word, key in (("👨", "H"), ("日本", "S"), ("שלום", "F")):
            await press(pilot, "escape", "i")
            await choose(pilot, word)
            await press(pilot, key)
        assert [words for words, _ in spans(pilot)] == ["👨‍👩‍👧", "日本", "שלום"]
        lines = screen_text(pilot).splitlines()
        assert "a[red]" in lines[1]
        assert "[b]bold[/b] ␛[31m" in lines[3]
        assert "\x1b" not in "".join(lines)
        line, bars = lines[3], lines[4]
        for word, label in (("👨", "├happy"), ("日本", "├S─┤"), ("שלום", "├F─┤")):
            assert cells(line[: line.index(word)]) == cells(bars[: bars.index(label)])


async def test_the_list_stands_in_the_order_in_which_the_texts_come_and_keys_follow_it(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "2", "s", "j", "enter")
        order, rows = list(place(pilot).bench_of.order), frame(pilot).pane
        assert order == list(rows.numbers) != sorted(order)
        assert "random, seed 0" in screen_text(pilot)
        await press(pilot, "g", "space", "space", "j", "space")
        assert [number for number in order if number in place(pilot).bench_of.accepted()] == [order[0], order[2]]
        assert place(pilot).at_work.text.number == order[3]
        await press(pilot, "g", "n")
        assert place(pilot).at_work.text.number == order[1]
        await press(pilot, "1")
        assert list(rows.numbers) == sorted(order)


async def test_help_names_what_a_key_does_here_and_f3_shows_the_agreement(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "2", "question_mark")
        lines = [line.split() for line in help_text(pilot).splitlines()]
        of = {key: [line[1:] for line in lines if line[:1] == [key]] for key in "HFnxu"}
        assert of["H"][0][0] == "happy"
        assert [words[0] for words in (of["F"][0], of["n"][0], of["x"][0], of["u"][0])] == [
            "fear",
            "next",
            "remove",
            "undo",
        ]
        assert "error" not in of["n"][0]
        await press(pilot, "escape", "f3")
        assert "agreement" in screen_text(pilot)
        assert isinstance(frame(pilot).place, Results)
        assert frame(pilot).query_one(Results).looked.view == "agreement"


async def test_an_adjudication_goes_on_after_a_restart_and_its_steps_are_undone_and_redone(
    source: Workspace, tmp_path: Path
) -> None:
    begun = ("2", "f4", "enter")
    async with opened(source, (80, 24)) as pilot:
        await press(pilot, *begun, "2", "space", "1")
        second = place(pilot).at_work
    async with opened(Workspace.open(tmp_path / "workspace.duckdb"), (80, 24)) as pilot:
        await press(pilot, *begun, "n")
        work = place(pilot).at_work
        assert work.text.id == second.text.id
        assert work.said == second.said
        assert settled(pilot) == 1
        await press(pilot, "u", "u")
        assert settled(pilot) == 0
        await press(pilot, "ctrl+r", "ctrl+r", "space")
        assert settled(pilot) == 2


async def test_labels_stand_right_under_the_text_and_the_line_over_it_says_who_and_how_far(source: Workspace) -> None:
    dataset = source.datasets()[0]
    async with opened(source, (100, 40)) as pilot:
        await press(pilot, "2")
        lines = [line.rstrip() for line in screen_text(pilot).splitlines()]
        assert lines[1].endswith("someone  0 of 30 done")
        last = max(at for at, line in enumerate(lines) if "stranger's dog" in line)
        keys = next(at for at, line in enumerate(lines) if "label  H happy" in line)
        assert keys - last == 3, "a blank line, the line about the caret, the labels"
        await mark(pilot, "I held", "extinguisher", "f")
        moved = [line.rstrip() for line in screen_text(pilot).splitlines()]
        assert next(at for at, line in enumerate(moved) if "H happy" in line) == keys + 1
        await press(pilot, "x")
        assert "H happy" in screen_text(pilot).splitlines()[keys + 1], "what stands there does not jump back"
        await pilot.resize_terminal(80, 16)
        await settle(pilot)
        assert "H happy" in screen_text(pilot), "a text that is too long is scrolled, its labels are not"
    assign(source.store, dataset, Assignment(annotators=("ann", "someone"), overlap=1, batch=5))
    async with opened(Workspace.open(source.store.path), (100, 40)) as pilot:
        await press(pilot, "2", "space", "space", "space")
        assert screen_text(pilot).splitlines()[1].rstrip().endswith("left")
        assert "someone  2 today  " in screen_text(pilot)


async def test_a_key_that_comes_before_the_first_text_waits_for_it(source: Workspace) -> None:
    async with opened(source, (100, 30)) as pilot:
        await strike(pilot, "2", "i")
        await settle(pilot)
        assert place(pilot).at_work.marking.hints
        assert "no text is open" not in screen_text(pilot)


async def test_a_named_annotator_begins_in_annotate_and_sees_nobodys_answer(source: Workspace) -> None:
    async with opened(source, (100, 30)) as pilot:
        await press(pilot, "2")
        await mark(pilot, "I held", "extinguisher", "f")
        await press(pilot, "space")
    app = EmotuiApp(lambda: Workspace.open(source.store.path), poll=None, annotator="ben", annotates=True)
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        assert isinstance(app.frame.place, Annotate)
        await press(pilot, "g")
        lines = screen_text(pilot).splitlines()
        last = max(at for at, line in enumerate(lines) if "stranger's dog" in line)
        assert "label  H happy" in lines[last + 3], "right under the text, when it is the first screen too"
        assert "ben  0 of 30 done" in lines[1]
        assert "fire extinguisher" in screen_text(pilot)
        assert "├fear" not in screen_text(pilot)
        assert not spans(pilot)


async def test_who_was_assigned_texts_begins_with_these_and_with_the_training_among_them(source: Workspace) -> None:
    other = source.datasets()[0]
    texts = [SpanSample(id=f"n{n}", text=f"Text number {n}.") for n in range(30)]
    texts[17] = SpanSample(id="n17", text="I am glad.", spans=(Mark(start=5, end=9),))
    dataset = add_samples(source.store, "spans", "mine", texts, "mine.jsonl")
    assign(source.store, dataset, Assignment(annotators=("ann", "ben"), overlap=2, batch=5, training=1))
    async with opened(source, (100, 30)) as pilot:
        assert pilot.app.frame.session.overview.dataset.name == other.name  # what was looked at before
    app = EmotuiApp(lambda: Workspace.open(source.store.path), poll=None, annotator="ben", annotates=True)
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        work = place(pilot).at_work.text
        assert work.id == "n17", "the training is everybody's first text, whoever is dealt all of them"
        await press(pilot, "space", "space")
        assert "gold" in screen_text(pilot), "what gold says follows"
        await press(pilot, "space")
        assert place(pilot).at_work.text.number == place(pilot).bench_of.order[1]


async def test_work_begins_at_the_next_open_text_and_goes_where_one_wants_from_there(
    source: Workspace, tmp_path: Path
) -> None:
    async with opened(source, (80, 24)) as pilot:
        await press(pilot, "2", "space", "space")
        second = place(pilot).at_work.text.id
        await press(pilot, "k")
        first = place(pilot).at_work.text.id
    async with opened(Workspace.open(tmp_path / "workspace.duckdb"), (80, 24)) as pilot:
        await press(pilot, "2")
        assert place(pilot).at_work.text.id == second != first
        await press(pilot, "1", "k", "2")  # a text that is chosen afterwards is the one at work
        assert place(pilot).at_work.text.id == first


async def test_the_list_is_blank_until_its_order_here_is_known_and_columns_and_keys_are_those_of_the_place(
    source: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, stand = threading.Event(), asking.stand

    def late(*asked: Any) -> asking.Stood:
        read.wait(20)
        return stand(*asked)

    monkeypatch.setattr(asking, "stand", late)
    async with opened(source) as pilot:
        rows = frame(pilot).pane.rows
        await press(pilot, "s", *"length", "enter")
        first = rows.row(0)
        assert first is not None
        try:
            await strike(pilot, "2")
            shown = screen_text(pilot).splitlines()
            assert rows.blank
            assert shown[2].startswith("  id     done   text")
            assert "reading it …" in shown[1]
            assert not any(first.id in line for line in shown)
            assert shown[-1].startswith(" v begin span  i letters  Space accept, next  Enter accept  j k move")
        finally:
            read.set()
        await settle(pilot)
        assert not rows.blank
        assert frame(pilot).pane.numbers == sorted(frame(pilot).pane.numbers)
        assert screen_text(pilot).splitlines()[2].startswith("  id     done   text")
        await press(pilot, "1", "2")
        assert not rows.blank, "what is known is said at once"


async def test_where_nothing_can_be_annotated_the_list_does_not_wait(
    source: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any) -> asking.Stood:
        raise EmotuiError("no scheme")

    monkeypatch.setattr(asking, "stand", fails)
    async with opened(source) as pilot:
        await press(pilot, "2")
        assert "This text cannot be annotated" in screen_text(pilot)
        assert not frame(pilot).pane.rows.blank


async def test_a_chosen_span_has_one_ground_and_its_bar_none(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "2", "v", "l", "l", "H")
        passage = place(pilot).query_one(Passage)
        assert passage.view.chosen is not None
        grounds = {cell.style.bgcolor for cell in passage._text_row(0) if cell.style and cell.text.strip()}
        assert len(grounds) == 2, "that of the text, and one of the span"
        assert not passage._style("bar-chosen").reverse
