"""Tiered text: a text with several sets of spans over it, in the text itself and as thin rows under its lines.

It is the one widget for this, whatever the sets are: gold and predicted, annotators, two models. Only the lines in
sight are drawn, so a text of a megabyte scrolls like a short one.
"""

import os
from bisect import bisect_right
from collections.abc import Sequence

import msgspec
from rich.segment import Segment
from rich.style import Style
from textual.geometry import Offset, Size
from textual.selection import Selection
from textual.strip import Strip

from emotui.records import Span
from emotui.screens.widgets.cell_width import (
    NOT_TURNED,
    fit,
    needs_carrier,
    right_to_left,
    shown,
    symbol,
    turns,
    whole,
    width,
)
from emotui.screens.widgets.line import selectable
from emotui.screens.widgets.number_format import UNDEFINED
from emotui.screens.widgets.page import Scrolled
from emotui.screens.widgets.textual_private import forget_part_styles, part_style
from emotui.screens.widgets.tier_layout import AnnotatedText, Layout, Row, lay_out

# Several sets of spans over one text, flattened into pieces that do not overlap.


class Piece(msgspec.Struct, frozen=True):
    """A stretch `[start, end)` that the same layers cover; `layers` has bit i set for layer i."""

    start: int
    end: int
    layers: int


def flatten(layers: Sequence[Sequence[Span]], length: int) -> list[Piece]:
    """The covered stretches of a text in order, each with the layers over it; uncovered ones are left out.

    Spans are clipped to `[0, length)`. Spans of one layer may overlap. O(n log n) in the number of spans.
    """
    edges: dict[int, list[tuple[int, int]]] = {}
    for layer, spans in enumerate(layers):
        for start, end in spans:
            first, last = max(start, 0), min(end, length)
            if first < last:
                edges.setdefault(first, []).append((layer, 1))
                edges.setdefault(last, []).append((layer, -1))
    depth = [0] * len(layers)
    pieces: list[Piece] = []
    previous, covered = 0, 0
    for at in sorted(edges):
        if covered:
            pieces.append(Piece(previous, at, covered))
        for layer, step in edges[at]:
            depth[layer] += step
        previous = at
        covered = sum(1 << layer for layer, count in enumerate(depth) if count)
    return pieces


_GOLD, _PREDICTED = 1, 2
BARS = {"gold": "━", "predicted": "━", "annotator": "─", "run-2": "═", "run-3": "▬", "run-4": "≡", "run-5": "≈"}
RUN_ROLES = ("predicted", "run-2", "run-3", "run-4", "run-5")
"""Of runs that stand beside each other, in their order: each has a sign and a colour of its own."""
_DOTTED = "┅"
_LEAST_LABEL = 4
"""Cells that a bar has in which a label stands."""


