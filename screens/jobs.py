"""Long work for the screen, such as a run of a model: in a thread, told of by messages, stopped on request."""

import re
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec
from textual.message import Message
from textual.widget import Widget

from emotui.screens.keymaps import keyed
from emotui.screens.requests import in_words
from emotui.screens.widgets.cell_width import fit, shown, width
from emotui.screens.widgets.line import Part, taken
from emotui.screens.widgets.number_format import count, seconds

if TYPE_CHECKING:
    from emotui.workbench.progress import RunProgress

STOPPED = "Stopped; what was done is kept"
"""What is said of work that was stopped, unless it says something else."""

WAIT = "One thing at a time: wait for what the top line shows, or {stop} stops it"
"""What is said where more long work would begin."""

NOTHING_WRITTEN = "Stopped; nothing was written"

PATIENCE = 10.0
"""Seconds of work that is lost without a question."""

_BAR = 12
_NAME = 8
_GAP = 2


class Progressed(Message):
    """The work has come further."""

    def __init__(self, progress: "RunProgress") -> None:
        super().__init__()
        self.progress = progress


class Finished(Message):
    """The work is over: done, stopped on request, or failed with an error in words."""

    def __init__(self, what: str, error: str | None, stopped: bool) -> None:
        super().__init__()
        self.what, self.error, self.stopped = what, error, stopped


class Job(msgspec.Struct):
    """What is being done now, as the top line shows it; `ticks`: for how many half seconds, of which it counts.

    `brings`: are samples on their way by it? `loses`: is nothing kept of it where it is stopped? `asked`: which keys
    that end it have asked already whether they are meant.
    """

    what: str
    halt: Callable[[], object] | None
    stopped: str = STOPPED
    progress: "RunProgress | None" = None
    stopping: bool = False
    ticks: int = 0
    brings: bool = False
    loses: bool = False
    began: float = msgspec.field(default_factory=time.monotonic)
    asked: set[str] = msgspec.field(default_factory=set)

    def asks_to_stop(self) -> str:
        """What is asked before it is stopped; empty: nothing, since little is lost or it was asked already."""
        passed = time.monotonic() - self.began
        if not self.loses or passed <= PATIENCE or "stop" in self.asked:
            return ""
        self.asked.add("stop")
        return keyed(f"{{stop}} again ends it: {seconds(passed)} of work would be lost")

    def asks_to_leave(self) -> str:
        """What is asked before one leaves while it goes on; empty: nothing."""
        if self.stopping or "quit" in self.asked:
            return ""
        self.asked.add("quit")
        kept = "nothing of it is kept" if self.loses else "what is done is kept"
        return keyed(f"{_cut(self.what, 30)} goes on: {{quit}} again ends it and leaves; {kept}")


def begin(
    owner: Widget, what: str, do: "Callable[..., object]", halt: Callable[[], object] | None, stopped: str = STOPPED
) -> Job:
    """Do it in a thread; the owner gets `Progressed` on the way and `Finished` at the end, whatever the end is.

    Args:
        do: called with `on_progress`.
        halt: returns at once and makes `do` end soon; None: nothing does.
    """

    def tell(progress: "RunProgress") -> None:
        owner.post_message(Progressed(progress))

    def work() -> None:
        from emotui.workbench.progress import Cancelled

        error, stopped = None, False
        try:
            do(on_progress=tell)
        except Cancelled:
            stopped = True
        except Exception as problem:
            error = in_words(problem)
        owner.post_message(Finished(what, error, stopped))

    owner.run_worker(work, name="work", group="work", thread=True)
    return Job(what, halt, stopped)


def parts(work: Job, room: int, *, key_stops: bool = True) -> list[Part]:
    """The work in a line: what, how far, how fast, how long still, and how to stop it, where its key does that now.

    Where that takes more than `room` cells the speed goes first, then the bar, then of a path all but its last part,
    then the name, which is never cut, then how long still, and last which of how many
    runs it is: how far it is and the key that stops it stay.
    """
    progress = work.progress
    if work.stopping:
        return [Part(_cut(f"stopping {work.what}…", room), "strong")]
    stops = [Part(keyed("  {stop}"), "key", "do('stop')"), Part(" stops", "plain", "do('stop')")] if key_stops else []
    if progress is None or not progress.n:
        step = shown(progress.step) if progress else f"{work.what}…"
        done = [Part(f"  {count(progress.done)}")] if progress and progress.done else []
        far = [*_unknown(work.ticks), *done, *stops] if done or work.ticks else []
        if room - taken(far) < min(width(step), 2 * _NAME):
            far = [*done, *stops] if far else []
        left = room - taken(far)
        return [Part(_cut(step, left), "strong"), *far] if left >= 2 * _NAME else [Part(_cut(step, room), "strong")]
    full = round(_BAR * progress.done / progress.n)
    bar = [Part("  " + "━" * full, "said"), Part("─" * (_BAR - full), "rest")]
    rate = [Part(f"  {progress.rate:.{0 if progress.rate >= 10 else 1}f}/s", "dim")] if progress.rate else []
    alone = [Part(f"  {count(progress.done)}/{count(progress.n)}")]
    far = [Part("  {} of {}: ".format(*progress.part) + alone[0].text.lstrip())] if progress.part else alone
    end = []
    if progress.remaining is not None:
        end.append(Part(f"  {seconds(progress.remaining)} left", "dim"))
    if progress.failed:
        end.append(Part(f"  {count(progress.failed)} failed", "mark"))
    end += stops
    name = shown(progress.model if progress.done else progress.step)
    if progress.waiting is not None:
        name = f"waiting for {shown(progress.waiting)}"
    last = name.rsplit("/", 1)[-1]
    for said, tail in (
        (name, [*bar, *far, *rate, *end]),
        (name, [*bar, *far, *end]),
        (name, [*far, *end]),
        (last, [*far, *end]),
        ("", [*far, *end]),
        ("", [*far, *stops]),
        ("", [*alone, *end]),
    ):
        if width(said) + taken(tail) - (0 if said else _GAP) <= room:
            return _after(said, tail)
    return _after("", [*alone, *stops])


def _after(name: str, tail: list[Part]) -> list[Part]:
    """The name and what follows; without a name that stands first."""
    return [Part(name, "strong"), *tail] if name else [Part(tail[0].text.lstrip(), tail[0].kind), *tail[1:]]


def _unknown(ticks: int) -> list[Part]:
    """A bar of which nobody knows how long it is: what moves along it says that work goes on, and for how long."""
    if not ticks:
        return []
    at = ticks % (_BAR - 2)
    moving = [Part("  " + "─" * at, "rest"), Part("━━━", "said"), Part("─" * (_BAR - 3 - at), "rest")]
    return [*moving, Part(f"  {seconds(ticks / 2)}", "dim")]


def _cut(words: str, room: int) -> str:
    """What fits of words; of a SPEC its end, which tells more than the beginning."""
    if width(words) <= room or not re.search(r"\w[:/]\S", words):
        return fit(words, min(width(words), room)).rstrip()
    return "…" + words[1 - room :]
