"""The text at work: its answer as it is on the screen, the caret, what others say of it."""

import time
from collections.abc import Iterable

import msgspec

from emotui.screens.annotate.marking import Marking
from emotui.workbench.annotate.adjudicating import Standing as Adjudicated
from emotui.workbench.annotate.answer import SpanMark
from emotui.workbench.annotate.events import Event
from emotui.workbench.annotate.marks import Said, apply
from emotui.workbench.annotate.others import OtherSaid
from emotui.workbench.annotate.scheme import Scheme
from emotui.workbench.annotate.service import Progress
from emotui.workbench.annotate.texts import AnnotatedText


class Work(msgspec.Struct):
    """One text under a scheme.

    `standing`: how far the adjudication is, where the answer settles what others disagree about. `shows_others`:
    whether what others say stands under the text. `number`, `typed`: the name of the number that is being typed, and
    its digits so far. `since`: when the text came into sight, in seconds of the monotonic clock.
    """

    scheme: Scheme
    text: AnnotatedText
    said: Said
    marking: Marking
    progress: Progress
    others: tuple[OtherSaid, ...] = ()
    standing: "Adjudicated | None" = None
    shows_others: bool = True
    number: str = ""
    typed: str = ""
    since: float = msgspec.field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """Seconds since the text came into sight."""
        return round(time.monotonic() - self.since, 2)

    def take(self, said: Said) -> None:
        """The answer is this one now."""
        self.said = said
        theirs = [span for other in self.others for span in other.answer.spans] if self.standing is not None else []
        self.marking.take([*shown_spans(said), *theirs])

    def apply(self, events: Iterable[Event]) -> None:
        """What happened follows at once on the screen."""
        said = self.said
        for event in events:
            said = apply(said, event)
        self.take(said)

    @property
    def situation(self) -> tuple[object, ...]:
        """What decides which keys can be pressed."""
        marking, said = self.marking, self.said
        chosen = marking.chosen_span
        return (
            self.text.number,
            bool(marking.hints),
            marking.selecting,
            None if chosen is None else self.is_own(chosen),
            marking.under is None,
            bool(marking.spans),
            said.accepted,
            said.revealed,
            self.standing is not None,
        )

    def is_own(self, span: SpanMark) -> bool:
        """Is it a span of the answer, and not only a suggested one?"""
        return self.said.answer.span(span.id) is not None

    @property
    def suggested(self) -> SpanMark | None:
        """The chosen span, where it is one that is not of the answer: a suggested one, or one of a source."""
        span = self.marking.chosen_span
        return None if span is None or self.is_own(span) else span


def shown_spans(said: Said) -> list[SpanMark]:
    """The spans of the answer, and those suggested that are neither taken nor refused."""
    shown = said.suggestion
    suggested = [] if shown is None else [span for span in shown.answer.spans if span.id in shown.open]
    return [*said.spans, *suggested]
