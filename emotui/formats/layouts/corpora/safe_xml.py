"""XML without entities of its own, external ones or a document type that declares any: an element at a time."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from emotui.bounded import chunks, opened
from emotui.formats.rows import UnreadableFile

_CHUNK = 1 << 16
_DEEPEST = 100


@dataclass(slots=True)
class Element:
    """An element with its attributes, the text that stands in it before its first child, and its children."""

    name: str
    attributes: dict[str, str]
    text: str = ""
    children: list["Element"] = field(default_factory=list)

    def first(self, name: str) -> "Element | None":
        """Its first child of that name."""
        return next((one for one in self.children if one.name == name), None)

    def below(self, name: str) -> Iterator["Element"]:
        """All elements of that name below it, in their order."""
        for one in self.children:
            if one.name == name:
                yield one
            yield from one.below(name)


def documents(path: Path, name: str) -> Iterator[tuple[int, Element]]:
    """Every element of that name with the line on which it begins.

    Raises:
        UnreadableFile: it is no XML, or declares entities.
    """
    reading = _Reading(name)
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = reading.start
    parser.EndElementHandler = reading.end
    parser.CharacterDataHandler = reading.content
    parser.EntityDeclHandler = _refuse
    reading.line = lambda: parser.CurrentLineNumber
    try:
        with opened(path) as stream:
            for chunk in chunks(stream, _CHUNK):
                parser.Parse(chunk, False)
                yield from reading.taken()
            parser.Parse(b"", True)
            yield from reading.taken()
    except expat.ExpatError as error:
        raise UnreadableFile(f"not XML: {expat.ErrorString(error.code)}", error.lineno) from None
    except FileNotFoundError:
        raise UnreadableFile("there is no such file") from None
    except (OSError, UnicodeError, ValueError) as error:
        raise UnreadableFile(f"cannot be read: {getattr(error, 'strerror', None) or error}") from None


def _refuse(*declaration: object) -> None:
    raise UnreadableFile("it declares entities, which are not read: remove its document type")


class _Reading:
    """The elements that are open, and those that have come to their end."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._open: list[Element] = []
        self._begins = 0
        self._depth = 0
        self._done: list[tuple[int, Element]] = []
        self.line: Callable[[], int] = int

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise UnreadableFile("its elements are nested too deeply", self.line())
        if not self._open and name != self._name:
            return
        fresh = Element(name, attributes)
        if self._open:
            self._open[-1].children.append(fresh)
        else:
            self._begins = self.line()
        self._open.append(fresh)

    def end(self, name: str) -> None:
        self._depth -= 1
        if self._open:
            closed = self._open.pop()
            if not self._open:
                self._done.append((self._begins, closed))

    def content(self, text: str) -> None:
        if self._open and not self._open[-1].children:
            self._open[-1].text += text

    def taken(self) -> list[tuple[int, Element]]:
        done, self._done = self._done, []
        return done
