"""Reading a rendered screen as eyes do: colours that stand on each other, words that are cut, figures without a head.

Colours are read under a theme in which each variable has a colour that no other has. Nothing on a screen is blended, so
a cell names the two variables that it is drawn with, and every theme says what contrast they have: one rendering
answers for all themes.
"""

import re
from collections.abc import Iterator
from functools import cache

import msgspec
from rich.cells import cell_len, get_character_cell_size
from rich.color import Color as RichColor
from rich.style import Style
from textual.color import Color
from textual.pilot import Pilot
from textual.theme import Theme
from textual.widgets import Input

from emotui.screens.frame import Frame
from emotui.screens.widgets.cell_width import width
from emotui.screens.widgets.line import Line, taken
from emotui.themes import DEFAULT, THEMES
from tests.paths import CHECKOUT
from tests.screens.driving import frame, render_update
from tests.screens.test_themes import contrast

LEAST = 4.5
"""WCAG 2, level AA, for text."""

_NAMES = ("primary", "foreground", "background", "surface", "panel", "warning", "error", "success")


def _colour(number: int) -> str:
    return f"#{3 * number + 9:02x}40{240 - 3 * number:02x}"


_VARIABLES = [*_NAMES, *(name for name in THEMES[DEFAULT].variables if not name.endswith("-text-style"))]
_NUMBER = {name: number for number, name in enumerate(_VARIABLES)}
PROBE = Theme(
    name="probe",
    **{name: _colour(_NUMBER[name]) for name in _NAMES},
    secondary=_colour(_NUMBER["primary"]),
    accent=_colour(_NUMBER["primary"]),
    variables=THEMES[DEFAULT].variables
    | {name: _colour(number) for name, number in _NUMBER.items() if name not in _NAMES},
)
"""A theme in which a colour is the name of its variable."""


@cache
def name_of(colour: "RichColor | None") -> str:
    """The variable of the probe that has this colour, but for what Textual rounds off."""
    triplet = colour.triplet if colour is not None else None
    found = [
        name
        for name, number in _NUMBER.items()
        if triplet and all(abs(a - b) < 2 for a, b in zip(triplet, Color.parse(_colour(number)).rgb, strict=True))
    ]
    return found[0] if found else "none"


@cache
def colours_of(theme: str) -> dict[str, Color]:
    """A theme's colours by variable."""
    found = THEMES[theme]
    named = {name: getattr(found, name) for name in _NAMES} | found.variables
    return {name: Color.parse(named[name]) for name in _VARIABLES}


MEANT = frozenset(
    [
        "jo",
        "tr",
        "fe",
        "su",
        "sa",
        "di",
        "an",
        "ac",
        "jt",
        "fu",
        "ang",
        "con",
        "dis",
        "fea",
        "gui",
        "hap",
        "jea",
        "joy",
        "pri",
        "pro",
        "res",
        "sad",
        "sur",
        "wr",
        "sc",
        "ra",
        "la",
        "em",
        "ma",
        "sp",
        "wo",
        "va",
    ]
)
"""Emotions by their first letters, where several share a column or head one; what models can do, over a legend."""

_DRAWN = re.compile(r"[\s·…\u2500-\u259f\u2800-\u28ff]")
"""What is drawn and not read: lines, bars and shades; and the signs for nothing and for what is cut."""
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_TOKEN = re.compile(r"\w+")
_FIGURE = re.compile(r"(?<![\w.\-])[-+−]?(?:\d+\.\d+|\.\d+|\d+)(?![\w.])")


class Run(msgspec.Struct, frozen=True):
    """Cells of one style beside each other."""

    text: str
    style: Style

    def colours(self) -> tuple[str, str]:
        """The names that the probe has for what is drawn and for its ground."""
        style = self.style
        drawn, ground = (name_of(one) for one in (style.color, style.bgcolor))
        return (ground, drawn) if style.reverse else (drawn, ground)


def rows(pilot: "Pilot[None]") -> list[list[Run]]:
    """Everything that is on the screen, a line each, sheets over what they lie on."""
    app = pilot.app
    update = render_update(app.screen._compositor, full=True, screen_stack=app._background_screens)
    return [
        [Run(segment.text, segment.style or Style()) for strip in line for segment in strip]
        for line in update.strips  # type: ignore[attr-defined]
    ]


