"""The list: searched, filtered, sorted, clicked, and the same again after a restart."""

import threading
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from rich.segment import Segment
from rich.style import Style
from textual.app import App, ComposeResult
from textual.color import Color

from emotui.records import PLUTCHIK
from emotui.screens.browse.place import Browse
from emotui.screens.folding import Divider
from emotui.screens.samples.corpus import Corpus, CorpusLine, ticks
from emotui.screens.samples.table import SampleList, columns, feelings, telling
from emotui.screens.widgets.switches import Switches
from emotui.store.query import ListQuery, ListRow
from emotui.workbench.rephrase.service import Rephrasing
from emotui.workbench.workspace import Workspace
from tests.screens.browse_workspace import list_query, sample_records, workspace
from tests.screens.driving import (
    click,
    event_of,
    frame,
    listed,
    opened,
    press,
    screen_text,
    settle,
    shown_id,
    until,
)
from tests.screens.rephrase_workspace import scripted
from tests.waiting import awaited


@pytest.fixture
def source(tmp_path: Path) -> Workspace:
    return workspace(tmp_path / "workspace.duckdb")


async def test_search_follows_each_letter_and_letters_are_text_while_one_types(source: Workspace) -> None:
    samples = sample_records()
    async with opened(source) as pilot:
        await press(pilot, "slash", "q", "u", "i")
        assert listed(pilot) == [sample.id for sample in samples if "qui" in sample.text.lower()]
        await press(pilot, "enter")
        assert pilot.app.focused is frame(pilot).query_one(SampleList)
        assert "“qui”" in screen_text(pilot)
        await press(pilot, "x")
        assert len(listed(pilot)) == len(samples)
        for key in ("j", "slash", *"squid", "enter"):  # all of it before anything is answered
            pilot.app.post_message(event_of(key))
        await settle(pilot)
        assert frame(pilot).session.state.text == "squid"
        assert len(pilot.app.screen_stack) == 1, "no letter behind the / is a key"


async def test_what_is_searched_for_is_not_cut_for_the_order_that_it_stands_in(source: Workspace) -> None:
    async with opened(source, (120, 35)) as pilot:
        await press(pilot, "s", "j", "j", "enter", "slash", *"extinguisher", "enter")
        assert "“extinguisher”" in screen_text(pilot).splitlines()[1]
        await press(pilot, "x")
        assert "lowest F1 first" in screen_text(pilot).splitlines()[1]


async def test_escape_takes_back_what_was_typed_into_the_search(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "slash", "z", "z", "z")
        assert listed(pilot) == []
        assert "No sample fits" in screen_text(pilot)
        await press(pilot, "escape")
        assert len(listed(pilot)) == len(sample_records())


async def test_filter_keeps_the_samples_with_an_emotion_and_says_so(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "f")
        names = source.emotions(1)
        await press(pilot, *["right"] * names.index("sad"), "space", "enter")
        expected = [s.id for s in sample_records() if "sad" in {s.emotion, *(one.emotion for one in s.sentences)}]
        assert listed(pilot) == expected
        assert f"{len(expected)} of {len(sample_records())}  sad" in screen_text(pilot)


async def test_the_filter_counts_what_it_would_keep_and_a_letter_goes_to_a_name(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "f")
        counts = source.filter_counts(1, "rule-1")
        await until(pilot, f"□ sad {counts['emotions']['sad']}", f"□ M missed {counts['marks']['M']}")
        await press(pilot, "s", "space")
        assert f"■ sad {counts['emotions']['sad']}" in screen_text(pilot)
        await until(pilot, f"Filter   leaves {counts['emotions']['sad']}")
        await press(pilot, "enter")
        assert len(listed(pilot)) == counts["emotions"]["sad"]


async def test_a_label_that_gold_cannot_judge_is_not_counted_as_never_wrong(source: Workspace) -> None:
    async with opened(source, (120, 35)) as pilot:
        await press(pilot, "L")
        assert "only spans that gold gives a label are scored by it" in " ".join(screen_text(pilot).split())
        await press(pilot, "f")
        await until(pilot, "L not scored: gold has no label of spans")
        line = next(line for line in screen_text(pilot).splitlines() if "L not scored" in line)
        assert "D number far off" not in line, "on a line of its own"
        assert "L" not in source.filter_counts(1, "rule-1")["marks"]
        marks = pilot.app.screen.query_one("#marks", Switches)
        await press(pilot, "tab", "tab", "left", "space")
        assert marks.chosen == (), "what cannot be counted comes last and is not switched on"
        await press(pilot, "left", "space")
        assert marks.chosen == ("D",)


