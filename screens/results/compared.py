"""Two sources sample by sample, the parts of a dataset and rules that were found, by any metric; ● against ◇."""

import re
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace as struct_replace
from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.geometry import Size

from emotui.screens.keymaps import keyed
from emotui.screens.place import Place
from emotui.screens.requests import LatestRequest
from emotui.screens.results import parts
from emotui.screens.results.asking import (
    DISCOVERIES,
    HOLM,
    CounterTest,
    Found,
    Text,
    Wanted,
    Won,
    ask,
    counter_test,
    read,
    where_won,
)
from emotui.screens.results.cells import BOTH, bare, told
from emotui.screens.results.parts import against_rest, name_cut, part_lines, rule_lines, title_of
from emotui.screens.results.state import ALL, PAIR, RULES, Looked
from emotui.screens.results.two import DifferenceRows, annotated, pair_lines, said_lines, told_difference
from emotui.screens.session import Session
from emotui.screens.widgets import drawing as axis
from emotui.screens.widgets.cell_width import shown, wrap
from emotui.screens.widgets.line import Line, Part
from emotui.screens.widgets.number_format import count, so_many
from emotui.screens.widgets.page import Lines, Page
from emotui.screens.widgets.row_list import PickedRows
from emotui.screens.widgets.tiered_text import TieredText
from emotui.store.query import Run
from emotui.tables import FEW

if TYPE_CHECKING:
    from emotui.workbench.compare.pairs import Comparing, Marks, Pair, Standing
    from emotui.workbench.slices.slicing import FoundRule, Sliced
    from emotui.workbench.source import BrowseSource


_TOLD_FROM = 100
"""Cells from which on the heading has room for the names of two sources."""
_TALL = 26
"""Lines from which on all that has to be known of rows stands under them."""


_BARE = ", intervals not"
"""Behind how p is corrected."""
_SHORT = 2
"""Lines of a method that are told unasked."""


def in_short(names: str, words: str) -> str:
    """Whose figures they are, how intervals come about, how p is corrected, what makes them doubtful; and the key that
    tells the rest.
    """
    first, *others = words.split("; ")
    corrected = re.search(r"by (Holm|Benjamini and Hochberg)", words)
    ends = _BARE * ("intervals are not corrected" in words)
    said = [first, *([f"p corrected {corrected[0]}{ends}"] if corrected and corrected[0] not in first else [])]
    said += [one for one in others if "gold may rest" in one]
    return f"{names}{'; '.join([*said, keyed('{method} tells all')])}"


