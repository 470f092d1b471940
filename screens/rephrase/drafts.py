"""Attempts that are typed and not submitted: each waits for when its text comes up again, in this session or another.

They hang on text and person. The classifier's identity tells the drafts of several rounds apart and hides none: what
was written against a model that is gone, or under a gold label that was replaced, comes back with that said beside it.
"""

from typing import TYPE_CHECKING

from emotui.screens.long_text import typed_when
from emotui.screens.session import Session
from emotui.screens.widgets.editor import typeable
from emotui.workbench.drafts import REPHRASING, Draft, Field

if TYPE_CHECKING:
    from emotui.workbench.rephrase.views import ChainView, Round


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
