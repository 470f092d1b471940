"""Parts: stretches of text of one kind each, of which some can be clicked and all be selected; one line of them."""

from collections.abc import Callable, Sequence

import msgspec
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from emotui.screens.widgets.cell_width import fit, shown, width
from emotui.screens.widgets.textual_private import forget_part_styles, part_style

_KINDS = {
    "dim": "color: $text-muted;",
    "strong": "text-style: bold;",
    "key": "color: $primary; text-style: bold;",
    "here": "color: $foreground; text-style: bold;",
    "focused": "color: $primary; text-style: bold;",
    "picked": "color: $field; background: $foreground; text-style: bold reverse;",
    "picked-heat": "color: $foreground; background: $background; text-style: bold reverse;",
    "mark": "color: $mark;",
    "gold": "color: $gold;",
    "gold-line": "color: $gold; text-style: underline;",
    "said": "color: $predicted-bar;",
    "ground": "color: $predicted-text; background: $predicted;",
    "rest": "color: $rule;",
    "cue": "text-style: bold;",
    "left-out": "color: $text-muted; text-style: strike;",
    "gone": "color: $mark; text-style: strike;",
    "new": "color: $predicted-bar; text-style: bold;",
    "stale": "color: $text-disabled;",
    "heat-1": "background: $panel;",
    "heat-2": "background: $field;",
    "heat-3": "color: $predicted-text; background: $predicted;",
    "heat-4": "color: $background; background: $predicted-bar; text-style: bold;",
    "cold-1": "color: $label-purple; background: $panel;",
    "cold-2": "color: $label-purple; background: $raised;",
    "cold-3": "color: $label-purple; background: $raised; text-style: bold;",
    "cold-4": "color: $background; background: $label-purple;",
    "said-now": "color: $foreground; background: $field;",
    "mark-now": "color: $mark; background: $raised;",
    "gold-now": "color: $gold; background: $field;",
    "rest-now": "color: $text-muted; background: $field;",
}
_GREYED = ("dim", "strong", "mark", "gold", "gold-line", "said", "cue", "left-out", "gone", "new")
"""Kinds that have no colour of their own while what they say is out of date."""

_WITHOUT_COLOUR = {
    "focused": "bold underline",
    "picked": "bold",
    "ground": "reverse",
    "stale": "dim",
    "heat-4": "bold",
    "cold-4": "bold",
    "said-now": "bold",
    "mark-now": "bold",
    "gold-now": "bold",
    "rest-now": "bold",
}


_FOCUSED = """
*:focus > .part--picked, .-keys > .part--picked { color: $primary; background: $background; text-style: bold reverse; }
.-under *:focus > .part--picked, .-under .-keys > .part--picked { color: $field; background: $foreground; }
.-under *:nocolor:focus > .part--picked, .-under .-keys:nocolor > .part--picked { text-style: bold; }
"""
"""A cursor is reversed wherever it stands, and has the accent where the keys go, be it from a field beside it.

Without colour it is reversed only where the keys go, and bold elsewhere. Under a sheet, the keys go to the sheet.
"""


def _part_css() -> str:
    rules = [f".part--{kind} {{ {style} }}" for kind, style in _KINDS.items()]
    rules += [f"*.-stale > .part--{kind} {{ color: $text-disabled; }}" for kind in _GREYED]
    grounds = ", ".join(f".-stale > .part--{kind}" for kind in ("ground", "heat-3", "heat-4"))
    rules += [f"{grounds} {{ color: $text-disabled; background: $field; }}"]
    rules += [f"*:nocolor > .part--{kind} {{ text-style: {style}; }}" for kind, style in _WITHOUT_COLOUR.items()]
    return " ".join([*rules, _FOCUSED])


PART_CSS = _part_css()
"""The style of every kind of part, for the stylesheet of the app: once for all widgets that draw parts."""