async def test_filter_by_f1_refuses_what_is_no_figure(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "f", "tab", "tab", "tab", "2", "enter")
        assert "figures from 0 to 1" in screen_text(pilot)
        await press(pilot, "backspace", "0", ".", "9", "enter")
        rows = source.page(list(source.order(list_query(source))), "rule-1")
        assert listed(pilot) == [row.id for row in rows if (row.values.get("f1") or 0) >= 0.9]


async def test_enter_keeps_the_order_and_space_turns_it_round_with_the_same_sample_selected(source: Workspace) -> None:
    async with opened(source) as pilot:
        here = shown_id(pilot)
        await press(pilot, "s", "j", "enter")
        assert listed(pilot) == sorted(sample.id for sample in sample_records())
        assert shown_id(pilot) == here
        await press(pilot, "s", "enter")
        assert listed(pilot) == sorted(sample.id for sample in sample_records())
        await press(pilot, "s", "space")
        assert "id, the last first" in screen_text(pilot)
        await press(pilot, "j", "j")
        assert "Sim of the run, highest first" in screen_text(pilot)
        await press(pilot, "k", "k", "enter")
        assert listed(pilot) == sorted((sample.id for sample in sample_records()), reverse=True)
        assert shown_id(pilot) == here
        assert "by id, the last first" in screen_text(pilot)
        await press(pilot, "s", "j", "enter")
        assert "highest F1 first" in screen_text(pilot)
        await press(pilot, "s", "space", "enter")
        assert "lowest F1 first" in screen_text(pilot)


async def test_the_figure_in_the_list_is_a_choice_that_is_remembered(source: Workspace) -> None:
    async with opened(source) as pilot:
        assert " F1 errors" in screen_text(pilot)
        await press(pilot, "percent_sign", "j", "j", "enter")
        assert "P errors" in screen_text(pilot)
        await press(pilot, "q")
    async with opened(source) as pilot:
        assert "P errors" in screen_text(pilot)


async def test_filter_order_position_overlay_and_colours_survive_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "workspace.duckdb"
    async with opened(workspace(path)) as pilot:
        await press(pilot, "s", "j", "enter", "j", "j", "j", "o")
        await press(pilot, "slash", "t", "h", "e", "enter")
        frame(pilot).tool.use_theme("light")
        await settle(pilot)
        before = (shown_id(pilot), listed(pilot))
        await press(pilot, "q")
    async with opened(Workspace.open(path)) as pilot:
        assert (shown_id(pilot), listed(pilot)) == before
        assert frame(pilot).session.state.sort == "id"
        assert frame(pilot).query_one(Browse).overlay == "gold"
        assert pilot.app.theme == "light"


