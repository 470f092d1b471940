"""A text as a score: spans in the text, a note on each in the margin, a cursor on one, and under it all about that."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import msgspec
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip

from emotui.records import Span
from emotui.screens.browse import things, voices
from emotui.screens.browse.things import MarginShape, Thing, cut_to, label_parts
from emotui.screens.keymaps import keyed
from emotui.screens.widgets.cell_width import fit, shown, width, wrap
from emotui.screens.widgets.line import Part, drawn, taken
from emotui.screens.widgets.number_format import UNDEFINED, share
from emotui.screens.widgets.page import tell_end
from emotui.screens.widgets.tier_layout import AnnotatedText, Layout, Margin, Row, lay_out
from emotui.screens.widgets.tiered_text import RUN_ROLES, TieredText

if TYPE_CHECKING:
    from emotui.workbench.answers import Voice

# What stands under a score: all about the span under the cursor, and what others marked there.

_SIDES = 6
_NAMES = 20


class Other(msgspec.Struct, frozen=True):
    """Somebody else who marked spans of the text; `kind`: of the parts that show the name."""

    name: str
    kind: str
    marked: tuple[tuple[Span, str | None], ...]


class About(msgspec.Struct, frozen=True):
    """What a score knows beside its things: the text, whose sentence an offset is in, others, and notes in words.

    `told`: sources that say something of the whole text, each with its name. `emotion`: gold's, where it is of the
    whole text and not of its sentences. `unscored`: labels of spans are in no figure, since gold has none.
    """

    text: str = ""
    sentences: tuple[tuple[int, int, str], ...] = ()
    others: tuple[Other, ...] = ()
    notes: tuple[str, ...] = ()
    key: str = ""
    told: "tuple[tuple[Voice, str], ...]" = ()
    emotion: str = ""
    unscored: bool = False


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
        if one.labels[0] is None and about.emotion:
            parts += [Part("  gold emotion ", "dim"), Part(shown(about.emotion), "gold")]
    more = []
    if one.strength is not None:
        given = share(one.strength).strip() if abs(one.strength) <= 1 else f"{one.strength:.3g}"
        more.append([Part("  strength of the span ", "dim"), Part(given)])
    more += [[Part(f"   {words}", "dim")] for words in (_sentence(one, about), _offsets(one)) if words]
    for part in more:
        parts += part if taken([*parts, *part]) < cells else []  # whole or not at all
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


def overlapping(things: Sequence[Thing], one: Thing) -> tuple[str, Thing] | None:
    """Of a span that stands alone: what overlaps it on the other side, and why that is not its own; None: nothing."""
    for number, other in enumerate(things, 1):
        mine, theirs = (one.gold_place, other.said_place) if one.said is None else (one.said_place, other.gold_place)
        if other is not one and mine is not None and theirs is not None and _meet(mine, theirs):
            paired = other.gold is not None and other.said is not None
            return f"counted for span {number}: " if paired else f"span {number}, no word in common: ", other
    return None


def sides(one: Thing, cells: int, lines: int, things: Sequence[Thing] = ()) -> list[list[Part]]:
    """Gold and predicted under each other on two lines, beside each other on one.

    Args:
        things: all of the sample, one of which may overlap this one and be matched with another.
    """
    beside = overlapping(things, one) if None in (one.gold, one.said) else None
    if one.gold is not None and one.gold == one.said:
        told = [[Part(" both ", "dim"), Part(fit(one.gold, max(cells - _SIDES, 1)).rstrip(), "gold-line")]]
    elif lines < 2:
        return [_on_one_line(one, cells, beside)]
    else:
        told = [
            _side("gold", one.gold, "gold-line", cells, beside),
            _side("pred", one.said, _said(one), cells, beside),
        ]
    if one.said is not None and "H" in one.marks:
        told = [_side("pred", one.said, "gone", cells), _near(one, cells)][:lines]
    return [*told, *([[]] * (lines - len(told)))]


def _said(one: Thing) -> str:
    return "gone" if "H" in one.marks else "ground"


def _side(name: str, text: str | None, kind: str, cells: int, beside: tuple[str, Thing] | None = None) -> list[Part]:
    """`beside`: what overlaps where there is none, and why that is not its own."""
    room = max(cells - _SIDES, 1)
    if text is None and beside is not None:
        why, other = beside
        said = other.gold if name == "gold" else other.said
        return [Part(f" {name} ", "dim"), Part(why, "dim"), Part(fit(said or "", max(room - width(why), 1)).rstrip())]
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


def _on_one_line(one: Thing, cells: int, beside: tuple[str, Thing] | None) -> list[Part]:
    if (one.said is None or one.gold is None) and beside is None:
        name, text, kind = ("gold", one.gold, "gold-line") if one.said is None else ("pred", one.said, _said(one))
        return _side(name, text, kind, cells)
    half = (cells - 3) // 2
    left = _side("gold", one.gold, "gold-line", half, beside)
    used = sum(width(part.text) for part in left)
    return [*left, Part(" │", "rest"), *_side("pred", one.said, _said(one), cells - used - 2, beside)]


def of_others(one: Thing, about: About, cells: int) -> list[list[Part]]:
    """A line for everybody else, in one order at every span: what they marked that shares a character with this one."""
    names = min(max((width(other.name) for other in about.others), default=0), _NAMES)
    lines = []
    for other in about.others:
        met = [(place, label) for place, label in other.marked if any(_meet(place, mine) for mine in one.places)]
        words = " · ".join(
            " ".join(about.text[place[0] : place[1]].split()) + (f" ({label})" if label else "") for place, label in met
        )
        said = fit(words or UNDEFINED, max(cells - names - 4, 1)).rstrip()
        lines.append([Part(f" {fit(other.name, names)}  ", other.kind), Part(said, "plain" if met else "dim")])
    return lines


def _meet(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]


_CURSOR = 4
"""The layer over gold (1) and predicted (2)."""

_BOLD = Style(bold=True)
_AT_HAND = Style(bold=True, italic=True)

_LEAST_BARRED = 12
"""Lines of text in sight from which on bars stand under all of them."""
_ROOMY = 17
"""Lines from which gold and predicted stand under each other."""


class Score(TieredText):
    """The cursor walks with ← and →, a click puts it on a span or its note. It is drawn without any layout."""

    BINDINGS = [
        Binding("left", "walk(-1)", show=False),
        Binding("right", "walk(1)", show=False),
    ]
    DEFAULT_CSS = """
    Score {
        &:focus > .score--cursor { color: $primary; background: $background; text-style: bold reverse; }
        &:focus > .score--cursor-gold { color: $primary; background: $background; text-style: bold reverse underline; }
        & > .score--cursor-beside { background: $field; color: $gold; text-style: bold underline; }
        & > .score--cursor-near { background: $field; text-style: bold; }
        & > .score--predicted-here { color: $background; background: $predicted-bar; text-style: bold; }
        & > .score--both-here { color: $background; background: $predicted-bar; text-style: bold underline; }
        & > .score--gone { color: $mark; text-style: strike; }
        & > .score--heading { background: $panel; }
    }
    """

    class Walked(Message):
        """The cursor stands on another thing."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.things: tuple[Thing, ...] = ()
        self.cursor = 0
        self._about = About()
        self._shape = MarginShape()
        self._heading: tuple[Part, ...] = ()
        self._marked: tuple[Span, ...] = ()
        self._note_rows: dict[int, int] = {}
        self._starts: list[int] = []
        self._below: list[list[Part]] | None = None
        self._voices_at = -1
        """On which line of the foot the heading stands over what is said of the whole text."""

    @property
    def thing(self) -> Thing | None:
        """What the cursor stands on."""
        return self.things[self.cursor] if self.things else None

    def show_things(
        self, score: AnnotatedText, things: Sequence[Thing], at: int, about: About, heading: Sequence[Part]
    ) -> None:
        """Show another sample, or the same one drawn otherwise; the cursor stands on the thing at `at`."""
        same = (tuple(things), about, tuple(heading)) == (self.things, self._about, self._heading)
        self.things, self._about, self._heading = tuple(things), about, tuple(heading)
        self.cursor = min(max(at, 0), max(len(self.things) - 1, 0))
        self._marked = self.thing.places if self.thing is not None else ()
        if score != self.score:
            self.show(score)
        elif not same:
            self._lay_out()
        else:
            self._below = None
            self.refresh()
        self._follow()

    def walk_to(self, at: int) -> bool:
        """Put the cursor on a thing; says whether there is such a one."""
        if not 0 <= at < len(self.things):
            return False
        self.cursor = at
        self._marked, self._below = self.things[at].places, None
        if self._starts and self.lines_in_sight < _LEAST_BARRED:
            self._lay_out()
        self._follow()
        self.refresh()
        self.post_message(self.Walked())
        return True

    def action_walk(self, step: int) -> None:
        if not self.walk_to(self.cursor + step):
            tell_end(self, step, "span")

    def _follow(self) -> None:
        """Bring the cursor's note into sight, with the line that it belongs to; or else the passage that is near it."""
        if not self.size.height:
            return  # of a hidden pane nothing is in sight; it looks after its cursor when it is shown
        one, line = self.thing, self._note_rows.get(self.cursor)
        if one is not None and one.near is not None:
            self.reveal(one.near.place[0])
            return
        if line is not None:
            self.bring_into_sight(line)

    def on_resize(self) -> None:
        self._lay_out()
        self._follow()

    # Layout.

    @property
    def lines_in_sight(self) -> int:
        return max(self.size.height - 1 - self._foot_lines, 1)

    @property
    def _side_lines(self) -> int:
        return 2 if self.size.height >= _ROOMY else 1

    @property
    def _foot_lines(self) -> int:
        """Lines under the text that stay in sight however long it is."""
        of_span = 1 + (self._side_lines if self.things else 0) + len(self._about.notes)
        return of_span + voices.lines_of(self._about.told, self.size.height)

    def _fitted(self, cells: int) -> Layout:
        self._shape = things.margin_shape(self.things, cells, unscored=self._about.unscored)
        last = len(self.score.text)
        starts = tuple(last if one.start is None else min(one.start, last) for one in self.things)
        layout = lay_out(self.score, cells, Margin(self._shape.cells, starts))
        if len(self.score.chips) > 1 and len(layout.rows) + len(self.score.chips) <= self.lines_in_sight - 2:
            layout = lay_out(self.score, cells, Margin(self._shape.cells, starts, airy=True))
        if self.lines_in_sight < _LEAST_BARRED:
            layout = msgspec.structs.replace(layout, rows=tuple(filter(self._keeps, layout.rows)))
        self._note_rows = {row.note: line for line, row in enumerate(layout.rows) if row.note >= 0}
        barred = any(row.voice >= 0 for row in layout.rows)
        self._starts = [line for line, row in enumerate(layout.rows) if row.voice < 0] if barred else []
        return layout

    def _keeps(self, row: Row) -> bool:
        """In a low pane bars are under the lines of the cursor's span alone, so that there is text to read."""
        here = () if self.thing is None else self.thing.places
        return row.voice < 0 or row.note >= 0 or any(start < row.end and row.start < end for start, end in here)

    def _lay_out(self) -> None:
        self._width = self.scrollable_content_region.width
        self._layout_now = self._fitted(max(self._width, 10))
        # Where all is in sight its size is the pane's, whatever it is: another size would lay the screen out anew.
        lines = len(self._layout_now.rows) + 1 + self._foot_lines
        self.virtual_size = Size(self._width, max(lines, self.size.height))
        self._below = None
        self.refresh()

    @property
    def _foot_at(self) -> int:
        """The line on which the foot begins: under the text, or at the bottom where there is more of that."""
        rows = len(self._layout_now.rows)
        return min(rows + 2, max(self.size.height - self._foot_lines, 1))

    # Lines of text with the rows of bars under them.

    def _with_bars(self, line: int) -> tuple[int, int]:
        """From which row to before which a line of text goes on with its bars."""
        place = bisect_right(self._starts, line)
        ends = self._starts[place] if place < len(self._starts) else len(self._layout_now.rows)
        return self._starts[max(place - 1, 0)], ends

    def _is_part(self, line: int) -> bool:
        """Is only a part of a line of text and its bars in sight, where there is room for all of it?

        Where the line and most of its bars are, they are shown: a sentence that goes on is worth more than empty rows.
        """
        if not self._starts or line >= len(self._layout_now.rows):
            return False
        first, ends = self._with_bars(line)
        top, room = self.scroll_offset.y, self.lines_in_sight
        most = first >= top and 2 * (top + room - first) > ends - first
        return ends - first <= room and (first < top or ends > top + room) and not most

    def bring_into_sight(self, line: int) -> None:
        if not self._starts:
            super().bring_into_sight(line)
            return
        first, ends = self._with_bars(line)
        top, room = self.scroll_offset.y, self.lines_in_sight
        if first < top:
            self.scroll_to(y=first, animate=False, force=True)
        elif ends > top + room:
            place = min(bisect_left(self._starts, ends - room), len(self._starts) - 1)
            self.scroll_to(y=min(self._starts[place], first), animate=False, force=True)

    # Drawing.

    def render_line(self, y: int) -> Strip:
        below = y - self._foot_at
        if y == 0:
            return self._head()
        if below >= 0:
            return self._foot(below)
        if self._is_part(y - 1 + self.scroll_offset.y):
            return Strip.blank(self.size.width, self.rich_style)
        return super().render_line(y - 1)

    def _head(self) -> Strip:
        layout, base = self._layout_now, self.rich_style
        heads = things.heads(self._shape) if self._shape.cells else []
        left = self._left + layout.gutter + layout.columns
        return self._parts([*things.cut_to(self._heading, left if heads else self._width), *heads], base)

    def _foot(self, below: int) -> Strip:
        base = self.rich_style
        if self._below is None:
            self._below = self._foot_now()
        if below >= len(self._below):
            return Strip.blank(self.size.width, base)
        heads = below in (0, self._voices_at)
        return self._parts(self._below[below], self._style(base, "score--heading") if heads else base)

    def _foot_now(self) -> list[list[Part]]:
        """The lines under the text, for the thing under the cursor."""
        cells, one, self._voices_at = self._width, self.thing, -1
        lines = [heading(self.things, self.cursor, self._about, cells)]
        lines += [] if one is None else sides(one, cells, self._side_lines, self.things)
        lines += [[Part(" " + fit(words, cells - 2), "dim")] for words in self._about.notes]
        if self._about.told:
            self._voices_at = len(lines)
            most = voices.lines_of(self._about.told, self.size.height)
            lines += [[Part(" "), *line] for line in voices.table(self._about.told, cells - 1, most)]
        if one is not None and self._about.others:
            others, room = of_others(one, self._about, cells), self.size.height - self._foot_at - len(lines)
            if room < len(others):
                kept = others[: max(room - 1, 0)]
                more = keyed(f" +{len(others) - len(kept)} more: {{annotators}} shows all in the text")
                others = [*kept, [Part(more, "dim")]]
            lines += [*([[]] * (room > len(others))), *others]
        legend = [words[a:b] for words in things.LEGEND for a, b in wrap(words, max(cells - 2, 8))]
        if any(thing.marks for thing in self.things) and self._foot_at + len(lines) + len(legend) < self.size.height:
            lines += [[], *([Part(f" {words}", "dim")] for words in legend)]
        return lines

    @property
    def _left(self) -> int:
        layout = self._layout_now
        return max((self._width - layout.gutter - layout.columns - layout.tail) // 2, 0)

    def _parts(self, parts: Sequence[Part], base: Style) -> Strip:
        return Strip(self._segments(parts, base)).crop(0, self._width).extend_cell_length(self.size.width, base)

    def _segments(self, parts: Sequence[Part], base: Style) -> list[Segment]:
        def style(kind: str) -> Style:
            if kind in RUN_ROLES:
                return self._style(base, f"tiered-text--{kind}-bar")
            return base if kind == "plain" else self._style(base, f"part--{kind}")

        return drawn(parts, style)[0]

    def _text_row(self, row: Row, base: Style) -> list[Segment]:
        segments = super()._text_row(row, base)
        one = self.things[row.note] if row.note >= 0 else None
        if one is not None and one.start is None and row.start == row.end:
            segments += self._not_in_text(one, row, base)
        return self._with_note(segments, row, base)

    def _bar_row(self, row: Row, base: Style) -> list[Segment]:
        return self._with_note(super()._bar_row(row, base), row, base)

    def _not_in_text(self, one: Thing, row: Row, base: Style) -> list[Segment]:
        """A line for what the run made up: it has no other place."""
        words = fit(one.said or one.gold or "", self._layout_now.columns).rstrip()
        kind = "score--cursor" if row.note == self.cursor else "score--gone"
        return [Segment(words, self._style(base, "score--gone") + self._style(base, kind))]

    def _with_note(self, segments: list[Segment], row: Row, base: Style) -> list[Segment]:
        if row.note < 0:
            return segments
        layout = self._layout_now
        ends = layout.gutter + layout.columns
        strip = Strip(segments).crop(0, ends).extend_cell_length(ends, base)
        here = row.note == self.cursor
        parts = things.note(self.things[row.note], self._shape, here=here)
        return [*strip, *self._segments(parts, base)]

    def _stretches(self, row: Row) -> list[tuple[int, int, int]]:
        stretches = super()._stretches(row)
        for first, last in self._marked:
            if first < row.end and last > row.start:
                stretches = [piece for one in stretches for piece in _split(*one, first, last)]
        return stretches

    def _inline(self, base: Style, layers: int) -> Style:
        if not layers & _CURSOR:
            return super()._inline(base, layers)
        one = self.thing
        if one is not None and one.start is None:
            return self._style(super()._inline(base, layers & 3), "score--cursor-near")
        if self.app.no_color:
            # Reversed is predicted's and underlined is gold's here too: the span at hand is told by the letters alone.
            return super()._inline(base, layers & 3) + _AT_HAND
        if not self.has_focus or self.screen.has_class("-under"):
            # Elsewhere the sign in the margin is enough: what is gold and what predicted stays to be seen. Dark words
            # on a light ground are hardly bolder in bold: there what is predicted has a darker ground too.
            if layers & 2 and not self.app.current_theme.dark:
                return self._style(base, "score--both-here" if layers & 1 else "score--predicted-here")
            return super()._inline(base, layers & 3) + _BOLD
        kind = {_CURSOR | 2: "cursor", _CURSOR | 3: "cursor-gold", _CURSOR | 1: "cursor-beside"}.get(layers, "cursor")
        return self._style(base, f"score--{kind}")

    # The mouse.

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is None or not 1 <= offset.y < self._foot_at:
            return
        line = offset.y - 1 + self.scroll_offset.y
        if line >= len(self._layout_now.rows):
            return
        row, layout = self._layout_now.rows[line], self._layout_now
        column = offset.x - self._left - layout.gutter
        found = row.note if column >= layout.columns or row.start == row.end else self._thing_at(row, column)
        if found >= 0:
            event.stop()
            self.walk_to(found)

    def _thing_at(self, row: Row, column: int) -> int:
        """The shortest thing over the letter in this column of a row, -1 where there is none."""
        at = row.start
        while at < row.end and width(self.score.text, row.start, at + 1) <= column:
            at += 1
        over = [
            (last - first, number)
            for number, one in enumerate(self.things)
            if one.start is not None
            for first, last in one.places
            if first <= at < last
        ]
        return min(over)[1] if over and column >= 0 else -1


def _split(start: int, end: int, layers: int, first: int, last: int) -> list[tuple[int, int, int]]:
    """A stretch in up to three, of which the one inside `[first, last)` has the cursor's layer."""
    cuts = sorted({start, end, *(at for at in (first, last) if start < at < end)})
    return [(one, other, layers | _CURSOR if first <= one < last else layers) for one, other in pairwise(cuts)]
