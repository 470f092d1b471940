"""A second pair of eyes: is the meaning kept, and which emotion is in it? Without what the classifier said."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.geometry import Size

from emotui.screens.rephrase import lines as rephrase_lines
from emotui.screens.rephrase.writing import STACKED, Beside
from emotui.screens.requests import Answer, LatestRequest
from emotui.screens.widgets.cell_width import fit
from emotui.screens.widgets.line import Line, Part
from emotui.screens.widgets.notice import Notice
from emotui.screens.widgets.number_format import count, share
from emotui.screens.widgets.page import Lines
from emotui.screens.widgets.row_list import PickedRows

if TYPE_CHECKING:
    from emotui.workbench.rephrase.service import Rephrasing
    from emotui.workbench.rephrase.views import ReviewItem, Round


KEPT, NOT_KEPT = "kept", "not kept"
MEANING = "Does the rephrasing say the same as the original?"
EMOTION = "Which emotion does the writer of the rephrasing show?"


class Answers(PickedRows):
    """One question and its answers."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.question = ""
        self.answers: tuple[str, ...] = ()

    @property
    def there(self) -> tuple[str, ...]:
        """The answers."""
        return self.answers

    @property
    def picked(self) -> str | None:
        """The answer under the cursor."""
        return self.answers[self.cursor] if self.answers else None

    def put(self, question: str, answers: Sequence[str]) -> None:
        """Ask another question; the cursor is on its first answer."""
        self.question, self.answers, self.cursor = question, tuple(answers), 0
        self.draw()
        self.scroll_home(animate=False)

    def drawn(self, cells: int) -> Lines:
        """A line an answer under the question."""
        lines: list[list[Part]] = [[Part(self.question, "strong")]]
        for place, label in enumerate(self.answers):
            here = place == self.cursor
            lines.append(
                [Part("▸ " if here else "  "), Part(fit(label, min(cells - 2, 24)), "here" if here else "plain")]
            )
        return lines


class Review(Vertical):
    """One rephrasing after the other, beside its original."""

    DEFAULT_CSS = """
    Review { display: none; }
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
        self._queue: LatestRequest[Any, Any] | None = None
        self._keep: LatestRequest[Any, Any] | None = None
        self._back: LatestRequest[Any, Any] | None = None

    def compose(self) -> ComposeResult:
        """Two texts, two questions."""
        yield Line(id="review-title", classes="-pane")
        with Horizontal(id="review-texts"):
            with Vertical(id="review-left"):
                yield Line(id="review-left-title", classes="-pane")
                yield Beside(id="review-original")
            with Vertical(id="review-right"):
                yield Line(id="review-right-title", classes="-pane")
                yield Beside(id="review-rephrasing")
        yield Line(id="review-question", classes="-pane")
        yield Answers(id="review-answers")
        yield Notice(id="review-notice")

    @property
    def busy(self) -> bool:
        """Is an answer on its way?"""
        return any(desk is not None and desk.busy for desk in (self._queue, self._keep, self._back))

    @property
    def item(self) -> "ReviewItem | None":
        """The rephrasing that is judged now."""
        return self.items[self.at] if self.items else None

    def open_for(self, service_of: "Callable[[], Rephrasing]", round_: "Round", reviewer: str) -> None:
        """Show what this person has not judged yet."""
        self.reviewer, self._round, self.done, self.at, self.items = reviewer, round_, 0, 0, ()
        self._queue = LatestRequest("review-queue", self, lambda who: _queue(service_of(), round_.dataset.dataset, who))
        self._keep = LatestRequest(
            "review-keep", self, lambda judged: _keep(service_of(), round_.dataset.dataset, *judged)
        )
        self._back = LatestRequest("review-back", self, lambda who: _back(service_of(), round_.dataset.dataset, who))
        self._say("Reading what there is to review")
        self._queue.ask(reviewer)

    @on(Answer)
    def _answered(self, answer: Answer) -> None:
        answer.stop()
        if not answer.desk.take(answer):
            return
        if answer.error is not None:
            if answer.desk is self._queue:
                self._say("The review cannot be read", answer.error, failed=True)
            else:
                self.notify(answer.error, severity="error", markup=False)
            return
        self.items, self._agreement = tuple(answer.value[0]), answer.value[1]
        self.at = min(self.at, max(len(self.items) - 1, 0))
        if answer.desk is self._keep:
            self.done += 1
        elif answer.desk is self._back:
            self.done -= 1
            again = (place for place, item in enumerate(self.items) if item.attempt == answer.value[2])
            self.at = next(again, self.at)
        self.ask_meaning()
        self.screen.refresh_bindings()

    def _say(self, title: str, *lines: str, failed: bool = False) -> None:
        self._lay_out(shown=False)
        self.query_one("#review-notice", Notice).say(title, *lines, failed=failed)

    def _lay_out(self, *, shown: bool) -> None:
        for name in ("#review-texts", "#review-question", "#review-answers"):
            self.query_one(name).display = shown

    def on_resize(self) -> None:
        """Texts beside or under each other."""
        self.set_class(self.size.width < STACKED, "-stacked")
        self.draw()

    def draw(self) -> None:
        """The rephrasing to judge, or that there is none."""
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
                self._say(
                    "Nothing to review",
                    f"{self.reviewer} has judged every rephrasing that somebody else wrote"
                    if self.done
                    else f"nobody but {self.reviewer} has a rephrasing that is not judged yet",
                    "Esc goes back to writing   F4 asks for another name",
                )
            return
        self.query_one("#review-notice", Notice).hide()
        self._lay_out(shown=True)
        self.query_one("#review-left-title", Line).show([Part(" original", "strong")])
        self.query_one("#review-right-title", Line).show([Part(" rephrasing", "strong")])
        for name, text in (("#review-original", item.original), ("#review-rephrasing", item.rephrasing)):
            self.query_one(name, Beside).show_for(partial(_in_room, text))
        question = "1 of 2" if self.meaning is None else "2 of 2"
        said = "" if self.meaning is None else f"  meaning {KEPT if self.meaning else NOT_KEPT}"
        self.query_one("#review-question", Line).show(
            [Part(f" question {question}", "strong"), Part(said, "dim")],
            [Part("↑ ↓", "key"), Part(" answer  "), Part("Enter", "key", "do('judge')"), Part(" take it ", "plain")],
        )
        self.query_one(Answers).draw()

    def focus_first(self) -> None:
        """Put the keys into the answers."""
        answers = self.query_one(Answers)
        if answers.display:
            answers.focus()

    def ask_meaning(self) -> None:
        """The first question, about the rephrasing at hand."""
        self.meaning = None
        self.query_one(Answers).put(MEANING, (KEPT, NOT_KEPT))
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
            answers.put(EMOTION, self._round.labels)
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


def _queue(service: "Rephrasing", dataset: int, reviewer: str) -> "tuple[list[ReviewItem], Mapping[str, Any]]":
    return service.review_queue(dataset, reviewer), service.agreement(dataset)


def _back(
    service: "Rephrasing", dataset: int, reviewer: str
) -> "tuple[list[ReviewItem], Mapping[str, Any], int | None]":
    attempt = service.take_review_back(dataset, reviewer)
    return *_queue(service, dataset, reviewer), attempt


def _keep(
    service: "Rephrasing", dataset: int, reviewer: str, attempt: int, meaning: bool, emotion: str
) -> "tuple[list[ReviewItem], Mapping[str, Any]]":
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
