"""Which label of a span a model takes for which: a table for each run with labels, where gold has some too."""

from emotui.metrics.transitions import ordered
from emotui.tables import Cell, Column, ResultsTable, Row
from emotui.workbench.results.span_figures import RunFigures

LABELS_MET = (
    "Spans that met (aligned, with F1 above 0) and have a label on both sides, over all repeats: gold labels by row, "
    "the model's by column."
)


def confusion_tables(title: str, part: str, run: RunFigures, setting: str) -> list[ResultsTable]:
    """The table of one run in one part; none where no two spans with labels met."""
    found = run.parts[part].confusion if part in run.parts else {}
    if not found:
        return []
    gold, said = (ordered({pair[side] for pair in found}) for side in (0, 1))
    columns = tuple(Column(f"label/{name}", name, "the model's label", "count") for name in said)
    rows = []
    for label in gold:
        figures = [found.get((label, name)) for name in said]
        cells = (Cell(0) if one is None else Cell(one.value, samples=one.samples, run=run.run.run) for one in figures)
        rows.append(Row(label, "gold", "gold", tuple(cells)))
    wrong = sum(int(one.value or 0) for pair, one in found.items() if pair[0] != pair[1])
    whole = sum(int(one.value or 0) for one in found.values())
    notes = (LABELS_MET, f"{whole} such pairs, of which {wrong} have different labels.")
    head = f"{title}: labels of spans, {run.run.model}{f', {setting}' if run.way else ''}"
    return [ResultsTable(f"span-labels-{part}-{run.run.run}", head, columns, tuple(rows), notes, heat=True)]
