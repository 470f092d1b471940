"""The text of a scenario, in a place where left and right belong to a slider."""

from textual.binding import Binding

from emotui.screens.stave import Stave


class SceneText(Stave, inherit_bindings=False):
    """Only up and down scroll it."""

    BINDINGS = [Binding("up", "scroll_up", show=False), Binding("down", "scroll_down", show=False)]
