"""Every field in which one writes more than a name: what was typed outlives the session, however that ends."""

import os
import pty
import select
import shutil
import signal
import subprocess
import sys
import termios
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, TextArea

from emotui.errors import StoreError
from emotui.store.store import Store
from emotui.workbench.drafts import Draft, DraftBook, Field
from emotui.workbench.masked.study import begin_study
from emotui.workbench.workspace import Workspace
from tests.effort import tried
from tests.paths import CHECKOUT
from tests.screens.browse_workspace import workspace
from tests.screens.driving import event_of, frame, notified, opened, press, screen_text, settle
from tests.screens.masked.workspace import WRITES, masked_workspace
from tests.screens.rephrase_workspace import scripted
from tests.waiting import awaited, wait_until

WORDS = "late again"
WHO = "someone"


@dataclass(frozen=True)
class Written:
    """A field: in which workspace it is, how one comes into it (again), and what keeps what stands there."""

    name: str
    make: Callable[[Path], Workspace]
    way: Sequence[str]
    widget: str
    saves: Sequence[str] = ("enter",)
    before: Sequence[str] = ()
    keeps: str = "word"
    """What is typed to be kept."""


def browsed(folder: Path) -> Workspace:
    return workspace(folder / "w.duckdb")


def imported(folder: Path) -> Workspace:
    (folder / "more.jsonl").write_text('{"id": "new", "text": "I am glad", "spans": [[5, 9]]}\n')
    return browsed(folder)


def studied(folder: Path) -> Workspace:
    made = masked_workspace(folder)
    dataset = made.store.datasets.get("masked")
    assert dataset is not None
    begin_study(made.store, dataset, "s/1", "gold", WRITES, most=1)
    return made


_ASKED = 0.1
"""Seconds between two questions to the store: each costs more than what is waited for."""

FIELDS = (
    Written("note", browsed, (";",), "#text"),
    Written("codes of a note", browsed, (";", "tab"), "#codes"),
    Written("note of an answer", browsed, ("2", ";"), "#note"),
    Written("why", studied, ("5", "f4", "enter", "i"), "#masked-guess", before=("5", "f4", "enter", "right")),
    Written("own codes", studied, ("5", "f4", "enter", ","), "#masked-guess", before=("5", "f4", "enter", "right")),
    Written("sql", browsed, ("Q",), "#query"),
    Written("filter", browsed, ("f",), "#column", ("enter",), keeps="speaker=Ann"),
    Written("path of a file", imported, ("I",), "#path", ("enter", "enter"), keeps="more.jsonl"),
    Written("columns of a file", browsed, ("I", "tab"), "#columns", ()),
    Written("guess", masked_workspace, ("5", "i"), "#masked-guess"),
    Written("spot check", scripted, ("8",), "#spot-editor", ("f8",)),
    Written("rephrasing", scripted, ("3", "i"), "#rephrase-editor"),
)

every_field = pytest.mark.parametrize("field", FIELDS, ids=lambda field: field.name)


def text_of(pilot: "Pilot[None]", field: Written) -> str:
    widget = pilot.app.screen.query_one(field.widget)
    assert isinstance(widget, Input | TextArea)
    return widget.value if isinstance(widget, Input) else widget.text


async def go_in(pilot: "Pilot[None]", keys: Sequence[str], widget: str = "") -> None:
    """Press the keys, then Tab until the widget has the focus."""
    for key in keys:
        pilot.app.post_message(event_of(key))
        await settle(pilot, work=True)
    await settle(pilot)
    while widget and pilot.app.screen.query_one(widget) is not pilot.app.focused:
        await press(pilot, "tab")


def again(source: Workspace, store: Path) -> Workspace:
    """The workspace as another process opens it."""
    return type(source)(Store.open(store))


def drafts(source: Workspace) -> dict[str, str]:
    return {field.name: draft.text for field, draft in source.drafts().of(WHO).items()}


@every_field
async def test_what_was_typed_is_there_and_told_when_the_field_is_opened_again(field: Written, tmp_path: Path) -> None:
    """A session ends by a kill, once the draft is kept, or by a key right after a letter."""
    source = field.make(tmp_path)
    killed = tmp_path / "killed.duckdb"
    if field.before:
        async with opened(source) as pilot:
            await go_in(pilot, field.before)
    async with opened(source) as pilot:
        await go_in(pilot, field.way, field.widget)
        await press(pilot, *WORDS)
        await awaited(lambda: WORDS in drafts(source).get(field.name, ""), pause=_ASKED)
        shutil.copy(source.store.path, killed)  # a kill leaves what the store has now
        await press(pilot, "?", "escape")
    await _is_there(again(source, killed), field, WORDS, "!", "ctrl+q")
    await _is_there(again(source, source.store.path), field, WORDS + "?", "!")
    await _is_there(again(source, killed), field, WORDS + "!", "+")


