"""What nobody foresaw costs a message: the workbench goes on, with what was typed, and a file has the traceback."""

import asyncio
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.css.query import NoMatches
from textual.widgets import Input, Label

from emotui.errors import BadInput
from emotui.screens.app import MANY, EmotuiApp, Failures
from emotui.screens.browse.place import Browse
from emotui.screens.dialogs.file import ExportDialog
from emotui.screens.dialogs.help import HelpDialog
from emotui.screens.generate.place import Generate
from emotui.screens.requests import in_words
from emotui.screens.widgets.line import Line
from emotui.workbench import failure_log
from tests.screens.browse_workspace import workspace
from tests.screens.driving import event_of, frame, notified, opened, press, screen_text, settle
from tests.screens.rephrase.driving import arrive
from tests.screens.rephrase_workspace import TEXTS, scripted
from tests.waiting import awaited


@pytest.fixture(autouse=True)
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Errors are outlived, as in a person's workbench; the file that they are written to."""
    monkeypatch.setattr(EmotuiApp, "outlives", True)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return failure_log.log_file()


def _raising(kind: type[Exception]) -> Callable[..., None]:
    def fails(*_: object) -> None:
        raise kind("lost\x1b]0;here\x07")

    return fails


async def test_a_place_goes_on_with_its_draft_whatever_an_action_a_timer_a_thread_or_its_drawing_raises(
    tmp_path: Path, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(scripted(tmp_path)) as pilot:
        here = await arrive(pilot, "i", "?", "escape")
        told = len(notified(pilot))
        with monkeypatch.context() as broken:
            broken.setattr(type(frame(pilot).tool), "do_help", _raising(KeyError))
            await press(pilot, "question_mark")
        assert "KeyError: 'lost\\x1b]0;here\\x07'" in notified(pilot)[told]
        assert "failures.log" in notified(pilot)[told]
        here.set_timer(0.01, _raising(ValueError))
        await awaited(lambda: log.read_text("utf-8").count("Traceback") == 2)
        frame(pilot).run_worker(_raising(TypeError), thread=True)
        await awaited(lambda: log.read_text("utf-8").count("Traceback") == 3)
        with monkeypatch.context() as broken:
            broken.setattr(Line, "render_line", _raising(IndexError))
            for line in frame(pilot).query(Line):
                line.refresh()
            await settle(pilot, cells=True)
        await press(pilot, "i", "!", "escape")
        assert here.editor.text == TEXTS[0][2] + "?!"
        assert "Something went wrong" in screen_text(pilot)
        written = log.read_text("utf-8")
        assert "in fails" in written
        assert "IndexError" in written
        assert "\x1b" not in written
        assert stat.S_IMODE(log.stat().st_mode) == 0o600
        assert pilot.app.is_running


async def test_ctrl_q_leaves_a_place_that_cannot_even_be_asked_for_its_keys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(workspace(tmp_path / "w.duckdb")) as pilot:
        with monkeypatch.context() as broken:
            broken.setattr(Browse, "can", _raising(KeyError))
            await press(pilot, "j")
            assert pilot.app.is_running
            pilot.app.post_message(event_of("ctrl+q"))
            await awaited(lambda: not pilot.app.is_running)


async def test_a_sheet_tells_what_its_result_raises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(workspace(tmp_path / "w.duckdb")) as pilot:
        dialog = ExportDialog(3, None)
        dialog.ask(pilot.app, lambda _: None)
        await settle(pilot)
        dialog.query_one("#path", Input).value = "a.jsonl"
        for raised, said in ((OSError(5, "Broken disk", "a.jsonl"), "a.jsonl: Broken disk"), (KeyError("x"), "KeyErr")):
            with monkeypatch.context() as broken:
                broken.setattr(dialog, "result", lambda raised=raised: _raise(raised))
                await press(pilot, "enter")
            assert str(dialog.query_one("#why", Label).content).startswith(said)
        await press(pilot, "escape")
        assert not isinstance(pilot.app.screen, ExportDialog)


def test_an_error_is_told_once_a_key_and_many_in_a_second_are_too_many() -> None:
    now = [0.0]
    failures = Failures(lambda: now[0])
    errors = [_caught(KeyError("a")), _caught(ValueError("b"))]
    assert [failures.news(one) for one in (*errors, *errors)] == [True, True, False, False]
    failures.forget()
    assert failures.news(errors[0])
    for _ in range(MANY):
        now[0] += 0.5
        failures.news(errors[0])
    assert not failures.too_many
    for _ in range(MANY):
        failures.news(errors[0])
    assert failures.too_many


def test_the_file_of_tracebacks_stays_bounded_and_a_person_s(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failure_log, "MOST_BYTES", 1000)
    for _ in range(50):
        failure_log.written_down(_caught(ValueError("x" * 200)))
    assert sorted(file.name for file in log.parent.iterdir()) == ["failures.log", "failures.log.1"]
    assert all(file.stat().st_size < 3000 for file in log.parent.iterdir())


def test_what_is_foreseen_has_no_traceback_and_a_log_that_cannot_be_written_ends_nothing(
    tmp_path: Path, log: Path
) -> None:
    assert in_words(BadInput("a: b")) == "a: b"
    assert in_words(FileNotFoundError(2, "No such file", "x")) == "x: No such file"
    assert not log.exists()
    (tmp_path / "state").write_text("a file where the folder should be")
    assert in_words(KeyError("x")).startswith("KeyError: 'x' (traceback: no file: ")


def _raise(error: Exception) -> None:
    raise error


def _caught(error: Exception) -> Exception:
    try:
        raise error
    except Exception as caught:
        return caught


async def test_keys_that_come_before_a_place_or_a_sheet_is_all_there_raise_nothing(tmp_path: Path, log: Path) -> None:
    source = workspace(tmp_path / "w.duckdb")
    app = EmotuiApp(lambda: source, poll=None)
    async with app.run_test(size=(100, 30)) as pilot:
        for key in ("5", "e", "escape", "f", "escape", "r", "escape", "colon", "escape", "4", "2", "1"):
            app.post_message(event_of(key))
            await asyncio.sleep(0)
        await settle(pilot)
        assert frame(pilot).places.number == 1
        assert "being read" not in screen_text(pilot)
        app.post_message(event_of("e"))
        app.exit()
    assert not log.exists(), log.read_text("utf-8")


async def test_a_key_says_which_it_was_and_what_failed_and_of_a_missing_extra_what_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lacks(name: str) -> Callable[..., None]:
        return lambda *_: _raise(ModuleNotFoundError(f"No module named {name!r}", name=name))

    async with opened(workspace(tmp_path / "w.duckdb"), (80, 24)) as pilot:
        for name, said in (
            ("captum.attr", "captum is not installed: "),
            ("no_such", "ModuleNotFoundError: No module named 'no_such'"),
        ):
            with monkeypatch.context() as broken:
                broken.setattr(type(frame(pilot).tool), "do_help", lacks(name))
                await press(pilot, "question_mark")
            line = next(line for line in screen_text(pilot).split("\n") if "? help failed" in line)
            assert said in line
            assert ("'captum>=0.9'" in screen_text(pilot)) == (name == "captum.attr")


async def test_a_sheet_or_place_that_cannot_be_made_leaves_the_frame_which_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(workspace(tmp_path / "w.duckdb")) as pilot:
        for kind, broken_part, key in ((HelpDialog, "body", "question_mark"), (Generate, "compose", "6")):
            with monkeypatch.context() as broken:
                broken.setattr(kind, broken_part, _raising(ImportError))
                await press(pilot, key)
            assert pilot.app.screen is frame(pilot)
            assert "ImportError: lost" in screen_text(pilot)
            assert frame(pilot).places.number == 1
            told = len(notified(pilot))
            await press(pilot, key)
            assert len(notified(pilot)) == told
            await press(pilot, "escape")
        assert frame(pilot).places.number == 6


def test_what_is_missing_because_of_an_error_is_not_told_in_its_place() -> None:
    now = [0.0]
    failures = Failures(lambda: now[0])
    assert failures.news(_caught(ImportError("a")))
    assert not failures.news(_caught(NoMatches("a part of what was to be made")))
    now[0] += 2
    assert failures.news(_caught(NoMatches("something else")))
