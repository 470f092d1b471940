"""Which run is shown over the gold spans, and which others stand beside it in tiers."""

from collections.abc import Sequence

from textual import on
from textual.binding import Binding
from textual.content import Content
from textual.widget import Widget
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from emotui.screens.dialogs.choices import Choice
from emotui.screens.dialogs.dialog import OptionDialog
from emotui.screens.widgets.cell_width import shown


class RunDialog(OptionDialog[tuple[str, tuple[str, ...]]]):
    """j and k move, Space ticks a run for comparing, Enter shows the picked one. Gives back both.

    A ticked run stands beside the one that is shown, so Enter on it leaves that as it is. A run is one or the other.
    """

    BINDINGS = [
        Binding("space", "tick", show=False, priority=True),
    ]
    DEFAULT_CSS = """
    RunDialog > #sheet { width: 92; }
    RunDialog OptionList, RunDialog OptionList:focus {
        border: none; padding: 0; height: auto; max-height: 16; background: $surface;
        text-wrap: nowrap; text-overflow: ellipsis;
    }
    """

    def __init__(self, title: str, choices: Sequence[Choice], now: str, beside: Sequence[str]) -> None:
        super().__init__(title, (("j k", "move"), ("Enter", "show"), ("Space", "compare with it")))
        self._choices = list(choices)
        self._now = now
        self._beside = [value for value in beside if value != now]
        self._widest = max((len(shown(choice.name)) for choice in self._choices), default=0)

    def body(self) -> list[Widget]:
        """The runs: ● is shown, ■ is compared with it."""
        return [OptionList(*map(self._option, self._choices), id="runs")]

    def _option(self, choice: Choice) -> Option:
        mark = "● " if choice.value == self._now else "■ " if choice.value in self._beside else "  "
        name = shown(choice.name).ljust(self._widest)
        return Option(Content.assemble(mark, name, (f"   {shown(choice.about)}", "$text-muted")))

    def on_mount(self) -> None:
        """Begin at the run that is shown."""
        super().on_mount()
        here = [number for number, choice in enumerate(self._choices) if choice.value == self._now]
        self.query_one(OptionList).highlighted = here[0] if here else 0

    def action_tick(self) -> None:
        """Compare the picked run with the one that is shown, or not; none is nothing to compare with."""
        options = self.query_one(OptionList)
        at = options.highlighted or 0
        value = self._choices[at].value
        if value in self._beside:
            self._beside.remove(value)
        elif value and value != self._now:
            self._beside.append(value)
        options.replace_option_prompt_at_index(at, self._option(self._choices[at]).prompt)

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        picked = self._choices[event.option_index].value
        self.dismiss((self._now if picked in self._beside else picked, tuple(self._beside)))
