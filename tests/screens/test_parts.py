"""Parts of the screens by themselves: the registry of actions, what is remembered, the alignment, export."""

import json
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.widgets import Input

from emotui.metrics.metric import Metric
from emotui.metrics.span_scoring import score_samples
from emotui.records import Mark, Sentence, SpanPrediction, SpanSample
from emotui.screens.actions import SHARED, Acting, Action
from emotui.screens.browse.things import things
from emotui.screens.dialogs.choices import OrderDialog
from emotui.screens.dialogs.help import HelpDialog
from emotui.screens.folding import Folding
from emotui.screens.frame import Frame
from emotui.screens.keymaps import keyed
from emotui.screens.list_state import HEADLINE, ListState, from_setting, to_setting
from emotui.screens.models.actions import ModelActions
from emotui.screens.notes.actions import NoteActions
from emotui.screens.places import ACTIONS, PLACES, class_of
from emotui.screens.samples.actions import ListActions, SourceActions
from emotui.screens.samples.pane import ListPane
from emotui.screens.samples.table import PAGE, SampleList
from emotui.screens.tool import ToolActions
from emotui.store.query import MARKS, SORTS, Bounds, ListQuery
from emotui.tasks.spans.task import METRICS
from emotui.workbench.source import RepeatView
from emotui.workbench.workspace import Workspace
from tests.screens.browse_workspace import sample_records, workspace
from tests.screens.driving import frame, help_text, listed, opened, press, screen_text, settle, shown_id, stave, strike

EVERYWHERE: tuple[type[Acting], ...] = (
    ListPane,
    ListActions,
    SourceActions,
    ModelActions,
    NoteActions,
    ToolActions,
    Folding,
    Frame,
)
"""What answers actions whichever place is open."""


def answers(doers: Iterable[type[Acting]], action: Action) -> bool:
    return any(hasattr(one, f"do_{action.id}") for one in doers)


OPENED = [class_of(entry) for entry in PLACES.values()]


@pytest.mark.parametrize("doer", [doer for place in OPENED for doer in (place, *place.modes)])
def test_in_one_place_no_key_means_two_things_but_enter_escape_f6_and_q_which_go_by_what_is_open(
    doer: type[Acting],
) -> None:
    here = [one for one in ACTIONS if answers((doer, *EVERYWHERE), one)]
    own = {key for one in here if answers([doer], one) for key in one.keys}
    keys = [key for one in here for key in one.keys if answers([doer], one) or key not in own]
    assert {key for key in keys if keys.count(key) > 1} <= {"enter", "escape", "q", "f6"}


def test_every_action_is_done_by_the_frame_or_the_list_or_by_a_place() -> None:
    doers = (*OPENED, *EVERYWHERE, *(mode for place in OPENED for mode in place.modes))
    assert [one.id for one in ACTIONS if not answers(doers, one)] == []


def test_what_stands_with_a_place_is_answered_there_and_in_no_other_place() -> None:
    for place in OPENED:
        others = [other for other in OPENED if other is not place]
        own = (place, *place.modes)
        assert [one.id for one in place.entry.actions if not answers(own, one) or answers(others, one)] == []


def test_what_places_share_is_not_one_place_s_own() -> None:
    alone = [
        one.id for one in SHARED if not answers(EVERYWHERE, one) and sum(answers([place], one) for place in OPENED) < 2
    ]
    assert alone == []


def test_every_action_has_one_name_and_nothing_else_is_done() -> None:
    ids = [one.id for one in ACTIONS]
    assert len(set(ids)) == len(ids)
    for doer in (*OPENED, *EVERYWHERE, *(mode for place in OPENED for mode in place.modes)):
        assert {name[3:] for name in dir(doer) if name.startswith("do_")} <= set(ids)


STATES = st.builds(
    ListState,
    dataset=st.none() | st.text(max_size=5),
    run=st.none() | st.text(max_size=5),
    text=st.text(max_size=5),
    emotions=st.lists(st.sampled_from(["sad", "happy"]), unique=True).map(tuple),
    marks=st.sets(st.sampled_from(list(MARKS))).map(lambda marks: "".join(m for m in MARKS if m in marks)),
    bounds=st.lists(
        st.builds(Bounds, st.sampled_from([HEADLINE, "sim"]), st.floats(0, 1), st.none() | st.floats(0, 1)),
        unique_by=lambda one: one.metric,
    ).map(tuple),
    metric=st.sampled_from([HEADLINE, "sim"]),
    sort=st.sampled_from(["file", HEADLINE, "sim", "length"]),
    descending=st.booleans(),
    sample=st.none() | st.integers(0, 99),
    column=st.sampled_from(["", "speaker=Ann", "code=irony & length=long"]),
    slices=st.lists(st.text(max_size=3), unique=True).map(tuple),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(list(to_setting(ListState()))), inner),
    max_leaves=8,
)


