"""Rating blind: one text at a time over the whole screen, an emotion by one key; nothing tells who wrote it."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.filter import LineFilter
from textual.geometry import Size
from textual.screen import Screen

from emotui.screens.requests import LatestRequest
from emotui.screens.widgets.cell_width import PlainCells, fit, shown, wrap
from emotui.screens.widgets.line import PART_CSS, Line, Part
from emotui.screens.widgets.page import Lines, Page
from emotui.screens.widgets.textual_private import use_two_colours
from emotui.themes import DEFAULT, THEMES

if TYPE_CHECKING:
    from emotui.workbench.generation.rating import Answer, Sitting

KEYS = "1234567890abcdefghijklmnoprstvwxyz"
"""A key a label, in their order; u takes back and q leaves."""

WIDEST = 78
_BAR = 24
QUESTION = "Which emotion does this text show?"


def key_of(at: int) -> str:
    """The key of the label at a place; empty where there are more labels than keys."""
    return KEYS[at] if at < len(KEYS) else ""


def asking(text: str, labels: "tuple[str, ...]", chosen: str, room: Size) -> Lines:
    """The text in the middle, under it the labels with their keys; the one that was chosen before has a sign."""
    cells = min(room.width - 2, WIDEST)
    margin = " " * max((room.width - cells) // 2, 0)
    body = [shown(text[start:end].rstrip()) for start, end in wrap(text, cells)]
    widest = max((len(shown(label)) for label in labels), default=8) + 6
    columns = max(min(cells // widest, 2 if room.height < len(body) + len(labels) + 7 else 1), 1)
    rows = -(-len(labels) // columns)
    above = max((room.height - len(body) - rows - 4) // 3, 0)
    lines: list[list[Part]] = [[] for _ in range(above)]
    lines += [[Part(margin + line)] for line in body]
    lines += [[], [Part(margin + QUESTION, "strong")], []]
    for row in range(rows):
        line = [Part(margin)]
        for at in range(row, len(labels), rows):
            label = labels[at]
            here = label == chosen
            press = f"choose({at})"
            line += [
                Part(f"{'▸' if here else ' '}{key_of(at):>2}", "key", press),
                Part("  " + fit(label, widest - 5), "picked" if here else "plain", press),
            ]
        lines.append(line)
    return lines


def done_lines(came_to: Mapping[str, int], cells: int) -> Lines:
    """What a finished batch came to."""
    margin = " " * max((cells - WIDEST) // 2, 1)
    checks = f"{came_to['checks'] - came_to['failed']} of {came_to['checks']} attention checks as asked"
    lines = [
        [],
        [Part(f"{margin}This batch is done: {came_to['texts']} texts, all kept.", "strong")],
        [Part(f"{margin}{checks}.")] if came_to["checks"] else [],
    ]
    if came_to["aside"]:
        lines.append([Part(f"{margin}The ratings are set aside; other raters get these texts.", "mark")])
    return [*lines, [], [Part(margin), Part("Esc", "key"), Part(" back")]]


class RateScreen(Screen[None]):
    """A sitting over the whole screen, so that list, top line, footer and palette say nothing of models.

    Each key is written at once; what is not written yet when an error comes is written with the next key.
    """

    BINDINGS = [
        Binding("escape,q,ctrl+q", "leave", "leave"),
        Binding("u,ctrl+z", "take_back", "take back"),
    ]
    DEFAULT_CSS = """
    RateScreen { background: $background; }
    RateScreen #rate-top { padding: 0 1; background: $panel; }
    RateScreen #rate-text { height: 1fr; }
    RateScreen #rate-keys { padding: 0 1; background: $panel; color: $text-muted; }
    RateScreen ToastRack { display: none; }
    """

    def __init__(self, sitting: "Sitting", clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self.sitting = sitting
        self.answers = dict(sitting.answers)
        self.at = self._first_open(0)
        self.came_to: Mapping[str, int] | None = None
        self._clock, self._since = clock, clock()
        self._serial = 0
        self._unkept: list[Answer] = []
        self._leaving = False
        self._keep: LatestRequest[tuple[Answer, ...], int] = LatestRequest(
            "rate", self, sitting.keep, self._kept, self._not_kept, older=True
        )
        self._ending: LatestRequest[None, Mapping[str, int]] = LatestRequest(
            "rated", self, lambda _: sitting.came_to(), self._ended, self._not_ended
        )

    def _first_open(self, start: int) -> int:
        """The first place without an answer from `start` on, else from the beginning; the end if there is none."""
        n = len(self.sitting.texts)
        order = [*range(start, n), *range(start)]
        return next((at for at in order if at not in self.answers), n)

    def compose(self) -> ComposeResult:
        yield Line(id="rate-top")
        yield Page(id="rate-text")
        yield Line(id="rate-keys")

    def on_mount(self) -> None:
        self.query_one("#rate-keys", Line).show(
            [
                Part("1 2 3 …", "key"),
                Part(" the emotion   "),
                Part("u", "key", "take_back"),
                Part(" take back   "),
                Part("Esc", "key", "leave"),
                Part(" back (kept; it goes on here)"),
            ]
        )
        self._show()

    @property
    def over(self) -> bool:
        """Has every item an answer?"""
        return self.at >= len(self.sitting.texts)

    def _show(self, problem: str = "") -> None:
        n, done = len(self.sitting.texts), len(self.answers)
        full = round(_BAR * done / n) if n else 0
        left = [
            Part("Rating ", "strong"),
            Part(f" {min(self.at + 1, n)} of {n}  "),
            Part("━" * full, "said"),
            Part("─" * (_BAR - full), "rest"),
        ]
        right = [Part(shown(problem), "mark")] if problem else [Part(shown(self.sitting.rater), "dim")]
        self.query_one("#rate-top", Line).show(left, right)
        page = self.query_one("#rate-text", Page)
        if not self.over:
            text, labels = self.sitting.texts[self.at], self.sitting.labels
            chosen = self.answers.get(self.at, "")
            page.show_for(lambda room: asking(text, labels, chosen, room), home=True)
        elif self.came_to is None:
            page.show([[Part(" The last answers are being kept…", "dim")]])
            if not self._unkept:
                self._ending.ask(None)
        else:
            came_to = self.came_to
            page.show_for(lambda room: done_lines(came_to, room.width))

    def on_key(self, event: events.Key) -> None:
        """An emotion by its key."""
        at = KEYS.find(event.character or " ")
        if 0 <= at < len(self.sitting.labels):
            event.stop()
            self.action_choose(at)

    def action_choose(self, at: int) -> None:
        """This text shows this emotion; the next one is shown in the same frame."""
        if self.over:
            return
        label, now = self.sitting.labels[at], self._clock()
        self.answers[self.at] = label
        self._write(self.at, label, now - self._since)
        self.at, self._since = self._first_open(self.at + 1), now
        self._show()

    def action_take_back(self) -> None:
        """Back to the text before, without an answer."""
        before = max((at for at in self.answers if at < self.at), default=None)
        if before is None:
            return
        del self.answers[before]
        self._write(before, "", None)
        self.at, self.came_to, self._since = before, None, self._clock()
        self._show()

    def action_leave(self) -> None:
        """Leave as soon as everything is kept."""
        self._leaving = True
        if not self._unkept:
            self.dismiss(None)

    def _write(self, at: int, emotion: str, seconds: float | None) -> None:
        from emotui.workbench.generation.rating import Answer

        self._serial += 1
        taken = None if seconds is None else round(seconds, 2)
        self._unkept.append(Answer(self._serial, at, emotion, taken))
        self._keep.ask(tuple(self._unkept))

    def _kept(self, asked: "tuple[Answer, ...]", last: int) -> None:
        self._unkept = [one for one in self._unkept if one.serial > last]
        if self._unkept:
            return
        if self._leaving:
            self.dismiss(None)
        elif self.over:
            self._ending.ask(None)
        else:
            self._show()

    def _not_kept(self, asked: "tuple[Answer, ...]", why: str) -> None:
        self._show(f"not kept yet: {why}")
        if self._leaving:
            self._leaving = False

    def _ended(self, _: None, came_to: Mapping[str, int]) -> None:
        if self.over:
            self.came_to = came_to
            self._show()

    def _not_ended(self, _: None, why: str) -> None:
        self._show(why)


# Rating by itself, without the workbench around it: what `emotui ratings rate` opens.


class RateApp(App[None]):
    """A sitting, and nothing else."""

    TITLE = "emotui"
    CSS = PART_CSS
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, sitting: "Sitting", theme: object = None) -> None:
        super().__init__()
        for one in THEMES.values():
            self.register_theme(one)
        self.theme = theme if isinstance(theme, str) and theme in THEMES else DEFAULT
        if self.no_color:
            use_two_colours(self)
        self._sitting = sitting
        self._plain = PlainCells()

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Whatever a widget draws goes through these."""
        return [*super().get_line_filters(), self._plain]

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """So that a theme from elsewhere still draws."""
        return THEMES[DEFAULT].variables

    def on_mount(self) -> None:
        self.push_screen(RateScreen(self._sitting), lambda _: self.exit())
