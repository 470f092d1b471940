"""Following what is typed: when the classifier is asked, and which of its answers are still of use.

A question leaves in a thread of its own, so that no key waits for it. While an answer is on its way only the newest
text waits (`LatestRequest`): the classifier is asked as fast as it answers, however fast one types. An answer about an
earlier moment of the same text is shown, since it is nearer than what stood there, and greyed once it is behind for a
while; one about another text is dropped.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from textual.timer import Timer
from textual.widget import Widget

from emotui.screens.rephrase import requests as asking
from emotui.screens.rephrase.drafts import begun_with
from emotui.screens.rephrase.writing import Writing
from emotui.screens.requests import Answer, LatestRequest

if TYPE_CHECKING:
    from emotui.workbench.rephrase.service import Rephrasing

REST = 0.4
"""Seconds without a key after which typing rests, and the words that carry the verdict are asked for."""

PAUSE = 0.1
"""Seconds without a key after which the similarity to the original is asked for; bars do not wait for it."""

GREY_AFTER = 0.15
"""Seconds that what is shown may be behind the text before it is greyed."""


class Following:
    """Asks about the text in the editor of `writing`, and shows there what comes.

    `asked`, `stale`: how many answers came, and how many of them were not about the newest text.
    """

    def __init__(self, owner: Widget, writing: Writing, service_of: "Callable[[], Rephrasing]") -> None:
        self.rest = REST
        self.generation = 0
        self.asked = self.stale = 0
        self._owner, self._writing = owner, writing
        self._waiting = False
        self._behind_since: float | None = None
        self._resting: Timer | None = None
        self._pausing: Timer | None = None
        self._greying: Timer | None = None
        self._live: LatestRequest[asking.Typed, asking.Followed] = LatestRequest(
            "live", owner, lambda typed: asking.follow(service_of(), typed)
        )
        self._words: LatestRequest[asking.Typed, Any] = LatestRequest(
            "words", owner, lambda typed: asking.carrying(service_of(), typed, self._is_newest)
        )

    @property
    def busy(self) -> bool:
        """Is an answer on its way?"""
        return self._waiting or self._pausing is not None or self._live.busy or self._words.busy

    def _is_newest(self, generation: int) -> bool:
        return generation == self.generation

    def typed(self) -> None:
        """The text has changed."""
        self.generation += 1
        if self._behind_since is None:
            self._behind_since = time.monotonic()
        typed = self._now()
        if typed is not None:
            self._live.ask(typed)
        if self._greying is None:
            self._greying = self._owner.set_timer(GREY_AFTER, self._grey)
        if not self._waiting:
            self._waiting = True
            self._owner.call_after_refresh(self._painted)
        if self._pausing is None:
            self._pausing = self._owner.set_timer(PAUSE, self._paused)
        else:
            self._pausing.reset()
        if self._resting is None:
            self._resting = self._owner.set_timer(self.rest, self._rested)
        else:
            self._resting.reset()

    def _now(self) -> asking.Typed | None:
        seen, editor = self._writing.seen, self._writing.editor
        if seen.round is None or seen.chain is None:
            return None
        return asking.Typed(seen.round, seen.chain, editor.text, self.generation)

    def _painted(self) -> None:
        """The key is on the screen; now what counts the words, which can wait."""
        self._waiting = False
        self._writing.draw_attempt()

    def _paused(self) -> None:
        self._pausing = None
        typed = self._now()
        if typed is not None:
            self._live.ask(replace(typed, similar=True))

    def _grey(self) -> None:
        self._greying = None
        behind = self._behind_since
        if behind is not None and self._writing.seen.live is not None:
            waits = GREY_AFTER - (time.monotonic() - behind)
            if waits > 0:
                self._greying = self._owner.set_timer(waits, self._grey)
            else:
                self._writing.draw_live(stale=True)

    def _rested(self) -> None:
        self._resting = None
        typed = self._now()
        if typed is not None and typed.text.strip():
            self._words.ask(typed)

    def answered(self, answer: Answer) -> bool:
        """Take an answer up, where it is one of these questions'; False where it is not."""
        if answer.desk is self._words:
            newest = answer.desk.take(answer)
            self._show_words(answer, newest=newest)
            return True
        if answer.desk is self._live:
            answer.desk.take(answer)
            self._show(answer)
            return True
        return False

    def _show_words(self, answer: Answer, *, newest: bool) -> None:
        # Without them the rest goes on: whatever is wrong with the classifier, the bars say it.
        if newest and answer.value is not None and answer.value.text == self._writing.editor.text:
            self._writing.seen.words = answer.value
            self._writing.draw_live()
            self._writing.draw_below()

    def _show(self, answer: Answer) -> None:
        question: asking.Typed = answer.question
        seen = self._writing.seen
        self.asked += 1
        self.stale += question.generation != self.generation
        if seen.chain is None or question.chain.number != seen.chain.number or question.round is not seen.round:
            return
        if answer.error is not None:
            seen.trouble, seen.live = answer.error, None
        else:
            followed: asking.Followed = answer.value
            seen.trouble, seen.live = "", followed.live
            seen.nearness = (followed.live.similarity, True) if question.similar else (seen.nearness[0], False)
            seen.difference = followed.difference
            # What one begins with is not warned of.
            seen.warnings = followed.warnings if question.text != begun_with(seen.chain)[0] else ()
        if question.generation == self.generation:
            self._behind_since = None
        self._writing.draw_live()
        if self._writing.stacked:
            self._writing.draw_attempt()
        if self._writing.shows_difference:
            self._writing.draw_below()
