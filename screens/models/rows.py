"""The models at hand, a line each, and everything about the picked one."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from emotui.screens.widgets.cell_width import fit, wrap
from emotui.screens.widgets.line import Part
from emotui.screens.widgets.number_format import UNDEFINED, count
from emotui.screens.widgets.page import Lines

if TYPE_CHECKING:
    from emotui.workbench.models.loaded import OnShelf

_SIGNS = {"loaded": "●", "loading": "◐", "ended": "○", "failed": "!", "": " "}
_FIXED = 2 + 2 + 9 + 9 + 10 + 10
_WIDEST = 96


def lines(rows: "Sequence[OnShelf]", cursor: int, cells: int) -> Lines:
    """The heading, and a line a model in so many cells; the SPEC takes what is left."""
    room = max(min(cells, _WIDEST) - _FIXED, 12)
    head = f"    {fit('model', room)}{'size':>9}{'quantised':>10}{'memory':>10}   state"
    return [[Part(head, "dim")], *(_line(row, number == cursor, room) for number, row in enumerate(rows))]


def _line(row: "OnShelf", here: bool, room: int) -> list[Part]:
    model = row.model
    size = bytes_said(model.size if model is not None else None)
    quantised = (model.quantisation if model is not None else None) or UNDEFINED
    state, kind = row.state, "mark" if row.state == "failed" else "said" if row.state == "loaded" else "plain"
    if model is not None and model.problem is not None:
        state, kind = "failed", "mark"
    return [
        Part("▸ " if here else "  "),
        Part(f"{_SIGNS[state]} ", kind),
        Part(_end(row.spec, room), "picked" if here else "plain"),
        Part(f"{size:>9}{fit(quantised[:9], 9).strip():>10}{bytes_said(row.memory):>10}   "),
        Part("broken" if model is not None and model.problem is not None else state or "–", kind),
    ]


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
    able = card.capabilities if card is not None else model.capabilities if model is not None else ()
    say("can", ", ".join(each.replace("_", " ") for each in able) or "told when it is loaded")
    if model is not None and model.context is not None:
        say("context", f"{count(model.context)} tokens")
    if row.load_seconds is not None:
        say("loaded in", f"{row.load_seconds:.1f} s")
    for trial, rate in row.rates.items():
        say(
            trial,
            f"{count(round(rate.per_second)) if rate.per_second >= 10 else f'{rate.per_second:.1f}'} {rate.unit}/s",
        )
    if not row.rates:
        say("speed", "not measured yet: b measures it")
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
