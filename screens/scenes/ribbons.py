"""The emotions of one scenario as ribbons over alpha, a row each, with what is wrong and macro-F1 on the same axis.

Shape says it without colour: ▆ on as in gold, ▒ on and not in gold, ▁ in gold and not on, · neither.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import events

from emotui.screens.scenes.axis import Axis, alpha_text, levels
from emotui.screens.widgets.cell_width import fit, width
from emotui.screens.widgets.line import Part
from emotui.screens.widgets.number_format import share
from emotui.screens.widgets.page import Lines
from emotui.screens.widgets.row_list import PickedRows

if TYPE_CHECKING:
    from emotui.workbench.scenes.decoding import Ribbons, Row

HIT, EXTRA, MISSED, NEITHER = "▆", "▒", "▁", "·"
_KINDS = {HIT: "said", EXTRA: "mark", MISSED: "gold", NEITHER: "rest"}
_P, _GOLD, _VERDICT, _FLIPS = 8, 5, 15, 8
_NARROW = 5, 3
"""Cells of P(yes) and gold where the verdict would else have no room for a word, """
_WORD = 7
"""which takes so many."""
_NARROW_HEAD = "P(yes) gold now"
_SCALED_FROM = 6
"""Cells that stay behind the scale of macro-F1 at least, for what it is where cross-validation has α."""
_APART = "│"
"""Between what runs along alpha and a figure at one alpha."""


@dataclass(frozen=True, slots=True, eq=False)
class Ribboned:
    """What the ribbons are drawn from: a scenario's own, the rows at alpha, and the whole set's macro-F1 if known.

    `step`: where alpha stands among the alphas; `chosen`: where the one stands that cross-validation chose. `wrong`:
    is there a line for how many emotions are wrong at each alpha?
    """

    ribbons: "Ribbons"
    rows: "tuple[Row, ...]"
    step: int
    chosen: int | None
    macro_f1: Sequence[float] | None
    wrong: bool = True


class RibbonRows(PickedRows["Row"]):
    """↑ ↓ pick an emotion; a click picks one too, and takes the alpha under the mouse."""

    DEFAULT_CSS = "RibbonRows { height: auto; max-height: 12; }"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(self._lines_of, id=id)
        self.shown: Ribboned | None = None
        """What they are drawn from."""

    def put(self, ribboned: Ribboned | None) -> None:
        """Show these; None: nothing."""
        self.shown = ribboned
        self.show_rows(() if ribboned is None else ribboned.rows)

    def _lines_of(self, rows: "Sequence[Row]", cursor: int, cells: int) -> Lines:
        return [] if self.shown is None or not rows else lines(self.shown, cursor, cells)

    async def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if self.shown is not None and offset is not None:
            axis = Axis.of(self.shown.ribbons.alphas, self.scrollable_content_region.width)
            step = axis.step_at(offset.x)
            if step is not None:
                await self.screen.run_action(f"tell('alpha', {step})")
        await super().on_click(event)


def lines(shown: Ribboned, cursor: int, cells: int) -> Lines:
    """The axis with alpha and the choice on it, a line an emotion, what is wrong, macro-F1, and the axis in words."""
    axis = Axis.of(shown.ribbons.alphas, cells)
    behind = cells - axis.cells
    narrow = sum(_NARROW) + _WORD <= behind < _P + _GOLD + _WORD
    p, gold = _NARROW if narrow else (_P, _GOLD)
    room = behind - p - gold
    verdict = min(max(room, 0), _VERDICT)
    flips = room - verdict if room - verdict >= _FLIPS else 0
    rows = [_line(shown, place, place == cursor, axis, (p, gold, verdict, flips)) for place in range(len(shown.rows))]
    track = axis.track(shown.step, shown.chosen, "  on at α")
    if narrow and not track[-1].text.strip("─"):
        track[-1] = Part(track[-1].text[:-1] + " ", track[-1].kind)  # the heads take the column of the stroke too
    head = [
        *track,
        *(
            [Part(fit(_NARROW_HEAD, behind), "dim")]
            if narrow
            else [
                Part(f"{_APART}{'P(yes)':>{_P - 1}}{'gold':>{_GOLD}}", "dim"),
                Part(fit("  now" if verdict >= 5 else "", verdict), "dim"),
            ]
        ),
        Part(fit("flips at" if flips else "", flips), "dim"),
    ]
    wrong = [_wrong(shown, axis)] if shown.wrong else []
    return [head, *rows, *wrong, _macro_f1(shown, axis, behind - _P - _GOLD), [Part(axis.ticks(), "dim")]]


def one_line(shown: Ribboned, cursor: int, cells: int) -> Lines:
    """The ribbon of one emotion between the axis with alpha on it and that in words."""
    head, *rows = lines(shown, cursor, cells)
    return [head, rows[cursor], rows[-1]] if 0 <= cursor < len(shown.rows) else []


def _line(shown: Ribboned, place: int, here: bool, axis: Axis, behind: tuple[int, int, int, int]) -> list[Part]:
    """A row. Args: behind: cells of what stands behind the axis: P(yes), gold, the verdict and the flips."""
    p, gold, verdict, flips = behind
    row, ribbons = shown.rows[place], shown.ribbons
    name = fit(row.label, axis.label - 3).rstrip()
    kind = "gold-line" if row.gold else "strong" if here else "plain"
    parts = [
        Part("▸ " if here else "  ", "picked" if here else "plain"),
        Part(name, kind),
        Part(" " * (axis.label - 2 - width(name))),
        *ribbon(ribbons.on[:, place].tolist(), bool(row.gold), shown.step, axis),
        Part(_APART, "dim"),
        Part(f"{share(row.posterior):>{p - 1}}", "strong" if here else "plain"),
        Part(f"{'■' if row.gold else '·':>{gold - 1}} ", "gold" if row.gold else "rest"),
        _verdict(row, verdict),
    ]
    if flips:
        said = " ".join(f"{'↑' if on else '↓'}{alpha_text(alpha)}" for alpha, on in ribbons.flips(place))
        parts.append(Part(fit(said, flips), "dim"))
    return parts


def ribbon(on: Sequence[int], gold: bool, step: int, axis: Axis) -> list[Part]:
    """The cells of one emotion; where two alphas share one that differ, the half that is on is drawn."""
    parts = []
    for cell, steps in enumerate(axis.shared(range(len(on)))):
        states = [on[one] for one in steps]
        glyph = (HIT if gold else EXTRA) if states[0] else (MISSED if gold else NEITHER)
        kind = _KINDS[glyph]
        if len(set(states)) > 1:
            glyph, kind = "▌" if states[0] else "▐", _KINDS[HIT if gold else EXTRA]
        here = axis.cell_of(step) == cell
        parts.append(Part(glyph * axis.repeat, f"{kind}-now" if here else kind))
    return parts


def _verdict(row: "Row", cells: int) -> Part:
    """What is wrong with the emotion, in a word, else a letter; an arrow before it: the prior made it so."""
    if row.clamp is not None:
        said, kind = ("clamp yes" if row.clamp else "clamp no"), "key"
        ways: tuple[str, ...] = (f" {said}", said, f" {said[6:]}", said[6:], said[6:7])
    elif row.now != row.gold:
        letter, word = ("M", "missed") if row.gold else ("X", "extra")
        kind = "mark"
        arrow = "→" if row.before != row.now else ""
        ways = (f" {arrow}{word}", f"{arrow}{word}", f"{arrow}{letter}", letter)
    else:
        kind = "said"
        ways = (" →right", "→right", "→") if row.before != row.now else ("",)
    return Part(fit(next((way for way in ways if width(way) <= cells), ""), cells), kind)


def _wrong(shown: Ribboned, axis: Axis) -> list[Part]:
    """How many emotions of the scenario are wrong at each alpha, of all."""
    wrong, k = shown.ribbons.wrong.tolist(), len(shown.rows)
    now = sum(row.now != row.gold for row in shown.rows)
    drawn = axis.curve(levels([count / k for count in wrong]), shown.step, "mark")
    return [Part(fit("  wrong", axis.label), "dim"), *drawn, Part(_APART, "dim"), Part(f" {now} of {k}")]


def _macro_f1(shown: Ribboned, axis: Axis, room: int) -> list[Part]:
    """Macro-F1 of all scenarios of the run at each alpha, a full cell the greatest."""
    name = Part(fit("  Macro-F1 all", axis.label), "dim")
    if shown.macro_f1 is None:
        return [name, Part("decoding every scenario…", "dim")]
    most = max(shown.macro_f1) or 1.0
    drawn = axis.curve(levels([value / most for value in shown.macro_f1]), shown.step, "said")
    now = Part(f"{share(shown.macro_f1[shown.step]):>{_P - 3}}", "strong")
    parts = [name, *drawn, Part(_APART, "dim"), now]
    if width(scale := f"  full height {share(most).strip()}") <= room - _SCALED_FROM:
        parts.append(Part(scale, "dim"))
        room -= width(scale)
    if shown.chosen is not None and shown.chosen != shown.step:
        said = f"  ◆ {share(shown.macro_f1[shown.chosen]).strip()}"
        at = f" at α {alpha_text(shown.ribbons.alphas[shown.chosen])}"
        parts.append(Part(said + (at if width(said + at) <= room + _GOLD else ""), "key"))
    return parts
