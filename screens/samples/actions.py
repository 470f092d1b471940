"""What is chosen of the list in a dialog: filter, order, dataset; and its export to a file."""

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace
from textual.widget import Widget

from emotui.metrics.metric import Metric
from emotui.screens.actions import Acting
from emotui.screens.jobs import NOTHING_WRITTEN, WAIT
from emotui.screens.keymaps import keyed
from emotui.screens.list_state import NO_RUN, ListState
from emotui.screens.requests import LatestRequest
from emotui.screens.samples.pane import ListPane
from emotui.screens.session import Session, Step
from emotui.screens.widgets.number_format import so_many
from emotui.store.query import Dataset

if TYPE_CHECKING:
    from emotui.screens.dialogs.filter import Filtered
    from emotui.screens.dialogs.runs import Picked
    from emotui.workbench.datasets.importing import Asked
    from emotui.workbench.datasets.sources import LabelSheet, Proposed, SourceBench
    from emotui.workbench.progress import OnProgress
    from emotui.workbench.slices.near import Near
    from emotui.workbench.source import BrowseSource

# What is done with sources: which one is shown, which is made gold, which is scored again.


class SourceActions(Acting):
    """Asks in dialogs, which are imported when they are asked for; works in the session's thread."""

    def __init__(self, session: Session, owner: Widget) -> None:
        self._session, self._owner = session, owner

    @property
    def _writes(self) -> bool:
        """May anything be changed here?"""
        session = self._session
        return session.source is not None and session.source.sources is not None

    def _bench(self) -> "SourceBench":
        made = self._session.bound.sources
        assert made is not None
        return made()

    def can_run(self) -> bool:
        overview = self._session.overview
        return len(overview.runs) > 0 or (overview.dataset is not None and self._writes)

    def do_run(self) -> None:
        from emotui.screens.dialogs.choices import runs
        from emotui.screens.dialogs.runs import RunDialog

        session, overview = self._session, self._session.overview
        words, dataset = overview.words, overview.dataset
        if words is None or dataset is None:
            return
        now = session.run_shown.run if session.run_shown else NO_RUN
        beside = [run.run for run in session.runs_beside]
        choices, heads = runs(overview.runs, words.without_run)
        dialog = RunDialog(
            words.runs,
            choices,
            now,
            beside if words.compares else (),
            heads=heads,
            compares=words.compares,
            look=(lambda: self._bench().people(dataset.dataset)) if self._writes else None,
        )
        dialog.ask(self._owner.app, self._picked)

    def _picked(self, picked: "Picked") -> None:
        from emotui.screens.dialogs.runs import GOLD, RESCORE

        session = self._session
        if picked.what == GOLD:
            self._ask_gold(picked.value)
        elif picked.what == RESCORE:
            self._rescore(picked.value)
        elif picked.person:
            self._take(picked.value)
        else:
            words = session.overview.words
            beside = picked.beside if words is not None and words.compares else session.state.beside
            session.change(replace(session.state, run=picked.value, beside=beside))

    def _idle(self) -> bool:
        if self._session.job is not None:
            self._owner.notify(keyed(WAIT), markup=False)
        return self._session.job is None

    def _can_work(self) -> bool:
        return self._writes and self._session.job is None and self._session.run_shown is not None

    can_make_gold = can_rescore = _can_work

    def can_map_labels(self) -> bool:
        dataset, run = self._session.overview.dataset, self._session.run_shown
        of_spans = dataset is not None and dataset.task == "spans" and run is not None and run.task == "spans"
        return self._can_work() and of_spans

    def do_map_labels(self) -> None:
        from emotui.screens.dialogs.import_file import LabelsDialog

        dataset, run = self._session.overview.dataset, self._session.run_shown
        if dataset is None or run is None:
            return
        bench, over, number = self._bench(), threading.Event(), dataset.dataset

        def keep(chosen: "tuple[LabelSheet, Mapping[str, str]]") -> None:
            sheet, mapping = chosen

            def back(on_progress: "OnProgress") -> None:
                bench.keep_labels(sheet, sheet.kept)
                self._tell(f"labels of {sheet.source} are mapped as they were before")

            def work(on_progress: "OnProgress") -> None:
                bench.keep_labels(sheet, mapping, over.is_set)
                self._session.steps.append(Step(f"labels of {sheet.source} as they were", back))
                self._tell(
                    f"{so_many(len(mapping), 'label')} of {sheet.source} mapped: "
                    + keyed("{rescore} scores ")
                    + f"{run.run} again"
                )

            self._session.begin(f"labels of {sheet.source}", work, over.set, "Stopped; the mapping is as it was")

        dialog = LabelsDialog(lambda: bench.labels(number, run.run), bench.nearest)
        dialog.ask(self._owner.app, keep)

    def doing(self, action: str) -> Callable[[], None] | None:
        """What does an action here; undo only where what was written last is not a note."""
        steps = self._session.steps
        return None if action == "undo" and (not steps or steps[-1] is None) else super().doing(action)

    def can_undo(self) -> bool:
        return self._session.job is None

    def do_undo(self) -> None:
        """Take back what was written last: gold, a mapping of labels, an import."""
        step = self._session.steps.pop()
        if step is not None:
            self._session.begin(step.words, step.take_back, step.halt)

    def do_make_gold(self) -> None:
        run = self._session.run_shown
        if run is not None:
            self._ask_gold(run.run)

    def do_rescore(self) -> None:
        run = self._session.run_shown
        if run is not None:
            self._rescore(run.run)

    def _ask_gold(self, name: str) -> None:
        from emotui.screens.dialogs.runs import GoldDialog

        dataset = self._session.overview.dataset
        if dataset is None or not self._idle():
            return
        bench, number = self._bench(), dataset.dataset
        dialog = GoldDialog(name, lambda: bench.proposed(number, name))
        dialog.ask(self._owner.app, lambda chosen: self._make_gold(name, *chosen))

    def _make_gold(self, name: str, proposal: "Proposed", again: bool) -> None:
        bench, over, ended = self._bench(), threading.Event(), threading.Event()

        def back(on_progress: "OnProgress") -> None:
            made = bench.take_gold_back(proposal, again=again, on_progress=on_progress, cancelled=ended.is_set)
            self._tell(f"{made.name}: gold is version {made.gold}, what version {proposal.dataset.gold} said")

        def work(on_progress: "OnProgress") -> None:
            made = bench.make_gold(proposal, name, again=again, on_progress=on_progress, cancelled=over.is_set)
            self._session.steps.append(Step(f"gold of {made.name} as it was", back, ended.set))
            self._tell(f"{made.name}: gold is version {made.gold}, from {proposal.told}; " + keyed("{undo} undoes"))

        self._session.begin(f"{name} as gold", work, over.set)

    def _rescore(self, run: str) -> None:
        if not self._idle():
            return
        bench, over = self._bench(), threading.Event()

        def work(on_progress: "OnProgress") -> None:
            bench.rescore(run, on_progress, over.is_set)
            self._tell(f"{run} is scored again")

        self._session.begin(f"scoring of {run}", work, over.set)

    def _take(self, name: str) -> None:
        dataset = self._session.overview.dataset
        if dataset is None or not self._idle():
            return
        bench, over, number = self._bench(), threading.Event(), dataset.dataset

        def work(on_progress: "OnProgress") -> None:
            run = bench.take(number, name, on_progress, over.is_set)
            self._owner.app.call_from_thread(self._show, run.run)

        self._session.begin(f"scoring of {name}", work, over.set)

    def _show(self, run: str) -> None:
        self._session.change(replace(self._session.state, run=run))

    def _tell(self, words: str) -> None:
        self._owner.app.call_from_thread(self._owner.notify, words, markup=False)


