"""UIMA CAS as XMI, beside the TypeSystem.xml that it was exported with, which dkpro-cassis reads: an extra."""

import os
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.parsers import expat

from emotui.formats.layouts.layout import Layout, ReadOptions, TextRow
from emotui.formats.layouts.opening import whole
from emotui.formats.layouts.tools.cas_xmi_writing import PLAIN_LAYER, write
from emotui.formats.layouts.tools.said import bad_offsets, is_number, outside, relate
from emotui.formats.offsets import Places, inverse, utf16_places
from emotui.formats.rows import Flaw, Rows, UnreadableFile, said_by_library, shown
from emotui.installing import install

if TYPE_CHECKING:
    from cassis import TypeSystem

# One document of UIMA CAS in XMI: its texts, and the annotations that each view of it has, typed by a type system.

_XMI, _CAS = "http://www.omg.org/XMI ", "http:///uima/cas.ecore "
_ROOT, _SOFA, _VIEW, _ID = f"{_XMI}XMI", f"{_CAS}Sofa", f"{_CAS}View", f"{_XMI}id"
_OF_PLACE = frozenset(("begin", "end", "sofa"))
_INITIAL = "_InitialView"
_DEEPEST = 3
_RESERVED = {"self": "self_", "type": "type_"}
"""Features that the type system has under other names, as Python has these."""

WHOLE, REAL, YES_OR_NO, TEXT = "whole", "real", "yes or no", "text"
"""What a feature holds, where that is no reference and no list."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A type of a type system.

    Attributes:
        features: by name what it holds; None: something else than one value.
        label: the feature that is the label; empty where there is none.
        places: whether it stands at a place of a text.
    """

    name: str
    features: Mapping[str, str | None]
    label: str
    places: bool


@dataclass(slots=True)
class Structure:
    """A feature structure. `start` and `end` are code points once it is read as a member of a view."""

    id: int
    kind: Kind
    values: dict[str, str]
    start: int | None = None
    end: int | None = None

    def said(self) -> dict[str, Any]:
        """The features that hold a text, a number, or yes or no, but for its place.

        Raises:
            ValueError: a value is none of those that the feature holds.
        """
        features = self.kind.features
        return {
            name: value if holds == TEXT else _value(value, holds)
            for name, value in self.values.items()
            if (holds := features[name]) is not None and name not in _OF_PLACE
        }

    def refers_to(self, feature: str) -> int | None:
        """The number of the structure that a feature refers to. Raises ValueError where it is no number."""
        value = self.values.get(feature)
        return None if value is None else int(value)


@dataclass(slots=True)
class View:
    """A text and what is annotated in it, in the order of the document."""

    name: str
    text: str | None
    members: list[Structure] = field(default_factory=list)


def _value(text: str, holds: str) -> object:
    if holds == YES_OR_NO:
        if text not in ("true", "false"):
            raise ValueError(f"{shown(text)} is neither true nor false")
        return text == "true"
    return int(text) if holds == WHOLE else float(text)


class Types:
    """The types by the names that elements have; `known` finds one, None where there is none."""

    def __init__(self, known: Callable[[str], Kind | None]) -> None:
        self._known = known
        self._found: dict[str, Kind | None] = {}

    def of_element(self, name: str) -> Kind | None:
        """The type of an element, None where the type system has none of its name."""
        if name not in self._found:
            # http:///webanno/custom.ecore Emotion is webanno.custom.Emotion
            plain = name[8:].replace("/", ".").replace("ecore ", "").strip()
            self._found[name] = self._known(plain.removeprefix("uima.noNamespace."))
        return self._found[name]


