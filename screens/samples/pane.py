"""The left pane: the list of samples with its heading, the corpus line over it, and its search line."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from msgspec.structs import replace
from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

from emotui.metrics.metric import Metric
from emotui.screens.actions import Acting
from emotui.screens.keymaps import keyed
from emotui.screens.list_state import ListState
from emotui.screens.requests import LatestRequest, NamedTimers
from emotui.screens.samples import table as asking
from emotui.screens.samples.corpus import Corpus, CorpusLine, corpus
from emotui.screens.samples.table import WORST, ListHead, Order, SampleList
from emotui.screens.session import Session
from emotui.screens.widgets.cell_width import shown, width
from emotui.screens.widgets.line import Line, Part, taken
from emotui.screens.widgets.notice import Notice
from emotui.screens.widgets.number_format import count, so_many
from emotui.screens.widgets.search_input import SearchLine
from emotui.store.query import MARKS, Dataset, ListQuery, ListRow, Run

_PATIENCE = 0.2
"""Seconds before rows that are not of the list asked for are greyed; a quick answer would only flicker."""

_GROUPED = 1000
"""From this number on digits stand in groups, between which a stroke would be misread."""

_LEAST_NAME = 6
"""Cells from which on it is told whose figures the list has."""

_NONE = -1
"""The number of no sample."""


class ListPane(Acting, Vertical):
    """Holds the order and the cursor. What is selected is told by `Selected`.

    `steps_errors`: do keys go through the errors of the run over the list? `of_any_task`: can the open place show
    datasets of other tasks than the list's?
    """

    DEFAULT_CSS = """
    ListPane > Input { height: 1; border: none; padding: 0 1; background: $entry; text-style: $entry-text-style; }
    ListPane > Input:focus { border: none; }
    ListPane > #list-legend { display: none; }
    """

    headings: ClassVar[Mapping[str, str]] = {"list": "#list-title"}
    """By the id of a widget that takes the keys: the selector of the heading over it."""

    class Selected(Message):
        """The cursor stands on another sample, or on none; `kind`: the letter of the errors it was sought for."""

        def __init__(self, sample: int | None, kind: str = "") -> None:
            super().__init__()
            self.sample, self.kind = sample, kind

    def __init__(self, session: Session, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.session = session
        self.steps_errors = True
        self.of_any_task = True
        self._arranged: tuple[Sequence[int] | None, str] | None = None
        self._due = False
        session.listed = lambda: self._order.numbers if self._order else ()
        self.state = ListState()
        self.dataset: Dataset | None = None
        self.run_shown: Run | None = None
        self._order: Order | None = None
        self._selected_then: int | None = None  # when the list was asked for
        self._errors: dict[str, list[int]] = {}
        self._error_step = (0, "")
        self._orders: LatestRequest[tuple[ListQuery, tuple[int, ...], int | None], Order] = LatestRequest(
            "order", self, lambda asked: asking.order(session.bound, *asked), self._show_order, self._no_order
        )
        self._pages: LatestRequest[tuple[Order, tuple[int, ...]], dict[int, list[ListRow]]] = LatestRequest(
            "page",
            self,
            lambda asked: asking.pages(session.bound, *asked),
            self._show_pages,
            self._no_pages,
            older=True,
        )
        self._error_places: LatestRequest[tuple[Order, str], list[int]] = LatestRequest(
            "errors", self, lambda asked: asking.errors(session.bound, *asked), self._show_errors, lambda *_: None
        )
        self._corpora: LatestRequest[Order, Corpus | None] = LatestRequest(
            "corpus", self, lambda asked: corpus(session.bound, asked), self._show_corpus, lambda *_: None
        )
        self._metrics: tuple[Metric, ...] = ()
        self._waits = NamedTimers(self)

    def compose(self) -> ComposeResult:
        yield Line(id="list-title", classes="-pane")
        yield CorpusLine(id="corpus")
        yield ListHead()
        yield SampleList(id="list")
        yield Notice("ListHead, SampleList", id="list-notice")
        yield Line(id="list-legend")

    def show_beside(self, name: str, tags: Mapping[int, str] | None, of: str = "", legend: str = "") -> None:
        """Say this beside each sample, as `SampleList.show_tags` does, and under the list what its signs mean.

        The letters of errors are away meanwhile, those over the list too: a fact has one sign at a time.
        """
        self.rows.show_tags(name, tags, of)
        self._name_at_once()
        self._corpus.give_way(tags is not None)
        line = self.query_one("#list-legend", Line)
        line.display = bool(legend)
        line.show([Part(legend, "dim")])

    @property
    def _corpus(self) -> CorpusLine:
        return self.query_one(CorpusLine)

    @property
    def metric(self) -> Metric | None:
        """The metric whose values stand in the list; None without a run."""
        return None if self.run_shown is None else self.state.shown_metric(self._metrics)

    @property
    def _awaited(self) -> bool:
        """Has no run said anything of these samples, while the first ones are made? Their columns are kept free."""
        words = self.session.overview.words
        scored = words is None or words.marks_errors or self.rows.tagged
        return self.run_shown is None and self.session.starts_first and scored

    @property
    def _column(self) -> Metric | None:
        """The metric that has a column in the list, before its values too."""
        return self.state.shown_metric(self._metrics) if self._awaited else self.metric

    @property
    def rows(self) -> SampleList:
        return self.query_one(SampleList)

    @property
    def blind(self) -> bool:
        """Is what gold and runs say of the samples left out?"""
        return self.rows.blind

    @blind.setter
    def blind(self, blind: bool) -> None:
        self.rows.blind = blind
        self._name_at_once()
        self._point()

    @property
    def n(self) -> int:
        """How many samples the list holds now."""
        return len(self._order.numbers) if self._order else 0

    @property
    def numbers(self) -> Sequence[int]:
        """The samples of the list, in its order."""
        return asking.plain(self._order.numbers) if self._order else []

    @property
    def sample(self) -> int | None:
        """The number of the selected sample."""
        return int(self._order.numbers[self.rows.cursor]) if self._order and self.n else None

    @property
    def busy(self) -> bool:
        return self.reading or self._error_places.busy or self._corpora.busy

    @property
    def reading(self) -> bool:
        """Are rows on their way?"""
        return self.rows.waiting or self.orders or self._pages.busy

    @property
    def orders(self) -> bool:
        """Is it still to be said which samples there are?"""
        return self._orders.busy

    def ask(self, state: ListState, dataset: Dataset, run: Run | None, metrics: Sequence[Metric]) -> None:
        """Show this list; what is selected stays so where it is in it, unless others are listed for a figure."""
        stays = self._order is not None and self.dataset == dataset and state.only in ((), self.state.only)
        keep = WORST if self.session.opens_at_worst() else self.sample if stays else state.sample
        self.state, self.dataset, self.run_shown, self._metrics = state, dataset, run, tuple(metrics)
        query, only = state.query(dataset.dataset, run.run if run else None, metrics), state.only
        if self._arranged is not None:
            query = replace(query, sort="file", descending=False)
            samples = self._arranged[0]
            if samples is not None:
                chosen = frozenset(only)
                only = tuple(one for one in samples if not only or one in chosen) or (_NONE,)
        if self._order is None or (self._order.query, self._order.only) != (query, only):
            self._waits.wait("patience", _PATIENCE, self._grey, again=False)
        self._selected_then = self.sample
        self._orders.ask((query, only, keep))
        self._title()

    def wait_for_order(self, *, asked: bool) -> None:
        """Keep the rows blank until the list stands in the order that the open place has it in.

        Args:
            asked: is it known which order that is, and about to be asked for? Else the place is to say it.
        """
        self._due = not asked
        self.rows.blank = True
        self._title()

    def show_rows(self) -> None:
        """It is said in which order they stand; what was asked for meanwhile is on its way."""
        self._due = False
        self.rows.blank = self.rows.blank and self.orders
        self._title()

    def hold_order(self, samples: Sequence[int] | None, why: str) -> bool:
        """Hold just these samples in this order, or all as in the file, whatever order is chosen; says whether that is
        new. To be asked for after that.
        """
        before, self._arranged = self._arranged, (samples, why)
        if before is None:
            return samples is not None or self.state.sort != "file" or self.state.descending
        return before[0] is not samples or before[1] != why

    def as_it_was(self) -> bool:
        """Be in the order that is chosen again; says whether it was another one."""
        arranged, self._arranged = self._arranged, None
        plain = self.state.sort == "file" and not self.state.descending
        return arranged is not None and (arranged[0] is not None or not plain)

    def move(self, step: int) -> None:
        """Move the cursor by so many rows."""
        self.select(self.rows.cursor + step)

    def page(self, direction: int) -> None:
        self.move(direction * max(self.rows.size.height - 1, 1))

    def select(self, position: int, kind: str = "") -> None:
        """Put the cursor on a position, the nearest there is; `kind`: the letter of the errors it is sought for."""
        if self.n:
            self.rows.move_to(position)
            self._point()
            self.post_message(self.Selected(self.sample, kind))

    def next_error(self, direction: int, kind: str = "") -> None:
        """Move to the next (1) or previous (-1) sample with an error; asks first where they are not known.

        Args:
            kind: a letter of `MARKS`: only errors of this kind, and after the last of them the first again.
        """
        if self._order is None:
            return
        if kind not in self._errors:
            self._error_step = (direction, kind)
            self._error_places.ask((self._order, kind))
            return
        here = self.rows.cursor
        places = self._errors[kind] if direction > 0 else list(reversed(self._errors[kind]))
        further = [place for place in places if (place - here) * direction > 0]
        if further:
            self.select(further[0], kind)
        elif kind and places:
            if places[0] == here:
                self.notify(f"No other sample of this list has the error {kind}, {MARKS[kind]}")
            else:
                self.notify("From the top again")
            self.select(places[0], kind)
        elif kind:
            only = ": only spans that gold gives a label are scored by it" if kind == "L" else ""
            self.notify(f"No sample of this list has the error {kind}, {MARKS[kind]}{only}")
        else:
            self.notify("No further error in this list" if direction > 0 else "No earlier error in this list")

    def _show_corpus(self, asked: Order, found: Corpus | None) -> None:
        if asked is self._order:
            self._corpus.show(found)

    @on(CorpusLine.Pressed)
    def _jump(self, event: CorpusLine.Pressed) -> None:
        event.stop()
        self.select(event.position)

    def _show_errors(self, asked: tuple[Order, str], places: list[int]) -> None:
        if asked[0] is self._order:
            self._errors[asked[1]] = places
            self.next_error(*self._error_step)

    def _grey(self) -> None:
        """The rows that are shown are not of the list that was asked for, or there are none yet."""
        if self._order is None and self.dataset is not None:
            self.show_nothing("Reading the list", f"{so_many(self.dataset.n, 'sample')} of {self.dataset.name}")
        else:
            self.rows.add_class("-stale")
        self._title()

    def _settle(self) -> None:
        """The rows are those that were asked for, or there are none."""
        self._waits.drop("patience")
        self.rows.remove_class("-stale")
        if not self._due:
            self.rows.blank = False

    def _no_order(self, _: object, why: str) -> None:
        self._settle()
        drops = keyed("{clear} drops search and filter   ") if self.state.filtered else ""
        self.show_nothing("The list cannot be read", why, drops + keyed("{dataset} chooses other samples"), failed=True)

    def _show_order(self, asked: tuple[object, object, int | None], order: Order) -> None:
        keep = self._order is not None and (self._order.query, self._order.only) == (order.query, order.only)
        # Since it was asked for, another sample may have been selected; it stays so where it is in this list too.
        chosen = self.sample if self.sample != self._selected_then else None
        self._order, self._errors = order, {}
        self._settle()
        if self.n:
            self.query_one(Notice).hide()
        elif self._arranged is not None and self._arranged[0] is not None and not self.state.filtered:
            self.show_nothing("None of these texts is yours", "they are assigned to others; Browse, 1, has them all")
        elif self.state.filtered:
            self.show_nothing("No sample fits", keyed("{clear} drops the filter   {filter} changes it"))
        else:
            self.show_nothing("This dataset is empty", self.session.filled_by)
        if keep and (self.rows.n, self.rows.metric) == (self.n, self._column):
            self.rows.outdate()
            self.rows.move_to(order.cursor)
        else:
            self.rows.labels = self.session.overview.emotions
            words = self.session.overview.words
            marks_errors = words is None or words.marks_errors
            self.rows.show_order(self.n, order.cursor, self._column, marks_errors=marks_errors, awaited=self._awaited)
        if self.n:
            self.rows.put_page(order.page, order.rows)
        self._corpus.wait(self.session.starts_first and self.n > 0 and not self.rows.tagged)
        # Rows first: the corpus reads many, and a source may answer one question after the other.
        self._corpora.ask_painted(order)
        if chosen is not None and chosen in self.numbers:
            self.seek(frozenset({chosen}), 0)
        self._point()
        self.post_message(self.Selected(self.sample))

    def _no_pages(self, _: object, why: str) -> None:
        self.rows.give_up()
        self._no_order(None, why)

    def _show_pages(self, asked: tuple[Order, tuple[int, ...]], pages: dict[int, list[ListRow]]) -> None:
        order = asked[0]
        if order is self._order:
            for page, rows in pages.items():
                self.rows.put_page(page, rows)

    @on(SampleList.Wanted)
    def _fetch(self, event: SampleList.Wanted) -> None:
        event.stop()
        if self._order is not None:
            self._pages.ask((self._order, event.pages))

    @on(SampleList.Shaped)
    def _name_columns(self, event: SampleList.Shaped) -> None:
        event.stop()
        self.query_one(ListHead).show(event.shape, event.marks, event.figure)

    def _name_at_once(self) -> None:
        """The heads are painted with the rows: by a message they would come a frame later."""
        self.query_one(ListHead).show(*self.rows.heads)

    @on(SampleList.Chosen)
    def _clicked(self, event: SampleList.Chosen) -> None:
        event.stop()
        self.select(event.position)

    def forget(self) -> None:
        """Another list is on its way; nothing of this one is to be seen or selected any more, nor what it was asked."""
        for asked in (self._orders, self._corpora, self._error_places):
            asked.drop()
        self._settle()
        self._order, self._errors, self.dataset, self.run_shown = None, {}, None, None
        self.rows.show_order(0, 0, None)
        self.query_one("#list-title", Line).show([])
        self._corpus.show(None)
        self.show_nothing("Reading the list")

    def seek(self, samples: frozenset[int], step: int) -> None:
        """Select the nearest of these samples below (1), above (-1) or anywhere (0) in the list."""
        here = self.rows.cursor
        places = [place for place, number in enumerate(self.numbers) if number in samples]
        fitting = [place for place in places if (place - here) * step > 0 or step == 0]
        if fitting:
            self.select(min(fitting, key=lambda place: abs(place - here)))
        elif step == 0:
            self.notify(keyed("The list does not hold it: {filter} changes the filter"))
        else:
            self.notify("None further down this list" if step > 0 else "None further up this list")

    def show_nothing(self, title: str, *lines: str, failed: bool = False) -> None:
        self.query_one(Notice).say(title, *lines, failed=failed)
        self._corpus.display = False

    def _title(self) -> None:
        dataset, state = self.dataset, self.state
        if dataset is None:
            return
        parted = state.filtered or (self._order is not None and self.n < dataset.n)
        how_many = f"{count(self.n)} of {count(dataset.n)}" if parted else count(dataset.n)
        if self.n and not self.rows.blank:
            at = count(self.rows.cursor + 1)
            how_many = (
                f"{at}/{how_many}" if dataset.n < _GROUPED else f"{at} of {how_many.replace(' of ', ', of all ')}"
            )
        parts = [Part(f" {dataset.name}", "strong", "do('dataset')"), Part(f"  {how_many}", "dim")]
        parts += [Part(f"  {word}", "mark", "do('filter')") for word in state.words(self._metrics)]
        order = state.order(self._metrics)
        if self._arranged is not None:
            order = self._arranged[1]
        if self.rows.has_class("-stale") or self.rows.blank:
            right = Part("reading it … ", "mark")
        else:
            right = Part(f"{order} " if order else "", "dim", "do('sort')")
        line = self.query_one("#list-title", Line)
        room = line.size.width - taken([*parts, right]) - 3
        # What is searched for is not cut for the order that it stands in.
        line.show(parts, [*self._whose(room), right] if room >= -2 or not parts[2:] else [])

    def _whose(self, cells: int) -> list[Part]:
        """Of which run the figures are, where there are several; of a long name its end, which tells more."""
        run = self.run_shown
        several = sum(one.done > 0 for one in self.session.overview.runs) > 1
        if run is None or self.blind or not several or cells < _LEAST_NAME:
            return []
        name = shown(run.model)
        name = name if width(name) <= cells else f"…{name[1 - cells :]}"
        return [Part(f"{name} ", "said", "do('run')")]

    def on_resize(self) -> None:
        self._title()

    def _point(self) -> None:
        """Say where the cursor is, in the heading and in the corpus."""
        self._title()
        self._corpus.point_at(self.sample, blind=self.blind)

    # Searching.

    def search(self) -> None:
        """Let words be typed; the list follows each letter."""
        if not self.query(SearchLine):
            self.mount(SearchLine(self.session.state.text))
        self.screen.set_focus(self.query_one(SearchLine))  # now: letters may have been pressed already

    @on(SearchLine.Changed)
    def _search(self, event: SearchLine.Changed) -> None:
        event.stop()
        self._search_for(event.value)

    @on(SearchLine.Closed)
    def _searched(self, event: SearchLine.Closed) -> None:
        event.stop()
        self._search_for(event.text)
        self.query_one(SearchLine).remove()
        self.rows.focus()

    def _search_for(self, text: str) -> None:
        if text != self.session.state.text:
            self.session.change(replace(self.session.state, text=text))

    # Keys.

    def _some(self) -> bool:
        return self.n > 0

    can_next = can_previous = can_page_down = can_page_up = can_first = can_last = _some

    def do_next(self) -> None:
        self.move(1)

    def do_previous(self) -> None:
        self.move(-1)

    def do_page_down(self) -> None:
        self.page(1)

    def do_page_up(self) -> None:
        self.page(-1)

    def do_first(self) -> None:
        self.select(0)

    def do_last(self) -> None:
        self.select(self.n - 1)

    def _steps_errors(self) -> bool:
        words = self.session.overview.words
        there = self.n > 0 and self.session.run_shown is not None
        return self.steps_errors and there and words is not None and words.marks_errors

    can_next_error = can_previous_error = can_next_H = can_next_F = can_next_N = _steps_errors
    can_next_M = can_next_X = can_next_L = _steps_errors

    def do_next_error(self) -> None:
        self.next_error(1)

    def do_previous_error(self) -> None:
        self.next_error(-1)

    def do_next_H(self) -> None:
        self.next_error(1, "H")

    def do_next_F(self) -> None:
        self.next_error(1, "F")

    def do_next_N(self) -> None:
        self.next_error(1, "N")

    def do_next_M(self) -> None:
        self.next_error(1, "M")

    def do_next_X(self) -> None:
        self.next_error(1, "X")

    def do_next_L(self) -> None:
        self.next_error(1, "L")
