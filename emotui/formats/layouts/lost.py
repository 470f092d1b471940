"""What a layout cannot hold of rows, said in a line each."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from emotui.formats.layouts.layout import TextRow

_WORDS: Mapping[str, str] = {
    "spans": "spans",
    "label": "the label",
    "labels": "labels",
    "values": "numbers",
    "emotion": "the emotion of the whole",
    "valence": "the valence of the whole",
    "sentences": "sentences",
    "annotators": "what others say",
    "subject": "the subject",
    "meta": "own columns",
    "id": "ids",
}


def lost(rows: Iterable[TextRow], held: Collection[str]) -> list[str]:
    """A line for each key of rows that is not among those `held`: what it is, and of how many texts."""
    counts = dict.fromkeys((key for key in _WORDS if key not in held), 0)
    for row in rows:
        for key in counts:
            counts[key] += key in row and row[key] not in ({}, None)
    return [f"{_WORDS[key]} ({texts(n)})" for key, n in counts.items() if n]


def texts(n: int) -> str:
    """A count of texts, in words."""
    return f"{n:,} text{'s' * (n != 1)}"


def all_labels(rows: Sequence[TextRow]) -> list[str]:
    """Every label of the texts as a whole, in the order in which they come up."""
    found: dict[str, None] = {}
    for row in rows:
        said = row.get("labels")
        found |= dict.fromkeys(said or ())
        if (one := row.get("label")) is not None:
            found[one] = None
    return list(found)
