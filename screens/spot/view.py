"""What the Spot check place shows: the text above, under it what one model or two say of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical

from emotui.records import MASKED, Span
from emotui.screens.keymaps import keyed
from emotui.screens.models.drawing import ABILITIES
from emotui.screens.spot.blocks import (
    EACH,
    NO_WORD,
    ODDS,
    QUICK,
    TASK,
    Block,
    Column,
    bar_room,
    blocks,
    carried,
    carrying,
    evidence,
    task_blocks,
    wrapped,
)
from emotui.screens.widgets import drawing
from emotui.screens.widgets.cell_width import shown, width, wrap
from emotui.screens.widgets.editor import DirectionLine, Editor
from emotui.screens.widgets.line import Line, Part, bar, cut, tabs, taken
from emotui.screens.widgets.notice import Notice
from emotui.screens.widgets.number_format import count, share, so_many
from emotui.screens.widgets.page import Lines, Page
from emotui.screens.widgets.tier_layout import AnnotatedText, Tier
from emotui.screens.widgets.tiered_text import TieredText, flatten

if TYPE_CHECKING:
    from emotui.screens.spot.blocks import Answered

# Blocks of one model, or of two with the same things beside or under each other so that differences show.

SIGNS = (drawing.OWN, drawing.OTHER)
GAP = 3
WIDEST = 120
_TWO = 74
"""From so many cells on, what is narrow of one model stands in two columns."""

ASK_AGAIN = "{ask} asks again"
OF_BEFORE = "of the text before"
"""What is said of an answer to a text that no longer stands there."""


def shares(cells: int, models: int, stacked: bool) -> tuple[int, int]:
    """The cells that a block gets, and one that is not wide."""
    if models == 1:
        room = min(cells, WIDEST)
        return room, (room - GAP) // 2 if room >= _TWO else room
    room = cells - 2 if stacked else (cells - GAP) // 2
    return room, room


def arranged(models: Sequence[Mapping[str, Block]], cells: int, *, stacked: bool, spared: str | None) -> Lines:
    """All blocks of one or two models in lines of so many cells; of two, first what both have, side by side.

    Args:
        stacked: two models under each other, with their signs, instead of side by side.
        spared: stale blocks about this text are not greyed yet.
    """
    wide, narrow = shares(cells, len(models), stacked)
    if len(models) == 1:
        return _flowing(models[0], wide, narrow, spared)
    first, second = models
    shared = [key for key in first if key in second]
    lines: list[list[Part]] = []
    use = ""
    for key in shared:
        if first[key].use != use:
            use = first[key].use
            lines.append(used_for(use, cells))
        differs = _differ(first[key], second[key])
        drawn = [_drawn(blocks[key], wide, differs, spared) for blocks in models]
        lines += _stacked(drawn) if stacked else _beside(drawn[0], drawn[1], wide)
    alone = [
        [line for key, block in blocks.items() if key not in shared for line in _drawn(block, wide, False, spared)]
        for blocks in models
    ]
    return [*lines, *(_stacked(alone) if stacked else _beside(alone[0], alone[1], wide))]


def _stacked(drawn: Sequence[list[list[Part]]]) -> list[list[Part]]:
    """One under the other, each with its sign."""
    return [
        [Part(f"{sign} " if not at else "  ", "key"), *line]
        for sign, block in zip(SIGNS, drawn, strict=True)
        for at, line in enumerate(block)
    ]


def _flowing(blocks: Mapping[str, Block], wide: int, narrow: int, spared: str | None) -> Lines:
    """One model's blocks in their order, two that are not wide beside each other."""
    lines: list[list[Part]] = []
    waiting: list[list[Part]] = []
    use = ""
    for block in blocks.values():
        if block.use != use:
            use = block.use
            lines += [*waiting, used_for(use, wide)]
            waiting = []
        if block.wide or narrow == wide:
            lines += [*waiting, *_drawn(block, wide, False, spared)]
            waiting = []
        elif waiting:
            lines += _beside(waiting, _drawn(block, narrow, False, spared), narrow)
            waiting = []
        else:
            waiting = _drawn(block, narrow, False, spared)
    return [*lines, *waiting]


def used_for(use: str, cells: int) -> list[Part]:
    """The heading over blocks of one use."""
    return [Part(f"─ {use} ", "dim"), Part("─" * max(cells - len(use) - 3, 0), "rest")]


