"""Rephrase: a text is rewritten against a live classifier until it no longer sees the emotion."""

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.widgets import TextArea

from emotui.screens.keymaps import keyed
from emotui.screens.place import EMPTY_LIST, OTHERS, WHILE_TYPING, Place
from emotui.screens.rephrase import attempts
from emotui.screens.rephrase import lines as rephrase_lines
from emotui.screens.rephrase import requests as asking
from emotui.screens.rephrase.attempts import Attempts, Begun, Suggesting
from emotui.screens.rephrase.entry import ENTRY
from emotui.screens.rephrase.live import Following
from emotui.screens.rephrase.requests import ChainState, Situation, Text, is_open
from emotui.screens.rephrase.review import Review
from emotui.screens.rephrase.statistics import Figures
from emotui.screens.rephrase.writing import Writing
from emotui.screens.requests import LatestRequest, any_busy
from emotui.screens.session import Session
from emotui.screens.widgets.editor import LONGEST, DirectionLine, Editor, typeable
from emotui.screens.widgets.notice import Notice
from emotui.screens.widgets.number_format import count
from emotui.store.query import Dataset, Run

if TYPE_CHECKING:
    from emotui.workbench.rephrase.service import Rephrasing
    from emotui.workbench.rephrase.views import ChainView, Round
    from emotui.workbench.source import BrowseSource

PROBLEMS = 3
"""Lines that are shown of why a round cannot begin: there may be one for each text."""

SAID = "outcome"
"""What stands over what the list says beside each text."""

_ABOUT = "Rewrite a text until the classifier no longer sees its emotion"


