"""Rows whose figures are of a former version of gold say so where they stand."""

from collections.abc import Sequence

from msgspec.structs import replace

from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.tables import ResultsTable, Row
from emotui.workbench.texts import runs_of


def told_of_gold(tables: Sequence[ResultsTable], store: Store, dataset: Dataset) -> tuple[ResultsTable, ...]:
    """The tables, with the rows of runs marked that are scored under an older gold, and baselines beside such."""
    if dataset.gold == 1:
        return tuple(tables)
    under = {
        run.run: versions
        for run in runs_of(store, dataset)
        if min(versions := store.golds_of(run.run), default=dataset.gold) < dataset.gold
    }
    return tuple(_marked(table, under, dataset.gold) for table in tables)


def _marked(table: ResultsTable, under: dict[str, tuple[int, ...]], today: int) -> ResultsTable:
    versions = [_versions(row, under) for row in table.rows]
    if not any(versions):
        return table
    rows = []
    for row, version in zip(table.rows, versions, strict=True):
        if version:
            mixed = " and ".join(map(str, version)) + (", mixed," if len(version) > 1 else "")
            said = f"under gold {mixed} of {today}: rescore"
        elif row.kind == "baseline":
            said = f"under gold {today}, unlike runs above"
        else:
            rows.append(row)
            continue
        rows.append(replace(row, gold=said, remark="; ".join(filter(None, (row.remark, said)))))
    return replace(table, rows=tuple(rows))


def _versions(row: Row, under: dict[str, tuple[int, ...]]) -> tuple[int, ...]:
    """The versions of gold that the row's figures are of, where they are not all today's."""
    return tuple(sorted({version for cell in row.cells if cell.run in under for version in under[cell.run]}))
