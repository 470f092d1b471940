"""What is chosen of the list in a dialog: filter, order, dataset; and its export to a file."""

import threading
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from emotui.metrics.metric import Metric
from emotui.screens.actions import Acting
from emotui.screens.keymaps.words import keyed
from emotui.screens.requests import LatestRequest
from emotui.screens.samples.pane import ListPane
from emotui.screens.session import Session, Step

if TYPE_CHECKING:
    from emotui.screens.dialogs.filter import Filtered
    from emotui.workbench.datasets.importing import Asked
    from emotui.workbench.progress import OnProgress
    from emotui.workbench.slices.near import Near


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
                run = session.run_shown
                line = filtered.state.as_conditions(self._metrics)
                wish = dataset.dataset, filtered.name, line, None if run is None else run.run
                self._saved.ask(wish)

        saved = None if slicing is None else session.slices
        words = session.overview.words
        marked = words is not None and words.marks_errors
        valenced = dataset is None or dataset.task == "spans"
        dialog = FilterDialog(
            session.state,
            session.overview.emotions,
            self._metrics,
            saved,
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
        self._pane.notify(f"{wish[1]} is a slice now: " + keyed("{filter} and Compare offer it"), markup=False)
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

    def can_dataset(self) -> bool:
        return len(self._session.overview.datasets) > 1

    def do_dataset(self) -> None:
        from emotui.screens.dialogs.choices import ChoiceDialog, datasets

        def changed(name: str | None) -> None:
            if name is not None:
                state = self._session.state.unfiltered()
                self._session.change(replace(state, dataset=name, run=None, sample=None))

        overview = self._session.overview
        here = overview.dataset.name if overview.dataset else ""
        self._pane.app.push_screen(ChoiceDialog("Dataset", datasets(overview.datasets), here), changed)

    def can_import(self) -> bool:
        source = self._session.source
        return self._session.job is None and source is not None and source.importing is not None

    def do_import(self) -> None:
        """Bring a file in, and show it."""
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

            session.begin(f"import of {asked.path}", bring_in, over.set, "Stopped; nothing was imported")

        def show(name: str) -> None:
            for field in fields.values():
                session.drafts.drop(field)
            session.change(replace(session.state.unfiltered(), dataset=name, run=None, sample=None))

        ImportDialog(importer, session.drafts, fields).ask(self._pane.app, chosen)

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
                session.begin(f"export to {path}", do, over.set)

        with_all = session.bound.write_rows is not None
        pane.app.push_screen(ExportDialog(pane.n, session.run_shown, with_all=with_all), chosen)
