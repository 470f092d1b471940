"""Pushing: what the live model says of the text while a label's direction is added at a layer."""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec.structs import replace
from textual.app import ComposeResult
from textual.containers import Vertical

from emotui.screens.keymaps import keyed
from emotui.screens.requests import LatestRequest, NamedTimers
from emotui.screens.why import LONGEST_NAME, told_trouble
from emotui.screens.widgets.cell_width import fit, shown
from emotui.screens.widgets.line import Line, Part
from emotui.screens.widgets.page import Lines, Page
from emotui.screens.widgets.why_lines import FARTHEST, STEP, aim_line, push_lines

if TYPE_CHECKING:
    from emotui.store.query import Dataset
    from emotui.workbench.source import BrowseSource
    from emotui.workbench.why.live_push import Aimed, PushedText

_Pushing = tuple[str, "Dataset", str, "Aimed", threading.Event]
"""(SPEC, dataset whose texts the direction is of, text, where to, what ends it)."""

_AFTER = 0.15
"""Seconds without a key after which it is asked."""

_NO_LABELS = "It is pushed along the directions of a dataset's labels: choose a dataset ({dataset}) first."
_PUSHES = "It takes an hf: model that classifies or writes ({name_model}), and a dataset ({dataset}) with labels."


class PushPane(Vertical):
    """Off until it is asked for, and off again with the model. Nothing that is said here is kept, or said elsewhere."""

    DEFAULT_CSS = """
    PushPane { display: none; height: 2fr; min-height: 9; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._model: str | None = None
        self._dataset: Dataset | None = None
        self._text = self._step = self._trouble = ""
        self._aimed: Aimed | None = None
        self._found: PushedText | None = None
        self._now: _Pushing | None = None
        self._request: LatestRequest[_Pushing, PushedText | None] | None = None
        self._state: Callable[[str], str] | None = None
        self._waits = NamedTimers(self)

    def compose(self) -> ComposeResult:
        yield Line(id="push-title", classes="-pane")
        yield Page(id="push-page")

    def bind_source(self, source: "BrowseSource") -> None:
        pushes, models = source.pushes, source.models
        if pushes is None or models is None:
            return
        self._state = models.model_state

        def ask(question: _Pushing) -> "PushedText | None":
            from emotui.workbench.progress import Cancelled

            spec, dataset, text, aimed, halt = question

            def part(found: "PushedText") -> None:
                self.call_later(self._take, question, found)

            try:
                return pushes().push(
                    spec, dataset, text, aimed, progress=self._tell, cancelled=halt.is_set, on_part=part
                )
            except Cancelled:
                return None

        self._request = LatestRequest("push", self, ask, self._pushed, self._failed, older=True)

    @property
    def page(self) -> Page:
        """What the slider's keys act in."""
        return self.query_one("#push-page", Page)

    @property
    def is_open(self) -> bool:
        """Is it in sight, and so the model pushed?"""
        return bool(self.display)

    @property
    def able(self) -> bool:
        """Is there a model that could be asked?"""
        return self._request is not None and self._model is not None and not self.unable

    @property
    def unable(self) -> str:
        """Why the live model is of a kind that cannot be pushed, in words; empty: it may be."""
        from emotui.workbench.models.discovery import kinds_of, may

        if self._model is None or may(self._model, "push"):
            return ""
        return f"{shown(self._model)} cannot be pushed; kinds of model that can: {', '.join(kinds_of('push'))}"

    @property
    def busy(self) -> bool:
        return self._now is not None or "ask" in self._waits

    @property
    def has_labels(self) -> bool:
        """Is it known which labels and layers there are?"""
        return self.is_open and self._found is not None

    def use_model(self, spec: str) -> None:
        """The live model; what was pushed of another one goes."""
        if spec != self._model:
            self._model = spec
            self.close()

    def turn(self) -> None:
        """On, or off."""
        if self.is_open:
            self.close()
            return
        from emotui.workbench.why.live_push import Aimed

        self.display, self._aimed = True, self._aimed or Aimed()
        self._go_on()

    def close(self) -> None:
        """Off: what is under way ends, and nothing more is asked."""
        self.display, self._trouble, self._found, self._aimed = False, "", None, None
        self._go_on()

    def look_at(self, text: str, dataset: "Dataset | None") -> None:
        """This text is pushed, by the labels of this dataset."""
        if (text, dataset) != (self._text, self._dataset):
            if dataset != self._dataset:
                self._found = self._aimed = None
            self._text, self._dataset, self._trouble = text, dataset, ""
            self._wait()

    # Where to.

    def move(self, step: int) -> None:
        """Push less (-1) or more (1)."""
        if self._aimed is not None:
            strength = min(max(self._aimed.strength + step * STEP, -FARTHEST), FARTHEST)
            self._aim(replace(self._aimed, strength=strength, writes=False))

    def move_layer(self, step: int) -> None:
        """At the layer before (-1), or at the next one (1)."""
        if self._aimed is not None and self._found is not None:
            here = self._found.aimed.layer if self._aimed.layer is None else self._aimed.layer
            self._aim(replace(self._aimed, layer=min(max((here or 0) + step, 0), self._found.depth), writes=False))

    def next_label(self) -> None:
        """Towards the next label of the dataset."""
        if self._aimed is not None and self._found is not None:
            labels = self._found.labels
            at = labels.index(self._aimed.label or self._found.aimed.label or labels[0])
            self._aim(replace(self._aimed, label=labels[(at + 1) % len(labels)], writes=False))

    def write(self) -> None:
        """Have it write, too, with the push and without."""
        if self._aimed is not None:
            self._aim(replace(self._aimed, writes=True))

    def _aim(self, aimed: "Aimed") -> None:
        self._aimed, self._trouble = aimed, ""
        self._wait()

    def _wait(self) -> None:
        """Ask once keys rest; what is under way about something else ends."""
        if self.is_open:
            self._waits.wait("ask", _AFTER, self._go_on)
            if self._now is not None and self._now[:4] != self._wanted():
                self._now[4].set()
        self.draw()

    def _wanted(self) -> "tuple[str, Dataset, str, Aimed] | None":
        if self._aimed is None and self.is_open:
            from emotui.workbench.why.live_push import Aimed

            self._aimed = Aimed()
        if not self.is_open or self._trouble or not self._text.strip() or self._aimed is None:
            return None
        if self._model is None or self._dataset is None:
            return None
        return self._model, self._dataset, self._text, self._aimed

    @property
    def _is_here(self) -> bool:
        """Is what is shown what is asked for?"""
        found, aimed = self._found, self._aimed
        if found is None or aimed is None or self._dataset is None:
            return False
        same = found.aimed == replace(aimed, label=aimed.label or found.aimed.label, layer=_or(aimed, found))
        return same and (found.model, found.dataset, found.text) == (self._model, self._dataset.name, self._text)

    @property
    def _is_gone(self) -> bool:
        """Was the model let go of since it was pushed?"""
        pushed = self._found is not None and self._now is None and self._model is not None
        return pushed and self._state is not None and self._state(self._model or "") != "ready"

    def _go_on(self) -> None:
        self._waits.drop("ask")
        if self.is_open and self._is_gone:
            self.notify("The model is not loaded any more: it is not pushed", markup=False)
            self.close()
            return
        wanted = self._wanted()
        if self._now is not None:
            if self._now[:4] != wanted:
                self._now[4].set()
        elif wanted is not None and not self._is_here and self._request is not None:
            self._now = (*wanted, threading.Event())
            self._request.ask(self._now)
        self.draw()

    def _take(self, question: _Pushing, found: "PushedText") -> None:
        """A part of the answer: random directions are still to come."""
        if question is self._now and question[:4] == self._wanted():
            self._found = found
            self.draw()
            self.refresh_bindings()

    def _pushed(self, question: _Pushing, found: "PushedText | None") -> None:
        self._now, self._step = None, ""
        if found is not None and question[:4] == self._wanted():
            self._found = found
        self._go_on()
        self.refresh_bindings()

    def _failed(self, question: _Pushing, why: str) -> None:
        self._now, self._step = None, ""
        if question[:4] == self._wanted():
            self._trouble = why
        self._go_on()

    def _tell(self, step: str) -> None:
        """In a thread: the model is being loaded, texts are read, something is written."""
        self.call_later(self._take_step, step)

    def _take_step(self, step: str) -> None:
        self._step = step
        self.draw()

    # Drawing.

    def draw(self) -> None:
        if not self.is_open or not self.is_mounted:
            return
        name = fit(self._model or "", LONGEST_NAME).rstrip()
        left = [Part(" pushed", "mark", "do('push')"), Part("   asked ", "dim"), Part(name, "said", "do('name_model')")]
        left += [Part(f"   {self._step or 'asking'}", "dim")] if self.busy else []
        keys = [("{push_less} {push_more}", "strength"), ("{next_label}", "label"), ("{part_back} {part}", "layer")]
        if self._found is not None and self._found.perplexity:
            keys.append(("{ask}", "writes"))
        keys = [*(keys if self.has_labels else []), ("{push}", "off")]
        told = [(Part(keyed(key), "key"), Part(f" {what} ")) for key, what in keys]
        self.query_one("#push-title", Line).show(left, [part for both in told for part in both])
        self.page.show_for(lambda room: self._lines(room.width))

    def _lines(self, cells: int) -> Lines:
        if self._dataset is None:
            return [[Part(f" {keyed(_NO_LABELS)}", "dim")]]
        if self._trouble:
            return told_trouble(self._trouble, keyed(_PUSHES), cells)
        if not self._text.strip() or self._aimed is None:
            return [[Part(" There is no text to push.", "dim")]]
        head = aim_line(self._aimed, self._found, cells)
        if self._found is None:
            return [head, [], [Part(f" {self._step or 'asking the model'} …", "dim")]]
        return [head, *push_lines(self._found, cells, keyed("{push}"), stale=not self._is_here)]


def _or(aimed: "Aimed", found: "PushedText") -> int | None:
    return found.aimed.layer if aimed.layer is None else aimed.layer
