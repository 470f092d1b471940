"""How to rate: who does, which versions, how many, with how many attention checks."""

from typing import TYPE_CHECKING

import msgspec
from textual.containers import Horizontal
from textual.validation import Integer
from textual.widget import Widget
from textual.widgets import Input, Label

from emotui.errors import BadInput
from emotui.screens.dialogs.dialog import Dialog, number_field
from emotui.screens.widgets.switches import OneOf

if TYPE_CHECKING:
    from emotui.workbench.generation.rating_batches import RatingOptions

_WHICH = ("emotional", "neutral", "mixed")
_TIES = ("none", "target", "first")


class Wish(msgspec.Struct, frozen=True):
    """Who wants to rate, and how."""

    rater: str
    options: "RatingOptions"


class RateDialog(Dialog[Wish]):
    """A batch that was begun goes on as it was begun; what is chosen here is for the next one."""

    DEFAULT_CSS = """
    RateDialog .row { height: auto; }
    RateDialog .row > Label { width: 18; margin: 0; }
    RateDialog .row > .between { width: auto; padding: 0 1; }
    RateDialog .row > Input { width: 10; }
    RateDialog .row > #rater { width: 1fr; }
    RateDialog .row > Switches { width: 1fr; }
    """

    def __init__(self, rater: str, options: "RatingOptions") -> None:
        super().__init__("Rate blind", ("Tab", "next"), ("Enter", "begin"))
        self._rater, self._options = rater, options

    def body(self) -> list[Widget]:
        """Rater, versions, numbers, ties."""
        own = self._options
        whole = Integer(1, 1000, "A batch has 1 to 1000 texts, a text 1 to 1000 raters.")
        failing = Integer(0, 1000, "Attention checks that one may fail are a whole number.")
        return [
            _row("who rates", Input(self._rater, id="rater", compact=True)),
            _row("versions", OneOf(_WHICH, own.which, id="which")),
            _row(
                "texts a batch",
                number_field("size", str(own.size), whole),
                Label("raters a text", classes="between"),
                number_field("wanted", str(own.wanted), whole),
            ),
            _row(
                "attention checks",
                Input(_as_rate(own.checks), id="checks", compact=True),
                Label("a text; one may fail", classes="between"),
                number_field("allowed", str(own.allowed), failing),
            ),
            Label("The paper has 10/84 with neutral versions, 28/277 with emotional ones; 0: none."),
            _row("ties", OneOf(_TIES, own.ties, ["no label", "the target", "first in the alphabet"], id="ties")),
        ]

    def result(self) -> Wish:
        """The wish.

        Raises:
            BadInput: the name is blank, or a number is none.
        """
        from emotui.workbench.generation.rating_batches import RatingOptions, check_rate

        rater = self.text("rater")
        if not rater:
            raise BadInput("Say who rates.")
        return Wish(
            rater,
            msgspec.convert(
                {
                    "which": self.query_one("#which", OneOf).now,
                    "size": int(self.number("size") or 1),
                    "checks": check_rate(self.text("checks") or "0"),
                    "wanted": int(self.number("wanted") or 1),
                    "allowed": int(self.number("allowed") or 0),
                    "ties": self.query_one("#ties", OneOf).now,
                },
                RatingOptions,
            ),
        )


def _as_rate(rate: float) -> str:
    """As the paper writes it, where it is one of its rates."""
    known = {28 / 277: "28/277", 10 / 84: "10/84"}
    return known.get(rate) or f"{rate:g}"


def _row(name: str, *widgets: Widget) -> Horizontal:
    return Horizontal(Label(name, markup=False), *widgets, classes="row")
