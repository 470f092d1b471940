"""The live model of the Spot check place, and the second one beside it: loaded, asked, and what came of it."""

import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from textual.widget import Widget

from emotui.screens.keymaps import keyed
from emotui.screens.requests import LatestRequest
from emotui.screens.session import Session
from emotui.screens.spot.blocks import LONG, TASK, Column, When

if TYPE_CHECKING:
    from emotui.workbench.models.probe import Probe
    from emotui.workbench.progress import IsCancelled, OnProgress
    from emotui.workbench.source import Models

    Ask = Callable[[str, str, Callable[[str], None], IsCancelled], Probe]
    """(text, part, tell, cancelled): the answer to one part; `tell` is called with what is being done."""

    Said = Callable[[str, str, Probe | None, str], object]
    """(text, part, probe, error): what came back; neither probe nor error where it was stopped."""

# Asks one model about the newest text, a part at a time.

_Question = tuple[str, str, threading.Event]


class Asking:
    """Keeps what is wanted of a model: parts of one text. Another text takes the place of the one before.

    A part that is under way is finished, since ending it may cost the model's process; its answer counts only if the
    text is still the same.

    Args:
        owner: the widget in whose message pump `told` and `said` are called.
        told: gets a step of the model's loading, or the part that it is asked.
    """

    def __init__(self, owner: Widget, ask: "Ask", told: Callable[[str], object], said: "Said") -> None:
        self._owner, self._ask, self._told, self._said = owner, ask, told, said
        self._text = ""
        self._parts: list[str] = []
        self._now: _Question | None = None
        self._request: LatestRequest[_Question, Probe | None] = LatestRequest(
            "spot", owner, self._call, self._answered, self._failed, older=True
        )

    @property
    def busy(self) -> bool:
        return self._now is not None

    @property
    def part(self) -> str | None:
        """The part that the model is asked at this moment."""
        return None if self._now is None else self._now[1]

    def want(self, text: str, parts: Sequence[str]) -> None:
        """Ask these parts of this text, in this order, and nothing else from now on."""
        now = None if self._now is None else self._now[:2]
        self._text, self._parts = text, [part for part in parts if (text, part) != now]
        if now is None:
            self._next()

    def stop(self) -> None:
        """Ask nothing more, and end what is under way."""
        self._parts = []
        if self._now is not None:
            self._now[2].set()

    def _next(self) -> None:
        self._now = (self._text, self._parts.pop(0), threading.Event()) if self._parts else None
        if self._now is not None:
            self._request.ask(self._now)

    def _call(self, question: _Question) -> "Probe | None":
        from emotui.workbench.progress import Cancelled

        text, part, halt = question

        def tell(doing: str) -> None:
            self._owner.call_later(self._told, doing)

        try:
            return self._ask(text, part, tell, halt.is_set)
        except Cancelled:
            return None

    def _answered(self, question: _Question, probe: "Probe | None", error: str = "") -> None:
        self._next()
        self._said(*question[:2], probe, error)

    def _failed(self, question: _Question, why: str) -> None:
        self._parts = []
        self._answered(question, None, why)


STAGES: tuple[When, ...] = ("quick", "later", "key")
"""How long typing has rested, and whether a key was pressed for it."""

STOPPED = "stopped: {ask} asks again"


