"""The attempt in the editor: taken up, typed, suggested by a model, submitted, skipped, undone and redone."""

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Label

from emotui.errors import EmotuiError
from emotui.records import Span
from emotui.screens.dialogs.dialog import Dialog, OptionDialog
from emotui.screens.dialogs.textual_private_options import PickList
from emotui.screens.keymaps import keyed
from emotui.screens.place import Place
from emotui.screens.rephrase import requests as asking
from emotui.screens.rephrase.live import AttemptDrafts, begun_with
from emotui.screens.rephrase.requests import is_open, still_there
from emotui.screens.rephrase.writing import Writing
from emotui.screens.requests import LatestRequest
from emotui.screens.session import Session
from emotui.screens.widgets.cell_width import shown
from emotui.screens.widgets.editor import LONGEST, typeable
from emotui.screens.widgets.number_format import RIGHT, count, share
from emotui.screens.widgets.page import Ended

if TYPE_CHECKING:
    from emotui.workbench.drafts import Draft, Field
    from emotui.workbench.progress import OnProgress
    from emotui.workbench.rephrase.service import Rephrasing
    from emotui.workbench.rephrase.views import CarryingWords, ChainView, Progress, Round, Suggestion

# Suggestions on request: a model that writes is asked for three rephrasings, and one may go into the editor.

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

    wide = True
    DEFAULT_CSS = """
    SuggestionDialog OptionList { max-height: 20; }
    """

    def __init__(self, writer: str, label: str, found: "Sequence[Suggestion]") -> None:
        super().__init__(f"Suggested by {shown(writer)}", ("j k", "move"), ("Enter", "into the editor"))
        self._label, self._found = label, found

    def body(self) -> list[Widget]:
        options = []
        for one in self._found:
            wrong = one.predicted != self._label
            verdict = f"{f'{RIGHT} ' if wrong else '  '}{one.predicted}   {self._label} {share(one.confidence).strip()}"
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


# How much each word of what is typed carries the gold label, as shades of the editor.

SHADES = 3
LEAST = 0.05
"""The share of what the strongest word carries below which a word is not shaded."""
STALE = "editor--carried"
"""Words that carried before something was typed; in grey until it is known whether they still do."""


def carried(words: "CarryingWords | None", text: str) -> dict[str, list[Span]]:
    """The words that make gold likelier, by shade: `editor--carries-1` to `-3`, each a third of the greatest."""
    found: dict[str, list[Span]] = {}
    if words is None:
        return found
    if words.text != text:
        stale = [(start, end) for start, end, drop in still_there(words, text).gold if drop > 0]
        return {STALE: stale} if stale else {}
    most = max((drop for _, _, drop in words.gold), default=0.0)
    for start, end, drop in words.gold:
        if drop > most * LEAST:
            shade = min(int(drop / most * SHADES) + 1, SHADES)
            found.setdefault(f"editor--carries-{shade}", []).append((start, end))
    return found


