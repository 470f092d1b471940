"""What a layout cannot hold of rows, and every label that rows have."""

from collections.abc import Collection, Iterable, Sequence

from emotui.formats.layouts.layout import TextRow
from emotui.formats.layouts.tools.said import Lost


def lost(rows: Iterable[TextRow], held: Collection[str]) -> Lost:
    """What of the rows has no place in a layout that holds these keys."""
    found = Lost()
    for row in rows:
        found.fields(row, held)
    return found


def all_labels(rows: Sequence[TextRow]) -> list[str]:
    """Every label of the texts as a whole, in the order in which they come up."""
    found: dict[str, None] = {}
    for row in rows:
        said = row.get("labels")
        found |= dict.fromkeys(said or ())
        if (one := row.get("label")) is not None:
            found[one] = None
    return list(found)
