"""Why the live model answers as it does, under the text: a span taken out of it; then the text by layer and word."""

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical

from emotui.records import Span
from emotui.screens.keymaps import keyed
from emotui.screens.requests import LatestRequest
from emotui.screens.widgets.cell_width import fit, shown, wrap
from emotui.screens.widgets.line import Line, Part
from emotui.screens.widgets.page import Lines, Page
from emotui.screens.widgets.why_lines import (
    heat_lines,
    number_lines,
    part_lines,
    removal_lines,
)

if TYPE_CHECKING:
    from emotui.store.query import Dataset
    from emotui.workbench.source import BrowseSource
    from emotui.workbench.why.heat import Heat
    from emotui.workbench.why.removal import Removed

_Question = tuple[str, str, str, Span, str, threading.Event]
"""(SPEC, id of the text, text, place, the label of the span or nothing, what ends it)."""

_Reading = tuple[str, "Dataset", str, threading.Event]
"""(SPEC, dataset that the probes are fitted on, text, what ends it)."""

VIEWS = ("", "removal", "layers")
"""Closed, and what it shows, in the order in which a key goes through them."""

_NO_DATASET = "Layers are read by probes of a dataset's labels: choose a dataset ({dataset}) first."
_NEEDS = "It takes embedded or an hf: model ({name_model}), and a dataset ({dataset}) with a label on ten texts."

_LAYERS = "{take_away} shows the text by layer and word: that takes no span."
_AGAIN = " {leave}, then {take_away}, asks again"

LONGEST_NAME = 32