class Sides:
    """Every method is called by the screen and returns at once.

    Args:
        owner: the widget in whose message pump `told` and `said` are called.
        session: loads a model with its progress in the top line.
        text: the text as it is now.
        told: called when a model says what it is doing.
        said: called when a part has its answer.
    """

    def __init__(
        self,
        owner: Widget,
        session: Session,
        models: "Models",
        text: Callable[[], str],
        told: Callable[[], object],
        said: Callable[[], object],
    ) -> None:
        self.models = models
        self._owner, self._session = owner, session
        self._text, self._told, self._said = text, told, said
        self._askings: dict[Column, Asking] = {}
        self._awaited: set[Column] = set()

    @property
    def columns(self) -> list[Column]:
        """The live model first."""
        return list(self._askings)

    @property
    def busy(self) -> bool:
        return any(asking.busy for asking in self._askings.values())

    @property
    def loading(self) -> bool:
        """Is a model being loaded with its progress in the top line?"""
        return bool(self._awaited)

    @property
    def long(self) -> bool:
        """Does something take so long that one may want to stop it?"""
        now = time.monotonic()
        asked = self._askings.items()
        return any(asking.busy and column.since and now - column.since > LONG for column, asking in asked)

    def use(self, spec: str) -> None:
        """This is the live model now; chosen once more, it may be asked again where it failed."""
        columns = self.columns
        if columns and columns[0].spec == spec:
            columns[0].trouble = ""
            return
        kept = [column for column in columns[1:] if column.spec != spec]
        self._let_go([column for column in columns if column not in kept])
        rest = {column: self._askings[column] for column in kept}
        self._askings = {**self._side(spec), **rest}

    def add(self, spec: str) -> None:
        """A second model."""
        self._askings |= self._side(spec)

    def drop_second(self) -> None:
        """The live model alone."""
        second = self.columns[1]
        self._let_go([second])
        del self._askings[second]

    def _side(self, spec: str) -> dict[Column, Asking]:
        column = Column(spec)
        probe, hear, take = partial(self._probe, spec), partial(self._hear, column), partial(self._take, column)
        return {column: Asking(self._owner, probe, hear, take)}

    def _let_go(self, columns: Sequence[Column]) -> None:
        for column in columns:
            self._askings[column].stop()
            self._awaited.discard(column)

    def _probe(self, spec: str, text: str, part: str, tell: Callable[[str], None], cancelled: "IsCancelled") -> "Probe":
        """In a thread: one part."""
        from emotui.workbench.models.probe import probe

        tasks = (part.removeprefix(TASK),) if part.startswith(TASK) else ()
        parts = () if tasks else (part,)
        return probe(self.models.model(spec), text, parts=parts, tasks=tasks, progress=tell, cancelled=cancelled)

    # Asking.

    def ask(self, text: str, parts: Sequence[str], stage: When) -> None:
        """Ask each model what of these parts it has not said yet of the text, and is worth asking at this stage."""
        reached = STAGES.index(stage)
        for column, asking in self._askings.items():
            if self._is_being_loaded(column):
                column.trouble = ""  # somebody tries again
            worth = [part for part in column.missing(text, parts) if STAGES.index(column.when(part, text)) <= reached]
            if column.trouble or not worth:
                asking.want("", ())
            elif self._is_there(column):
                column.since = column.since or time.monotonic()
                column.doing = "" if column.doing == keyed(STOPPED) else column.doing
                asking.want(text, worth)

    def make_ready(self) -> None:
        """Load what is not loaded yet: there will be something to ask."""
        for column in self.columns:
            if not column.trouble:
                self._is_there(column)

    def forgive(self) -> None:
        """Models that failed or were stopped may be asked again."""
        for column in self.columns:
            column.trouble = column.doing = ""

    def stop(self) -> None:
        """Ask nothing more."""
        for asking in self._askings.values():
            asking.stop()

    def _hear(self, column: Column, doing: str) -> None:
        """A model loads as its first question asks it to."""
        asking = self._askings.get(column)
        if asking is not None and asking.part is not None:
            column.doing = "" if doing == asking.part else f"loading: {doing}"
        self._told()

    def _take(self, column: Column, text: str, part: str, probe: "Probe | None", error: str) -> None:
        """Keep an answer; of one to a text that is not there any more only the first of its part."""
        asking = self._askings.get(column)
        if asking is not None:
            column.since = time.monotonic() if asking.busy else 0.0
            column.doing = ""
            if error:
                column.trouble = error
            elif probe is None:
                column.doing = keyed(STOPPED)
            elif text == self._text() or part not in column.answers:
                column.take(part, text, probe)
        self._said()

    def say_how_long(self) -> None:
        """What takes long says since when."""
        now = time.monotonic()
        for column, asking in self._askings.items():
            long = asking.part is not None and column.since and now - column.since > LONG
            if long and not column.doing.startswith("load"):
                column.doing = f"{asking.part} {now - column.since:.0f} s  " + keyed("{stop} stops")

    # Loading.

    def _is_there(self, column: Column) -> bool:
        """Can the model be asked? One that is not loaded yet is, with its progress in the top line."""
        if self.models.model_state(column.spec) == "ready":
            return True
        job = self._session.job
        if job is None and column not in self._awaited:
            load = partial(self._load, column.spec)
            self._session.begin(f"loading {column.spec}", load, lambda: self.models.shelf().stop())
        elif job is not None and not self._is_being_loaded(column):
            return True  # the top line is taken: the question itself loads it
        column.doing = "loading"
        self._awaited.add(column)
        return False

    def _is_being_loaded(self, column: Column) -> bool:
        job = self._session.job
        return job is not None and job.what == f"loading {column.spec}"

    def _load(self, spec: str, on_progress: "OnProgress") -> None:
        self.models.shelf().load(spec, on_progress)

    def look(self) -> None:
        """What has become of the models that were being loaded?"""
        for column in list(self._awaited):
            there = self.models.model_state(column.spec) == "ready"
            if not there and self._is_being_loaded(column):
                continue
            self._awaited.discard(column)
            column.doing = ""
            if not there:
                column.trouble = self.models.shelf().trouble(column.spec) or "It is not loaded: that was stopped"
