"""`emotui keys`: the card of keys is that of the registry, and docs/annotate.md has it as it is."""

from emotui.screens.places import ACTIONS
from tests.conftest import Emotui
from tests.paths import CHECKOUT


def test_the_card_has_every_key_of_the_registry(emotui: Emotui) -> None:
    printed = emotui("keys").out
    assert [action.id for action in ACTIONS if action.shown and action.help not in printed] == []


def test_the_page_about_annotating_has_the_card_as_it_is_printed(emotui: Emotui) -> None:
    card = emotui("keys", "annotate", "--markdown").out
    assert card.strip() in (CHECKOUT / "docs" / "annotate.md").read_text(encoding="utf-8")


def test_an_unknown_place_is_bad_input(emotui: Emotui) -> None:
    assert emotui("keys", "garden").status == 2
