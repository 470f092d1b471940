"""A span under the cursor taken out of its text: what the live model says then, under the text."""

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical

from emotui.records import Span
from emotui.screens.keymaps import keyed
from emotui.screens.requests import LatestRequest
from emotui.screens.widgets.cell_width import fit
from emotui.screens.widgets.line import Line, Part
from emotui.screens.widgets.page import Lines, Page
from emotui.screens.widgets.removal_lines import removal_lines

if TYPE_CHECKING:
    from emotui.workbench.source import BrowseSource
    from emotui.workbench.why.removal import Removed

_Question = tuple[str, str, str, Span, threading.Event]
"""(SPEC, id of the text, text, place, what ends it)."""

_LONGEST_NAME = 32


class RemovalPane(Vertical):
    """Asks about the span under the cursor first, then about the others, while it is open; answers are kept.

    `told`: called when there is one more answer, for the figures in the margin. `none`: what is said where there is no
    span to take away.
    """

    DEFAULT_CSS = """
    RemovalPane { display: none; height: 2fr; min-height: 9; }
    """

    def __init__(self, told: Callable[[], object], none: str, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._told, self._none = told, none
        self._model: str | None = None
        self._text = self._key = ""
        self._here: tuple[Span, ...] = ()
        self._others: tuple[Span, ...] = ()
        self._heads: tuple[str, ...] = ()
        self._known: dict[tuple[str, str, str, Span], Removed] = {}
        self._now: _Question | None = None
        self._step = self._trouble = ""
        self._request: LatestRequest[_Question, Removed | None] | None = None

    def compose(self) -> ComposeResult:
        yield Line(id="removal-title", classes="-pane")
        yield Page(id="removal-page")

    def bind_source(self, source: "BrowseSource") -> None:
        removal = source.removal
        if removal is None:
            return

        def ask(question: _Question) -> "Removed | None":
            from emotui.workbench.progress import Cancelled

            spec, key, text, place, halt = question
            try:
                return removal().take_away(spec, text, place, key=key, progress=self._tell, cancelled=halt.is_set)
            except Cancelled:
                return None

        self._request = LatestRequest("removal", self, ask, self._answered, self._failed, older=True)

    @property
    def is_open(self) -> bool:
        """Is it in sight?"""
        return bool(self.display)

    @property
    def able(self) -> bool:
        """Is there a model that could be asked?"""
        return self._request is not None and self._model is not None

    @property
    def busy(self) -> bool:
        return self._now is not None

    def known(self, place: Span | None) -> "Removed | None":
        """What the live model says of the text without this span; None: it was not asked, or there is none."""
        if place is None or self._model is None:
            return None
        return self._known.get((self._model, self._key, self._text, place))

    def use_model(self, spec: str) -> None:
        """Ask this model from now on."""
        if spec != self._model:
            self._model, self._trouble = spec, ""
            self._go_on()

    def open(self, wanted: bool) -> None:
        """Show it, or put it away: then nothing more is asked."""
        self.display, self._trouble = wanted, ""
        self._go_on()

    def look_at(
        self, key: str, text: str, here: Sequence[Span], others: Sequence[Span] = (), heads: Sequence[str] = ()
    ) -> None:
        """The spans that may be taken away: those that are shown, each under its head, and all others."""
        self._key, self._text, self._here, self._others = key, text, tuple(here), tuple(others)
        self._heads = tuple(heads)
        self._go_on()

    def _wanted(self) -> Span | None:
        """The span to ask about next."""
        if not self.is_open or not self.able or self._trouble:
            return None
        return next((place for place in (*self._here, *self._others) if self.known(place) is None), None)

    def _go_on(self) -> None:
        """Ask what is not known yet; what is under way goes on as long as somebody waits for it."""
        if self._now is not None:
            spec, key, text, asked, halt = self._now
            waited_for = self.is_open and (spec, key, text) == (self._model, self._key, self._text)
            if not waited_for or (asked not in self._here and any(self.known(one) is None for one in self._here)):
                halt.set()
        elif (place := self._wanted()) is not None and self._request is not None and self._model is not None:
            self._now = self._model, self._key, self._text, place, threading.Event()
            self._request.ask(self._now)
        self.draw()

    def _tell(self, step: str) -> None:
        """In a thread: the model is being loaded."""
        self.call_later(self._take_step, step)

    def _take_step(self, step: str) -> None:
        self._step = step
        self.draw()

    def _answered(self, question: _Question, found: "Removed | None") -> None:
        self._now, self._step = None, ""
        if found is not None:
            self._known[question[:4]] = found
        self._go_on()
        self._told()

    def _failed(self, question: _Question, why: str) -> None:
        self._now, self._step = None, ""
        if question[0] == self._model:
            self._trouble = why
        self._go_on()

    # Drawing.

    def draw(self) -> None:
        if not self.is_open or not self.is_mounted:
            return
        self.query_one("#removal-title", Line).show(
            self._title(), [Part(keyed("{take_away}"), "key"), Part(" closes ")]
        )
        self.query_one("#removal-page", Page).show_for(lambda room: self._lines(room.width))

    def _title(self) -> list[Part]:
        name = fit(self._model or "", _LONGEST_NAME).rstrip()
        parts = [Part(" taken away", "strong", "do('take_away')"), Part("   asked ", "dim")]
        parts.append(Part(name, "said", "do('name_model')"))
        every = dict.fromkeys((*self._here, *self._others))
        done = sum(self.known(place) is not None for place in every)
        if self.busy:
            parts.append(Part(f"   {self._step or f'{done} of {len(every)} spans'}", "dim"))
        return parts

    def _lines(self, cells: int) -> Lines:
        if self._trouble:
            return [[Part(f" {self._trouble}", "mark")], [Part(keyed(" {take_away} twice asks again"), "dim")]]
        if not self._here:
            return [[Part(f" {self._none}", "dim")]]
        lines: list[Sequence[Part]] = []
        for at, place in enumerate(self._here):
            if lines:
                lines.append([])
            if len(self._here) > 1:
                lines.append([Part(" "), Part(fit(self._heads[at], cells - 2).rstrip(), "strong")])
            found = self.known(place)
            lines += removal_lines(found, cells) if found else [[Part(" asking the model …", "dim")]]
        return lines