def panes(pilot: "Pilot[None]", screen: list[list[Run]]) -> list[list[str]]:
    """The characters of the sheet, where there is one, else of what stands beside each other, a pane each."""
    lines = ["".join(run.text for run in line) for line in screen]
    sheets = [*pilot.app.screen.query("#sheet, #--container")]
    if not sheets and not isinstance(pilot.app.screen, Frame):
        return [lines]
    read = sheets or [pane for pane in (frame(pilot).pane, frame(pilot).place) if pane.region]
    found = [[lines[0]], [lines[-1]]]
    for pane in read:
        x, y, columns, height = pane.region
        found.append([_cells(line, x, x + columns) for line in lines[y : y + height]])
    return found


def _cells(line: str, start: int, end: int) -> str:
    """The characters in these cells."""
    if line.isascii():
        return line[start:end]
    at, kept = 0, ""
    for character in line:
        if start <= at < end:
            kept += character
        at += get_character_cell_size(character)
    return kept


def over_ground(pilot: "Pilot[None]", screen: list[list[Run]]) -> list[list[Run]]:
    """The sheet and the line of its keys, where there is one: what lies under it is dimmed and not to be read."""
    sheets = [*pilot.app.screen.query("#sheet")]
    if not sheets:
        return screen
    x, y, columns, height = sheets[0].region
    found = []
    for line in screen[y : y + height]:
        at, inside = 0, []
        for run in line:
            size = cell_len(run.text)
            text = _cells(run.text, max(x - at, 0), max(x + columns - at, 0))
            inside += [Run(text, run.style)] if text else []
            at += size
        found.append(inside)
    return [*found, screen[-1]]


def faint(screen: list[list[Run]]) -> set[str]:
    """What has less contrast than text needs in any theme."""
    read: dict[Style, str] = {}
    for line in screen:
        for run in line:
            if run.style not in read and _DRAWN.sub("", run.text):
                read[run.style] = run.text.strip()[:30]
    found = set()
    for style, text in read.items():
        drawn, ground = Run(text, style).colours()
        for theme in THEMES:
            of = colours_of(theme)
            if drawn not in of or ground not in of or style.dim:
                found.add(f"{text!r} has colours of no theme: {style}")
            elif (ratio := contrast(of[drawn], of[ground])) < LEAST:
                found.add(f"{text!r} {ratio:.2f} {drawn} on {ground} in {theme}")
    return found


_GOLD = ("gold", "gold-on-predicted", "gold-now")


def underlined(screen: list[list[Run]]) -> set[str]:
    """What is underlined and is not gold."""
    return {
        run.text.strip()[:30]
        for line in screen
        for run in line
        if run.style.underline and run.text.strip() and run.colours()[0] not in _GOLD
    }


def accents(screen: list[list[Run]]) -> list[str]:
    """What stands on the ground of the accent: the lines of what has the cursor, one after the other, are one of it."""
    lines = {
        at: run.text.strip()[:30] for at, line in enumerate(screen) for run in line if run.colours()[1] == "primary"
    }
    return [text for at, text in sorted(lines.items()) if at - 1 not in lines]


def unmarked(screen: list[list[Run]]) -> set[str]:
    """Lines on which a cursor's sign stands and is not reversed."""
    return {run.text.strip()[:30] for line in screen for run in line if "▸ " in run.text and not run.style.reverse}


_NOTICE = "▌"
"""The left edge of a notice."""


def odd_words(lines: list[str]) -> set[str]:
    """Words that stand nowhere in program and data: cut without an ellipsis, or grown together with what is beside.

    What a notice lies over is not cut.
    """
    found = set()
    for line in lines:
        for match in _TOKEN.finditer(line):
            token = match.group()
            beside = line[max(match.start() - 1, 0) : match.start()] + line[match.end() : match.end() + 2].strip()
            hidden = "…" in beside or _NOTICE in beside
            if len(token) < 2 or token.isdigit() or token.isupper() or hidden or token.lower() in known():
                continue
            found.add(token)
    return found


