"""The text that is annotated: its spans as bars with their labels under the words, caret, selection, hint letters.

Only the lines in sight are drawn. Lines are broken once for a text and a width; rows follow from the spans.
"""

import os
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate, takewhile
from operator import is_

import msgspec
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from emotui.records import Span
from emotui.screens.annotate.lines import BrokenLines, Row, Tiers, break_lines
from emotui.screens.widgets.cell_width import NOT_TURNED, fit, right_to_left, turns, width
from emotui.screens.widgets.textual_private import forget_part_styles, part_style
from emotui.screens.widgets.tier_layout import MOST_COLUMNS
from emotui.screens.widgets.tiered_text import drawn_literally, flatten
from emotui.workbench.annotate.scheme import COLOURS

# The colours of a scheme's labels, each in the tone that the theme has for it.


def label_rules(widget: str, part: str, style: str = "") -> str:
    """Rules for the parts of a widget that are named `part` and a colour.

    Args:
        style: what further holds for them.
    """
    return "".join(f"{widget} > .{part}{colour} {{ color: $label-{colour}; {style} }}\n" for colour in COLOURS)


# A span as a bar under its words: where it begins and ends, and its label in it.


class BarSigns:
    """The signs that bars of one kind are drawn with."""

    def __init__(self, line: str, opens: str, closes: str) -> None:
        self.line, self.opens, self.closes = line, opens, closes


OWN = BarSigns("─", "├", "┤")
SUGGESTED = BarSigns("┄", "┆", "┆")
THEIRS = BarSigns("━", "┝", "┥")


def bar(signs: BarSigns, cells: int, label: str, short: str, *, opens: bool, closes: bool) -> str:
    """A bar in so many cells.

    Args:
        label: as much of it as fits stands in the bar; where hardly any does, `short` does.
        opens: whether the span begins in this line.
        closes: whether it ends in it.
    """
    if cells <= 1:
        return fit(short, 1) if short else signs.line
    left = signs.opens if opens else signs.line
    right = signs.closes if closes else signs.line
    room = cells - 2
    if not room:
        return (fit(short, 1) if short and opens else left) + right
    said = label if width(label) <= room else fit(label, room) if room >= 4 else short if width(short) <= room else ""
    said = said if opens else ""
    return left + said + signs.line * (room - width(said)) + right


_STEP = 16
"""Rows by which the height that can be scrolled over grows."""

_OWN, _CHOSEN, _SELECTED, _CARET = 1, 2, 4, 8
_KINDS = {"own": OWN, "selected": OWN, "suggested": SUGGESTED, "theirs": THEIRS}


class TierMark(msgspec.Struct, frozen=True):
    """A span in a tier. `short` stands for its label where there is no room.

    `kind`: own, selected, suggested or theirs. `colour`: that of its label in the scheme, if it has one.
    """

    id: str
    start: int
    end: int
    label: str = ""
    short: str = ""
    kind: str = "own"
    colour: str = ""


Placed = tuple[int, int, TierMark]
"""A mark behind its start and its end."""


class PassageTier(msgspec.Struct, frozen=True):
    """The spans of one source, with the name that stands at the left of their rows.

    Marks that are the same as before are looked at faster where they are the same objects.
    """

    name: str
    marks: tuple[Placed, ...]


class PassageView(msgspec.Struct, frozen=True):
    """What is drawn. `heads`: what stands at the left of the line on which each sentence begins.

    `caret`, `selection`: stretches of the text. `chosen`: the id of a span. `hints`: by offset, in order, what to type.
    `dealt`: the same with all letters of every word that has some, which keep their places while they are typed.
    `places`: words can be marked; else the caret only keeps its line in sight, and is not drawn.
    """

    text: str = ""
    sentences: tuple[Span, ...] = ()
    heads: tuple[str, ...] = ()
    tiers: tuple[PassageTier, ...] = ()
    caret: Span | None = None
    selection: Span | None = None
    chosen: str | None = None
    hints: Mapping[int, str] = {}
    dealt: Mapping[int, str] = {}
    places: bool = True


