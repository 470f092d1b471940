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

from emotui.screens.long_text import typed_when
from emotui.screens.rephrase import requests as asking
from emotui.screens.rephrase.writing import WORDS, Writing
from emotui.screens.requests import LatestRequest, NamedTimers
from emotui.screens.session import Session
from emotui.screens.widgets.editor import typeable
from emotui.workbench.drafts import REPHRASING, Draft, Field

if TYPE_CHECKING:
    from emotui.workbench.rephrase.service import Rephrasing
    from emotui.workbench.rephrase.views import CarryingWords, ChainView, Round

# Attempts that are typed and not submitted: each waits for when its text comes up again, in this session or
# another.


def begun_with(chain: "ChainView") -> tuple[str, bool]:
    """What stands in the editor before a key is typed: the last attempt, else the original; did a model write it?"""
    last = chain.attempts[-1] if chain.attempts else None
    return (typeable(last.text), last.suggested) if last is not None else (typeable(chain.original), False)


class AttemptDrafts:
    """Those of the annotator, among the session's."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._round: Round | None = None

    def begin(self, round_: "Round") -> None:
        """This round is at work."""
        self._round = round_

    def _field(self, number: int) -> Field:
        """Where an attempt at this text is written in the round at work, or before any has begun."""
        round_ = self._round
        return self._session.field(
            REPHRASING,
            sample=number,
            dataset=None if round_ is None else round_.dataset.dataset,
            draft="" if round_ is None else round_.identity,
        )

    def before_a_round(self, number: int) -> Draft | None:
        """What was being written into a text last, in whatever round."""
        return next(iter(self._session.drafts.all_of(self._field(number)).values()), None)

    def put_early(self, number: int, text: str, gold: str) -> None:
        """This stands in the editor, and no round has begun."""
        self._session.drafts.put(self._early(number), Draft(text=text, gold=gold))

    def drop_early(self, number: int) -> None:
        """Nothing of one's own stands there, or the round's own draft has it."""
        self._session.drafts.drop(self._early(number))

    def _early(self, number: int) -> Field:
        field = self._field(number)
        return Field(field.name, field.person, field.dataset, field.sample)

    def _left(self, chain: "ChainView") -> dict[Field, Draft]:
        """What was written and never submitted, the newest first."""
        submitted = {one.text.strip() for one in chain.attempts}
        every = self._session.drafts.all_of(self._field(chain.number))
        return {field: draft for field, draft in every.items() if draft.text.strip() not in submitted}

    def take_up(self, chain: "ChainView") -> tuple[Field, Draft] | None:
        """What was being written for the next attempt: in this round, else, before its first attempt, in any."""
        own, left = self._field(chain.number), self._left(chain)
        if own in left:
            return own, left[own]
        field, draft = (None, None) if chain.attempts else next(iter(left.items()), (None, None))
        if field is None or draft is None:
            return None
        if field == self._early(chain.number):
            self.put(chain, draft.text, suggested=draft.suggested)
            self.drop_early(chain.number)
        return field, draft

    def others(self, chain: "ChainView", *, closed: bool = False) -> dict[Field, Draft]:
        """What was written in other rounds and never submitted, the newest first.

        Args:
            closed: nothing can be written for the text now: what was written in this round is among them.
        """
        own = None if closed else self._field(chain.number)
        return {field: draft for field, draft in self._left(chain).items() if field != own}

    def exchange(self, chain: "ChainView", text: str, *, suggested: bool) -> tuple[Field, Draft]:
        """Of the others the oldest, for the editor; what stands there, where that is one's own, takes its place."""
        field, draft = list(self.others(chain).items())[-1]
        if (text, suggested) == begun_with(chain):
            self._session.drafts.drop(field)
        else:
            self._session.drafts.put(field, self._draft(chain, text, suggested=suggested))
        return field, draft

    def put(self, chain: "ChainView", text: str, *, suggested: bool) -> None:
        """This stands in the editor now."""
        self._session.drafts.put(self._field(chain.number), self._draft(chain, text, suggested=suggested))

    def _draft(self, chain: "ChainView", text: str, *, suggested: bool) -> Draft:
        model = "" if self._round is None else self._round.model
        return Draft(text=text, suggested=suggested, model=model, gold=chain.label)

    def drop(self, number: int) -> None:
        """Nothing of one's own stands in the editor."""
        self._session.drafts.drop(self._field(number))

    def submitted(self, number: int, text: str) -> None:
        """This is an attempt now."""
        self.drop(number)
        for field in self._session.drafts.all_of(self._field(number)):
            self._session.drafts.kept(field, text)

    def told(self, chain: "ChainView", field: Field, draft: Draft) -> str:
        """When a draft was typed; and against which model and for which gold label, where those are others now."""
        words = f"typed {typed_when(draft)}, not submitted"
        round_ = self._round
        if round_ is not None and field.draft not in ("", round_.identity):
            same = draft.model == round_.model
            words += f"; against {draft.model or 'another classifier'}" + (" as it was then" if same else "")
        if draft.gold and draft.gold != chain.label:
            words += f"; gold was {draft.gold}"
        return words


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
        if self._writing.shows_difference or self._writing.view == WORDS:
            self._writing.draw_below()
