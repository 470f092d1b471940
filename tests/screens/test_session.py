"""The session by itself, without a screen: what it remembers, asks and tells."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec.structs import replace
from textual.widget import Widget

from emotui.records import ClassGold, LabelsGold
from emotui.screens.list_state import HEADLINE, NO_RUN
from emotui.screens.session import Opened, Session, look
from emotui.store.store import Store
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.files.view import FileView
from emotui.workbench.progress import RunProgress
from emotui.workbench.source import BrowseSource
from emotui.workbench.workspace import FIRST_START, Workspace
from tests.screens.browse_workspace import sample_records, workspace
from tests.store.store_samples import result


class Owner:
    """Keeps what a widget would do in threads and later, until `rest`."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self._todo: list[Callable[[], object]] = []

    def run_worker(self, work: Callable[[], object], **_: object) -> None:
        self._todo.append(work)

    def call_later(self, call: Callable[..., object], *values: Any) -> None:
        self._todo.append(partial(call, *values))

    def notify(self, message: str, **_: object) -> None:
        self.told.append(message)

    def post_message(self, message: object) -> None:
        self.told.append(type(message).__name__)

    def rest(self) -> None:
        while self._todo:
            self._todo.pop(0)()


class View:
    """Keeps what it is told to show."""

    def __init__(self) -> None:
        self.shown: list[str] = []

    def show_opened(self, opened: Opened) -> None:
        self.shown.append("opened")

    def show_unopened(self, why: str) -> None:
        self.shown.append(why)

    def show_overview(self) -> None:
        self.shown.append("overview")

    def show_list(self) -> None:
        self.shown.append("list")

    def show_standing(self) -> None:
        self.shown.append("standing")

    def show_live_model(self) -> None:
        self.shown.append("live model")

    def show_left(self) -> None:
        self.shown.append("left")


class Open:
    """A session over a source, at rest."""

    def __init__(self, source: Callable[[], BrowseSource]) -> None:
        self.owner, self.view = Owner(), View()
        self.session = Session(cast(Widget, self.owner), self.view, source, ("spans", "scenes"), "ann")
        self.session.open()
        self.rest()

    def rest(self) -> None:
        self.owner.rest()

    def shown(self) -> list[str]:
        """What was told since this was asked last."""
        self.rest()
        shown, self.view.shown = self.view.shown, []
        return shown


@pytest.fixture
def source(tmp_path: Path) -> Workspace:
    made = workspace(tmp_path / "w.duckdb")
    add_samples(made.store, "spans", "other", sample_records(1, 0), "sample data")
    return made


def test_a_source_that_cannot_be_opened_is_told_and_there_is_none() -> None:
    def fail() -> BrowseSource:
        raise OSError("gone")

    opened = Open(fail)
    (told,) = opened.shown()
    assert told.startswith("OSError: gone (traceback: ")
    assert (opened.session.source, opened.session.title) == (None, "not open")


def test_another_dataset_is_asked_about_and_another_filter_only_shown(source: Workspace) -> None:
    opened = Open(lambda: source)
    session = opened.session
    opened.shown()
    session.change(replace(session.state, text="the"))
    assert opened.shown() == ["list"]
    session.change(replace(session.state, dataset="other"))
    assert session.overview.dataset is not None
    assert session.overview.dataset.name != "other"
    assert opened.shown() == ["overview"]
    assert session.overview.dataset.name == "other"


def test_each_task_has_a_list_of_its_own_and_it_is_there_again_in_the_next_session(source: Workspace) -> None:
    opened = Open(lambda: source)
    session = opened.session
    session.change(replace(session.state, text="the"))
    assert not session.turn_to("spans")
    assert session.turn_to("scenes")
    assert session.state.text == ""
    session.change(replace(session.state, text="she"))
    assert session.turn_to("spans")
    assert session.state.text == "the"
    opened.rest()
    after = Open(lambda: source).session
    assert after.state.text == "the"
    after.turn_to("scenes")
    assert after.state.text == "she"


def test_choices_that_follow_each_other_are_all_remembered(source: Workspace) -> None:
    opened = Open(lambda: source)
    session = opened.session
    session.use_model("hf:one")
    session.remember("theme", "light")
    session.change(replace(session.state, text="the"))
    session.save()
    session.remember("theme", "dark")
    opened.rest()
    assert not session.busy
    after = Open(lambda: source).session
    assert (after.live, after.state.text, source.setting("theme")) == ("hf:one", "the", "dark")


def test_who_leaves_is_let_go_once_the_list_is_remembered_and_the_work_was_told_to_stop(source: Workspace) -> None:
    opened = Open(lambda: source)
    session = opened.session
    halted: list[str] = []
    session.begin("count", lambda on_progress: None, lambda: halted.append("halted"))
    session.select(2)
    opened.shown()
    session.leave()
    assert halted == ["halted"]
    assert "left" not in opened.view.shown
    assert opened.shown()[-1] == "left"
    assert Open(lambda: source).session.state.sample == 2


def test_an_empty_workspace_begins_its_first_start_and_files_have_neither_that_nor_a_live_model(tmp_path: Path) -> None:
    class Empty(Workspace):
        def first_start(self, on_progress: Callable[..., object] = lambda progress: None) -> None:
            self.set_setting(FIRST_START, "done")

    first = Open(lambda: Empty(Store.open(tmp_path / "w.duckdb"))).session
    assert first.job is not None
    assert first.job.what == "first start"
    assert first.live == "embedded"
    gold = tmp_path / "gold.jsonl"
    gold.write_text('{"id": "a", "text": "I wept", "spans": []}\n', encoding="utf-8")
    files = Open(lambda: FileView(str(gold), warn=lambda line: None)).session
    assert (files.job, files.live, files.models) == (None, None, None)


