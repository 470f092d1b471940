"""Beginning a round: every original is classified first, in the frame's long work, where Esc stops it."""

import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from textual.message import Message
from textual.widget import Widget

from emotui.errors import EmotuiError

if TYPE_CHECKING:
    from emotui.workbench.rephrase.drafts import Draft
    from emotui.workbench.rephrase.service import Rephrasing
    from emotui.workbench.rephrase.views import Progress, Round

_STOPPED = "Stopped before every text was classified; what was done is kept."


class Begun(Message):
    """A round has begun, with what was being written in it when it was left; or could not: then the error in words."""

    def __init__(self, round: "Round | None", error: str, drafts: "Mapping[int, Draft]") -> None:
        super().__init__()
        self.round, self.error, self.drafts = round, error, drafts


def begin(owner: Widget, service_of: "Callable[[], Rephrasing]", dataset: int, spec: str, annotator: str) -> None:
    """Begin a round, or take it up again; `owner` gets `Begun` in the end, whatever the end is."""
    frame: Any = owner.screen
    over = threading.Event()

    def work(on_progress: Any) -> None:
        found, error = None, _STOPPED
        drafts: Mapping[int, Draft] = {}
        try:
            service = service_of()
            begun = service.begin(dataset, spec, annotator, on_progress=on_progress, cancelled=over.is_set)
            drafts, found = service.drafts(begun), begun
        except EmotuiError as problem:
            # The place says it, and goes on saying it: the frame need not.
            error = str(problem)
        finally:
            owner.post_message(Begun(found, "" if found else error, drafts))

    frame.begin(f"round with {spec}", work, over.set)


def ask_for_another(
    owner: Widget, at_work: "Round", progress: "Progress | None", spec: str, go_on: Callable[[], None]
) -> None:
    """Say that another classifier begins a new round; where that is not wanted, the round's own is live again."""
    from emotui.screens.rephrase.dialogs import NewRoundDialog

    frame: Any = owner.screen

    def decided(begin_it: bool | None) -> None:
        if begin_it:
            go_on()
        else:
            frame.use_model(at_work.model)

    owner.app.push_screen(NewRoundDialog(at_work, progress, spec), decided)
