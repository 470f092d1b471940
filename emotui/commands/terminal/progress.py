"""Progress on standard error: a bar in a terminal, nothing elsewhere."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from emotui.commands.output import terminal
from emotui.formats.rows import literal


@contextmanager
def bar(title: str, *, printing: bool = False) -> Iterator[Callable[..., None]]:
    """A progress bar with time left. Yields a function of (done, of how many) and, where it changes, the title.

    Args:
        printing: meanwhile the command prints on standard output; where that is the terminal too, there is no bar.
    """
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = terminal(err=True)
    shown = console.is_terminal and not (printing and sys.stdout.isatty())
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(
        *columns, console=console, disable=not shown, transient=True, redirect_stdout=not printing
    ) as progress:
        line = progress.add_task(escape(literal(title)), total=None)

        def show(done: int, n: int, what: str | None = None) -> None:
            progress.update(line, completed=done, total=n, description=None if what is None else escape(literal(what)))

        yield show
