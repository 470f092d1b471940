"""Transitions between sentences as a table for the grid: from the row's label to the column's."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from emotui.workbench.results_table import ResultsTable, Transitions


def as_table(found: "Transitions") -> "ResultsTable":
    """Counts of pairs, each with the samples that have one."""
    from emotui.workbench.results_table import Cell, Column, ResultsTable, Row

    names = found.labels
    rows = []
    for at, name in enumerate(names):
        cells = []
        for to in range(len(names)):
            share = found.row_shares[at][to]
            leaves = "" if share is None else f"{share:.0%} of the pairs that leave {name}; "
            all_pairs = found.shares[at][to] or 0
            cells.append(
                Cell(
                    found.counts[at][to],
                    None,
                    f"{leaves}{all_pairs:.1%} of all {found.pairs} pairs of adjacent sentences",
                    None,
                    found.samples[at][to],
                )
            )
        rows.append(Row(f"from {name}", "gold", "", tuple(cells)))
    notes = [
        f"{found.pairs} pairs of adjacent sentences in the gold passages, by {found.by} (SEER, appendix C): from the "
        "row's to the column's. Shades go by fifths of the largest count; # shows the counts."
    ]
    if found.unlabelled:
        notes.append(f"{found.unlabelled} pairs are left out: a sentence of theirs has no {found.by}.")
    columns = tuple(Column(name, name, "to", "count") for name in names)
    return ResultsTable(f"transitions-{found.by}", f"Transitions by {found.by}", columns, tuple(rows), tuple(notes))
