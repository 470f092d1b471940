"""UIMA CAS as XMI, beside the TypeSystem.xml that it was exported with; by dkpro-cassis, which is an extra."""

import re
import warnings
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from emotui.formats.layouts.layout import Layout, ReadOptions, TextRow
from emotui.formats.layouts.opening import whole
from emotui.formats.layouts.tools.cas_xmi_writing import PLAIN_LAYER, write
from emotui.formats.layouts.tools.said import bad_offsets, is_number, outside, relate, whole_number
from emotui.formats.rows import Flaw, Rows, UnreadableFile, shown

if TYPE_CHECKING:
    from cassis import Cas, TypeSystem

_ENCODING = re.compile(rb"""^\s*<\?xml[^>]*?encoding\s*=\s*["']([^"']*)["']""")
_ENCODINGS = (b"utf-8", b"us-ascii", b"ascii", b"iso-8859-1", b"windows-1252")
_OF_WORDS = re.compile(r"\.(lexmorph|segmentation|syntax|transform|metadata|anomaly)\.")
_ANNOTATION = "uima.tcas.Annotation"
_NO_PLACE = re.compile(r"Not mapping external offset \[(-?\d{1,20})\]", re.ASCII)
_OF_EVERY = ("begin", "end", "sofa")
_ENDS = ("Governor", "Dependent")


def recognise(path: Path, head: bytes) -> str | None:
    """Why a file or a folder holds CAS as XMI."""
    if path.is_dir():
        return None if next(path.rglob("*.xmi"), None) is None else "it is a folder with .xmi files"
    return "it is XML with an xmi:XMI" if b"<xmi:XMI" in head else None


def rows(path: Path, options: ReadOptions) -> Rows:
    """A row a document, and one more for each further view of it; of a folder all of its .xmi by their names."""
    files = sorted(path.rglob("*.xmi")) if path.is_dir() else [path]
    if not files:
        raise UnreadableFile("there is no .xmi file in the folder")
    types: dict[Path, TypeSystem] = {}
    number = 0
    for file in files:
        name = file.relative_to(path).with_suffix("").as_posix() if path.is_dir() else file.stem
        try:
            beside = _types_beside(file, path if path.is_dir() else file.parent)
            if beside not in types:
                types[beside] = _types(beside)
            cas = _cas(file, types[beside])
            found = list(_rows(cas, name, options))
        except UnreadableFile as error:
            if not path.is_dir():
                raise
            found = [Flaw(f"{shown(name)}: {error}")]
        for row in found:
            number += 1
            yield number, row


def _types_beside(file: Path, top: Path) -> Path:
    folder = file.parent
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
        raise UnreadableFile(f"{path.name} is no type system that can be read: {_first_line(error)}") from None


def _cas(path: Path, types: "TypeSystem") -> "Cas":
    load_cas_from_xmi = _cassis().load_cas_from_xmi
    content = _sound(path)
    try:
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            cas: Cas = load_cas_from_xmi(BytesIO(content), typesystem=types, lenient=True)
    except Exception as error:  # of whatever kind: the library says it in many
        raise UnreadableFile(f"is no CAS that can be read: {_first_line(error)}") from None
    for each in heard:
        if found := _NO_PLACE.match(str(each.message)):
            place = f"{found[1]}, within a character or outside of the text"
            raise UnreadableFile(f"an annotation begins or ends at {place}")
    return cas


def _cassis() -> Any:
    try:
        import cassis
    except ImportError:
        raise UnreadableFile("reading CAS needs dkpro-cassis: pip install 'emotui[cas]'") from None
    return cassis


def _first_line(error: Exception) -> str:
    return shown((str(error) or type(error).__name__).split("\n", 1)[0], 120)


def _rows(cas: "Cas", name: str, options: ReadOptions) -> Iterator[TextRow | Flaw]:
    for sofa in cas.sofas:
        view = cas.get_view(sofa.sofaID)
        if not isinstance(view.sofa_string, str):
            continue
        of_id = name if sofa.sofaID == "_InitialView" else f"{name}:{sofa.sofaID}"
        row: TextRow = {"id": of_id, "text": view.sofa_string}
        layers = _layers(cas.typesystem, options)
        if layers:
            spans = _spans(view, layers)
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


def _spans(view: "Cas", layers: list[str]) -> list[dict[str, Any]] | Flaw:
    text: str = view.sofa_string or ""
    spans: dict[int, dict[str, Any]] = {}
    relations = []
    for layer in layers:
        for annotation in view.select(layer):
            if annotation.type.name != layer:
                continue  # of a narrower type, which has its turn
            features = [feature.name for feature in annotation.type.all_features]
            if all(end in features for end in _ENDS):
                relations.append(annotation)
                continue
            start, end = annotation.begin, annotation.end
            if not whole_number(start) or not whole_number(end):
                return bad_offsets(start, end)
            if wrong := outside(start, end, len(text)):
                return wrong
            spans[annotation.xmiID] = _span(annotation, layer, features)
    ordered = sorted(spans.items(), key=lambda item: (item[1]["start"], item[1]["end"], item[0]))
    numbers = {xmi: number for number, (xmi, _) in enumerate(ordered, start=1)}
    for relation in relations:
        source, target = (getattr(getattr(relation, end), "xmiID", None) for end in _ENDS)
        if source not in spans or target not in spans:
            continue
        for xmi in (source, target):
            spans[xmi].setdefault("attributes", {}).setdefault("id", f"s{numbers[xmi]}")
        said = _said(relation, [f.name for f in relation.type.all_features if f.name not in _ENDS])
        found = {"to": spans[target]["attributes"]["id"]}
        if (kind := said.pop(_label(relation), None)) is not None:
            found["type"] = kind
        relate(spans[source]["attributes"], found | said)
    return [span for _, span in ordered]


def _span(annotation: Any, layer: str, features: list[str]) -> dict[str, Any]:
    span: dict[str, Any] = {"start": annotation.begin, "end": annotation.end}
    said = _said(annotation, features)
    label = said.pop(_label(annotation), None)
    if label:
        span["label"] = label
    if is_number(said.get("score")):
        span["score"] = said.pop("score")
    attributes = ({} if layer == PLAIN_LAYER else {"layer": layer}) | said
    return span | ({"attributes": attributes} if attributes else {})


def _said(annotation: Any, features: list[str]) -> dict[str, Any]:
    """The features that hold a text, a number, or yes or no."""
    values = {name: annotation[name] for name in features if name not in _OF_EVERY}
    return {name: value for name, value in values.items() if isinstance(value, str | int | float | bool)}


def _label(annotation: Any) -> str:
    """The feature that is the label: of those that hold a text the one of that name, or else the first."""
    texts = [each.name for each in annotation.type.all_features if each.rangeType.name == "uima.cas.String"]
    return next((name for name in texts if name.lower() in ("value", "label")), texts[0] if texts else "")


LAYOUT = Layout(
    "cas-xmi",
    "UIMA CAS as XMI with its TypeSystem.xml, one or a folder of them (needs emotui[cas])",
    recognise,
    rows,
    write,
)
