"""Which run is shown over the gold spans, and which others stand beside it in tiers."""

from collections.abc import Sequence

from textual.binding import Binding
from textual.widget import Widget
from textual.widgets import OptionList

from emotui.screens.dialogs.choices import Choice, marked_options, place_of
from emotui.screens.dialogs.dialog import OptionDialog


class RunDialog(OptionDialog[tuple[str, tuple[str, ...]]]):
    """j and k move, Space ticks a run for comparing, Enter shows the picked one. Gives back both.

    A ticked run stands beside the one that is shown, so Enter on it leaves that as it is. A run is one or the other.
    """

    BINDINGS = [Binding("space", "tick", show=False, priority=True)]
    DEFAULT_CSS = """
    RunDialog > #sheet { width: 92; }
    RunDialog OptionList { text-wrap: nowrap; text-overflow: ellipsis; }
    """

    def __init__(self, title: str, choices: Sequence[Choice], now: str, beside: Sequence[str]) -> None:
        super().__init__(title, ("j k", "move"), ("Enter", "show"), ("Space", "compare with it"))
        self._choices, self._now = list(choices), now
        self._beside = [value for value in beside if value != now]

    def body(self) -> list[Widget]:
        """The runs: ● is shown, ■ is compared with it."""
        marks = dict.fromkeys(self._beside, "■ ") | {self._now: "● "}
        return [OptionList(*marked_options(self._choices, marks))]

    def on_mount(self) -> None:
        super().on_mount()
        self.options.highlighted = place_of(self._choices, self._now)

    def action_tick(self) -> None:
        """Compare the picked run with the one that is shown, or not; none is nothing to compare with."""
        value = self._choices[self.at].value
        if value in self._beside:
            self._beside.remove(value)
        elif value and value != self._now:
            self._beside.append(value)
        marks = dict.fromkeys(self._beside, "■ ") | {self._now: "● "}
        self.options.replace_option_prompt_at_index(self.at, marked_options(self._choices, marks)[self.at].prompt)

    def result(self) -> tuple[str, tuple[str, ...]]:
        picked = self._choices[self.at].value
        return self._now if picked in self._beside else picked, tuple(self._beside)