class Rephrase(Place):
    """Holds the round and the text at work.

    What it shows stands in `Writing`, `Figures` and `Review`.
    """

    entry = ENTRY
    headings = {
        "rephrase-original": "#rephrase-title",
        "rephrase-editor": "#rephrase-attempt",
        "rephrase-below": "#rephrase-views",
    }
    DEFAULT_CSS = "Rephrase Writing, Rephrase Figures, Rephrase Review { display: none; }"

    def __init__(self, session: Session, *, id: str | None = None) -> None:
        super().__init__(session, id=id)
        self.mode = "writing"
        self.following: Following | None = None
        self._service: Callable[[], Rephrasing] | None = None
        self._spec = "embedded"
        self._sample: int | None = None
        self.refused = ""
        self.beginning = self._arrived = self._without = False
        self.open: frozenset[int] = frozenset()
        self._tags: Mapping[int, str] = {}
        self._reviewer = ""
        self._put_in = ""
        self._attempts: Attempts | None = None
        self._texts: LatestRequest[int, Text] | None = None
        self._standing: LatestRequest[asking.Standing, asking.Stood] | None = None
        self._exports: LatestRequest[tuple[Round, str], int] | None = None

    def compose(self) -> ComposeResult:
        """The panes, and what is said where they have nothing to show."""
        yield Writing(id="writing")
        yield Figures(id="figures")
        yield Review(id="review")
        yield Notice("Writing, Figures, Review", id="rephrase-notice")

    @property
    def writing(self) -> Writing:
        """The panes in which one writes."""
        return self.query_one(Writing)

    @property
    def editor(self) -> Editor:
        return self.query_one(Editor)

    @property
    def seen(self) -> ChainState:
        """What the panes are drawn from."""
        return self.writing.seen

    @property
    def round(self) -> "Round | None":
        """The round at work."""
        return self.seen.round

    @property
    def chain(self) -> "ChainView | None":
        """The text at work, with its attempts."""
        return self.seen.chain

    @property
    def busy(self) -> bool:
        follows = self.following is not None and self.following.busy
        writes = self._attempts is not None and self._attempts.busy
        views = self.query_one(Figures).busy or self.query_one(Review).busy
        return follows or writes or views or any_busy(self)

    @property
    def reads(self) -> bool:
        asked = self._texts, self._standing
        # A chain that is known stands behind a notice as long as the list was being read.
        shown = self.chain is not None and self.writing.display
        nothing = self.mode == "writing" and not shown and not self._is_waiting
        return nothing and any(one is not None and one.busy for one in asked)

    def bind_source(self, source: "BrowseSource") -> None:
        service_of = source.rephrasing
        if service_of is None:
            self.say(
                _ABOUT,
                keyed(
                    "Files are browsed without it: {quit} leaves; "
                    "emotui import rephrase FILE brings texts into a workspace"
                ),
            )
            self._without = True
            return
        self._service = service_of
        self.following = Following(self, self.writing, service_of)
        attempts = self._attempts = Attempts(self, self.writing, service_of, self._go_to)

        def stand(question: asking.Standing) -> asking.Stood:
            attempts.suggesting.recall()
            return asking.stand(service_of(), question)

        self._standing = LatestRequest("stand", self, stand, self._stood, self._unread)
        self._texts = LatestRequest(
            "rephrase-text", self, lambda number: asking.read_text(service_of(), number), self._text_read, self._unread
        )
        self._exports = LatestRequest(
            "rephrase-export", self, lambda question: asking.export(service_of(), *question), self._exported, older=True
        )

    @property
    def beside(self) -> "Place.Tagged":
        at_work, dataset = self.round, self.session.overview.dataset
        known = at_work is not None and dataset is not None and _alike(at_work.dataset, dataset)
        return self.Tagged(SAID, self._tags if known and self.mode != "review" else {})

    def use_model(self, spec: str) -> None:
        """Another model is live: it is the classifier from now on, unless a round is at work; then that is asked."""
        if self.round is None:
            self._spec, self.refused = spec, ""
            # The frame may be about to load it: that work comes first.
            self.call_later(self._go_on)
        elif spec != self.round.model and self.display:
            self._ask_for_a_new_round(self.round, spec)

    def _ask_for_a_new_round(self, at_work: "Round", spec: str) -> None:
        def go_on() -> None:
            self._spec, self.refused = spec, ""
            self.writing.seen = ChainState()
            self._go_on()

        attempts.ask_for_another(self, self.session, at_work, self.seen.progress, spec, go_on)

    def show_sample(self, sample: int | None, run: Run | None) -> None:
        """Put this text into the panes; what was typed into another one waits for when one comes back."""
        if sample != self._sample:
            if self._attempts is not None:
                self._attempts.keep_draft()
            self.seen.chain, self.seen.waiting, self.seen.submits = None, None, ""
        self._sample = sample
        if sample is None:
            self.show_nothing(f"No text is selected, as {keyed(EMPTY_LIST)}")
        else:
            self._go_on()

    def _go_on(self) -> None:
        """Ask for what is missing next: a round, or how the text stands."""
        dataset = self.session.overview.dataset
        if self._standing is None or self._sample is None or dataset is None or dataset.task != self.entry.samples_of:
            return
        live = self.session.live
        if self.round is not None and _alike(self.round.dataset, dataset):
            if live is not None and live != self.round.model and self.app.screen is self.screen:
                self._ask_for_a_new_round(self.round, live)
            self._standing.ask(asking.Standing(self.round, self._sample, arriving=not self._arrived))
        elif self.beginning:
            self._show_text()
        else:
            self._begin(dataset.dataset)

    def _begin(self, dataset: int) -> None:
        if self.refused:
            first, more = self.refused.splitlines()[:PROBLEMS], len(self.refused.splitlines()) - PROBLEMS
            rest = [f"and {count(more)} more"] if more > 0 else []
            again = keyed("{write} tries again   {name_model} chooses another model")
            self.say("No round has begun", *first, *rest, again, failed=True)
            return
        self._show_text()
        if self.session.job is not None:
            return  # the round begins after it; what is written meanwhile stays
        assert self._service is not None
        self.beginning = True
        attempts.begin(self, self.session, self._service, dataset, self._spec)

    @property
    def _is_waiting(self) -> bool:
        """Does the selected text stand in the editor although its round has not begun?"""
        waiting = self.seen.waiting
        return waiting is not None and waiting.number == self._sample

    def _show_text(self) -> None:
        """The selected text as it is, with the editor, until the round has begun."""
        if self._is_waiting:
            self._lay_out()
            self.writing.draw()
        elif self._texts is not None and self._sample is not None:
            self._texts.ask(self._sample)

    def _text_read(self, number: int, text: Text) -> None:
        """The text is there at once: it can be written while the classifier is loaded."""
        if number != self._sample or self.chain is not None or self.refused or self._is_waiting:
            return
        assert self._attempts is not None
        draft = self._attempts.drafts.before_a_round(number)
        self.seen.waiting = text
        self.editor.read_only = False
        self.editor.begin(text.text if draft is None else draft.text, max(LONGEST, 2 * len(text.text)))
        self._put_in = self.editor.text
        self._lay_out()
        self.writing.draw()
        self.refresh_bindings()

    def _written_early(self, chain: "ChainView") -> bool:
        """Was something written into this text before its round had begun?"""
        waiting = self.seen.waiting
        if waiting is None or waiting.number != chain.number:
            return False
        return self.editor.text != self._put_in

    def _keep_early(self) -> None:
        """What is written into a text before its round begins waits for when the text comes up again."""
        waiting = self.seen.waiting
        if waiting is None or self._attempts is None or self.editor.text == self._put_in:
            return
        if self.editor.text in ("", typeable(waiting.text)):
            self._attempts.drafts.drop_early(waiting.number)
        else:
            self._attempts.drafts.put_early(waiting.number, self.editor.text, waiting.gold)

    @on(Begun)
    def _begun(self, event: Begun) -> None:
        event.stop()
        self.beginning = False
        self.refused = event.error
        if event.round is not None:
            kept = self.seen
            self.writing.seen = ChainState(
                round=event.round, last=event.round.note, waiting=kept.waiting, submits=kept.submits
            )
            self._arrived = False
            if self._attempts is not None:
                self._attempts.drafts.begin(event.round)
        self._go_on()

    def _unread(self, _: object, why: str) -> None:
        self.say("This text cannot be read", why, keyed(OTHERS), failed=True)

    def _exported(self, asked: "tuple[Round, str]", chains: int) -> None:
        told = "pairs: emotui rephrasings consistency asks any model about both" if asked[0].counters else "chains"
        self.notify(f"{asked[1]} has {chains} {told}", markup=False)

    def _stood(self, _: asking.Standing, stood: asking.Stood) -> None:
        """How the selected text stands, and every other one in the list."""
        seen = self.seen
        if self._attempts is None or stood.round is not seen.round or stood.chain.number != self._sample:
            return
        early = self._written_early(stood.chain)
        fresh = seen.chain is None or seen.chain.number != stood.chain.number
        changed = seen.chain != stood.chain
        seen.progress, seen.before, self.open = stood.progress, stood.before, stood.open
        self._attempts.lexicon = stood.lexicon
        self._tags = stood.tags
        if self.display:
            # A reviewer is not to see how the rephrasings went.
            self.post_message(self.Tagged(SAID, stood.tags if self.mode != "review" else {}))
        if not self._arrived:
            self._arrived = True
            if stood.resume is not None and stood.resume != self._sample and not early:
                self.post_message(self.Sought(frozenset({stood.resume}), 0))
                return
        seen.chain = stood.chain
        seen.waiting = None
        if fresh or changed:
            self._attempts.take_up(stood.chain, keep=early or not fresh)
            if early and not self.editor.read_only:
                self._attempts.drafts.drop_early(stood.chain.number)
                self._attempts.list_drafts()  # what stands in the editor is no other draft
        if early and self.following is not None:
            self.following.typed()
        submits, seen.submits = seen.submits, ""
        if early and submits == self.editor.text and is_open(seen.chain):
            self._attempts.submit()
        self._lay_out()
        self.writing.draw()
        self.refresh_bindings()

    @on(TextArea.Changed)
    def _typed(self, event: TextArea.Changed) -> None:
        event.stop()
        self.query_one(DirectionLine).about(self.editor.text)
        if self._attempts is not None:
            self._attempts.typed()
            self._keep_early()
            if self._is_waiting and self.seen.submits not in ("", self.editor.text):
                self.seen.submits = ""
                self.writing.draw()
        if self.following is not None:
            self.following.typed()

    @on(Editor.TooLong)
    def _too_long(self, event: Editor.TooLong) -> None:
        event.stop()
        self.notify(rephrase_lines.too_long(event.characters, event.longest), severity="warning", markup=False)

    def _go_to(self, number: int | None) -> None:
        """A decision was kept: one writes next at the text of this number, or stays."""
        if number is None or number == self._sample:
            self._go_on()
        else:
            self.post_message(self.Sought(frozenset({number}), 0))

    def show_nothing(self, why: str, *, failed: bool = False) -> None:
        if not self._without:
            self.say(_ABOUT, why, failed=failed)

    def _lay_out(self) -> None:
        """Show the panes of the mode."""
        appears = not self.writing.display and self.mode == "writing"
        self.query_one("#rephrase-notice", Notice).display = False
        for panes in self.query_children("Writing, Figures, Review"):
            panes.display = panes.id == self.mode
        if appears and self.display and self.screen.focused is None:
            self.focus_first()

    @property
    def only(self) -> Collection[str] | None:
        return WHILE_TYPING if self.mode == "review" else None

    def _turn_to(self, mode: str) -> None:
        self.mode = mode
        # Who judges is to see neither gold nor how the rephrasings went: the list says both.
        self.alone = mode == "review"
        self.post_message(self.Secluded())
        # What has the keys is about to be hidden, and Textual would hand them to whatever comes next.
        self.screen.set_focus(None)
        self._lay_out()
        self.focus_first()
        if mode == "writing":
            self.writing.draw()
            self._go_on()
        self.refresh_bindings()

    def focus_first(self) -> None:
        """Put the keys into the first pane. Of the writing that is the original: letters are keys there."""
        if self.mode == "figures":
            self.query_one(Figures).focus_first()
        elif self.mode == "review":
            self.query_one(Review).focus_first()
        elif self.writing.display:
            self.query_one("#rephrase-original").focus()

    # Keys.

    def can(self, action: str) -> bool:
        return super().can(action) and self._situation().makes_sense(action)

    def _situation(self) -> Situation:
        review = self.query_one(Review) if self.mode == "review" else None
        return Situation(
            mode=self.mode,
            chain=self.chain if self.round is not None else None,
            waiting=self._is_waiting,
            refused=bool(self.refused),
            beginning=self.beginning,
            editing=self.editor.has_focus,
            written=bool(self.editor.text) and not self.editor.read_only,
            acting=self._attempts is not None and self._attempts.acting,
            others_written=bool(self.seen.drafts),
            others_open=bool(self.open),
            judging=review is not None and review.item is not None,
            judged=review is not None and review.can_undo,
            several=self.writing.several,
        )

    def lacking(self, action: str) -> str:
        """Why there are no statistics of a counter-test."""
        if action == "figures" and self.round is not None and self.round.counters:
            return keyed("a counter-test has pairs: {export} writes them, emotui rephrasings consistency counts")
        return super().lacking(action)

    def tell(self, what: str, value: object) -> None:
        if what in ("view", "part"):
            self._viewed.show_view(str(value))

    def do_write(self) -> None:
        """Go into the editor; where no round could begin, try again."""
        if self.refused:
            self.refused = ""
            self._go_on()
        else:
            self.editor.focus()
            self.refresh_bindings()

    def do_leave(self) -> None:
        """Out of the editor, where letters are keys; from the figures and the review back to writing."""
        if self.mode == "review" and self.query_one(Review).take_back():
            return
        if self.mode != "writing":
            self._turn_to("writing")
        else:
            self.focus_first()
            self.refresh_bindings()

    def do_submit(self) -> None:
        if self._attempts is None:
            return
        if self._is_waiting:
            self._attempts.submit_later(self._put_in)
        else:
            self._attempts.submit()

    def do_skip(self) -> None:
        if self._attempts is not None:
            self._attempts.skip()

    def do_undo(self) -> None:
        """In the review it is the last judgement that is taken back."""
        if self.mode == "review":
            self.query_one(Review).undo()
        elif self._attempts is not None:
            self._attempts.undo()

    def do_redo(self) -> None:
        if self._attempts is not None:
            self._attempts.redo()

    def do_clear_text(self) -> None:
        self.editor.put("")

    def do_other_draft(self) -> None:
        if self._attempts is not None:
            self._attempts.other_draft()

    def do_suggest(self) -> None:
        if self._attempts is not None:
            self._attempts.suggest()

    @on(Suggesting.Suggested)
    def _suggested(self, event: Suggesting.Suggested) -> None:
        event.stop()
        if self._attempts is not None:
            self._attempts.offer(event)

    @property
    def _viewed(self) -> Writing | Figures:
        return self.query_one(Figures) if self.mode == "figures" else self.writing

    def do_view(self) -> None:
        self._viewed.step_view(1)

    def do_words(self) -> None:
        self.writing.step_all()

    def do_part(self) -> None:
        self.writing.step_part(1)

    def do_part_back(self) -> None:
        self.writing.step_part(-1)

    def do_view_back(self) -> None:
        self._viewed.step_view(-1)

    def do_annotators(self) -> None:
        self.query_one(Figures).next_whose()

    def do_next_open(self) -> None:
        self._step(1)

    def do_previous_open(self) -> None:
        self._step(-1)

    def _step(self, by: int) -> None:
        if self.mode == "review":
            self.query_one(Review).step(by)
        else:
            self.post_message(self.Sought(self.open, by))

    def do_figures(self) -> None:
        if self.mode == "figures":
            self._turn_to("writing")
        elif self.round is not None and self._service is not None:
            self._turn_to("figures")
            self.query_one(Figures).open_for(self._service, self.round)

    def do_review(self) -> None:
        """Judge what others wrote; first, who judges?"""
        from emotui.screens.dialogs.choices import NameDialog

        def named(reviewer: str) -> None:
            if self.round is not None and self._service is not None:
                self._reviewer = reviewer
                self._turn_to("review")
                self.post_message(self.Tagged(SAID, {}))
                self.query_one(Review).open_for(self._service, self.round, reviewer)

        about = (
            "Who judges? Everyone judges what others wrote.",
            "What the classifier said is not shown, nor who wrote it.",
        )
        NameDialog("Review", about, self._reviewer or self.session.annotator).ask(self.app, named)

    def do_judge(self) -> None:
        self.query_one(Review).judge()

    def do_export(self) -> None:
        from emotui.screens.dialogs.file import ExportDialog

        def named(path: str) -> None:
            if self._exports is not None and self.round is not None:
                self._exports.ask((self.round, path))

        pairs = self.round is not None and self.round.counters
        what, default = ("the pairs", "pairs.jsonl") if pairs else ("all chains", "rephrasings.jsonl")
        ExportDialog(0, None, what=what, default=default).ask(self.app, named)

    def do_copy(self) -> None:
        if self.chain is not None:
            self.app.copy_to_clipboard(rephrase_lines.as_text(self.chain))
            self.notify(f"{self.chain.id} copied", markup=False)


def _alike(one: Dataset, other: Dataset) -> bool:
    """Is it the same dataset, with the same gold?"""
    return (one.dataset, one.gold) == (other.dataset, other.gold)
