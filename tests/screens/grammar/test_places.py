"""The grammar of keys: for every place, from the registry alone, with the list or a pane of the place in focus."""

import ast
import re
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from emotui.screens.actions import Acting
from emotui.screens.dialogs.help import EVERYWHERE, HERE, HelpDialog, Row
from emotui.screens.folding import Folding
from emotui.screens.frame import Frame
from emotui.screens.keymaps import PANE, SIGNS, Chosen, Keymap, clashes, hold, keyed
from emotui.screens.keys import Keys
from emotui.screens.models.actions import ModelActions
from emotui.screens.notes.actions import NoteActions
from emotui.screens.places import ACTIONS, OPENED, PLACES, TITLES, class_of, places, room_for_places
from emotui.screens.samples.actions import ListActions, SourceActions
from emotui.screens.samples.pane import ListPane
from emotui.screens.tool import SCOPES, ToolActions
from emotui.screens.widgets.cell_width import width
from emotui.screens.widgets.footer import KeyBar
from tests.paths import CHECKOUT

ANYWHERE = (ListActions, SourceActions, ModelActions, NoteActions, ToolActions, Folding, Frame)


class Able(Acting):
    """Does what a class of the workbench does, and can do all of it always."""

    def __init__(self, *kinds: type[Acting]) -> None:
        self.kinds = kinds
        self.own_keys: tuple[Any, ...] = ()
        self.modes: tuple[type[Acting], ...] = ()
        self.on_sight: tuple[str, ...] = ()
        self.takes_letters, self.only, self.alone = False, None, False
        self.reads = self.orders = False
        self.at_once: tuple[str, ...] = ()

    def doing(self, action: str) -> Any:
        return (lambda: None) if any(hasattr(kind, f"do_{action}") for kind in self.kinds) else None

    def can(self, action: str) -> bool:
        return self.doing(action) is not None


def keys_in(number: int, *, in_list: bool, chosen: Chosen | None = None) -> tuple[Keys, Any]:
    """What keys mean in a place where everything can be done, and the place."""
    entry = PLACES[number]
    place, pane = Able(class_of(entry)), Able(ListPane)
    place.entry = entry  # type: ignore[attr-defined]
    focused = SimpleNamespace(ancestors=[pane if in_list else place], check_consume_key=lambda key, character: False)
    screen = SimpleNamespace(focused=focused, is_mounted=True)
    session = SimpleNamespace(
        keymap=Keymap(ACTIONS, chosen.all if chosen else None), job=None, stoppable=False, reads=False
    )
    places = SimpleNamespace(here=place)
    anywhere = tuple(Able(kind) for kind in ANYWHERE)
    return Keys(session, pane, places, anywhere, screen), place  # type: ignore[arg-type]


@pytest.mark.parametrize("number", PLACES)
def test_arrows_enter_and_page_keys_act_in_the_pane_that_has_the_focus_alone(number: int) -> None:
    for in_list in (True, False):
        keys, place = keys_in(number, in_list=in_list)
        opens = keys.meant("enter")
        assert not in_list or (opens is not None and opens.id == "open")
        for key in PANE:
            meant = keys.meant(key)
            assert meant is None or (keys.answering(meant.id) is place) != in_list, (key, meant)


@pytest.mark.parametrize("number", PLACES)
def test_n_and_p_are_the_next_and_previous_thing_of_the_place_whatever_has_the_focus(number: int) -> None:
    entry = PLACES[number]
    done = [one for one in entry.actions if hasattr(class_of(entry), f"do_{one.id}")]
    own = {key: one.id for one in done for key in one.keys if key in "np"}
    for in_list in (True, False):
        keys, _ = keys_in(number, in_list=in_list)
        for key, otherwise in (("n", "next_error"), ("p", "previous_error")):
            meant = keys.meant(key)
            assert meant is not None
            assert meant.label == next(one.label for one in ACTIONS if one.id == own.get(key, otherwise))


@pytest.mark.parametrize("number", PLACES)
def test_every_key_does_something_or_says_why_not_in_one_line(number: int) -> None:
    for in_list in (True, False):
        keys, _ = keys_in(number, in_list=in_list)
        for key in SIGNS:
            why = keys.why_not(key)
            assert why, key
            assert "\n" not in why
            assert width(why) <= 100, why


ALWAYS = {"end_tour", "close_view", "quit", "pane", "pane_back", "panes"}
"""What gives way to something else on its key, or always does something."""