def _differ(one: Block, other: Block) -> bool:
    return bool(one.top and other.top) and not one.stale and not other.stale and one.top != other.top


def _drawn(block: Block, cells: int, differs: bool, spared: str | None) -> list[list[Part]]:
    left = [Part(block.title, "strong")]
    old = block.stale and block.of != spared
    if old:
        left.append(Part(f"  {OF_BEFORE}", "dim"))
    if differs:
        left.append(Part("  ≠", "mark"))
    asks = [Part(f"  {keyed(ASK_AGAIN)}", "key", "do('ask')")] if block.slow else []
    right = f" {block.seconds:.2f} s" if block.seconds is not None else ""
    if block.note and not old:
        # Where there is little room, what a figure is comes before how long it took.
        ways = [(note, took) for note in (block.note, block.note.replace(EACH, "")) for took in (right, "")]
        fits = (way for way in ways if taken([*left, Part(f"  {way[0]}"), *asks]) + len(way[1]) <= cells)
        note, right = next(fits, ways[-1])
        left.append(Part(f"  {note}", "dim"))
    left += asks
    used = cells - len(right)
    lines = [[*cut(left, used), Part(right, "dim")], *(list(line) for line in block.lines)]
    if old:
        return [[Part(part.text, "key" if part.press else "stale", part.press) for part in line] for line in lines]
    return lines


def _beside(left: list[list[Part]], right: list[list[Part]], cells: int) -> list[list[Part]]:
    lines = []
    for at in range(max(len(left), len(right))):
        line = left[at] if at < len(left) else []
        lines.append([*cut(line, cells), Part(" │ ", "rest"), *(right[at] if at < len(right) else [])])
    return lines


# The text that is tried, with what is marked in it.


def who_marked_what(columns: Sequence["Column"], text: str) -> AnnotatedText:
    """The text with a row for each model's evidence and one for the words that carry its label."""
    tiers = []
    for number, column in enumerate(columns):
        sign = f"{SIGNS[number]} " if len(columns) > 1 else ""
        role = "predicted" if number == 0 else "annotator"
        tiers.append(Tier(f"{sign}evidence", role, tuple(evidence(column, text)), inline=number == 0))
        if "words" not in column.answers:
            continue  # a dash would say that no word carries it
        words = tuple(carried(column, text))
        tiers.append(Tier(f"{sign}carries", "annotator", words, inline=False, dotted=words))
    return AnnotatedText(text, tuple(tiers), rows=True)


# The one answer that stands over all blocks: what a model takes a text for, how surely, and by which words.

_LEAST_BAR = 8


@dataclass(frozen=True, slots=True)
class _Headline:
    """A model's first answer to one question. `filled`: of its bar, 0 to 1, None where it has none: only a probability
    has an end of the scale. `question`: what was asked, in words; `unit`: of what the figure is.
    """

    question: str
    answer: str
    filled: float | None
    figure: str
    unit: str
    then: str
    said: "Answered"


def headlines(
    columns: "Sequence[Column]", text: str, spared: str | None, cells: int, bar_cells: int = _LEAST_BAR
) -> list[list[Part]]:
    """What is answered first, a line a question, each with its unit; below it what the answers of one model rest on.

    Of two models it is the first question that both answer, or else each one's own. None where nothing is said.

    Args:
        spared: an answer about this text is not greyed yet.
        bar_cells: those of the bars below, so that all are on one scale.
    """
    found = [_questions(column) for column in columns]
    if len(found) > 1:
        shared = [question for question in found[0] if all(question in one for one in found)]
        asked = [{question: one[question] for question in shared[:1] or list(one)[:1]} for one in found]
    else:
        shared, asked = [], found
    known = [one for answers in asked for one in answers.values()]
    if not known:
        return []
    names = max(width(one.answer) for one in known)
    figures = max(width(one.figure) for one in known)
    differ = bool(shared) and len({one.answer for one in known}) > 1
    # What a line answers stands before it, where several of one model are not of one question.
    several = len(columns) == 1 and len(known) > 1
    asks = max(width(one.question) for one in known) + 2 if several else 0
    fixed = 2 + asks + names + 2 + 1 + figures + 3 * differ + 3
    if all(one.filled is None for one in known):
        bar_cells = _LEAST_BAR
    before = [one.said.text not in (text, spared) for one in known]
    whole = [f"{OF_BEFORE}; " * old + one.unit + one.then for old, one in zip(before, known, strict=True)]
    units = [OF_BEFORE if old else one.unit for old, one in zip(before, known, strict=True)]
    short = [unit.partition(",")[0] for unit in units]
    told = next((way for way in (whole, units) if fixed + bar_cells + max(map(width, way)) <= cells), short)
    room = min(max(cells - fixed - max(map(width, told)), _LEAST_BAR), bar_cells)
    unit_of = dict(zip(map(id, known), told, strict=True))
    lines = []
    for at, answers in enumerate(asked):
        sign = f"{SIGNS[at]} " if len(columns) > 1 else "· "
        if not answers:
            lines.append([Part(sign, "key"), Part("no answer", "dim")])
        for one in answers.values():
            stale = one.said.text not in (text, spared)
            line = [
                Part(sign, "key"),
                *([Part(one.question.ljust(asks), "dim")] if several else []),
                Part(one.answer + " " * (names - width(one.answer)), "strong"),
                Part("  "),
                *(bar(one.filled, 1.0, room) if one.filled is not None else [Part(" " * room)]),
                Part(f" {one.figure:>{figures}}", "strong"),
                Part("  ≠" if differ else "", "mark"),
                Part(f"   {unit_of[id(one)]}", "dim"),
            ]
            lines.append([Part(part.text, "stale") for part in line] if stale else line)
    if len(columns) > 1:
        return lines
    rests = _rests_on(columns[0], text)
    if rests:
        lines += [[Part(f"  {rests[a:b]}", "dim")] for a, b in wrap(rests, max(cells - 2, 20))]
    return lines


