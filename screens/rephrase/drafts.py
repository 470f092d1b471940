"""What is typed and not submitted: it waits for when its text comes up again, also in another session."""

import contextlib
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from textual.timer import Timer
from textual.widget import Widget

from emotui.errors import EmotuiError
from emotui.screens.requests import LatestRequest
from emotui.screens.widgets.editor import typeable

if TYPE_CHECKING:
    from emotui.workbench.rephrase.drafts import Draft
    from emotui.workbench.rephrase.service import Rephrasing
    from emotui.workbench.rephrase.views import ChainView, Round

KEEP_AFTER = 1.0
"""Seconds without a key after which what was typed is kept, so that nothing is written while keys follow each other."""

KEEP_AT_LAST = 10.0
"""Seconds after which it is kept although keys follow each other: what a power cut costs at most."""

_Changed = tuple["Round", Mapping[int, "Draft | None"]]


def begun_with(chain: "ChainView") -> tuple[str, bool]:
    """What stands in the editor before a key is typed: the last attempt, else the original; did a model write it?"""
    last = chain.attempts[-1] if chain.attempts else None
    return (typeable(last.text), last.suggested) if last is not None else (typeable(chain.original), False)


class Drafts:
    """By text. They go into the store in a thread, so that no key waits for it."""

    def __init__(self, owner: Widget, service_of: "Callable[[], Rephrasing]") -> None:
        self._owner, self._service_of = owner, service_of
        self._round: Round | None = None
        self._drafts: dict[int, Draft] = {}
        self._unsaved: dict[int, Draft | None] = {}
        self._timer: Timer | None = None
        self._since = 0.0
        self._told = False
        self._desk: LatestRequest[_Changed, None] = LatestRequest(
            "drafts", owner, self._keep, self._kept, self._not_kept, older=True
        )

    def _keep(self, changed: _Changed) -> None:
        self._service_of().keep_drafts(*changed)

    @property
    def busy(self) -> bool:
        return self._desk.busy

    def begin(self, round_: "Round", kept: "Mapping[int, Draft]") -> None:
        """A round is at work, and these were left in it."""
        self._round, self._drafts, self._unsaved = round_, dict(kept), {}

    def of(self, chain: "ChainView") -> "Draft | None":
        """What was being written for the next attempt at this text."""
        draft = self._drafts.get(chain.number)
        return draft if draft is not None and draft.attempts == len(chain.attempts) else None

    def put(self, chain: "ChainView", text: str, *, suggested: bool) -> None:
        """This stands in the editor now."""
        from emotui.workbench.rephrase.drafts import Draft

        draft = Draft(text=text, attempts=len(chain.attempts), suggested=suggested)
        if self._drafts.get(chain.number) != draft:
            self._drafts[chain.number] = draft
            self._change(chain.number, draft)

    def drop(self, number: int) -> None:
        """Nothing of one's own stands there: it was submitted, or taken back."""
        if self._drafts.pop(number, None) is not None:
            self._change(number, None)

    def _change(self, number: int, draft: "Draft | None") -> None:
        self._unsaved[number] = draft
        if self._timer is None:
            self._since = time.monotonic()
            self._timer = self._owner.set_timer(KEEP_AFTER, self.save)
        elif time.monotonic() - self._since < KEEP_AT_LAST - KEEP_AFTER:
            self._timer.reset()

    def save(self) -> None:
        """Keep what is new."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        if self._round is not None and self._unsaved:
            self._desk.ask((self._round, dict(self._unsaved)))

    def save_at_once(self) -> None:
        """The session ends: keep what is new before anything else happens. Nobody is left to be told of an error."""
        if self._round is not None and self._unsaved:
            with contextlib.suppress(EmotuiError):
                self._keep((self._round, self._unsaved))

    def _kept(self, asked: _Changed, _: None) -> None:
        round_, changed = asked
        if round_ is self._round:
            for number, draft in changed.items():
                if self._unsaved.get(number, "") == draft:
                    del self._unsaved[number]

    def _not_kept(self, _: _Changed, why: str) -> None:
        if not self._told:
            # Once: the next attempt, which has to be kept, says it again.
            self._told = True
            said = f"What is typed is kept only until you leave: {why}"
            self._owner.notify(said, severity="warning", markup=False)
