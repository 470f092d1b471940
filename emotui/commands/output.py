"""How commands print: one JSON document with `--json`, tables for people without; and how they hear of their end."""

import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from types import FrameType, MappingProxyType
from typing import TYPE_CHECKING, Any

import click

from emotui.controls import CONTROLS

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

json_option: Callable[[Any], Any] = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document and nothing else."
)
skip_bad_option: Callable[[Any], Any] = click.option(
    "--skip-bad", is_flag=True, help="Leave out bad lines and say which, instead of refusing the file."
)


CONFUSION = "confusion"
WIDEST = 12
"""Labels of a confusion that fit into a terminal side by side."""


def say(text: object = "", *, err: bool = False, nl: bool = True) -> None:
    """Lines on standard output, or on standard error: the one way in which a command prints what may come from data.

    Whatever a terminal would act on is escaped, line ends and tabs excepted.
    """
    from emotui.formats.rows import literal

    lines = str(text).split("\n")
    click.echo("\n".join("\t".join(map(literal, line.split("\t"))) for line in lines), err=err, nl=nl)


def warn(line: str) -> None:
    """A line on standard error, with whatever a terminal would act on escaped."""
    from emotui.formats.rows import literal

    click.echo(literal(line), err=True)


def print_json_line(record: bytes) -> None:
    """A record as one line of JSON on standard output."""
    from emotui.formats.json_document import escaped

    click.echo(escaped(record.decode()))


def print_json(document: object) -> None:
    """One JSON document on standard output."""
    from emotui.formats import to_json_document

    click.echo(to_json_document(document))


def print_json_of_many(head: object, name: str, records: Iterable[object]) -> None:
    """One JSON document with one more member, a list, each record of which is written as it is read."""
    from emotui.formats import to_json_document

    click.echo(f"{to_json_document(head)[:-1]},{to_json_document(name)}:[", nl=False)
    for place, record in enumerate(records):
        click.echo("," * bool(place) + to_json_document(record), nl=False)
    click.echo("]}")


def show_step(step: str) -> None:
    """What is being done, in the last line of a terminal's standard error; empty: nothing any more."""
    from emotui.formats.rows import literal

    if sys.stderr.isatty():
        click.echo(f"\r\x1b[K … {literal(step)}\r" if step else "\r\x1b[K", err=True, nl=False)


def terminal(*, err: bool = False) -> "Console":
    """What prints tables and bars, on standard output or on standard error."""
    return _plain_console()(stderr=err)


@cache
def _plain_console() -> "type[Console]":
    """Rich's console that leaves out whatever a terminal would act on in what is printed; styles are its own to write.

    Text of data is written with escapes by `as_written`; here nothing passes that was not. It has no width, so the
    columns stay.
    """
    from rich.console import Console
    from rich.segment import Segment

    class PlainConsole(Console):
        def render(self, *given: Any, **more: Any) -> Iterator[Segment]:
            for segment in super().render(*given, **more):
                if segment.control or segment.text == "\n" or segment.text.isprintable():
                    yield segment
                else:
                    lines = segment.text.split("\n")
                    yield Segment("\n".join(CONTROLS.sub("", line) for line in lines), segment.style)

    return PlainConsole


def as_written(text: str, style: str = "", **kept: Any) -> "Text":
    """Text for a table as it is: no markup is read in it, and what a terminal would act on is escaped.

    Args:
        kept: what else rich keeps with a text, such as how it overflows.
    """
    from rich.text import Text

    from emotui.formats.rows import literal

    return Text(literal(text), style=style, **kept)


def print_figures(title: str, figures: Mapping[str, object]) -> None:
    """A two-column table of the figures of a report; nested groups (`by_emotion`) become tables of their own.

    An interval (a list of two numbers, or what `ci95` has of a figure) stands in brackets; other lists are for programs
    and left out. Conventions and notes stand below.
    """
    console = terminal()
    held = figures.get("ci95")
    intervals: Mapping[str, Any] = held if isinstance(held, Mapping) else {}
    apart = {"notes", "conventions"} | ({"ci95"} if intervals else set())
    groups = {name: value for name, value in figures.items() if isinstance(value, Mapping) and name not in apart}
    _print_pairs(console, title, figures, intervals)
    for name, group in groups.items():
        _print_group(console, name, group, _within(intervals, name))
    for below in ("conventions", "notes"):
        words = figures.get(below)
        if isinstance(words, Mapping):
            for line in folded(without_nested(words, intervals) if below == "notes" else words):
                console.print(as_written(line, "dim"))


