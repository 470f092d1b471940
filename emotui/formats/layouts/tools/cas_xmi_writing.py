"""Rows as a folder of CAS in XMI, a document a row, with the TypeSystem.xml of all of them."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from emotui.errors import BadInput
from emotui.formats.layouts.layout import TextRow
from emotui.formats.layouts.tools.cas_xmi_elements import Document, Value
from emotui.formats.layouts.tools.file_names import file_names, make_folders
from emotui.formats.layouts.tools.said import Lost, is_number
from emotui.installing import install

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
                lost.add("what is said of relations beside their type")
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
