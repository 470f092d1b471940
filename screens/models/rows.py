"""The models at hand, a line each: what it can do, the memory it holds, its speed; and all about the picked one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from emotui.screens.keymaps.words import keyed
from emotui.screens.widgets.cell_width import fit, shown, wrap
from emotui.screens.widgets.line import Part
from emotui.screens.widgets.number_format import UNDEFINED, count
from emotui.screens.widgets.page import Lines

if TYPE_CHECKING:
    from emotui.workbench.models.benchmark import Rate
    from emotui.workbench.models.loaded import OnShelf

_SIGNS = {"loaded": "●", "loading": "◐", "ended": "○", "failed": "!", "": " "}
_CAN = {
    "generate": "write",
    "score": "score",
    "rank": "ranks",
    "classify": "label",
    "embed": "embed",
    "fill_mask": "masks",
    "extract": "spans",
    "attribute": "words",
    "regress": "value",
}
"""What models can do, in five letters each; where these have no room the columns are told by the first two."""

_MEMORY, _SPEED, _STATE = 9, 18, 10
_SHORTEST, _LONGEST = 14, 60
_MOST_BAR = 24
_WORDS, _LETTERS = 5, 2
_WAYS = (
    (_WORDS, True, 8),
    (_LETTERS, True, 6),
    (0, True, 6),
    (_WORDS, False, 8),
    (_LETTERS, False, 6),
    (0, False, 6),
    (0, False, 0),
)
"""Cells of a column of what models can do, whether speed is there, and the least cells of a bar; the best one first."""


def _between(can: int) -> int:
    """Cells before each column of what models can do."""
    return 2 if can == _WORDS else 1 if can else 0


@dataclass(frozen=True, slots=True)
class _Shape:
    """The cells of a SPEC, of a bar of memory or speed, and of a column of what models can do; that is 0 for none."""

    spec: int
    bar: int
    speed: bool
    can: int

    @classmethod
    def of(cls, rows: "Sequence[OnShelf]", cells: int) -> "_Shape":
        """Speed stands there once it was measured. Where there is no room, first the names of what models can do are
        cut to two letters; then that gives way to a measured speed, then both, then bars.
        """
        longest = min(max((len(row.spec) for row in rows), default=0), _LONGEST)
        longest = max(longest, len("model"))
        measured = any(row.rates for row in rows)
        for can, speed, least in _WAYS:
            if speed and not measured:
                continue
            abilities = 1 + (can + _between(can)) * len(_CAN) if can else 0
            fixed = 4 + 2 + _MEMORY + 2 + _STATE + abilities + (2 + _SPEED if speed else 0)
            bars = 2 if speed else 1
            room = cells - fixed - bars * (least + 1 if least else 0)
            if room >= min(longest, _SHORTEST + 10) or not least:
                spec = min(longest, max(room, _SHORTEST))
                bar = min(least + (room - spec) // bars, _MOST_BAR) if least else 0
                return cls(spec, bar, speed, can)
        raise AssertionError


def lines(rows: "Sequence[OnShelf]", cursor: int, cells: int) -> Lines:
    """The heading, a line a model in so many cells, and what headings of two letters mean."""
    shape = _Shape.of(rows, cells)
    head = f"    {'model':{shape.spec}}  {'memory':>{_MEMORY}}" + (" " * (shape.bar + 1) if shape.bar else "")
    if shape.speed:
        head += f"  {'speed':>{_SPEED}}" + " " * (shape.bar + 1)
    if shape.can:
        head += " " + "".join(" " * _between(shape.can) + name[: shape.can] for name in _CAN.values())
    meant = "  ".join(f"{name[:2]}\xa0{name}" for name in _CAN.values()) if shape.can == _LETTERS else ""
    return [
        [Part(f"{head}  state", "dim")],
        *(_line(row, rows, shape, here=number == cursor) for number, row in enumerate(rows)),
        *([[]] if meant else []),
        *([Part(f"    {meant[a:b].replace(chr(0xA0), ' ')}", "dim")] for a, b in wrap(meant, cells - 4) if meant),
    ]


def _line(row: "OnShelf", rows: "Sequence[OnShelf]", shape: _Shape, *, here: bool) -> list[Part]:
    model, state = row.model, row.state
    broken = model is not None and model.problem is not None
    kind = "mark" if broken or state == "failed" else "said" if state == "loaded" else "plain"
    held = row.memory if row.memory is not None else _size(row)
    most = max((row.memory or _size(row) or 0 for row in rows), default=0)
    parts = [
        Part("▸ " if here else "  ", "picked" if here else "plain"),
        Part(f"{'!' if broken else _SIGNS[state]} ", kind),
        Part(_end(row.spec, shape.spec), "picked" if here else "plain"),
        Part(f"  {bytes_said(held):>{_MEMORY}}", "plain" if row.memory is not None else "dim"),
    ]
    if shape.bar:
        parts += _bar(held, most, shape.bar, "■" if row.memory is not None else "□")
    if shape.speed:
        rate = _main_rate(row)
        same = [one.per_second for other in rows if (one := _main_rate(other)) and rate and one.unit == rate.unit]
        parts.append(Part(f"  {_rate_said(rate) if rate else '':>{_SPEED}}"))
        parts += _bar(rate.per_second if rate else None, max(same, default=0.0), shape.bar, "■")
    if shape.can:
        able = able_to(row)
        before = " " * _between(shape.can)
        parts += [Part(" "), *(Part(f"{before}{'●' if name in able else '':^{shape.can}}", "said") for name in _CAN)]
    return [*parts, Part(f"  {'broken' if broken else state or 'not loaded'}", kind)]


def _bar(value: float | None, most: float, cells: int, sign: str) -> list[Part]:
    """A bar behind a blank, full at the most; what is not known or nothing draws nothing."""
    full = round(value / most * cells) if value and most else 0
    full = max(full, 1) if value else 0
    return [Part(" "), Part(sign * full, "said" if sign == "■" else "dim"), Part(" " * (cells - full))]


def _size(row: "OnShelf") -> int | None:
    return row.model.size if row.model is not None else None


def _main_rate(row: "OnShelf") -> "Rate | None":
    """Of what was measured that by which models are compared: writing, or else the first."""
    return row.rates.get("tokens out") or next(iter(row.rates.values()), None)


def _rate_said(rate: "Rate") -> str:
    """Units a second: `51 tokens/s`, `3.2 texts/s`."""
    many = count(round(rate.per_second)) if rate.per_second >= 10 else f"{rate.per_second:.1f}"
    return f"{many} {rate.unit}/s"


def able_to(row: "OnShelf") -> Sequence[str]:
    """What it can do, as far as that is known."""
    return row.card.capabilities if row.card is not None else row.model.capabilities if row.model is not None else ()


def _end(spec: str, cells: int) -> str:
    """A SPEC whose end is what tells it from others: a long one is cut in its middle."""
    if len(spec) <= cells:
        return fit(spec, cells)
    kind = spec.partition(":")[0][: cells - 2]
    return fit(f"{kind}:…{spec[-(cells - len(kind) - 2) :]}", cells)


def about(row: "OnShelf", cells: int) -> Lines:
    """Everything about one model: what it is, what it can, how fast, and its last errors."""
    found: list[list[Part]] = []
    room = max(min(cells, 90) - 14, 20)

    def say(name: str, text: str, kind: str = "plain") -> None:
        for number, (start, end) in enumerate(wrap(text, room)):
            found.append([Part(f"{name if not number else '':<14}", "dim"), Part(text[start:end], kind)])

    model, card = row.model, row.card
    say("model", row.spec, "strong")
    name = card.name if card is not None else model.name if model is not None else ""
    if name:
        say("name", name)
    say("can", ", ".join(each.replace("_", " ") for each in able_to(row)) or "told when it is loaded")
    if model is not None and model.size is not None:
        quantised = f", {shown(model.quantisation)}" if model.quantisation else ""
        say("file", f"{bytes_said(model.size)}{quantised}")
    if model is not None and model.context is not None:
        say("context", f"{count(model.context)} tokens")
    if row.memory is not None:
        say("memory", f"{bytes_said(row.memory)} at most since it was loaded")
    if row.load_seconds is not None:
        say("loaded in", f"{row.load_seconds:.1f} s")
    most = max((rate.per_second for rate in row.rates.values()), default=0.0)
    for trial, rate in row.rates.items():
        found.append(
            [Part(f"{trial:<14}", "dim"), Part(f"{_rate_said(rate):<{_SPEED}}"), *_bar(rate.per_second, most, 20, "■")]
        )
    if not row.rates:
        say("speed", keyed("not measured yet: {measure} measures it"))
    for note in card.notes if card is not None else ():
        say("note", note)
    if model is not None and model.problem is not None:
        say("broken", model.problem, "mark")
    for number, error in enumerate(row.errors):
        say("last errors" if not number else "", error, "mark")
    return found


def bytes_said(size: int | None) -> str:
    """Bytes in a few cells: `96 MB`, `1.2 GB`; a dash where they are not known."""
    if size is None:
        return UNDEFINED
    if size >= 1e9:
        return f"{size / 1e9:.1f} GB"
    return f"{size / 1e6:.0f} MB" if size >= 1e6 else f"{size / 1e3:.0f} kB"
