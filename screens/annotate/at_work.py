"""The text that is annotated, on the screen and on its way into the log."""

import gc
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.widget import Widget
from textual.widgets import Input

from emotui.screens.annotate import drawing
from emotui.screens.annotate import requests as asking
from emotui.screens.annotate.entry import ENTRY
from emotui.screens.annotate.labelling import Work, next_number
from emotui.screens.annotate.marking import Marking
from emotui.screens.annotate.passage import Passage, label_rules
from emotui.screens.annotate.writing import ACCEPT, DO, SUGGEST, Kept, Wish, Writing
from emotui.screens.jobs import WAIT
from emotui.screens.keymaps import keyed
from emotui.screens.place import EMPTY_LIST, NO_WORKSPACE, OTHERS, Place
from emotui.screens.requests import LatestRequest, any_busy
from emotui.screens.session import Session
from emotui.screens.widgets.line import Line
from emotui.screens.widgets.notice import Notice
from emotui.screens.widgets.page import Ended, Page
from emotui.store.query import Run
from emotui.workbench.annotate.events import Accept, Event, SetLabels, SetNumber, SetSentence, SetWord, SuggestionTaken
from emotui.workbench.annotate.fits import is_whole
from emotui.workbench.annotate.fitted import LEAST, Fitted

if TYPE_CHECKING:
    from emotui.screens.dialogs.choices import ChoiceDialog
    from emotui.workbench.annotate.adjudicating import Adjudicating
    from emotui.workbench.annotate.planning.order import Order
    from emotui.workbench.annotate.service import Annotating
    from emotui.workbench.drafts import Field
    from emotui.workbench.progress import OnProgress
    from emotui.workbench.source import BrowseSource

NOTE = "note of an answer"
"""The field of the note about a text, as drafts name it."""

_WIDE = 104
"""Cells from which on the guidelines have room beside the text."""

_PANE = 40
"""Cells that they take."""

_HIGH = 30
"""Lines from which on they have room under the text, where there is none beside it."""

_UNDER = 12
"""Lines that they take there."""

_LEAST_BELOW, _LEAST_UNDER_LETTERS = 6, 2
"""Lines of labels that stay in sight under the longest text, and while letters take the room that there is."""

_AROUND = 3
"""Lines of the title, of the space over the text, and of what keys would act on."""

_SAYS = SetLabels | SetNumber | SetSentence | SetWord | SuggestionTaken
"""What may end an answer that is given by saying all that is asked."""

_BOLD = "text-style: bold;"
_ABOUT = "Mark what the text shows; gold, models and others stay hidden until you have answered"


