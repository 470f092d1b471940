"""What keys do about other texts than the one at work: which is next, in which order, and what all agree about."""

from msgspec.structs import replace

from emotui.screens.annotate import requests as asking
from emotui.screens.annotate.at_work import AtWork
from emotui.screens.dialogs.choices import Choice, ChoiceDialog
from emotui.screens.requests import LatestRequest
from emotui.screens.session import Session
from emotui.workbench.annotate.planning.order import KINDS, Order
from emotui.workbench.annotate.service import Annotating


class OtherTexts(AtWork):
    """Goes to other texts, and chooses their order."""

    def __init__(self, session: Session, *, id: str | None = None) -> None:
        super().__init__(session, id=id)
        self._ways: LatestRequest[tuple[int, int, asking.Listed], int | None] = LatestRequest(
            "open texts", self, lambda asked: asking.open_text(self.bench_of, self.adjudicating, *asked), self._go
        )
        self._orders: LatestRequest[tuple[Annotating, Order], object] = LatestRequest(
            "order of texts", self, lambda asked: asked[0].choose(asked[1]), lambda *_: self._arranged()
        )

    def do_next_open_text(self) -> None:
        self._ways.ask((self.at_work.text.number, 1, self.session.listed()))

    def do_previous_open_text(self) -> None:
        self._ways.ask((self.at_work.text.number, -1, self.session.listed()))

    def _go(self, _: object, number: int | None) -> None:
        if number is None:
            self.notify("No other text is open", markup=False)
        else:
            self.post_message(self.Sought(frozenset({number}), 0))

    def can_sort(self) -> bool:
        """The sources of an adjudication are gone through as they stand."""
        return self.adjudicating is None and self.bench is not None

    def do_sort(self) -> None:
        """Choose in which order one's texts come; `random` again draws another one."""
        bench = self.bench_of

        def chosen(kind: str | None) -> None:
            if kind is None:
                return
            now = bench.chosen
            again = now.kind == "random" and kind == "random"
            wanted = Order() if kind == "fixed" else replace(Order(), kind=kind, seed=now.seed + 1 if again else 0)
            self._orders.ask((bench, wanted))

        choices = [Choice(kind, kind, about) for kind, about in KINDS.items()]
        self.app.push_screen(ChoiceDialog("Order in which your texts come", choices, bench.chosen.kind), chosen)

    def do_agreement(self) -> None:
        """Show how far those who say something about these texts agree."""
        self.post_message(self.Turned("Results", "view", "agreement"))
