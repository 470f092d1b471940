"""Suggestions on request: a model that writes is asked for three rephrasings, and one may go into the editor."""

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Label

from emotui.errors import EmotuiError
from emotui.screens.dialogs.dialog import Dialog, OptionDialog
from emotui.screens.dialogs.textual_private_options import PickList
from emotui.screens.session import Session
from emotui.screens.widgets.cell_width import shown
from emotui.screens.widgets.number_format import count, share

if TYPE_CHECKING:
    from emotui.workbench.progress import OnProgress
    from emotui.workbench.rephrase.service import Rephrasing
    from emotui.workbench.rephrase.views import ChainView, Progress, Round, Suggestion

# Beginning a round: every original is classified first, in the frame's long work, where it can be stopped.

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

    def decided(begin_it: bool | None) -> None:
        if begin_it:
            go_on()
        else:
            session.use_model(at_work.model)

    owner.app.push_screen(NewRoundDialog(at_work, progress, spec), decided)


# What Rephrase asks for: a new round, the name of a model or a person, and which suggestion to take.


class NewRoundDialog(Dialog[bool]):
    """A classifier is frozen for a round: another one begins a new round."""

    DEFAULT_CSS = "NewRoundDialog Label { color: $foreground; }"

    def __init__(self, at_work: "Round", progress: "Progress | None", spec: str) -> None:
        super().__init__("A new round", ("Enter", "begin the new round"))
        self._at_work, self._progress, self._spec = at_work, progress, spec

    def body(self) -> list[Widget]:
        made = f": {count(self._progress.done)} of {count(self._progress.offered)} done" if self._progress else ""
        there = f"Round {self._at_work.number} is against {self._at_work.model}{made}."
        new = (
            f"A round keeps one classifier, so {self._spec} begins a round of its own: it classifies every text, and "
            f"those it gets right are offered. What was rephrased so far is kept, and comes back with "
            f"{self._at_work.model}."
        )
        return [Label(shown(text), markup=False) for text in (there, new)]

    def result(self) -> bool:
        return True


class SuggestionDialog(OptionDialog[int]):
    """Rephrasings that a model wrote, each with the classifier's verdict; the one picked goes into the editor."""

    DEFAULT_CSS = """
    SuggestionDialog > #sheet { width: 92; }
    SuggestionDialog OptionList { max-height: 20; }
    """

    def __init__(self, writer: str, label: str, found: "Sequence[Suggestion]") -> None:
        super().__init__(f"Suggested by {shown(writer)}", ("j k", "move"), ("Enter", "into the editor"))
        self._label, self._found = label, found

    def body(self) -> list[Widget]:
        options = []
        for one in self._found:
            wrong = one.predicted != self._label
            verdict = f"{'✓ ' if wrong else '  '}{one.predicted}   {self._label} {share(one.confidence).strip()}"
            near = f"   similarity {share(one.similarity).strip()}"
            cues = f"   cues left: {', '.join(one.cues)}" if one.cues else "   no cue words"
            options.append(Content.assemble(shown(one.text), (f"\n  {verdict}{near}{shown(cues)}\n", "$text-muted")))
        return [PickList(*options)]

    def on_mount(self) -> None:
        super().on_mount()
        self.options.highlighted = 0

    def result(self) -> int:
        return self.at


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
        from emotui.screens.dialogs.choices import NameDialog

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
        dialog = SuggestionDialog(suggested.writer, label, suggested.found)
        dialog.ask(self._owner.app, lambda place: take(suggested.found[place].text))
