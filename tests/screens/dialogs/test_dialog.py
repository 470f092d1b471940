"""Keys that come faster than the screen is drawn: each arrives, in the order in which it was pressed."""

from textual.app import App
from textual.widget import Widget
from textual.widgets import Input

from emotui.screens.dialogs.choices import Choice, ChoiceDialog, datasets
from emotui.screens.dialogs.dialog import Dialog
from emotui.screens.dialogs.textual_private_options import PickList
from emotui.screens.widgets.cell_width import width
from emotui.screens.widgets.line import Line
from emotui.store.query import Dataset
from tests.screens.driving import event_of
from tests.waiting import awaited


class Bare(App[None]):
    """An app with the colours that dialogs name."""

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return {"field": "#333333", "entry": "#333333", "entry-text-style": "none"}


class OneField(Dialog[str]):
    """What stands in the field is replaced by what is typed."""

    def body(self) -> list[Widget]:
        return [Input("gold", id="field", compact=True)]

    def result(self) -> str:
        return self.text("field")


class TwoFields(OneField):
    """The second of its fields is given back."""

    def body(self) -> list[Widget]:
        return [Input("first", id="other", compact=True), *super().body()]


async def given(*keys: str, opened_first: bool, kind: type[OneField] = OneField) -> str:
    """What a dialog gives back that gets these keys all at once."""
    found: list[str] = []
    app = Bare()
    async with app.run_test():
        dialog = kind("One")
        dialog.ask(app, found.append)
        if opened_first:
            await awaited(lambda: dialog.focused is not None)
        for key in keys:
            app.post_message(event_of(key))
        await awaited(lambda: bool(found))
    return found[0]


async def test_enter_overtakes_no_letter() -> None:
    assert await given(*"/data/own.csv", "enter", opened_first=True) == "/data/own.csv"


async def test_enter_overtakes_no_key_that_deletes() -> None:
    assert await given(*"abc", "backspace", "backspace", "enter", opened_first=True) == "a"


async def test_what_is_typed_while_the_dialog_opens_is_in_its_field() -> None:
    assert await given(*"own.csv", "enter", opened_first=False) == "own.csv"


async def test_a_tab_before_a_field_has_the_focus_goes_to_the_next_one() -> None:
    for opened_first in (False, True):
        keys = ("x", "tab", *"own.csv", "enter")
        assert await given(*keys, opened_first=opened_first, kind=TwoFields) == "own.csv"


async def test_a_list_to_choose_from_takes_the_lines_that_its_folded_options_need() -> None:
    app, choices = Bare(), [Choice(f"{n}", f"name {n}", "as long as it takes to be folded " * 2) for n in range(5)]
    async with app.run_test(size=(80, 24)) as pilot:
        dialog = ChoiceDialog("One of them", choices, "0")
        dialog.ask(app, lambda _: None)
        await awaited(lambda: dialog.focused is not None)
        await pilot.pause()
        options = dialog.query_one(PickList)
        assert len(options._lines) > len(choices)
        assert options.size.height == len(options._lines)


async def test_the_last_line_names_the_keys_of_the_sheet_and_what_is_under_it_is_dimmed() -> None:
    app = Bare()
    async with app.run_test(size=(80, 24)):
        dialog = OneField("One", ("Enter", "take"))
        dialog.ask(app, print)
        await awaited(lambda: dialog.focused is not None)
        keys = dialog.query_one("#sheet-keys", Line)
        await awaited(lambda: bool(keys.region.height))
        assert keys.region.bottom == 24
        assert keys.text.split() == ["Enter", "take", "Esc", "back"]
        assert 0 < dialog.styles.background.a < 1


def test_where_datasets_are_from_has_the_room_that_a_line_leaves() -> None:
    long = "written for emotui; illustration, not benchmark"
    found = [
        Dataset(at, name, "spans", 70, "", source)
        for at, (name, source) in enumerate((("generation", long), ("b", "x.tsv")))
    ]
    first, second = datasets(found)
    lines = [f"{choice.name:<10}   {choice.about}" for choice in (first, second)]
    assert max(map(width, lines)) <= 74
    assert first.about.startswith("70 texts, spans   written for emotui; ill")
    assert first.about.endswith("…")
    assert second.about == "70 texts, spans   x.tsv"
