"""The layers that the header of WebAnno TSV declares, and the columns in which they stand."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from emotui.formats.rows import UnreadableFile, shown

PLAIN_LAYER = "webanno.custom.Span"
"""The layer of spans of which no row names another."""
_OF_WORDS = re.compile(r"\.(lexmorph|segmentation|syntax|transform)\.")
_SLOT = re.compile(r"ROLE_[^:]*:?([^_]*)_.*")


@dataclass(frozen=True, slots=True)
class LayerColumns:
    """One layer: `kind` is T_SP, T_CH or T_RL; `features` has a name a column, from the column `first` on."""

    kind: str
    name: str
    features: tuple[str, ...]
    first: int
    targets: frozenset[int]
    label: int | None

    @property
    def width(self) -> int:
        """How many columns it has."""
        return len(self.features)


def layer_of(kind: str, declared: str, first: int) -> LayerColumns:
    """A layer as a line of the header declares it."""
    name, *features = declared.split("|")
    names: list[str] = []
    targets: set[int] = set()
    for number, feature in enumerate(features):
        if number and features[number - 1].startswith("ROLE_"):
            targets.add(number)
            names.append(f"{names[-1]} target")
        elif slot := _SLOT.fullmatch(feature):
            names.append(slot[1] or feature)
        else:
            names.append(feature)
    if kind == "T_RL" and len(names) == 1:  # no feature: one column says that there is a relation
        names.insert(0, "")
    plain = [n for n, feature in enumerate(features) if n not in targets and not feature.startswith(("ROLE_", "BT_"))]
    best = next(
        (n for n in plain if names[n].lower() in ("value", "label", "referencetype")), plain[0] if plain else None
    )
    return LayerColumns(kind, name, tuple(names or [""]), first, frozenset(targets), best)


def wanted(layers: Sequence[LayerColumns], asked: str | None) -> list[LayerColumns]:
    """The layers of which a row has spans.

    Raises:
        UnreadableFile: the layer that is asked for is not declared.
    """
    spans = [layer for layer in layers if layer.kind != "T_RL"]
    if asked is not None:
        found = [layer for layer in spans if asked in (layer.name, layer.name.rpartition(".")[2])]
        if not found:
            raise UnreadableFile(f"there is no layer {shown(asked)}", 1)
        return found
    return [layer for layer in spans if not _OF_WORDS.search(layer.name)] or spans
