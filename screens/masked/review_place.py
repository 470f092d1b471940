"""The review of masks in Masked: choosing a review, its posts, what is said kept one by one, and the set written."""

import threading
from collections import deque
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace
from textual import on
from textual.widgets import Input

from emotui.screens.jobs import NOTHING_WRITTEN
from emotui.screens.masked.review_mode import OPEN, ReviewMode, post_lines, state
from emotui.screens.masked.study_place import StudyPlace
from emotui.screens.masked.text import GOLD, HIDDEN, more_than_a_word
from emotui.screens.requests import LatestRequest
from emotui.screens.session import Session
from emotui.screens.widgets.line import Line, Part
from emotui.screens.widgets.number_format import UNDEFINED, share
from emotui.screens.widgets.page import Page
from emotui.screens.widgets.row_list import PickedRows
from emotui.store.query import Run

if TYPE_CHECKING:
    from collections.abc import Callable

    from emotui.workbench.drafts import Field
    from emotui.workbench.masked.looking import MaskedBench, MaskedView, Tally
    from emotui.workbench.masked.review import Doubt, Reviewing, ReviewSaid
    from emotui.workbench.progress import OnProgress

_NEW = "\0new"


class ReviewPlace(StudyPlace):
    """What a place needs to go through doubtful masks; `review` is there while one is open."""

    def __init__(self, session: Session, *, id: str | None = None) -> None:
        super().__init__(session, id=id)
        self.review: ReviewMode | None = None
        self._kept: deque[ReviewSaid | None] = deque()

    def bind_studies(self, bench: "Callable[[], MaskedBench]", person: str) -> None:
        super().bind_studies(bench, person)
        made: tuple[LatestRequest[Any, Any], ...] = (
            LatestRequest("reviews", self, lambda _: bench().reviews(), self._offer_reviews),
            LatestRequest("begin review", self, lambda asked: bench().begin_review(*asked), self._review_begun),
            LatestRequest("review", self, lambda name: bench().reviewing(name, person), self._open_review),
            LatestRequest("masks", self, self._write_masks, self._masks_written, self._masks_not_written),
        )
        self._asks |= {request.name: request for request in made}

    @property
    def doubts(self) -> "PickedRows[Doubt]":
        """The doubtful masks."""
        return self.query_one("#masked-doubts", PickedRows)

    def do_review_masks(self) -> None:
        """Open a review, or begin one."""
        self._asks["reviews"].ask(None)

    def _offer_reviews(self, _: None, names: list[str]) -> None:
        from emotui.screens.dialogs.choices import Choice, ChoiceDialog

        choices = [*(Choice(name, name) for name in names), Choice(_NEW, "begin a review", "of a file of raw posts")]

        def chosen(name: str | None) -> None:
            if name == _NEW:
                self._ask_posts()
            elif name is not None:
                self._asks["review"].ask(name)

        self.app.push_screen(ChoiceDialog("Review of masks", choices, choices[0].value), chosen)

    def _ask_posts(self) -> None:
        from emotui.screens.dialogs.choices import NameDialog

        about = ("A file of raw posts (id, text):", "they are masked by the protocol, and doubtful masks are shown.")

        def named(path: str | None) -> None:
            if path is not None:
                self.notify("The posts are being masked", markup=False)
                self._asks["begin review"].ask((path.rpartition("/")[2], path))

        self.app.push_screen(NameDialog("Review of masks", about, ""), named)

    def _review_begun(self, asked: tuple[str, str], _: None) -> None:
        self._asks["review"].ask(asked[0])

    # The open review.

    def _open_review(self, _: str, reviewing: "Reviewing") -> None:
        self.review = ReviewMode(
            reviewing,
            keep=self._keep_mask,
            take_back=lambda: self._keep_mask(None),
            go_to=self._go_to,
            draw=self.draw_review,
            tell=lambda said: self.notify(said, markup=False),
            leave=self._leave_review,
            write=self._ask_file,
        )
        self.add_class("-review")
        order = [at for at, one in enumerate(self.review.doubts) if one.said is None]
        self.doubts.cursor = 0
        self.draw_review()
        self._go_to(order[0] if order else 0)
        self.doubts.focus()
        self.refresh_bindings()

    def _go_to(self, at: int) -> None:
        self.doubts.pick(at)

    def picked_doubt(self) -> None:
        """The cursor stands on another doubtful mask."""
        if self.review is not None and self.review.at != self.doubts.cursor:
            self.review.at = self.doubts.cursor
            self.draw_review()

    def draw_review(self) -> None:
        """The post of the mask under the cursor, why it is doubtful, and all of them."""
        review = self.review
        if review is None:
            return
        self.doubts.show_rows(review.doubts)
        doubt, n = review.doubt, len(review.doubts)
        done = sum(state(one) != OPEN for one in review.doubts)
        left = [Part(f" {review.reviewing.name}", "strong"), Part(f"  {doubt.post}  mask {review.at + 1} of {n}")]
        right = [Part("[ ] { }", "key"), Part(" borders   "), Part(f"{done} decided ", "dim")]
        self.query_one("#masked-title", Line).show(left, right)
        why = Part(f"  {' '.join(doubt.decision.review)}", "mark")
        word = Part(f" {doubt.decision.word}", "strong")
        self.query_one("#masked-mask", Line).show([word, why, Part(f"  {doubt.decision.why}", "dim")])
        text = self.query_one("#masked-text", Page)
        text.show_for(lambda room: post_lines(doubt, room.width)[0], home=True)
        text.bring_into_sight(post_lines(doubt, text.scrollable_content_region.width)[1])

    # Keeping, in the order in which it was said.

    def _keep_mask(self, said: "ReviewSaid | None") -> None:
        self._kept.append(said)
        self._asks["masks"].ask(self.review.reviewing if self.review is not None else None)

    def _write_masks(self, reviewing: "Reviewing | None") -> "ReviewSaid | None":
        taken = None
        while self._kept and reviewing is not None:
            one = self._kept[0]
            if one is None:
                taken = reviewing.undo()
            else:
                reviewing.write(one)
            self._kept.popleft()
        return taken

    def _masks_written(self, _: object, taken: "ReviewSaid | None") -> None:
        review = self.review
        if taken is not None and review is not None:
            review.again()
            places = [(one.post, one.place) for one in review.doubts]
            self._go_to(places.index((taken.post, taken.place)))

    def _masks_not_written(self, _: object, why: str) -> None:
        self._kept.clear()
        self.notify(f"Not kept: {why}", severity="error", markup=False)
        if self.review is not None:
            self._asks["review"].ask(self.review.reviewing.name)

    def _ask_file(self) -> None:
        from emotui.screens.dialogs.file import FileDialog

        review, bench = self.review, self._bench
        if review is None or bench is None:
            return
        name = review.reviewing.name

        def chosen(path: str | None) -> None:
            if path is None:
                return

            over = threading.Event()

            def write(on_progress: "OnProgress") -> None:
                n = bench().write_review(name, path, over.is_set)
                self.app.call_from_thread(self.notify, f"{n} masked records written to {path}", markup=False)

            self.session.begin(f"set of {name}", write, over.set, NOTHING_WRITTEN, loses=True)

        endings = (".jsonl", ".csv", ".tsv", ".parquet")
        self.app.push_screen(FileDialog("Write the posts as masked records", "masked.jsonl", endings), chosen)

    def _leave_review(self) -> None:
        self.review = None
        self.remove_class("-review")
        self.left_study()
        self.refresh_bindings()


