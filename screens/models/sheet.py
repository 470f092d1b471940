"""The sheet of models: which are at hand and loaded, in how much memory, how fast, and what went wrong with them.

Enter takes one; other keys load, unload, measure and try it without leaving the sheet.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from textual import events, on
from textual.binding import Binding
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Label

from emotui.errors import BadInput
from emotui.screens import jobs
from emotui.screens.dialogs.dialog import Dialog
from emotui.screens.models.drawing import about, heading, lines, others, title_of
from emotui.screens.requests import LatestRequest
from emotui.screens.session import EMBEDDED, Session
from emotui.screens.widgets.line import Line
from emotui.screens.widgets.page import Lines, Page
from emotui.screens.widgets.row_list import PickedRows
from emotui.screens.widgets.textual_private_text import Input
from emotui.workbench.models.loaded import OnShelf

if TYPE_CHECKING:
    from emotui.workbench.models.loaded import LoadedModels
    from emotui.workbench.progress import OnProgress, RunProgress

FORMS = "hf:NAME_OR_DIR, gguf:FILE or openai:MODEL@URL"
_ASKS = f"find one, or name another: {FORMS}"
_TYPED_HERE = "letters find a model by its name, ↑ ↓ move in the list"
"""What stands in the field while nothing is typed: names of models begin with any letter, so none moves the cursor."""


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model by its SPEC; `probe`: it is to be tried on a text at once."""

    spec: str
    probe: bool = False