class WhyPane(Vertical):
    """Asks about the span under the cursor first, then about the others, while it is open; answers are kept.

    `told`: called when there is one more answer, for the figures in the margin. `none`: what is said where nothing that
    could be taken away is under the cursor. The layers are read by probes of the labels of the dataset in sight.
    """

    DEFAULT_CSS = """
    WhyPane { display: none; height: 2fr; min-height: 9; }
    WhyPane.-layers { height: 4fr; }
    """

    def __init__(self, told: Callable[[], object], none: str, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._told, self._none = told, none
        self._model: str | None = None
        self._text = self._key = ""
        self._here: tuple[Span, ...] = ()
        self._others: tuple[Span, ...] = ()
        self._heads: tuple[str, ...] = ()
        self._parts = False
        self._known: dict[tuple[str, str, str, Span, str], Removed] = {}
        self._of_spans: Mapping[Span, str] = {}
        self._gold_of: Mapping[Span, str] = {}
        self._now: _Question | None = None
        self._step = self._trouble = ""
        self._request: LatestRequest[_Question, Removed | None] | None = None
        self._layers: LatestRequest[_Reading, Heat | None] | None = None
        self._view = ""
        self._in_numbers = False
        self._dataset: Dataset | None = None
        self._gold: tuple[Span, ...] = ()
        self._predicted: tuple[Span, ...] = ()
        self._labels: tuple[str, ...] = ()
        self._label = ""
        self._heats: dict[tuple[str, int, str, str], Heat] = {}
        self._reading: _Reading | None = None

    def compose(self) -> ComposeResult:
        yield Line(id="why-title", classes="-pane")
        yield Page(id="why-page")

    def bind_source(self, source: "BrowseSource") -> None:
        removal = source.removal
        if removal is None:
            return

        def ask(question: _Question) -> "Removed | None":
            from emotui.workbench.progress import Cancelled

            spec, key, text, place, label, halt = question
            try:
                return removal().take_away(
                    spec, text, place, key=key, label=label or None, progress=self._tell, cancelled=halt.is_set
                )
            except Cancelled:
                return None

        layers = source.layers
        if layers is not None:

            def read(question: _Reading) -> "Heat | None":
                from emotui.workbench.progress import Cancelled

                spec, dataset, text, halt = question
                try:
                    return layers().read(spec, dataset, text, progress=self._tell, cancelled=halt.is_set)
                except Cancelled:
                    return None

            self._layers = LatestRequest("layers", self, read, self._was_read, self._not_read, older=True)
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
        return self._now is not None or self._reading is not None

    def known(self, place: Span | None) -> "Removed | None":
        """What the live model says of the text without this span; None: it was not asked, or there is none."""
        if place is None or self._model is None:
            return None
        return self._known.get((self._model, self._key, self._text, place, self._of_spans.get(place, "")))

    def use_model(self, spec: str) -> None:
        """Ask this model from now on."""
        if spec != self._model:
            self._model, self._trouble = spec, ""
            self._go_on()

    def turn(self) -> None:
        """Show what comes next: a span taken away, the layers, nothing."""
        self._show(VIEWS[(VIEWS.index(self._view) + 1) % len(VIEWS)])

    def close(self) -> None:
        """Put it away: then nothing more is asked, and the label is that of the text again."""
        self._label = ""
        self._show("")

    @property
    def has_labels(self) -> bool:
        """Are layers in sight that could be those of another label?"""
        return self._view == "layers" and self._heat is not None and len(self._heat.labels) > 1

    @property
    def has_parts(self) -> bool:
        """Are layers in sight, as shades or as numbers?"""
        return self._view == "layers" and self._heat is not None

    def turn_part(self) -> None:
        """The layers as shades, or as numbers."""
        self._in_numbers = not self._in_numbers
        self.draw()

    def next_label(self) -> None:
        """Show the layers of the label that follows in the list under them; it stays, from text to text."""
        found = self._heat
        if found is not None:
            ranked = found.ranked
            at = ranked.index(self._label_of(found))
            self._label = found.labels[ranked[(at + 1) % len(ranked)]]
            self.draw()

    def _label_of(self, found: "Heat") -> int:
        """The place of the label that is shown: the chosen one, else that of what is under the cursor."""
        return found.place_of([name for name in (self._label, *self._labels) if name])

    def _show(self, view: str) -> None:
        self._view, self.display, self._trouble = view, bool(view), ""
        self.set_class(view == "layers", "-layers")
        self._go_on()

    def look_at(
        self,
        key: str,
        text: str,
        here: Sequence[Span],
        others: Sequence[Span] = (),
        heads: Sequence[str] = (),
        *,
        dataset: "Dataset | None" = None,
        gold: Sequence[Span] = (),
        predicted: Sequence[Span] = (),
        labels: Sequence[str] = (),
        of_spans: Mapping[Span, str] | None = None,
        gold_of: Mapping[Span, str] | None = None,
        parts: bool = False,
    ) -> None:
        """The spans that may be taken away: those that are shown, each under its head, and all others.

        Args:
            parts: they are parts of a text in which there is no cursor: a line each.
            dataset: whose labels the layers are read for; gold: spans that are marked there; labels: the first of
                these that there are probes of is shown.
            predicted: those that the answer beside gold has, which may stand where gold's do.
            of_spans: the labels of spans that have one; gold_of: the emotions that gold gives to the places shown.
        """
        if (text, dataset) != (self._text, self._dataset) and self._view == "layers":
            self._trouble = ""
        self._key, self._text, self._here, self._others = key, text, tuple(here), tuple(others)
        self._heads, self._dataset, self._labels = tuple(heads), dataset, tuple(labels)
        self._gold, self._predicted = tuple(gold), tuple(predicted)
        self._of_spans, self._gold_of, self._parts = of_spans or {}, gold_of or {}, parts
        self._go_on()

    def _wanted(self) -> Span | None:
        """The span to ask about next."""
        if self._view != "removal" or not self.able or self._trouble:
            return None
        return next((place for place in (*self._here, *self._others) if self.known(place) is None), None)

    def _go_on(self) -> None:
        """Ask what is not known yet; what is under way goes on as long as somebody waits for it."""
        if self._now is not None:
            spec, key, text, asked, _, halt = self._now
            waited_for = self._view == "removal" and (spec, key, text) == (self._model, self._key, self._text)
            if not waited_for or (asked not in self._here and any(self.known(one) is None for one in self._here)):
                halt.set()
        elif (place := self._wanted()) is not None and self._request is not None and self._model is not None:
            label = self._of_spans.get(place, "")
            self._now = self._model, self._key, self._text, place, label, threading.Event()
            self._request.ask(self._now)
        self._go_on_reading()
        self.draw()

    @property
    def _heat(self) -> "Heat | None":
        """What is known of the text in sight."""
        if self._model is None or self._dataset is None:
            return None
        return self._heats.get(_kept_as(self._model, self._dataset, self._text))

    def _go_on_reading(self) -> None:
        wanted = self._view == "layers" and not self._trouble and self._heat is None and bool(self._text.strip())
        if self._reading is not None:
            spec, dataset, text, halt = self._reading
            if not wanted or (spec, dataset, text) != (self._model, self._dataset, self._text):
                halt.set()
        elif wanted and self._layers is not None and self._model is not None and self._dataset is not None:
            self._reading = self._model, self._dataset, self._text, threading.Event()
            self._layers.ask(self._reading)

    def _was_read(self, question: _Reading, found: "Heat | None") -> None:
        self._reading, self._step = None, ""
        if found is not None:
            self._heats[_kept_as(*question[:3])] = found
        self._go_on()
        self.refresh_bindings()

    def _not_read(self, question: _Reading, why: str) -> None:
        self._reading, self._step = None, ""
        if question[:3] == (self._model, self._dataset, self._text) and self._view == "layers":
            self._trouble = why
        self._go_on()

    def _tell(self, step: str) -> None:
        """In a thread: the model is being loaded."""
        self.call_later(self._take_step, step)

    def _take_step(self, step: str) -> None:
        self._step = step
        self.draw()

    def _answered(self, question: _Question, found: "Removed | None") -> None:
        self._now, self._step = None, ""
        if found is not None:
            self._known[question[:5]] = found
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
        keys = [("{part}", "shades" if self._in_numbers else "numbers")] if self.has_parts else []
        keys += [("{next_label}", "label")] if self.has_labels else []
        keys += [("{take_away}", "layers")] if self._view == "removal" else []
        told = [(Part(keyed(key), "key"), Part(f" {what} ")) for key, what in (*keys, ("{leave}", "back"))]
        self.query_one("#why-title", Line).show(self._title(), [part for both in told for part in both])
        self.query_one("#why-page", Page).show_for(lambda room: self._lines(room.width))

    def _title(self) -> list[Part]:
        name = fit(self._model or "", LONGEST_NAME).rstrip()
        head = " layers" if self._view == "layers" else " taken away"
        parts = [Part(head, "strong", "do('take_away')"), Part("   asked ", "dim")]
        parts.append(Part(name, "said", "do('name_model')"))
        if self._view == "layers":
            return [*parts, *([Part(f"   {self._step or 'reading'}", "dim")] if self.busy else [])]
        every = dict.fromkeys((*self._here, *self._others))
        if self.busy:
            parts.append(Part(f"   {self._step}" if self._step else f"   {self._how_many(tuple(every))} so far", "dim"))
        else:
            parts.append(Part(" for the text's label", "dim"))
        return parts

    def _how_many(self, places: Sequence[Span]) -> str:
        """Of how many it is known what they carry: of gold's and of the others apart, where both are there; one that
        both have counts for each.
        """
        kinds = [("gold spans", [one for one in places if one in self._gold])]
        others = [one for one in places if one in self._predicted or one not in self._gold]
        kinds.append(("predicted" if kinds[0][1] else "spans", others))
        if self._parts:
            kinds = [("parts", list(places))]
        told = [f"{sum(self.known(one) is not None for one in of)} of {len(of)} {what}" for what, of in kinds if of]
        return ", ".join(told)

    def _layer_lines(self, cells: int) -> Lines:
        if self._dataset is None:
            return [[Part(f" {keyed(_NO_DATASET)}", "dim")]]
        if self._trouble:
            return told_trouble(self._trouble, keyed(_NEEDS), cells)
        if not self._text.strip():
            return [[Part(" There is no text to read.", "dim")]]
        found = self._heat
        if found is None:
            return [[Part(f" {self._step or 'reading the layers'} …", "dim")]]
        lines = number_lines if self._in_numbers else heat_lines
        return lines(found, self._label_of(found), cells, self._gold, self._here)

    def _lines(self, cells: int) -> Lines:
        if self._view == "layers":
            return self._layer_lines(cells)
        if self._trouble:
            return [[Part(f" {self._trouble}", "mark")], [Part(keyed(_AGAIN), "dim")]]
        if not self._here:
            room = max(cells - 2, 8)
            told = [(line, *place) for line in (self._none, keyed(_LAYERS)) for place in wrap(line, room)]
            return [[Part(f" {shown(*place)}", "dim")] for place in told]
        if self._parts:
            return part_lines(self._text, self._here, [self.known(place) for place in self._here], cells)
        lines: list[Sequence[Part]] = []
        for at, place in enumerate(self._here):
            if lines:
                lines.append([])
            if len(self._here) > 1:
                lines.append([Part(" "), Part(fit(self._heads[at], cells - 2).rstrip(), "strong")])
            found = self.known(place)
            gold = self._gold_of.get(place, "")
            lines += (
                removal_lines(found, cells, gold=gold, in_margin=not at)
                if found
                else [[Part(" asking the model …", "dim")]]
            )
        return lines


def _kept_as(spec: str, dataset: "Dataset", text: str) -> tuple[str, int, str, str]:
    return spec, dataset.dataset, dataset.fingerprint, text


def told_trouble(trouble: str, needs: str, cells: int) -> Lines:
    """What went wrong, and what it takes."""
    return [
        [Part(f" {shown(line, *place)}", "mark" if not at else "dim")]
        for at, line in enumerate((trouble, needs))
        for place in wrap(line, max(cells - 2, 8))
    ]