TEN = 10
"""Texts like one that are listed beside it."""


class ListActions(Acting):
    """Changes the session's list; dialogs are imported when they are asked for."""

    def __init__(self, session: Session, pane: ListPane) -> None:
        self._session, self._pane = session, pane
        self._near: LatestRequest[tuple[int, int], list[Near]] = LatestRequest(
            "near texts", pane, self._find_near, self._show_near
        )
        self._saved: LatestRequest[tuple[int, str, str, str | None], bool] = LatestRequest(
            "save slice", pane, self._save_slice, self._tell_saved, each=True
        )

    @property
    def _metrics(self) -> tuple[Metric, ...]:
        """What a run scores each sample by; none where no run is over the list."""
        return () if self._session.run_shown is None else self._session.metrics

    def _can_choose(self) -> bool:
        return self._session.overview.dataset is not None

    can_filter = can_sort = _can_choose

    def do_filter(self) -> None:
        from emotui.screens.dialogs.filter import FIELD, FilterDialog

        session = self._session
        slicing, dataset = session.bound.slicing, session.overview.dataset
        field = session.field(FIELD, dataset=None if dataset is None else dataset.dataset)

        def changed(filtered: "Filtered") -> None:
            session.change(filtered.state)
            session.drafts.kept(field, filtered.state.column)
            if filtered.name and slicing is not None and dataset is not None:
                line = filtered.state.as_conditions(self._metrics)
                wish = dataset.dataset, filtered.name, line, None if run is None else run.run
                self._saved.ask(wish)

        saved = None if slicing is None else session.slices
        words = session.overview.words
        marked = words is not None and words.marks_errors
        valenced = dataset is None or dataset.task == "spans"
        run = session.run_shown
        counts = left = None
        if dataset is not None:
            of_run = None if run is None else run.run
            counts = partial(session.bound.filter_counts, dataset.dataset, of_run)
            left = partial(_left, session.bound, dataset.dataset, of_run, self._metrics)
        dialog = FilterDialog(
            session.state,
            session.overview.emotions,
            self._metrics,
            saved,
            counts,
            left=left,
            marked=marked,
            valenced=valenced,
            drafts=session.drafts,
            field=field,
        )
        dialog.ask(self._pane.app, changed)

    def can_like(self) -> bool:
        source = self._session.source
        return source is not None and source.near is not None and self._pane.sample is not None

    def do_like(self) -> None:
        """List the ten texts that are nearest to the one that is selected, it first."""
        dataset, sample = self._session.overview.dataset, self._pane.sample
        if dataset is not None and sample is not None:
            self._pane.notify("Looking for texts like this one", markup=False)
            self._near.ask((dataset.dataset, sample))

    def _find_near(self, asked: tuple[int, int]) -> "list[Near]":
        near = self._session.bound.near
        assert near is not None
        return near(*asked, TEN)

    def _show_near(self, asked: tuple[int, int], found: "list[Near]") -> None:
        dataset = self._session.overview.dataset
        if dataset is not None and dataset.dataset == asked[0]:
            samples = asked[1], *(one.sample for one in found)
            self._session.change(self._session.state.just(samples, f"{len(found)} like this", in_order=True))
            told = keyed(f"{len(found)} like this are in the list: {{next}} walks them, {{clear}} shows all again")
            self._pane.notify(told, markup=False)

    def _save_slice(self, wish: tuple[int, str, str, str | None]) -> bool:
        slicing = self._session.bound.slicing
        assert slicing is not None
        return slicing().save(*wish)

    def _tell_saved(self, wish: tuple[int, str, str, str | None], _: bool) -> None:
        self._pane.notify(f"{wish[1]} is a slice now: " + keyed("{filter} and Results offer it"), markup=False)
        self._session.follow()

    def do_sort(self) -> None:
        from emotui.screens.dialogs.choices import OrderDialog, sorts

        state = self._session.state

        def changed(sort: str | None) -> None:
            if sort is not None:
                self._session.change(self._session.state.ordered(sort, descending=dialog.descending))

        dialog = OrderDialog("Order of the list", sorts(self._metrics), state.sort, descending=state.descending)
        self._pane.app.push_screen(dialog, changed)

    def can_metric(self) -> bool:
        return len(self._metrics) > 1

    def do_metric(self) -> None:
        from emotui.screens.dialogs.choices import ChoiceDialog, figures

        def changed(metric: str | None) -> None:
            if metric is not None:
                self._session.change(replace(self._session.state, metric=metric))

        choices = figures(self._metrics)
        self._pane.app.push_screen(ChoiceDialog("Figure in the list", choices, self._session.state.metric), changed)

    def can_clear(self) -> bool:
        return self._session.state.filtered

    def do_clear(self) -> None:
        self._session.change(self._session.state.unfiltered())

    @property
    def _datasets(self) -> tuple[Dataset, ...]:
        """Those that the open place can show."""
        overview = self._session.overview
        return overview.every if self._pane.of_any_task else overview.datasets

    def can_dataset(self) -> bool:
        return len(self._datasets) > 1

    def do_dataset(self) -> None:
        from emotui.screens.dialogs.choices import ChoiceDialog, datasets, same_source

        def changed(name: str | None) -> None:
            chosen = next((one for one in found if one.name == name), None)
            if chosen is not None and self._session.show_dataset(chosen):
                self._pane.forget()

        overview = self._session.overview
        here = overview.dataset.name if overview.dataset else ""
        found = self._datasets
        source = same_source(found)
        about = f"all from: {source}" if source else ""
        self._pane.app.push_screen(ChoiceDialog("Dataset", datasets(found), here, about=about), changed)

    def can_import(self) -> bool:
        session, source = self._session, self._session.source
        free = session.job is None or (session.starts_first and not session.gives_way)
        return free and source is not None and source.importing is not None

    def do_import(self) -> None:
        self.import_file()

    def import_file(self, path: str = "") -> None:
        """Bring a file in, and show it; one that is named is looked at at once."""
        from emotui.screens.dialogs.import_file import LONG, ImportDialog

        session = self._session
        fields = {name: session.field(f"{name} of a file") for name in LONG}
        importing = session.bound.importing
        if importing is None:
            return
        importer = importing()

        def chosen(asked: "Asked") -> None:
            over = threading.Event()

            def bring_in(on_progress: "OnProgress") -> None:
                from emotui.workbench.progress import Throttled, unless

                tell, before = Throttled(f"import of {asked.path}", on_progress), session.bound.datasets()
                dataset = importer.bring_in(asked, unless(over.is_set, tell))
                if dataset.dataset not in {one.dataset for one in before}:
                    session.steps.append(Step(f"{dataset.name} into the trash", partial(back, dataset.name)))
                self._pane.app.call_from_thread(show, dataset.name)

            def back(name: str, on_progress: "OnProgress") -> None:
                importer.take_back(name)
                self._pane.app.call_from_thread(
                    self._pane.notify, f"{name} is in the trash: emotui restore {name} brings it back", markup=False
                )

            session.begin_before(f"import of {asked.path}", bring_in, over.set, "Stopped; nothing was imported")

        def show(name: str) -> None:
            for field in fields.values():
                session.drafts.drop(field)
            session.change(replace(session.state.unfiltered(), dataset=name, run=None, sample=None))

        ImportDialog(importer, session.drafts, fields, path).ask(self._pane.app, chosen)

    def can_export(self) -> bool:
        return self._pane.n > 0 and self._session.job is None

    def do_export(self) -> None:
        from emotui.screens.dialogs.file import ExportDialog, write_list

        session, pane = self._session, self._pane

        def chosen(path: str | None) -> None:
            shown = session.overview.dataset
            if path is not None and shown is not None:
                over = threading.Event()
                runs = [run.run for run in (session.run_shown, *session.runs_beside) if run is not None]
                do = partial(write_list, session.bound, shown.dataset, pane.numbers, runs, path, over.is_set)
                session.begin(f"export to {path}", do, over.set, NOTHING_WRITTEN, loses=True)

        with_all = session.bound.write_rows is not None
        pane.app.push_screen(ExportDialog(pane.n, session.run_shown, with_all=with_all), chosen)


def _left(source: "BrowseSource", dataset: int, run: str | None, metrics: Sequence[Metric], state: ListState) -> int:
    """How many samples a filter leaves in the list. This asks the source: not for the screen's own thread."""
    found = source.order(state.query(dataset, run, metrics))
    return len(frozenset(state.only).intersection(map(int, found))) if state.only else len(found)