async def _is_there(after: Workspace, field: Written, words: str, more: str, *end: str) -> None:
    """The words stand in the field and are told of; one letter more follows them, and then what ends the session."""
    async with opened(after) as pilot:
        await go_in(pilot, field.way, field.widget)
        assert words in text_of(pilot, field)
        told = " ".join([screen_text(pilot), *notified(pilot)])
        assert "ou typed this" in told or "not submitted" in told
        await press(pilot, more)
        assert words + more in text_of(pilot, field)
        await press(pilot, *end)


@every_field
async def test_a_draft_is_gone_once_its_words_are_kept_or_taken_away(
    field: Written, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source = field.make(tmp_path)
    async with opened(source) as pilot:
        await go_in(pilot, field.before)
        await go_in(pilot, field.way[-1:] if field.before else field.way, field.widget)
        await press(pilot, "a", "b")
        await awaited(lambda: field.name in drafts(source), pause=_ASKED)
        await press(pilot, "backspace", "backspace")
        await awaited(lambda: field.name not in drafts(source), pause=_ASKED)
        await press(pilot, *field.keeps)
        await awaited(lambda: field.name in drafts(source), pause=_ASKED)
        for key in field.saves:
            await press(pilot, key)
            await settle(pilot, work=True)
        if not field.saves:
            await press(pilot, *["backspace"] * len(field.keeps))
        await awaited(lambda: not drafts(source), pause=_ASKED)
    assert drafts(again(source, source.store.path)) == {}


@pytest.mark.faults
@pytest.mark.parametrize("end", ["kill", "hang-up"])
@pytest.mark.parametrize(
    "way",
    [((b"1", b"span 1 of"), (b";", b"codes, with commas")), ((b";", b"Note about this text"),)],
    ids=["note", "note of an answer"],
)
def test_a_workbench_that_is_killed_or_loses_its_terminal_leaves_the_note_that_was_being_written(
    way: Sequence[tuple[bytes, bytes]], end: str, tmp_path: Path
) -> None:
    path = tmp_path / "w.duckdb"
    book = workspace(path, run=False).drafts()
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    command = [sys.executable, "-m", "emotui", "--db", str(path), "--annotator", WHO]
    env = os.environ | {"PYTHONPATH": str(CHECKOUT), "TERM": "xterm-256color"}
    person = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=env, start_new_session=True)
    os.close(theirs)
    screen = bytearray()

    def shows(words: bytes) -> bool:
        while select.select([ours], [], [], 0)[0]:
            screen.extend(os.read(ours, 65536))
        return words in screen

    def words() -> list[str]:
        shows(b"")
        return [draft.text for draft in book.of(WHO).values()]

    try:
        wait_until(lambda: shows(b"0 spans"), lambda: screen.decode(errors="replace"))
        for key, shown in way:
            os.write(ours, key)
            wait_until(lambda shown=shown: shows(shown), lambda: screen.decode(errors="replace"))  # type: ignore[misc]
        os.write(ours, WORDS.encode())
        wait_until(lambda: words() == [WORDS])
        if end == "kill":
            person.send_signal(signal.SIGKILL)
        tried("kills")
        os.close(ours)
        wait_until(lambda: person.poll() is not None)
    finally:
        person.kill()
        person.wait()
    assert [draft.text for draft in book.of(WHO).values()] == [WORDS]


def test_drafts_of_others_and_what_is_no_draft_are_passed_over(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "w.duckdb")
    book = DraftBook(store)
    mine, theirs = Field("note", WHO, 1, 2), Field("note", "bob/" + WHO, 1, 2)
    book.keep({mine: Draft(text="mine"), theirs: Draft(text="theirs")})
    for key in ("draft/", "draft/{}", 'draft/{"name": 1}', "rephrasing-drafts/x", f"rephrasing-drafts/a/b/{WHO}"):
        store.settings.set(key, [1, "x"])
    assert book.of(WHO) == {mine: Draft(text="mine")}
    book.keep({mine: None})
    assert book.of(WHO) == {}
    assert book.of("bob/" + WHO) == {theirs: Draft(text="theirs")}


async def test_a_store_that_keeps_nothing_takes_no_words_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise StoreError("the disk is full")

    source = browsed(tmp_path)
    async with opened(source) as pilot:
        monkeypatch.setattr(DraftBook, "keep", full)
        await press(pilot, ";", *WORDS)
        frame(pilot).session.drafts.save()
        await settle(pilot)
        assert notified(pilot) == ["What is typed is kept only until you leave: the disk is full"]
        await press(pilot, "escape", ";")
        assert text_of(pilot, FIELDS[0]) == WORDS
        await press(pilot, "ctrl+z")
        assert text_of(pilot, FIELDS[0]) == ""
        await press(pilot, "ctrl+r")
        assert text_of(pilot, FIELDS[0]) == WORDS
