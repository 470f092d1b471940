"""Keys of one's own as a file, the editor of one's own, and the clipboard inside tmux."""

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emotui.errors import BadInput
from emotui.screens.app import copy_by_tmux
from emotui.screens.keymaps import SIGNS, Chosen, read, write
from emotui.screens.long_text import edited, editor_of
from emotui.screens.places import ACTIONS

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
    path.write_text("[keys]\nmeasure = 'b'\nsearch = 'B'\n", encoding="utf-8")
    assert read(path, ACTIONS) == Chosen(keys={"search": ("B",)})


def test_keys_of_what_another_action_does_by_now_are_the_keys_of_that(tmp_path: Path) -> None:
    path = tmp_path / "keys.toml"
    path.write_text("[keys]\nchanged_on = 'b'\nas_printed = 'z'\npublished = 'Z'\n", encoding="utf-8")
    assert read(path, ACTIONS) == Chosen(keys={"next_table": ("b",), "published": ("Z",)})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("set = 'emacs'", "set is one of emotui, vim, not 'emacs'"),
        ("[keys]\nsarch = '/'", "there is no action 'sarch'"),
        ("[keys]\nsearch = 'hyper+x'", "search: there is no key 'hyper+x'"),
        ("[keys]\nsearch = 3", "search: there is no key 3"),
        ("[keys]\nsearch = 'g g g'", "search: there is no key 'g g g'"),
        ("[keys]\nsearch = 'g  '", "search: there is no key 'g  '"),
        ("[other]", "it has a set and a table [keys]"),
        ("keys = 1", "it has a set and a table [keys]"),
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
