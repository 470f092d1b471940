"""Long work for the screen, such as a run of a model: in a thread, told of by messages, stopped on request."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message
from textual.widget import Widget

from emotui.screens.desk import in_words
from emotui.screens.figures import count, seconds
from emotui.screens.line import Part

if TYPE_CHECKING:
    from emotui.workbench.running import RunProgress

_BAR = 12


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


@dataclass(slots=True)
class Work:
    """What is being done now, as the top line shows it."""

    what: str
    halt: Callable[[], object]
    progress: "RunProgress | None" = None
    stopping: bool = False


def begin(owner: Widget, what: str, do: "Callable[..., object]", halt: Callable[[], object]) -> Work:
    """Do it in a thread; the owner gets `Progressed` on the way and `Finished` at the end, whatever the end is.

    Args:
        do: called with `on_progress`.
        halt: returns at once and makes `do` end soon.
    """

    def tell(progress: "RunProgress") -> None:
        owner.post_message(Progressed(progress))

    def work() -> None:
        from emotui.backends.host import Cancelled

        error, stopped = None, False
        try:
            do(on_progress=tell)
        except Cancelled:
            stopped = True
        except Exception as problem:
            error = in_words(problem)
        owner.post_message(Finished(what, error, stopped))

    owner.run_worker(work, name="work", group="work", thread=True)
    return Work(what, halt)


def parts(work: Work, room: int) -> list[Part]:
    """The work in a line: what, how far, how fast, how long still, and how to stop it; shorter where room is scarce."""
    progress = work.progress
    if work.stopping:
        return [Part(f"stopping {work.what}…", "strong")]
    if progress is None or not progress.n:
        return [Part(progress.step if progress else f"{work.what}…", "strong")]
    full = round(_BAR * progress.done / progress.n)
    said = [
        Part(progress.model if progress.done else progress.step, "strong"),
        Part("  " + "━" * full, "said"),
        Part("━" * (_BAR - full), "rest"),
        Part(f"  {count(progress.done)}/{count(progress.n)}"),
    ]
    if progress.rate and room >= 50:
        said.append(Part(f"  {progress.rate:.{0 if progress.rate >= 10 else 1}f}/s", "dim"))
    if progress.remaining is not None:
        said.append(Part(f"  {seconds(progress.remaining)} left", "dim"))
    if progress.failed:
        said.append(Part(f"  {count(progress.failed)} failed", "mark"))
    return [*said, Part("  Esc", "key", "do('stop')"), Part(" stops", "plain", "do('stop')")]
