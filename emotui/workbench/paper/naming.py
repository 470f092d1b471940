"""Tables under names that say nothing of this machine, and under the ids that runs had before."""

import re
from collections.abc import Mapping

from msgspec.structs import replace

from emotui.store.query import Run
from emotui.tables import Cell, Column, ResultsTable, Row
from emotui.workbench.runs.run_file import portable


class Naming:
    """Replaces specs with folders and addresses by portable ones, and ids by those that they stand for."""

    def __init__(self, runs: list[Run], ids: Mapping[str, str]) -> None:
        """`ids`: what a run is to be called, where that is not its id."""
        pairs = {run.model: portable(run.model) for run in runs if run.source == "model"} | dict(ids)
        self._pairs = {old: new for old, new in pairs.items() if old != new}
        self._ids = dict(ids)
        words = sorted(map(re.escape, self._pairs), key=len, reverse=True)
        self._any = re.compile(rf"(?<!\w)(?:{'|'.join(words)})(?!\w)") if words else None

    def run(self, run: str) -> str:
        """What a run is called."""
        return self._ids.get(run, run)

    def text(self, text: str) -> str:
        """A text with all of them replaced."""
        return text if self._any is None else self._any.sub(lambda found: self._pairs[found[0]], text)

    def table(self, table: ResultsTable) -> ResultsTable:
        """A table with all of them replaced."""
        if self._any is None:
            return table
        return replace(
            table,
            key=self.text(table.key),
            title=self.text(table.title),
            columns=tuple(self._column(column) for column in table.columns),
            rows=tuple(self._row(row) for row in table.rows),
            notes=tuple(map(self.text, table.notes)),
            published_notes=tuple(map(self.text, table.published_notes)),
        )

    def _column(self, column: Column) -> Column:
        return replace(column, title=self.text(column.title), group=self.text(column.group))

    def _row(self, row: Row) -> Row:
        cells = tuple(self._cell(cell) for cell in row.cells)
        told = {name: self.text(getattr(row, name)) for name in ("label", "source", "remark", "gold")}
        return replace(row, cells=cells, **told)

    def _cell(self, cell: Cell) -> Cell:
        return replace(
            cell,
            convention=self.text(cell.convention),
            why=None if cell.why is None else self.text(cell.why),
            run=None if cell.run is None else self.run(cell.run),
        )
