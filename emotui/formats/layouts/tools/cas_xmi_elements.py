"""The text of a CAS document in XMI, an element a feature structure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from emotui.formats.offsets import utf16_places

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
