"""Rating by itself, without the workbench around it: what `emotui ratings rate` opens."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.app import App
from textual.filter import LineFilter

from emotui.screens.generate.rate import RateScreen
from emotui.screens.widgets.line import PART_CSS
from emotui.screens.widgets.plain_cells import PlainCells
from emotui.screens.widgets.textual_private import use_two_colours
from emotui.themes import DEFAULT, THEMES

if TYPE_CHECKING:
    from emotui.workbench.generation.rating import Sitting


class RateApp(App[None]):
    """A sitting, and nothing else."""

    TITLE = "emotui"
    CSS = PART_CSS
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, sitting: "Sitting", theme: object = None) -> None:
        super().__init__()
        for one in THEMES.values():
            self.register_theme(one)
        self.theme = theme if isinstance(theme, str) and theme in THEMES else DEFAULT
        if self.no_color:
            use_two_colours(self)
        self._sitting = sitting
        self._plain = PlainCells()

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Whatever a widget draws goes through these."""
        return [*super().get_line_filters(), self._plain]

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """So that a theme from elsewhere still draws."""
        return THEMES[DEFAULT].variables

    def on_mount(self) -> None:
        self.push_screen(RateScreen(self._sitting), lambda _: self.exit())
