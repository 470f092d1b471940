"""What the layouts of annotation programs share: spans that are checked against their text, and what is lost."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, TypeGuard

from emotui.formats.layouts.layout import TextRow
from emotui.formats.rows import Flaw, shown

OWN = ("subject", "emotion", "valence", "sentences")
"""Keys of a row that no program has a place of its own for; JSON formats keep them beside the text."""
SAID = ("spans", "label", "labels", "values")
_NAMES = {
    "id": "ids",
    "subject": "subjects",
    "meta": "own columns",
    "spans": "spans",
    "label": "a label of the whole text",
    "labels": "labels of the whole text",
    "values": "numbers",
    "emotion": "the emotion of a whole text",
    "valence": "the valence of a whole text",
    "sentences": "sentences",
    "annotators": "what several annotators say",
}


def whole_number(value: object) -> TypeGuard[int]:
    """Whether it is an int, and no bool."""
    return type(value) is int


def is_number(value: object) -> bool:
    """Whether it is an int or a float, and no bool."""
    return type(value) is int or type(value) is float


def id_of(value: object) -> str | None:
    """An id as a string, None where it is none."""
    if type(value) is str:
        return value or None
    if type(value) is int:
        return str(value)
    return str(int(value) if value.is_integer() else value) if type(value) is float else None


def number_or_text(name: str) -> int | str:
    """A name that is a decimal number as that number."""
    return int(name) if name.isascii() and name.isdigit() and len(name) < 16 and str(int(name)) == name else name


def bad_offsets(start: object, end: object) -> Flaw:
    """Says that two values are no offsets."""
    return Flaw(f"a span needs whole numbers as offsets, not {shown(start)} and {shown(end)}")


def outside(start: int, end: int, length: int) -> Flaw | None:
    """What is wrong with a span of a text of that length, None where nothing is."""
    if start < 0 or end > length:
        return Flaw(f"span [{start}, {end}] is not within the text, which has {length:,} characters")
    if start >= end:
        return Flaw(f"span [{start}, {end}] {'is empty' if start == end else 'ends before it starts'}")
    return None


def differs(start: int, end: int, claimed: str, found: str) -> Flaw:
    """Says what a file claims to stand at its offsets and what stands there in its text."""
    return Flaw(f"span [{start}, {end}]: the file has {shown(claimed)} there, but its text has {shown(found)}")


def folded(text: str) -> str:
    """`text` with its white space folded, for comparing what programs copy out of a text."""
    return " ".join(text.split())


def own_of(fields: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The fields beside a text parted into keys of a row (`OWN`) and columns for its `meta`."""
    own: dict[str, Any] = {}
    meta: dict[str, Any] = {}
    for name, value in fields.items():
        fits = isinstance(value, list) if name == "sentences" else isinstance(value, str)
        (own if name in OWN and fits else meta)[name] = value
    return own, meta


def annotators_of(row: TextRow) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """What the annotators of a row say, by name."""
    for name, said in (row.get("annotators") or {}).items():
        yield name, {"spans": said} if isinstance(said, list) else said


def relate(attributes: dict[str, Any], relation: dict[str, Any]) -> None:
    """Adds a relation to the attributes of the span that it comes from."""
    known = attributes.get("relations")
    # A file may have an attribute of that name.
    attributes["relations"] = [*(known if isinstance(known, list) else [] if known is None else [known]), relation]


def labels_list(labels: Sequence[str] | Mapping[str, float]) -> list[str]:
    """The labels that hold: of numbers those of at least one half."""
    return [label for label, value in labels.items() if value >= 0.5] if isinstance(labels, Mapping) else list(labels)


OF_RELATIONS = "what is said of relations beside their type"
"""What a layout loses that keeps of a relation its ends and its kind."""


class Lost:
    """What a layout could not hold of the rows it was given, counted by kind."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()

    def add(self, what: str, instead: str = "left out", count: int = 1) -> None:
        """Counts something that could not be held.

        Args:
            what: in the plural, as it stands after "cannot hold".
            instead: what became of it.
        """
        if count:
            self._counts[what, instead] += count

    def fields(self, row: Mapping[str, Any], held: Collection[str]) -> None:
        """Counts the keys of a row for which the layout has no place."""
        for key, name in _NAMES.items():
            if key not in held and row.get(key) not in (None, {}) and not (key == "sentences" and not row[key]):
                self.add(name)

    def of_spans(self, spans: Iterable[Mapping[str, Any]], held: Collection[str]) -> None:
        """Counts what is said of spans for which the layout has no place."""
        for span in spans:
            for key, name in (("label", "labels of spans"), ("score", "scores"), ("attributes", "attributes of spans")):
                if key not in held and span.get(key) not in (None, {}):
                    self.add(name)

    def lines(self) -> list[str]:
        """A line a kind, as it stands after "cannot hold", in the order in which they were met."""
        return [f"{what} ({n:,}: {instead})" for (what, instead), n in self._counts.items()]


# What a layout cannot hold of rows, and every label that rows have.


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


# Names of files for rows of a layout with a file a text: their ids where these can be names.


def file_names(rows: Sequence[TextRow], lost: Lost) -> list[str]:
    """A name a row, without an ending, each once on any system; folders are parted by `/`."""
    width = len(str(len(rows)))
    found: list[str] = []
    taken: set[str] = set()
    for number, row in enumerate(rows, start=1):
        name = row.get("id")
        if name is None or not _is_name(name) or name.lower() in taken:
            lost.add("ids that are no names of files, or none", "replaced by numbers")
            name = f"text-{number:0{width}d}"
        taken.add(name.lower())
        found.append(name)
    return found


def make_folders(top: Path, names: Iterable[str]) -> None:
    """Makes the folder that files of these names go into, and those within it."""
    top.mkdir(parents=True, exist_ok=True)
    for folder in {name.rpartition("/")[0] for name in names} - {""}:
        (top / folder).mkdir(parents=True, exist_ok=True)


def _is_name(name: str) -> bool:
    """Whether a file may be called so on any system, and its name be read back as this id."""
    parts = PurePosixPath(name).parts
    return (
        bool(parts)
        and "/".join(parts) == name
        and len(name.encode("utf-8", "replace")) < 200
        and all(part not in ("..", ".", "/") and not part.startswith(".") and _is_plain(part) for part in parts)
    )


def _is_plain(part: str) -> bool:
    return part.isprintable() and part == part.strip(" .") and not set(part) & set('\\:*?"<>|')
