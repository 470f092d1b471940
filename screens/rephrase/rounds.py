"""Beginning a round: every original is classified first, in the frame's long work, where it can be stopped."""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.message import Message
from textual.widget import Widget

from emotui.errors import EmotuiError
from emotui.screens.session import Session

if TYPE_CHECKING:
    from emotui.workbench.progress import OnProgress
    from emotui.workbench.rephrase.service import Rephrasing
    from emotui.workbench.rephrase.views import Progress, Round

_STOPPED = "Stopped before every text was classified; what was done is kept."


class Begun(Message):
    """A round has begun; or could not: then the error in words."""

    def __init__(self, round: "Round | None", error: str) -> None:
        super().__init__()
        self.round, self.error = round, error


def begin(owner: Widget, session: Session, service_of: "Callable[[], Rephrasing]", dataset: int, spec: str) -> None:
    """Begin a round, or take it up again; `owner` gets `Begun` in the end, whatever the end is."""
    over = threading.Event()

    def work(on_progress: "OnProgress") -> None:
        found, error = None, _STOPPED
        try:
            service = service_of()
            found = service.begin(dataset, spec, session.annotator, on_progress=on_progress, cancelled=over.is_set)
        except EmotuiError as problem:
            # The place says it, and goes on saying it: the frame need not.
            error = str(problem)
        finally:
            owner.post_message(Begun(found, "" if found else error))

    session.begin(f"round with {spec}", work, over.set)


def ask_for_another(
    owner: Widget,
    session: Session,
    at_work: "Round",
    progress: "Progress | None",
    spec: str,
    go_on: Callable[[], None],
) -> None:
    """Say that another classifier begins a new round; where that is not wanted, the round's own is live again."""
    from emotui.screens.rephrase.dialogs import NewRoundDialog

    def decided(begin_it: bool | None) -> None:
        if begin_it:
            go_on()
        else:
            session.use_model(at_work.model)

    owner.app.push_screen(NewRoundDialog(at_work, progress, spec), decided)