class AtWork(Place):
    """Holds the text at work, shows it, and keeps what is done to it through `Writing`."""

    entry = ENTRY
    headings = {"passage": "#annotate-title"}
    marks_errors = False
    blind = True
    DEFAULT_CSS = """
    AtWork > #annotate-labels { min-height: 1; }
    """ + "".join(
        label_rules(f"AtWork > {shown}", "part--label-") + label_rules(f"AtWork > {shown}", "part--held-", _BOLD)
        for shown in ("Page", "Line")
    )

    def __init__(self, session: Session, *, id: str | None = None) -> None:
        super().__init__(session, id=id)
        self.work: Work | None = None
        self.bench: Annotating | None = None
        self._sample: int | None = None
        self._early: list[tuple[str, str | None]] = []
        self._goes_on = False
        self.suggesting = False
        self.without_guidelines = False
        self.last_label: str | None = None
        self._without = False
        self._situation: object = None
        self._tags: Mapping[int, str] = {}
        self._begun: set[tuple[int, str]] = set()  # datasets and annotators whose work was opened
        self._tierer = drawing.Tierer()
        self._rows = self._columns = 0
        self._writing: Writing | None = None
        self.adjudicating: Adjudicating | None = None
        self._standing: LatestRequest[tuple[asking.Standing, Adjudicating | None], asking.Stood] | None = None
        self._adjudications: LatestRequest[tuple[int, tuple[str, ...], str], Adjudicating] | None = None
        self._publishing: LatestRequest[Annotating, int] = LatestRequest(
            "publish", self, lambda bench: bench.publish(), lambda *_: None
        )
        self._consents: LatestRequest[Annotating, None] = LatestRequest(
            "consent", self, lambda bench: bench.agree(), lambda *_: self.show_sample(self._sample, None)
        )

    def compose(self) -> ComposeResult:
        """The text, a line about what keys would act on, and the labels."""
        yield Line(id="annotate-title", classes="-pane")
        yield Passage(self.press, id="passage")
        yield Line(id="annotate-about", classes="-pane")
        yield Page(id="annotate-labels")
        yield Notice("#annotate-title, #passage, #annotate-about, #annotate-labels", id="annotate-notice")

    @property
    def passage(self) -> Passage:
        return self.query_one(Passage)

    @property
    def at_work(self) -> Work:
        """The text at work, where there is one."""
        assert self.work is not None
        return self.work

    @property
    def bench_of(self) -> "Annotating":
        """The annotator's work on the dataset, where a text of it was shown."""
        assert self.bench is not None
        return self.bench

    @property
    def busy(self) -> bool:
        writes = self._writing is not None and self._writing.busy
        return writes or any_busy(self)

    def bind_source(self, source: "BrowseSource") -> None:
        desk_of = source.annotating
        if desk_of is None:
            self.say("Nothing can be annotated here", keyed(NO_WORKSPACE))
            self._without = True
            return
        benches = asking.Benches(desk_of)
        self._standing = LatestRequest(
            "annotate", self, lambda asked: asking.stand(benches, *asked), self._stood, self._unread
        )
        self._adjudications = LatestRequest(
            "adjudicate", self, lambda asked: benches.adjudicate(*asked), lambda _, begun: self._adjudicate(begun)
        )

    # What is shown.

    def show_sample(self, sample: int | None, run: Run | None) -> None:
        """Ask for this text; keys that are pressed meanwhile wait for it."""
        if sample != self._sample:
            if not self._goes_on:
                self._early.clear()
            self._goes_on = self.suggesting = False
        self._sample = sample
        dataset = self.session.overview.dataset
        if sample is None:
            self._drop()
            self._release()
            empty = self.session.is_empty
            self.show_nothing(self.session.filled_by if empty else f"No text is selected: {keyed(EMPTY_LIST)}")
        elif self._standing is not None and dataset is not None:
            asked = asking.Standing(dataset.dataset, sample, self.session.annotator)
            self._standing.ask((asked, self.adjudicating))

    def begin_adjudicating(self, sources: tuple[str, ...], name: str) -> None:
        """Settle what these sources disagree about; the result has this name."""
        dataset = self.session.overview.dataset
        if self._adjudications is not None and dataset is not None:
            self._adjudications.ask((dataset.dataset, sources, name))

    def _adjudicate(self, adjudicating: "Adjudicating | None") -> None:
        self.adjudicating = adjudicating
        self.show_sample(self._sample, None)

    def stop_adjudicating(self) -> None:
        """Annotate again, under one's own name."""
        self._adjudicate(None)

    def show_nothing(self, why: str, *, failed: bool = False) -> None:
        if not self._without:
            self.say(_ABOUT, why, failed=failed)

    def _drop(self) -> None:
        self.work = self._situation = None

    def _unread(self, _: object, why: str) -> None:
        self._drop()
        self._release()
        self.say("This text cannot be annotated", *why.splitlines()[:4], keyed(OTHERS), failed=True)

    def _stood(self, question: "tuple[asking.Standing, Adjudicating | None]", stood: asking.Stood) -> None:
        asked, adjudicating = question
        if asked.sample != self._sample or adjudicating is not self.adjudicating:
            return
        if stood.consent:
            self._ask_consent(stood)
            return
        if self._writing is None or self.bench is not stood.bench:
            self.bench, self.work = stood.bench, None
            if stood.bench.moved_keys:
                told = "; ".join(stood.bench.moved_keys)
                self.notify(told, title="Keys of labels that are the place's by now", timeout=15, markup=False)
            self._writing = Writing(self, stood.bench, None if stood.standing is None else adjudicating, self._kept)
            # A full collection goes through all that is in memory, 50 ms in which no key is echoed. What is there by
            # now stays there: it is left out from now on.
            gc.freeze()
        work = self.work
        if work is None or work.text.number != asked.sample:
            shows = work is None or work.shows_others
            marking = Marking(stood.units)
            bench = stood.bench
            self.work = work = Work(
                bench.scheme,
                stood.text,
                stood.said,
                marking,
                stood.progress,
                bench.annotator,
                bench.assignment is not None,
                shows_others=shows,
            )
            self._rows = 0
            if stood.bench.scheme.auto_accept and not stood.said.accepted and stood.standing is None:
                first = next_number(work)
                work.number = "" if first is None or first != stood.bench.scheme.groups[0] else first.name
        work.others, work.progress, work.standing = stood.others, stood.progress, stood.standing
        work.role, work.strange = stood.role, stood.strange
        work.place = self.session.other_places.get(stood.bench.dataset.kept_as, "")
        work.take(work.said if self._writing.busy else stood.said)
        self.query_one(Notice).hide()
        if self.display:
            self._tags = stood.tags
            self.post_message(self.Tagged("done", stood.tags))
            self.post_message(self._arranged())
            self._take_keys()
        self.changed()
        self.suggest_again()
        self._open_next(asked, stood)
        self._press_early()

    def _open_next(self, asked: asking.Standing, stood: asking.Stood) -> None:
        """The work on a dataset begins at the next open text where the list stands at one that is done, and what was
        assigned at the first open one.
        """
        work = asked.dataset, asked.annotator
        if work in self._begun or stood.standing is not None:
            return
        self._begun.add(work)
        bench = stood.bench
        number = None
        if bench.has_share:
            number = bench.next_open()
        elif stood.said.accepted:
            number = bench.next_open(asked.sample)
        if number is not None and number != asked.sample:
            self.post_message(self.Sought(frozenset({number}), 0))

    def _press_early(self) -> None:
        """Do what was pressed while the text that it is about was on its way."""
        early, self._early = self._early, []
        for key, character in early:
            if not self.press(key, character):
                self.app.simulate_key(key)  # nothing of this text: it means elsewhere what it always means

    def _ask_consent(self, stood: asking.Stood) -> None:
        """Nothing is annotated before the words of the assignment are agreed to."""
        self._drop()
        self._release()
        self.say("Your consent comes first", keyed("{next} or {previous}, to any text, asks again"))
        if self.display and self.app.screen is self.screen:
            from emotui.screens.annotate.dialogs import ConsentDialog

            ConsentDialog(stood.consent).ask(self.app, lambda _: self._consents.ask(stood.bench))

    def _release(self) -> None:
        """Nothing is annotated: the list need not wait for an order to do it in."""
        if self.display:
            self.post_message(self.Released())

    @property
    def beside(self) -> "Place.Tagged":
        return self.Tagged("done", self._tags if self._bench_there is not None else {})

    @property
    def list_order(self) -> "Place.OfList | None":
        if self._without or self._standing is None:
            return self.Released()
        return None if self._bench_there is None else self._arranged()

    @property
    def _bench_there(self) -> "Annotating | None":
        """The annotator's work on the dataset in sight, where it was begun."""
        bench, dataset = self.bench, self.session.overview.dataset
        known = bench is not None and dataset is not None and bench.dataset.dataset == dataset.dataset
        return bench if known else None

    def _reorder(self) -> None:
        self.post_message(self._arranged())

    def _arranged(self) -> "Place.Arranged":
        """The list is in the order in which the texts come."""
        bench = self.bench_of
        whole = bench.chosen.kind == "fixed" and not bench.has_share
        seed = f", seed {bench.chosen.seed}" if bench.chosen.kind == "random" else ""
        share = "your share" if len(bench.order) < bench.dataset.n else "your order"
        why = share if bench.chosen.kind == "fixed" else f"{bench.chosen.kind}{seed}"
        return self.Arranged(None if whole else bench.order, "" if whole else why)

    def _take_keys(self) -> None:
        """Labels' keys act in the text: it has the keys wherever nothing is typed and no dialog is open."""
        in_sight = isinstance(self.parent, Widget) and self.parent.display
        if in_sight and self.app.screen is self.screen and not isinstance(self.screen.focused, Input):
            self.passage.focus()

    def focus_first(self) -> None:
        self.passage.focus()

    def on_show(self) -> None:
        """What the list says beside each text is asked for again."""
        if self._sample is not None:
            self.show_sample(self._sample, None)

    def on_unmount(self) -> None:
        gc.unfreeze()

    def on_resize(self) -> None:
        if self.work is not None:
            self.draw()

    @on(Passage.Reflowed)
    def _reflowed(self) -> None:
        self.draw_below()

    def changed(self) -> None:
        """Draw everything; what can be pressed now is told after that."""
        self.draw()
        situation = self.work.situation if self.work is not None else None
        if situation != self._situation:
            self._situation = situation
            self.call_after_refresh(self.refresh_bindings)

    @property
    def has_room(self) -> bool:
        """Whether the guidelines have room beside the text or under it."""
        return self.size.width >= _WIDE or self.size.height >= _HIGH

    @property
    def _guided(self) -> tuple[int, int]:
        """The cells beside the text and the lines under it that the guidelines take."""
        shown = any(one.display for one in self.query(".guidelines"))
        beside = self.size.width >= _WIDE
        return (_PANE if shown and beside else 0), (_UNDER if shown and not beside else 0)

    def place_guidelines(self) -> None:
        """The guidelines stand beside the text or under it where there is room, unless one put them away."""
        there = next(iter(self.query(".guidelines")), None)
        wanted = "" if self.work is None else self.work.scheme.guidelines
        room = self.has_room and not self.without_guidelines and not self._letters_take_room
        if not wanted or (there is None and not room):
            if there is not None:
                there.remove()
            return
        from emotui.screens.annotate.dialogs import GuidelinesPane

        if isinstance(there, GuidelinesPane) and there.guidelines == wanted:
            there.display = room
            there.set_class(self.size.width < _WIDE, "-under")
            return
        if there is not None:
            there.remove()
        self.mount(GuidelinesPane(wanted, under=self.size.width < _WIDE))

    @property
    def _room_for_letters(self) -> int:
        """The rows of a text with letters under its lines, where guidelines under it give way."""
        return self.size.height - _AROUND - _LEAST_UNDER_LETTERS

    @property
    def _letters_take_room(self) -> bool:
        """Whether letters need the lines that guidelines have under the text."""
        if self.work is None or not self.work.marking.hints or self.size.width >= _WIDE:
            return False
        return 2 * self.passage.lines > self._room_for_letters - _UNDER

    def words_for_letters(self, start: int) -> list[tuple[int, int]]:
        """The words that letters have room under: all, or as many lines as fit from that of an offset on."""
        return self.at_work.marking.units.words(*self.passage.lettered(start, self._room_for_letters))

    def draw(self) -> None:
        """The text with what is marked in it, and the lines around it."""
        work = self.work
        if work is not None:
            self.place_guidelines()
            self.query_one("#annotate-title", Line).show(*drawing.title(work))
            self.passage.show(drawing.passage_view(work, self._tierer))
            self.draw_below()

    def draw_below(self) -> None:
        """The lines under the text."""
        work, cells = self.work, self.size.width - self._guided[0] - 3
        if work is not None:
            self.query_one("#annotate-about", Line).show(*drawing.about(work, self.last_label, cells + 3))
            lines = [*drawing.label_lines(work, cells), *drawing.others_lines(work, cells)]
            put_away = self.has_room or self.without_guidelines or work.said.revealed
            free = 0 if put_away else self._free_under(len(lines))
            lines += drawing.guideline_lines(work.scheme, cells, free)
            self.query_one("#annotate-labels", Page).show(lines)
            self._fit(len(lines))

    def _free_under(self, below: int) -> int:
        """The lines that a text and so many lines under it leave empty, where guidelines have no pane of their own."""
        rows = max(self._rows if self.passage.columns == self._columns else 0, self.passage.rows + 2)
        return self.size.height - 2 - rows - below

    def _fit(self, below: int) -> None:
        """Labels and all that is said stand right under the text; a text that is too long for that is scrolled.

        Rows come and go with spans: as long as a text is at work, what stands under it moves down and never up, but for
        the rows of letters.

        Args:
            below: how many lines there are under the line about what the keys would act on.
        """
        passage, labels = self.passage, self.query_one("#annotate-labels", Page)
        room = self.size.height - self._guided[1] - 2
        if passage.columns != self._columns:
            self._rows, self._columns = 0, passage.columns
        rows = max(self._rows, passage.rows + 2)
        if not passage.view.hints:
            self._rows = rows
        least = min(below, _LEAST_UNDER_LETTERS if passage.view.hints else _LEAST_BELOW)
        height = max(min(rows, room - least), 1)
        for pane, lines in ((passage, height), (labels, max(min(below, room - height), 1))):
            if pane.styles.height is None or pane.styles.height.value != lines:
                pane.styles.height = lines
        for guidelines in self.query(".guidelines"):
            free = self.size.height - 2 - rows - below
            guidelines.styles.height = max(free, _UNDER) if guidelines.has_class("-under") else "100%"

    def remark(self, words: str) -> None:
        """Say this in the footer until the next key: a notice would lie over the text, its labels and numbers."""
        self.post_message(Ended(words))

    # What is kept.

    def keep(self, *events: Event, kind: str = DO) -> None:
        """What happened follows on the screen now, and is kept as soon as can be."""
        if events and self._writing is not None:
            work = self.at_work
            work.apply(events)
            if kind == DO and self._is_enough(events):
                work.apply((Accept(),))
                events, kind = (*events, Accept()), ACCEPT
            self._goes_on = kind == ACCEPT
            wish = Wish(kind, work.text.number, (events,), work.seconds, listed=self.session.listed())
            # The store's thread would take the processor from what is about to be drawn.
            self._writing.put(wish)
            self.call_after_refresh(self._writing.go_on)

    def _is_enough(self, events: Sequence[Event]) -> bool:
        """Whether these events end an answer that is given by saying all that is asked."""
        work = self.at_work
        if not work.scheme.auto_accept or work.standing is not None or work.said.accepted:
            return False
        says = any(isinstance(event, _SAYS) for event in events)
        return says and is_whole(work.scheme, work.text, work.said.answer)

    def wish(self, kind: str, source: str = "") -> None:
        """Ask for what only the log can tell: undo, redo, a suggestion."""
        if self._writing is not None:
            self._writing.put(Wish(kind, self.at_work.text.number, source=source))
            self._writing.go_on()

    def note_field(self, sample: int) -> "Field":
        """Where the note about a text is written: by the annotator, or for the result of an adjudication."""
        bench = self.bench_of
        own = bench.annotator == self.session.annotator
        draft = "" if own else bench.annotator
        return self.session.field(NOTE, sample=sample, dataset=bench.dataset.dataset, draft=draft)

    def _kept(self, kept: Kept) -> None:
        """Nothing waits any more: what is kept is what is shown."""
        work = self.work
        if not kept.error:
            self.session.drafts.kept(self.note_field(kept.sample), kept.said.note)
        if kept.error:
            self.notify(kept.error, severity="warning", markup=False)
        elif kept.told:
            self.remark(kept.told)
        if work is not None and work.text.number == kept.sample:
            if kept.said != work.said:
                work.take(kept.said)
            work.progress = kept.progress or work.progress
            work.standing = kept.standing or work.standing
            if kept.others is not None:
                work.others = kept.others
            self.changed()
        goes = kept.go is not None and kept.go != self._sample
        if (kept.ended or kept.error) and not goes:
            self._goes_on = self.suggesting = False
            self._press_early()
        elif self.suggesting and work is not None and work.said.suggestion is not None:
            self.suggesting = False
            self._press_early()
        if kept.tags is not None:
            self.fit_again()
            self._publishing.ask(self.bench_of)
            if self.display:
                self._tags = kept.tags
                self.post_message(self.Tagged("done", kept.tags))
        if kept.go is not None and goes:
            self.post_message(self.Sought(frozenset({kept.go}), 0))

    def press(self, key: str, character: str | None) -> bool:
        """Do what a key does in the text; says whether it does anything here."""
        raise NotImplementedError

    def fit_again(self) -> None:
        """Fit suggestions anew, where enough was answered since."""
        raise NotImplementedError

    def suggest_again(self) -> None:
        """Show the suggestion of the source that was chosen last."""
        raise NotImplementedError