class ComparedView(Vertical):
    """Figures above, the samples by their difference below, and under them the text with what both mark."""

    DEFAULT_CSS = """
    ComparedView { display: none; }
    ComparedView #compare-figures { height: 5; }
    ComparedView #compare-rows { height: 1fr; min-height: 3; }
    ComparedView #compare-parts, ComparedView #compare-rules { height: 1fr; min-height: 4; display: none; }
    ComparedView #compare-note { height: auto; max-height: 7; color: $text-muted; display: none; }
    ComparedView #compare-said { height: 1fr; min-height: 1; max-height: 40%; display: none; }
    ComparedView.-plain #compare-said { max-height: 50%; }
    ComparedView #compare-head { display: none; }
    ComparedView.-said #compare-said, ComparedView.-said #compare-head { display: block; }
    ComparedView.-plain #compare-head, ComparedView.-plain #compare-text { display: none; }
    ComparedView #compare-text { height: 1fr; min-height: 3; }
    ComparedView.-many #compare-figures, ComparedView.-many #compare-rows { display: none; }
    ComparedView.-many #compare-sample, ComparedView.-many #compare-text { display: none; }
    ComparedView.-many #compare-said, ComparedView.-many #compare-head { display: none; }
    ComparedView.-many #compare-note { display: block; }
    ComparedView.-low #compare-note { max-height: 3; }
    ComparedView.-parts #compare-parts, ComparedView.-rules #compare-rules { display: block; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.found: Found | None = None
        self.in_full = False
        """Is all told of how figures were counted, and not a line?"""
        self._words = self._names = ""

    def compose(self) -> ComposeResult:
        yield Page(id="compare-figures")
        yield DifferenceRows(id="compare-rows")
        parts: PickedRows[Sliced] = PickedRows(self._part_lines, airy=True, id="compare-parts")
        yield parts
        rules: PickedRows[FoundRule] = PickedRows(self._rule_lines, airy=True, id="compare-rules")
        yield rules
        yield Page(id="compare-note")
        yield Line(id="compare-sample", classes="-pane")
        yield Page(id="compare-said")
        yield Line(id="compare-head")
        yield TieredText(id="compare-text")

    def on_resize(self) -> None:
        """Where there are few lines, the rows get them: what has to be known of them is scrolled."""
        self.set_class(self.size.height < _TALL, "-low")

    @property
    def rows(self) -> DifferenceRows:
        """The samples of two sources."""
        return self.query_one(DifferenceRows)

    @property
    def parts(self) -> "PickedRows[Sliced]":
        """The parts of the dataset."""
        return self.query_one("#compare-parts", PickedRows)

    @property
    def rules(self) -> "PickedRows[FoundRule]":
        """The rules that were found."""
        return self.query_one("#compare-rules", PickedRows)

    @property
    def main(self) -> "DifferenceRows | PickedRows[Any]":
        """The pane with a cursor that is to be seen."""
        if self.found is None or self.found.pair is not None:
            return self.rows
        return self.parts if self.found.parts is not None else self.rules

    def show(self, found: Found, sample: int | None) -> None:
        """Show what came back, of two sources with the cursor on this sample."""
        self.found = found
        self.set_class(found.pair is None, "-many")
        self.set_class(found.parts is not None, "-parts")
        self.set_class(found.rules is not None, "-rules")
        if found.pair is not None:
            pair = found.pair
            page = self.query_one("#compare-figures", Page)
            page.show_for(lambda room: self._as_high(page, pair_lines(pair, room.width, found.picked_as)))
            self.rows.show_pair(pair, sample)
        elif found.parts is not None:
            self.parts.show_rows(parts.in_order(found.parts.rows), lambda row: row.conditions)
            two = found.parts.second is not None
            who = f", {found.picked_as}" if found.picked_as else ""
            names = (
                f"{title_of(found.parts.first, found.parts.second, dots=True)}{who}  {axis.TOGETHER} both. "
                if two
                else ""
            )
            self._note(found.parts.convention, names=names)
        elif found.rules is not None:
            self.rules.show_rows(found.rules.rows, lambda row: row.conditions)
            sure = any(row.rule.adjusted is not None and row.rule.adjusted < parts.SURE for row in found.rules.rows)
            none = "" if sure or not found.rules.rows else "None of these rules holds on the half that tests it. "
            over = f"{so_many(found.rules.conditions, 'condition')}, {so_many(found.rules.n, 'sample')}"
            who = f"{title_of(found.rules.first, found.rules.second)}: the latter is {found.picked_as}. "
            self._note(f"{none}{over}; {found.rules.convention}", names=who if self._picked_as else "")

    @property
    def _picked_as(self) -> str:
        """Why the second source is compared, where nobody chose it."""
        return "" if self.found is None else self.found.picked_as

    def show_text(self, marks: "Marks") -> None:
        """Show the text of the sample under the cursor, with what both say of it."""
        picked = self.rows.picked
        if picked is None:
            return
        n = self.rows.decimals
        both = f"   {axis.OWN} {bare(picked.first, n)}   {axis.OTHER} {bare(picked.second, n)}"
        difference, worse = told_difference(picked, self.rows.pair, n)
        left = [
            Part(f" {shown(marks.id)}", "strong"),
            Part(both),
            Part(f"   {difference}", "mark" if worse else "plain" if picked.changed else "dim"),
        ]
        self.query_one("#compare-sample", Line).show(left)
        self.set_class(bool(marks.lines), "-said")
        # A text in which nobody marks anything is told behind what is said of it, as one that is scrolled.
        plain = bool(marks.lines) and not (marks.gold or marks.first or marks.second)
        self.set_class(plain, "-plain")
        said = self.query_one("#compare-said", Page)

        def drawn(room: Size) -> Lines:
            return self._as_high(said, said_lines(marks, room.width, told=plain))

        said.show_for(drawn, home=True)
        # Under what is said of it the text has a head of its own, and no more lines than it needs.
        self.query_one("#compare-head", Line).show([Part(" text:", "dim")])
        text = self.query_one(TieredText)
        lines = len(wrap(marks.text, max(min(self.size.width - 2, 90), 20)))
        text.styles.height = min(lines, max(self.size.height // 5, 3)) if marks.lines else "1fr"
        text.show(annotated(marks))

    @staticmethod
    def _as_high(page: Page, lines: list[list[Part]]) -> list[list[Part]]:
        """These lines, and the pane is as high as they are many."""
        page.styles.height = len(lines)
        return lines

    def _part_lines(self, rows: "Sequence[Sliced]", cursor: int, cells: int) -> list[list[Part]]:
        return part_lines(None if self.found is None else self.found.parts, rows, cursor, cells)

    def _rule_lines(self, rows: "Sequence[FoundRule]", cursor: int, cells: int) -> list[list[Part]]:
        return rule_lines(None if self.found is None else self.found.rules, rows, cursor, cells, airy=self.rules.airy)

    def _note(self, words: str, *, names: str = "") -> None:
        """The convention of parts or rules; before it how far the picked part is from the rest.

        Args:
            names: whose the two signs are, told here where the heading is too short for it, or nobody chose the
                second.
        """
        self._words, self._names = words, names

        def lines(room: Size) -> Lines:
            width = max(room.width - 2, 20)
            picked = " ".join(part for part in (self._cut_name(room.width), self._against_rest()) if part)
            # A statement that has room for itself in a line is not broken.
            lines = [picked] if len(picked) <= width else re.split("(?<=;) ", picked)
            cut = [[Part(f" {one}", "plain")] for line in lines for one in textwrap.wrap(line, width)]
            told = (names if room.width < _TOLD_FROM or self._picked_as else "") + shown(words)
            if len(textwrap.wrap(told, width)) > _SHORT:
                told = (
                    f"{told}; {keyed('{method} tells it in a line')}" if self.in_full else in_short(names, shown(words))
                )
            return [*cut, *([Part(f" {line}", "dim")] for line in textwrap.wrap(told, width))]

        self.query_one("#compare-note", Page).show_for(lines)

    def _against_rest(self) -> str:
        """How far the picked part is from the rest."""
        if self.found is None or self.found.parts is None or self.parts.picked is None:
            return ""
        return shown(against_rest(self.parts.picked, self.found.parts.rows))

    def _cut_name(self, cells: int) -> str:
        """The name of the picked rule, where its row has no room for all of it."""
        if self.found is None or self.found.rules is None or self.rules.airy:
            return ""
        rows, at = self.rules.rows, self.rules.cursor
        names = [row.conditions for row in rows]
        sure = [
            None if rule.low is None or rule.high is None else (rule.low, rule.high)
            for rule in (row.rule for row in rows)
        ]
        cut = bool(names) and name_cut(at, names, sure, cells)
        return f"▸ {shown(names[at])}" if cut else ""

    @on(PickedRows.Picked)
    def _other_row(self, event: PickedRows.Picked) -> None:
        event.stop()
        if self.found is not None and self.found.pair is None:
            self._note(self._words, names=self._names)


class ComparedPlace(Place):
    """Asks for what compares sources, and does what keys do about it. What is chosen holds in every view."""

    def __init__(self, session: Session, *, id: str | None = None) -> None:
        super().__init__(session, id=id)
        self.looked = Looked()
        self.wanted: Wanted | None = None
        self._compared: dict[str, Found] = {}
        self._comparing: Callable[[], Comparing] | None = None
        self._pairs: LatestRequest[Wanted, Found] | None = None
        self._texts: LatestRequest[Text, Marks] | None = None
        self._won: LatestRequest[Won, list[Sliced]] | None = None
        self._counter_tests: LatestRequest[tuple[int, str, str | None], CounterTest] | None = None
        self._sources: object = None
        self._sample: int | None = None

    @property
    def compared(self) -> ComparedView:
        """Where comparisons are drawn."""
        return self.query_one(ComparedView)

    @property
    def found(self) -> Found | None:
        """What came back of what is looked at."""
        return self._compared.get(self.looked.view) if self.looked.of_sources else None

    @property
    def pair(self) -> "Pair | None":
        """The two that are shown."""
        return None if self.found is None else self.found.pair

    def bind_comparing(self, source: "BrowseSource") -> None:
        """Ask this source for comparisons from now on."""
        comparing, slicing = source.comparing, source.slicing
        if comparing is None or slicing is None:
            return
        self._comparing = comparing
        self._pairs = LatestRequest(
            "compare", self, lambda wanted: ask(comparing(), slicing, wanted), self._take, self._not_compared
        )
        self._won = LatestRequest(
            "where won", self, lambda asked: where_won(slicing(), asked), self._tell_won, lambda *_: None
        )
        self._counter_tests = LatestRequest(
            "counter-test", self, lambda asked: counter_test(slicing(), *asked), self._open_counter_test, each=True
        )
        self._texts = LatestRequest("compare text", self, lambda text: read(comparing(), text), self._show_text)

    def follow_sources(self, sample: int | None, run: Run | None) -> None:
        """Compare anew where the dataset or its runs have changed; put the cursor on this sample."""
        overview, beside = self.session.overview, self.session.runs_beside
        standing = overview.dataset, tuple((one.run, one.state, one.done) for one in overview.runs), run, tuple(beside)
        self._sample = sample
        if overview.dataset is not None and standing != self._sources:
            kept, number, shown_run = self.wanted, overview.dataset.dataset, run.run if run else ""
            task = None if run is None or run.task == overview.dataset.task else run.task
            self._sources = standing
            if self.looked.lonely:
                self.looked.hold(None)  # there may be more than one source by now
            if kept is None or kept.dataset != number:
                kept = Wanted(number, PAIR)
                self._compared.clear()
                self.looked.hold(None)
            elif kept.task != task:
                kept = Wanted(number, kept.view, within=kept.within)
                self._compared.clear()
                self.looked.hold(None)
            elif kept.shown != shown_run:
                kept = replace(kept, first="")  # the run over the list was chosen last
            self.wanted = replace(
                kept, shown=shown_run, beside=tuple(one.run for one in beside), task=task, awaits=self._awaited
            )
            self.compare()
        elif sample is not None and self._stands_elsewhere(sample) and self.compared.rows.put_on(sample):
            self.ask_text()

    @property
    def _awaited(self) -> str:
        """The model of the run that is being made, as long as no run has answered enough texts to be compared."""
        runs = self.session.overview.runs
        if any(one.done >= FEW for one in runs):
            return ""
        return next((one.model for one in runs if one.state == "running"), "")

    def _stands_elsewhere(self, sample: int) -> bool:
        picked = self.compared.rows.picked
        return picked is not None and picked.sample != sample

    def compare(self) -> None:
        """Ask for what is looked at, where it compares sources."""
        if self._pairs is not None and self.wanted is not None and self.display and self.looked.of_sources:
            # Means are there at once; intervals and tests of all sources follow.
            quick = self.looked.on_axis and ALL not in self._compared
            further = self.room_for_figures() if self.looked.on_axis and not quick else 0
            self._pairs.ask(replace(self.wanted, view=self.looked.view, quick=quick, further=further))

    def room_for_figures(self) -> int:
        """By how many more metrics the sources on the axis have room to stand below it."""
        raise NotImplementedError

    def _take(self, wanted: Wanted, found: Found) -> None:
        self._compared[wanted.view] = found
        if wanted.view == ALL:
            by_first = found.axis is not None and found.axis.metric.name == found.metrics[0].name
            self.looked.hold(found.axis, found.further, first=by_first)
        if wanted.quick:
            self.compare()
        if wanted.view == self.looked.view:
            self.draw()

    def _not_compared(self, wanted: Wanted, why: str) -> None:
        raise NotImplementedError

    def draw(self) -> None:
        """Show what is at hand, or why there is nothing."""
        raise NotImplementedError

    # The text.

    @on(DifferenceRows.Picked)
    def _picked(self, event: DifferenceRows.Picked) -> None:
        event.stop()
        self.ask_text()
        if (picked := self.compared.rows.picked) is not None:
            self.post_message(self.Sought(frozenset({picked.sample}), 0))

    def ask_text(self) -> None:
        """Ask for the text of the sample under the cursor, of two sources."""
        pair, picked = self.pair, self.compared.rows.picked
        if pair is None or picked is None or self.wanted is None or self._texts is None:
            return
        task = None if self.found is None else self.found.task
        self._texts.ask(Text(self.wanted.dataset, picked.sample, pair.first.key, pair.second.key, task))

    def _show_text(self, text: Text, marks: "Marks") -> None:
        picked = self.compared.rows.picked
        if picked is not None and picked.sample == text.sample:
            self.compared.show_text(marks)

    # Where a source on the axis wins.

    def ask_where_won(self, source: "Standing | None") -> None:
        """Ask in which parts the source under the cursor is farthest above the one that all stand against."""
        axis = None if self.found is None else self.found.axis
        if self._won is None or self.wanted is None or axis is None:
            return
        if source is not None and source.off is not None and not self.wanted.within:
            task = None if self.found is None else self.found.task
            self._won.ask(Won(self.wanted.dataset, source.key, axis.first, axis.metric.name, task))

    def _tell_won(self, asked: Won, parts: "list[Sliced]") -> None:
        raise NotImplementedError

    # How it is headed.

    def compared_heading(self) -> list[Part]:
        """By which metric what is compared, and within which slice."""
        found, wanted = self.found, self.wanted
        held = None if found is None else found.pair or found.axis or found.parts or found.rules
        if found is None or held is None or wanted is None:
            return []
        left = [
            *([Part(f" {found.task}", "dim")] if found.task else []),
            Part(f" {shown(held.metric.title)}", "strong", "do('metric')"),
            Part(f"  {BOTH}" * bool(found.pair), "dim"),
        ]
        by_part = found.parts or found.rules
        if found.instead:
            left.append(Part(f" ({shown(found.instead)} is no figure of single texts)", "mark"))
        if by_part is not None:
            left.append(Part(f"  {title_of(by_part.first, by_part.second, dots=bool(found.parts))}", "dim"))
            left += [Part(f"  {axis.TOGETHER} both", "dim")] if found.parts and by_part.second else []
        elif wanted.within:
            left.append(Part(f"  in {shown(wanted.within)}", "mark", "do('within')"))
        if found.axis is not None:
            n = max((row.n for row in found.axis.rows), default=0)
            left.append(Part(f"   {count(n)} text{'s' * (n != 1)}", "dim"))
        return left

    # Keys.

    def _turn(self, **changed: str | bool) -> None:
        if self.wanted is not None:
            self.wanted = replace(self.wanted, **changed)  # type: ignore[arg-type]
            self.compare()

    def can_alone(self) -> bool:
        return self.looked.in_parts or self.looked.view == RULES

    def do_alone(self) -> None:
        assert self.wanted is not None
        self._turn(alone=not self.wanted.alone)

    def can_within(self) -> bool:
        return (self.looked.on_axis or self.looked.view == PAIR) and bool(self.session.slices)

    def do_within(self) -> None:
        """Choose a saved slice."""
        from emotui.screens.dialogs.choices import Choice, ChoiceDialog

        choices = [Choice("", "all samples"), *(Choice(name, name) for name in self.session.slices)]
        now = self.wanted.within if self.wanted is not None else ""
        self.app.push_screen(
            ChoiceDialog("Within which slice", choices, now), lambda name: self._chosen("within", name)
        )

    def can_correction(self) -> bool:
        return self.looked.of_sources and self.looked.view != PAIR

    def do_correction(self) -> None:
        """Holm, or Benjamini and Hochberg."""
        assert self.wanted is not None
        other = DISCOVERIES if self.wanted.correction == HOLM else HOLM
        self._turn(correction=other)

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

    def turn_metric(self, step: int) -> None:
        """By the next metric of samples, or the one before (-1)."""
        axis = None if self.found is None else self.found.axis
        if self.found is not None and axis is not None:
            names = [one.name for one in self.found.metrics]
            self._chosen("metric", names[(names.index(axis.metric.name) + step) % len(names)])

    def open_rows(self) -> None:
        """Browse a part, a rule, or the samples in which two differ."""
        view, pair = self.compared, self.pair
        if pair is None:
            row = view.parts.picked if self.looked.in_parts else view.rules.picked
            if row is not None:
                self.session.change(struct_replace(self.session.state.unfiltered(), column=row.conditions))
                self.post_message(self.Turned("Browse", "", ""))
        elif changed := [row.sample for row in pair.rows if row.changed]:
            both, here = f"{told(pair.first)} and {told(pair.second)}", view.rows.picked
            at = None if here is None or not here.changed else here.sample
            every = self.session.overview.dataset
            if every is not None and len(changed) == every.n:
                # A list of all samples is no choice of them, and says so in no heading.
                self.session.change(struct_replace(self.session.state.unfiltered(), run=pair.first.run))
                self.post_message(self.Sought(frozenset({changed[0] if at is None else at}), 0))
                self.post_message(self.Turned("Browse", "", ""))
                self.notify(f"{both} differ in each of the {so_many(every.n, 'sample')}", markup=False)
            else:
                self.post_message(self.Listed(changed, f"where {both} differ", None, pair.first.run, at=at))

    def _picked_part(self) -> "Sliced | FoundRule | None":
        """The group or rule under the cursor."""
        parts = self.looked.in_parts
        if not parts and self.looked.view != RULES:
            return None
        return self.compared.parts.picked if parts else self.compared.rules.picked

    def can_counter_test(self) -> bool:
        return self._counter_tests is not None and self._picked_part() is not None

    def do_counter_test(self) -> None:
        """Keep the texts of the group or rule as a dataset that is written anew."""
        row, wanted, found = self._picked_part(), self.wanted, self.found
        held = None if found is None else found.parts or found.rules
        if row is not None and held is not None and wanted is not None and self._counter_tests is not None:
            self._counter_tests.ask((wanted.dataset, row.conditions, held.first.run))

    def _open_counter_test(self, _: object, kept: CounterTest) -> None:
        left = (
            f"; {so_many(kept.left_out, 'text')} without one gold label {'are' if kept.left_out > 1 else 'is'} left out"
            if kept.left_out
            else ""
        )
        self.notify(f"Take what may mislead out of each text{left}", title=kept.name, markup=False)
        self.post_message(self.Opened(kept.name, kept.task))

    def walk(self, step: int) -> None:
        """To the next sample in which the two differ."""
        if not self.compared.rows.walk(step):
            self.notify("No further change that way", markup=False)

    def do_run(self) -> None:
        """Choose the first source."""
        self._choose(f"{axis.OWN} Which source", "first", self._key_of("first"))

    def do_compare_with(self) -> None:
        """Choose the one that it is compared with, or that all sources on the axis are."""
        held = None if self.found is None else self.found.axis
        if self.looked.on_axis and held is not None:
            self._choose("All against which source", "first", held.first)
        else:
            self._choose(f"{axis.OTHER} With which source", "second", self._key_of("second"))

    def _choose(self, title: str, side: str, now: str) -> None:
        from emotui.screens.dialogs.choices import Choice, ChoiceDialog

        if self.found is not None:
            choices = [Choice(one.key, one.name, f"{one.told}  {so_many(one.n, 'text')}") for one in self.found.sources]
            self.app.push_screen(ChoiceDialog(title, choices, now), lambda key: self._chosen(side, key))

    def _chosen(self, side: str, value: str | None) -> None:
        if value is not None:
            self._turn(**{side: value})
            if side == "metric" and self.found is not None:
                # The sources of a table stand by the same figure, where it has one of this name.
                self.looked.figure = next((one.title for one in self.found.metrics if one.name == value), "")

    def _key_of(self, side: str) -> str:
        """The key of either source, as far as it is known."""
        found = self.found
        held = None if found is None else found.pair or found.parts or found.rules
        source = getattr(held, side, None)
        return source.key if source is not None else ""