class _Reading:
    def __init__(self, types: Types) -> None:
        self._types = types
        self._depth = 0
        self.sofas: dict[int, View] = {}
        self.views: dict[int, str] = {}
        self.structures: dict[int, Structure] = {}
        self.unknown: set[int] = set()

    def start(self, name: str, values: dict[str, str]) -> None:
        self._depth += 1
        if self._depth == 1 and name != _ROOT:
            raise ValueError(f"its root is {shown(name)}")
        if self._depth > _DEEPEST:
            raise ValueError("its elements are nested too deeply")
        if self._depth != 2:
            return
        if name == _SOFA:
            self.sofas[int(values[_ID])] = View(values["sofaID"], values.get("sofaString"))
        elif name == _VIEW:
            self.views[int(values["sofa"])] = values.get("members", "")
        else:
            self._take(self._types.of_element(name), values)

    def _take(self, kind: Kind | None, values: dict[str, str]) -> None:
        if kind is None:
            if _ID in values:
                self.unknown.add(int(values[_ID]))
            return
        number = int(values.pop(_ID))
        if not values.keys() <= kind.features.keys():
            values = {_RESERVED.get(name, name): value for name, value in values.items()}
        if not values.keys() <= kind.features.keys():
            lacking = next(name for name in values if name not in kind.features)
            raise ValueError(f"its type system has no feature {shown(lacking)} of {kind.name}")
        self.structures[number] = Structure(number, kind, values)

    def end(self, name: str) -> None:
        self._depth -= 1


def read_document(content: bytes, types: Types) -> list[View]:
    """The views of a document, the first one first; annotations of types that are not known are left out.

    Raises:
        UnreadableFile: it is no XMI, it refers to what is not there, or a place is none of its text.
    """
    reading = _Reading(types)
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler = reading.start
    parser.EndElementHandler = reading.end
    try:
        parser.Parse(content, True)
        for number, sofa in reading.sofas.items():
            sofa.members = _members(reading, reading.views.get(number, ""))
    except expat.ExpatError as error:
        raise UnreadableFile(f"is no CAS that can be read: {expat.ErrorString(error.code)}", None) from None
    except KeyError as error:
        raise UnreadableFile(f"is no CAS that can be read: {shown(str(error.args[0]))} is not there") from None
    except ValueError as error:
        raise UnreadableFile(f"is no CAS that can be read: {str(error)[:160]}") from None
    for sofa in reading.sofas.values():
        if sofa.text is not None:
            _place(sofa)
    names = [sofa.name for sofa in reading.sofas.values()]
    if len(set(names)) < len(names):
        raise UnreadableFile("is no CAS that can be read: two of its views have one name")
    return sorted(reading.sofas.values(), key=lambda sofa: sofa.name != _INITIAL)


def _members(reading: _Reading, numbers: str) -> list[Structure]:
    found = map(int, numbers.split())
    return [reading.structures[number] for number in found if number not in reading.unknown]


def _place(view: View) -> None:
    """Turns the places of its annotations from UTF-16 units into code points."""
    text = view.text or ""
    points = inverse(utf16_places(text))
    for one in view.members:
        if not one.kind.places:
            continue
        try:
            begins, ends = one.values.get("begin"), one.values.get("end")
            one.start = None if begins is None else _point(points, int(begins))
            one.end = None if ends is None else _point(points, int(ends))
        except ValueError as error:
            raise UnreadableFile(f"is no CAS that can be read: {str(error)[:160]}") from None


def _point(points: Places, unit: int) -> int:
    found = points[unit] if 0 <= unit < len(points) else -1
    if found < 0:
        place = f"{unit}, within a character or outside of the text"
        raise UnreadableFile(f"an annotation begins or ends at {place}")
    return found


_ENCODING = re.compile(rb"""^\s*<\?xml[^>]*?encoding\s*=\s*["']([^"']*)["']""")
_ENCODINGS = (b"utf-8", b"us-ascii", b"ascii", b"iso-8859-1", b"windows-1252")
_OF_WORDS = re.compile(r"\.(lexmorph|segmentation|syntax|transform|metadata|anomaly)\.")
_ANNOTATION = "uima.tcas.Annotation"
_ENDS = ("Governor", "Dependent")
_HOLDS = {
    "uima.cas.String": TEXT,
    "uima.cas.Boolean": YES_OR_NO,
    **dict.fromkeys(("uima.cas.Byte", "uima.cas.Short", "uima.cas.Integer", "uima.cas.Long"), WHOLE),
    **dict.fromkeys(("uima.cas.Float", "uima.cas.Double"), REAL),
}
"""By the name of a type what its values are."""


