"""What is counted into tables in Results: asked for, waited for, stopped, and written as a report."""

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from textual import on
from textual.message import Message
from textual.timer import Timer

from emotui.screens.requests import LatestRequest
from emotui.screens.results.compared import ComparedPlace
from emotui.screens.results.state import Counting, Found, Question
from emotui.screens.session import Session
from emotui.screens.widgets.number_format import count, so_many

if TYPE_CHECKING:
    from emotui.workbench.progress import OnProgress
    from emotui.workbench.results.service import Results as Service

PATIENCE = 0.3
"""Seconds before one is told that it is being counted."""


class CountedPlace(ComparedPlace):
    """Asks for what is looked at until it is there, and writes the tables as a report."""

    class Written(Message):
        """The report is in its file; or, `tables` None, it was stopped before."""

        def __init__(self, path: str, tables: int | None) -> None:
            super().__init__()
            self.path, self.tables = path, tables

    def __init__(self, session: Session, *, id: str | None = None) -> None:
        super().__init__(session, id=id)
        self._results: Callable[[], Service] | None = None
        self._standing: object = None
        self._desk: LatestRequest[Question, Found] | None = None
        self._counting = Counting()
        self._began = self._asked = 0.0
        """When what is counted now was asked for, and when the first of what is waited for was."""
        self._clock: Timer | None = None
        self._stopped = False
        self._error: str | None = None

    def _count_anew(self) -> None:
        self._counting.stop()
        self.looked.outdate()
        self._stopped, self._error = False, None
        if self._desk is not None and self.display:
            self._look()

    def _look(self) -> None:
        """Show what the view needs, and ask for it where it is not at hand."""
        wanted = self.looked.wanted()
        if self._desk is not None and wanted is not None and not self._stopped and not self.looked.fresh(wanted):
            self._counting.stop()
            self._counting, self._began = Counting(), time.monotonic()
            self._desk.ask(Question(wanted, self._counting))
        self._wait()
        self.draw()

    def _wait(self) -> None:
        """Tell soon that one waits for an answer."""
        if self._clock is None and self.busy:
            self._began = self._asked = time.monotonic()
            self._clock = self.set_interval(PATIENCE, self._tick)

    def compare(self) -> None:
        super().compare()
        self._wait()

    def _tick(self) -> None:
        if not self.busy and self._clock is not None:
            self._clock.stop()
            self._clock = None
        self._draw_waiting()

    def _counted(self, question: Question, found: Found) -> None:
        if found.value is not None:
            self.looked.take(found)
        if question.counting is self._counting:
            self._error = None
            if found.value is None:
                self.draw()
            else:
                self._look()

    def _refuse(self, question: Question, why: str) -> None:
        if question.counting is self._counting:
            self._error = why
            self.draw()

    def _draw_waiting(self) -> None:
        raise NotImplementedError

    def do_halt(self) -> None:
        """Stop counting; what is counted stays."""
        self._stopped = True
        self._counting.stop()
        self.draw()

    def do_export(self) -> None:
        from emotui.screens.dialogs.file import FileDialog

        results, found = self._results, self.looked.tables_found
        if results is None or found is None:
            return
        runs, published = sorted(found.datasets), self.looked.published

        def write(path: str, on_progress: "OnProgress", over: threading.Event) -> None:
            from emotui.workbench.progress import Cancelled
            from emotui.workbench.reports.report import write_report

            service, stopped = results(), over.is_set
            try:
                written = write_report(
                    service.store,
                    service,
                    runs,
                    path,
                    published=published,
                    on_progress=on_progress,
                    cancelled=stopped,
                )
            except Cancelled:
                self.post_message(self.Written(path, None))
                return
            self.post_message(self.Written(path, len(written["tables"])))

        def chosen(path: str) -> None:
            over = threading.Event()
            self.session.begin(f"report to {path}", lambda on_progress: write(path, on_progress, over), over.set)

        what = f"Report of {count(len(runs))} run{'s' * (len(runs) != 1)}"
        FileDialog(what, "results.md", (".md", ".tex", ".html", ".csv", ".svg", ".png")).ask(self.app, chosen)

    @on(Written)
    def _written(self, event: Written) -> None:
        event.stop()
        if event.tables is None:
            self.notify(f"Stopped: {event.path} is not written", markup=False)
        else:
            self.notify(f"{event.path} is written: {so_many(event.tables, 'table')}", markup=False)
