"""Keys of one's own as a file, the editor of one's own, and the clipboard inside tmux."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from emotui.errors import BadInput
from emotui.screens.app import copy_by_tmux
from emotui.screens.keymaps import EDITION, MOVED, SIGNS, Chosen, read, write
from emotui.screens.places import ACTIONS
from emotui.screens.tool import SCOPES, OwnKeys
from emotui.screens.widgets.editor import edited, editor_of

IDS = [action.id for action in ACTIONS]
ONE = st.sampled_from(sorted(SIGNS))
KEYS = ONE | st.tuples(ONE, ONE).map(" ".join)


@given(
    base=st.sampled_from(["emotui", "vim"]),
    keys=st.dictionaries(st.sampled_from(IDS), st.lists(KEYS, max_size=3, unique=True).map(tuple), max_size=5),
)
def test_what_is_written_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, base: str, keys: dict[str, tuple[str, ...]]
) -> None:
    path = tmp_path_factory.mktemp("keys") / "folder" / "keys.toml"
    write(path, Chosen(base, keys))
    assert read(path, ACTIONS) == Chosen(base, keys)


def test_without_a_file_the_registry_s_own_keys_hold(tmp_path: Path) -> None:
    assert read(tmp_path / "none.toml", ACTIONS) == Chosen()


def test_keys_of_what_a_sheet_does_by_now_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "keys.toml"
    path.write_text("edition = 3\n[keys]\nmeasure = 'b'\nsearch = 'B'\n", encoding="utf-8")
    told = ("measure has a key of its own in the sheet that does it",)
    assert read(path, ACTIONS) == Chosen(keys={"search": ("B",)}, moved=told)


def test_keys_of_what_another_action_does_by_now_are_the_keys_of_that(tmp_path: Path) -> None:
    path = tmp_path / "keys.toml"
    path.write_text("[keys]\nchanged_on = 'b'\nas_printed = 'z'\npublished = 'Z'\n", encoding="utf-8")
    assert read(path, ACTIONS, SCOPES).keys == {"next_table": ("b",), "published": ("Z",)}


OLD = """set = "vim"
[keys]
second = "M"
note = ["c", "f11"]
keep = ["f8", "K"]
search = ["X", "/"]
clamp = "Y"
as_printed = "ctrl+f"
"""


def test_a_file_of_before_is_brought_over_and_nothing_in_it_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "keys.toml"
    path.write_text(OLD, encoding="utf-8")
    found = read(path, ACTIONS, SCOPES)
    assert found.base == "vim"
    assert found.keys == {
        "second": ("B",),
        "note": ("semicolon", "f11"),
        "keep": ("f8",),
        "search": ("X", "slash"),
        "clamp": ("Y",),
        "published": ("ctrl+f",),
        "next_X": (),
    }, "Y of Scenes and Y of Masked are in nobody's way"
    told = "; ".join(found.moved)
    assert "as_printed is published; M is B for “second model”; c is ; for “note”; K is F8 for “keep”" in told
    assert "X stays with “search”, not “next extra”" in told
    assert "\n" not in told
    write(path, found)
    assert read(path, ACTIONS, SCOPES) == replace(found, moved=()), "brought over once"


@given(
    keys=st.dictionaries(st.sampled_from(IDS), st.lists(KEYS, max_size=3, unique=True).map(tuple), max_size=6),
)
def test_any_file_of_before_is_read_and_every_key_in_it_still_does_what_it_did(
    tmp_path_factory: pytest.TempPathFactory, keys: dict[str, tuple[str, ...]]
) -> None:
    path = tmp_path_factory.mktemp("keys") / "keys.toml"
    write(path, Chosen("emotui", keys))
    path.write_text(path.read_text(encoding="utf-8").replace(f"edition = {EDITION}\n", ""), encoding="utf-8")
    found = read(path, ACTIONS, SCOPES)
    for name, own in keys.items():
        there = MOVED.get(name, {})
        assert found.keys[name] == tuple(dict.fromkeys(there.get(key, key) for key in own))
    write(path, found)
    assert read(path, ACTIONS, SCOPES) == replace(found, moved=())


async def test_a_file_of_before_is_written_back_once_and_told_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "keys.toml"
    path.write_text(OLD, encoding="utf-8")
    for times in (1, 0):
        told: list[str] = []
        screen = SimpleNamespace(notify=lambda line, told=told, **_: told.append(line), refresh_bindings=lambda: None)
        own = OwnKeys(SimpleNamespace(keymap=None), screen, lambda: path)  # type: ignore[arg-type]
        own.read()
        moved = [line for line in told if "M is B for “second model”" in line]
        assert len(moved) == times
        assert all("\n" not in line for line in told)
        assert own._session.keymap.keys_of("second") == ("B",)
    assert "edition = 3" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("set = 'emacs'", "set is one of emotui, vim, not 'emacs'"),
        ("[keys]\nsarch = '/'", "there is no action 'sarch'"),
        ("[keys]\nsearch = 'hyper+x'", "search: there is no key 'hyper+x'"),
        ("[keys]\nsearch = 3", "search: there is no key 3"),
        ("[keys]\nsearch = 'g g g'", "search: there is no key 'g g g'"),
        ("[keys]\nsearch = 'g  '", "search: there is no key 'g  '"),
        ("[other]", "it has a set, an edition and a table [keys]"),
        ("keys = 1", "it has a set, an edition and a table [keys]"),
        ("[keys", "this is no TOML"),
    ],
)
def test_a_file_that_does_not_hold_is_refused_in_one_line(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "keys.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput) as refused:
        read(path, ACTIONS)
    assert str(refused.value).startswith(str(path))
    assert why in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_key_may_be_named_by_what_it_types(tmp_path: Path) -> None:
    path = tmp_path / "keys.toml"
    path.write_text('[keys]\nsearch = ["/", "?", "Ctrl+F"]\nnext = "J"\n', encoding="utf-8")
    assert read(path, ACTIONS).keys == {"search": ("slash", "question_mark", "ctrl+f"), "next": ("J",)}


def _editor(tmp_path: Path, body: str) -> list[str]:
    script = tmp_path / "editor.py"
    script.write_text(f"import sys, pathlib\npath = pathlib.Path(sys.argv[1])\n{body}\n", encoding="utf-8")
    return [sys.executable, str(script)]


def test_the_text_is_what_the_editor_leaves_without_the_line_s_end_that_it_adds(tmp_path: Path) -> None:
    command = _editor(tmp_path, "path.write_text(path.read_text().upper() + '\\n')")
    assert edited("née\ntwo", command) == "NÉE\nTWO"
    assert edited("one\n", _editor(tmp_path, "")) == "one\n"


def test_an_editor_that_fails_or_is_not_there_changes_nothing(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="ended with 3"):
        edited("text", _editor(tmp_path, "sys.exit(3)"))
    with pytest.raises(BadInput, match="no-such-editor"):
        edited("text", ["no-such-editor"])
    with pytest.raises(BadInput, match="names no editor"):
        editor_of({})
    assert editor_of({"EDITOR": "vi", "VISUAL": "code --wait"}) == ["code", "--wait"]


def test_tmux_is_handed_what_is_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmux = tmp_path / "tmux"
    tmux.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/said\ncat >> {tmp_path}/said\n', encoding="utf-8")
    tmux.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    copy_by_tmux("née")
    assert (tmp_path / "said").read_text(encoding="utf-8") == "load-buffer -w -\nnée"
