"""Long work from the screen: a model over the dataset with its progress, stopped on request, failing in words."""

from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest
from textual.pilot import Pilot

from emotui.records import Mark, SpanSample
from emotui.screens.jobs import NOTHING_WRITTEN, Job, parts
from emotui.screens.places import TITLES, standing
from emotui.workbench.progress import Cancelled, RunProgress
from emotui.workbench.workspace import FIRST_START, Workspace
from tests.backends.installed_kind import install_kind
from tests.screens.browse_workspace import workspace
from tests.screens.driving import frame, notified, opened, press, screen_text, settle, stave, strike, until

KIND = "breaking"


@pytest.fixture(autouse=True)
def breaking(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kind of model that does what the text of a sample says, in a process of its own like any other."""
    install_kind(monkeypatch, KIND, "tests.backends.breaking_backend:load")
    monkeypatch.setattr("emotui.workbench.runs.run.Embedder", lambda model, cancelled: None)


def samples(*texts: str) -> list[SpanSample]:
    return [SpanSample(id=f"w-{number}", text=text, spans=(Mark(0, 4),)) for number, text in enumerate(texts)]


@pytest.fixture
def many(tmp_path: Path) -> Iterator[Workspace]:
    """40 samples: two batches that are answered at once, and one that takes its time."""
    opened_workspace = workspace(
        tmp_path / "w.duckdb",
        samples=samples(*[f"word number {n}" for n in range(32)], *["SLEEP 20" for _ in range(8)]),
        run=False,
    )
    yield opened_workspace
    opened_workspace.close()


async def start(pilot: "Pilot[None]", spec: str = "breaking:") -> None:
    """Ask for a run of the model over all samples."""
    await press(pilot, "R")
    await press(pilot, *["backspace"] * len("embedded"))
    await strike(pilot, *spec, "enter")


async def test_a_finished_run_is_shown_over_the_gold_spans(tmp_path: Path) -> None:
    source = workspace(tmp_path / "w.duckdb", samples=samples("word one", "word two"), run=False)
    async with opened(source) as pilot:
        await start(pilot)
        await settle(pilot, work=True)
        run = frame(pilot).session.run_shown
        assert run is not None
        assert (run.model, run.state, run.done) == ("breaking:", "done", 2)
        assert {voice.role: voice.spans for voice in stave(pilot).score.tiers} == {
            "gold": ((0, 4),),
            "predicted": ((0, 4),),
        }
        assert "embedded" in screen_text(pilot).splitlines()[0]
        await press(pilot, "q")


async def test_a_key_of_its_own_stops_a_run_and_keeps_what_is_done_while_escape_goes_back(many: Workspace) -> None:
    async with opened(many) as pilot:
        await start(pilot)
        await until(pilot, "32/40")
        await press(pilot, "slash", *"number", "enter")
        assert frame(pilot).pane.n == 32
        await press(pilot, "escape", "escape")
        assert frame(pilot).pane.n == 40
        assert frame(pilot).session.stoppable, "Esc drops the search and ends no work"
        assert "^X stops" in screen_text(pilot)
        await strike(pilot, "ctrl+x")
        await settle(pilot, work=True)
        assert "Stopped; what was done is kept" in notified(pilot)
        (run,) = many.runs(1)
        assert (run.state, run.done) == ("stopped", 32)
        assert frame(pilot).session.run_shown == run


async def test_keys_are_answered_while_a_model_works(many: Workspace) -> None:
    async with opened(many) as pilot:
        await start(pilot)
        await until(pilot, "32/40")
        await press(pilot, "j", "j")
        assert frame(pilot).pane.rows.cursor == 2
        await strike(pilot, "ctrl+x")
        await settle(pilot, work=True)


async def test_q_asks_once_while_a_model_runs_then_ends_it_and_leaves(many: Workspace) -> None:
    async with opened(many) as pilot:
        await start(pilot)
        await until(pilot, "32/40")
        await press(pilot, "q")
        assert "goes on: q again ends it and leaves; what is done is kept" in screen_text(pilot).splitlines()[-1]
        assert frame(pilot).session.stoppable
        await strike(pilot, "q")
        await settle(pilot, work=True)
    assert many.runs(1)[0].done == 32
    assert many.setting("browse") is not None


async def test_work_of_which_nothing_is_kept_asks_once_before_more_than_ten_seconds_of_it_are_lost(
    many: Workspace,
) -> None:
    over = Event()

    def work(on_progress: object) -> None:
        over.wait(60)
        raise Cancelled

    async with opened(many) as pilot:
        session = frame(pilot).session
        for waited, asks in ((9, False), (11, True)):
            over.clear()
            session.begin("export to x", work, over.set, NOTHING_WRITTEN, loses=True)
            assert session.job is not None
            session.job.began -= waited
            await press(pilot, "ctrl+x")
            assert over.is_set() is not asks
            if asks:
                assert "^X again ends it: 11 s of work would be lost" in screen_text(pilot).splitlines()[-1]
                await press(pilot, "j", "ctrl+x")
            await settle(pilot, work=True)
            assert over.is_set()
            assert NOTHING_WRITTEN in notified(pilot)


def test_work_that_is_kept_stops_at_once_and_leaving_asks_once() -> None:
    kept, lost = Job("run", halt=lambda: None), Job("import", halt=lambda: None, loses=True)
    kept.began = lost.began = kept.began - 60
    assert kept.asks_to_stop() == ""
    assert "60 s" in lost.asks_to_stop() or "1 min" in lost.asks_to_stop()
    assert lost.asks_to_stop() == ""
    assert kept.asks_to_leave().endswith("what is done is kept")
    assert lost.asks_to_leave().endswith("nothing of it is kept")
    assert (kept.asks_to_leave(), lost.asks_to_leave()) == ("", "")


async def test_a_model_that_cannot_be_loaded_is_told_in_its_own_words(tmp_path: Path) -> None:
    source = workspace(tmp_path / "w.duckdb", samples=samples("word one"), run=False)
    async with opened(source) as pilot:
        await start(pilot, "breaking:cannot")
        await settle(pilot, work=True)
        assert any("model.bin is cut short" in told for told in notified(pilot))
        await press(pilot, "q")


async def test_a_stopped_run_can_be_finished(many: Workspace) -> None:
    async with opened(many) as pilot:
        await start(pilot)
        await until(pilot, "32/40")
        await strike(pilot, "ctrl+x")
        await settle(pilot, work=True)
        await press(pilot, "R", "tab", "down")
        assert "finish breaking:   32 of 40 done" in screen_text(pilot)
        await strike(pilot, "enter")
        await until(pilot, "32/40")
        assert len(many.runs(1)) == 1
        await strike(pilot, "ctrl+x")
        await settle(pilot, work=True)


async def test_the_first_start_shows_samples_and_predictions_without_a_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("emotui.workbench.workspace.DEFAULT_MODEL", "breaking:able")
    source = Workspace.open(tmp_path / "fresh.duckdb")
    async with opened(source) as pilot:
        await settle(pilot, work=True)
        assert source.setting(FIRST_START) == "done"
        assert frame(pilot).session.overview.dataset is not None
        assert [voice.role for voice in stave(pilot).score.tiers] == ["gold", "predicted"]
        pane = frame(pilot).pane
        values = [row.values["f1"] for at in range(pane.n) if (row := pane.rows.row(at)) is not None]
        assert values == sorted(values)
        # The worst of all is no error that tells much where a model says nothing: one that says something is shown.
        assert all(tier.spans for tier in stave(pilot).score.tiers)
        await press(pilot, "q")


def _progress(**changes: object) -> RunProgress:
    values = {"run": "r", "model": "m", "done": 50, "n": 200, "failed": 0, "rate": 41.0, "remaining": 3.7, "step": "s"}
    return RunProgress(**(values | changes))  # type: ignore[arg-type]


def _said(room: int, **changes: object) -> str:
    return "".join(part.text for part in parts(Job("m", halt=lambda: None, progress=_progress(**changes)), room))


def test_progress_says_how_far_how_fast_and_how_long_still() -> None:
    assert _said(100) == "m  ━━━─────────  50/200  41/s  4 s left  ^X stops"


def test_progress_gives_up_the_rate_first_and_then_the_bar_where_room_is_scarce() -> None:
    assert _said(53, failed=2) == "m  ━━━─────────  50/200  4 s left  2 failed  ^X stops"
    assert _said(52, failed=2) == "m  50/200  4 s left  2 failed  ^X stops"


def test_a_name_stands_whole_or_as_the_end_of_its_path_or_not_at_all() -> None:
    assert _said(39, model="hf:/models/of/some/family/name-7b") == "name-7b  50/200  4 s left  ^X stops"
    assert _said(34, model="embedded") == "50/200  4 s left  ^X stops"
    assert _said(26, model="embedded") == "50/200  4 s left  ^X stops"
    assert _said(25, model="embedded") == "50/200  ^X stops"
    assert _said(100, part=(1, 4)) == "m  ━━━─────────  1 of 4: 50/200  41/s  4 s left  ^X stops"
    assert _said(25, part=(1, 4)) == "1 of 4: 50/200  ^X stops"
    assert _said(23, part=(1, 4)) == "50/200  ^X stops"
    assert _said(12, n=0, step="loading a model") == "loading a m…"


async def test_eighty_columns_hold_every_place_beside_a_run(many: Workspace) -> None:
    async with opened(many, size=(80, 24)) as pilot:
        await start(pilot)
        await until(pilot, "32/40")
        top = screen_text(pilot).splitlines()[0].translate(str.maketrans("[]", "  "))
        numbers = [str(number) for number in TITLES]
        assert [word for word in top.split() if word in numbers] == numbers
        assert top.split()[:3] == ["emotui", numbers[0], TITLES[1]]
        assert top.rstrip().endswith("^X stops")
        await strike(pilot, "ctrl+x")
        await settle(pilot, work=True)


@pytest.mark.parametrize("columns", [80, 120, 160])
async def test_work_takes_no_name_of_a_place_away(many: Workspace, columns: int) -> None:
    def named(top: str) -> list[str]:
        return [title for title in TITLES.values() if title in top]

    async with opened(many, size=(columns, 24)) as pilot:
        before = named(screen_text(pilot).splitlines()[0])
        assert len(before) == len(TITLES) or columns == 80
        await start(pilot)
        await until(pilot, "32/40")
        top = screen_text(pilot).splitlines()[0]
        assert named(top) == before
        assert top.rstrip().endswith("^X stops")
        await strike(pilot, "ctrl+x")
        await settle(pilot, work=True)


async def test_models_are_looked_at_while_one_is_at_work_and_none_is_taken(many: Workspace) -> None:
    async with opened(many) as pilot:
        await start(pilot)
        await until(pilot, "32/40")
        await press(pilot, "m", "ctrl+l")
        assert "One thing at a time: breaking: goes on" in screen_text(pilot)
        await press(pilot, "escape")
        await strike(pilot, "ctrl+x")
        await settle(pilot, work=True)


@pytest.mark.parametrize("key", ["e", "R"])
async def test_a_key_that_would_begin_more_work_says_that_it_has_to_wait(many: Workspace, key: str) -> None:
    async with opened(many) as pilot:
        await start(pilot)
        await until(pilot, "32/40")
        await press(pilot, key)
        assert "One thing at a time" in screen_text(pilot).splitlines()[-1]
        await press(pilot, "j")
        assert "R run model" not in screen_text(pilot).splitlines()[-1]
        await strike(pilot, "ctrl+x")
        await settle(pilot, work=True)


def test_a_long_name_of_the_store_and_the_state_of_the_model_leave_the_places_their_numbers() -> None:
    def said(store: str, room: int) -> str:
        return "".join(part.text for part in standing(store, "embedded", "not loaded", 25, room))

    assert said("workspace", 39) == "workspace · embedded not loaded"
    assert said("workspace (read only)", 39) == "workspace (read … · embedded not loaded"
    assert said("a store with a very long name indeed", 39) == "a store with a v… · embedded not loaded"
    assert said("workspace", 24) == "embedded not loaded"
    assert said("workspace", 18) == "embedded"
