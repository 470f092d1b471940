"""Compare: two sources of a dataset sample by sample, and all of them on one axis, by any metric."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical

from emotui.screens.compare import figures
from emotui.screens.compare.axis import axis_lines
from emotui.screens.compare.entry import ENTRY
from emotui.screens.compare.requests import AXIS, PAIR, VIEWS, Found, Text, Wanted, ask, read
from emotui.screens.compare.rows import DifferenceRows
from emotui.screens.compare.text import annotated
from emotui.screens.place import Place
from emotui.screens.requests import LatestRequest, any_busy
from emotui.screens.session import Session
from emotui.screens.widgets.cell_width import shown
from emotui.screens.widgets.line import Line, Part, tabs
from emotui.screens.widgets.notice import Notice
from emotui.screens.widgets.page import Page
from emotui.screens.widgets.row_list import PickedRows
from emotui.screens.widgets.tiered_text import TieredText
from emotui.store.query import Run

if TYPE_CHECKING:
    from emotui.workbench.compare.pairs import Axis, Comparing, Marks, Pair, Standing
    from emotui.workbench.source import BrowseSource

_NO_STORE = "Sources of a workspace are compared", "files are browsed without it"


class Compare(Place):
    """Figures above, the samples by their difference below, and under them the text with what both mark."""

    entry = ENTRY
    headings = {"compare-rows": "#compare-title", "compare-axis": "#compare-title", "compare-text": "#compare-sample"}
    slim_list = True
    marks_errors = False
    DEFAULT_CSS = """
    Compare #compare-figures { height: 5; }
    Compare #compare-rows { height: 1fr; min-height: 3; }
    Compare #compare-axis { height: 1fr; min-height: 4; display: none; }
    Compare #compare-note { height: 2; color: $text-muted; display: none; }
    Compare #compare-text { height: 1fr; min-height: 3; }
    Compare.-axis #compare-figures, Compare.-axis #compare-rows, Compare.-axis #compare-sample { display: none; }
    Compare.-axis #compare-text { display: none; }
    Compare.-axis #compare-axis, Compare.-axis #compare-note { display: block; }
    """

    def __init__(self, session: Session, *, id: str | None = None) -> None:
        super().__init__(session, id=id)
        self.wanted: Wanted | None = None
        self.found: Found | None = None
        self._comparing: Callable[[], Comparing] | None = None
        self._desk: LatestRequest[Wanted, Found] | None = None
        self._texts: LatestRequest[Text, Marks] | None = None
        self._standing: object = None
        self._sample: int | None = None

    def compose(self) -> ComposeResult:
        with Vertical(id="compare-body"):
            yield Line(id="compare-title", classes="-pane")
            yield Page(id="compare-figures")
            yield DifferenceRows(id="compare-rows")
            sources: PickedRows[Standing] = PickedRows(self._axis_lines, id="compare-axis")
            yield sources
            yield Page(id="compare-note")
            yield Line(id="compare-sample", classes="-pane")
            yield TieredText(id="compare-text")
        yield Notice("#compare-body", id="compare-notice")

    def on_mount(self) -> None:
        self.say("Compare", "the workspace is being read")

    def bind_source(self, source: "BrowseSource") -> None:
        comparing = source.comparing
        if comparing is None:
            self.say(*_NO_STORE)
            return
        self._comparing = comparing
        self._desk = LatestRequest("compare", self, lambda wanted: ask(comparing(), wanted), self._show, self._refuse)
        self._texts = LatestRequest("compare text", self, lambda text: read(comparing(), text), self._show_text)

    # What the frame tells.

    @property
    def rows(self) -> DifferenceRows:
        """The samples of two sources."""
        return self.query_one(DifferenceRows)

    @property
    def sources(self) -> "PickedRows[Standing]":
        """All sources on one axis."""
        return self.query_one("#compare-axis", PickedRows)

    @property
    def busy(self) -> bool:
        return any_busy(self)

    def show_sample(self, sample: int | None, run: Run | None) -> None:
        """Compare anew where the dataset or its runs have changed; put the cursor on this sample."""
        overview, beside = self.session.overview, self.session.runs_beside
        standing = overview.dataset, tuple((one.run, one.state, one.done) for one in overview.runs), run, tuple(beside)
        self._sample = sample
        if overview.dataset is not None and standing != self._standing:
            kept = self.wanted
            number = overview.dataset.dataset
            self._standing = standing
            if kept is None or kept.dataset != number:
                kept = Wanted(number, PAIR if kept is None else kept.view)
            self.wanted = replace(kept, shown=run.run if run else "", beside=tuple(one.run for one in beside))
            self._ask()
        elif sample is not None and self._stands_elsewhere(sample) and self.rows.put_on(sample):
            self._ask_text()

    def _stands_elsewhere(self, sample: int) -> bool:
        picked = self.rows.picked
        return picked is not None and picked.sample != sample

    def show_nothing(self, why: str, *, failed: bool = False) -> None:
        if self._desk is not None or failed:
            self.say("Two sources against each other, or all on one axis", why, failed=failed)

    def focus_first(self) -> None:
        (self.sources if self.has_class("-axis") else self.rows).focus()

    def on_show(self) -> None:
        self._ask()
        self.call_after_refresh(self.focus_first)

    def _ask(self) -> None:
        if self._desk is not None and self.wanted is not None and self.display:
            self._desk.ask(self.wanted)

    # What came back.

    @property
    def pair(self) -> "Pair | None":
        """The two that are shown."""
        return None if self.found is None else self.found.pair

    def _refuse(self, _: Wanted, why: str) -> None:
        self.say("This cannot be compared", why, failed=True)

    def _show(self, wanted: Wanted, found: Found) -> None:
        self.found = found
        if found.why:
            self.say("Nothing to compare yet", found.why, "R runs a model, emotui import predictions brings answers in")
            return
        self.query_one(Notice).hide()
        self.set_class(wanted.view == AXIS, "-axis")
        if found.pair is not None:
            pair = found.pair
            self.query_one("#compare-figures", Page).show_for(lambda room: figures.lines(pair, room.width))
            self.rows.show_pair(pair, self._sample)
            self._ask_text()
        elif found.axis is not None:
            self.sources.show_rows(found.axis.rows, lambda row: (row.key, row.name, row.told))
            self._draw_note(found.axis)
        self._draw_title()
        if self.display and (self.screen.focused is None or self.screen.focused in (self.sources, self.rows)):
            self.focus_first()
        self.refresh_bindings()

    def _axis_lines(self, rows: "Sequence[Standing]", cursor: int, cells: int) -> list[list[Part]]:
        return axis_lines(None if self.found is None else self.found.axis, rows, cursor, cells)

    def _draw_title(self) -> None:
        found = None if self.found is None else self.found.pair or self.found.axis
        if found is None or self.wanted is None:
            return
        title = shown(found.metric.title)
        left = [Part(f" {title}", "strong", "do('metric')"), Part("  A − B" if self.pair else "", "dim")]
        right = [Part("v ", "key", "do('view')"), *tabs(VIEWS, self.wanted.view, "view"), Part(" ")]
        self.query_one("#compare-title", Line).show(left, right)

    def _draw_note(self, axis: "Axis") -> None:
        own = [row for row in axis.rows if not row.published]
        p = f" p: Wilcoxon against A, over the samples of both, Holm over {max(len(own) - 1, 0)}"
        people = "   ░ annotators' range" if axis.people else ""
        published = "   ○ † as printed" if len(own) < len(axis.rows) else ""
        lines = [[Part(f" ├─●─┤ {axis.convention}", "dim")], [Part(f"{p}{people}{published}", "dim")]]
        self.query_one("#compare-note", Page).show(lines)

    # The text.

    @on(DifferenceRows.Picked)
    def _picked(self, event: DifferenceRows.Picked) -> None:
        event.stop()
        self._ask_text()
        if (picked := self.rows.picked) is not None:
            self.post_message(self.Sought(frozenset({picked.sample}), 0))

    def _ask_text(self) -> None:
        pair, picked = self.pair, self.rows.picked
        if pair is None or picked is None or self.wanted is None or self._texts is None:
            return
        self._texts.ask(Text(self.wanted.dataset, picked.sample, pair.first.key, pair.second.key))

    def _show_text(self, text: Text, marks: "Marks") -> None:
        pair, picked = self.pair, self.rows.picked
        if pair is None or picked is None or picked.sample != text.sample:
            return
        said = f"   A {figures.bare(picked.first, 2)}   B {figures.bare(picked.second, 2)}"
        difference = f"   A − B {figures.signed(picked.difference)}"
        left = [
            Part(f" {shown(marks.id)}", "strong"),
            Part(said),
            Part(difference, "mark" if picked.changed else "dim"),
        ]
        for name, gold, first, second in marks.lines[:6]:
            words = f"   {shown(name)}: gold {shown(gold) or '–'}, A {shown(first) or '–'}, B {shown(second) or '–'}"
            left.append(Part(words, "dim"))
        self.query_one("#compare-sample", Line).show(left)
        self.query_one(TieredText).show(annotated(marks))

    # Keys.

    def can(self, action: str) -> bool:
        return super().can(action) and self.found is not None and not self.found.why

    def tell(self, what: str, value: object) -> None:
        if what == "view" and isinstance(value, str):
            self._turn(view=value)

    def _turn(self, **changed: str | bool) -> None:
        if self.wanted is not None:
            self.wanted = replace(self.wanted, **changed)  # type: ignore[arg-type]
            self._ask()

    def can_view(self) -> bool:
        return self.wanted is not None

    def do_view(self) -> None:
        assert self.wanted is not None
        self._turn(view=AXIS if self.wanted.view == PAIR else PAIR)

    do_view_back, can_view_back = do_view, can_view

    def can_changed_on(self) -> bool:
        return self.pair is not None

    def do_changed_on(self) -> None:
        self._walk(1)

    def do_changed_back(self) -> None:
        self._walk(-1)

    can_changed_back = can_next_error = can_previous_error = can_changed_on
    do_next_error, do_previous_error = do_changed_on, do_changed_back

    def _walk(self, step: int) -> None:
        if not self.rows.walk(step):
            self.notify("No further change that way", markup=False)

    def do_compare_open(self) -> None:
        """Browse what changed; of all sources compare the picked one with A."""
        if self.wanted is not None and self.wanted.view == AXIS:
            picked, axis = self.sources.picked, self.found.axis if self.found is not None else None
            if picked is not None and picked.key and axis is not None and picked.key != axis.first:
                self._turn(view=PAIR, first=axis.first, second=picked.key)
            return
        pair = self.pair
        if pair is not None and (changed := [row.sample for row in pair.rows if row.changed]):
            why = f"where {figures.told(pair.first)} and {figures.told(pair.second)} differ"
            self.post_message(self.Listed(changed, why, None, pair.first.run))

    def can_as_printed(self) -> bool:
        return self.wanted is not None and self.wanted.view == AXIS

    def do_as_printed(self) -> None:
        assert self.wanted is not None
        self._turn(papers=not self.wanted.papers)

    def do_metric(self) -> None:
        """Choose by which metric."""
        from emotui.screens.dialogs.choices import Choice, ChoiceDialog

        if self.found is not None:
            choices = [Choice(one.name, one.title, one.help) for one in self.found.metrics]
            now = (self.wanted and self.wanted.metric) or choices[0].value
            self.app.push_screen(
                ChoiceDialog("By which metric", choices, now), lambda name: self._chosen("metric", name)
            )

    def do_run(self) -> None:
        """Choose A."""
        self._choose("A: which source", "first", self.pair.first.key if self.pair else "")

    def do_compare_with(self) -> None:
        """Choose B."""
        self._choose("B: which source", "second", self.pair.second.key if self.pair else "")

    def _choose(self, title: str, side: str, now: str) -> None:
        from emotui.screens.dialogs.choices import Choice, ChoiceDialog

        if self.found is not None:
            choices = [Choice(one.key, one.name, f"{one.told}  {one.n} texts") for one in self.found.sources]
            self.app.push_screen(ChoiceDialog(title, choices, now), lambda key: self._chosen(side, key))

    def _chosen(self, side: str, value: str | None) -> None:
        if value is not None:
            self._turn(**{side: value})