_FIT, _NOBODY = "\0fit", "\0nobody"
"""In place of a source: heads are fitted to one's own answers first; nobody's word is suggested any more."""


class Borrowing(AtWork):
    """Suggestions: what a source says, or heads fitted to one's own answers, again after every twenty more."""

    def __init__(self, session: Session, *, id: str | None = None) -> None:
        super().__init__(session, id=id)
        self._sources: LatestRequest[int, tuple[tuple[str, str], ...]] = LatestRequest(
            "sources", self, lambda sample: self.bench_of.sources(sample), self._choose_source
        )
        self._orders: LatestRequest[tuple[Annotating, Order], object] = LatestRequest(
            "order of texts", self, lambda asked: asking.arrange(*asked), lambda *_: self._reorder()
        )
        self._going_on: LatestRequest[int, tuple[tuple[str, str], ...]] = LatestRequest(
            "suggestion", self, lambda sample: self.bench_of.sources(sample), self._suggest_again
        )
        self._fitted: tuple[Annotating, Fitted] | None = None
        self._borrowed = ""

    def order_by(self, bench: "Annotating", order: "Order") -> None:
        """Let the annotator's texts come in this order; by doubt, that of the heads where some are fitted."""
        self._orders.ask((bench, order))

    @property
    def choosing(self) -> bool:
        """Is the list of whose word is suggested on its way?"""
        return self._sources.busy

    def do_borrow(self) -> None:
        """Choose whose word is suggested; keys that are pressed before the list is there wait for it."""
        self._early.clear()
        self._sources.ask(self.at_work.text.number)

    def _press_in(self, dialog: "ChoiceDialog") -> None:
        """Do in the list what was pressed while it was on its way."""
        early, self._early = self._early, []
        for key, _ in early:
            if dialog.is_current:
                self.app.simulate_key(key)

    def _choose_source(self, sample: int, sources: tuple[tuple[str, str], ...]) -> None:
        from emotui.screens.dialogs.choices import Choice, ChoiceDialog

        work = self.work
        if work is None or work.text.number != sample:
            return

        def chosen(source: str | None) -> None:
            if source == _FIT:
                self.fit()
            elif source is not None:
                self._borrowed = "" if source == _NOBODY else source
                if self._borrowed:
                    self.wish(SUGGEST, source)

        choices = [Choice(name, name, kind) for name, kind in sources]
        n = _answers(work)
        if asking.can_fit(self.bench_of):
            about = f"fitted to your {n} answers" if n >= LEAST else f"from {LEAST} answers on; so far {n}"
            choices.append(Choice(_FIT, "heads of your own", about))
        if not choices:
            self._early.clear()
            self.remark("Nobody else says anything about this text")
            return
        if self._borrowed:
            choices.append(Choice(_NOBODY, "nobody", "no suggestions from the next text on"))
        title = "Suggestions: whose word to take, mend or refuse"
        dialog = ChoiceDialog(title, choices, self._borrowed)
        self.app.push_screen(dialog, chosen)
        dialog.call_after_refresh(self._press_in, dialog)

    def suggest_again(self) -> None:
        """An open text that nothing was said of comes with the suggestion of the source that was chosen last."""
        work = self.work
        if work is None or not self._borrowed or work.standing is not None or work.said.accepted:
            return
        if work.said.suggestion is None and work.said.answer.silent:
            self.suggesting = True
            self._going_on.ask(work.text.number)

    def _suggest_again(self, sample: int, sources: tuple[tuple[str, str], ...]) -> None:
        work = self.work
        there = any(name == self._borrowed for name, _ in sources)
        if there and work is not None and work.text.number == sample and work.said.suggestion is None:
            self.wish(SUGGEST, self._borrowed)
        else:
            self.suggesting = False
            self._press_early()

    def fit(self) -> None:
        """Fit heads to one's own answers while the annotating goes on; what came of it is told."""
        if self.session.job is not None:
            self.notify(keyed(WAIT), severity="warning", markup=False)
            return
        bench, halted = self.bench_of, threading.Event()

        def work(on_progress: "OnProgress") -> None:
            done = asking.fit(bench, on_progress, halted.is_set)
            self.app.call_from_thread(self._fit_done, bench, done)

        self.session.begin(
            f"suggestions for {bench.annotator}", work, halted.set, "Stopped; the suggestions are as before"
        )

    def _fit_done(self, bench: "Annotating", done: Fitted) -> None:
        self._fitted = bench, done
        if bench is not self.bench:
            return
        self.remark(done.told)
        if bench.chosen.kind == "uncertain":
            self.order_by(bench, bench.chosen)

    def fit_again(self) -> None:
        """After as many more answers the heads are fitted anew, where nothing else is going on."""
        work, fitted = self.work, self._fitted
        if work is None or fitted is None or self.session.job is not None or fitted[0] is not self.bench:
            return
        if _answers(work) >= fitted[1].n + LEAST:
            self.fit()


def _answers(work: Work) -> int:
    return work.progress.accepted - work.progress.skipped