async def test_rows_are_drawn_twice_at_a_start_and_a_click_selects_and_the_wheel_only_scrolls(
    source: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[str] = []
    cells = SampleList._cells

    def counted(rows: SampleList, row: ListRow, base: Style, *, plain: bool) -> list[Segment]:
        drawn.append(row.id)
        return cells(rows, row, base, plain=plain)

    monkeypatch.setattr(SampleList, "_cells", counted)
    async with opened(source, (160, 20), cells=True) as pilot:
        assert max(Counter(drawn).values()) <= 2
        rows = frame(pilot).query_one(SampleList)
        await click(pilot, SampleList, offset=(5, 4))
        await settle(pilot)
        assert rows.cursor == 4
        assert shown_id(pilot) == sample_records()[4].id
        rows.scroll_down(animate=False)
        rows.scroll_down(animate=False)
        await settle(pilot)
        assert rows.scroll_offset.y > 0
        assert rows.cursor == 4


async def test_where_an_answer_is_right_or_wrong_the_list_says_so_and_speaks_of_no_f1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = scripted(tmp_path)
    source.run_model("embedded", source.store.datasets.get("rephrase").dataset)  # type: ignore[union-attr]
    # The state of its chains comes with the round; the letters of errors are away from the beginning.
    begins, begin = threading.Event(), Rephrasing.begin

    def late(rephrasing: Rephrasing, *asked: Any, **how: Any) -> Any:
        begins.wait()
        return begin(rephrasing, *asked, **how)

    monkeypatch.setattr(Rephrasing, "begin", late)
    async with opened(source) as pilot:
        try:
            await press(pilot, "3")
            shown = screen_text(pilot)
            assert "  id     right outcome emotion" in shown
            assert "rs-1       ✓        " in shown
            assert "rs-5       ✗        " in shown
            assert not frame(pilot).query_one(CorpusLine).display, "misread has one sign there, the list's"
            await press(pilot, "s")
            assert "wrong ones first" in screen_text(pilot)
            await press(pilot, "escape", "f")
            assert "right from" in screen_text(pilot)
            assert "F1" not in screen_text(pilot)
        finally:
            begins.set()


async def test_the_corpus_line_has_a_tick_a_sample_follows_n_and_a_click_and_dims_what_is_filtered(
    source: Workspace,
) -> None:
    rows = source.page(list(source.order(list_query(source))), "rule-1")
    worst = [next((mark for mark in "!HMFNXLD" if mark in row.marks), "·") for row in rows]
    async with opened(source) as pilot:
        line = frame(pilot).query_one(CorpusLine)
        assert line.text == "".join(worst)
        assert f"errors {line.text}" in screen_text(pilot)
        assert line.here == 0
        await press(pilot, "n")
        wrong = next(at for at, mark in enumerate(worst) if mark != "·")
        assert line.here == wrong
        await click(pilot, CorpusLine, offset=(2 + len("errors ") + 9, 0))
        await settle(pilot)
        assert (line.here, shown_id(pilot)) == (9, rows[9].id)
        await press(pilot, "slash", "q", "u", "i", "enter")
        kept = [row.id for row in rows if row.id in listed(pilot)]
        assert [rows[at].id for at, tick in enumerate(line.ticks) if tick.listed] == kept
        assert len(line.ticks) == len(rows)
        many = Corpus(np.arange(211) % 5, np.arange(211), np.arange(211), 1)
        line.show(many)
        assert line.name_shown.startswith("errors, ")
        line.show(Corpus(np.arange(211) % 5, np.arange(211) - 100, np.arange(211), 1))
        assert line.name_shown.startswith("errors of all 211, ")


async def test_errors_have_one_colour_in_the_line_and_in_the_rows_under_it(source: Workspace) -> None:
    async with opened(source) as pilot:
        line, rows = frame(pilot).query_one(CorpusLine), frame(pilot).pane.rows
        mark = pilot.app.theme_variables["mark"]
        drawn = [segment for segment in line.render_line(0) if segment.text.strip("· ") and segment.text != "errors "]
        drawn += [segment for segment in rows.render_line(3) if segment.text.strip() in ("N", "M", "X", "NX", "N X")]
        colours = {str(segment.style.color.name) for segment in drawn if segment.style and not segment.style.reverse}
        assert colours == {mark}


async def test_a_corpus_line_of_which_nothing_can_be_told_is_not_there(tmp_path: Path) -> None:
    async with opened(workspace(tmp_path / "w.duckdb", run=False)) as pilot:
        assert not frame(pilot).query_one(CorpusLine).display, "nothing is scored"


@pytest.mark.parametrize(
    ("severity", "tells"),
    [(None, False), ((-1, -1), False), ((0, 0), False), ((3, 3), False), ((0, 3), True), ((-1, 0), True)],
)
def test_a_corpus_tells_something_where_samples_differ(severity: tuple[int, int] | None, tells: bool) -> None:
    shown = None if severity is None else np.array(severity)
    assert Corpus(shown, range(2), range(2), 0).tells is tells


@pytest.mark.parametrize(("right", "tells"), [(1, False), (9, False), (60, True), (159, True)])
def test_a_corpus_nearly_every_part_of_which_has_the_same_error_tells_nothing(right: int, tells: bool) -> None:
    severity = np.full(180, 3)
    severity[np.linspace(0, 179, right).astype(int)] = 0
    severity[:right] = 0 if right > 9 else severity[:right]
    assert Corpus(severity, range(180), range(180), 0).tells is tells


async def test_the_line_beside_the_list_moves_by_key_and_mouse_stays_between_places_and_is_remembered(
    tmp_path: Path,
) -> None:
    path = tmp_path / "workspace.duckdb"
    async with opened(workspace(path)) as pilot:
        pane, divider = frame(pilot).pane, frame(pilot).query_one(Divider)
        before = pane.size.width
        await press(pilot, "ctrl+left")
        assert pane.size.width == before - 4
        for number in ("2", "4", "1"):
            await press(pilot, number)
            assert pane.size.width == before - 4
        await pilot.mouse_down(Divider)
        await pilot.hover(offset=(70, 10))
        await pilot.mouse_up(offset=(72, 10))
        await settle(pilot)
        assert divider.region.x == 72
        await press(pilot, "q")
    async with opened(Workspace.open(path)) as pilot:
        assert frame(pilot).query_one(Divider).region.x == 72
        await pilot.resize_terminal(120, 30)
        await settle(pilot)
        assert frame(pilot).place.size.width >= 46


async def test_the_list_does_not_wait_behind_work_that_takes_long(source: Workspace) -> None:
    over = threading.Event()
    async with opened(source) as pilot:
        for _ in range(12):
            frame(pilot).run_worker(over.wait, thread=True)
        try:
            session = frame(pilot).session
            session.change(replace(session.state, text="qui"))
            await awaited(lambda: 0 < len(listed(pilot)) < len(sample_records()), lambda: screen_text(pilot))
        finally:
            over.set()


async def test_rows_of_another_list_than_was_asked_for_say_so_and_never_come_after_it_was_left(
    source: Workspace,
) -> None:
    asked, goes_on = threading.Event(), threading.Event()
    order = source.order

    def slow(query: ListQuery) -> "np.ndarray | range":
        if query.text:
            asked.set()
            goes_on.wait()
        return order(query)

    async with opened(source) as pilot:
        pane = frame(pilot).pane
        source.order = slow  # type: ignore[method-assign]
        try:
            session = frame(pilot).session
            session.change(replace(session.state, text="qui"))
            await awaited(asked.is_set, lambda: "the list was not asked for")
            await awaited(
                lambda: pane.rows.has_class("-stale"), lambda: "rows of the list before look like the new ones"
            )
            assert "reading it" in screen_text(pilot)
            pane.forget()
        finally:
            goes_on.set()
        await settle(pilot)
        assert (pane.n, listed(pilot)) == (0, [])
        assert not pane.rows.has_class("-stale")


def test_several_emotions_share_their_column_by_their_first_letters() -> None:
    assert [feelings("happy, disgust, surprise, fear", cells).rstrip() for cells in (30, 15, 11, 7)] == [
        "happy disgust surprise fear",
        "hap dis sur fea",
        "hap dis +2",
        "hap +3",
    ]
    assert feelings("disappointment", 9) == "disappoi…"


def test_names_of_emotions_have_the_cells_they_need_up_to_half_of_those_beside_figures() -> None:
    for cells, longest in ((43, 11), (43, 14), (36, 11), (60, 11), (43, 8), (26, 11)):
        plain, named = columns(cells, 5, "F1"), columns(cells, 5, "F1", longest_name=longest)
        assert named.emotion + named.text == plain.emotion + plain.text
        assert named == plain or named.emotion - 1 <= min(longest, named.text)
        assert named.emotion >= plain.emotion
    assert columns(43, 5, "F1", longest_name=11).emotion == 12


def test_emotions_of_older_stores_are_named_as_all_others() -> None:
    # A letter a place of Plutchik's eight is how stores had them once.
    assert feelings("j······a", 20).rstrip() == "joy anticipation"
    assert feelings("j······a", 9, PLUTCHIK).rstrip() == "joy ant"
    assert feelings("·····dr·", 9, PLUTCHIK).rstrip() == "dis ang"
    assert feelings("········", 9).rstrip() == "·"
    assert feelings("disgrace", 9).rstrip() == "disgrace"


def test_a_tick_of_several_samples_has_the_letter_of_most_of_them_and_the_share_that_is_wrong() -> None:
    severity = np.array([0, 4, 0, 0, -1, 1, 8, 0])  # right, N, right, right, not asked, D, invalid, right
    whole = Corpus(severity, np.arange(8), np.arange(8), 1)
    assert [(tick.letter, tick.share) for tick in ticks(whole, 2)] == [("N", 0.25), ("!", 2 / 3)]
    part = replace(whole, position=np.array([0, -1, 1, -1, -1, -1, -1, -1]))
    assert [(tick.letter, tick.listed) for tick in ticks(part, 2)] == [("·", True), ("!", False)]
    assert "".join(tick.letter for tick in ticks(whole, 20)) == "·N·· D!·"
    many = Corpus(np.array([6, 3, 3, 0]), np.arange(4), np.arange(4), 0)
    assert [tick.letter for tick in ticks(many, 1)] == ["X"], "one has M, two have X"


@given(st.lists(st.integers(-1, 8), min_size=1, max_size=60), st.integers(1, 30))
def test_ticks_part_all_samples_in_order(severity: list[int], cells: int) -> None:
    n = len(severity)
    drawn = ticks(Corpus(np.array(severity), np.arange(n), np.arange(n), 0), cells)
    assert len(drawn) == min(n, cells)
    letters = "·DLXNFMH! "
    edges = [at * n // len(drawn) for at in range(len(drawn) + 1)]
    for tick, (first, last) in zip(drawn, pairwise(edges), strict=True):
        known = [one for one in severity[first:last] if one >= 0]
        wrong = [one for one in known if one]
        most = max(wrong, key=lambda one: (wrong.count(one), one), default=0 if known else -1)
        assert tick.letter == letters[most]
        assert tick.share == (sum(one > 0 for one in known) / len(known) if known else 0)


async def test_the_line_of_errors_says_how_many_texts_a_cell_is() -> None:
    class OneLine(App[None]):
        def compose(self) -> ComposeResult:
            yield CorpusLine()

    for n, cells, told in (
        (20, 44, "errors "),
        (211, 44, "errors, 11–12 a cell: "),
        (2000, 84, "errors, 34–35 a cell: "),
    ):
        async with OneLine().run_test(size=(cells, 3)) as pilot:
            line = pilot.app.query_one(CorpusLine)
            line.show(Corpus(np.arange(n) % 2, np.arange(n), np.arange(n), 0))
            assert line.name_shown == told
            assert len(line.ticks) == min(n, cells - 4 - len(told))
            if len(line.ticks) < n:
                few, more = map(int, told.split()[1].split("–"))
                assert few == n // len(line.ticks)
                assert more == few + 1


def test_where_nothing_is_known_of_any_sample_ticks_are_those_of_samples_each_unknown() -> None:
    each = Corpus(np.full(9, -1), np.arange(9), np.arange(9), 1)
    for cells in (1, 4, 20):
        assert ticks(Corpus(None, range(9), range(9), 1), cells) == ticks(each, cells)


def test_the_telling_error_has_gold_and_predicted_beside_each_other_where_there_is_such_a_one() -> None:
    def row(marks: str, f1: float | None) -> ListRow:
        return ListRow(1, "id", "text", None, None, {"f1": f1}, marks)

    silent, missed, neutral, extra = row("", 1.0), row("M", 0.2), row("N", 0.0), row("X", 0.4)
    assert telling([silent, neutral, missed, extra], "f1") == 3
    assert telling([silent, missed, neutral], "f1") == 2
    assert telling([silent, missed], "f1") == 0


async def test_what_is_done_is_not_drawn_as_what_is_amiss(source: Workspace) -> None:
    async with opened(source, (120, 30)) as pilot:
        await press(pilot, "2", "space", "space")
        amiss = Color.parse(pilot.app.theme_variables["mark"]).rich_color
        drawn = [one for strip in pilot.app.screen._compositor.render_strips() for one in strip if "✓" in one.text]
        assert drawn
        assert all(one.style is not None and one.style.color != amiss for one in drawn)
