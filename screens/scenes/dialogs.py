"""Sheets of the Scenes place: which prior, and which alpha."""

from collections.abc import Mapping

from textual import on
from textual.binding import Binding
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Label, OptionList
from textual.widgets.option_list import Option

from emotui.screens.dialogs.dialog import Dialog

_FIELDS = """
    {name} Label {{ color: $text-muted; margin: 1 0 0 0; width: 1fr; }}
    {name} Input, {name} Input:focus {{ height: 1; border: none; padding: 0 1; background: $raised; }}
    {name} #why {{ color: $error; display: none; }}
"""


class AlphaDialog(Dialog[tuple[float, float]]):
    """Two alphas: the one that is shown, and the one that flips are counted against."""

    DEFAULT_CSS = _FIELDS.format(name="AlphaDialog")

    def __init__(self, alpha: float, other: float) -> None:
        super().__init__("Alpha: how much the prior weighs", (("Tab", "next"), ("Enter", "take")))
        self._alphas = alpha, other

    def body(self) -> list[Widget]:
        """The two numbers."""
        return [
            Label("alpha (0: the model alone)"),
            Input(f"{self._alphas[0]:g}", id="alpha", compact=True, select_on_focus=True),
            Label("flips are counted against alpha"),
            Input(f"{self._alphas[1]:g}", id="other", compact=True, select_on_focus=True),
            Label("", id="why", markup=False),
        ]

    @on(Input.Submitted)
    def _take(self, event: Input.Submitted) -> None:
        event.stop()
        numbers = [_number(self.query_one(f"#{name}", Input).value, 0, 1000) for name in ("alpha", "other")]
        if None in numbers:
            _refuse(self, "An alpha is a number from 0 to 1000.")
        else:
            self.dismiss((float(numbers[0] or 0), float(numbers[1] or 0)))


class PriorDialog(Dialog[tuple[str, float, "float | str"]]):
    """The prior with its smoothing, and the temperature of the logits."""

    BINDINGS = [Binding("enter", "take", show=False, priority=True)]
    DEFAULT_CSS = (
        _FIELDS.format(name="PriorDialog")
        + """
    PriorDialog OptionList, PriorDialog OptionList:focus {
        border: none; padding: 0; height: auto; max-height: 14; background: $surface;
    }
    """
    )

    def __init__(self, about: Mapping[str, str], prior: str, smoothing: float, scaling: "float | str") -> None:
        super().__init__("Prior over emotion vectors", (("Tab", "next"), ("Enter", "take")))
        self._about, self._prior, self._smoothing, self._scaling = about, prior, smoothing, scaling

    def body(self) -> list[Widget]:
        """Priors by name, smoothing, temperature."""
        options = [
            Option(Content.assemble((f"{name:<17}", "bold"), (words, "$text-muted")))
            for name, words in self._about.items()
        ]
        return [
            OptionList(*options, id="priors"),
            Label("smoothing: pseudo-scenarios, spread evenly over all vectors"),
            Input(f"{self._smoothing:g}", id="smoothing", compact=True),
            Label("temperature of the logits: a number, or: fitted (on the other folds)"),
            Input(f"{self._scaling}", id="scaling", compact=True),
            Label("", id="why", markup=False),
        ]

    def on_mount(self) -> None:
        """Begin on the prior that is in use."""
        super().on_mount()
        self.query_one("#priors", OptionList).highlighted = list(self._about).index(self._prior)

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.action_take()

    def action_take(self) -> None:
        """Give the choice back, where it is one."""
        chosen = self.query_one("#priors", OptionList).highlighted
        smoothing = _number(self.query_one("#smoothing", Input).value, 0, 1000)
        said = self.query_one("#scaling", Input).value.strip()
        scaling = "fitted" if said == "fitted" else _number(said, 0.02, 50)
        if smoothing is None:
            _refuse(self, "A smoothing is a number from 0 to 1000.")
        elif scaling is None:
            _refuse(self, "A temperature is a number from 0.02 to 50, or: fitted.")
        else:
            self.dismiss((list(self._about)[chosen or 0], smoothing, scaling))


def _number(text: str, low: float, high: float) -> float | None:
    try:
        value = float(text.strip().replace(",", "."))
    except ValueError:
        return None
    return value if low <= value <= high else None


def _refuse(sheet: "Dialog[object] | AlphaDialog | PriorDialog", why: str) -> None:
    label = sheet.query_one("#why", Label)
    label.update(why)
    label.display = True
