"""Where a text is rephrased: the original, the editor, and what the classifier makes of each key."""

from functools import partial
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.geometry import Size

from emotui.screens.rephrase import bars as rephrase_bars
from emotui.screens.rephrase import lines as rephrase_lines
from emotui.screens.rephrase.bars import Bars
from emotui.screens.rephrase.state import ChainState
from emotui.screens.widgets.editor import Editor
from emotui.screens.widgets.line import Line, Part, tabs
from emotui.screens.widgets.page import Lines, Page

if TYPE_CHECKING:
    pass

STACKED = 100
"""Below so many columns the panes stand under each other."""

VIEWS = ("chain", "words", "difference", "session")


class Steady(Page):
    """A pane of a height of its own that changes with every key: filled up with empty lines, so that nothing moves.

    (Textual lays the whole screen out anew where the number of lines changes, which takes longer than a key may.)
    """

    def _put(self, lines: Lines, *, home: bool) -> None:
        missing = self.size.height - len(lines)
        super()._put([*lines, *([[]] * missing)] if missing > 0 else lines, home=home)


class Beside(Steady, can_focus=False):
    """A pane that follows and has no keys."""


class Writing(Container):
    """Four panes: two beside two, or where there is no room one under the other, the session then among the views."""

    DEFAULT_CSS = """
    Writing { layout: grid; grid-size: 2 2; grid-columns: 3fr 2fr; grid-rows: 16 1fr; height: 1fr; }
    Writing > #rephrase-right, Writing > #rephrase-session-pane { border-left: solid $rule; }
    Writing #rephrase-original { height: auto; max-height: 40%; }
    Writing #rephrase-editor { height: 1fr; min-height: 3; }
    Writing #rephrase-meaning { height: 1fr; }
    Writing.-stacked { layout: vertical; }
    Writing.-stacked > #rephrase-left { height: 1fr; min-height: 8; }
    Writing.-stacked > #rephrase-right { height: auto; border-left: none; }
    Writing.-stacked > #rephrase-below-pane { height: 6; }
    Writing.-stacked > #rephrase-session-pane { display: none; }
    Writing.-stacked #rephrase-original { max-height: 3; }
    Writing.-stacked #rephrase-meaning { height: 3; }
    Writing.-stacked #rephrase-meaning-title { display: none; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.seen = ChainState()
        self.view = "chain"

    def compose(self) -> ComposeResult:
        with Vertical(id="rephrase-left"):
            yield Line(id="rephrase-title", classes="-pane")
            yield Page(id="rephrase-original")
            yield Line(id="rephrase-attempt", classes="-pane")
            yield Editor(id="rephrase-editor")
        with Vertical(id="rephrase-right"):
            yield Line(id="rephrase-live", classes="-pane")
            yield Bars(id="rephrase-bars")
            yield Line(id="rephrase-meaning-title", classes="-pane")
            yield Beside(id="rephrase-meaning")
        with Vertical(id="rephrase-below-pane"):
            yield Line(id="rephrase-views", classes="-pane")
            yield Steady(id="rephrase-below")
        with Vertical(id="rephrase-session-pane"):
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
        return self.view == "difference" or (self.view == "chain" and not self.stacked)

    @property
    def views(self) -> tuple[str, ...]:
        """What the lower pane can show."""
        return VIEWS if self.stacked else VIEWS[:2]

    def on_resize(self) -> None:
        self.set_class(self.size.width < STACKED, "-stacked")
        if self.view not in self.views:
            self.view = "chain"
        self.draw()

    def draw(self) -> None:
        if self.seen.chain is None or self.seen.round is None:
            return
        self.draw_original()
        self.draw_attempt()
        self.draw_live()
        self.draw_below()
        self.draw_session()

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
        # Where panes are stacked there is no line to spare for what there is to warn of.
        hint = self.seen.hint or (f"! {self.seen.warnings[0]}" if self.stacked and self.seen.warnings else "")
        sides = rephrase_lines.attempt(chain, self.editor.text, hint, suggested=self.seen.suggested)
        self.query_one("#rephrase-attempt", Line).show(*sides)

    def draw_live(self, *, stale: bool = False) -> None:
        """The bars and the meaning; greyed where they are about an earlier text."""
        seen, live = self.seen, self.seen.live
        bars, heading = self.query_one(Bars), self.query_one("#rephrase-live", Line)
        meaning, said = self.query_one("#rephrase-meaning", Page), [Part(" as you type", "strong")]
        if seen.round is not None:
            said.append(Part(f"  {rephrase_lines.short(seen.round.model)}", "dim", "do('name_model')"))
        if seen.trouble:
            heading.show(said, [Part("no answer ", "mark")])
            bars.show_for(lambda room: rephrase_lines.folded(seen.trouble, _cells(room), "mark"))
        elif live is None:
            heading.show(said)
            bars.show([[Part("what you write is classified as you type", "dim")]])
        else:
            heading.show(said, [Part("… " if stale else f"{live.seconds * 1000:.0f} ms ", "dim")])
            was = seen.chain.confidence if seen.chain is not None else None
            few = 5 if len(live.probs) in (9, 10) else 4
            most = few if self.stacked else 9

            def drawn(room: Size) -> Lines:
                lines = rephrase_bars.lines(live.probs, live.gold, was, _cells(room), most)
                return [[Part(part.text, "dim") for part in line] for line in lines] if stale else lines

            bars.show_for(drawn)
        self.query_one("#rephrase-meaning-title", Line).show([Part(" meaning", "strong")])
        now = partial(rephrase_lines.meaning, seen.nearness, seen.now, seen.words, seen.warnings)
        warned = 1 if self.stacked else 3
        meaning.show_for(lambda room: now(_cells(room), warned))

    def draw_below(self) -> None:
        """The lower pane: the chain, with the difference where there is room; words; the session if it has no pane."""
        keys = [Part("F2", "key", "do('words')"), Part(" next ", "dim", "do('words')")]
        self.query_one("#rephrase-views", Line).show([Part(" "), *tabs(self.views, self.view, "view")], keys)
        if self.seen.chain is not None:
            self.query_one("#rephrase-below", Page).show_for(lambda room: self._below(_cells(room)))

    def _below(self, cells: int) -> Lines:
        seen = self.seen
        if self.view == "words":
            return rephrase_lines.word_lines(seen.words, cells)
        if self.view == "difference":
            return rephrase_lines.difference(seen.difference, cells)
        if self.view == "session" and seen.progress is not None:
            return rephrase_lines.session(seen.progress, seen.last, cells)
        if seen.chain is None:
            return []
        chain = rephrase_lines.chain_lines(seen.chain, cells)
        return chain if self.stacked else [*chain, [], *rephrase_lines.difference(seen.difference, cells)]

    def draw_session(self) -> None:
        """How far one is."""
        if self.seen.progress is None:
            return
        self.query_one("#rephrase-session-title", Line).show([Part(" session", "strong")])
        session = partial(rephrase_lines.session, self.seen.progress, self.seen.last)
        self.query_one("#rephrase-session", Page).show_for(lambda room: session(_cells(room)))

    def show_view(self, name: str) -> None:
        """Show this view in the lower pane."""
        if name in self.views:
            self.view = name
            self.query_one("#rephrase-below", Page).scroll_home(animate=False)
            self.draw_below()

    def step_view(self, step: int) -> None:
        """The next view, or the one before."""
        self.show_view(self.views[(self.views.index(self.view) + step) % len(self.views)])


def _cells(room: Size) -> int:
    return max(room.width, 20)