@given(STATES)
def test_what_is_remembered_comes_back_as_it_was(state: ListState) -> None:
    assert from_setting(to_setting(state)) == state


@given(JSON)
def test_whatever_stands_in_the_settings_a_list_can_be_shown(value: object) -> None:
    state = from_setting(value)
    query = state.query(1, "run", METRICS)
    assert set(query.marks) <= set(MARKS)
    assert query.sort in {*SORTS, "f1", "sim"}
    assert {one.metric for one in query.bounds} <= {"f1", "sim"}
    assert state.shown_metric(METRICS) in METRICS


def test_the_worst_come_first_by_any_metric_unless_it_is_turned_round() -> None:
    error = Metric("mae", (0.0, None), False, "how far off")
    for metric, falls in ((METRICS[0], False), (error, True)):
        state = ListState(sort=HEADLINE)
        assert state.query(1, "run", [metric]).descending is falls
        assert state.ordered(HEADLINE, descending=True).query(1, "run", [metric]).descending is not falls
        assert state.query(1, None, [metric]).descending is False, "without a run they stand as in the file"


def test_what_was_remembered_before_metrics_had_names_is_about_the_headline_of_the_task() -> None:
    state = from_setting({"f1_min": 0.25, "f1_max": None, "sort": "f1", "descending": True})
    assert state.query(1, "run", METRICS[1:]) == ListQuery(
        1, "run", bounds=(Bounds("sim", 0.25, None),), sort="sim", descending=True
    )
    assert from_setting({"f1_min": None, "f1_max": None, "sort": "sim"}).query(1, "run", METRICS).sort == "sim"


def test_a_metric_that_the_task_does_not_have_neither_bounds_nor_sorts_and_the_headline_is_shown() -> None:
    state = ListState(bounds=(Bounds("polarity", 0.5),), sort="polarity", metric="polarity")
    assert state.query(1, "run", METRICS) == ListQuery(1, "run")
    assert state.shown_metric(METRICS) == METRICS[0]
    assert ListState(bounds=(Bounds(HEADLINE, 0.5),), sort=HEADLINE).query(1, None, METRICS) == ListQuery(1)


def test_things_stand_in_the_order_of_the_text_and_what_is_not_in_it_comes_last() -> None:
    text = "I wept all night. The bus came. I was so happy."
    sample = SpanSample(
        id="a",
        text=text,
        spans=(Mark(2, 16), Mark(32, 46)),
        sentences=(
            Sentence(start=0, end=17, emotion="sad"),
            Sentence(start=18, end=31, emotion="neutral"),
            Sentence(start=32, end=47, emotion="happy"),
        ),
    )
    said = SpanPrediction(id="a", spans=("wept all night", "the bus", "utter joy"))
    (detail,) = score_samples([sample], [said], None, frozenset())
    shown = [(one.gold, one.said, one.f1, one.marks, one.words) for one in things(sample, RepeatView(0, detail))]
    assert shown == [
        ("wept all night", "wept all night", 1.0, "", ""),
        (None, "the bus", None, "N", "neutral sentence"),
        ("I was so happy", None, None, "M", "missed"),
        (None, "utter joy", None, "H", "not in the text"),
    ]


def test_a_sample_without_any_span_has_nothing_in_its_margin() -> None:
    sample = SpanSample(id="a", text="x", spans=())
    (detail,) = score_samples([sample], [SpanPrediction(id="a", spans=())], None, frozenset())
    assert things(sample, RepeatView(0, detail)) == []


@pytest.fixture
def source(tmp_path: Path) -> Workspace:
    return workspace(tmp_path / "workspace.duckdb")


