"""Progress on standard error: a bar in a terminal, nothing elsewhere."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from emotui.commands.output import terminal
from emotui.formats.rows import literal


@contextmanager
def bar(title: str) -> Iterator[Callable[..., None]]:
    """A progress bar with time left. Yields a function of (done, of how many) and, where it changes, the title."""
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = terminal(err=True)
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as progress:
        line = progress.add_task(escape(literal(title)), total=None)

        def show(done: int, n: int, what: str | None = None) -> None:
            progress.update(line, completed=done, total=n, description=None if what is None else escape(literal(what)))

        yield show
