"""What is done with sources: which one is shown, which is made gold, which is scored again."""

import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace
from textual.widget import Widget

from emotui.screens.actions import Acting
from emotui.screens.keymaps.words import keyed
from emotui.screens.list_state import NO_RUN
from emotui.screens.session import Session, Step

if TYPE_CHECKING:
    from emotui.screens.dialogs.runs import Picked
    from emotui.workbench.datasets.source_bench import LabelSheet, SourceBench
    from emotui.workbench.datasets.sources import Proposed
    from emotui.workbench.progress import OnProgress


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
        dialog = RunDialog(
            words.runs,
            runs(overview.runs, words.without_run),
            now,
            beside if words.compares else (),
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
            self._owner.notify("One thing at a time: wait for what the top line shows, or stop it with Esc")
        return self._session.job is None

    def _can_work(self) -> bool:
        return self._writes and self._session.job is None and self._session.run_shown is not None

    can_make_gold = can_rescore = _can_work

    def can_map_labels(self) -> bool:
        dataset, run = self._session.overview.dataset, self._session.run_shown
        of_spans = dataset is not None and dataset.task == "spans" and run is not None and run.task == "spans"
        return self._can_work() and of_spans

    def do_map_labels(self) -> None:
        from emotui.screens.dialogs.map_labels import LabelsDialog

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
                    f"{len(mapping)} labels of {sheet.source} are mapped: "
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
        from emotui.screens.dialogs.make_gold import GoldDialog

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
