"""A question of one's own to the store, in SQL, and its answer in a table; nothing can be changed from here."""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.binding import Binding
from textual.geometry import Size
from textual.widget import Widget
from textual.widgets import Input, Label

from emotui.screens.dialogs.dialog import Dialog
from emotui.screens.long_text import LongInput
from emotui.screens.requests import LatestRequest
from emotui.screens.session import Session
from emotui.screens.widgets.cell_width import fit, width
from emotui.screens.widgets.line import Part
from emotui.screens.widgets.number_format import count
from emotui.screens.widgets.page import Lines, Page

if TYPE_CHECKING:
    from emotui.workbench.query_process import Table

FIRST = "SELECT dataset, kind, source, count(DISTINCT id) AS texts FROM said GROUP BY ALL ORDER BY ALL"
FIELD = "sql"
"""The field of the query, as drafts name it."""

VIEWS = "texts · gold · said · runs · scores · score_values · ratings   (docs/store.md)"


class SqlDialog(Dialog[None]):
    """Enter asks; Esc stops a query that takes long, and leaves where there is none. ↑ ↓ scroll the answer.

    Args:
        ask: answers a question in a thread; once the event is set, it ends.
        session: remembers what is asked and what is written.
    """

    BINDINGS = [
        Binding("up", "scroll(-1)", show=False, priority=True),
        Binding("down", "scroll(1)", show=False, priority=True),
        Binding("pageup", "scroll(-10)", show=False, priority=True),
        Binding("pagedown", "scroll(10)", show=False, priority=True),
    ]
    wide = True
    DEFAULT_CSS = """
    SqlDialog > #sheet { height: 90%; }
    SqlDialog #answer { height: 1fr; margin: 1 0 0 0; background: $surface; }
    """

    def __init__(self, ask: "Callable[[str, threading.Event], Table]", session: Session) -> None:
        super().__init__("SQL", ("Enter", "ask"), ("^O", "$EDITOR"), ("↑ ↓", "scroll"))
        self._session = session
        self._stop = threading.Event()
        self._asked: LatestRequest[str, Table] = LatestRequest(
            "sql", self, lambda question: ask(question, self._stop), self._show, self._failed
        )

    @property
    def busy(self) -> bool:
        """Whether an answer is on its way."""
        return self._asked.busy

    def body(self) -> list[Widget]:
        session = self._session
        query = LongInput(
            session.query or FIRST, drafts=session.drafts, field=session.field(FIELD), id="query", compact=True
        )
        return [Label(VIEWS, markup=False), query, Page(id="answer")]

    def on_mount(self) -> None:
        """Type at once."""
        super().on_mount()
        self.query_one(Input).focus()

    def result(self) -> None:
        """Ask; the dialog stays. While a query is going on there is no other."""
        if self.text("query") and not self.busy:
            self._stop.clear()
            self.refuse("")
            self._session.keep_query(self.text("query"))
            self._session.drafts.drop(self._session.field(FIELD))
            self._page.show([[Part("asking …   Esc stops", "dim")]])
            self._asked.ask(self.text("query"))

    def action_leave(self) -> None:
        """Stop the query, or leave."""
        if self.busy:
            self._stop.set()
        else:
            super().action_leave()

    def action_scroll(self, step: int) -> None:
        """So many lines down or up."""
        self._page.scroll_relative(y=step, animate=False)

    @property
    def _page(self) -> Page:
        return self.query_one("#answer", Page)

    def _show(self, _: str, table: "Table") -> None:
        self._page.show_for(lambda room: lines_of(table, room), home=True)

    def _failed(self, _: str, why: str) -> None:
        self._page.show([])
        self.refuse(why)


def lines_of(table: "Table", room: Size) -> Lines:
    """A table where it fits the room, else a row after the other, a line a value."""
    n = len(table.rows)
    last = [Part(f"{count(n)} row{'s' * (n != 1)}" + (", and more" if table.more else ""), "dim")]
    if table.full:
        last = [Part(table.ending, "dim")]
    if not table.rows:
        return [last]
    if table.cells() > room.width:
        lead = max(width(name) for name in table.columns)
        return [line for row in table.rows for line in _upright(table, row, lead, room.width)] + [last]
    rows = table.cut()
    widths = [max(map(width, column)) for column in zip(table.columns, *rows, strict=True)]
    return [
        [Part(_aligned(table.columns, widths, table.numbers), "dim")],
        *([Part(_aligned(row, widths, table.numbers))] for row in rows),
        last,
    ]


def _aligned(texts: "list[str] | tuple[str, ...]", widths: list[int], numbers: tuple[bool, ...]) -> str:
    cells = [
        " " * (cells - width(text)) + text if number else fit(text, cells)
        for text, cells, number in zip(texts, widths, numbers, strict=True)
    ]
    return "  ".join(cells)


def _upright(table: "Table", row: tuple[str, ...], lead: int, room: int) -> Lines:
    """A row, a line a value, long ones folded; an empty line behind it."""
    lines: list[list[Part]] = []
    cells = max(room - lead - 2, 10)
    for name, text in zip(table.columns, row, strict=True):
        folded = [text[start : start + cells] for start in range(0, len(text), cells)] or [""]
        lines.append([Part(fit(name, lead + 2), "dim"), Part(folded[0])])
        lines += [[Part(" " * (lead + 2)), Part(more)] for more in folded[1:]]
    return [*lines, [Part("")]]
