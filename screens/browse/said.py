"""What gold and a run say about a sample of any task: the text, and under it a line for each thing that is said."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from textual.containers import Vertical
from textual.message import Message

from emotui.records import Span
from emotui.screens.browse.panes import Said as Marked
from emotui.screens.browse.panes import tiers
from emotui.screens.browse.requests import TurnsPage, own_columns, voices_of
from emotui.screens.browse.voices import VoicesPane, names_by_run, telling
from emotui.screens.keymaps import keyed
from emotui.screens.place import OTHERS
from emotui.screens.requests import LatestRequest
from emotui.screens.widgets.cell_width import fit, width
from emotui.screens.widgets.line import Line, Part
from emotui.screens.widgets.notice import Notice
from emotui.screens.widgets.number_format import share, so_many, value_of
from emotui.screens.widgets.page import Page
from emotui.screens.widgets.tier_layout import AnnotatedText, Tier
from emotui.screens.widgets.tiered_text import RUN_ROLES, TieredText
from emotui.store.query import Run

if TYPE_CHECKING:
    from emotui.workbench.answers import Voice
    from emotui.workbench.runs.over_time import Strip
    from emotui.workbench.said import Said, SaidLine, SampleSaid
    from emotui.workbench.source import BrowseSource

_Asked = tuple[int, int, str | None, tuple[str, ...]]
"""(dataset, sample, the run over the list, the runs whose answers are told)."""

RIGHT, MISSED, EXTRA, NEITHER = "=", "M", "X", "·"
SAID_HEADINGS = {"said-text": "#said-title", "said-lines": "#said-below", "said-raw": "#said-below"}
_YES, _NO = "yes", "no"
_ORDER = {RIGHT: 0, MISSED: 1, EXTRA: 2, NEITHER: 3}
_KINDS = {RIGHT: "strong", MISSED: "mark", EXTRA: "mark", NEITHER: "dim"}
_SHORTEST, _LONGEST = 10, 40
_STRIP = 14
"""Lines of the pane from which on it has room for what gold and the run say along a conversation."""

_BOTH, _GOLD, _RUN, _NONE = "●", "○", "×", "·"
_LEVELS = "▁▂▃▄▅▆▇█"


class SaidPane(Vertical):
    """Asks for a sample itself; Browse shows it in place of its own panes where the samples are not of spans."""

    class Arrived(Message):
        """A sample is shown."""

    DEFAULT_CSS = """
    SaidPane { display: none; }
    SaidPane > #said-text { height: auto; min-height: 3; padding: 1 1 1 1; }
    SaidPane > #said-lines { height: 1fr; }
    SaidPane > #said-strip { height: auto; }
    SaidPane > #said-raw { height: 3fr; display: none; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.repeat = self._below = 0
        self.raw = self._noted = False
        self._said: SampleSaid | None = None
        self._runs: tuple[Run, ...] = ()
        self._voices: tuple[Voice, ...] = ()
        self._request: LatestRequest[_Asked, tuple[SampleSaid, tuple[Voice, ...]]] | None = None

    def bind_source(self, source: "BrowseSource") -> None:
        def ask(asked: _Asked) -> "tuple[SampleSaid, tuple[Voice, ...]]":
            dataset, sample, run, told = asked
            with source.together():
                return source.said(dataset, sample, run), voices_of(source, sample, told)

        self._request = LatestRequest("said", self, ask, self._show, self._refuse)

    @property
    def busy(self) -> bool:
        return self._request is not None and self._request.busy

    @property
    def said(self) -> "SampleSaid | None":
        """What is shown."""
        return self._said

    @property
    def gold_places(self) -> tuple[Span, ...]:
        """Where gold has spans in the text."""
        marks = (mark for one in self._voices if one.kind == "gold" for mark in one.spans or ())
        return tuple(dict.fromkeys(mark.place for mark in marks))

    @property
    def gold_labels(self) -> list[str]:
        """The labels that gold gives the text."""
        gold = () if self._said is None else self._said.gold
        return [one.name if one.gold == _YES else one.gold for one in gold if one.gold not in ("", _NO)]

    @property
    def answer(self) -> "Said | None":
        """The run's answer that is shown, None where there is none yet."""
        said = self._said
        return said.answers[self.repeat % len(said.answers)] if said is not None and said.answers else None

    def show_sample(self, dataset: int, sample: int, run: Run | None, told: Sequence[Run]) -> None:
        """Ask for this sample of a dataset; what is here stays until the answer comes. `told`: of which runs all that
        they say is told.

        The parts are made for the first one: at the start of the workbench most people look at spans.
        """
        if not self.children:
            self.mount(
                Line(id="said-title", classes="-pane"),
                Line(id="said-columns"),
                TurnsPage(id="said-before"),
                TieredText(id="said-text"),
                TurnsPage(id="said-after"),
                Page(id="said-strip"),
                VoicesPane(id="said-voices"),
                Line(id="said-below", classes="-pane"),
                Page(id="said-lines"),
                TieredText(id="said-raw"),
                Notice(id="said-notice"),
            )
        if self._said is None or sample != self._said.number:
            self.repeat = 0
        self._runs = tuple(told)
        if self._request is not None:
            runs = tuple(one.run for one in told)
            self._request.ask((dataset, sample, None if run is None else run.run, runs))

    def _show(self, _: object, found: "tuple[SampleSaid, tuple[Voice, ...]]") -> None:
        self._said, self._voices = found
        self.draw()
        self.post_message(self.Arrived())

    def _refuse(self, _: object, why: str) -> None:
        self._said = None
        self.draw()
        self.query_one("#said-notice", Notice).say("This sample cannot be read", why, keyed(OTHERS), failed=True)

    def show_noted(self, *, noted: bool) -> None:
        """Say of the sample whether there is a note on it."""
        self._noted = noted
        if self._said is not None:
            self.draw()

    def draw(self) -> None:
        said, answer = self._said, self.answer
        parts = [self.query_one(name) for name in ("#said-title", "#said-text", "#said-below")]
        for part in parts:
            part.display = said is not None
        for name in ("#said-columns", "#said-before", "#said-after", "#said-strip", "#said-voices"):
            self.query_one(name).display = False
        page, raw = self.query_one("#said-lines", Page), self.query_one("#said-raw", TieredText)
        page.display, raw.display = said is not None and not self.raw, said is not None and self.raw
        if said is None:
            return
        self.query_one("#said-notice", Notice).hide()
        run = [Part("   run ", "dim"), Part(said.run.model, "said", "do('run')")] if said.run else []
        figures = [
            part
            for metric in said.metrics
            if answer is not None and metric.name in answer.values
            for part in (Part(f"   {metric.title} ", "dim"), Part(value_of(metric, answer.values[metric.name]).strip()))
        ]
        note = [Part("  note", "said", "do('sample_note')")] if self._noted else []
        self.query_one("#said-title", Line).show([Part(f" {said.id}", "strong"), *note, *run, *figures])
        self._surround(said)
        names = names_by_run(self._runs)
        self.query_one("#said-text", TieredText).show(AnnotatedText(said.text, *_spans(self._voices, names)))
        told = telling(self._voices, names) if _tell_more(self._voices, said) else ()
        self.query_one("#said-voices", VoicesPane).show_voices(told, self.size.height)
        self.query_one("#said-below", Line).show(self._heading(said, answer))
        things = said.gold if answer is None else answer.lines
        if self.raw:
            kept = "(this sample was not asked about)" if answer is None else answer.raw or answer.error or "(empty)"
            asked = (answer.prompt if answer else None) or "(this model is not asked in words)"
            raw.show(AnnotatedText(f"{kept}\n\n{asked}"))
            return
        why = [answer.error] if answer is not None and answer.error else []
        page.show_for(lambda room: [*lines(things, room.width), *([Part(one, "mark")] for one in why)])
        self._below = max(len(things), 1) + len(why)
        self._fit()

    def on_resize(self) -> None:
        self._fit()

    def _fit(self) -> None:
        """A long text has half of the pane, and what the lines under it leave free."""
        if self.children:
            beside = sum(self.query_one(name).display for name in ("#said-title", "#said-columns", "#said-below"))
            free = 0 if self.query_one("#said-voices").display else self.size.height - beside - self._below
            self.query_one("#said-text").styles.max_height = max(self.size.height // 2, free, 3)

    def _surround(self, said: "SampleSaid") -> None:
        """Show its own columns under the title, and the turns around it."""
        line, own, rows = self.query_one("#said-columns", Line), own_columns(said.meta, said.subject), self.size.height
        line.display = bool(own)
        line.show(own)
        self.query_one("#said-before", TurnsPage).show_turns(said.turns.before, rows, last=True)
        self.query_one("#said-after", TurnsPage).show_turns(said.turns.after, rows, last=False)
        strip, page = said.strip, self.query_one("#said-strip", Page)
        page.display = strip is not None and rows >= _STRIP
        if strip is not None and page.display:
            page.show_for(lambda room: strip_lines(strip, room.width, max(rows // 6, 2)))

    def _heading(self, said: "SampleSaid", answer: "Said | None") -> list[Part]:
        if self.raw:
            return [Part(" raw output and prompt", "strong", "do('raw')")]
        things = said.gold if answer is None else answer.lines
        marks = [sign(thing) for thing in things]
        if answer is None:
            n = sum(thing.gold not in ("", _NO) for thing in things)
            words = f"{n} gold" if any(thing.gold for thing in things) else "unlabelled"
            why = (
                keyed("no run: {model} asks a model") if said.run is None else "the run has not come to this sample yet"
            )
            return [Part(f" {words}", "strong"), Part(f"   {why}", "dim")]
        parts = [Part(" gold and run", "strong", "do('raw')")]
        measured = bool(things) and all(thing.measured for thing in things)
        for mark, word in (
            ((MISSED, "missed"),) if measured else ((RIGHT, "right"), (MISSED, "missed"), (EXTRA, "extra"))
        ):
            parts.append(Part(f"   {marks.count(mark)} {word}", _KINDS[mark] if marks.count(mark) else "dim"))
        if not any(thing.gold for thing in things):
            parts = [Part(" run", "strong", "do('raw')"), Part("   unlabelled: nothing to compare with", "dim")]
        if len(said.answers) > 1:
            at = self.repeat % len(said.answers) + 1
            parts.append(Part(f"   answer {at} of {len(said.answers)}", "dim", "do('repeat')"))
        return parts

    def can(self, action: str) -> bool:
        """What needs an answer can be done only where there is one."""
        if self._said is None:
            return False
        if action == "raw":
            return bool(self._said.answers)
        return len(self._said.answers) > 1 if action == "repeat" else True

    def as_text(self) -> str:
        """The sample for the clipboard: id, text, and a line for each thing that either side says."""
        said, answer = self._said, self.answer
        if said is None:
            return ""
        things = said.gold if answer is None else answer.lines
        told = [one for one in ordered(things) if sign(one) != NEITHER or one.measured]
        both = [f"{sign(one)} {one.name}\t{one.gold}\t{one.predicted}" for one in told]
        return "\n".join([said.id, said.text, *both])


def _spans(voices: "Sequence[Voice]", names: Mapping[str, str]) -> tuple[tuple[Tier, ...], tuple[()], bool]:
    """The spans of a text that others marked: gold in the text itself, a row of bars for each of the others."""
    found: list[Tier] = []
    rows = False
    for one in voices:
        marked = [Marked(mark.place, mark.label) for mark in one.spans or ()]
        if one.kind == "gold":
            found += tiers("gold", "gold", marked)
        elif marked:
            rows = True
            role = "annotator" if one.kind == "person" else RUN_ROLES[0]
            found += tiers(names.get(one.run, one.name), role, marked, inline=False, rows=True)
    return tuple(found), (), rows


def _tell_more(voices: "Sequence[Voice]", said: "SampleSaid") -> bool:
    """Does anybody say anything of the whole text that the lines of gold and the run do not?"""
    shown = "" if said.run is None else said.run.run
    if any(one.tells and one.kind != "gold" and one.run != shown for one in voices):
        return True
    known = {words for line in said.gold for words in (line.name, line.gold)}
    by_gold = [one for one in voices if one.kind == "gold"]
    numbers = {name for one in by_gold for name in one.values}
    words = [{told.name, told.words} for one in by_gold for told in one.told or ()]
    return not numbers <= known or not all(known & one for one in words)


def sign(thing: "SaidLine") -> str:
    """A letter for what gold and the run make of one thing together."""
    if thing.mark:
        return thing.mark[0]
    if thing.measured:
        return NEITHER
    gold, given = thing.gold not in ("", _NO), thing.predicted not in ("", _NO)
    return RIGHT if gold and (given or not thing.predicted) else EXTRA if given and thing.gold else NEITHER


def ordered(things: "Sequence[SaidLine]") -> "list[SaidLine]":
    """What is right, missed and extra, then the rest; each by falling probability, else in its own order."""
    yes_or_no = all(thing.gold in ("", _YES, _NO) and thing.predicted in ("", _YES, _NO) for thing in things)
    if not yes_or_no:
        return list(things)
    return sorted(things, key=lambda thing: (_ORDER[sign(thing)], -(thing.p or 0.0)))


def lines(things: "Sequence[SaidLine]", cells: int) -> list[list[Part]]:
    """A line a thing: its letter, its name, who says it, and the probability as a bar with a tick at its threshold."""
    if not things:
        return [[Part("neither side says anything here", "dim")]]
    names = min(max(width(thing.name) for thing in things), max(cells // 3, 8))
    words = [(_worded(thing.gold, "gold"), _worded(thing.predicted, "given")) for thing in things]
    sides = [min(max(width(pair[side]) for pair in words), 24) for side in (0, 1)]
    room = min(cells - names - sum(sides) - 16, _LONGEST)
    found = []
    for thing in ordered(things):
        mark = sign(thing)
        kind = "plain" if thing.measured and mark == NEITHER else _KINDS[mark]
        line = [Part(f"{mark} ", kind), Part(fit(thing.name, names), kind), Part("  ")]
        line += [Part(fit(_worded(thing.gold, "gold"), sides[0]), "gold"), Part("  ")]
        line.append(Part(fit(_worded(thing.predicted, "given"), sides[1]), "said"))
        if thing.p is not None:
            line += [Part("  "), *(_bar(thing.p, thing.cut, room) if room >= _SHORTEST else [])]
            line.append(Part(f" {share(thing.p)}", "plain" if mark != NEITHER else "dim"))
        found.append(line)
    return found


def _worded(said: str, yes: str) -> str:
    return {_YES: yes, _NO: ""}.get(said, said)


def _bar(p: float, cut: float | None, cells: int) -> list[Part]:
    full = round(p * cells)
    drawn = "■" * full + "·" * (cells - full)
    if cut is None:
        return [Part(drawn[:full], "said"), Part(drawn[full:], "rest")]
    at = min(int(cut * cells), cells - 1)
    parts = []
    for start, stop in ((0, at), (at + 1, cells)):
        parts.append(Part(drawn[start : max(start, min(full, stop))], "said"))
        parts.append(Part(drawn[max(start, min(full, stop)) : stop], "rest"))
        if start == 0:
            parts.append(Part("│", "key"))
    return [part for part in parts if part.text]


def strip_lines(strip: "Strip", cells: int, most: int) -> list[list[Part]]:
    """A line a label, a sign a text, that of the text at hand in brackets; of numbers gold's height over the run's.

    Args:
        most: lines at most, beside the first, which tells how many of gold's changes the run sees.
    """
    n = len(strip.steps)
    seen = f"{strip.seen} of {strip.changes} changes seen" if strip.changes else "gold never changes"
    first = [Part(f" along {strip.column}: {so_many(n, 'text')}", "strong"), Part(f"   {seen}", "plain")]
    numbers = isinstance(strip.steps[0].gold, Mapping)
    legend = "" if numbers else f"   {_BOTH} both {_GOLD} gold {_RUN} run"
    name_cells = 16
    room = max(cells - name_cells - 8, 10)
    start = min(max((strip.at or 0) - room // 2, 0), max(n - room, 0))
    window = range(start, min(start + room, n))
    rows = _number_rows(strip, window) if numbers else _label_rows(strip, window)
    lines = [[*first, Part(legend, "dim")]]
    for name, signs in rows[:most]:
        at = None if strip.at is None or strip.at not in window else strip.at - start
        before, here, after = (signs, "", "") if at is None else (signs[:at], signs[at], signs[at + 1 :])
        marked = [Part(f"[{here}]", "strong")] if here else []
        lines.append(
            [Part(f" {fit(name, name_cells - 2)} ", "dim"), Part(before, "plain"), *marked, Part(after, "plain")]
        )
    return lines


def _label_rows(strip: "Strip", window: range) -> list[tuple[str, str]]:
    """The labels that most texts have on either side first."""
    counts = Counter(label for step in strip.steps for label in {*step.gold, *step.said})
    signs = {(True, True): _BOTH, (True, False): _GOLD, (False, True): _RUN, (False, False): _NONE}
    steps = [strip.steps[at] for at in window]
    return [
        (label, "".join(signs[label in step.gold, label in step.said] for step in steps))
        for label, _ in counts.most_common()
    ]


def _number_rows(strip: "Strip", window: range) -> list[tuple[str, str]]:
    """Of each number gold's line and the run's, on one scale."""
    rows = []
    for name in dict.fromkeys(name for step in strip.steps for name in step.gold):
        sides = [[dict(side).get(name) for side in (step.gold, step.said)] for step in strip.steps]  # type: ignore[arg-type]
        known = [value for pair in sides for value in pair if value is not None]
        low, width_of = min(known), (max(known) - min(known)) or 1
        for place, who in enumerate(("gold", "run")):
            values = (sides[at][place] for at in window)
            signs = (" " if one is None else _LEVELS[round((one - low) / width_of * 7)] for one in values)
            rows.append((f"{name} {who}" if not place else who.rjust(11), "".join(signs)))
    return rows
