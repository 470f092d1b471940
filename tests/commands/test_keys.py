"""`emotui keys`: the card of keys is that of the registry, and docs/annotate.md has it as it is."""

import json
from pathlib import Path

import pytest

from emotui.screens.keymaps import Keymap, where
from emotui.screens.places import ACTIONS
from tests.conftest import Emotui
from tests.paths import CHECKOUT


def test_the_card_has_every_key_of_the_registry(emotui: Emotui) -> None:
    printed = emotui("keys").out
    assert [action.id for action in Keymap(ACTIONS).actions if action.shown and action.help not in printed] == []


def test_the_page_about_annotating_has_the_card_as_it_is_printed(emotui: Emotui) -> None:
    card = emotui("keys", "annotate", "--markdown").out
    assert card.strip() in (CHECKOUT / "docs" / "annotate.md").read_text(encoding="utf-8")


def test_an_unknown_place_is_bad_input(emotui: Emotui) -> None:
    assert emotui("keys", "garden").status == 2


def test_the_card_names_the_keys_that_a_person_has(
    emotui: Emotui, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    own = where()
    own.parent.mkdir(parents=True)
    own.write_text('[keys]\nsearch = "ctrl+f"\nfirst = "g g"\nmodel = "f11"\n', encoding="utf-8")
    by_id = {one["action"]: one for group in json.loads(emotui("keys", "--json").out).values() for one in group}
    assert by_id["search"]["key"] == "^F"
    assert by_id["first"]["key"] == "gg"
    own.write_text("[keys]\nsarch = 1\n", encoding="utf-8")
    told = emotui("keys")
    assert told.status == 2
    assert str(own) in told.err