class Part(msgspec.Struct, frozen=True):
    """A stretch of a line. `kind`: plain or one of `_KINDS`. `press`: what a click on it does."""

    text: str
    kind: str = "plain"
    press: str = ""


Press = tuple[int, int, str]
"""The cells `[start, end)` of a line, and the action that a click there runs."""


def taken(parts: Sequence[Part]) -> int:
    """The cells that parts take."""
    return sum(width(shown(part.text)) for part in parts)


def cut(parts: Sequence[Part], cells: int) -> list[Part]:
    """The parts in exactly so many cells; blanks at their end are let go of before anything is cut."""
    kept: list[Part] = []
    for at, part in enumerate(parts):
        size = width(shown(part.text))
        if size > cells:
            last = not any(one.text.strip() for one in parts[at + 1 :])
            text = part.text.rstrip() if last else part.text
            return [*kept, Part(fit(text, cells), part.kind, part.press)]
        kept.append(part)
        cells -= size
    return [*kept, Part(" " * cells)]


_EIGHTHS = ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")
"""What is left over of a bar."""

SEEN = 0.005
"""Of the most: what is less is written as zero, and draws nothing."""


def bar(value: float, most: float, cells: int, rest: str = " ") -> list[Part]:
    """A bar of so many cells, full at `most`, to an eighth of a cell: what is there shows one, and zero nothing.

    Args:
        rest: the character that what is left of the cells is filled with.
    """
    part = min(max(value, 0.0) / most, 1.0) if most > 0 else 0.0
    whole, eighths = divmod(max(round(part * cells * 8), int(part >= SEEN)), 8)
    drawn = "█" * whole + _EIGHTHS[eighths]
    return [Part(drawn, "said"), Part(rest * (cells - len(drawn)), "plain" if rest == " " else "rest")]


def fitted(parts: Sequence[Part], cells: int) -> Sequence[Part]:
    """The parts, cut with an ellipsis where what is written in them takes more than so many cells."""
    if taken(parts) <= cells:
        return parts
    written = list(parts)
    while written and not written[-1].text.strip():
        written.pop()
    if written:
        last = written[-1]
        written[-1] = Part(last.text.rstrip(), last.kind, last.press)
    return parts if taken(written) <= cells else cut(written, cells)


def opened(name: str, press: str, ends: str = "[]") -> Part:
    """The place, view or figure that is open: told by brackets and weight, since the accent is the cursor's."""
    return Part(f"{ends[0]}{name}{ends[1]}", "here", press)


_PART = "part"
"""What turns the parts of a view."""


def tabs(key: str, names: Sequence[str], here: str, room: int | None = None, what: str = "view") -> list[Part]:
    """The key that turns them and the names of views, the open one marked; a click tells the place `what` and the name.

    The parts of a view are below it, and look so: the open one stands in round brackets.

    Args:
        key: how the key of the action `what` is shown.
        room: cells; in fewer than the names take it is the open one alone, and the how manieth of how many. None: any.
    """
    turns = f"do('{what}')"
    lead = Part(f"{key} ", "key", turns)
    told = [(name, f"tell('{what}', '{name}')") for name in names]
    ends = "()" if what == _PART else "[]"
    named = [opened(name, press, ends) if name == here else Part(f" {name} ", "dim", press) for name, press in told]
    whole = [lead, *named, Part(" ")]
    if room is None or taken(whole) <= room:
        return whole
    at = names.index(here)
    return [lead, named[at], Part(f" {what} {at + 1} of {len(names)} ", "dim", turns)]


def drawn(parts: Sequence[Part], style: Callable[[str], Style]) -> tuple[list[Segment], list[Press]]:
    """The parts as segments in the style of their kinds, literally; and what can be clicked."""
    segments, presses, column = [], [], 0
    for part in parts:
        text = shown(part.text)
        segments.append(Segment(text, style(part.kind)))
        after = column + width(text)
        if part.press:
            presses.append((column, after, part.press))
        column = after
    return segments, presses


