"""Text fields: what is typed quickly comes in the order in which it is typed."""

import asyncio

import pytest
from textual.app import App, ComposeResult
from textual.widget import Widget

from emotui.screens.widgets.editor import Editor
from emotui.screens.widgets.textual_private_text import Input
from emotui.themes import DEFAULT, THEMES
from tests.screens.driving import event_of
from tests.waiting import awaited


class _Fields(App[None]):
    def get_theme_variable_defaults(self) -> dict[str, str]:
        return THEMES[DEFAULT].variables

    def compose(self) -> ComposeResult:
        yield Input(value="glad ")
        yield Editor()


def _text(field: Widget) -> str:
    return field.text if isinstance(field, Editor) else str(field.value)  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", [Input, Editor])
def test_keys_that_come_faster_than_the_app_answers_keep_their_order(kind: type[Widget]) -> None:
    async def typed() -> str:
        app = _Fields()
        async with app.run_test() as pilot:
            field = app.query_one(kind)
            if isinstance(field, Editor):
                field.begin("glad ")
            field.focus()
            await pilot.pause()
            for key in ("end", "backspace", "?", "home", "s", "o"):
                app.post_message(event_of(key))
            await awaited(lambda: len(_text(field)) == 7, lambda: _text(field))
            return _text(field)

    assert asyncio.run(typed()) == "soglad?"
