"""A second pair of eyes: is the meaning kept, and which emotion is in it? Without what the classifier said."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.geometry import Size
from textual.message import Message
from textual.widgets import Input

from emotui.screens.keymaps import keyed
from emotui.screens.rephrase import lines as rephrase_lines
from emotui.screens.rephrase.writing import STACKED, Beside
from emotui.screens.requests import LatestRequest, any_busy
from emotui.screens.widgets.cell_width import fit
from emotui.screens.widgets.line import Line, Part
from emotui.screens.widgets.notice import Notice
from emotui.screens.widgets.number_format import count, share
from emotui.screens.widgets.page import Lines
from emotui.screens.widgets.row_list import PickedRows

if TYPE_CHECKING:
    from emotui.workbench.rephrase.service import Rephrasing
    from emotui.workbench.rephrase.views import ReviewItem, Round

    _Queue = tuple[list[ReviewItem], Mapping[str, Any]]

KEPT, NOT_KEPT = "kept", "not kept"
MEANING = "Does the rephrasing say the same as the original?"
EMOTION = "Which emotion does the writer of the rephrasing show?"


class Typed(Input, inherit_bindings=False):
    """What a person types of an answer; ↑ ↓ move among those that are left, and Enter is the place's."""

    BINDINGS = [
        *(one for one in Input.BINDINGS if isinstance(one, Binding) and one.action != "submit"),
        Binding("up", "pick(-1)", show=False),
        Binding("down", "pick(1)", show=False),
    ]
    DEFAULT_CSS = """
    Typed, Typed:focus { height: 1; border: none; padding: 0 1; background: $entry; background-tint: transparent; }
    """

    class Stepped(Message):
        """The answer so many lines further down is to be picked."""

        def __init__(self, step: int) -> None:
            super().__init__()
            self.step = step

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id, compact=True, placeholder="type the answer, or ↑ ↓")
        self.cursor_blink = False

    def action_pick(self, step: int) -> None:
        self.post_message(self.Stepped(step))


def matching(answers: Sequence[str], typed: str) -> list[str]:
    """The answers that begin with what is typed; where none does, those that hold it."""
    wanted = typed.strip().casefold()
    begun = [answer for answer in answers if answer.casefold().startswith(wanted)]
    return begun or [answer for answer in answers if wanted in answer.casefold()]