async def run_press(widget: Widget, event: events.Click, presses: Sequence[Press]) -> None:
    """Do what the part under the mouse stands for; where a drag that selects has ended, nothing."""
    if widget.text_selection is not None:
        return
    offset = event.get_content_offset(widget)
    for start, end, press in presses:
        if offset is not None and start <= offset.x < end:
            event.stop()
            await widget.screen.run_action(press)
            return


def selectable(widget: Widget, strip: Strip, line: int) -> Strip:
    """The strip of a line with the place of every character in it, for the mouse, and with what is selected marked."""
    selection = widget.text_selection
    if selection is not None and (span := selection.get_span(line)) is not None:
        strip = _marked(widget, strip, *span)
    return strip.apply_offsets(0, line)


def _marked(widget: Widget, strip: Strip, start: int, end: int) -> Strip:
    """The strip with the characters `[start, end)` on the ground of a selection; `end` -1: to the end."""
    style = widget.screen.get_component_rich_style("screen--selection")
    segments, at = [], 0
    for text, kind, _ in strip:
        last = at + len(text)
        first = min(max(start - at, 0), len(text))
        after = len(text) if end < 0 else min(max(end - at, first), len(text))
        for part, chosen in ((text[:first], False), (text[first:after], True), (text[after:], False)):
            if part:
                segments.append(Segment(part, (kind + style if kind else style) if chosen else kind))
        at = last
    return Strip(segments, strip.cell_length)


def extracted(selection: Selection, lines: Sequence[str]) -> tuple[str, str] | None:
    """What is selected of these lines, without the blanks at their ends, and what parts it from what follows."""
    if not lines:
        return None
    first = 0 if selection.start is None else min(selection.start.y, len(lines) - 1)
    last = len(lines) - 1 if selection.end is None else min(selection.end.y, len(lines) - 1)
    chosen = list(lines[first : last + 1])
    if selection.end is not None:
        chosen[-1] = chosen[-1][: selection.end.x]
    if selection.start is not None:
        chosen[0] = chosen[0][selection.start.x :]
    return "\n".join(line.rstrip() for line in chosen), "\n"


def _headed(parts: Sequence[Part]) -> Sequence[Part]:
    """The heading of the pane that has the keys: its first strong part is in the accent, underlined without colour."""
    for at, part in enumerate(parts):
        if part.kind == "strong":
            return [*parts[:at], Part(part.text, "focused", part.press), *parts[at + 1 :]]
    return parts


class Line(Widget):
    """Shows parts literally; what does not fit is cut at the right end of the left side."""

    DEFAULT_CSS = """
    Line { height: 1; }
    Line.-pane { background: $panel; }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._left: tuple[Part, ...] = ()
        self._right: tuple[Part, ...] = ()
        self._presses: list[Press] = []
        self._drawn = ""

    @property
    def text(self) -> str:
        """What is shown, without its styles."""
        return "".join(part.text for part in (*self._left, *self._right))

    def show(self, left: Sequence[Part], right: Sequence[Part] = ()) -> None:
        """Show other parts."""
        if (tuple(left), tuple(right)) != (self._left, self._right):
            self._left, self._right = tuple(left), tuple(right)
            self.refresh()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        forget_part_styles(self)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        cells, base, right = self.size.width, self.rich_style, taken(self._right)
        left = _headed(self._left) if self.has_class("-focused") else self._left
        beside = 0 < right < cells
        parts = [*cut(left, cells - right - 1), Part(" "), *self._right] if beside else cut(left, cells)

        def style(kind: str) -> Style:
            return base if kind == "plain" else base + part_style(self, f"part--{kind}")

        segments, self._presses = drawn(parts, style)
        strip = Strip(segments).crop(0, cells).extend_cell_length(cells, base)
        self._drawn = strip.text
        return selectable(self, strip, y)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """What is selected of the line, as it is drawn."""
        return extracted(selection, [self._drawn])

    async def on_click(self, event: events.Click) -> None:
        await run_press(self, event, self._presses)
