"""What the rephrasings came to: the figures of section 4 and appendix B as plots, and as a table."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from textual.app import ComposeResult
from textual.containers import Vertical

from emotui.screens.keymaps.words import keyed
from emotui.screens.rephrase import charts
from emotui.screens.requests import LatestRequest
from emotui.screens.widgets.line import Line, Part, tabs
from emotui.screens.widgets.notice import Notice
from emotui.screens.widgets.page import Page

if TYPE_CHECKING:
    from emotui.workbench.rephrase.service import Rephrasing
    from emotui.workbench.rephrase.views import Round

EVERYBODY, CONFIRMED = "everybody's", "confirmed"
"""Which rephrasings are counted: all of the last round, those of it that reviewers confirmed, or one annotator's."""


class Figures(Vertical):
    """Two views of one document, asked for when it is opened."""

    DEFAULT_CSS = "Figures > #figures-page { height: 1fr; }"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.view = "plots"
        self.whose = EVERYBODY
        self.names: tuple[str, ...] = ()
        self.document: dict[str, Any] | None = None
        self._round: Round | None = None
        self._desk: LatestRequest[str, tuple[tuple[str, ...], dict[str, Any]]] | None = None

    def compose(self) -> ComposeResult:
        yield Line(id="figures-title", classes="-pane")
        yield Page(id="figures-page")
        yield Notice("#figures-page", id="figures-notice")

    @property
    def busy(self) -> bool:
        return self._desk is not None and self._desk.busy

    def open_for(self, service_of: "Callable[[], Rephrasing]", round_: "Round") -> None:
        """Show the figures of this round's dataset."""

        def ask(whose: str) -> tuple[tuple[str, ...], dict[str, Any]]:
            from emotui.workbench.rephrase.chains import annotators

            service, dataset = service_of(), round_.dataset.dataset
            names = tuple(annotators(service.log(round_.dataset).in_force()))
            person = whose if whose in names else None
            return names, service.statistics(dataset, confirmed_only=whose == CONFIRMED, annotator=person)

        if self._desk is None or self._round is not round_:
            self._desk, self.document = LatestRequest("figures", self, ask, self._counted, self._refuse), None
        self._round = round_
        self._ask()

    def _ask(self) -> None:
        if self._desk is not None:
            if self.document is None:
                self.query_one(Notice).say("Counting", "word lists and distributions of every rephrasing")
            self._desk.ask(self.whose)

    def next_whose(self) -> None:
        """Count other rephrasings: the confirmed ones, then each annotator's."""
        there = (EVERYBODY, CONFIRMED, *self.names)
        self.whose = there[(there.index(self.whose) + 1) % len(there)] if self.whose in there else EVERYBODY
        self.draw()
        self._ask()

    def _refuse(self, _: str, why: str) -> None:
        self.document = None
        self.query_one(Notice).say(
            "The figures cannot be computed", why, keyed("{leave} goes back to writing"), failed=True
        )

    def _counted(self, _: str, counted: tuple[tuple[str, ...], dict[str, Any]]) -> None:
        self.names, self.document = counted
        had_keys = self.screen.focused is None
        self.draw()
        if had_keys and self.display:
            self.focus_first()

    def draw(self) -> None:
        parts = [Part(" statistics ", "strong"), *tabs(list(charts.VIEWS), self.view, "figures")]
        right = [
            Part(keyed("{annotators}"), "key", "do('annotators')"),
            Part(f" {self.whose} ", "plain", "do('annotators')"),
        ]
        self.query_one("#figures-title", Line).show(parts, right)
        document = self.document
        if document is None:
            return
        if not document["rephrasings"]:
            why = {
                EVERYBODY: "nobody has submitted an attempt in this round yet",
                CONFIRMED: keyed("no reviewer has confirmed a rephrasing of this round yet: {review} reviews"),
            }.get(self.whose, f"{self.whose} has submitted no attempt")
            self.query_one(Notice).say(
                "Nothing to count", why, keyed("{leave} goes back to writing   {annotators} counts others")
            )
            return
        self.query_one(Notice).hide()
        page = self.query_one("#figures-page", Page)
        view = charts.VIEWS[self.view]
        page.show_for(lambda room: view(document, max(room.width, 40)))

    def focus_first(self) -> None:
        """Put the keys into the figures: they scroll."""
        page = self.query_one("#figures-page")
        if page.display:
            page.focus()

    def show_view(self, name: str) -> None:
        """Show this view."""
        if name in charts.VIEWS:
            self.view = name
            self.query_one("#figures-page", Page).scroll_home(animate=False)
            self.draw()

    def step_view(self, step: int) -> None:
        """The next view, or the one before."""
        names = list(charts.VIEWS)
        self.show_view(names[(names.index(self.view) + step) % len(names)])
