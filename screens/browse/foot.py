"""What stands under a score: all about the span under the cursor, and what others marked there."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from emotui.records import Span
from emotui.screens.browse.margin import cut_to, label_parts
from emotui.screens.browse.things import Thing
from emotui.screens.widgets.cell_width import fit, width
from emotui.screens.widgets.line import Part
from emotui.screens.widgets.number_format import UNDEFINED, share

if TYPE_CHECKING:
    from emotui.workbench.answers import Voice

_SIDES = 6
_NAMES = 20


class Other(msgspec.Struct, frozen=True):
    """Somebody else who marked spans of the text; `kind`: of the parts that show the name."""

    name: str
    kind: str
    marked: tuple[tuple[Span, str | None], ...]


class About(msgspec.Struct, frozen=True):
    """What a score knows beside its things: the text, whose sentence an offset is in, others, and notes in words.

    `told`: sources that say something of the whole text, each with its name.
    """

    text: str = ""
    sentences: tuple[tuple[int, int, str], ...] = ()
    others: tuple[Other, ...] = ()
    notes: tuple[str, ...] = ()
    key: str = ""
    told: "tuple[tuple[Voice, str], ...]" = ()


def heading(things: Sequence[Thing], at: int, about: About, cells: int) -> list[Part]:
    """The line that says which span it is, what is wrong with it, and its figures."""
    if not things:
        return cut_to([Part(" no spans", "strong")], cells)
    one = things[at]
    parts = [Part(f" span {at + 1} of {len(things)}", "strong")]
    if one.marks:
        parts.append(Part(f"  {one.marks} {one.words}", "mark"))
    if one.f1 is not None:
        parts += [Part("   F1 ", "dim"), Part(share(one.f1).strip(), "strong")]
        parts += [Part("  Sim ", "dim"), Part(share(one.sim).strip(), "strong")]
    if labels := label_parts(one):
        parts += [Part("   label ", "dim"), *labels]
    if one.strength is not None:
        given = share(one.strength).strip() if abs(one.strength) <= 1 else f"{one.strength:.3g}"
        parts += [Part("  strength ", "dim"), Part(given)]
    parts += [Part(f"   {words}", "dim") for words in (_sentence(one, about), _offsets(one)) if words]
    keys = [Part(about.key, "key"), Part(" next span ", "dim")] if about.key else []
    used = sum(width(part.text) for part in [*parts, *keys])
    return (
        [*cut_to(parts, cells - sum(width(part.text) for part in keys)), *keys]
        if used < cells
        else cut_to(parts, cells)
    )


def _sentence(one: Thing, about: About) -> str:
    start = one.start
    if start is None:
        return ""
    return next((f"in {name}" for first, last, name in about.sentences if first <= start < last), "")


def _offsets(one: Thing) -> str:
    if one.start is None:
        return ""
    return f"at {one.start}–{max(end for _, end in one.places)}"


def sides(one: Thing, cells: int, lines: int) -> list[list[Part]]:
    """Gold and predicted under each other on two lines, beside each other on one."""
    if one.gold is not None and one.gold == one.said:
        told = [[Part(" both ", "dim"), Part(fit(one.gold, max(cells - _SIDES, 1)).rstrip(), "gold-line")]]
    elif lines < 2:
        return [_on_one_line(one, cells)]
    else:
        told = [_side("gold", one.gold, "gold-line", cells), _side("pred", one.said, _said(one), cells)]
    if one.said is not None and "H" in one.marks:
        told = [_side("pred", one.said, "gone", cells), _near(one, cells)][:lines]
    return [*told, *([[]] * (lines - len(told)))]


def _said(one: Thing) -> str:
    return "gone" if "H" in one.marks else "ground"


def _side(name: str, text: str | None, kind: str, cells: int) -> list[Part]:
    room = max(cells - _SIDES, 1)
    if text is None:
        return [Part(f" {name} ", "dim"), Part(UNDEFINED, "dim")]
    return [Part(f" {name} ", "dim"), Part(fit(text, min(width(fit(text, room).rstrip()), room)), kind)]


def _near(one: Thing, cells: int) -> list[Part]:
    if one.near is None:
        return [Part(" near ", "dim"), Part("nothing in the text", "dim")]
    return [
        Part(" near ", "dim"),
        Part(fit(one.near.text, cells - _SIDES - 6).rstrip()),
        Part(f"  {share(one.near.f1)}"),
    ]


def _on_one_line(one: Thing, cells: int) -> list[Part]:
    if one.said is None or one.gold is None:
        name, text, kind = ("gold", one.gold, "gold-line") if one.said is None else ("pred", one.said, _said(one))
        return _side(name, text, kind, cells)
    half = (cells - 3) // 2
    left = _side("gold", one.gold, "gold-line", half)
    used = sum(width(part.text) for part in left)
    return [*left, Part(" │", "rest"), *_side("pred", one.said, _said(one), cells - used - 2)]


def of_others(one: Thing, about: About, cells: int) -> list[list[Part]]:
    """A line for everybody else: what they marked that shares a character with this thing; first who marked any."""
    names = min(max((width(other.name) for other in about.others), default=0), _NAMES)
    lines = []
    for other in sorted(about.others, key=lambda other: not _marked(other, one)):
        met = [(place, label) for place, label in other.marked if any(_meet(place, mine) for mine in one.places)]
        words = " · ".join(
            " ".join(about.text[place[0] : place[1]].split()) + (f" ({label})" if label else "") for place, label in met
        )
        said = fit(words or UNDEFINED, max(cells - names - 4, 1)).rstrip()
        lines.append([Part(f" {fit(other.name, names)}  ", other.kind), Part(said, "plain" if met else "dim")])
    return lines


def _marked(other: Other, one: Thing) -> bool:
    return any(_meet(place, mine) for place, _ in other.marked for mine in one.places)


def _meet(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]
