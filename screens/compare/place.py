"""Compare: two sources of a dataset sample by sample, and all of them on one axis, by any metric."""

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from msgspec.structs import replace as struct_replace
from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.geometry import Size

from emotui.screens.compare import parts
from emotui.screens.compare.entry import ENTRY
from emotui.screens.compare.parts import (
    DifferenceRows,
    against_rest,
    annotated,
    axis_lines,
    name_cut,
    part_lines,
    rule_lines,
    said_lines,
    title_of,
)
from emotui.screens.compare.requests import (
    AXIS,
    DISCOVERIES,
    HOLM,
    PAIR,
    PARTS,
    RULES,
    VIEWS,
    Found,
    Text,
    Wanted,
    ask,
    read,
)
from emotui.screens.keymaps import keyed
from emotui.screens.place import NO_WORKSPACE, Place
from emotui.screens.requests import LatestRequest, any_busy
from emotui.screens.session import Session
from emotui.screens.widgets.cell_width import shown
from emotui.screens.widgets.line import Line, Part, tabs
from emotui.screens.widgets.notice import Notice
from emotui.screens.widgets.page import Lines, Page
from emotui.screens.widgets.row_list import PickedRows
from emotui.screens.widgets.tiered_text import TieredText
from emotui.store.query import Run

if TYPE_CHECKING:
    from emotui.workbench.compare.pairs import Axis, Comparing, Marks, Pair, Standing
    from emotui.workbench.slices.slicing import FoundRule, Sliced
    from emotui.workbench.source import BrowseSource

_NO_STORE = "Sources of a workspace are compared", NO_WORKSPACE