class Attempts:
    """Works on the text that `writing` shows.

    Args:
        owner: the place in whose message pump answers arrive.
        writing: the panes, with the state they are drawn from.
        service_of: makes the service, in a thread.
        go_to: called after a decision with the number of the text where one writes next, or None.
    """

    def __init__(
        self,
        owner: Place,
        writing: Writing,
        service_of: "Callable[[], Rephrasing]",
        go_to: Callable[[int | None], None],
    ) -> None:
        self._owner, self._writing, self._go_to = owner, writing, go_to
        self._before_suggestion: str | None = None
        self._draft = ""
        self._submitted: tuple[int, str] | None = None
        self.lexicon: object = None
        self.drafts = AttemptDrafts(owner.session)
        self.suggesting = Suggesting(owner, owner.session, service_of)
        self._acting: LatestRequest[asking.Act, asking.Done] = LatestRequest(
            "act", owner, lambda act: asking.act(service_of(), act), self._acted, self._not_acted, older=True
        )

    @property
    def busy(self) -> bool:
        """Is an answer on its way?"""
        return self.acting

    @property
    def acting(self) -> bool:
        """Is a decision being kept?"""
        return self._acting.busy

    def take_up(self, chain: "ChainView", *, keep: bool) -> None:
        """Put a text into the editor: what was being written, else the last attempt, else the original."""
        editor, seen = self._writing.editor, self._writing.seen
        editor.read_only = not is_open(chain)
        if not keep:
            seen.live = seen.words = seen.now = None
            seen.history = ()
            seen.warnings, seen.difference, seen.hint, seen.nearness = (), (), "", (None, False)
            left = self.drafts.take_up(chain) if not editor.read_only else None
            text, seen.suggested = begun_with(chain) if left is None else (left[1].text, left[1].suggested)
            self._tell_of(left)
            self._before_suggestion = None
            editor.begin(text, max(LONGEST, 2 * len(chain.original)))
        else:
            self.keep_draft()
        self.list_drafts()
        editor.mark_with(self._mark)

    def list_drafts(self) -> None:
        """What else was written for the text at work and never submitted is listed with its attempts."""
        seen = self._writing.seen
        if seen.chain is not None:
            chain = seen.chain
            others = self.drafts.others(chain, closed=not is_open(chain)).items()
            seen.drafts = tuple((self.drafts.told(chain, field, one), one.text) for field, one in others)

    def _tell_of(self, left: "tuple[Field, Draft] | None") -> None:
        """Say beside the editor that this draft has come back, as long as it stands there unchanged."""
        seen = self._writing.seen
        self._draft = "" if left is None else typeable(left[1].text)
        seen.draft = "" if left is None or seen.chain is None else self.drafts.told(seen.chain, *left)

    def other_draft(self) -> None:
        """Put another draft of this text into the editor, and what stands there among the others."""
        seen, editor = self._writing.seen, self._writing.editor
        if seen.chain is None or not seen.drafts:
            return
        field, draft = self.drafts.exchange(seen.chain, editor.text, suggested=seen.suggested)
        seen.suggested, self._before_suggestion = draft.suggested, None
        self._tell_of((field, draft))
        editor.put(draft.text)
        self.keep_draft()
        self.list_drafts()
        editor.focus()
        self._writing.draw_attempt()
        self._writing.draw_below()

    def keep_draft(self) -> None:
        """What was typed and not submitted waits for when the text comes up again."""
        seen, editor = self._writing.seen, self._writing.editor
        chain, text = seen.chain, editor.text
        if chain is None or editor.read_only:
            return
        if (text, seen.suggested) == begun_with(chain) or self._submitted == (chain.number, text):
            self.drafts.drop(chain.number)
        else:
            self.drafts.put(chain, text, suggested=seen.suggested)

    def _mark(self, text: str) -> dict[str, list[Span]]:
        """The cue words of what is typed: looked up while the key is being painted."""
        seen = self._writing.seen
        chain, seen.now = seen.chain, None
        if chain is not None and len(text) <= asking.MARKED:
            seen.now = asking.lexical_of(text, chain.label, self.lexicon)
        cues = seen.now.cues if seen.now is not None else ()
        return {"editor--cue": [(cue.start, cue.end) for cue in cues], **carried(seen.words, text)}

    def typed(self) -> None:
        """The text in the editor has changed."""
        seen = self._writing.seen
        seen.hint = ""
        if self._writing.editor.text != self._draft:
            seen.draft = ""
        if self._writing.editor.text == self._before_suggestion:
            seen.suggested, self._before_suggestion = False, None
        self.keep_draft()

    def submit(self) -> None:
        """Submit what is written as the next attempt; what is as it was only when asked twice."""
        seen, written = self._writing.seen, self._writing.editor.text.strip()
        chain = seen.chain
        before = [one.text for one in chain.attempts] if chain is not None else []
        if chain is not None and not seen.hint and written in (chain.original.strip(), *before):
            seen.hint = keyed("nothing has changed: {submit} again submits it all the same")
            self._writing.draw_attempt()
        else:
            self._act("submit")

    def submit_later(self, before: str) -> None:
        """Submit what is written once its round has begun, where it is not as it was `before`."""
        text = self._writing.editor.text
        if text == before or not text.strip():
            self._owner.post_message(Ended("nothing has changed yet: what is written is submitted"))
        else:
            self._writing.seen.submits = text
            self._writing.draw()

    def skip(self) -> None:
        """Leave this text."""
        self._act("skip")

    def undo(self) -> None:
        """Take back what was typed; where nothing was, the last attempt or skip."""
        editor = self._writing.editor
        if editor.can_undo and not editor.read_only:
            editor.undo()
        else:
            self._act("undo")

    def redo(self) -> None:
        """Put back what was typed; where nothing was, the attempt or skip that was taken back."""
        editor = self._writing.editor
        if editor.can_redo and not editor.read_only:
            editor.redo()
        else:
            self._act("redo")

    def _act(self, kind: str) -> None:
        seen = self._writing.seen
        if seen.round is not None and seen.chain is not None and not self.acting:
            self._acting.ask(asking.Act(kind, seen.round, seen.chain, self._writing.editor.text, seen.suggested))
            self._owner.refresh_bindings()

    def _acted(self, act: asking.Act, done: asking.Done) -> None:
        """An entry was made or taken back: say what came of it, and go to where one writes next."""
        seen = self._writing.seen
        if act.round is not seen.round:
            return
        seen.last = done.said
        self._submitted = (act.chain.number, act.text) if act.kind == "submit" else None
        if act.kind == "submit":
            self.drafts.submitted(act.chain.number, act.text)
        if act.kind in ("submit", "skip"):
            self._writing.editor.history.clear()
        if done.reopened is not None:
            chain, text, suggested = done.reopened
            self.drafts.put(chain, text, suggested=suggested)
            seen.chain = None
        if done.go != act.chain.number and act.kind in ("submit", "skip"):
            # Another text takes its place: what came of this one is told where that one is looked at.
            back = "^Z" if self._writing.editor.has_focus else keyed("{undo}")
            self._owner.post_message(Ended(f"{done.said}; {back} goes back"))
        self._go_to(done.go)

    def _not_acted(self, _: asking.Act, why: str) -> None:
        self._owner.notify(why, severity="error", markup=False)
        self._owner.refresh_bindings()

    def suggest(self) -> None:
        """Ask a model that writes."""
        seen = self._writing.seen
        if seen.round is not None and seen.chain is not None:
            self.suggesting.ask(seen.round, seen.chain)

    def offer(self, suggested: Suggesting.Suggested) -> None:
        """Let one of the suggestions be picked, where they are for the text at work."""
        chain = self._writing.seen.chain
        if chain is not None and suggested.number == chain.number:
            self.suggesting.offer(suggested, chain.label, self._take_suggestion)

    def _take_suggestion(self, text: str) -> None:
        """What a model wrote stands in the editor, and is marked as that however much of it is changed."""
        editor = self._writing.editor
        before = editor.text
        editor.put(text)
        self._writing.seen.suggested, self._before_suggestion = True, before
        self.keep_draft()
        editor.focus()
        self._writing.draw_attempt()