def recognise(path: Path, head: bytes) -> str | None:
    """Why a file or a folder holds CAS as XMI."""
    if path.is_dir():
        return None if next(path.rglob("*.xmi"), None) is None else "it is a folder with .xmi files"
    return "it is XML with an xmi:XMI" if b"<xmi:XMI" in head else None


def rows(path: Path, options: ReadOptions) -> Rows:
    """A row a document, and one more for each further view of it; of a folder all of its .xmi by their names."""
    folder = path.is_dir()
    types: dict[Path, _Layers] = {}
    number = 0
    for place, prefix, names in _files(path):
        described: Path | None = None
        for file in names:
            name = f"{prefix}{file.removesuffix('.xmi')}"
            try:
                if described is None:
                    described = _types_beside(place, path if folder else place)
                if described not in types:
                    types[described] = _Layers(_types(described), options)
                found = list(_rows(_sound(place / file), types[described], name))
            except UnreadableFile as error:
                if not folder:
                    raise
                found = [Flaw(f"{shown(name)}: {error}")]
            for row in found:
                number += 1
                yield number, row


def _files(path: Path) -> Iterator[tuple[Path, str, list[str]]]:
    """Each folder with what stands before the names of its documents in their ids, and the names of the files."""
    if not path.is_dir():
        yield path.parent, "", [path.name]
        return
    there = False
    for place, folders, names in os.walk(path):
        folders.sort()
        found = sorted(name for name in names if name.endswith(".xmi"))
        there = there or bool(found)
        inner = Path(place).relative_to(path).as_posix()
        yield Path(place), "" if inner == "." else f"{inner}/", found
    if not there:
        raise UnreadableFile("there is no .xmi file in the folder")


def _types_beside(folder: Path, top: Path) -> Path:
    while True:
        named = [each for each in folder.glob("*.xml") if each.name.lower() == "typesystem.xml"]
        if named:
            return named[0]
        if folder == top or folder == folder.parent:
            raise UnreadableFile("the TypeSystem.xml that was exported with it is not beside it")
        folder = folder.parent


def _sound(path: Path) -> bytes:
    """The bytes of an XML file in which nothing can grow while it is read."""
    content = whole(path)
    if b"\x00" in content[:200] or content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise UnreadableFile("is not UTF-8")
    if (named := _ENCODING.match(content.removeprefix(b"\xef\xbb\xbf"))) and named[1].lower() not in _ENCODINGS:
        raise UnreadableFile(f"is in the encoding {shown(named[1].decode('ascii', 'replace'))}: save it as UTF-8")
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        raise UnreadableFile("declares entities of its own (a DOCTYPE), which is refused")
    return content


def _types(path: Path) -> "TypeSystem":
    load_typesystem = _cassis().load_typesystem
    content = _sound(path)
    try:
        with warnings.catch_warnings(action="ignore"):
            types: TypeSystem = load_typesystem(BytesIO(content))
            return types
    except Exception as error:  # of whatever kind: the library says it in many
        raise UnreadableFile(f"{path.name} is no type system that can be read: {said_by_library(error, 120)}") from None


def _cassis() -> Any:
    try:
        import cassis
    except ImportError:
        raise UnreadableFile(f"reading CAS needs dkpro-cassis: {install('cas')}") from None
    return cassis