@cache
def known() -> frozenset[str]:
    """Every word of the program, of the tests' workspaces and of the sample data."""
    files = [
        *(file for part in ("screens", "emotui", "metrics", "themes", "tests/screens") for file in _python(part)),
        *(CHECKOUT / "sample_data").glob("*.jsonl"),
    ]
    words: set[str] = set()
    for file in files:
        words.update(word.lower() for word in _TOKEN.findall(file.read_text(encoding="utf-8")))
    return frozenset(words | {part for word in words for part in word.split("_")})


def _python(part: str) -> Iterator[object]:
    return (CHECKOUT / part).rglob("*.py")


def headless(lines: list[str]) -> set[str]:
    """Columns of three figures or more, under a line of names none of which stands over them, and with none beside."""
    found = set()
    figures = [{match.end(): match.start() for match in _FIGURE.finditer(line)} for line in lines]
    for at in range(1, len(lines) - 2):
        if not re.search(r"\w {2,}\w", lines[at - 1]) or figures[at - 1]:
            continue
        for end in figures[at].keys() & figures[at + 1].keys() & figures[at + 2].keys():
            start = min(figures[at + k][end] for k in range(3))
            if re.search(r"[^\W\d_] [-+.,\d\[\] ]*$", lines[at][: figures[at][end]]):
                continue
            if not lines[at - 1][max(start - 1, 0) : end + 1].strip():
                found.add(f"{lines[at - 1].strip()} / {lines[at].strip()}"[:120])
    return found


_APART = re.compile(r"\s{3,}|[│┤├]")
_LETTER = re.compile(r"[^\W\d_]|%")


def unsaid(lines: list[str]) -> set[str]:
    """Figures with no word or unit beside them and none over them, in the column in which they stand.

    The marks of an axis, which ascend, have their word on the line.
    """
    found = set()
    for at, line in enumerate(lines):
        figures = [float(match.group().replace("−", "-")) for match in _FIGURE.finditer(line)]
        axis = len(figures) > 1 and figures == sorted(set(figures)) and _LETTER.search(line)
        for match in () if axis else _FIGURE.finditer(line):
            start = max([0, *(gap.end() for gap in _APART.finditer(line, 0, match.start()))])
            gap = _APART.search(line, match.end())
            end = gap.start() if gap else len(line.rstrip())
            over = [line, *reversed(lines[:at])]
            if not any(_LETTER.search(cells[max(start - 1, 0) : end + 1]) for cells in over):
                found.add(f"{match.group()} in {line.strip()}"[:100])
    return found


def _scrolled_away(pilot: "Pilot[None]") -> set[str]:
    """The rest of a word in a field whose line goes on to the left, as it does behind a cursor at its end."""
    fields = [field for field in pilot.app.screen.query(Input) if field.scroll_offset.x]
    shown = [field.value[field.scroll_offset.x :] for field in fields]
    return {match.group() for text in shown if (match := _TOKEN.search(text)) is not None}


def cut_with_room(pilot: "Pilot[None]") -> set[str]:
    """Lines that are cut though all that is written in them would fit."""
    lines = [line for line in pilot.app.screen.query(Line) if line.region and "…" not in line.text]
    return {line._drawn.strip() for line in lines if "…" in line._drawn and _needed(line) <= line.size.width}


def _needed(line: Line) -> int:
    """The cells of what is written at both ends of a line, with one between them."""
    left = "".join(part.text for part in line._left).rstrip()
    return width(left) + (1 + taken(line._right) if line._right else 0)


def wrong_in(pilot: "Pilot[None]", screen: list[list[Run]]) -> set[str]:
    """All that is wrong with the looks of what is on the screen."""
    found = faint(over_ground(pilot, screen))
    found |= {f"{text!r} is underlined and is not gold" for text in underlined(screen)}
    found |= {f"cut with room: {line}" for line in cut_with_room(pilot)}
    if len(on := accents(screen)) > 1:
        found.add(f"the accent is on {' and on '.join(on)}")
    if len(pilot.app.screen_stack) > 1:
        found |= {f"{text!r} is not reversed" for text in unmarked(screen)}
    for lines in panes(pilot, screen):
        found |= {f"{word!r} is no word" for word in odd_words(lines) - MEANT - _scrolled_away(pilot)}
        found |= {f"no head over {line!r}" for line in headless(lines)}
        found |= {f"no word beside {line!r}" for line in unsaid(lines) if len(lines) > 1}
    return found
