"""A sheet that asks by a list of options."""

from typing import TypeVar

from textual.binding import Binding
from textual.widgets import OptionList

from emotui.screens.sheet import Sheet

T = TypeVar("T")


class OptionSheet(Sheet[T]):
    """j and k move in the list as the arrow keys do."""

    BINDINGS = [
        Binding("j", "move(1)", show=False),
        Binding("k", "move(-1)", show=False),
    ]

    def action_move(self, step: int) -> None:
        """One down or up."""
        options = self.query_one(OptionList)
        if step > 0:
            options.action_cursor_down()
        else:
            options.action_cursor_up()
