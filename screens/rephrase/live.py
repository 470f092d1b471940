"""Following what is typed: when the classifier is asked, and which of its answers are still of use.

A question leaves in a thread of its own, so that no key waits for it. While an answer is on its way only the newest
text waits (`LatestRequest`): the classifier is asked as fast as it answers, however fast one types. An answer about an
earlier moment of the same text is shown, since it is nearer than what stood there, and greyed once it is behind for a
while; one about another text is dropped.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from textual.widget import Widget

from emotui.screens.rephrase import requests as asking
from emotui.screens.rephrase.drafts import begun_with
from emotui.screens.rephrase.writing import Writing
from emotui.screens.requests import LatestRequest, NamedTimers

if TYPE_CHECKING:
    from emotui.workbench.rephrase.service import Rephrasing
    from emotui.workbench.rephrase.views import CarryingWords

REST = 0.4
"""Seconds without a key after which typing rests, and the words that carry the verdict are asked for."""

PAUSE = 0.1
"""Seconds without a key after which the similarity to the original is asked for; bars do not wait for it."""

_KEPT = 63
"""Figures of earlier keys that are kept for the sparkline."""

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
        self._answered = -1
        self._behind_since: float | None = None
        self._timers = NamedTimers(owner)
        self._live: LatestRequest[asking.Typed, asking.Followed] = LatestRequest(
            "live", owner, lambda typed: asking.follow(service_of(), typed), self._show, self._refuse, older=True
        )
        # Without words the rest goes on: whatever is wrong with the classifier, the bars say it.
        self._words: LatestRequest[asking.Typed, CarryingWords | None] = LatestRequest(
            "words",
            owner,
            lambda typed: asking.carrying(service_of(), typed, self._is_newest),
            self._show_words,
            lambda *_: None,
        )

    @property
    def busy(self) -> bool:
        return self._waiting or "pause" in self._timers or self._live.busy or self._words.busy

    def _is_newest(self, generation: int) -> bool:
        return generation == self.generation

    def typed(self) -> None:
        """The text has changed."""
        self.generation += 1
        if self._behind_since is None:
            self._behind_since = time.monotonic()
        typed = self._now()
        if typed is not None and not typed.text.strip():
            self._forget()
        elif typed is not None:
            self._live.ask(typed)
        self._timers.wait("grey", GREY_AFTER, self._grey, again=False)
        if not self._waiting:
            self._waiting = True
            self._owner.call_after_refresh(self._painted)
        self._timers.wait("pause", PAUSE, self._paused)
        self._timers.wait("rest", self.rest, self._rested)

    def _now(self) -> asking.Typed | None:
        seen, editor = self._writing.seen, self._writing.editor
        if seen.round is None or seen.chain is None:
            return None
        return asking.Typed(seen.round, seen.chain, editor.text, self.generation)

    def _forget(self) -> None:
        """An empty text has no prediction, nor anything else that could be said of it."""
        seen = self._writing.seen
        seen.live = seen.words = None
        seen.trouble, seen.warnings, seen.difference, seen.nearness = "", (), (), (None, False)
        self._behind_since = None
        self._writing.draw_live()
        self._writing.draw_below()

    def _painted(self) -> None:
        """The key is on the screen; now what counts the words, which can wait."""
        self._waiting = False
        self._writing.draw_attempt()

    def _paused(self) -> None:
        typed = self._now()
        if typed is not None and typed.text.strip():
            self._live.ask(replace(typed, similar=True))

    def _grey(self) -> None:
        behind = self._behind_since
        if behind is not None and self._writing.seen.live is not None:
            waits = GREY_AFTER - (time.monotonic() - behind)
            if waits > 0:
                self._timers.wait("grey", waits, self._grey)
            else:
                self._writing.draw_live(stale=True)

    def _rested(self) -> None:
        typed = self._now()
        if typed is not None and typed.text.strip():
            self._words.ask(typed)

    def _show_words(self, _: asking.Typed, words: "CarryingWords | None") -> None:
        if words is not None and words.text == self._writing.editor.text:
            self._writing.seen.words = words
            self._writing.editor.mark_again()
            self._writing.draw_live()
            self._writing.draw_below()

    def _show(self, question: asking.Typed, followed: asking.Followed) -> None:
        seen = self._writing.seen
        if self._is_about(question) and seen.chain is not None:
            seen.trouble, seen.live = "", followed.live
            if question.generation != self._answered:
                self._answered = question.generation
                seen.history = (*seen.history[-_KEPT:], followed.live.gold_confidence)
            seen.nearness = (followed.live.similarity, True) if question.similar else (seen.nearness[0], False)
            seen.difference = followed.difference
            # What one begins with is not warned of.
            seen.warnings = followed.warnings if question.text != begun_with(seen.chain)[0] else ()
            self._draw(question)

    def _refuse(self, question: asking.Typed, why: str) -> None:
        if self._is_about(question):
            self._writing.seen.trouble, self._writing.seen.live = why, None
            self._draw(question)

    def _is_about(self, question: asking.Typed) -> bool:
        """Whether this answer is about the text at work; counts it."""
        self.asked += 1
        self.stale += question.generation != self.generation
        seen = self._writing.seen
        if not self._writing.editor.text.strip():
            return False
        return seen.chain is not None and question.chain.number == seen.chain.number and question.round is seen.round

    def _draw(self, question: asking.Typed) -> None:
        if question.generation == self.generation:
            self._behind_since = None
        self._writing.draw_live()
        if self._writing.stacked:
            self._writing.draw_attempt()
        if self._writing.shows_difference:
            self._writing.draw_below()
