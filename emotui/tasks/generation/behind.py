"""The texts behind the figures of generation, for the tables of Results: the worst first where a metric tells."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from emotui.metrics.fluency import METRIC as PERPLEXITY
from emotui.metrics.thirteen import REGISTRY
from emotui.tables import Cell, ResultsTable, Row
from emotui.tasks.generation.detail import Detail

Said = Sequence[tuple[int, Detail]]
"""The answers of a run, each with the number of its text."""

_HIGHER = {metric.name for metric in (*REGISTRY, PERPLEXITY) if metric.higher_is_better}


def with_texts(table: ResultsTable, said: Mapping[str, Said]) -> ResultsTable:
    """The same table with the texts behind each figure of a run.

    Args:
        said: by the id of a run.
    """

    def filled(row: Row, at: int, cell: Cell) -> Cell:
        if cell.value is None or cell.run is None or cell.run not in said:
            return cell
        return replace(cell, samples=texts_behind(said[cell.run], table.columns[at].key, row.label))

    rows = tuple(
        replace(row, cells=tuple(filled(row, at, cell) for at, cell in enumerate(row.cells))) for row in table.rows
    )
    return replace(table, rows=rows)


def texts_behind(said: Said, key: str, label: str) -> tuple[int, ...]:
    """The numbers of the texts that a figure counts.

    Args:
        key: of the figure's column. Where it is a metric's, those without a value are left out, the worst first.
        label: of its row. Where it is a target emotion, only texts of that.
    """
    targets = {one.target for _, one in said}
    own = [(number, one) for number, one in said if label not in targets or one.target == label]
    if key == "silent":
        own = [(number, one) for number, one in own if one.silent]
    valued = [(one.values[key], number) for number, one in own if key in one.values]
    if valued:
        ordered = sorted(valued, reverse=key not in _HIGHER)
        return tuple(dict.fromkeys(number for _, number in ordered))
    return tuple(dict.fromkeys(number for number, _ in own))