@pytest.mark.parametrize("number", PLACES)
def test_what_cannot_be_done_says_what_it_takes(number: int) -> None:
    keys, place = keys_in(number, in_list=True)
    kinds = (class_of(PLACES[number]), ListPane, *ANYWHERE)
    own = {one.id for one in place.entry.actions}
    can = {
        one.id for one in ACTIONS for kind in kinds if hasattr(kind, f"can_{one.id}") and hasattr(kind, f"do_{one.id}")
    }
    limited = [one for one in ACTIONS if one.id in own | can]
    assert [one.id for one in limited if not keys._needs(one) and one.id not in ALWAYS] == []


def test_a_reason_is_of_the_pane_that_has_the_focus() -> None:
    keys, place = keys_in(4, in_list=False)
    place.can, place.modes = (lambda action: False), (class_of(PLACES[4]),)
    assert keys.why_not("w") == "w why: no scenario with the answers of a model is shown"
    assert keys.why_not("enter") == "Enter is “open” in the list: l goes there", "where the list is folded away"
    place.only = {"open"}
    assert keys.why_not("enter") == "Enter is “open” in the list: Tab goes there"
    place.only = None
    place.alone = True
    assert keys.why_not("f9") == "F9 note: Scenes stands without the list"


def test_the_places_have_the_numbers_from_one_on_without_a_gap() -> None:
    assert sorted(number or 10 for number in TITLES) == list(range(1, len(TITLES) + 1))


@pytest.mark.parametrize("number", PLACES)
def test_the_footer_of_eighty_columns_holds_the_main_job_and_never_more_than_a_line(number: int) -> None:
    entry = PLACES[number]
    keys, _ = keys_in(number, in_list=False)
    bar = KeyBar(keys)
    offered = list(bar._offered(frozenset(), last=False))
    parts = bar.fitted((), 78)
    said = "".join(part.text for part in parts)
    assert width(said) <= 78
    assert said.endswith(("help", "quit", "close"))
    there = [one for one in offered if one.id in entry.main]
    assert there, entry.title
    if "run" in entry.main:
        assert "r runs" in said
    assert all((one.footer or (one.shown, ""))[0] in said for one in there[:3])


def test_keys_of_ones_own_stand_in_place_of_the_registry_s_and_clashes_are_told() -> None:
    keys, _ = keys_in(4, in_list=False, chosen=Chosen(keys={"search": ("ctrl+f",), "clamp": ("w",)}))
    assert keys.meant("slash") is None
    found = keys.meant("ctrl+f")
    assert found is not None
    assert (found.id, found.shown) == ("search", "^F")
    assert clashes(Keymap(ACTIONS, {"clamp": ("t",)}), SCOPES, "clamp") == ["t is also “prior” in Scenes"]
    assert clashes(Keymap(ACTIONS, {"search": ("ctrl+f",)}), SCOPES, "search") == []


def test_every_sentence_of_the_registry_names_actions_that_there_are() -> None:
    ids = {one.id for one in ACTIONS}
    said = [text for one in ACTIONS for text in (one.help, one.needs, (one.footer or ("", ""))[0])]
    assert {name for text in said for name in re.findall(r"\{(\w*)\}", text)} <= ids
    named = [one for one in Keymap(ACTIONS).actions if "{" in one.help + one.needs]
    assert named == []


def test_hints_footer_and_help_name_the_keys_that_a_person_has() -> None:
    keymap = Keymap(ACTIONS, {"model": ("f11",), "run": (), "previous": ("P",), "first": ("g g", "home")})
    by_id = {one.id: one for one in keymap.actions}
    assert by_id["run"].needs == "there are no runs yet: F11 runs a model"
    assert by_id["make_gold"].needs == "no run is over the list: F11 runs a model, “runs” chooses a run"
    assert by_id["next"].footer == ("j P", "move")
    assert by_id["first"].shown == "gg"
    hold(keymap)
    assert keyed("{model} runs a model, {clear} shows all {nothing}") == "F11 runs a model, x shows all {nothing}"
    hold(Keymap(ACTIONS))
    assert keyed("{model} runs a model") == "R runs a model"


_VERBS = (
    "again|asks|begins|brings|changes|chooses|counts|drops|ends|fills|frees|goes|into|leaves|loads|measures|offers?|opens"
    "|reviews|runs|scores|shows|stops|submits|takes|tries|turns|writes"
)
_NAMES_A_KEY = re.compile(rf"(^|[ :;,(])([A-Za-z?/%;=~]|F\d+|\^[A-Z]|Tab|Enter) ({_VERBS})\b")