class TieredText(Scrolled, can_focus=True):
    """A text with tiers: gold is underlined, predicted has a background (reverse video without colour), both both."""

    DEFAULT_CSS = """
    TieredText {
        height: 1fr;
        padding: 0 1;
        overflow-x: hidden;
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
        & > .tiered-text--gold { color: $gold; text-style: underline; }
        & > .tiered-text--predicted { background: $predicted; color: $predicted-text; }
        & > .tiered-text--both { background: $predicted; color: $gold-on-predicted; text-style: underline; }
        & > .tiered-text--annotator { color: $text-muted; }
        & > .tiered-text--gold-bar { color: $gold; }
        & > .tiered-text--predicted-bar { color: $predicted-bar; }
        & > .tiered-text--run-2-bar { color: $label-purple; }
        & > .tiered-text--run-3-bar { color: $label-green; }
        & > .tiered-text--run-4-bar { color: $label-orange; }
        & > .tiered-text--run-5-bar { color: $label-magenta; }
        & > .tiered-text--chip { color: $text-muted; }
        & > .tiered-text--chip-strong { color: $foreground; }
        & > .tiered-text--mark { color: $mark; }
        & > .tiered-text--symbol { color: $text-disabled; }
        &:nocolor > .tiered-text--predicted { text-style: reverse; }
        &:nocolor > .tiered-text--both { text-style: reverse underline; }
        &:nocolor > .tiered-text--gold { text-style: underline; }
        &.-stale { color: $text-disabled; }
        &.-stale > .tiered-text--gold { color: $text-disabled; }
        &.-stale > .tiered-text--predicted { background: $field; color: $text-disabled; }
        &.-stale > .tiered-text--both { background: $field; color: $text-disabled; }
        &.-stale:nocolor { text-style: dim; }
    }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._score = AnnotatedText("")
        self._layout_now = Layout((), 0, 1, 0)
        self._width = 0
        self._pieces: list[Piece] = []
        self._piece_starts: list[int] = []
        self._merged: list[list[Span]] = []
        self._labels: list[dict[Span, str]] = []
        self._note = ""

    @property
    def score(self) -> AnnotatedText:
        """What is shown."""
        return self._score

    def show(self, score: AnnotatedText) -> None:
        """Show another text, from its top; the same text with other voices keeps its place."""
        if score == self._score:
            return
        same_text = score.text == self._score.text
        self._score = score
        gold = [span for voice in score.tiers if voice.inline and voice.role == "gold" for span in voice.spans]
        said = [span for voice in score.tiers if voice.inline and voice.role == "predicted" for span in voice.spans]
        if not score.text.isascii():
            gold, said = ([whole(score.text, *span) for span in spans] for spans in (gold, said))
        self._pieces = flatten([gold, said], len(score.text))
        self._piece_starts = [piece.start for piece in self._pieces]
        self._merged = [_merge(voice.spans) for voice in score.tiers]
        self._note = "" if turns(os.environ) or not right_to_left(score.text) else NOT_TURNED
        self._labels = [dict(voice.labels) for voice in score.tiers]
        self._lay_out()
        if not same_text:
            self.scroll_home(animate=False)

    def reveal(self, offset: int) -> None:
        """Scroll as little as brings the line of text with this offset, and the one before it, into sight."""
        lines = [at for at, row in enumerate(self._layout_now.rows) if row.voice < 0 and row.start <= offset < row.end]
        if lines:
            self.bring_into_sight(lines[0])

    @property
    def lines_in_sight(self) -> int:
        """How many lines of the text there is room for."""
        return max(self.scrollable_content_region.height, 1)

    def bring_into_sight(self, line: int) -> None:
        """Scroll as little as brings this line, and the one before it, into sight."""
        height = self.lines_in_sight
        if line - 1 < self.scroll_offset.y:
            self.scroll_to(y=max(line - 1, 0), animate=False, force=True)
        elif line >= self.scroll_offset.y + height:
            self.scroll_to(y=max(line + 2 - height, 0), animate=False, force=True)

    def on_resize(self) -> None:
        """Break the lines anew where the width has changed."""
        if self._width != self.scrollable_content_region.width:
            self._lay_out()

    def on_show(self) -> None:
        """What came while this was hidden was laid out for no width at all."""
        self.on_resize()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        forget_part_styles(self)
        self.refresh()

    def _lay_out(self) -> None:
        self._width = self.scrollable_content_region.width
        self._layout_now = self._fitted(max(self._width, 10))
        self.virtual_size = Size(self._width, len(self._layout_now.rows) + 2 * bool(self._note))
        self.refresh()

    def _fitted(self, cells: int) -> Layout:
        return lay_out(self._score, cells)

    def render_line(self, y: int) -> Strip:
        at = y + self.scroll_offset.y
        cells = self._width
        base = self.rich_style
        if self._note and at == len(self._layout_now.rows) + 1:
            return Strip([Segment(fit(self._note, cells), self._style(base, "tiered-text--chip"))])
        if not 0 <= at < len(self._layout_now.rows):
            return Strip.blank(self.size.width, base)
        row, layout = self._layout_now.rows[at], self._layout_now
        left = max((cells - layout.gutter - layout.columns - layout.tail) // 2, 0)
        segments = [Segment(" " * left, base)]
        segments += self._bar_row(row, base) if row.voice >= 0 else self._text_row(row, base)
        strip = Strip(segments).crop(0, cells)
        return selectable(self, strip.extend_cell_length(self.size.width, base), at)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """What is selected of the text; what stands in the margin and in the rows under it is left out."""
        rows = self._layout_now.rows
        if not rows:
            return None
        first = 0 if selection.start is None else self._offset_at(selection.start)
        last = len(self._score.text) if selection.end is None else self._offset_at(selection.end)
        return self._score.text[first:last], "\n"

    def _offset_at(self, place: Offset) -> int:
        """The offset in the text of a character of a line as it is drawn; of a row under a line, its end."""
        layout = self._layout_now
        row = layout.rows[min(place.y, len(layout.rows) - 1)]
        if row.voice >= 0:
            return row.end
        left = max((self._width - layout.gutter - layout.columns - layout.tail) // 2, 0)
        chip = self._score.chips[row.chip] if row.chip >= 0 else None
        gutter = len(fit(chip.label if chip else "", layout.gutter)) if layout.gutter else 0
        drawn = place.x - left - gutter
        at = row.start
        while at < row.end and len(shown(self._score.text, row.start, at + 1)) <= drawn:
            at += 1
        return at

    def _text_row(self, row: Row, base: Style) -> list[Segment]:
        layout, text = self._layout_now, self._score.text
        chip = self._score.chips[row.chip] if row.chip >= 0 else None
        segments = []
        if layout.gutter:
            kind = "tiered-text--chip-strong" if chip and chip.strong else "tiered-text--chip"
            segments.append(Segment(fit(chip.label if chip else "", layout.gutter), self._style(base, kind)))
        for start, end, layers in self._stretches(row):
            segments += drawn_literally(
                text, start, end, self._inline(base, layers), self._style(base, "tiered-text--symbol")
            )
        if chip and chip.tail and layout.tail:
            # The space at which a line breaks may hang over into the tail.
            room = layout.columns + layout.tail - width(text, row.start, row.end)
            kind = "tiered-text--mark" if chip.tail.isalpha() else "tiered-text--chip"
            segments.append(Segment(chip.tail.rjust(room), self._style(base, kind)))
        return segments

    def _bar_row(self, row: Row, base: Style) -> list[Segment]:
        layout, voice = self._layout_now, self._score.tiers[row.voice]
        kind = "tiered-text--annotator" if voice.role == "annotator" else f"tiered-text--{voice.role}-bar"
        style = self._style(base, kind)
        sign_of = f"{BARS[voice.role]} " if voice.role.startswith("run") else "  "
        segments = [Segment(fit(sign_of + voice.name, layout.gutter), style)]
        column = 0
        spans = self._merged[row.voice]
        first = max(bisect_right(spans, (row.start, row.start)) - 1, 0)
        for start, end in spans[first:]:
            if start >= row.end:
                break
            if end <= row.start:
                continue
            before = width(self._score.text, row.start, max(start, row.start))
            after = max(width(self._score.text, row.start, min(end, row.end)), before + 1)
            if before > column:
                segments.append(Segment(" " * (before - column), base))
            sign = _DOTTED if (start, end) in voice.dotted else BARS[voice.role]
            cells = after - max(before, column)
            label = self._labels[row.voice].get((start, end)) if start >= row.start else None
            segments.append(Segment(_bar(sign, cells, label), style))
            column = after
        return segments if column else [*segments, Segment(UNDEFINED, base)]

    def _stretches(self, row: Row) -> list[tuple[int, int, int]]:
        """`(start, end, layers)` over the whole row, uncovered stretches with no layer."""
        stretches = []
        at = row.start
        number = max(bisect_right(self._piece_starts, row.start) - 1, 0)
        for piece in self._pieces[number:]:
            if piece.start >= row.end:
                break
            if piece.end <= row.start:
                continue
            start, end = max(piece.start, row.start), min(piece.end, row.end)
            if start > at:
                stretches.append((at, start, 0))
            stretches.append((start, end, piece.layers))
            at = end
        if at < row.end:
            stretches.append((at, row.end, 0))
        return stretches

    def _inline(self, base: Style, layers: int) -> Style:
        if layers == _GOLD | _PREDICTED:
            return self._style(base, "tiered-text--both")
        if layers == _GOLD:
            return self._style(base, "tiered-text--gold")
        if layers == _PREDICTED:
            return self._style(base, "tiered-text--predicted")
        return base

    def _style(self, base: Style, kind: str) -> Style:
        return base + part_style(self, kind)


def _bar(sign: str, cells: int, label: str | None) -> str:
    """A bar with as much of a label in it as leaves a sign behind it, and one before it where there is room."""
    if label is None or cells < _LEAST_LABEL:
        return sign * cells
    said = fit(label, min(width(label), cells - 1))
    before = sign if width(said) < cells - 1 else ""
    return before + said + sign * (cells - len(before) - width(said))


def _merge(spans: Sequence[Span]) -> list[Span]:
    """Overlapping spans of one voice as one bar; touching ones stay apart."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def drawn_literally(text: str, start: int, end: int, style: Style, symbol_style: Style) -> list[Segment]:
    """The stretch as it is drawn, with stand-in symbols dimmed so that nobody takes them for the text."""
    segments: list[Segment] = []
    plain_from = start
    for at in range(start, end):
        stand_in = symbol(text[at])
        if stand_in is None and not needs_carrier(text, at):
            continue
        if at > plain_from:
            segments.append(Segment(shown(text, plain_from, at), style))
        drawn = shown(text, at, at + 1)
        if drawn:
            segments.append(Segment(drawn, style + symbol_style if stand_in is not None else style))
        plain_from = at + 1
    if plain_from < end:
        segments.append(Segment(shown(text, plain_from, end), style))
    return segments
