"""The page of keys: the new keys that it names are those of the registry, and it leaves out none that moved."""

import re

from emotui.screens.keymaps import EXCEPTIONS, MOVED, sign_of
from emotui.screens.places import ACTIONS, OPENED
from emotui.screens.tool import SCOPES
from tests.paths import CHECKOUT

PAGE = (CHECKOUT / "docs" / "keys.md").read_text(encoding="utf-8")
CELLS = [[cell.strip() for cell in row.split("|")[1:-1]] for row in PAGE.splitlines() if row.startswith("|")]
ROWS = [cells for cells in CELLS if len(cells) == 5 and re.fullmatch(r"`\w+`", cells[2])]


def _sign(written: str) -> str:
    return re.sub(r"Ctrl\+(\w)", r"^\1", written)


def test_every_new_key_of_the_table_is_that_of_the_registry() -> None:
    by_id = {one.id: one for one in ACTIONS}
    assert len(ROWS) >= len(MOVED)
    for place, _, name, _, now in ROWS:
        action = by_id[name.strip("`")]
        assert _sign(now) in map(sign_of, action.keys), action.id
        assert SCOPES.get(action.id, "everywhere") == place.split(", now ")[-1], action.id


def test_every_key_that_moved_stands_there_with_the_one_of_before() -> None:
    there = {name.strip("`"): (_sign(before), _sign(now)) for _, _, name, before, now in ROWS}
    for name, keys in MOVED.items():
        assert there[name] in [(sign_of(before), sign_of(now)) for before, now in keys.items()], name
    keys_of = {one.id: one.keys for one in ACTIONS}
    assert {name for name, keys in MOVED.items() if not {*keys.values()} <= {*keys_of[name]}} == set()


def test_the_exceptions_that_are_told_are_those_of_the_code() -> None:
    table = PAGE.split("## Exceptions")[1].split("## From")[0]
    told = {sign for row in re.findall(r"^\| (`.*?) \|", table, re.M) for sign in re.findall("`([^`]+)`", row)}
    assert told == {sign_of(key) for key, _ in EXCEPTIONS}


def test_the_digits_that_it_names_open_what_it_says() -> None:
    assert OPENED[9] == "Results: two"
    assert OPENED[8] == "Spot check"
