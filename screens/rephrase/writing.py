"""Where a text is rephrased: the original, the editor, and what the classifier makes of each key."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Container, Horizontal, Vertical
from textual.geometry import Size

from emotui.screens.keymaps import keyed
from emotui.screens.rephrase import lines as rephrase_lines
from emotui.screens.rephrase.requests import ChainState, Text
from emotui.screens.widgets.cell_width import fit, width
from emotui.screens.widgets.editor import DirectionLine, Editor
from emotui.screens.widgets.line import Line, Part, fitted, tabs, taken
from emotui.screens.widgets.number_format import RIGHT, count, share
from emotui.screens.widgets.page import Lines, Page

if TYPE_CHECKING:
    from emotui.workbench.rephrase.views import Live

# Gold against its best rival: from the middle outward each half is as long as its own probability. Under it the verdict
# in words, and gold by keystroke.

GOLD_SIDE, RIVAL_SIDE, MIDDLE = "█", "▒", "┃"
_LEVELS = "▁▂▃▄▅▆▇█"
_TUG_NAME = 16
_SPARK = 16
NOTHING = "an empty text has no prediction: write one, or skip the text"


def rival(probs: Mapping[str, float], gold: str) -> str | None:
    """The label with the greatest probability beside gold."""
    others = [label for label in probs if label != gold]
    return max(others, key=lambda label: probs[label]) if others else None


def tug_lines(
    probs: Mapping[str, float],
    gold: str,
    was: float | None,
    history: Sequence[float],
    cells: int,
    *,
    counters: bool = False,
) -> Lines:
    """The two halves and, under them, what they say.

    Args:
        counters: it is gold that is to win, as in a counter-test.
        was: the probability of gold for the original.
        history: those of gold so far, a figure a keystroke that was answered.
    """
    other = rival(probs, gold)
    if other is None:
        return []
    for_gold, against = probs.get(gold, 0.0), probs[other]
    wins = against > for_gold
    left = [
        Part(fit(gold, min(width(gold), _TUG_NAME)), "gold-line"),
        Part(f" {share(for_gold).strip()} ", "plain" if wins else "strong"),
    ]
    right = [
        Part(f" {share(against).strip()} ", "strong" if wins else "plain"),
        Part(fit(other, min(width(other), _TUG_NAME)), "strong" if wins else "plain"),
    ]
    size = max((cells - taken([*left, *right]) - 1) // 2, 4)
    said = list(verdict(probs, gold, was, cells, counters=counters, aim=len(history) < 2))
    if len(history) >= _KEYS:
        path = [Part(f"   {gold} after each key ", "dim"), Part(sparkline(history, _SPARK).rstrip(), "gold")]
        said += path if taken([*said, *path]) <= cells else []
    elif len(history) < 2:
        said += next(([way] for way in _HALVES if taken([*said, way]) <= cells), [])
    return [[*left, *_half(for_gold, size, left=True), *_half(against, size, left=False), *right], said]


_HALVES = (
    Part("   ┃ outward: █ gold, ▒ its rival, each half full at 1", "dim"),
    Part("   █ gold  ▒ its rival", "dim"),
)
"""What the two halves are, in as many words as there is room for, until there is what was typed to be told."""

_KEYS = 10
"""Keys from which on it is drawn what they came to: of fewer, blocks show no course."""


def verdict(
    probs: Mapping[str, float], gold: str, was: float | None, cells: int, *, counters: bool = False, aim: bool = False
) -> Sequence[Part]:
    """Who is ahead, and by how much, in words. `aim`: what it is to come to, too, where there is room."""
    other = rival(probs, gold)
    if other is None:
        return []
    for_gold, against = probs.get(gold, 0.0), probs[other]
    before = f"{gold} was {share(was).strip()}; " if was is not None and not aim else ""
    wins = against > for_gold
    tick = Part(f"{RIGHT} ", "said") if wins is not counters else Part("  ")
    if wins:
        ahead = f" wins by {share(against - for_gold).strip()}"
        return fitted([tick, Part(before), Part(other, "strong"), Part(ahead, "strong")], cells)
    behind = f"{other} is {share(for_gold - against).strip()} behind"
    wanted = "; another has to lead"
    if aim and not counters and width(before + behind + wanted) + 2 <= cells:
        behind += wanted
    return fitted([tick, Part(before), Part(behind, "dim")], cells)


def sparkline(history: Sequence[float], cells: int) -> str:
    """The last figures in [0, 1], an eighth of the height each, in so many cells."""
    last = list(history)[-cells:]
    return "".join(_LEVELS[min(int(value * 8), 7)] for value in last).ljust(cells)


def _half(value: float, cells: int, *, left: bool) -> list[Part]:
    """So many cells of which as many are full, from the middle outward, as the probability is of 1."""
    full = round(min(max(value, 0.0), 1.0) * cells)
    rest = Part("·" * (cells - full), "rest")
    if left:
        return [rest, Part(GOLD_SIDE * full, "gold"), Part(MIDDLE, "strong")]
    return [Part(RIVAL_SIDE * full, "said"), rest]


# The classifier's probabilities as bars that follow what is typed: gold, top and where gold began are marked.

FEW = 10
"""Up to so many labels stand in an order of their own, so that a bar grows in its place; more are sorted by size."""

_NAME = 15
_WAS = " was .00"
_GOLD = " gold"
_LEAST_BAR, _FAIR_BAR, _MOST_BAR = 5, 12, 24
"""Cells; below the one in the middle the bar comes before the word for gold."""

_LEAST_BARS, _SESSION = 9, 10
"""Lines that the bars have at least, and those that headings and the session beside them take."""

_LEAST_WORDS = 9
"""Lines that are left under the difference where what each word adds stands there too."""

_GAP = 2
_EIGHTHS = ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")


class Bars(Page):
    """A line a label, in one column or, where there are more labels than lines, in two."""

    DEFAULT_CSS = "Bars { height: auto; }"


def bar_order(probs: Mapping[str, float], gold: str, room: int) -> tuple[list[str], int]:
    """Which labels are shown, gold first, and how many are not: with many labels the most probable are."""
    others = [label for label in probs if label != gold]
    if len(probs) > FEW:
        others.sort(key=lambda label: -probs[label])
    labels = [gold, *others]
    if len(labels) <= room:
        return labels, 0
    kept = labels[: max(room - 1, 1)]
    return kept, len(labels) - len(kept)


def bar_lines(probs: Mapping[str, float], gold: str, was: float | None, cells: int, room: int) -> Lines:
    """The bars in so many columns and lines.

    Args:
        probs: the classifier's probability of each of its labels; the largest is bold.
        gold: its line comes first and says `gold` where that fits; it may be missing from `probs`, and is then –.
        was: the probability of gold for the original; a tick stands in the bar there.
    """
    if not probs:
        return []
    two = len(probs) > room and cells >= 2 * (2 + _NAME + _LEAST_BAR + 5 + len(_WAS) + len(_GOLD)) + _GAP
    labels, hidden = bar_order(probs, gold, 2 * room if two else room)
    top = max(probs, key=lambda label: probs[label])
    width = (cells - _GAP) // 2 if two else cells
    drawn = [
        _bar(label, probs.get(label), label == top, was if label == gold else None, gold, width) for label in labels
    ]
    if hidden:
        # No sum: the probabilities of a classifier of several labels are each by itself.
        most = max((p for label, p in probs.items() if label not in labels), default=0.0)
        at_most = "below .005" if round(most, 2) == 0 else f"at most {share(most).strip()}"
        drawn.append([Part(fit(f"  {count(hidden)} others, each {at_most}", width), "dim")])
    if not two:
        return drawn
    half = -(-len(drawn) // 2)
    right = [*drawn[half:], *([[]] * (2 * half - len(drawn)))]
    return [[*one, Part(" " * _GAP), *other] for one, other in zip(drawn[:half], right, strict=True)]


def _bar(label: str, value: float | None, top: bool, was: float | None, gold: str, width: int) -> list[Part]:
    is_gold = label == gold
    room = width - 2 - _NAME - 5 - len(_WAS)
    size = min(max(room - len(_GOLD), min(room, _FAIR_BAR), _LEAST_BAR), _MOST_BAR)
    name = [Part("  ")]
    drawn = fit(label, _NAME - 1)
    if is_gold:
        word = drawn.rstrip()
        name += [Part(word, "gold-line"), Part(" " * (_NAME - len(word)))]
    else:
        name.append(Part(f"{drawn} ", "strong" if top else "plain"))
    parts = [*name, *_track(value, was, size, "gold" if is_gold else "said")]
    parts.append(Part(f" {share(value)}", "strong" if top else "plain"))
    if is_gold:
        tail = f" was {share(was).strip()}" if was is not None else ""
        parts.append(Part(fit(tail, len(_WAS)), "dim"))
    used = sum(len(part.text) for part in parts)
    if is_gold and used + len(_GOLD) <= width:  # else the underline says it
        parts.append(Part(_GOLD, "gold"))
        used += len(_GOLD)
    return [*parts, Part(" " * max(width - used, 0))]


def _track(value: float | None, was: float | None, size: int, kind: str) -> Sequence[Part]:
    """A bar of `size` cells, full up to `value` in eighths of a cell, with a tick where it was."""
    eighths = 0 if value is None else round(min(max(value, 0.0), 1.0) * size * 8)
    full, part = divmod(eighths, 8)
    solid = "█" * full + _EIGHTHS[part]
    if was is None:
        return [Part(solid, kind), Part("·" * (size - len(solid)), "rest")]
    tick = min(int(min(max(was, 0.0), 1.0) * size), size - 1)
    left, right = solid[:tick], solid[tick + 1 :]
    return [
        Part(left, kind),
        Part("·" * (tick - len(left)), "rest"),
        Part("│", "strong"),
        Part(right, kind),
        Part("·" * (size - tick - 1 - len(right)), "rest"),
    ]


STACKED = 100
"""Below so many columns the panes stand under each other."""

LOW = 20
"""Below so many lines the parts are as short as they can be."""

WRITE, WORDS = "write", "words"
VIEWS = (WRITE, WORDS)
CHAIN, LABELS, DIFFERENCE, SESSION = "attempts", "labels", "difference", "session"
PARTS = (CHAIN, LABELS, DIFFERENCE, SESSION)
"""What the lower pane can show of writing in one column; in two the chain with the difference, and all else beside."""


class Steady(Page):
    """A pane of a height of its own that changes with every key: filled up with empty lines, so that nothing moves.

    (Textual lays the whole screen out anew where the number of lines changes, which takes longer than a key may.)
    """

    def _put(self, lines: Lines, *, home: bool) -> None:
        missing = self.size.height - len(lines)
        super()._put([*lines, *([[]] * missing)] if missing > 0 else lines, home=home)


class Beside(Steady, can_focus=False):
    """A pane that follows and has no keys; as long as one text is written it keeps the lines that it once needed."""

    def _put(self, lines: Lines, *, home: bool) -> None:
        missing = len(self._lines) - len(lines)
        super()._put([*lines, *([[]] * missing)] if missing > 0 else lines, home=home)

    def begin_anew(self) -> None:
        """Take no more lines than there are, from the next that are shown."""
        self._lines = ()

    def on_resize(self) -> None:
        if self._lines_for is not None:  # what is asked for anew
            self.begin_anew()


class Writing(Container):
    """Text, editor and the two halves over the full width; under it two panes, or one that has all views."""

    DEFAULT_CSS = """
    Writing { layout: vertical; height: 1fr; }
    Writing > #rephrase-original { height: auto; max-height: 30%; }
    Writing > #rephrase-editor { height: auto; min-height: 2; max-height: 40%; }
    Writing > #rephrase-tug { height: 2; }
    Writing > #rephrase-meaning { height: 3; }
    Writing > #rephrase-bottom { height: 1fr; }
    Writing #rephrase-below-pane { width: 3fr; }
    Writing #rephrase-right { width: 2fr; border-left: solid $rule; }
    Writing #rephrase-session { height: 1fr; }
    Writing.-stacked #rephrase-right { display: none; }
    Writing.-low > #rephrase-original { max-height: 2; }
    Writing.-low > #rephrase-editor { max-height: 3; }
    Writing.-low > #rephrase-meaning { height: 1; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.seen = ChainState()
        self.part = CHAIN
        self._stale = False

    def compose(self) -> ComposeResult:
        yield Line(id="rephrase-title", classes="-pane")
        yield Page(id="rephrase-original")
        yield Line(id="rephrase-attempt", classes="-pane")
        yield Editor(id="rephrase-editor")
        yield DirectionLine(id="rephrase-direction")
        yield Beside(id="rephrase-tug")
        yield Beside(id="rephrase-meaning")
        with Horizontal(id="rephrase-bottom"):
            with Vertical(id="rephrase-below-pane"):
                yield Line(id="rephrase-views", classes="-pane")
                yield Steady(id="rephrase-below")
            with Vertical(id="rephrase-right"):
                yield Line(id="rephrase-live", classes="-pane")
                yield Bars(id="rephrase-bars")
                yield Line(id="rephrase-session-title", classes="-pane")
                yield Beside(id="rephrase-session")

    @property
    def editor(self) -> Editor:
        return self.query_one(Editor)

    @property
    def stacked(self) -> bool:
        """Do the panes stand under each other?"""
        return self.has_class("-stacked")

    @property
    def shows_difference(self) -> bool:
        """Is the difference from the original in sight?"""
        return self.part == DIFFERENCE or (self.part == CHAIN and not self.stacked)

    @property
    def view(self) -> str:
        """The view that is open in the lower pane; of writing its `part`."""
        return WORDS if self.part == WORDS else WRITE

    @property
    def parts(self) -> tuple[str, ...]:
        """What the lower pane can show of writing."""
        return PARTS if self.stacked else (CHAIN,)

    @property
    def several(self) -> bool:
        """Has the view that is open several parts?"""
        return self.view == WRITE and len(self.parts) > 1

    def on_resize(self) -> None:
        self.set_class(self.size.width < STACKED, "-stacked")
        self.set_class(self.size.height < LOW, "-low")
        if self.part not in (*self.parts, WORDS):
            self.part = CHAIN
        self.draw()

    def draw(self) -> None:
        if self.seen.chain is None or self.seen.round is None:
            if self.seen.waiting is not None:
                self._draw_waiting(self.seen.waiting)
            return
        for pane in self.query(Beside):
            pane.begin_anew()
        self.draw_original()
        self.draw_attempt()
        self.draw_live()
        self.draw_below()
        self.draw_session()

    def _draw_waiting(self, text: Text) -> None:
        """The text and the editor, before the round has begun."""
        self.query_one("#rephrase-title", Line).show(rephrase_lines.waiting_title(text))
        self.query_one("#rephrase-original", Page).show_for(partial(_folded, text.text))
        line = self.query_one("#rephrase-attempt", Line)
        line.show(rephrase_lines.waiting_attempt(line.size.width, submits=bool(self.seen.submits)))
        said = "the classifier then reads every text"
        said += "; take what may mislead out of it" if text.counters else "; those that it gets right are offered"
        self.query_one("#rephrase-tug", Page).show_for(lambda room: rephrase_lines.folded(said, _cells(room), "dim"))
        self._draw_views()
        for name in ("#rephrase-live", "#rephrase-session-title"):
            self.query_one(name, Line).show([])
        for name in ("#rephrase-meaning", "#rephrase-below", "#rephrase-bars", "#rephrase-session"):
            self.query_one(name, Page).show_for(lambda room: [])

    def draw_original(self) -> None:
        """The text as it was, its gold label, and the verdict on it."""
        chain, round_ = self.seen.chain, self.seen.round
        if chain is None or round_ is None:
            return
        line = self.query_one("#rephrase-title", Line)
        line.show(*rephrase_lines.title(chain, round_, line.size.width))
        spans = [(cue.start, cue.end) for cue in self.seen.before.cues] if self.seen.before else []
        original = partial(rephrase_lines.marked, chain.original, spans)
        self.query_one("#rephrase-original", Page).show_for(lambda room: original(_cells(room)))

    def draw_attempt(self) -> None:
        """Which attempt it is."""
        chain = self.seen.chain
        if chain is None:
            return
        # Where lines are few there is none to spare for what there is to warn of.
        low = self.has_class("-low")
        hint = self.seen.hint or (f"! {self.seen.warnings[0]}" if low and self.seen.warnings else "")
        line = self.query_one("#rephrase-attempt", Line)
        sides = rephrase_lines.attempt(
            chain, self.editor.text, hint, self.seen.draft, line.size.width, suggested=self.seen.suggested
        )
        line.show(*sides)

    def draw_live(self, *, stale: bool = False) -> None:
        """The two halves, the bars and the meaning; greyed where they are about an earlier text."""
        self._stale = stale
        self._draw_tug()
        self._draw_bars()
        seen = self.seen
        leans = not self._words_in_sight
        now = partial(rephrase_lines.meaning, seen.nearness, seen.now, seen.words, seen.warnings, leans=leans)
        gold = "" if seen.chain is None else seen.chain.label
        low = self.has_class("-low")
        meaning = self.query_one("#rephrase-meaning", Page)
        meaning.set_class(stale, "-stale")
        if self.editor.text.strip():
            meaning.show_for(lambda room: now(_cells(room), 1, gold, self.editor.text)[: 1 if low else None])
        else:
            meaning.show([])
        if self.stacked and self.part in (CHAIN, LABELS):
            self.draw_below()

    def _draw_tug(self) -> None:
        seen, chain = self.seen, self.seen.chain
        page = self.query_one("#rephrase-tug", Page)
        page.set_class(self._stale, "-stale")
        if seen.trouble:
            page.show_for(lambda room: rephrase_lines.folded(seen.trouble, _cells(room), "mark"))
        elif chain is not None and not self.editor.text.strip():
            page.show([[Part(NOTHING, "dim")]])
        elif seen.live is None:
            page.show([[Part("what you write is classified as you type", "dim")]])
        else:
            was, counters = (chain.confidence, chain.counters) if chain is not None else (None, False)
            page.show_for(partial(_tug_lines, seen.live, was, seen.history, stale=self._stale, counters=counters))

    def _draw_bars(self) -> None:
        seen, live = self.seen, self.seen.live
        bars, heading = self.query_one(Bars), self.query_one("#rephrase-live", Line)
        said = [Part(" as you type", "strong")]
        if seen.round is not None:
            said.append(Part(f"  {rephrase_lines.short(seen.round.model)}", "dim", "do('name_model')"))
        if live is None:
            heading.show(said, [Part("no answer ", "mark")] if seen.trouble else [])
            why = seen.trouble or ("" if self.editor.text.strip() else "no prediction")
            bars.show_for(lambda room: rephrase_lines.folded(why, _cells(room), "mark" if seen.trouble else "dim"))
        else:
            heading.show(said, [Part("… " if self._stale else f"{live.seconds * 1000:.0f} ms ", "dim")])
            most = max(self.query_one("#rephrase-right").size.height - _SESSION, _LEAST_BARS)
            bars.show_for(lambda room: self._bar_lines(_cells(room), most))

    def _bar_lines(self, cells: int, most: int) -> Lines:
        live, chain = self.seen.live, self.seen.chain
        if live is None:
            return []
        was = chain.confidence if chain is not None else None
        lines = bar_lines(live.probs, live.gold, was, cells, most)
        return greyed(lines) if self._stale else lines

    def draw_below(self) -> None:
        """The lower pane: the chain, with the difference where there is room; words; the session if it has no pane."""
        self._draw_views()
        if self.seen.chain is not None:
            self.query_one("#rephrase-below", Page).show_for(lambda room: self._below(_cells(room), room.height))

    def _draw_views(self) -> None:
        left = [Part(" so far ", "strong")]
        if self.several:
            left = [Part(" "), *tabs(keyed("{part}"), self.parts, self.part, what="part")]
        self.query_one("#rephrase-views", Line).show(left, tabs(keyed("{view}"), VIEWS, self.view))

    def _below(self, cells: int, height: int) -> Lines:
        seen = self.seen
        if self.part == LABELS:
            return self._bar_lines(cells, max(height, 2))
        if self.part == WORDS:
            return rephrase_lines.word_lines(seen.words, cells, self.editor.text)
        if self.part == DIFFERENCE:
            return rephrase_lines.difference(seen.difference, cells)
        if self.part == SESSION and seen.progress is not None:
            return rephrase_lines.session(seen.progress, seen.last, cells)
        if seen.chain is None:
            return []
        chain = rephrase_lines.chain_lines(seen.chain, seen.drafts, cells)
        if not self.stacked:
            lines = [*chain, [], *rephrase_lines.difference(seen.difference, cells)]
            if height - len(lines) >= _LEAST_WORDS:
                head = [Part("word by word", "strong")]
                lines += [[], head, *rephrase_lines.word_lines(seen.words, cells, self.editor.text)]
            return lines
        room = height - len(chain) - 1
        return [*chain, [], *self._bar_lines(cells, room)] if room >= 2 else chain

    @property
    def _words_in_sight(self) -> bool:
        """Does what each word adds stand in the lower pane?"""
        if self.part == WORDS:
            return True
        if self.stacked or self.part != CHAIN or self.seen.chain is None:
            return False
        room = self.query_one("#rephrase-below", Page).scrollable_content_region
        lines = rephrase_lines.chain_lines(self.seen.chain, self.seen.drafts, _cells(room.size))
        changes = rephrase_lines.difference(self.seen.difference, _cells(room.size))
        return room.height - len(lines) - 1 - len(changes) >= _LEAST_WORDS

    def draw_session(self) -> None:
        """How far one is."""
        if self.seen.progress is None:
            return
        self.query_one("#rephrase-session-title", Line).show([Part(" session", "strong")])
        session = partial(rephrase_lines.session, self.seen.progress, self.seen.last)
        self.query_one("#rephrase-session", Page).show_for(lambda room: session(_cells(room)))

    def show_view(self, name: str) -> None:
        """Show this part of writing, or a view: of writing its first part."""
        if name in (*self.parts, *VIEWS):
            self.part = CHAIN if name == WRITE else name
            self.query_one("#rephrase-below", Page).scroll_home(animate=False)
            self.draw_live(stale=self._stale)
            self.draw_below()

    def step_view(self, step: int) -> None:
        """The next view, or the one before."""
        self.show_view(VIEWS[(VIEWS.index(self.view) + step) % len(VIEWS)])

    def step_part(self, step: int) -> None:
        """The next part of the view, or the one before."""
        self.show_view(self.parts[(self.parts.index(self.part) + step) % len(self.parts)])

    def step_all(self) -> None:
        """The next of everything that the lower pane can show, whatever view it is of."""
        everything = (*self.parts, WORDS)
        self.show_view(everything[(everything.index(self.part) + 1) % len(everything)])


def _cells(room: Size) -> int:
    return max(room.width, 20)


def _folded(text: str, room: Size) -> Lines:
    return rephrase_lines.marked(text, [], _cells(room))


def _tug_lines(
    live: "Live", was: float | None, history: tuple[float, ...], room: Size, *, stale: bool, counters: bool
) -> Lines:
    lines = tug_lines(live.probs, live.gold, was, history, _cells(room), counters=counters)
    return greyed(lines) if stale else lines


def greyed(lines: Lines) -> Lines:
    """Lines that are about an earlier text."""
    return [[Part(part.text, "dim") for part in line] for line in lines]
