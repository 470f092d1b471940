"""Dialogs of the Scenes place: which prior, and which alpha."""

from collections.abc import Mapping

from textual.content import Content
from textual.validation import Number
from textual.widget import Widget
from textual.widgets import Label

from emotui.screens.dialogs.dialog import Dialog, OptionDialog, number_field
from emotui.screens.dialogs.textual_private_options import PickList


class AlphaDialog(Dialog[tuple[float, float]]):
    """Two alphas: the one that is shown, and the one that flips are counted against."""

    def __init__(self, alpha: float, other: float) -> None:
        super().__init__("Alpha: how much the prior weighs", ("Tab", "next"), ("Enter", "take"))
        self._alphas = alpha, other

    def body(self) -> list[Widget]:
        within = Number(0, 1000, "An alpha is a number from 0 to 1000.")
        fields = [
            number_field(name, f"{alpha:g}", within)
            for name, alpha in zip(("alpha", "other"), self._alphas, strict=True)
        ]
        return [Label("alpha (0: the model alone)"), fields[0], Label("flips are counted against alpha"), fields[1]]

    def result(self) -> tuple[float, float]:
        """Both alphas.

        Raises:
            BadInput: one is no number from 0 to 1000.
        """
        return self.number("alpha") or 0.0, self.number("other") or 0.0


class PriorDialog(OptionDialog[tuple[str, float, "float | str"]]):
    """The prior with its smoothing, and the temperature of the logits."""

    DEFAULT_CSS = "PriorDialog OptionList { max-height: 14; }"

    def __init__(self, about: Mapping[str, str], prior: str, smoothing: float, scaling: "float | str") -> None:
        super().__init__("Prior over emotion vectors", ("Tab", "next"), ("Enter", "take"))
        self._about, self._prior, self._smoothing, self._scaling = about, prior, smoothing, scaling

    def body(self) -> list[Widget]:
        options = [
            Content.assemble((f"{name:<17}", "bold"), (words, "$text-muted")) for name, words in self._about.items()
        ]
        smoothing = Number(0, 1000, "A smoothing is a number from 0 to 1000.")
        scaling = Number(0.02, 50, "A temperature is a number from 0.02 to 50, or: fitted.")
        return [
            PickList(*options),
            Label("smoothing: pseudo-scenarios, spread evenly over all vectors"),
            number_field("smoothing", f"{self._smoothing:g}", smoothing),
            Label("temperature of the logits: a number, or: fitted (on the other folds)"),
            number_field("scaling", f"{self._scaling}", scaling),
        ]

    def on_mount(self) -> None:
        super().on_mount()
        self.options.highlighted = list(self._about).index(self._prior)

    def result(self) -> tuple[str, float, "float | str"]:
        """The prior's name, its smoothing and the temperature.

        Raises:
            BadInput: a field holds no number within its bounds.
        """
        smoothing = self.number("smoothing") or 0.0
        scaling = "fitted" if self.text("scaling") == "fitted" else self.number("scaling") or 0.0
        return list(self._about)[self.at], smoothing, scaling