def elsewhere(source: Workspace, name: str) -> str:
    """A run over the list's dataset that another program starts."""
    return source.store.runs.start(name, name, "spans", "theirs", 1, {}, 3).run


def test_a_run_that_is_started_elsewhere_changes_nothing_on_the_screen(source: Workspace) -> None:
    opened = Open(lambda: source)
    session = opened.session
    assert session.run_shown is not None
    shown = session.run_shown.run
    elsewhere(source, "new")
    session.follow()
    opened.rest()
    assert [run.run for run in session.overview.runs] == ["new", shown]
    assert session.run_shown.run == shown
    session.change(replace(session.state, run="new"))
    assert session.run_shown.run == "new"
    source.store.by_name.delete("new")
    session.follow()
    opened.rest()
    assert session.run_shown.run == shown


def test_where_no_run_was_the_first_one_elsewhere_is_told_of_once_and_shown_when_it_is_chosen(tmp_path: Path) -> None:
    source = workspace(tmp_path / "w.duckdb", run=False)
    opened = Open(lambda: source)
    session = opened.session
    for name in ("first", "second"):
        elsewhere(source, name)
        session.follow()
        opened.rest()
        assert session.overview.runs[0].run == name
        assert session.run_shown is None
    assert opened.owner.told == [
        "There are first answers about these samples, by theirs: r shows them beside the texts"
    ]
    session.change(replace(session.state, run="first"))
    assert session.run_shown is not None
    assert session.run_shown.run == "first"


def test_what_a_person_annotated_is_a_source_to_choose_and_never_the_run_of_its_own(source: Workspace) -> None:
    mine = source.store.runs.start("mine", "mine", "spans", "ann", 1, {}, 3, source="person").run
    silent = Open(lambda: source)
    assert mine not in [run.run for run in silent.session.overview.runs], "who says nothing is no source"
    source.store.results.commit(mine, [result(1)])
    opened = Open(lambda: source)
    session = opened.session
    assert session.run_shown is not None
    assert [run.run for run in session.overview.runs] == [mine, session.run_shown.run]
    source.store.by_name.delete(session.run_shown.run)
    session.follow()
    opened.rest()
    assert ([run.run for run in session.overview.runs], session.run_shown) == ([mine], None)
    session.change(replace(session.state, run=mine))
    assert session.run_shown is not None


def test_gold_that_was_chosen_alone_stays_alone(source: Workspace) -> None:
    opened = Open(lambda: source)
    session = opened.session
    session.change(replace(session.state, run=NO_RUN))
    elsewhere(source, "new")
    session.follow()
    opened.rest()
    assert (len(session.overview.runs), session.run_shown) == (2, None)


def test_a_run_of_ones_own_is_shown_from_its_beginning(source: Workspace) -> None:
    opened = Open(lambda: source)
    session = opened.session
    assert session.run_shown is not None
    shown = session.run_shown.run
    session.begin("mine", lambda on_progress: None, lambda: None)
    session.change(replace(session.state, run=None))
    elsewhere(source, "mine")
    elsewhere(source, "theirs")
    session.look_again()
    opened.rest()
    assert session.run_shown.run == shown
    session.progressed(RunProgress("mine", "mine", 0, 3, 0, None, None, ""))
    assert session.run_shown.run == "mine"
    session.finished()
    opened.rest()
    assert session.run_shown.run == "mine"


def test_the_first_list_has_texts_of_every_task_its_own_first_and_others_have_theirs(tmp_path: Path) -> None:
    opened = Workspace.open(tmp_path / "w.duckdb")
    add_samples(opened.store, "rephrase", "posts", [ClassGold(id="1", text="t", label="joy")], "x")
    tasks = ("spans", "rephrase")
    assert [one.name for one in look(opened, tasks, "spans", None).datasets] == ["posts"]
    add_samples(opened.store, "labels", "several", [LabelsGold(id="1", text="t", labels=("joy",))], "x")
    first = look(opened, tasks, "spans", None)
    assert [one.name for one in first.datasets] == ["several", "posts"]
    assert first.dataset is not None
    assert first.dataset.name == "several"
    assert [one.name for one in look(opened, tasks, "rephrase", None).datasets] == ["posts"]


def test_a_new_workspace_with_a_finished_run_is_worst_first_and_a_list_in_sight_keeps_its_order(
    source: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "needs_first_start", lambda: True)
    monkeypatch.setattr(source, "first_start", lambda on_progress: None)
    opened = Open(lambda: source)
    session, overview = opened.session, opened.session.overview
    assert (session.state.sort, session.opens_at_worst(), session.opens_at_worst()) == (HEADLINE, True, False)
    session._first_time, session.listed = True, lambda: [5, 6]
    session.note(replace(session.state, sort="file"))
    session._take_overview(None, overview)
    assert (session.state.sort, session.opens_at_worst()) == ("file", False), "a list in sight keeps its order"
    session.listed = tuple
    for moved, state, sort in ((None, "running", "file"), (None, "done", HEADLINE), (3, "done", "file")):
        session.note(replace(session.state, sort="file", sample=moved))
        session._first_time = True
        run = replace(overview.runs[0], state=state)
        session._take_overview(None, replace(overview, runs=(run,)))
        assert session.state.sort == sort
