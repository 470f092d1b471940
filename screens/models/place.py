"""Models: which are at hand, which are loaded, in how much memory, how fast, and what went wrong with them."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.message import Message

from emotui.screens.keymaps.words import keyed
from emotui.screens.models.about import about, title_of
from emotui.screens.models.entry import ENTRY
from emotui.screens.models.rows import heading, lines
from emotui.screens.place import NO_WORKSPACE, Place
from emotui.screens.requests import LatestRequest
from emotui.screens.session import Session
from emotui.screens.widgets.line import Line
from emotui.screens.widgets.notice import Notice
from emotui.screens.widgets.page import Page
from emotui.screens.widgets.row_list import PickedRows
from emotui.store.query import Run

if TYPE_CHECKING:
    from emotui.workbench.models.loaded import LoadedModels, OnShelf
    from emotui.workbench.progress import OnProgress, RunProgress
    from emotui.workbench.source import BrowseSource


_MOVES = ("next", "previous", "first", "last")


class Models(Place):
    """The models above, everything about the picked one below."""

    entry = ENTRY
    marks_errors = False
    alone = True
    headings = {"model-rows": "#models-title", "model-about": "#model-title"}
    DEFAULT_CSS = """
    Models #model-rows { height: auto; min-height: 4; max-height: 60%; }
    Models #model-about { height: 1fr; min-height: 5; }
    """

    class Turned(Message):
        """Loading or measuring a model has begun, is over, was stopped or has failed."""

    def __init__(self, session: Session, *, id: str | None = None) -> None:
        super().__init__(session, id=id)
        self._shelf: Callable[[], LoadedModels] | None = None
        self._desk: LatestRequest[str | None, tuple[list[OnShelf], int | None]] | None = None
        self._machine: int | None = None
        self._failed = False

    def compose(self) -> ComposeResult:
        yield Line(id="models-title", classes="-pane")
        yield PickedRows(lines, id="model-rows")
        yield Line(id="model-title", classes="-pane")
        yield Page(id="model-about")
        yield Notice("Line, ScrollView", id="models-notice")

    def on_mount(self) -> None:
        self.show_nothing("the workspace is being read")

    def bind_source(self, source: "BrowseSource") -> None:
        models = source.models
        if models is None:
            self.say("Models are loaded in a workspace", keyed(NO_WORKSPACE))
            return
        self._shelf = models.shelf

        def ask(unload: str | None) -> "tuple[list[OnShelf], int | None]":
            from emotui.workbench.models.benchmark import machine_memory

            shelf = models.shelf()
            if unload is not None:
                shelf.unload(unload)
            return shelf.rows(), machine_memory()

        self._desk = LatestRequest("models", self, ask, self._show, self._refuse)
        self.say("Models", "looking for what is at hand")
        self._desk.ask(None)

    @property
    def rows(self) -> "PickedRows[OnShelf]":
        return self.query_one("#model-rows", PickedRows)

    @property
    def busy(self) -> bool:
        return self._desk is not None and self._desk.busy

    def show_sample(self, sample: int | None, run: Run | None) -> None:
        """Models do not depend on the sample; but how they stand may have changed."""
        if self._desk is not None and self.display:
            self._desk.ask(None)

    def show_nothing(self, why: str, *, failed: bool = False) -> None:
        if self._desk is None:
            self.say("Models at hand, and those that are loaded", why, failed=failed)

    def focus_first(self) -> None:
        self.rows.focus()

    def _refuse(self, _: str | None, why: str) -> None:
        self._failed = True
        self.say("The models cannot be listed", why, keyed("{load} looks again"), failed=True)

    def _show(self, _: str | None, found: "tuple[list[OnShelf], int | None]") -> None:
        rows, self._machine = found
        self._failed = False
        self.query_one(Notice).hide()
        self.rows.show_rows(rows, lambda row: row.spec)
        if self.display and self.screen.focused is None:
            self.focus_first()
        self._draw()

    @on(PickedRows.Picked)
    def _picked(self, event: PickedRows.Picked) -> None:
        event.stop()
        self._draw()

    @on(Turned)
    def _turned(self, event: Turned) -> None:
        event.stop()
        if self._desk is not None:
            self._desk.ask(None)

    def _draw(self) -> None:
        rows = self.rows
        title = self.query_one("#models-title", Line)
        title.show(*heading(rows.rows, self._machine, max(title.size.width, 20)))
        picked = rows.picked
        if picked is not None:
            self.query_one("#model-title", Line).show(*title_of(picked, title.size.width))
            self.query_one("#model-about", Page).show_for(lambda room: about(picked, room.width))
        self.refresh_bindings()

    def on_resize(self) -> None:
        if self.rows.rows:
            self._draw()

    # Keys.

    def can(self, action: str) -> bool:
        """One thing at a time: nothing is loaded or ended while a model is at work."""
        if not super().can(action) or self._desk is None:
            return False
        if self._failed:
            return action == "load"
        picked = self.rows.picked
        if picked is None or action in _MOVES:
            return picked is not None
        return self.session.job is None and (action != "end" or picked.state == "loaded")

    def do_next(self) -> None:
        self.rows.action_pick(1)

    def do_previous(self) -> None:
        self.rows.action_pick(-1)

    def do_first(self) -> None:
        self.rows.pick(0)

    def do_last(self) -> None:
        self.rows.pick(len(self.rows.rows) - 1)

    def do_load(self) -> None:
        """Load the model; one that is loaded is asked from now on, in Spot check. Look again where none is listed."""
        if self._failed:
            if self._desk is not None:
                self._desk.ask(None)
            return
        picked = self.rows.picked
        if picked is None:
            return
        if picked.state == "loaded":
            self.session.use_model(picked.spec)
            self.post_message(Place.Turned("Spot check", "", ""))
        else:
            self._load(picked.spec)

    def do_end(self) -> None:
        picked = self.rows.picked
        if picked is not None and self._desk is not None:
            self._desk.ask(picked.spec)

    def do_measure(self) -> None:
        picked = self.rows.picked
        if picked is not None:
            self._begin(f"measuring {picked.spec}", lambda shelf, tell: shelf.measure(picked.spec, tell))

    def _load(self, spec: str) -> None:
        self._begin(f"loading {spec}", lambda shelf, tell: shelf.load(spec, tell))

    def _begin(self, what: str, do: "Callable[[LoadedModels, OnProgress], object]") -> None:
        """Long work stands in the top line, where it can be stopped."""
        shelf_of = self._shelf
        if shelf_of is None:
            return

        def work(on_progress: "OnProgress") -> None:
            from emotui.errors import ModelError

            begun = False

            def tell(progress: "RunProgress") -> None:
                nonlocal begun
                if not begun:
                    begun = True
                    self.post_message(self.Turned())
                on_progress(progress)

            try:
                do(shelf_of(), tell)
            except ModelError:
                # Whoever still looks at this place reads it below, in the model's own words.
                if not self.display:
                    raise
            finally:
                self.post_message(self.Turned())

        self.session.begin(what, work, lambda: shelf_of().stop())