class Compare(Place):
    """Figures above, the samples by their difference below, and under them the text with what both mark."""

    entry = ENTRY
    headings = {
        "compare-rows": "#compare-title",
        "compare-axis": "#compare-title",
        "compare-parts": "#compare-title",
        "compare-rules": "#compare-title",
        "compare-text": "#compare-sample",
        "compare-said": "#compare-sample",
    }
    marks_errors = False
    DEFAULT_CSS = """
    Compare #compare-figures { height: 5; }
    Compare #compare-rows { height: 1fr; min-height: 3; }
    Compare #compare-axis { height: 1fr; min-height: 4; display: none; }
    Compare #compare-parts, Compare #compare-rules { height: 1fr; min-height: 4; display: none; }
    Compare #compare-note { height: auto; max-height: 7; color: $text-muted; display: none; }
    Compare #compare-said { height: 1fr; min-height: 1; max-height: 40%; display: none; }
    Compare.-said #compare-said { display: block; }
    Compare #compare-text { height: 1fr; min-height: 3; }
    Compare.-many #compare-figures, Compare.-many #compare-rows, Compare.-many #compare-sample { display: none; }
    Compare.-many #compare-text, Compare.-many #compare-said { display: none; }
    Compare.-many #compare-note { display: block; }
    Compare.-axis #compare-axis, Compare.-parts #compare-parts, Compare.-rules #compare-rules { display: block; }
    """

    def __init__(self, session: Session, *, id: str | None = None) -> None:
        super().__init__(session, id=id)
        self.wanted: Wanted | None = None
        self.found: Found | None = None
        self._words = ""
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
            parts: PickedRows[Sliced] = PickedRows(self._part_lines, id="compare-parts")
            yield parts
            rules: PickedRows[FoundRule] = PickedRows(self._rule_lines, id="compare-rules")
            yield rules
            yield Page(id="compare-note")
            yield Line(id="compare-sample", classes="-pane")
            yield Page(id="compare-said")
            yield TieredText(id="compare-text")
        yield Notice("#compare-body", id="compare-notice")

    def on_mount(self) -> None:
        self.say("Compare", "the workspace is being read")

    def bind_source(self, source: "BrowseSource") -> None:
        comparing, slicing = source.comparing, source.slicing
        if comparing is None or slicing is None:
            self.say(*map(keyed, _NO_STORE))
            return
        self._comparing = comparing
        self._desk = LatestRequest(
            "compare", self, lambda wanted: ask(comparing(), slicing, wanted), self._show, self._refuse
        )
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
    def parts(self) -> "PickedRows[Sliced]":
        """The parts of the dataset."""
        return self.query_one("#compare-parts", PickedRows)

    @property
    def rules(self) -> "PickedRows[FoundRule]":
        """The rules that were found."""
        return self.query_one("#compare-rules", PickedRows)

    @property
    def _first_pane(self) -> Page:
        match PAIR if self.wanted is None else self.wanted.view:
            case "all":
                return self.sources
            case "slices":
                return self.parts
            case "found":
                return self.rules
            case _:
                return self.rows

    @property
    def busy(self) -> bool:
        return any_busy(self)

    def show_sample(self, sample: int | None, run: Run | None) -> None:
        """Compare anew where the dataset or its runs have changed; put the cursor on this sample."""
        overview, beside = self.session.overview, self.session.runs_beside
        standing = overview.dataset, tuple((one.run, one.state, one.done) for one in overview.runs), run, tuple(beside)
        self._sample = sample
        if self.session.is_empty:
            self.show_nothing(self.session.filled_by)
        elif overview.dataset is not None and standing != self._standing:
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
        self._first_pane.focus()

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
        self.say("This cannot be compared", why, keyed("{run} chooses other runs"), failed=True)

    def _show(self, wanted: Wanted, found: Found) -> None:
        self.found = found
        if found.why:
            self.say(
                "Nothing to compare yet",
                found.why,
                keyed("{model} runs a model, emotui import predictions brings answers in"),
            )
            return
        self.query_one(Notice).hide()
        self.set_class(wanted.view != PAIR, "-many")
        for view, name in ((AXIS, "-axis"), (PARTS, "-parts"), (RULES, "-rules")):
            self.set_class(wanted.view == view, name)
        if found.pair is not None:
            pair = found.pair
            page = self.query_one("#compare-figures", Page)
            page.show_for(lambda room: self._as_high(page, parts.lines(pair, room.width)))
            self.rows.show_pair(pair, self._sample)
            self._ask_text()
        elif found.axis is not None:
            self.sources.show_rows(found.axis.rows, lambda row: (row.key, row.name, row.told))
            self._draw_note(found.axis)
        elif found.parts is not None:
            self.parts.show_rows(found.parts.rows, lambda row: row.conditions)
            self._note(found.parts.convention if found.parts.rows else "No facet parts these samples.")
        elif found.rules is not None:
            self.rules.show_rows(found.rules.rows, lambda row: row.conditions)
            none = f"No rule holds of enough of these {found.rules.n} samples in either half. "
            tried = f"{found.rules.conditions} conditions, {found.rules.n} samples; {found.rules.convention}"
            self._note(tried if found.rules.rows else none + tried)
        self._draw_title()
        panes = (self.sources, self.rows, self.parts, self.rules)
        if self.display and (self.screen.focused is None or self.screen.focused in panes):
            self.focus_first()
        self.refresh_bindings()

    @staticmethod
    def _as_high(page: Page, lines: list[list[Part]]) -> list[list[Part]]:
        """These lines, and the pane is as high as they are many."""
        page.styles.height = len(lines)
        return lines

    def _axis_lines(self, rows: "Sequence[Standing]", cursor: int, cells: int) -> list[list[Part]]:
        return axis_lines(None if self.found is None else self.found.axis, rows, cursor, cells)

    def _part_lines(self, rows: "Sequence[Sliced]", cursor: int, cells: int) -> list[list[Part]]:
        return part_lines(None if self.found is None else self.found.parts, rows, cursor, cells)

    def _rule_lines(self, rows: "Sequence[FoundRule]", cursor: int, cells: int) -> list[list[Part]]:
        return rule_lines(None if self.found is None else self.found.rules, rows, cursor, cells)

    def _note(self, words: str) -> None:
        """The convention of parts or rules; before it how far the picked part is from the rest."""
        self._words = words

        def lines(room: Size) -> Lines:
            width = max(room.width - 2, 20)
            picked = " ".join(part for part in (self._cut_name(room.width), self._against_rest()) if part)
            cut = [[Part(f" {line}", "plain")] for line in textwrap.wrap(picked, width)]
            return [*cut, *([Part(f" {line}", "dim")] for line in textwrap.wrap(shown(words), width))]

        self.query_one("#compare-note", Page).show_for(lines)

    def _against_rest(self) -> str:
        """How far the picked part is from the rest."""
        if self.wanted is None or self.wanted.view != PARTS or self.parts.picked is None:
            return ""
        return shown(against_rest(self.parts.picked))

    def _cut_name(self, cells: int) -> str:
        """The name of the picked part or rule, where its row has no room for all of it."""
        if self.wanted is None or self.wanted.view not in (PARTS, RULES):
            return ""
        parts = self.wanted.view == PARTS
        names = [f"{row.facet} {row.value}" for row in self.parts.rows] if parts else []
        names = names or [row.conditions for row in self.rules.rows]
        at = (self.parts if parts else self.rules).cursor
        cut = bool(names) and name_cut(names[at], max(map(len, names)), cells)
        return f"▸ {shown(names[at])}" if cut else ""

    @on(PickedRows.Picked)
    def _other_row(self, event: PickedRows.Picked) -> None:
        event.stop()
        if self.wanted is not None and self.wanted.view in (PARTS, RULES):
            self._note(self._words)

    def _draw_title(self) -> None:
        found = None
        if self.found is not None:
            found = self.found.pair or self.found.axis or self.found.parts or self.found.rules
        if found is None or self.wanted is None:
            return
        title = shown(found.metric.title)
        left = [Part(f" {title}", "strong", "do('metric')"), Part("  A − B" if self.pair else "", "dim")]
        by_part = None if self.found is None else self.found.parts or self.found.rules
        if by_part is not None:
            left.append(Part(f"  {title_of(by_part.first, by_part.second)}", "dim"))
        if self.wanted.within and by_part is None:
            left.append(Part(f"  in {shown(self.wanted.within)}", "mark", "do('within')"))
        right = [Part(keyed("{view} "), "key", "do('view')"), *tabs(VIEWS, self.wanted.view, "view"), Part(" ")]
        self.query_one("#compare-title", Line).show(left, right)

    def _draw_note(self, axis: "Axis") -> None:
        own = [row for row in axis.rows if not row.published]
        by = "Benjamini-Hochberg" if self.wanted is not None and self.wanted.correction == DISCOVERIES else "Holm"
        p = f" p: Wilcoxon against A, samples of both; {by} over {max(len(own) - 1, 0)}"
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
        both = f"   A {parts.bare(picked.first, 2)}   B {parts.bare(picked.second, 2)}"
        difference = f"   A − B {parts.signed(picked.difference)}"
        left = [
            Part(f" {shown(marks.id)}", "strong"),
            Part(both),
            Part(difference, "mark" if picked.changed else "dim"),
        ]
        self.query_one("#compare-sample", Line).show(left)
        self.set_class(bool(marks.lines), "-said")
        said = self.query_one("#compare-said", Page)
        said.show_for(lambda room: self._as_high(said, said_lines(marks, room.width)), home=True)
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
        self._turn(view=VIEWS[(VIEWS.index(self.wanted.view) + 1) % len(VIEWS)])

    def do_view_back(self) -> None:
        assert self.wanted is not None
        self._turn(view=VIEWS[VIEWS.index(self.wanted.view) - 1])

    can_view_back = can_view

    def can_alone(self) -> bool:
        return self.wanted is not None and self.wanted.view in (PARTS, RULES)

    def do_alone(self) -> None:
        assert self.wanted is not None
        self._turn(alone=not self.wanted.alone)

    def can_within(self) -> bool:
        return self.wanted is not None and self.wanted.view in (PAIR, AXIS) and bool(self.session.slices)

    def do_within(self) -> None:
        """Choose a saved slice."""
        from emotui.screens.dialogs.choices import Choice, ChoiceDialog

        choices = [Choice("", "all samples"), *(Choice(name, name) for name in self.session.slices)]
        now = self.wanted.within if self.wanted is not None else ""
        self.app.push_screen(
            ChoiceDialog("Within which slice", choices, now), lambda name: self._chosen("within", name)
        )

    def can_changed_on(self) -> bool:
        return self.pair is not None

    def do_changed_on(self) -> None:
        self._walk(1)

    def do_changed_back(self) -> None:
        self._walk(-1)

    can_changed_back = can_changed_on

    def _walk(self, step: int) -> None:
        if not self.rows.walk(step):
            self.notify("No further change that way", markup=False)

    def do_compare_open(self) -> None:
        """Browse what changed, a slice or a rule; of all sources compare the picked one with A."""
        if self.wanted is not None and self.wanted.view == AXIS:
            picked, axis = self.sources.picked, self.found.axis if self.found is not None else None
            if picked is not None and picked.key and axis is not None and picked.key != axis.first:
                self._turn(view=PAIR, first=axis.first, second=picked.key)
            return
        if self.wanted is not None and self.wanted.view in (PARTS, RULES):
            row = self.parts.picked if self.wanted.view == PARTS else self.rules.picked
            if row is not None:
                self.session.change(struct_replace(self.session.state.unfiltered(), column=row.conditions))
                self.post_message(self.Turned("Browse", "", ""))
            return
        pair = self.pair
        if pair is not None and (changed := [row.sample for row in pair.rows if row.changed]):
            why = f"where {parts.told(pair.first)} and {parts.told(pair.second)} differ"
            self.post_message(self.Listed(changed, why, None, pair.first.run))

    def can_correction(self) -> bool:
        return self.wanted is not None and self.wanted.view != PAIR

    def do_correction(self) -> None:
        """Holm, or Benjamini and Hochberg."""
        assert self.wanted is not None
        other = DISCOVERIES if self.wanted.correction == HOLM else HOLM
        self._turn(correction=other)

    def can_as_printed(self) -> bool:
        return self.wanted is not None and self.wanted.view == AXIS

    def do_as_printed(self) -> None:
        assert self.wanted is not None
        self._turn(papers=not self.wanted.papers)

    def do_metric(self) -> None:
        """Choose by which metric."""
        from emotui.screens.dialogs.choices import Choice, ChoiceDialog

        if self.found is not None:
            own = {one.name for one in self.found.metrics}
            every = [*self.found.metrics, *(one for one in self.found.figures if one.name not in own)]
            choices = [Choice(one.name, one.title, one.help) for one in every]
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
