"""One document of UIMA CAS in XMI: its texts, and the annotations that each view of it has, typed by a type system."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat

from emotui.formats.offsets import Places, inverse, utf16_places
from emotui.formats.rows import UnreadableFile, shown

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