class Passage(ScrollView, can_focus=True, inherit_bindings=False):
    """Draws a `PassageView`, and leaves it to its owner what keys and the mouse do in it.

    Args:
        press: takes the name of a key and its character, and says whether something was done.
    """

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    Passage {
        height: 1fr;
        padding: 1 1 0 1;
        overflow-x: hidden;
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
        & > .passage--own { text-style: underline; }
        & > .passage--chosen { background: $predicted; color: $predicted-text; text-style: underline; }
        & > .passage--selected { background: $primary; color: $background; }
        & > .passage--caret { background: $field; text-style: bold; }
        & > .passage--hint { color: $primary; text-style: bold; }
        & > .passage--bar-own { color: $gold; }
        & > .passage--caret-chosen { text-style: bold; }
        & > .passage--bar-chosen { color: $gold; text-style: bold; }
        & > .passage--bar-selected { color: $primary; text-style: bold; }
        & > .passage--bar-suggested { color: $mark; }
        & > .passage--bar-theirs { color: $predicted-bar; }
        & > .passage--head { color: $text-muted; }
        & > .passage--head-here { color: $foreground; text-style: bold; }
        & > .passage--symbol { color: $text-disabled; }
        &:nocolor > .passage--chosen { text-style: bold underline; }
        &:nocolor > .passage--selected { text-style: reverse bold; }
        &:nocolor > .passage--caret, &:nocolor > .passage--caret-chosen { text-style: reverse; }
        &:nocolor > .passage--bar-chosen { text-style: bold reverse; }
    }
    """ + label_rules("Passage", "passage--label-")

    class Pointed(Message):
        """The mouse was dragged from one offset to another, or clicked, where they are the same.

        `mark`: the id of the span whose bar was clicked. `exactly`: graphemes are meant, not words.
        """

        def __init__(self, start: int, end: int, mark: str | None, *, exactly: bool, done: bool) -> None:
            super().__init__()
            self.start, self.end, self.mark = start, end, mark
            self.exactly, self.done = exactly, done

    class Reflowed(Message):
        """Its lines are broken for another width, and there may be more or fewer of them."""

    def __init__(self, press: Callable[[str, str | None], bool], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._press = press
        self.view = PassageView()
        self._broken: BrokenLines = break_lines("", 10)
        self._broken_for: tuple[str, tuple[Span, ...], int] = ("", (), 10)
        self._tiers: Tiers[TierMark] = Tiers(self._broken)
        self._told_direction = False
        self._gutter = 0
        self._columns = 10
        self._dragged_from: int | None = None
        self._styles: dict[str, Style] = {}

    def show(self, view: PassageView, *, follow: bool = True) -> None:
        """Show this; `follow`: bring the caret into sight."""
        before, self.view = self.view, view
        same = view.text is before.text and view.sentences == before.sentences
        tiers_same = len(view.tiers) == len(before.tiers) and all(map(is_, view.tiers, before.tiers))
        rows, placed = self._tiers.n, (self._gutter, self._columns)
        lines = frozenset[int]()
        if not same or not tiers_same or view.heads != before.heads or view.hints != before.hints:
            lines = self._lay_out()
        if not same:
            self.scroll_home(animate=False)
            self._tell_direction()
        if follow and view.caret is not None and (not same or view.caret != before.caret) and not view.dealt:
            self.reveal(view.caret)
        if view.dealt and view.dealt != before.dealt:
            # Once there is as much room as its owner makes for the rows of letters.
            self.call_after_refresh(self._reveal_letters)
        placed_anew = (self._tiers.n, self._gutter, self._columns) != (rows, *placed)
        if not same or placed_anew or view.hints or before.hints or view.heads != before.heads:
            self.refresh()
            return
        stretches = [one for one in (before.caret, view.caret, before.selection, view.selection) if one is not None]
        stretches += [(mark.start, mark.end) for id in {before.chosen, view.chosen} for mark in self._named(id)]
        self._refresh_lines({*lines, *(line for one in stretches for line in self._broken.met_by(*one))})

    def _tell_direction(self) -> None:
        """Say once that the terminal leaves right-to-left letters in the order of their offsets."""
        if not self._told_direction and right_to_left(self.view.text) and not turns(os.environ):
            self._told_direction = True
            self.notify(NOT_TURNED)

    def _named(self, id: str | None) -> list[TierMark]:
        if id is None:
            return []
        return [mark for tier in self.view.tiers for _, _, mark in tier.marks if mark.id == id]

    def _refresh_lines(self, lines: Iterable[int]) -> None:
        """Draw these lines again, with the rows under them; their sentences' heads too."""
        top, height = self.scroll_offset.y, self.scrollable_content_region.height
        for line in lines:
            first = self._broken.line_of(self._sentence_start(line))
            for one in {line, first}:
                begins, ends = self._tiers.first_row(one) - top, self._tiers.after(one) - top
                if ends > 0 and begins < height:
                    self.refresh(Region(0, begins, self.outer_size.width, ends - begins))

    def _sentence_start(self, line: int) -> int:
        at = self._broken.lines[line][0]
        place = bisect_right(self.view.sentences, at, key=_start) - 1
        return self.view.sentences[place][0] if place >= 0 else at

    # Laying out.

    def _lay_out(self) -> frozenset[int]:
        """Break lines and count rows where that is needed; the lines that have other marks now."""
        view, cells = self.view, self.scrollable_content_region.width
        names = [f"  {tier.name}" for tier in view.tiers if tier.name and tier.marks]
        widest = max(map(width, (*view.heads, *names)), default=0)
        self._gutter = min(widest, max(cells // 5, 6), 18) + 2 if widest else 1
        self._columns = max(min(cells - self._gutter, MOST_COLUMNS), 8)
        wanted = (view.text, view.sentences, self._columns)
        if wanted != self._broken_for:
            self._broken_for, self._broken = wanted, break_lines(view.text, self._columns, view.sentences)
            self._tiers = Tiers(self._broken)
        lines = self._tiers.put([*(tier.marks for tier in view.tiers), self._hint_marks()])
        # Another height has everything on the screen laid out again: rows come and go within the same one.
        height, n = self.scrollable_content_region.height, self._tiers.n
        size = Size(cells, height if n <= height else -(-n // _STEP) * _STEP)
        if size != self.virtual_size:
            self.virtual_size = size
        return lines

    def _hint_marks(self) -> tuple[Placed, ...]:
        """What is to type for each word, under it; a cell is left behind it. Rows stay while letters are typed."""
        marks: list[Placed] = []
        for at, code in self.view.dealt.items():
            end = self._broken.lines[self._broken.line_of(at)][1]
            after = max(min(at + len(code) + 1, end), at + 1)
            marks.append((at, after, TierMark("", at, after, self.view.hints.get(at, ""), "", "hint")))
        return tuple(marks)

    def lettered(self, start: int, most: int) -> Span:
        """The stretch of the text of which every word can have letters in a row under its line.

        Args:
            start: an offset, with whose line it begins where not all of the text has room.
            most: the rows that there is room for.
        """
        lines = self._broken.lines
        bars = range(len(self.view.tiers))
        rows = [2 + sum(len(self._tiers.lanes(tier, line)) for tier in bars) for line in range(len(lines))]
        if sum(rows) <= most:
            return 0, len(self.view.text)
        first = self._broken.line_of(start)
        fits = sum(1 for _ in takewhile(most.__ge__, accumulate(rows[first:])))
        return lines[first][0], lines[first + max(fits, 1) - 1][1]

    def _reveal_letters(self) -> None:
        """Scroll so that all words with letters are in sight, as little as that takes."""
        if self.view.dealt:
            first, last = (self._broken.line_of(at) for at in (min(self.view.dealt), max(self.view.dealt)))
            top, height = self.scroll_offset.y, max(self.scrollable_content_region.height, 1)
            if self._tiers.first_row(first) < top or self._tiers.after(last) > top + height:
                self.scroll_to(y=self._tiers.first_row(first), animate=False, force=True)

    def on_resize(self) -> None:
        """Break the lines anew where the width has changed."""
        before = self._columns
        self._lay_out()
        self.refresh()
        if self._columns != before:
            self.post_message(self.Reflowed())

    def on_show(self) -> None:
        """What came while this was hidden was laid out for no width at all."""
        self.on_resize()

    def reveal(self, stretch: Span) -> None:
        """Scroll as little as brings a stretch into sight, with the rows under its line."""
        first = self._tiers.first_row(self._broken.line_of(stretch[0]))
        last = self._tiers.after(self._broken.line_of(stretch[0])) - 1
        height = max(self.scrollable_content_region.height, 1)
        top = self.scroll_offset.y
        if first < top:
            self.scroll_to(y=first, animate=False, force=True)
        elif last >= top + height:
            self.scroll_to(y=max(min(last + 1 - height, first), 0), animate=False, force=True)

    @property
    def columns(self) -> int:
        """The cells for which its lines are broken."""
        return self._columns

    @property
    def lines(self) -> int:
        """How many lines the text takes, without what stands under them."""
        return len(self._broken.lines)

    @property
    def rows(self) -> int:
        """How many rows the text takes, with the bars under its lines."""
        return self._tiers.n

    @property
    def in_sight(self) -> Span:
        """The stretch of the text of which lines are in sight."""
        rows, top = self._tiers.n, self.scroll_offset.y
        height = max(self.scrollable_content_region.height, 1)
        if not rows:
            return 0, 0
        first = self._tiers.row(min(top, rows - 1))
        last = self._tiers.row(min(top + height - 1, rows - 1))
        from_line = first.line if first.tier < 0 else min(first.line + 1, len(self._broken.lines) - 1)
        return self._broken.lines[from_line][0], self._broken.lines[last.line][1]

    def line_from(self, at: int, step: int) -> int:
        """The offset in the line above or below that stands in the same column."""
        line = self._broken.line_of(at)
        other = min(max(line + step, 0), len(self._broken.lines) - 1)
        if other == line:
            return at
        column = width(self.view.text, self._broken.lines[line][0], at)
        return self._offset_in(other, column)

    def cell_of(self, at: int) -> tuple[int, int]:
        """The column and row, in this widget, at which an offset in sight is drawn."""
        line = self._broken.line_of(at)
        column = self._left + self._gutter + width(self.view.text, self._broken.lines[line][0], at)
        left, top = self.gutter.top_left
        return left + column, top + self._tiers.first_row(line) - self.scroll_offset.y

    # Drawing.

    def notify_style_update(self) -> None:
        super().notify_style_update()
        forget_part_styles(self)
        self._styles.clear()
        self.refresh()

    def _style(self, kind: str) -> Style:
        if not self._styles:
            self._styles[""] = self.rich_style
        if kind not in self._styles:
            self._styles[kind] = self._styles[""] + part_style(self, f"passage--{kind}")
        return self._styles[kind]

    @property
    def _left(self) -> int:
        return max((self.scrollable_content_region.width - self._gutter - self._columns) // 2, 0)

    def render_lines(self, crop: Region) -> list[Strip]:
        """All lines in sight: styles are worked out once, not once a line."""
        self._styles.clear()
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        cells, base = self.scrollable_content_region.width, self._style("")
        at = y + self.scroll_offset.y
        if not 0 <= at < self._tiers.n:
            return Strip.blank(cells, base)
        row = self._tiers.row(at)
        segments = [Segment(" " * self._left, base)]
        segments += self._text_row(row.line) if row.tier < 0 else self._bar_row(row)
        return Strip(segments).crop(0, cells).extend_cell_length(cells, base)

    def _text_row(self, line: int) -> list[Segment]:
        view, segments = self.view, []
        start, end = self._broken.lines[line]
        if self._gutter:
            unit = self._broken.unit[line]
            head = view.heads[unit] if 0 <= unit < len(view.heads) else ""
            here = view.caret is not None and 0 <= unit < len(view.sentences)
            here = here and view.sentences[unit][0] <= view.caret[0] < view.sentences[unit][1] if view.caret else False
            segments.append(Segment(fit(head, self._gutter), self._style("head-here" if here else "head")))
        own = [(first, last) for tier in view.tiers[:1] for first, last, _ in self._tiers.marks(0, line)]
        chosen = [(first, last) for tier in (0, *range(1, len(view.tiers))) for first, last in self._chosen(tier, line)]
        selected = [view.selection] if view.selection is not None else []
        caret = [view.caret] if view.caret is not None and view.places else []
        at = start
        clipped = [_clipped(spans, start, end) for spans in (own, chosen, selected, caret)]
        pieces = [(start + one.start, start + one.end, one.layers) for one in flatten(clipped, end - start)]
        for first, last, layers in [*pieces, (end, end, 0)]:
            if first > at:
                segments += self._stretch(at, first, 0)
            segments += self._stretch(first, last, layers)
            at = last
        return segments

    def _chosen(self, tier: int, line: int) -> list[Span]:
        if self.view.chosen is None or tier >= len(self.view.tiers):
            return []
        return [(first, last) for first, last, mark in self._tiers.marks(tier, line) if mark.id == self.view.chosen]

    def _stretch(self, start: int, end: int, layers: int) -> list[Segment]:
        if start >= end:
            return []
        style = self._style("own") if layers & _OWN else self._style("")
        if layers & _CHOSEN:
            style += self._style("chosen")
        if layers & _SELECTED:
            style += self._style("selected")
        if layers & _CARET and not layers & _SELECTED:
            # A span has one ground: the caret in the chosen one does not break it.
            style += self._style("caret-chosen" if layers & _CHOSEN else "caret")
        return drawn_literally(self.view.text, start, end, style, self._style("symbol"))

    def _hint_row(self, row: Row) -> list[Segment]:
        """The letters of the words of a line, each under the beginning of its own."""
        start = self._broken.lines[row.line][0]
        segments, column = [Segment(" " * self._gutter, self._style("head"))], 0
        for first, _, mark in self._tiers.lanes(row.tier, row.line)[row.lane]:
            before = max(width(self.view.text, start, first), column)
            segments += [Segment(" " * (before - column), self._style("")), Segment(mark.label, self._style("hint"))]
            column = before + len(mark.label)
        return segments

    def _bar_row(self, row: Row) -> list[Segment]:
        if row.tier == len(self.view.tiers):
            return self._hint_row(row)
        tier = self.view.tiers[row.tier]
        start, end = self._broken.lines[row.line]
        name = fit(f"  {tier.name}", self._gutter) if row.lane == 0 and tier.name else " " * self._gutter
        segments, column = [Segment(name, self._style("head"))], 0
        for first, last, mark in self._tiers.lanes(row.tier, row.line)[row.lane]:
            before = max(width(self.view.text, start, max(first, start)), column)
            after = max(width(self.view.text, start, min(last, end)), before + 1)
            segments.append(Segment(" " * (before - column), self._style("")))
            signs = _KINDS[mark.kind]
            drawn = bar(signs, after - before, mark.label, mark.short, opens=first >= start, closes=last <= end)
            kind = "chosen" if mark.id == self.view.chosen else mark.kind
            style = self._style(f"bar-{kind}")
            segments.append(Segment(drawn, style + self._style(f"label-{mark.colour}") if mark.colour else style))
            column = after
        return segments

    # Keys and mouse.

    async def on_key(self, event: events.Key) -> None:
        # Taken here and not by a binding: a key that follows at once must find what this one has changed.
        if self._press(event.key, event.character if event.is_printable else None):
            event.stop()
            event.prevent_default()

    def _offset_in(self, line: int, column: int) -> int:
        start, end = self._broken.lines[line]
        at, used = start, 0
        while at < end:
            used += width(self.view.text, at, at + 1)
            if used > column:
                break
            at += 1
        return min(at, max(end - 1, start))

    def _pointed_at(self, event: events.MouseEvent) -> tuple[int, str | None] | None:
        """The offset under the mouse, and the span whose bar is there."""
        place = event.get_content_offset_capture(self)
        y = place.y + self.scroll_offset.y
        if not self._tiers.n:
            return None
        row = self._tiers.row(min(max(y, 0), self._tiers.n - 1))
        at = self._offset_in(row.line, place.x - self._left - self._gutter)
        if row.tier < 0 or row.tier == len(self.view.tiers):
            return at, None
        there = [mark.id for first, last, mark in self._tiers.lanes(row.tier, row.line)[row.lane] if first <= at < last]
        return at, there[0] if there else None

    def on_mouse_down(self, event: events.MouseDown) -> None:
        found = self._pointed_at(event)
        if found is None or event.button != 1:
            return
        self.focus()
        if found[1] is not None:
            self.post_message(self.Pointed(found[0], found[0], found[1], exactly=False, done=True))
            return
        self._dragged_from = found[0]
        self.capture_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        self._drag(event, done=False)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        self._drag(event, done=True)
        self._dragged_from = None
        self.release_mouse()

    def _drag(self, event: events.MouseEvent, *, done: bool) -> None:
        found = None if self._dragged_from is None else self._pointed_at(event)
        if found is None or self._dragged_from is None:
            return
        start, end = sorted((self._dragged_from, found[0]))
        if start == end and not done:
            return
        end = end if start == end else end + 1
        self.post_message(self.Pointed(start, end, None, exactly=event.ctrl, done=done))


def _start(span: Span) -> int:
    return span[0]


def _clipped(spans: Sequence[Span], start: int, end: int) -> list[Span]:
    return [
        (max(first, start) - start, min(last, end) - start) for first, last in spans if first < end and last > start
    ]