def _questions(column: "Column") -> "dict[str, _Headline]":
    """What it was asked, with its first answer: which label of its first label set, and which of the emotions."""
    found: dict[str, _Headline] = {}
    answer = column.answers.get("classes")
    if answer is not None and answer.probe.classes:
        name, one = next(iter(answer.probe.classes.items()))
        others = sorted((value, label) for label, value in one.probs.items() if label != one.label)
        then = f"; then {shown(others[-1][1])} {share(others[-1][0]).strip()}" if others else ""
        value = one.probs.get(one.label, 0.0)
        unit = f"probability, {shown(name)}"
        question = "which label"
        found[f"classes {name}"] = _Headline(
            question, shown(one.label), value, share(value).strip(), unit, then, answer
        )
    answer = column.answers.get("emotions")
    if answer is not None and answer.probe.emotions:
        ranked, odds = zip(
            *sorted(((name, one.log_odds) for name, one in answer.probe.emotions.items()), key=lambda pair: -pair[1]),
            strict=True,
        )
        then = f"; then {ranked[1]} {odds[1]:+.2f}" if len(ranked) > 1 else ""
        unit = ODDS if odds[0] > 0 else f"{ODDS}, none above 0"
        question = "is it there"
        found["emotions"] = _Headline(question, ranked[0], None, f"{odds[0]:+.2f}", unit, then, answer)
    return found


def _rests_on(column: "Column", text: str) -> str:
    """How much evidence it marks in this text, and which word carries its label, in words."""
    said = []
    spans, words = (column.answers.get(part) for part in ("spans", "words"))
    if spans is not None and spans.text == text and spans.probe.spans is not None:
        n = len(spans.probe.spans)
        said.append(f"{so_many(n, 'span')} of evidence" if n else "no evidence marked")
    if words is not None and words.text == text and words.probe.words is not None:
        for start, end, _ in (strongest := carrying(words.probe.words, 1)):
            said.append(f"carried most by “{shown(' '.join(text[start:end].split()))}”")
        if not strongest:
            said.append(NO_WORD)
    return " · ".join(said)


# Where any text is typed or pasted; what the live model marks shows in it.

LONGEST = 20_000
"""Characters that fit; more of a text says nothing more about a model."""

KINDS = {1: "editor--evidence", 2: "editor--carries", 3: "editor--both"}
"""By the layers that cover a stretch: 1 the evidence, 2 the words that carry the label."""


