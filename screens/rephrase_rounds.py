"""Beginning a round: every original is classified first, in the frame's long work, where Esc stops it."""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from textual.message import Message
from textual.widget import Widget

from emotui.errors import EmotuiError

if TYPE_CHECKING:
    from emotui.workbench.rephrasing import Rephrasing
    from emotui.workbench.rephrasing_views import Progress, Round

_STOPPED = "Stopped before every text was classified; what was done is kept."


class Begun(Message):
    """A round has begun, or could not: then with the error in words."""

    def __init__(self, round: "Round | None", error: str) -> None:
        super().__init__()
        self.round, self.error = round, error


def begin(owner: Widget, service_of: "Callable[[], Rephrasing]", dataset: int, spec: str, annotator: str) -> None:
    """Begin a round, or take it up again; `owner` gets `Begun` in the end, whatever the end is."""
    frame: Any = owner.screen
    over = threading.Event()

    def work(on_progress: Any) -> None:
        found, error = None, _STOPPED
        try:
            found = service_of().begin(dataset, spec, annotator, on_progress=on_progress, cancelled=over.is_set)
        except EmotuiError as problem:
            # The place says it, and goes on saying it: the frame need not.
            error = str(problem)
        finally:
            owner.post_message(Begun(found, "" if found else error))

    frame.begin(f"round with {spec}", work, over.set)


def ask_for_another(
    owner: Widget, at_work: "Round", progress: "Progress | None", spec: str, go_on: Callable[[], None]
) -> None:
    """Say that another classifier begins a new round; where that is not wanted, the round's own is live again."""
    from emotui.screens.rephrase_sheets import NewRoundSheet

    frame: Any = owner.screen

    def decided(begin_it: bool | None) -> None:
        if begin_it:
            go_on()
        else:
            frame.use_model(at_work.model)

    owner.app.push_screen(NewRoundSheet(at_work, progress, spec), decided)