def without_nested(notes: Mapping[str, Any], intervals: Mapping[str, Any]) -> dict[str, Any]:
    """Notes, with one for each group in place of those on the intervals of its figures, which are often very many.

    Args:
        notes: `ci95.GROUP.NAME.FIGURE` is about the interval of such a figure.
    """
    kept: dict[str, Any] = {}
    groups: dict[str, list[str]] = {}
    for name, why in notes.items():
        figure = name.removeprefix("ci95.")
        if figure != name and figure.count(".") > 1:
            groups.setdefault(figure.partition(".")[0], []).append(figure)
        else:
            kept[name] = why
    for group, figures in groups.items():
        lacking = sum(intervals.get(figure) is None for figure in figures)
        few = len(figures) - lacking
        told = [f"{few} are over few samples"] * (few > 0) + [f"{lacking} figures have none"] * (lacking > 0)
        kept[f"ci95.{group}"] = f"of the intervals {', '.join(told)}; --json says of each why"
    return kept


def folded(notes: Mapping[str, Any]) -> list[str]:
    """A line a cause: figures with one cause share a line, and so do labels of which one thing is said.

    Args:
        notes: why, by the figure's name; of a label's figure `by_label.LABEL.FIGURE`, and LABEL begins the cause.
    """
    figures: dict[tuple[str, str], list[str]] = {}
    labels: dict[tuple[str, str], list[str]] = {}
    for name, why in notes.items():
        group, _, rest = name.partition(".")
        label, _, figure = rest.rpartition(".")
        if label and str(why).startswith(f"{label} "):
            key = f"{group}.*.{figure}", str(why).removeprefix(label)
            labels.setdefault(key, []).append(label)
        else:
            key = "", str(why)
        figures.setdefault(key, []).append(name)
    return [
        f"{key[0]}: {len(labels[key])} labels{key[1].replace(' is ', ' are ', 1)}: {', '.join(labels[key])}"
        if len(names) > 1 and key in labels
        else f"{', '.join(names)}: {notes[names[0]]}"
        for key, names in figures.items()
    ]


def _within(intervals: Mapping[str, Any], group: str) -> dict[str, Any]:
    """The intervals of the figures of a group, by their names in it."""
    return {name.removeprefix(f"{group}."): each for name, each in intervals.items() if name.startswith(f"{group}.")}


def _print_pairs(
    console: "Console", title: str, figures: Mapping[str, object], intervals: Mapping[str, Any] = MappingProxyType({})
) -> None:
    beside = any(name in intervals for name in figures)
    table = _table("", "", *[""] * beside, show_header=False)
    for name, value in figures.items():
        if not isinstance(value, Mapping | list) or _is_interval(value):
            sure = [as_written(shown(intervals[name]) if name in intervals else "")] if beside else []
            table.add_row(as_written(str(name)), as_written(shown(value)), *sure)
    _print_table(console, title, table)


def _print_group(console: "Console", name: str, group: Mapping[str, Any], intervals: Mapping[str, Any]) -> None:
    rows = {key: value for key, value in group.items() if isinstance(value, Mapping)}
    single = {key: value for key, value in group.items() if not isinstance(value, Mapping | list)}
    if single:
        _print_pairs(console, name, single, intervals)
    rows = {key: _with_intervals(row, _within(intervals, str(key))) for key, row in rows.items()}
    columns = list(dict.fromkeys(c for row in rows.values() for c, value in row.items() if not _nested(value)))
    if not columns:
        return
    if name == CONFUSION and len(columns) > WIDEST:
        _print_confused(console, rows)
        return
    if name == CONFUSION:  # a pair that never came up was counted, unlike a figure that is undefined
        rows = {key: dict.fromkeys(columns, 0) | dict(row) for key, row in rows.items()}
    heading = "" if single else name
    none = "no label" if name == CONFUSION else ""
    for part in _pages(console.width, rows, columns):
        table = _table("", *(column or none for column in part))
        for key, row in rows.items():
            table.add_row(as_written(str(key) or none), *(as_written(shown(row.get(column))) for column in part))
        if heading:
            _print_table(console, heading, table)
        else:
            console.print(table)
        heading = f"{name} (further columns)"


def _with_intervals(row: Mapping[str, Any], intervals: Mapping[str, Any]) -> dict[str, Any]:
    """A row of a group with an interval behind each figure that has one."""
    found: dict[str, Any] = {}
    for column, value in row.items():
        found[column] = value
        if column in intervals:
            found[f"{column} 95%"] = intervals[column]
    return found


def _nested(value: object) -> bool:
    return isinstance(value, Mapping | list) and not _is_interval(value)