# Guessing in Masked: a person's word for each mask of a text, asked for one after the other, kept and taken back.

# What Masked asks for: a text with its words, and that a guess is kept or taken back.


class Looked(msgspec.Struct, frozen=True):
    """A text, and the run whose words are asked for."""

    sample: int
    run: str | None


def look(bench: "MaskedBench", asked: Looked, person: str) -> "MaskedView":
    """The text. Raises EmotuiError where it cannot be read."""
    return bench.look(asked.sample, asked.run, person)


class Guessed(msgspec.Struct, frozen=True):
    """A person's words for the masks of a text; None: the last ones are taken back."""

    sample: int
    words: tuple[str, ...] | None
    blind: bool
    run: str | None = None

    def keep(self, bench: "MaskedBench", person: str) -> "MaskedView":
        """Keep them; the text as it is then, scored by the words of the run that is shown."""
        if self.words is None:
            bench.take_back(self.sample, person)
        else:
            bench.guess(self.sample, person, self.words, blind=self.blind)
        return bench.look(self.sample, self.run, person)


GUESS = "guess"
"""The field of a word for a mask, as drafts name it: one word is a name, and the words of a text are more."""


class GuessPlace(ReviewPlace):
    """What a place needs to have words guessed; `view` is the text, `mask` the chosen one of its masks."""

    def __init__(self, session: Session, *, id: str | None = None) -> None:
        super().__init__(session, id=id)
        self.view: MaskedView | None = None
        self.fill = HIDDEN  # what is seen first is no blind guess any more
        self.mask = 0
        self.tally: Tally | None = None
        self._guesses: LatestRequest[Guessed, MaskedView] | None = None
        self._tallies: LatestRequest[tuple[int, str | None], Tally] | None = None
        self._wanted: tuple[int | None, Run | None] = (None, None)
        self._typed: dict[int, str] = {}
        self._told: int | None = None
        self._seen: set[int] = set()

    def draw(self) -> None:
        """Draw everything that follows from the text, the fill and the chosen mask."""
        raise NotImplementedError

    def _veil(self) -> None:
        """Have the list keep to itself what is hidden here."""
        raise NotImplementedError

    @property
    def typing(self) -> bool:
        """Is a guess being typed?"""
        return self.guess_line.display

    @property
    def filled(self) -> str:
        """By what the masks are filled now: hidden words are shown once the person has guessed all of them."""
        revealed = self.view is not None and self._told == self.view.number
        return GOLD if self.fill == HIDDEN and revealed else self.fill

    @property
    def guessed(self) -> tuple[str, ...]:
        """The person's words for the masks of this text, as far as there are any."""
        return self.view.guess.words if self.view is not None and self.view.guess is not None else ()

    def can_guess(self) -> bool:
        return not self.typing and bool(self.view and self.view.gold) and self._guesses is not None

    def do_guess(self) -> None:
        """Hide the words, and ask for one after the other."""
        view = self.view
        if view is None:
            return
        if self.filled != HIDDEN:
            self.fill, self._told = HIDDEN, None
            self._veil()
        self._typed = {}
        self.mask = 0
        self.guess_line.display = True
        self._ask_word()
        self.draw()
        self.refresh_bindings()

    def _ask_word(self) -> None:
        view = self.view
        assert view is not None
        prompt = f"your word for mask {self.mask + 1} of {len(view.gold)}"
        self.guess_line.begin(prompt, "", self.session.drafts, self._guess_of(view.number, self.mask))
        self.guess_line.focus()

    def _guess_of(self, sample: int, mask: int) -> "Field":
        return self.session.field(GUESS, sample=sample, draft=str(mask))

    def drafts_of(self, view: "MaskedView") -> dict[int, str]:
        """By mask what was written for it and not handed in."""
        drafts = {place: self.session.drafts.of(self._guess_of(view.number, place)) for place in range(len(view.gold))}
        return {place: draft.text for place, draft in drafts.items() if draft is not None}

    def _is_blind(self, view: "MaskedView") -> bool:
        return view.number not in self._seen and view.guess is None

    @on(Input.Submitted, "#masked-guess")
    def _word(self, event: Input.Submitted) -> None:
        event.stop()
        if self.mode is not None:
            self.end_line(event.value)
            return
        view, word = self.view, event.value.strip()
        if view is None or not word:
            return
        if more_than_a_word(word, view.gold[self.mask].word):
            self.notify(f"one word a mask: “{word}” is not taken as a guess", severity="warning", markup=False)
            return
        self._typed[self.mask] = word
        open_masks = [place for place in range(len(view.gold)) if place not in self._typed]
        if open_masks:
            self.mask = open_masks[0]
            self._ask_word()
            self.draw()
            return
        words = tuple(self._typed[place] for place in range(len(view.gold)))
        assert self._guesses is not None
        self._guesses.ask(Guessed(view.number, words, self._is_blind(view), self._run_name()))
        self._told = view.number
        self._stop_typing()
        self.mask = 0
        self.draw()

    def can_leave(self) -> bool:
        return self.typing

    def do_leave(self) -> None:
        self._typed = {}
        self._stop_typing()
        self.draw()

    def _stop_typing(self) -> None:
        self.guess_line.display = False
        self.focus_first()
        self.refresh_bindings()

    def can_undo(self) -> bool:
        return not self.typing and bool(self.guessed) and self.filled != HIDDEN and self._guesses is not None

    def do_undo(self) -> None:
        """Take the last guess about this text back."""
        if self.view is not None and self._guesses is not None:
            self._guesses.ask(Guessed(self.view.number, None, False, self._run_name()))

    def _take_guess(self, guessed: Guessed, view: "MaskedView") -> None:
        for mask, word in enumerate(guessed.words or ()):
            self.session.drafts.kept(self._guess_of(guessed.sample, mask), word)
        if self._wanted[0] == guessed.sample and self.view is not None:
            self.view = replace(self.view, guess=view.guess, guessed=view.guessed)
            self.draw()
            self.refresh_bindings()
        self.ask_tally()

    # How the person does over all texts.

    def ask_tally(self) -> None:
        """Count the person's guesses against the run that is shown; the list has their scores while it is veiled."""
        dataset = self.session.overview.dataset
        if self._tallies is not None and dataset is not None:
            self._tallies.ask((dataset.dataset, self._run_name()))

    def _run_name(self) -> str | None:
        run = self._wanted[1]
        return None if run is None else run.run

    def _take_tally(self, _: tuple[int, str | None], tally: "Tally") -> None:
        self.tally = tally
        self.tag_guesses()
        self.draw()
        self.refresh_bindings()

    def tag_guesses(self) -> None:
        """While the list keeps gold and runs to itself, it says how the texts that were guessed came out."""
        if self.mode is not None or self.review is not None:
            return
        if self.tally is None or not self.blind:
            self.post_message(self.Tagged("", None))
            return
        known = self.tally.scores
        scores = {sample: f"{UNDEFINED if f1 is None else share(f1).strip():>8}" for sample, f1 in known.items()}
        self.post_message(self.Tagged("you F1_V", scores))
