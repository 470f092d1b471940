"""One key, one meaning over all places: families of actions, and the few exceptions with their reasons."""

from collections import Counter

import pytest

from emotui.screens.actions import Action
from emotui.screens.keymaps import EXCEPTIONS, FAMILIES, Family
from emotui.screens.places import ACTIONS

MOST = 10
"""Exceptions that there may be."""


def clashing(
    actions: tuple[Action, ...], families: tuple[Family, ...], exceptions: dict[tuple[str, str], str]
) -> list[str]:
    """Keys that mean more than one thing, and exceptions that are none or have no reason."""
    on: dict[str, list[str]] = {}
    for action in actions:
        for key in action.keys:
            on.setdefault(key, []).append(action.id)
    family = {key: one.actions for one in families for key in one.keys}
    clashes = []
    for key, ids in on.items():
        left = [name for name in ids if (key, name) not in exceptions]
        strange = [name for name in left if name not in family.get(key, ())]
        if strange and len(left) > 1:
            clashes.append(f"{key}: {', '.join(left)}")
    for (key, name), why in exceptions.items():
        others = [one for one in on.get(key, []) if one != name]
        if name not in on.get(key, []) or name in family.get(key, ()) or not others:
            clashes.append(f"{key}: {name} is no exception (any more)")
        if len(why.split()) < 2:
            clashes.append(f"{key}: {name} has no reason")
    if len(exceptions) > MOST:
        clashes.append(f"{len(exceptions)} exceptions")
    return clashes


def test_a_key_has_one_meaning_over_all_places() -> None:
    assert clashing(ACTIONS, FAMILIES, dict(EXCEPTIONS)) == []


def test_a_meaning_is_declared_once_and_of_actions_that_there_are_and_share_the_key() -> None:
    keys = {one.id: one.keys for one in ACTIONS}
    assert [key for key, n in Counter(key for one in FAMILIES for key in one.keys).items() if n > 1] == []
    assert [one.meaning for one in FAMILIES if len(one.actions) < 2] == []
    lacking = [
        (key, name) for one in FAMILIES for key in one.keys for name in one.actions if key not in keys.get(name, ())
    ]
    assert lacking == []
    assert Counter(one.id for one in ACTIONS).most_common(1)[0][1] == 1


def _action(id: str, *keys: str) -> Action:
    return Action(id, keys, keys[0], id, id, "Test")


@pytest.mark.parametrize(
    ("extra", "exceptions", "told"),
    [
        ((_action("new", "s"),), {}, "s: sort, new"),
        ((_action("new", "n"),), {}, "new"),
        ((), {("i", "hints"): ""}, "has no reason"),
        ((), {("b", "borrow"): "it is alone there"}, "borrow is no exception"),
        ((), {("o", "fill"): "it is of the family"}, "fill is no exception"),
        ((), {("z", "sort"): "it has no such key"}, "sort is no exception"),
        ((), {("n", f"other_{n}"): "one too many" for n in range(11)}, "exceptions"),
    ],
)
def test_a_clash_a_needless_exception_and_an_eleventh_are_found(
    extra: tuple[Action, ...], exceptions: dict[tuple[str, str], str], told: str
) -> None:
    found = clashing((*ACTIONS, *extra), FAMILIES, dict(EXCEPTIONS) | exceptions)
    assert any(told in one for one in found), found


THIRD_EDITION = {
    "back": {"escape"},
    "stop": {"ctrl+x"},
    "halt": {"ctrl+x"},
    "pane": {"tab"},
    "pane_back": {"shift+tab"},
    "panes": {"f6"},
    "next_error": {"n"},
    "previous_error": {"p"},
    **{f"next_{mark}": {mark} for mark in "HFNMX"},
    "view": {"v"},
    "view_back": {"V"},
    "sample_note": {"semicolon"},
    "note": {"semicolon"},
    "accept": {"space"},
    "undo": {"u", "ctrl+z"},
    "redo": {"ctrl+r", "ctrl+y"},
    "clear": {"x"},
    "remove": {"x"},
    "guidelines": {"f2"},
    "figures": {"f3"},
    "agreement": {"f3"},
    "study": {"f4"},
    "rate": {"f4"},
    "adjudicate": {"f4"},
    "note_here": {"f9"},
    "own_keys": {"f10"},
    "tour": {"f12"},
}
"""By action, the keys that the table of the third edition gives it."""


def test_the_registry_has_the_keys_of_the_third_edition() -> None:
    keys = {one.id: set(one.keys) for one in ACTIONS}
    assert {name: keys[name] for name in THIRD_EDITION} == THIRD_EDITION
    ends = {one.id for one in ACTIONS if "escape" in one.keys}
    assert ends == {"end_tour", "leave", "back", "drop"}, "Esc goes back and never ends work"