def _sentences(tree: ast.AST) -> Iterator[str]:
    """Every text in a module that is no docstring and none of a sheet's own keys."""
    skipped = set()
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            skipped |= {id(one.value) for one in body if isinstance(one, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            yield node.value


SHEETS = "dialogs", "notes", "models"
"""Sheets have keys of their own, which nobody changes."""


def test_no_text_of_a_pane_names_a_key_by_its_letter() -> None:
    found = {
        f"{path.name}: {text}"
        for path in sorted((CHECKOUT / "screens").rglob("*.py"))
        if path.parent.name not in SHEETS and path.stem != "dialogs"
        for text in _sentences(ast.parse(path.read_text(encoding="utf-8")))
        if _NAMES_A_KEY.search(text)
    }
    assert found == set()


def test_two_keys_one_after_the_other_mean_one_thing() -> None:
    keys, _ = keys_in(1, in_list=True, chosen=Chosen("vim"))
    keymap = Keymap(ACTIONS, Chosen("vim").all)
    assert keys.meant("g") is None
    assert keymap.begins("g")
    assert not keymap.begins("j")
    first = keys.meant("g g")
    assert first is not None
    assert first.id == "first"
    assert keys.going_on("g") == "g …   gg first"


def test_the_set_of_vim_pages_by_its_own_keys_and_clashes_with_nothing() -> None:
    keymap = Keymap(ACTIONS, Chosen("vim").all)
    assert [one.id for one in keymap.on("ctrl+f")] == ["page_down"]
    assert {name: told for name in Chosen("vim").all if (told := clashes(keymap, SCOPES, name))} == {}


def _rows_of_help(keys: Keys) -> dict[str, list[Row]]:
    """The lines of each view of the sheet of help."""
    opened: list[HelpDialog] = []
    app = SimpleNamespace(push_screen=lambda sheet, callback: opened.append(sheet))
    ToolActions(SimpleNamespace(metrics=()), SimpleNamespace(app=app), lambda: keys, ()).do_help()  # type: ignore[arg-type]
    return {view: list(rows) for view, rows in opened[0]._rows.items()}


@pytest.mark.parametrize("number", PLACES)
def test_every_line_of_the_help_belongs_to_where_it_is_shown(number: int) -> None:
    entry = PLACES[number]
    by_id = {one.id: one for one in ACTIONS}
    for in_list in (True, False):
        keys, place = keys_in(number, in_list=in_list)
        rows = _rows_of_help(keys)
        for row in rows[HERE]:
            if row.does in by_id:
                own = SCOPES.get(row.does, entry.title) == entry.title
                assert own, f"{entry.title} lists {row.does} of {SCOPES[row.does]}"
                assert (row.where == entry.title) == (place.doing(row.does) is not None), row
        here = {
            one.help
            for one in Keymap(ACTIONS).actions
            if SCOPES.get(one.id) == entry.title or place.doing(one.id) is not None
        }
        assert [row for row in rows[EVERYWHERE] if row.where == entry.title and row.about not in here] == []


IN_TURN = ("escape", "enter", "q", "f6")
"""Keys that do the nearest of several things: where everything can be done at once, that is another one."""


@pytest.mark.parametrize("number", PLACES)
def test_a_key_of_the_help_s_here_does_there_what_its_line_says(number: int) -> None:
    """In the pane to which arrows, Enter and the like belong, or in any other pane."""
    either = [keys_in(number, in_list=in_list)[0] for in_list in (True, False)]
    by_id = {one.id: one for one in ACTIONS}
    for row in _rows_of_help(either[1])[HERE]:
        if row.does in by_id and row.sign and not row.lacks:
            meant = [keys.meant(key) for keys in either for key in by_id[row.does].keys if key not in IN_TURN]
            assert not meant or row.does in {one.id for one in meant if one is not None}, row


def test_the_help_lists_every_digit_that_opens_something() -> None:
    keys, _ = keys_in(1, in_list=True)
    digits = [row for row in _rows_of_help(keys)[HERE] if row.where == "Places"]
    assert [(row.sign, row.label) for row in digits] == [(str(n), title) for n, title in OPENED.items()]
    assert digits[-1].label == "Results: two"


@pytest.mark.parametrize("cells", range(60, 200))
def test_the_places_keep_their_cells_and_all_or_none_but_the_open_one_have_names(cells: int) -> None:
    room = room_for_places(cells)
    for here in TITLES:
        said = "".join(part.text for part in places(TITLES, here, room))
        named = [title for title in TITLES.values() if title in said]
        assert named in ([TITLES[here]], list(TITLES.values()))
        assert width(said) <= cells - 18