class Answers(PickedRows[str]):
    """One question and its answers."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(self._answers, id=id)
        self.question = ""
        self._every: tuple[str, ...] = ()

    def narrow(self, typed: str) -> None:
        """Show only the answers that what is typed can mean; the first of them is picked."""
        self.cursor = 0
        self.show_rows(matching(self._every, typed))
        self.scroll_home(animate=False)

    def put(self, question: str, answers: Sequence[str]) -> None:
        """Ask another question; the cursor is on its first answer."""
        self.question, self.cursor, self._every = question, 0, tuple(answers)
        self.show_rows(answers)
        self.scroll_home(animate=False)

    def _answers(self, rows: Sequence[str], cursor: int, cells: int) -> Lines:
        lines: list[list[Part]] = [[Part(self.question, "strong")]]
        if not rows:
            lines.append([Part("  no answer has these letters", "mark")])
        for place, label in enumerate(rows):
            kind, mark = ("picked", "▸ ") if place == cursor else ("plain", "  ")
            lines.append([Part(mark), Part(fit(label, min(cells - 2, 24)), kind)])
        return lines


class Review(Vertical):
    """One rephrasing after the other, beside its original."""

    DEFAULT_CSS = """
    Review > #review-texts { height: 2fr; }
    Review > #review-texts > Vertical { width: 1fr; }
    Review #review-right { border-left: solid $rule; }
    Review.-stacked > #review-texts { layout: vertical; }
    Review.-stacked #review-right { border-left: none; }
    Review > #review-answers { height: 3fr; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.reviewer = ""
        self.meaning: bool | None = None
        self.items: tuple[ReviewItem, ...] = ()
        self.done = self.at = 0
        self._agreement: Mapping[str, Any] = {}
        self._round: Round | None = None
        self._queue: LatestRequest[str, _Queue] | None = None
        self._keep: LatestRequest[tuple[str, int, bool, str], _Queue] | None = None
        self._back: LatestRequest[str, tuple[_Queue, int | None]] | None = None

    def compose(self) -> ComposeResult:
        yield Line(id="review-title", classes="-pane")
        with Horizontal(id="review-texts"):
            with Vertical(id="review-left"):
                yield Line(id="review-left-title", classes="-pane")
                yield Beside(id="review-original")
            with Vertical(id="review-right"):
                yield Line(id="review-right-title", classes="-pane")
                yield Beside(id="review-rephrasing")
        yield Line(id="review-question", classes="-pane")
        yield Typed(id="review-typed")
        yield Answers(id="review-answers")
        yield Notice("#review-texts, #review-question, #review-typed, #review-answers", id="review-notice")

    @property
    def busy(self) -> bool:
        return any_busy(self)

    @property
    def item(self) -> "ReviewItem | None":
        """The rephrasing that is judged now."""
        return self.items[self.at] if self.items else None

    def open_for(self, service_of: "Callable[[], Rephrasing]", round_: "Round", reviewer: str) -> None:
        """Show what this person has not judged yet."""
        self.reviewer, self._round, self.done, self.at, self.items = reviewer, round_, 0, 0, ()
        dataset = round_.dataset.dataset
        self._queue = LatestRequest(
            "review-queue", self, lambda who: _queue(service_of(), dataset, who), self._opened, self._unread
        )
        self._keep = LatestRequest(
            "review-keep", self, lambda judged: _keep(service_of(), dataset, *judged), self._judged
        )
        self._back = LatestRequest("review-back", self, lambda who: _back(service_of(), dataset, who), self._undone)
        self.query_one(Notice).say("Reading what there is to review")
        self._queue.ask(reviewer)

    def _unread(self, _: str, why: str) -> None:
        self.query_one(Notice).say("The review cannot be read", why, keyed("{leave} goes back to writing"), failed=True)

    def _opened(self, _: object, queue: "_Queue", attempt: int | None = None) -> None:
        self.items, self._agreement = tuple(queue[0]), queue[1]
        again = (place for place, item in enumerate(self.items) if item.attempt == attempt)
        self.at = next(again, min(self.at, max(len(self.items) - 1, 0)))
        self.ask_meaning()
        self.screen.refresh_bindings()

    def _judged(self, judged: object, queue: "_Queue") -> None:
        self.done += 1
        self._opened(judged, queue)

    def _undone(self, who: str, taken_back: "tuple[_Queue, int | None]") -> None:
        self.done -= 1
        self._opened(who, *taken_back)

    def on_resize(self) -> None:
        self.set_class(self.size.width < STACKED, "-stacked")
        self.draw()

    def draw(self) -> None:
        if self._round is None:
            return
        left = [
            Part(" review", "strong"),
            Part(f"  by {self.reviewer}"),
            Part(f"  {count(len(self.items))} to judge", "dim"),
        ]
        if self.done:
            left.append(Part(f"  {count(self.done)} judged", "dim"))
        self.query_one("#review-title", Line).show(left, agreement(self._agreement))
        item = self.item
        if item is None:
            if not self.busy:
                self.query_one(Notice).say(
                    "Nothing to review",
                    f"{self.reviewer} has judged every rephrasing that somebody else wrote"
                    if self.done
                    else f"nobody but {self.reviewer} has a rephrasing that is not judged yet",
                    keyed("{leave} goes back to writing   {review} asks for another name"),
                )
            return
        self.query_one(Notice).hide()
        self.query_one("#review-left-title", Line).show([Part(" original", "strong")])
        self.query_one("#review-right-title", Line).show([Part(" rephrasing", "strong")])
        for name, text in (("#review-original", item.original), ("#review-rephrasing", item.rephrasing)):
            self.query_one(name, Beside).show_for(partial(_in_room, text))
        question = "1 of 2" if self.meaning is None else "2 of 2"
        said = "" if self.meaning is None else f"  meaning {KEPT if self.meaning else NOT_KEPT}"
        self.query_one("#review-question", Line).show(
            [Part(f" question {question}", "strong"), Part(said, "dim")],
            [
                Part("type", "key"),
                Part(" or "),
                Part("↑ ↓", "key"),
                Part("  "),
                Part(keyed("{judge}"), "key", "do('judge')"),
                Part(" take it "),
            ],
        )
        self.query_one(Answers).draw()

    def focus_first(self) -> None:
        typed = self.query_one(Typed)
        if typed.display:
            typed.focus()

    @on(Input.Changed)
    def _narrow(self, event: Input.Changed) -> None:
        event.stop()
        self.query_one(Answers).narrow(event.value)

    @on(Typed.Stepped)
    def _step_answers(self, event: Typed.Stepped) -> None:
        event.stop()
        answers = self.query_one(Answers)
        answers.pick(answers.cursor + event.step)

    def _put(self, question: str, answers: Sequence[str]) -> None:
        """Ask a question, with nothing typed yet."""
        with self.prevent(Input.Changed):
            self.query_one(Typed).value = ""
        self.query_one(Answers).put(question, answers)

    def ask_meaning(self) -> None:
        """The first question, about the rephrasing at hand."""
        self.meaning = None
        self._put(MEANING, (KEPT, NOT_KEPT))
        self.draw()
        self.focus_first()

    def step(self, by: int) -> None:
        """Another rephrasing that is not judged yet."""
        if self.items:
            self.at = (self.at + by) % len(self.items)
            self.ask_meaning()

    def judge(self) -> None:
        """Take the answer under the cursor; with the second one the judgement is kept."""
        answers, item = self.query_one(Answers), self.item
        said = answers.picked
        if said is None or item is None or self._round is None or self._keep is None or self._keep.busy:
            return
        if self.meaning is None:
            self.meaning = said == KEPT
            self._put(EMOTION, self._round.labels)
            self.draw()
        else:
            self._keep.ask((self.reviewer, item.attempt, self.meaning, said))

    @property
    def can_undo(self) -> bool:
        """Was something judged since the review was opened?"""
        return self.done > 0 and not self.busy

    def undo(self) -> None:
        """Take the last judgement back: that rephrasing is judged again."""
        if self.can_undo and self._back is not None:
            self._back.ask(self.reviewer)

    def take_back(self) -> bool:
        """To the first question again; False where that is the one asked."""
        if self.meaning is None:
            return False
        self.ask_meaning()
        return True


def _queue(service: "Rephrasing", dataset: int, reviewer: str) -> "_Queue":
    return service.review_queue(dataset, reviewer), service.agreement(dataset)


def _back(service: "Rephrasing", dataset: int, reviewer: str) -> "tuple[_Queue, int | None]":
    attempt = service.take_review_back(dataset, reviewer)
    return _queue(service, dataset, reviewer), attempt


def _keep(service: "Rephrasing", dataset: int, reviewer: str, attempt: int, meaning: bool, emotion: str) -> "_Queue":
    service.review(dataset, reviewer, attempt, meaning, emotion)
    return _queue(service, dataset, reviewer)


def _in_room(text: str, room: Size) -> Lines:
    return rephrase_lines.marked(text, [], max(min(room.width, 90), 20))


def agreement(figures: Mapping[str, Any]) -> Sequence[Part]:
    """How far the reviewers agree, where there are two or more."""
    if not figures or figures["reviewers"] < 2:
        return []
    said = f"meaning {share(figures['meaning_alpha']).strip()}  emotion {share(figures['emotion_alpha']).strip()}"
    return [
        Part("Krippendorff's α  ", "dim"),
        Part(f"{said} "),
        Part(f"of {count(figures['reviewers'])} reviewers ", "dim"),
    ]
