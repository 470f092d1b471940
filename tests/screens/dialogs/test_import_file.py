"""`I`: a file is looked at before it is taken, its columns can be named, and what is wrong is said in the sheet."""

import re
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.geometry import Size
from textual.pilot import Pilot
from textual.widgets import Input

from emotui.screens.app import EmotuiApp
from emotui.screens.dialogs.import_file import ImportDialog, Paths, _table
from emotui.store.store import Store
from emotui.workbench.datasets import foreign, samples
from emotui.workbench.progress import OnStep, RunProgress
from emotui.workbench.workspace import FIRST_START, Workspace
from tests.screens.browse_workspace import workspace
from tests.screens.driving import frame, notified, opened, press, screen_text, settle, strike, until
from tests.waiting import awaited


async def typed(pilot: "Pilot[None]", **fields: object) -> None:
    """Fill in fields and press Enter; what is looked at has come."""
    sheet = pilot.app.screen
    assert isinstance(sheet, ImportDialog)
    for name, value in fields.items():
        sheet.query_one(f"#{name}", Input).value = str(value)
    await press(pilot, "enter")
    await awaited(lambda: not sheet.busy)
    await settle(pilot)


class FirstRuns(Workspace):
    """A new workspace whose first runs go on until they are stopped, or told that they are over."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.over, self.begun = threading.Event(), 0

    def first_start(self, on_progress: Callable[[RunProgress], None] = lambda progress: None) -> None:
        self.begun += 1
        while not self.over.wait(0.01):
            on_progress(RunProgress("", "embedded", self.begun, 9, 0, None, None, "asking"))
        self.set_setting(FIRST_START, "done")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "own.csv"
    path.write_text("Said,Feels,Author\nI am furious,anger,Kim\nWhat a day [b]!,joy,Ana\n", encoding="utf-8")
    return path


async def test_a_file_is_looked_at_mapped_and_then_taken_and_shown(tmp_path: Path, table: Path) -> None:
    source, mapping = workspace(tmp_path / "w.duckdb", run=False), tmp_path / "own.toml"
    async with opened(source) as pilot:
        await press(pilot, "I")
        await typed(pilot, path=table, columns="text=Said,label=Feels", mapping=mapping)
        await until(pilot, "taken for", "Enter imports 2 samples as own")
        assert "What a day [b]!" in screen_text(pilot)
        assert re.search(r"id +text +label\b.*\n.* anger\b", screen_text(pilot))
        assert [one.name for one in source.datasets()] == ["sample"]
        await typed(pilot, name="tweets")
        assert "Enter imports 2 samples as tweets" in screen_text(pilot)
        await press(pilot, "enter")
        await settle(pilot, work=True)
        shown = frame(pilot).session.overview.dataset
        assert shown is not None
        assert (shown.name, shown.task, shown.n) == ("tweets", "labels", 2)
        assert "I am furious" in screen_text(pilot)
        await press(pilot, "u")
        await settle(pilot, work=True)
        assert [one.name for one in source.datasets()] == ["sample"]
        assert [one.name for one in source.store.datasets.all(trash=True)] == ["tweets"]
    assert 'text = "Said"' in mapping.read_text(encoding="utf-8").replace('"text"', "text")


async def test_a_file_is_brought_in_while_the_first_runs_wait_and_they_go_on_after_it(
    tmp_path: Path, table: Path
) -> None:
    source = FirstRuns(Store.open(tmp_path / "w.duckdb"))
    app = EmotuiApp(lambda: source, poll=None, file=str(table))
    async with app.run_test(size=(120, 35)) as pilot:
        await until(pilot, "Enter imports 2 samples as own")
        assert (source.begun, app.frame.session.starts_first) == (1, True)
        await strike(pilot, "enter")
        await until(pilot, "I am furious")
        await awaited(lambda: source.begun == 2)
        assert app.frame.session.starts_first
        assert not notified(pilot)
        source.over.set()
        await settle(pilot, work=True)
    assert [one.name for one in source.datasets()] == ["own"]
    assert not source.needs_first_start()


async def test_first_runs_that_were_stopped_by_hand_do_not_go_on_by_themselves(tmp_path: Path) -> None:
    source = FirstRuns(Store.open(tmp_path / "w.duckdb"))
    app = EmotuiApp(lambda: source, poll=None)
    async with app.run_test(size=(120, 35)) as pilot:
        await awaited(lambda: source.begun == 1)
        app.frame.session.stop_work()
        await settle(pilot, work=True)
        assert (source.begun, app.frame.session.job) == (1, None)
    assert source.needs_first_start()


async def test_a_mapping_that_was_kept_is_used_again(tmp_path: Path, table: Path) -> None:
    mapping = tmp_path / "own.toml"
    mapping.write_text('kind = "labels"\n[columns]\ntext = "Said"\nlabel = "Author"\n', encoding="utf-8")
    async with opened(workspace(tmp_path / "w.duckdb", run=False)) as pilot:
        await press(pilot, "I")
        await typed(pilot, path=table, mapping=mapping)
        assert re.search(r"id +text +label\b.*\n.* Kim\b", screen_text(pilot))


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"path": ""}, "Name a file or a folder first."),
        ({"path": "nowhere.csv"}, "nowhere.csv: there is no such file"),
        ({"columns": "text"}, "text: write a field and its column"),
        ({"columns": "text=Wrote"}, "Wrote"),
        ({"layout": "wonder"}, "'wonder'"),
    ],
)
async def test_what_cannot_be_taken_is_said_and_nothing_is_written(
    tmp_path: Path, table: Path, fields: dict[str, str], why: str
) -> None:
    source = workspace(tmp_path / "w.duckdb", run=False)
    async with opened(source, (100, 34)) as pilot:
        await press(pilot, "I")
        await typed(pilot, **({"path": table} | fields))
        assert why in screen_text(pilot)
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, ImportDialog)
    assert [one.name for one in source.datasets()] == ["sample"]


async def test_a_workspace_that_is_only_read_takes_no_file(tmp_path: Path) -> None:
    workspace(tmp_path / "w.duckdb", run=False)
    reading = Workspace(Store.open(tmp_path / "w.duckdb", read_only=True))
    async with opened(reading, (100, 34)) as pilot:
        await press(pilot, "I")
        assert not isinstance(pilot.app.screen, ImportDialog)


@asynccontextmanager
async def _set_at_last(event: threading.Event) -> AsyncIterator[None]:
    """Let a thread that waits for the event end, whatever becomes of the test."""
    try:
        yield
    finally:
        event.set()


async def test_a_look_and_an_import_say_how_far_they_are_and_their_key_ends_them_with_nothing_imported(
    tmp_path: Path, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = workspace(tmp_path / "w.duckdb", run=False)
    at, go_on = threading.Event(), threading.Event()

    def slow(items: Iterable[object], step: str, n: int, on_step: OnStep) -> Iterator[object]:
        for done, item in enumerate(items, start=1):
            on_step(step, done, n)
            yield item
            at.set()
            go_on.wait()

    async with opened(source, (120, 30)) as pilot, _set_at_last(go_on):
        await press(pilot, "I")
        sheet = pilot.app.screen
        assert isinstance(sheet, ImportDialog)
        sheet.query_one("#path", Input).value = str(table)
        with monkeypatch.context() as patched:
            patched.setattr(foreign, "told", slow)
            await strike(pilot, "enter")
            await until(pilot, "looking: reading … 1 rows   Esc stops")
            await strike(pilot, "escape")
            go_on.set()
            await awaited(lambda: not sheet.busy)
            await settle(pilot)
        assert pilot.app.screen is sheet
        assert "stopped; nothing was read" in screen_text(pilot)
        await typed(pilot)
        at.clear()
        go_on.clear()
        with monkeypatch.context() as patched:
            patched.setattr(samples, "told", slow)
            await strike(pilot, "enter")
            await awaited(at.is_set)
            await until(pilot, "^X stops")
            await strike(pilot, "ctrl+x")
            go_on.set()
            await settle(pilot, work=True)
        assert "Stopped; nothing was imported" in notified(pilot)
    assert [one.name for one in source.datasets()] == ["sample"]


async def test_rows_that_are_wrong_are_told_and_left_out_by_a_second_enter(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    rows = [
        '{"text": "He left", "label": "sadness"}',
        '{"label": "joy"}',
        '{"text": "Hooray", "label": "joy"}',
    ]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    source = workspace(tmp_path / "w.duckdb", run=False)
    async with opened(source) as pilot:
        await press(pilot, "I")
        await typed(pilot, path=path)
        await until(pilot, "jsonl:2:", "Enter imports 2 samples as own without the rows that are wrong")
        await press(pilot, "enter")
        await settle(pilot, work=True)
    assert next(one for one in source.datasets() if one.name == "own").n == 2


async def test_a_path_is_completed_as_in_a_shell(tmp_path: Path) -> None:
    (tmp_path / "corpora").mkdir()
    (tmp_path / "corpora" / "first.csv").write_text("text\nHello there\n", encoding="utf-8")
    async with opened(workspace(tmp_path / "w.duckdb", run=False)) as pilot:
        await press(pilot, "I")
        path = pilot.app.screen.query_one("#path", Input)
        for begun, whole in ((f"{tmp_path}/corp", "corpora/"), (f"{tmp_path}/corpora/f", "corpora/first.csv")):
            path.value = begun
            path.cursor_position = len(begun)
            await awaited(lambda: bool(path._suggestion))
            await press(pilot, "right")
            assert path.value == f"{tmp_path}/{whole}"
    assert Paths().cache is None


@pytest.mark.parametrize("value", ["", "/", "/nowhere/at/all", "x" * 5000, "a\0b", "corpora/\x1b"])
async def test_nothing_is_made_up_where_no_path_begins_so(value: str) -> None:
    assert await Paths().get_suggestion(value) is None


def test_records_are_shown_as_a_table_in_words() -> None:
    record = {
        "id": "a",
        "text": "I am so happy",
        "spans": [[5, 13, "joy"], [0, 1]],
        "labels": {"joy": 1, "fear": 0},
        "values": {"valence": 0.5},
        "annotators": {"ann": {"spans": []}},
        "meta": {"own": "x"},
    }
    other = {"id": "b", "text": "So\nwhat", "labels": {"joy": 0, "fear": 1}}
    lines = ["".join(part.text for part in line).rstrip() for line in _table([record, other], Size(100, 9))]
    assert lines == [
        "  id  text           spans                labels  values       annotators",
        "  a   I am so happy  “so happy” joy; “I”  joy     valence 0.5  ann spans none",
        "  b   So what                             fear",
    ]
    for cells in (40, 60, 80):
        drawn = ["".join(part.text for part in line) for line in _table([record, other], Size(cells, 9))]
        assert len({len(line) for line in drawn}) == 1
        assert all(len(line) <= max(cells, 60) for line in drawn)
