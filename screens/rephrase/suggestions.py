"""Suggestions on request: a model that writes is asked for three rephrasings, and one may go into the editor."""

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual.message import Message
from textual.widget import Widget

from emotui.errors import EmotuiError
from emotui.screens.session import Session

if TYPE_CHECKING:
    from emotui.workbench.progress import OnProgress
    from emotui.workbench.rephrase.service import Rephrasing
    from emotui.workbench.rephrase.views import ChainView, Round, Suggestion

WRITER = "rephrase writer"
"""The setting that remembers which model writes."""

_ABOUT = (
    "Which model writes? hf:NAME_OR_DIR, gguf:FILE or openai:MODEL@URL",
    "It is told to avoid the cue words; what it wrote is marked as suggested for ever.",
)


class Suggesting:
    """Asks in the frame's long work, where it can be stopped."""

    class Suggested(Message):
        """What a model wrote for the text of this number."""

        def __init__(self, number: int, writer: str, found: "Sequence[Suggestion]") -> None:
            super().__init__()
            self.number, self.writer, self.found = number, writer, found

    def __init__(self, owner: Widget, session: Session, service_of: "Callable[[], Rephrasing]") -> None:
        self._owner, self._session, self._service_of = owner, session, service_of
        self._known = False
        self.writer = ""
        self.refused = ""

    def ask(self, round_: "Round", chain: "ChainView") -> None:
        """Ask the model that writes; where none is named yet, or the last one could not, ask for its name first."""
        if self._session.job is not None:
            self._owner.notify("Other work is going on: suggestions can be asked for after it", severity="warning")
        elif self.writer and not self.refused:
            self._begin(round_, chain)
        else:
            self.name_writer(lambda: self._begin(round_, chain))

    def name_writer(self, then: Callable[[], None]) -> None:
        """Which model writes?"""
        from emotui.screens.dialogs.name import NameDialog

        def named(spec: str) -> None:
            self.writer, self.refused = spec, ""
            then()

        NameDialog("Suggestions", _ABOUT, self.writer, why=self.refused).ask(self._owner.app, named)

    def recall(self) -> None:
        """Which model wrote last. This asks the source: not for the screen's own thread."""
        if not self._known:
            self._known, kept = True, self._session.bound.setting(WRITER)
            if isinstance(kept, str) and not self.writer:
                self.writer = kept

    def _begin(self, round_: "Round", chain: "ChainView") -> None:
        over = threading.Event()
        writer, owner = self.writer, self._owner

        def work(on_progress: "OnProgress") -> None:
            try:
                found = self._service_of().suggest(
                    round_, chain.number, writer, on_progress=on_progress, cancelled=over.is_set
                )
            except EmotuiError as problem:
                self.refused = str(problem)
                raise
            self._session.bound.set_setting(WRITER, writer)
            owner.post_message(self.Suggested(chain.number, writer, found))

        self._session.begin(f"suggestions by {writer}", work, over.set)

    def offer(self, suggested: Suggested, label: str, take: Callable[[str], None]) -> None:
        """Let one of them be picked."""
        from emotui.screens.rephrase.dialogs import SuggestionDialog

        dialog = SuggestionDialog(suggested.writer, label, suggested.found)
        dialog.ask(self._owner.app, lambda place: take(suggested.found[place].text))
