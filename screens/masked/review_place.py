"""The review of masks in Masked: choosing a review, its posts, what is said kept one by one, and the set written."""

import threading
from collections import deque
from typing import TYPE_CHECKING, Any

from emotui.screens.masked.review_mode import OPEN, ReviewMode, post_lines, state
from emotui.screens.masked.study_place import StudyPlace
from emotui.screens.requests import LatestRequest
from emotui.screens.session import Session
from emotui.screens.widgets.line import Line, Part
from emotui.screens.widgets.page import Page
from emotui.screens.widgets.row_list import PickedRows

if TYPE_CHECKING:
    from collections.abc import Callable

    from emotui.workbench.masked.looking import MaskedBench
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

            self.session.begin(f"set of {name}", write, over.set, "Stopped; nothing was written")

        endings = (".jsonl", ".csv", ".tsv", ".parquet")
        self.app.push_screen(FileDialog("Write the posts as masked records", "masked.jsonl", endings), chosen)

    def _leave_review(self) -> None:
        self.review = None
        self.remove_class("-review")
        self.left_study()
        self.refresh_bindings()