class SpotEditor(Editor):
    """Enter starts a line. Evidence has a background (reverse video without colour), what carries is bold."""

    COMPONENT_CLASSES = {*KINDS.values()}
    DEFAULT_CSS = """
    SpotEditor {
        & > .editor--evidence { background: $predicted; color: $predicted-text; }
        & > .editor--carries { color: $predicted-bar; text-style: bold; }
        & > .editor--both { background: $predicted; color: $gold-on-predicted; text-style: bold; }
        &:nocolor > .editor--evidence { text-style: reverse; }
        &:nocolor > .editor--carries { text-style: bold; }
        &:nocolor > .editor--both { text-style: reverse bold; }
    }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.longest = LONGEST

    def offer_whole(self) -> None:
        """Select all of it: what is typed takes its place, and an arrow key goes on in it."""
        self.select_all()

    def let_go(self) -> None:
        """Nothing is selected any more, where all was."""
        if self.offers_whole:
            self.move_cursor(self.document.end)

    @property
    def offers_whole(self) -> bool:
        """Does what is typed take the place of all of it?"""
        return bool(self.text) and self.selected == (0, len(self.text))

    @property
    def selected(self) -> Span | None:
        """Where the selected characters stand in the text; None where none are selected."""
        lines = self.text.split("\n")
        ends = sorted((self.selection.start, self.selection.end))
        start, end = (sum(len(line) + 1 for line in lines[:row]) + column for row, column in ends)
        return (start, end) if start < end else None

    async def on_key(self, event: events.Key) -> None:
        # Before the base class's own method, which leaves Enter to its place.
        if event.key == "enter":
            event.stop()
            event.prevent_default()
            if len(self.text) < self.longest:
                self.insert("\n")


_MOST_SPANS = 8
"""Spans of an answer that are taken away, the first of the text."""


def spans_to_take(columns: Sequence[Column], editor: SpotEditor) -> list[Span]:
    """What is taken away to see what it carries: what is selected, else what the live model marks in the text."""
    if editor.selected is not None and not editor.offers_whole:
        return [editor.selected]
    live = columns[0] if columns else None
    known = live is not None and live.knows("spans", editor.text)
    return list(dict.fromkeys(evidence(live, editor.text)))[:_MOST_SPANS] if known else []


VIEWS = ("likeliest", "all")
"""Of labels and words those that count most, or every one."""

STACKED = 86
"""Below so many columns two models stand under each other."""

_EMPTY = (
    "Type or paste one, and the live model answers as you type:",
    "its label, each emotion, the evidence, the words that carry it",
    "",
)
_IN_TEXT = (
    "The cursor is in the text: what you type is typed.",
    "{leave} leaves it; from then on:",
)
_OUT_OF_TEXT = ("{write} puts the cursor into the text", "")
_KEYS_OUT = (
    "{take} another sample's text   {name_model} live model",
    "{second} a second model   {raw} a task's prompt and output",
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
        self.draw_title()
        self._draw_models(text)
        self.editor.mark_again()
        self._fit_height()
        rows = self.query_one("#spot-rows", TieredText)
        self.query_one(DirectionLine).about("" if rows.display else text)
        if rows.display:
            rows.show(who_marked_what(self.columns, text))
        empty = not text.strip()
        notice = self.query_one("#spot-notice", Notice)
        self.page.display = not empty
        if empty:
            where = _IN_TEXT if self.editor.has_focus else _OUT_OF_TEXT
            notice.say("Any text", *map(keyed, (*_EMPTY, *where, *_KEYS_OUT)))
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
        for piece in flatten([evidence(first, text), carried(first, text)], len(text)):
            found[KINDS[piece.layers]].append((piece.start, piece.end))
        return found

    def draw_title(self) -> None:
        """What the text is, and what typing would do to it."""
        text = self.editor.text
        size = f"{count(len(text))} characters" if len(text) != 1 else "1 character"
        if len(text) >= LONGEST:
            size += ", which is all that fits"
        name = "who marked what" if self.query_one("#spot-rows").display else "text"
        told = Part(f"   {size}   ", "dim") if text else Part("   type or paste one   ", "strong")
        left = [Part(f" {name}", "strong", "do('annotators')")]
        if self.editor.has_focus:
            replaces = " replaces it" if self.editor.offers_whole else ""
            left.append(Part(keyed(f"   typing{replaces}: {{leave}} for keys"), "mark", "do('leave')"))
        left += [told, *self.from_where]
        if not self.editor.has_focus:
            left += [Part(keyed("   {write}"), "key", "do('write')"), Part(" writes", "dim", "do('write')")]
        legend = [Part(" evidence ", "ground"), Part("  "), Part("carries", "new"), Part(" ")]
        self.query_one("#spot-title", Line).show(left, legend if text else [])

    def _draw_models(self, text: str) -> None:
        line = self.query_one("#spot-models", Line)
        cells = max(line.size.width, 20)
        views = [] if not text.strip() or self.asked_task is not None else self._views()
        if len(self.columns) == 1:
            line.show(_heading(self.columns[0], text, "", self.asked_task, cells), [*views, *self._keys()])
            return
        parts: list[Part] = []
        half = (cells - GAP) // 2
        for number, column in enumerate(self.columns):
            one = _heading(column, text, SIGNS[number], self.asked_task, half)
            parts += cut(one, half - 1 if number == 0 else half)
            if number == 0:
                parts.append(Part("  │ ", "rest"))
        line.show(parts)

    def _views(self) -> list[Part]:
        """How much of the answers is to be seen."""
        return tabs(keyed("{view}"), VIEWS, VIEWS[self.every])

    def _keys(self) -> list[Part]:
        if self.stacked:
            return []
        return [Part(keyed("{second}"), "key", "do('second')"), Part(" second model ", "plain", "do('second')")]

    def _lines(self, text: str, cells: int) -> Lines:
        two = len(self.columns) == 2
        room, narrow = shares(cells, len(self.columns), self.stacked)
        found = []
        for number, column in enumerate(self.columns):
            other = self.columns[1 - number] if two else None
            state = _state(column, room)
            if self.asked_task is not None:
                said = task_blocks(column, self.asked_task, text, room)
            else:
                said = blocks(column, text, room, narrow, every=self.every, beside=other)
            found.append(state | said)
        lines = arranged(found, cells, stacked=self.stacked, spared=self.spared)
        bars = bar_room(narrow, 5)
        top = headlines(self.columns, text, self.spared, min(cells, WIDEST), bars) if self.asked_task is None else []
        return [*top, *lines, *self._cannot(text, cells)]

    def _cannot(self, text: str, cells: int) -> Lines:
        """What a model cannot do, a dim line each, with the kinds that can."""
        if self.asked_task is not None:
            return [[Part(keyed("{raw}"), "key", "do('raw')"), Part(" goes on to the next task, and then back", "dim")]]
        if not any(column.answers for column in self.columns):
            return []
        said: list[str] = []
        for number, column in enumerate(self.columns):
            sign = f"{SIGNS[number]} " if len(self.columns) > 1 else ""
            notes = [answer.note for part, answer in column.answers.items() if column.lacks(part)]
            said += [sign + note.replace(" cannot generate;", f" cannot {_WRITES};") for note in notes]
        if MASKED not in text and not all(column.lacks("masks") for column in self.columns):
            said.append(f"{MASKED} in the text stands for a word that is to be filled in")
        return [[Part(shown(line, *place), "dim")] for line in said for place in wrap(line, max(cells, 8))]


_WRITES = ABILITIES["generate"]
"""What the sheet of models calls it."""


def _state(column: Column, cells: int) -> dict[str, Block]:
    """What stands where answers would: why there are none."""
    if column.trouble:
        return {"trouble": _trouble(column, cells)}
    if column.doing and column.card is None:
        said = "The model is being loaded: its progress stands above, {stop} stops it."
        return {"loading": Block("no answer yet", lines=wrapped(keyed(said), cells, "dim"))}
    return {}


def _trouble(column: Column, cells: int) -> Block:
    lines = wrapped(column.trouble, cells, "mark")
    lines.append([Part("  "), Part(keyed("{ask}"), "key", "do('ask')"), Part(" asks again, "), *_PICK])
    return Block("no answer", lines=lines)


_PICK = (Part("m", "key", "do('name_model')"), Part(" takes another model", "plain", "do('name_model')"))


def _heading(column: Column, text: str, sign: str, task: str | None, cells: int) -> list[Part]:
    """A model and how it stands; of a long SPEC the end is shown, which tells more."""
    spec, room = shown(column.spec), max(cells // 2, 12)
    name = spec if width(spec) <= room else "…" + spec[1 - room :]
    left = [Part(f" {sign}", "key"), Part(f" {name}" if sign else name, "strong", "do('name_model')")]
    if task is not None:
        left.append(Part(f"   task {task}", "said", "do('raw')"))
    if column.trouble:
        return [*left, Part("   failed", "mark")]
    if column.doing:
        return [*left, Part(f"   {column.doing}", "said")]
    asked = [TASK + task] if task is not None else QUICK
    seconds = sum(answer.seconds for part, answer in column.answers.items() if part in asked and answer.text == text)
    return [*left, Part(f"   {seconds:.2f} s" if seconds else "", "dim")]
