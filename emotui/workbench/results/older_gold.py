"""Rows whose figures are of a former version of gold say so where they stand."""

from collections.abc import Sequence

from msgspec.structs import replace

from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.tables import ResultsTable, Row


def told_of_gold(tables: Sequence[ResultsTable], store: Store, dataset: Dataset) -> tuple[ResultsTable, ...]:
    """The tables, with the rows of runs marked that are scored under an older gold, and baselines beside such."""
    if dataset.gold == 1:
        return tuple(tables)
    under = {
        run.run: version
        for run in store.runs(dataset.dataset)
        if (version := store.scored_under(run.run)) is not None and version < dataset.gold
    }
    return tuple(_marked(table, under, dataset.gold) for table in tables)


def _marked(table: ResultsTable, under: dict[str, int], today: int) -> ResultsTable:
    versions = [_oldest(row, under) for row in table.rows]
    if not any(versions):
        return table
    rows = []
    for row, version in zip(table.rows, versions, strict=True):
        if version is not None:
            said = f"under gold {version} of {today}: rescore"
        elif row.kind == "baseline":
            said = f"under gold {today}, unlike runs above"
        else:
            rows.append(row)
            continue
        rows.append(replace(row, gold=said, remark="; ".join(filter(None, (row.remark, said)))))
    return replace(table, rows=tuple(rows))


def _oldest(row: Row, under: dict[str, int]) -> int | None:
    """The oldest version of gold that a figure of the row is of, where that is not today's."""
    found = [under[cell.run] for cell in row.cells if cell.run in under]
    return min(found) if found else None
