"""Rows as a folder of CAS in XMI, a document a row, with the TypeSystem.xml of all of them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from emotui.errors import BadInput
from emotui.formats.layouts.layout import TextRow
from emotui.formats.layouts.tools.said import OF_RELATIONS, Lost, file_names, is_number, make_folders
from emotui.formats.offsets import utf16_places
from emotui.installing import install

# The text of a CAS document in XMI, an element a feature structure.

_HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<xmi:XMI xmlns:xmi="http://www.omg.org/XMI"'
    ' xmlns:cas="http:///uima/cas.ecore" xmlns:tcas="http:///uima/tcas.ecore"{} xmi:version="2.0">'
    '<cas:NULL xmi:id="0"/>'
)
_ESCAPED = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}
)

Value = str | int | float | bool


@dataclass(slots=True)
class Document:
    """A text and the annotations of it that have been added so far.

    Attributes:
        text: without characters that XML has not.
    """

    text: str
    _annotations: list[tuple[str, int, int, Mapping[str, Value]]] = field(default_factory=list)

    def add(self, kind: str, start: int, end: int, features: Mapping[str, Value]) -> int:
        """Adds an annotation of a type, such as `webanno.custom.Span`, at code points; its number, for references."""
        self._annotations.append((kind, start, end, features))
        return len(self._annotations) + 2

    def xmi(self) -> str:
        """The whole document; offsets in it are UTF-16 units."""
        spaces = dict.fromkeys(kind.rpartition(".")[0] for kind, *_ in self._annotations)
        prefixes = {space: f"t{number}" for number, space in enumerate(spaces, start=1)}
        declared = "".join(
            f' xmlns:{prefix}="http:///{space.replace(".", "/")}.ecore"' for space, prefix in prefixes.items()
        )
        return _HEAD.format(declared) + "".join(self._elements(prefixes)) + "</xmi:XMI>\n"

    def _elements(self, prefixes: Mapping[str, str]) -> Iterator[str]:
        units = utf16_places(self.text)
        place = f'sofa="1" begin="0" end="{units[-1]}"'
        yield f'<tcas:DocumentAnnotation xmi:id="2" {place} language="x-unspecified"/>'
        for number, (kind, start, end, features) in enumerate(self._annotations, start=3):
            space, _, name = kind.rpartition(".")
            said = "".join(f' {feature}="{_written(value)}"' for feature, value in features.items())
            place = f'sofa="1" begin="{units[start]}" end="{units[end]}"'
            yield f'<{prefixes[space]}:{name} xmi:id="{number}" {place}{said}/>'
        written = self.text.translate(_ESCAPED)
        yield '<cas:Sofa xmi:id="1" sofaNum="1" sofaID="_InitialView" mimeType="text/plain" '
        yield f'sofaString="{written}"/>'
        members = " ".join(str(number) for number in range(2, len(self._annotations) + 3))
        yield f'<cas:View sofa="1" members="{members}"/>'


def _written(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.translate(_ESCAPED) if isinstance(value, str) else repr(value)


PLAIN_LAYER = "webanno.custom.Span"
"""The type of the spans of which no row names another."""
_TYPE = re.compile(r"[A-Za-z][A-Za-z0-9_]*(?:\.[A-Za-z][A-Za-z0-9_]*)+", re.ASCII)
_FEATURE = re.compile(r"[A-Za-z][A-Za-z0-9_]*", re.ASCII)
_TAKEN = ("self", "type", "begin", "end", "sofa", "xmiID", "id", "layer", "relations", "value", "label", "score")
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_RANGES = {str: "uima.cas.String", bool: "uima.cas.Boolean", int: "uima.cas.Long", float: "uima.cas.Double"}

Layers = dict[str, dict[str, str]]
"""By type of annotation the range of each of its features beside the label and the score."""


def write(path: Path, rows: Sequence[TextRow]) -> Sequence[str]:
    """Writes a folder; of a name that ends in .xmi the one file of its only row, with its TypeSystem.xml beside it."""
    try:
        import cassis
    except ImportError:
        raise BadInput(f"writing CAS needs dkpro-cassis: {install('cas')}") from None
    lost = Lost()
    layers = _layers(rows)
    types = cassis.TypeSystem()
    relations_of: dict[str, str] = {}
    for name, features in layers.items():
        kind = types.create_type(name)
        types.create_feature(kind, "value", "uima.cas.String")
        types.create_feature(kind, "score", "uima.cas.Double")
        for feature, of_range in features.items():
            types.create_feature(kind, feature, of_range)
        relations_of[name] = _relation(name, layers)
        relation = types.create_type(relations_of[name])
        for end in ("Governor", "Dependent"):
            types.create_feature(relation, end, "uima.tcas.Annotation")
        types.create_feature(relation, "value", "uima.cas.String")
    single = len(rows) == 1 and path.suffix.lower() == ".xmi"
    folder = path.parent if single else path
    names = [path.stem] if single else file_names(rows, lost)
    make_folders(folder, names)
    types.to_xml(folder / "TypeSystem.xml")
    for name, row in zip(names, rows, strict=True):
        lost.fields(row, ("id", "spans"))
        if layers and row.get("spans") is None:
            lost.add("that nothing is said of a text", "read back as no spans")
        with open(f"{folder}/{name}.xmi", "wb") as file:  # noqa: PTH123 - a file a text
            file.write(_document(row, layers, relations_of, lost).encode())
    return lost.lines()


def _relation(layer: str, layers: Layers) -> str:
    name = f"{layer}Relation"
    while name in layers:
        name += "_"
    return name


def _layer(attributes: Mapping[str, Any]) -> str:
    name = attributes.get("layer")
    return name if isinstance(name, str) and _TYPE.fullmatch(name) and not name.startswith("uima.") else PLAIN_LAYER


def _layers(rows: Sequence[TextRow]) -> Layers:
    layers: Layers = {}
    for row in rows:
        if row.get("spans") is not None and not layers:
            layers[PLAIN_LAYER] = {}
        for span in row.get("spans") or ():
            attributes = span.get("attributes") or {}
            features = layers.setdefault(_layer(attributes), {})
            for name, value in attributes.items():
                of_range = _RANGES.get(type(value))
                if of_range is not None and name not in _TAKEN and _FEATURE.fullmatch(name):
                    known = features.setdefault(name, of_range)
                    if known != of_range:  # whole and broken numbers are all numbers, anything else a text
                        both = {known, of_range} == {_RANGES[int], _RANGES[float]}
                        features[name] = _RANGES[float] if both else _RANGES[str]
    return layers


def _document(row: TextRow, layers: Layers, relations_of: Mapping[str, str], lost: Lost) -> str:
    document = Document(_plain(row["text"], lost))
    made = []
    by_name: dict[str, tuple[int, int, int]] = {}
    for span in row.get("spans") or ():
        attributes = span.get("attributes") or {}
        layer = _layer(attributes)
        features: dict[str, Value] = {}
        if span.get("label") is not None:
            features["value"] = _plain(span["label"], lost)
        if span.get("score") is not None:
            features["score"] = float(span["score"])
        for name, value in attributes.items():
            if name in ("id", "relations") or (name == "layer" and layer == value):
                continue
            of_range = layers[layer].get(name)
            if type(value) not in _RANGES or of_range is None:
                lost.add("attributes of spans that are no text or number, or are named as CAS names its own")
            elif of_range == _RANGES[str]:
                if not isinstance(value, str):
                    lost.add("attributes that are a text of one span and none of another", "written as texts")
                features[name] = _plain(str(value), lost)
            else:
                features[name] = float(value) if of_range == _RANGES[float] and is_number(value) else value
        place = span["start"], span["end"]
        number = document.add(layer, *place, features)
        made.append((layer, number, attributes.get("relations")))
        if isinstance(attributes.get("id"), str):
            by_name.setdefault(attributes["id"], (number, *place))
    for layer, number, relations in made:
        for relation in relations if isinstance(relations, list) else ():
            target = by_name.get(str(relation.get("to"))) if isinstance(relation, Mapping) else None
            if target is None:
                lost.add("relations to what is no span")
                continue
            if relation.keys() - {"to", "type"}:
                lost.add(OF_RELATIONS)
            kind = relation.get("type")
            ends: dict[str, Value] = {"Governor": number, "Dependent": target[0]}
            said = {"value": _plain(kind, lost)} if isinstance(kind, str) else {}
            document.add(relations_of[layer], target[1], target[2], ends | said)
    return document.xmi()


def _plain(text: str, lost: Lost) -> str:
    """`text` without the characters that XML has not."""
    plain = _NO_XML.sub(" ", text)
    if plain != text:
        lost.add("control characters", "written as spaces")
    return plain