class ModelSheet(Dialog[ModelChoice]):
    """↑ ↓ and Enter take a model of the list. What is typed finds one there, or is a SPEC, and then Enter takes that.

    Args:
        now: the SPEC that is taken already.
        title: what it is taken for.
        tries: can it be tried on a text from here?
    """

    BINDINGS = [
        Binding("up", "move(-1)", show=False),
        Binding("down", "move(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("ctrl+l", "load", show=False),
        Binding("ctrl+s", "measure", show=False),
        Binding("ctrl+t", "probe", show=False),
    ]
    wide = True
    DEFAULT_CSS = """
    ModelSheet > #sheet { height: 96%; max-height: 31; }
    ModelSheet #model-rows { height: auto; min-height: 4; max-height: 45%; padding: 0; }
    ModelSheet #model-about { height: 1fr; min-height: 3; padding: 0; }
    ModelSheet #models-job { display: none; }
    """

    class Moved(Message):
        """Loading or measuring a model has begun, is over or was stopped; or has failed, and `why` says why."""

        def __init__(self, why: str = "") -> None:
            super().__init__()
            self.why = why

    def __init__(self, session: Session, now: str, title: str = "Models", *, tries: bool = False) -> None:
        super().__init__(title)
        self._session, self._now, self._tries = session, now, tries
        self._typed = self._unknown = self._probe = False
        self._job: jobs.Job | None = None
        self._machine: int | None = None
        self._models: LatestRequest[str | None, tuple[list[OnShelf], int | None]] = LatestRequest(
            "models", self, self._look, self._show, lambda _, why: self.refuse(why)
        )

    def body(self) -> Sequence[Widget]:
        rows: PickedRows[OnShelf] = PickedRows(self._drawn, id="model-rows")
        rows.can_focus = False  # letters are for the field, arrows come here from it
        rows.add_class("-keys")
        return [
            Line(id="models-title"),
            rows,
            Line(id="model-title", classes="-pane"),
            Page(id="model-about"),
            Line(id="models-job"),
            Label(_ASKS, id="model-asks"),
            Input("", placeholder=_TYPED_HERE, id="spec", compact=True),
        ]

    def on_mount(self) -> None:
        super().on_mount()
        self.rows.show_rows([OnShelf(self._now, "")])
        self.query_one("#spec", Input).focus()
        self._draw()
        self._models.ask(None)
        self.set_interval(0.25, self._tell_job)

    def on_resize(self, event: events.Resize) -> None:
        super().on_resize(event)
        self.call_after_refresh(self._draw)  # headings go by the cells that they have then

    @property
    def rows(self) -> PickedRows[OnShelf]:
        return self.query_one("#model-rows", PickedRows)

    # What there is.

    def _look(self, unload: str | None) -> tuple[list[OnShelf], int | None]:
        """In a thread: end a model's process where one is named, and list all."""
        from emotui.workbench.models.benchmark import machine_memory

        shelf = self._shelf()
        if unload is not None:
            shelf.unload(unload)
        return shelf.rows(self._now), machine_memory()

    def _shelf(self) -> "LoadedModels":
        models = self._session.models
        assert models is not None, "the sheet is opened where there are models"
        return models.shelf()

    def _show(self, _: str | None, found: tuple[list[OnShelf], int | None]) -> None:
        rows, self._machine = found
        self.rows.show_rows(rows, lambda row: row.spec)
        self._seek()

    def _drawn(self, rows: Sequence[OnShelf], cursor: int, cells: int) -> Lines:
        return lines(rows, -1 if self._typed or self._unknown else cursor, cells, self._now)

    @on(PickedRows.Picked)
    def _picked(self, event: PickedRows.Picked) -> None:
        event.stop()
        self._draw()

    @on(Moved)
    def _moved(self, event: Moved) -> None:
        event.stop()
        self.refuse(event.why)
        self._models.ask(None)

    def _draw(self) -> None:
        rows, cells = self.rows.rows, max(self.query_one("#models-title", Line).size.width, 20)
        self.query_one("#models-title", Line).show(*heading(rows, self._machine, cells))
        wanted = self._wanted
        none = self._unknown
        self.query_one("#model-title", Line).show(*([()] if none else title_of(wanted, cells)))
        told = others if none else partial(about, wanted)
        self.query_one("#model-about", Page).show_for(lambda room: told(room.width))
        stops = self._own_job is not None
        ended = "stop" if stops else "unload" if wanted.state == "loaded" else "load"
        self.tell_keys(
            ("↑ ↓", "move"),
            ("Enter", "use"),
            ("^L", ended),
            ("^S", "measure"),
            *((("^T", "try"),) if self._tries else ()),
            ("Esc", "back"),
        )

    def _tell_job(self) -> None:
        """Work that goes on stands in the sheet too, which may lie over the top line."""
        line, job = self.query_one("#models-job", Line), self._session.job
        line.display = job is not None
        if job is not None:
            line.show(jobs.parts(job, self.size.width // 2, key_stops=False))

    # What is typed.

    @on(Input.Changed, "#spec")
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        self.refuse("")
        self._seek()

    def _seek(self) -> None:
        """The cursor goes to the first model whose SPEC has what is typed, unless that is a SPEC by itself."""
        typed, specs = self.text("spec"), [row.spec for row in self.rows.rows]
        self._typed = typed not in specs and _is_spec(typed)
        found = [at for at, spec in enumerate(specs) if typed.lower() in spec.lower()]
        self._unknown = bool(typed) and not self._typed and not found
        none = f"no model at hand has “{typed}” in its name: ↑ ↓ go back to the list"
        self.query_one("#model-asks", Label).update(Content(none if self._unknown else _ASKS))
        at = specs.index(typed) if typed in specs else found[0] if typed and found else self.rows.cursor
        self.rows.pick(at)

    @property
    def _wanted(self) -> OnShelf:
        """The model that Enter would take."""
        picked = self.rows.picked
        if picked is None or self._typed:
            return OnShelf(self.text("spec"), "")
        return picked

    def _taken(self, *, typed: bool) -> str:
        """The SPEC that is meant, once nothing is at work.

        Raises:
            BadInput: no model at hand has what is typed in its SPEC; or a model is at work.
        """
        if self._unknown:
            raise BadInput(f"another model is named {FORMS}")
        if self._session.job is not None:
            raise BadInput(f"One thing at a time: {self._session.job.what} goes on")
        return self.model(self._wanted.spec, typed=typed)

    def result(self) -> ModelChoice:
        return ModelChoice(self._taken(typed=self._typed), self._probe)

    # Keys.

    def action_move(self, step: int) -> None:
        """From what is typed and not in the list back to it; in the list by one."""
        if self._typed or self._unknown:
            self.query_one("#spec", Input).value = ""
        else:
            self.refuse("")
            self.rows.action_pick(step)

    def action_page(self, step: int) -> None:
        self.rows.action_page(step)

    def action_probe(self) -> None:
        """Take it, and try it on a text."""
        if self._tries:
            self._probe = True
            self.action_accept()

    def action_load(self) -> None:
        """Load the model, or end the process of one that is loaded; what was begun from here is stopped."""
        if self._own_job is not None:
            self._session.stop_work()
        elif (spec := self._ready()) is not None:
            if self._wanted.state == "loaded":
                self._models.ask(spec)
            else:
                self._begin(f"loading {spec}", lambda shelf, tell: shelf.load(spec, tell))

    def action_measure(self) -> None:
        """Measure how fast the model is."""
        if (spec := self._ready()) is not None:
            self._begin(f"measuring {spec}", lambda shelf, tell: shelf.measure(spec, tell))

    def _ready(self) -> str | None:
        """The SPEC that is meant; None, and why is said, where there is none."""
        try:
            spec = self._taken(typed=self._typed)
        except BadInput as problem:
            self.refuse(str(problem))
            return None
        self.refuse("")
        return spec

    @property
    def _own_job(self) -> jobs.Job | None:
        """What was begun from here and still goes on."""
        return self._job if self._job is not None and self._session.job is self._job else None

    def _begin(self, what: str, do: "Callable[[LoadedModels, OnProgress], object]") -> None:
        shelf_of = self._shelf

        def work(on_progress: "OnProgress") -> None:
            from emotui.errors import EmotuiError, ModelError

            begun, why = False, ""

            def tell(progress: "RunProgress") -> None:
                nonlocal begun
                if not begun:
                    begun = True
                    self.post_message(self.Moved())
                on_progress(progress)

            try:
                do(shelf_of(), tell)
            except EmotuiError as error:
                # Whoever still looks at the sheet reads it there, where a model's own words stand with the model;
                # anybody else is told by the frame.
                if not self.is_current:
                    raise
                why = "" if isinstance(error, ModelError) else str(error)
            finally:
                self.post_message(self.Moved(why))

        self._session.begin(what, work, lambda: shelf_of().stop())
        self._job = self._session.job
        self._draw()


def _is_spec(typed: str) -> bool:
    """Is it a SPEC, whether such a model is at hand or not: a kind with what follows it?"""
    return typed == EMBEDDED or ":" in typed or "#" in typed
