"""Keeping what was done, in a thread and in order, so that no key waits for the store."""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace
from textual.widget import Widget

from emotui.errors import EmotuiError
from emotui.screens.annotate.requests import adjudication_tags, open_text, others, tags
from emotui.screens.requests import LatestRequest
from emotui.screens.widgets.number_format import so_many
from emotui.workbench.annotate.adjudicating import Standing as Adjudicated
from emotui.workbench.annotate.events import Accept, Event, Reopen, Reveal, Skip
from emotui.workbench.annotate.marks import Said
from emotui.workbench.annotate.others import OtherSaid
from emotui.workbench.annotate.service import Progress

if TYPE_CHECKING:
    from emotui.workbench.annotate.adjudicating import Adjudicating
    from emotui.workbench.annotate.service import Annotating

DO, UNDO, REDO, ACCEPT, SUGGEST, SETTLE = "do", "undo", "redo", "accept", "suggest", "settle"

AGREED, ALONE = "agreed", "alone"
"""What is settled at once: texts that all sources agree about, or also those that one of them alone answered."""

_TURNS = (Accept, Skip, Reopen, Reveal)
"""After these there is another number of answers, or more to be shown."""


class Wish(msgspec.Struct, frozen=True):
    """Something to keep.

    `kind`: do events, undo, redo, accept and say where to go on, suggest what `source` says, or settle all that the
    sources of an adjudication agree about (with the `source` ALONE also what one alone says). `keystrokes`: the events
    of each. `listed`: the texts to go on among.
    """

    kind: str
    sample: int
    keystrokes: tuple[tuple[Event, ...], ...] = ()
    seconds: float | None = None
    source: str = ""
    listed: Iterable[int] = ()


class Kept(msgspec.Struct, frozen=True):
    """What came of wishes.

    `sample`: of which text `said` is the answer now. `go`: which text to go to. `ended`: an answer was given, so that
    keys wait for the text that comes. `error`: why the last one was refused.
    Where they may have changed: what others say that may be shown, how far one is, and what the list says.
    """

    sample: int
    said: Said
    go: int | None = None
    ended: bool = False
    told: str = ""
    error: str = ""
    others: tuple[OtherSaid, ...] | None = None
    progress: Progress | None = None
    tags: Mapping[int, str] | None = None
    standing: "Adjudicated | None" = None


class Writing:
    """A queue of wishes. One transaction keeps all that one text has waiting.

    Args:
        adjudicating: what `bench` is the result of, where it is one.
        on_kept: called in the owner's message pump once nothing waits any more.
    """

    def __init__(
        self,
        owner: Widget,
        bench: "Annotating",
        adjudicating: "Adjudicating | None",
        on_kept: Callable[[Kept], object],
    ) -> None:
        self._bench, self._adjudicating = bench, adjudicating
        self._waiting: deque[Wish] = deque()
        self._lock = threading.Lock()
        self._compared: set[int] = set()
        """Texts of training whose known answer was shown: the next Space goes on."""
        self._presented: set[int] = set()
        self._on_kept = on_kept
        self._request: LatestRequest[int, Kept | None] = LatestRequest(
            "annotation", owner, lambda _: self._keep(), self._kept, older=True
        )

    @property
    def busy(self) -> bool:
        return self._request.busy or bool(self._waiting)

    def put(self, wish: Wish) -> None:
        """This is to be kept behind what was wished before."""
        with self._lock:
            self._waiting.append(wish)

    def go_on(self) -> None:
        """Begin to keep what waits."""
        if self._waiting:
            self._request.ask(0)

    def _kept(self, _: int, kept: Kept | None) -> None:
        if kept is not None and not self._waiting:
            self._on_kept(kept)

    def _next(self) -> Wish | None:
        with self._lock:
            if not self._waiting:
                return None
            first = self._waiting.popleft()
            keystrokes = [*first.keystrokes]
            while first.kind == DO and self._waiting:
                following = self._waiting[0]
                if following.kind != DO or following.sample != first.sample:
                    break
                keystrokes += self._waiting.popleft().keystrokes
            return replace(first, keystrokes=tuple(keystrokes))

    def _keep(self) -> Kept | None:
        kept = None
        while (wish := self._next()) is not None:
            try:
                kept = self._do(wish)
            except EmotuiError as problem:
                # What follows a refused change may count on it.
                with self._lock:
                    self._waiting.clear()
                return Kept(wish.sample, self._bench.said(wish.sample), error=str(problem))
        return kept

    def _do(self, wish: Wish) -> Kept:
        bench = self._bench
        if wish.kind in (UNDO, REDO):
            changed = bench.undo() if wish.kind == UNDO else bench.redo()
            if changed is None:
                nothing = "Nothing is left to take back" if wish.kind == UNDO else "Nothing was taken back"
                return Kept(wish.sample, bench.said(wish.sample), told=nothing)
            of_another = changed != wish.sample
            told = f"{bench.text(changed).id}: what was done there last is taken back" if of_another else ""
            told = told.replace("taken", "put") if wish.kind == REDO else told
            return self._changed(Kept(changed, bench.said(changed), go=changed, told=told))
        if wish.kind == SUGGEST:
            return Kept(wish.sample, bench.suggest(wish.sample, wish.source))
        if wish.kind == SETTLE and self._adjudicating is not None:
            settled, refused = self._adjudicating.take_agreed(alone=wish.source == ALONE)
            told = f"{so_many(settled, 'text')} settled" + (f", {len(refused)} not" if refused else "")
            return self._changed(Kept(wish.sample, bench.said(wish.sample), told=told))
        if wish.sample not in self._presented:
            self._presented.add(wish.sample)
            if not bench.said(wish.sample).accepted:
                bench.present(wish.sample)
        said = bench.do_each(wish.sample, wish.keystrokes, seconds=wish.seconds)
        if wish.kind == ACCEPT and wish.sample not in self._compared and bench.known_answer(wish.sample) is not None:
            self._compared.add(wish.sample)
            told = "What gold says stands under the text: Space goes on"
            return self._changed(Kept(wish.sample, said, ended=True, told=told))
        go = open_text(bench, self._adjudicating, wish.sample, 1, wish.listed) if wish.kind == ACCEPT else None
        told = "Every text has an answer" if wish.kind == ACCEPT and go is None else ""
        kept = Kept(wish.sample, said, go=go, ended=wish.kind == ACCEPT, told=told)
        turns = any(isinstance(event, _TURNS) for events in wish.keystrokes for event in events)
        return self._changed(kept) if turns else kept

    def _changed(self, kept: Kept) -> Kept:
        """With what may have changed beside the answer."""
        bench = self._bench
        if self._adjudicating is not None:
            signs = adjudication_tags(self._adjudicating)
            return replace(kept, progress=bench.progress(), tags=signs, standing=self._adjudicating.standing())
        return replace(kept, others=others(bench, kept.sample, kept.said), progress=bench.progress(), tags=tags(bench))
