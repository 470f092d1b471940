"""Help: every key with what it does, those of the open place first, and what the marks mean; in columns."""

import textwrap
from collections.abc import Mapping, Sequence

from textual import events
from textual.binding import Binding
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from emotui.screens.actions import Action
from emotui.screens.dialogs.dialog import Dialog
from emotui.screens.widgets.cell_width import width
from emotui.store.query import MARKS

Signs = tuple[str, tuple[tuple[str, str], ...]]
Block = tuple[str, tuple[tuple[str, str], ...]]
"""A heading, and under it keys or signs with what each does or means."""

_SIGNS = (
    ("underlined", "gold span"),
    ("on a ground, or reversed", "predicted span"),
    ("both at once", "where they meet"),
    ("dotted bar", "predicted, but nothing except a keyword"),
    ("struck through", "predicted, but not in the text"),
    ("◦ ▸ ◂ ␛", "stand for characters that cannot be seen"),
    ("–", "no figure is defined"),
)

_COLUMN = 52
"""Cells that a column has at least."""

_KEY, _LONG_KEY = 7, 25


class HelpDialog(Dialog[str]):
    """Scrolls with the arrow keys; any of ?, Esc, q leaves. The key of the tour leaves with `tour`.

    Args:
        here: the name of the open place.
        own: what keys do in it.
        rest: what they do besides.
        places: the places by their numbers.
        signs: what the marks of the places mean, under a heading each.
    """

    BINDINGS = [
        Binding("question_mark,f1,q", "leave", show=False),
        Binding("j", "scroll(1)", show=False),
        Binding("k", "scroll(-1)", show=False),
    ]
    DEFAULT_CSS = """
    HelpDialog > #sheet { width: 96%; max-width: 176; }
    HelpDialog VerticalScroll { height: 80vh; scrollbar-size-vertical: 1; }
    HelpDialog Horizontal { height: auto; }
    HelpDialog .help-column { width: 1fr; height: auto; }
    """

    def __init__(
        self,
        here: str,
        own: Sequence[Action],
        rest: Sequence[Action],
        places: Mapping[int, str],
        signs: Sequence[Signs],
    ) -> None:
        super().__init__(f"Help: {here}", ("↑ ↓", "scroll"))
        self._blocks = blocks(here, own, rest, places, signs)
        self._tour = {key for one in rest if one.id == "tour" for key in one.keys}

    def body(self) -> list[Widget]:
        return [VerticalScroll(Horizontal(id="help-page"))]

    def on_mount(self) -> None:
        """Scroll with the arrow keys at once."""
        super().on_mount()
        self.query_one(VerticalScroll).focus()

    def on_key(self, event: events.Key) -> None:
        if event.key in self._tour:
            event.stop()
            self.dismiss("tour")

    def on_resize(self, event: events.Resize) -> None:
        """As many columns as fit."""
        cells = min(int(event.size.width * 0.96), 176) - 5
        n = max(cells // _COLUMN, 1)
        page = self.query_one("#help-page", Horizontal)
        page.remove_children()
        page.mount_all(
            Static(_drawn(column, cells // n - 2), classes="help-column") for column in in_columns(self._blocks, n)
        )

    def action_scroll(self, step: int) -> None:
        """One line down or up."""
        self.query_one(VerticalScroll).scroll_relative(y=step, animate=False)


def blocks(
    here: str, own: Sequence[Action], rest: Sequence[Action], places: Mapping[int, str], signs: Sequence[Signs]
) -> list[Block]:
    """Everything that the help says, in the order in which it is looked for."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for action in rest:
        if action.shown:
            groups.setdefault(action.group, []).append((action.shown, action.help))
    general = ("Move", "List", "Runs", "Sample", "Views", "Writing", "Tool")
    return [
        (here, tuple((action.shown, action.help) for action in own if action.shown)),
        ("Places", (("1 … 0", "   ".join(f"{number}\N{NO-BREAK SPACE}{title}" for number, title in places.items())),)),
        *((name, tuple(groups[name])) for name in general if name in groups),
        ("Marks in the list", tuple(MARKS.items())),
        ("In the text", _SIGNS),
        *signs,
        *((name, tuple(rows)) for name, rows in groups.items() if name not in general),
    ]


def in_columns(found: Sequence[Block], n: int) -> list[list[Block]]:
    """The blocks in so many columns, in order from the top of the first to the end of the last, none of them parted."""
    most = -(-sum(len(rows) + 2 for _, rows in found) // n)
    columns: list[list[Block]] = [[]]
    used = 0
    for block in found:
        if used and used + len(block[1]) / 2 > most and len(columns) < n:
            columns.append([])
            used = 0
        columns[-1].append(block)
        used += len(block[1]) + 2
    return columns


def _drawn(column: Sequence[Block], cells: int) -> Content:
    lines: list[Content] = []
    for heading, rows in column:
        lines.append(Content.assemble((heading, "bold $primary")))
        widest = max((width(sign) for sign, _ in rows), default=0)
        room = _KEY if widest <= _KEY else min(widest + 1, _LONG_KEY)
        for sign, words in rows:
            first, *more = textwrap.wrap(words, max(cells - room - 3, 20)) or [""]
            lines.append(Content.assemble((f"  {sign:<{room}} ", "bold"), (first, "$text-muted")))
            lines += [Content.assemble((" " * (room + 3) + line, "$text-muted")) for line in more]
        lines.append(Content(""))
    return Content("\n").join(lines)