async def test_export_writes_the_predictions_of_the_list_and_asks_before_writing_over(
    source: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from emotui.formats import read

    monkeypatch.chdir(tmp_path)
    Path("predicted.jsonl").write_text("mine\n", encoding="utf-8")
    async with opened(source) as pilot:
        await press(pilot, "slash", "t", "h", "e", "enter")
        expected = listed(pilot)
        await press(pilot, "e", "enter")
        assert "This file exists" in screen_text(pilot)
        assert Path("predicted.jsonl").read_text(encoding="utf-8") == "mine\n"
        await press(pilot, "enter")
        await settle(pilot, work=True)
    written = read("predicted.jsonl", SpanPrediction)
    assert [record.id for record in written.records] == expected


@pytest.mark.parametrize("key", ["ctrl+p", "question_mark"])
async def test_the_sheet_finds_an_action_and_does_it(source: Workspace, key: str) -> None:
    async with opened(source) as pilot:
        await press(pilot, key)
        await strike(pilot, *"colours: light")
        await press(pilot, "enter")
        assert pilot.app.theme == "light"
        await press(pilot, key, *"Scenes", "enter")
        await settle(pilot)
        assert frame(pilot).places.here.entry.title == "Scenes"
        await press(pilot, "1", key, *"order the list", "enter")
        await settle(pilot)
        assert isinstance(pilot.app.screen, OrderDialog)


async def test_the_sheet_has_every_key_of_the_registry_and_says_what_cannot_be_done_now(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "question_mark", "tab")
        page = help_text(pilot)
        assert [action.id for action in ACTIONS if action.shown and keyed(action.help) not in page] == []
        sheet = pilot.app.screen
        assert isinstance(sheet, HelpDialog)
        lacking = next(row for row in sheet.shown if row.lacks)
        await press(pilot, *lacking.about, "enter")
        assert pilot.app.screen is sheet
        assert "not now: " in screen_text(pilot)
        await press(pilot, "escape", "shift+tab")
        assert not set(sheet.shown).issuperset([lacking]) or lacking.where == "Browse"
        await press(pilot, "question_mark")
        assert pilot.app.screen is frame(pilot)


async def test_lines_of_help_stand_under_headings_until_something_is_typed(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "ctrl+p")
        shown = screen_text(pilot)
        assert "Keys and commands: Browse" in shown
        assert "── Browse" in shown
        sheet = pilot.app.screen
        assert isinstance(sheet, HelpDialog)
        belongs = [row.where for row in sheet.shown if not row.lacks]
        assert len(set(belongs)) == sum(one != before for one, before in zip(belongs, ["", *belongs], strict=False))
        await press(pilot, *"sort")
        assert "── Browse" not in screen_text(pilot)


async def test_help_tells_what_figures_are_and_letters_find_lines(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "question_mark", "tab", "tab")
        assert "F1" in help_text(pilot)
        assert "aligned pairs" in help_text(pilot)
        await press(pilot, *"fixated")
        assert help_text(pilot).split() == ["F", "fixated"]
        assert "Errors in the list" in screen_text(pilot)
        await press(pilot, "enter")
        assert "Errors in the list" in screen_text(pilot), "a line that explains stays"
        foot = screen_text(pilot).splitlines()[-1]
        assert "do it" not in foot
        assert "change keys" not in foot
        await press(pilot, "x")
        assert "No key, mark or figure has these letters" in screen_text(pilot)
        await press(pilot, "escape")
        assert "aligned pairs" in help_text(pilot)
        await press(pilot, "escape", "question_mark", *"negation")
        assert "   0 of " in screen_text(pilot)
        assert " elsewhere" in screen_text(pilot)
        assert "── words: marks, letters and figures" in screen_text(pilot)
        assert "negation" in help_text(pilot)
        await press(pilot, "escape", *"error")
        assert "── words: marks, letters and figures" in screen_text(pilot), "also where the open view has some itself"
        lines = help_text(pilot).split("\n")
        assert len(set(lines)) == len(lines), "nothing stands there twice"
        await press(pilot, "escape")
        await press(pilot, "escape")
        assert pilot.app.screen is frame(pilot)


async def test_a_list_longer_than_a_page_asks_only_for_the_pages_in_sight(tmp_path: Path) -> None:
    samples = [SpanSample(id=f"s{n:05}", text=f"text {n}", spans=()) for n in range(PAGE * 40)]
    source = workspace(tmp_path / "w.duckdb", samples=samples, run=False)
    async with opened(source) as pilot:
        rows_shown = frame(pilot).query_one(SampleList)
        await press(pilot, "G")
        assert shown_id(pilot) == samples[-1].id
        assert rows_shown.row(len(samples) - 1) is not None
        assert rows_shown.row(PAGE * 20) is None
        assert len(sample_records()) < PAGE


async def test_the_bar_of_a_span_that_is_only_a_keyword_is_dotted(tmp_path: Path) -> None:
    from emotui.screens.widgets.tier_layout import AnnotatedText, Tier
    from emotui.screens.widgets.tiered_text import TieredText

    source = workspace(tmp_path / "w.duckdb")
    async with opened(source) as pilot:
        view: TieredText = stave(pilot)
        voice = Tier("m", "predicted", ((0, 5), (10, 13)), dotted=((10, 13),))
        view.show(AnnotatedText("happy and sad", (voice,), rows=True))
        await settle(pilot)
        assert view.render_line(2).text.split() == ["m", "━━━━━", "┅┅┅"]


async def test_export_to_a_file_with_all_has_gold_the_run_and_its_scores(
    source: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with opened(source) as pilot:
        expected = listed(pilot)
        await press(pilot, "e")
        pilot.app.screen.query_one("#path", Input).value = "all.json"
        await press(pilot, "enter")
        await settle(pilot, work=True)
    rows = json.loads(Path("all.json").read_text(encoding="utf-8"))
    assert [row["id"] for row in rows] == expected
    assert any(row.get("annotators") for row in rows)
    assert any(name.endswith(": f1") for name in rows[0]["meta"])
