"""Where the regions of Label Studio stand: it counts code points, older versions UTF-16 units."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from emotui.formats.layouts.tools.said import bad_offsets, differs, folded, outside, whole_number
from emotui.formats.offsets import inverse, moved, utf16_places
from emotui.formats.rows import Flaw, shown

Place = tuple[int, int]


@dataclass(slots=True)
class Region:
    """A region of a text as the file has it: its offsets, the text that it claims to hold, and what is said of it."""

    id: str | None
    to_name: str
    start: int
    end: int
    claimed: str | None
    labels: list[str]
    score: float | None = None
    attributes: dict[str, Any] = field(default_factory=dict)

    def spans(self, place: Place) -> list[dict[str, Any]]:
        """The spans of the region, one a label, or one without a label."""
        span: dict[str, Any] = {"start": place[0], "end": place[1]}
        rest: dict[str, Any] = {} if self.score is None else {"score": self.score}
        if self.attributes:
            rest["attributes"] = self.attributes
        return [{**span, "label": label, **rest} for label in self.labels] or [span | rest]


def region_of(result: dict[str, Any], value: dict[str, Any]) -> Region | Flaw:
    """The region of a result that has a start and an end."""
    start, end = value["start"], value["end"]
    if isinstance(start, str):  # of a web page: the places of the nodes, beside offsets into what it shows
        shown_offsets = value.get("globalOffsets")
        if not isinstance(shown_offsets, dict):
            return Flaw(f"span {shown(start)}: its offsets are places in a web page or a dialogue, not in a text")
        start, end = shown_offsets.get("start"), shown_offsets.get("end")
    if not whole_number(start) or not whole_number(end):
        return bad_offsets(start, end)
    kind = result.get("type")
    labels = value.get(kind) if isinstance(kind, str) and kind.endswith("labels") else None
    claimed, score, of_id = value.get("text"), result.get("score"), result.get("id")
    return Region(
        of_id if isinstance(of_id, str) else None,
        str(result.get("to_name")),
        start,
        end,
        claimed if isinstance(claimed, str) and claimed else None,
        [label for label in labels if isinstance(label, str)] if isinstance(labels, list) else [],
        score if isinstance(score, int | float) else None,
    )


def places(regions: Sequence[Region], text: str) -> list[Place] | Flaw:
    """Where the regions of one text stand, in code points.

    All of them are counted in one way if that fits what they claim to hold: in code points, or in UTF-16 units.
    Otherwise each in the way that fits it.
    """
    plain = [_fitting((region.start, region.end), region, text) for region in regions]
    if not any(isinstance(place, Flaw) for place in plain):
        return [place for place in plain if not isinstance(place, Flaw)]
    units = inverse(utf16_places(text))
    counted = [moved(region.start, region.end, units) for region in regions]
    wide = [
        _fitting(place, region, text) if place else plain[number]
        for number, (place, region) in enumerate(zip(counted, regions, strict=True))
    ]
    if any(isinstance(place, Flaw) for place in wide):
        wide = [b if isinstance(a, Flaw) else a for a, b in zip(plain, wide, strict=True)]
    # What is wrong is said in the offsets of the file.
    fault = next((one for one, other in zip(plain, wide, strict=True) if isinstance(other, Flaw)), None)
    return fault if isinstance(fault, Flaw) else [place for place in wide if not isinstance(place, Flaw)]


def _fitting(place: Place, region: Region, text: str) -> Place | Flaw:
    if wrong := outside(*place, len(text)):
        return wrong
    found = text[place[0] : place[1]]
    claimed = region.claimed
    if claimed is None or claimed == found or folded(claimed.replace("\\n", "\n")) == folded(found):
        return place
    return differs(*place, claimed, found)