class _Layers:
    """A type system, and the types of annotation of which a row has spans."""

    def __init__(self, types: "TypeSystem", options: ReadOptions) -> None:
        self._system = types
        self.types = Types(self._kind)
        self.names = frozenset(_layers(types, options))

    def _kind(self, name: str) -> Kind | None:
        if not self._system.contains_type(name):
            return None
        found = self._system.get_type(name)
        features = {feature.name: self._holds(feature.rangeType) for feature in found.all_features}
        texts = [feature.name for feature in found.all_features if feature.rangeType.name == "uima.cas.String"]
        label = next((text for text in texts if text.lower() in ("value", "label")), texts[0] if texts else "")
        return Kind(name, features, label, self._system.subsumes(_ANNOTATION, found))

    def _holds(self, of_range: Any) -> str | None:
        """What values of a type are; None where they are no single ones."""
        if of_range.name in _HOLDS:
            return _HOLDS[of_range.name]
        above = of_range.supertype
        return None if above is None else self._holds(above)


def _rows(content: bytes, layers: _Layers, name: str) -> Iterator[TextRow | Flaw]:
    for view in read_document(content, layers.types):
        if view.text is None:
            continue
        of_id = name if view.name == "_InitialView" else f"{name}:{view.name}"
        row: TextRow = {"id": of_id, "text": view.text}
        if layers.names:
            try:
                spans = _spans(view.text, [one for one in view.members if one.kind.name in layers.names])
            except (ValueError, KeyError) as error:
                raise UnreadableFile(f"is no CAS that can be read: {str(error)[:160]}") from None
            if isinstance(spans, Flaw):
                yield spans
                continue
            row["spans"] = spans
        yield row


def _layers(types: "TypeSystem", options: ReadOptions) -> list[str]:
    """The types of annotation of which a row has spans; those that say what words are only beside no others."""
    names = [
        each.name
        for each in types.get_types()
        if types.subsumes(_ANNOTATION, each) and not each.name.startswith(("uima.", "org.dkpro."))
    ]
    asked = options.columns.get("spans")
    if asked is not None:
        found = [name for name in names if asked in (name, name.rpartition(".")[2])]
        if not found:
            raise UnreadableFile(f"there is no type of annotation {shown(asked)}")
        return found
    return [name for name in names if not _OF_WORDS.search(name)]


def _spans(text: str, annotations: list[Structure]) -> list[dict[str, Any]] | Flaw:
    spans: dict[int, dict[str, Any]] = {}
    relations = []
    for annotation in annotations:
        if all(end in annotation.kind.features for end in _ENDS):
            relations.append(annotation)
            continue
        start, end = annotation.start, annotation.end
        if start is None or end is None:
            return bad_offsets(start, end)
        if wrong := outside(start, end, len(text)):
            return wrong
        spans[annotation.id] = _span(annotation, start, end)
    ordered = sorted(spans.items(), key=lambda item: (item[1]["start"], item[1]["end"], item[0]))
    numbers = {xmi: number for number, (xmi, _) in enumerate(ordered, start=1)}
    for relation in relations:
        source, target = (relation.refers_to(end) for end in _ENDS)
        if source not in spans or target not in spans:
            continue
        for xmi in (source, target):
            spans[xmi].setdefault("attributes", {}).setdefault("id", f"s{numbers[xmi]}")
        said = relation.said()
        found = {"to": spans[target]["attributes"]["id"]}
        if (kind := said.pop(relation.kind.label, None)) is not None:
            found["type"] = kind
        relate(spans[source]["attributes"], found | said)
    return [span for _, span in ordered]


def _span(annotation: Structure, start: int, end: int) -> dict[str, Any]:
    span: dict[str, Any] = {"start": start, "end": end}
    said = annotation.said()
    label = said.pop(annotation.kind.label, None)
    if label:
        span["label"] = label
    if is_number(said.get("score")):
        span["score"] = said.pop("score")
    attributes = ({} if annotation.kind.name == PLAIN_LAYER else {"layer": annotation.kind.name}) | said
    return span | ({"attributes": attributes} if attributes else {})


LAYOUT = Layout(
    "cas-xmi",
    "UIMA CAS as XMI with its TypeSystem.xml, one or a folder of them (needs emotui[cas])",
    recognise,
    rows,
    write,
)