def _pages(room: int, rows: Mapping[str, Mapping[str, Any]], columns: Sequence[str]) -> list[list[str]]:
    """The columns, dealt out to tables none of which has to cut a name or a figure to fit into `room` cells."""
    from emotui.formats.rows import literal

    lead = max(len(literal(str(key))) for key in rows)
    pages: list[list[str]] = []
    left = 0
    for column in columns:
        need = max(len(literal(text)) for text in (column, *(shown(row.get(column)) for row in rows.values()))) + 2
        if not pages or need > left:
            pages.append([])
            left = room - lead
        pages[-1].append(column)
        left -= need
    return pages


def _print_confused(console: "Console", rows: Mapping[str, Mapping[str, Any]]) -> None:
    """Of a confusion too wide for a terminal its most frequent mistakes."""
    pairs = [(count, gold, said) for gold, row in rows.items() for said, count in row.items() if said != gold]
    worst = sorted(pairs, key=lambda pair: -pair[0])[:WIDEST]
    table = _table("gold", "predicted", "count")
    table.columns[1].justify = "left"
    for count, gold, said in worst:
        table.add_row(as_written(gold), as_written(said or "–"), as_written(str(count)))
    _print_table(console, f"{CONFUSION}: the most frequent mistakes", table)


def _table(*columns: str, show_header: bool = True) -> "Table":
    """The first column at the left, figures at the right."""
    from rich.table import Table

    table = Table(show_header=show_header, box=None, pad_edge=False)
    for at, column in enumerate(columns):
        table.add_column(as_written(column), justify="right" if at else "left")
    return table


def _print_table(console: "Console", title: str, table: "Table") -> None:
    """A title over its table; in a line of its own, since a table's own title is folded to the table's width."""
    console.print(as_written(title, "italic"), soft_wrap=True)
    if table.row_count:
        console.print(table)


def _is_interval(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(isinstance(one, int | float) for one in value)


def shown(value: object) -> str:
    """A figure as people read it: three decimals (of a tiny one its power of ten), `–` where it is undefined."""
    if value is None:
        return "–"
    if isinstance(value, list):
        return f"[{', '.join(map(shown, value))}]"
    if isinstance(value, float):
        return f"{value:.3f}" if value == 0 or abs(value) >= 0.0005 else f"{value:.1e}"
    return str(value)


# Progress on standard error: a bar in a terminal, nothing elsewhere.


@contextmanager
def bar(title: str, *, printing: bool = False) -> Iterator[Callable[..., None]]:
    """A progress bar with time left. Yields a function of (done, of how many) and, where it changes, the title.

    Args:
        printing: meanwhile the command prints on standard output; where that is the terminal too, there is no bar.
    """
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from emotui.formats.rows import literal

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


# A terminal that has gone away: where the system sends no signal of that, somebody has to look.


def end_with_terminal() -> None:
    """End this process, as a hang-up does, once its terminal is gone.

    A program that leads no session of its terminal (in a container, under `setsid`) gets no SIGHUP, and one that was
    started where hang-ups are ignored (`nohup`) takes no notice of it; its reading of keys would find the end of them
    again and again, and take a whole core for ever.
    """
    if not hasattr(select, "poll") or not hasattr(signal, "SIGHUP") or not sys.stdin.isatty():
        return
    threading.Thread(target=_wait, args=(sys.stdin.fileno(),), daemon=True).start()


SERVED_BY = "EMOTUI_SERVED_BY"
"""The variable that tells a workbench in a browser the process of its server."""

_LOOK = 0.5
"""Seconds between two looks whether the server is there."""


def end_with_server() -> None:
    """End this process once the server that started it is gone, however that ended; its models end with it."""
    server = os.environ.get(SERVED_BY, "")
    if os.name == "posix" and server.isdecimal():
        threading.Thread(target=_wait_for_end_of, args=(int(server),), daemon=True).start()


def _wait_for_end_of(server: int) -> None:
    while os.getppid() == server:
        time.sleep(_LOOK)
    os._exit(1)


def _wait(terminal: int) -> None:
    watched = select.poll()
    watched.register(terminal, 0)  # a hang-up is told unasked
    try:
        watched.poll()
    except OSError:
        return
    ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    os.kill(os.getpid(), signal.SIGTERM if ignored else signal.SIGHUP)


@contextmanager
def stopping() -> Iterator[Callable[[], bool]]:
    """Yields a function that says whether the person asked to stop; a second Ctrl-C ends at once, as without this."""
    asked: list[int] = []
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def ask(number: int, frame: FrameType | None) -> None:
        asked.append(number)
        signal.signal(number, before[signal.Signals(number)])
        say("stopping after this step (once more: at once)", err=True)

    for number in before:
        signal.signal(number, ask)
    try:
        yield lambda: bool(asked)
    finally:
        for number, known in before.items():
            signal.signal(number, known)
