"""What the Spot check place shows: the text above, under it what one model or two say of it."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical

from emotui.records import Span
from emotui.screens.keymaps.words import keyed
from emotui.screens.spot import blocks as spot_blocks
from emotui.screens.spot import compare, headline, marks, task_blocks
from emotui.screens.spot.answers import QUICK, TASK, Column
from emotui.screens.spot.blocks import MASK
from emotui.screens.spot.compare import LETTERS
from emotui.screens.spot.editor import KINDS, LONGEST, SpotEditor
from emotui.screens.widgets.cell_width import fit, shown, width
from emotui.screens.widgets.editor import DirectionLine
from emotui.screens.widgets.line import Line, Part, cut
from emotui.screens.widgets.notice import Notice
from emotui.screens.widgets.number_format import count
from emotui.screens.widgets.page import Lines, Page
from emotui.screens.widgets.span_layers import flatten
from emotui.screens.widgets.tiered_text import TieredText

STACKED = 86
"""Below so many columns two models stand under each other."""

_EMPTY = (
    "Type or paste one: evidence in it, labels, emotions, the words that",
    "carry them and what the model writes follow as you type",
    "",
    "{write} into the text   {leave} out of it   {take} the selected sample's text",
    "{name_model} live model   {second} a second one beside it   {raw} a task's prompt and raw output",
)


class SpotView(Vertical):
    """The owner sets what is seen and calls `draw`."""

    DEFAULT_CSS = """
    SpotView #spot-rows { display: none; padding: 0 1; height: 2fr; }
    SpotView #spot-page, SpotView #spot-notice { height: 3fr; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.columns: Sequence[Column] = ()
        self.every = False
        self.asked_task: str | None = None
        self.spared: str | None = None
        self.from_where: list[Part] = []

    def compose(self) -> ComposeResult:
        yield Line(id="spot-title", classes="-pane")
        yield SpotEditor(id="spot-editor")
        yield DirectionLine(id="spot-direction")
        yield TieredText(id="spot-rows")
        yield Line(id="spot-models", classes="-pane")
        yield Page(id="spot-page")
        yield Notice(id="spot-notice")

    @property
    def editor(self) -> SpotEditor:
        return self.query_one(SpotEditor)

    @property
    def page(self) -> Page:
        return self.query_one("#spot-page", Page)

    @property
    def stacked(self) -> bool:
        """Do two models stand under each other?"""
        return self.size.width < STACKED

    def on_mount(self) -> None:
        self.editor.mark_with(self._marks)

    def on_resize(self) -> None:
        self.draw()

    def show_rows(self, rows: bool) -> None:
        """Who marked what, a row each, instead of the editor."""
        self.editor.display, self.query_one("#spot-rows").display = not rows, rows

    def say(self, title: str, *lines: str, failed: bool = False) -> None:
        for name in ("#spot-editor", "#spot-rows", "#spot-page"):
            self.query_one(name).display = False
        self.query_one("#spot-notice", Notice).say(title, *lines, failed=failed)

    def draw(self) -> None:
        if not self.columns:
            return
        text = self.editor.text
        self._draw_title(text)
        self._draw_models(text)
        self.editor.mark_again()
        self._fit_height()
        rows = self.query_one("#spot-rows", TieredText)
        self.query_one(DirectionLine).about("" if rows.display else text)
        if rows.display:
            rows.show(marks.who_marked_what(self.columns, text))
        empty = not text.strip()
        notice = self.query_one("#spot-notice", Notice)
        self.page.display = not empty
        if empty:
            notice.say("Any text", *map(keyed, _EMPTY))
            return
        notice.hide()
        self.page.show_for(lambda room: self._lines(text, room.width))

    def _fit_height(self) -> None:
        """As many lines as the text has, and a free one, within a third of the place."""
        lines = self.editor.wrapped_document.height + 1
        self.editor.styles.height = min(max(lines, 3), max(self.size.height // 3, 3))

    def _marks(self, text: str) -> dict[str, list[Span]]:
        first = self.columns[0] if self.columns else None
        found: dict[str, list[Span]] = {kind: [] for kind in KINDS.values()}
        for piece in flatten([marks.evidence(first, text), marks.carried(first, text)], len(text)):
            found[KINDS[piece.layers]].append((piece.start, piece.end))
        return found

    def _draw_title(self, text: str) -> None:
        size = f"{count(len(text))} characters" if len(text) != 1 else "1 character"
        if len(text) >= LONGEST:
            size += ", which is all that fits"
        name = "who marked what" if self.query_one("#spot-rows").display else "text"
        left = [Part(f" {name}", "strong", "do('annotators')"), Part(f"   {size}   ", "dim"), *self.from_where]
        legend = [Part(" evidence ", "ground"), Part("  "), Part("carries", "cue"), Part(" ")]
        self.query_one("#spot-title", Line).show(left, legend if text else [])

    def _draw_models(self, text: str) -> None:
        line = self.query_one("#spot-models", Line)
        cells = max(line.size.width, 20)
        if len(self.columns) == 1:
            line.show(_heading(self.columns[0], text, "", self.asked_task, cells), self._keys())
            return
        parts: list[Part] = []
        half = (cells - compare.GAP) // 2
        for number, column in enumerate(self.columns):
            one = _heading(column, text, LETTERS[number], self.asked_task, half)
            parts += cut(one, half - 1 if number == 0 else half)
            if number == 0:
                parts.append(Part("  │ ", "rest"))
        line.show(parts)

    def _keys(self) -> list[Part]:
        if self.stacked:
            return []
        return [Part(keyed("{second}"), "key", "do('second')"), Part(" second model ", "plain", "do('second')")]

    def _lines(self, text: str, cells: int) -> Lines:
        two = len(self.columns) == 2
        room, narrow = compare.shares(cells, len(self.columns), self.stacked)
        found = []
        for number, column in enumerate(self.columns):
            other = self.columns[1 - number] if two else None
            blocks = _state(column, room)
            if self.asked_task is not None:
                blocks |= task_blocks.task_blocks(column, self.asked_task, text, room)
            else:
                blocks |= spot_blocks.blocks(column, text, room, narrow, every=self.every, beside=other)
            found.append(blocks)
        lines = compare.arranged(found, cells, stacked=self.stacked, spared=self.spared)
        top = [] if self.asked_task is not None else headline.headlines(self.columns, text, self.spared, room)
        return [*top, *lines, *self._cannot(text, cells)]

    def _cannot(self, text: str, cells: int) -> Lines:
        """What a model cannot do, a dim line each, with the kinds that can."""
        if self.asked_task is not None:
            return [[Part(keyed("{raw}"), "key", "do('raw')"), Part(" goes on to the next task, and then back", "dim")]]
        if not any(column.answers for column in self.columns):
            return []
        said: list[str] = []
        for number, column in enumerate(self.columns):
            letter = f"{LETTERS[number]} " if len(self.columns) > 1 else ""
            said += [f"{letter}{answer.note}" for part, answer in column.answers.items() if column.lacks(part)]
        if MASK not in text and not all(column.lacks("masks") for column in self.columns):
            said.append(f"{MASK} in the text stands for a word that is to be filled in")
        return [[Part(fit(line, cells).rstrip(), "dim")] for line in said]


def _state(column: Column, cells: int) -> dict[str, spot_blocks.Block]:
    """What stands where answers would: why there are none."""
    if column.trouble:
        return {"trouble": _trouble(column, cells)}
    if column.doing and column.card is None:
        said = "The model is being loaded: its progress stands above, {stop} stops it."
        return {"loading": spot_blocks.Block("no answer yet", lines=spot_blocks.wrapped(keyed(said), cells, "dim"))}
    return {}


def _trouble(column: Column, cells: int) -> spot_blocks.Block:
    lines = spot_blocks.wrapped(column.trouble, cells, "mark")
    lines.append([Part("  "), Part(keyed("{ask}"), "key", "do('ask')"), Part(" asks again, "), *_PICK])
    return spot_blocks.Block("no answer", lines=lines)


_PICK = (Part("m", "key", "do('name_model')"), Part(" takes another model", "plain", "do('name_model')"))


def _heading(column: Column, text: str, letter: str, task: str | None, cells: int) -> list[Part]:
    """A model and how it stands; of a long SPEC the end is shown, which tells more."""
    spec, room = shown(column.spec), max(cells // 2, 12)
    name = spec if width(spec) <= room else "…" + spec[1 - room :]
    left = [Part(f" {letter}", "key"), Part(f" {name}" if letter else name, "strong", "do('name_model')")]
    if task is not None:
        left.append(Part(f"   task {task}", "said", "do('raw')"))
    if column.trouble:
        return [*left, Part("   failed", "mark")]
    if column.doing:
        return [*left, Part(f"   {column.doing}", "said")]
    asked = [TASK + task] if task is not None else QUICK
    seconds = sum(answer.seconds for part, answer in column.answers.items() if part in asked and answer.text == text)
    return [*left, Part(f"   {seconds:.2f} s" if seconds else "", "dim")]
