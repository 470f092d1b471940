"""What the frame does for each action of the registry that no place answers, and when it can be done."""

import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from emotui.metrics.metric import Metric
from emotui.screens.list_state import NO_RUN
from emotui.screens.widgets.search_input import SearchLine

if TYPE_CHECKING:
    from emotui.screens.dialogs.run_model import Wish
    from emotui.screens.frame import Frame
    from emotui.screens.list_state import ListState
    from emotui.workbench.progress import OnProgress


def _search(frame: "Frame") -> None:
    _show_list(frame, True)
    if not frame.query(SearchLine):
        frame.pane.mount(SearchLine(frame.state.text), before="#list-foot")
    frame.query_one(SearchLine).focus()


def _show_list(frame: "Frame", shown: bool) -> None:
    frame.set_class(shown, "-list")
    if frame.has_class("-narrow"):
        if shown:
            frame.pane.rows.focus()
        else:
            frame.place.focus_first()
    frame.refresh_bindings()


def _filter(frame: "Frame") -> None:
    from emotui.screens.dialogs.filter import FilterDialog

    def changed(state: "ListState | None") -> None:
        if state is not None:
            frame.change(state)

    sheet = FilterDialog(frame.state, frame.overview.emotions, _metrics(frame))
    frame.app.push_screen(sheet, changed)


def _metrics(frame: "Frame") -> tuple[Metric, ...]:
    """What a run scores each sample by; none where no run is over the list."""
    return () if frame.run_shown is None else frame.overview.metrics


def _sort(frame: "Frame") -> None:
    from emotui.screens.dialogs.choices import ChoiceDialog, sorts

    def changed(sort: str | None) -> None:
        if sort is not None:
            turned = sort == frame.state.sort and not frame.state.descending
            frame.change(replace(frame.state, sort=sort, descending=turned))

    frame.app.push_screen(ChoiceDialog("Order of the list", sorts(_metrics(frame)), frame.state.sort), changed)


def _run(frame: "Frame") -> None:
    from emotui.screens.dialogs.choices import ChoiceDialog, runs
    from emotui.screens.dialogs.runs import RunDialog

    def changed(run: str | None) -> None:
        if run is not None:
            frame.change(replace(frame.state, run=run))

    def compared(choice: tuple[str, tuple[str, ...]] | None) -> None:
        if choice is not None:
            frame.change(replace(frame.state, run=choice[0], beside=choice[1]))

    title, without = _RUNS_OVER.get(frame.list_task, ("Run", "no run"))
    now = frame.run_shown.run if frame.run_shown else NO_RUN
    choices = runs(frame.overview.runs, without)
    if frame.list_task == "spans":
        beside = [run.run for run in frame.state.runs_beside(frame.overview.runs)]
        frame.app.push_screen(RunDialog(title, choices, now, beside), compared)
    else:
        frame.app.push_screen(ChoiceDialog(title, choices, now), changed)


_RUNS_OVER = {
    "spans": ("Run over the gold spans", "gold spans alone"),
    "scenes": ("Run whose answers are decoded", "gold emotions alone"),
}
"""By task: what choosing a run is for, and what is shown without one."""


def _dataset(frame: "Frame") -> None:
    from emotui.screens.dialogs.choices import ChoiceDialog, datasets

    def changed(name: str | None) -> None:
        if name is not None:
            frame.change(replace(frame.state.unfiltered(), dataset=name, run=None, sample=None))

    here = frame.overview.dataset
    sheet = ChoiceDialog("Dataset", datasets(frame.overview.datasets), here.name if here else "")
    frame.app.push_screen(sheet, changed)


def _theme(frame: "Frame") -> None:
    from emotui.screens.dialogs.choices import ChoiceDialog, themes

    def changed(theme: str | None) -> None:
        if theme is not None:
            frame.remember_theme(theme)

    frame.app.push_screen(ChoiceDialog("Colours", themes(), frame.app.theme), changed)


def _model(frame: "Frame") -> None:
    from emotui.screens.dialogs.run_model import ModelDialog, Over
    from emotui.workbench.datasets.experiments import experiment_name, experiment_of
    from emotui.workbench.runs import choices as runs_choices

    dataset = frame.overview.dataset
    source: Any = frame.source
    if dataset is None:
        return

    def chosen(wish: "Wish | None") -> None:
        if wish is not None:
            state = replace(frame.state, run=None)
            if wish.experiment is not None:
                state = replace(state.unfiltered(), dataset=experiment_name(wish.experiment), sample=None)
            frame.change(state)
            frame.begin(wish.model, partial(_run_model, source, wish, dataset.dataset), source.stop)

    def choices(spec: str, experiment: int | None) -> runs_choices.RunChoices:
        known = source.model_state(spec) in ("ready", "ended")
        return runs_choices.run_choices(dataset.task, experiment, spec, source.model(spec).card if known else None)

    over = Over(
        dataset=dataset.name,
        n=dataset.n,
        runs=frame.overview.runs,
        experiment=experiment_of(dataset),
        experiments=runs_choices.experiments(dataset.task),
        choices=choices,
        options=partial(runs_choices.checked_options, dataset.task),
    )
    frame.app.push_screen(ModelDialog(over, frame.live), chosen)


def _run_model(source: Any, wish: "Wish", dataset: int, on_progress: "OnProgress") -> None:
    from emotui.workbench.datasets.experiments import add_experiment

    if wish.experiment is not None:
        dataset = add_experiment(source.store, wish.experiment).dataset
    source.run_model(
        wish.model,
        dataset,
        limit=wish.limit,
        repeats=wish.repeats,
        seed=wish.seed,
        way=wish.way,
        options=wish.options,
        resume=wish.resume,
        on_progress=on_progress,
    )


def _live_model(frame: "Frame") -> None:
    from emotui.screens.dialogs.live_model import LiveDialog

    source: Any = frame.source

    def chosen(spec: str | None) -> None:
        if spec is not None:
            frame.use_model(spec)
            frame.begin(f"loading {spec}", partial(_load, source, spec), lambda: source.shelf().stop())

    frame.app.push_screen(LiveDialog(frame.live or "", lambda: source.shelf().rows()), chosen)


def _load(source: Any, spec: str, on_progress: "OnProgress") -> None:
    source.shelf().load(spec, on_progress)


def _stop(frame: "Frame") -> None:
    if frame.work is not None:
        frame.stop_work()


def _export(frame: "Frame") -> None:
    from emotui.screens.dialogs.file import ExportDialog, write_list

    def chosen(path: str | None) -> None:
        if path is not None:
            over = threading.Event()
            run = frame.run_shown.run if frame.run_shown else None
            do = partial(write_list, frame.bound, frame.pane.numbers, run, path, over.is_set)
            frame.begin(f"export to {path}", do, over.set)

    frame.app.push_screen(ExportDialog(frame.pane.n, frame.run_shown), chosen)


def _clear(frame: "Frame") -> None:
    frame.change(frame.state.unfiltered())


def _help(frame: "Frame") -> None:
    from emotui.screens.dialogs.help import HelpDialog

    frame.app.push_screen(HelpDialog())


def _next_of_kind(frame: "Frame", kind: str) -> None:
    frame.looking_for = kind
    frame.pane.next_error(1, kind)


DO: dict[str, Callable[["Frame"], None]] = {
    "next": lambda frame: frame.pane.move(1),
    "previous": lambda frame: frame.pane.move(-1),
    "page_down": lambda frame: frame.pane.page(1),
    "page_up": lambda frame: frame.pane.page(-1),
    "first": lambda frame: frame.pane.select(0),
    "last": lambda frame: frame.pane.select(frame.pane.n - 1),
    "next_error": lambda frame: frame.pane.next_error(1),
    "previous_error": lambda frame: frame.pane.next_error(-1),
    **{f"next_{kind}": partial(_next_of_kind, kind=kind) for kind in "HFN"},
    "pane": lambda frame: frame.move_focus(1),
    "pane_back": lambda frame: frame.move_focus(-1),
    "open": lambda frame: _show_list(frame, False),
    "back": lambda frame: _show_list(frame, False),
    "list": lambda frame: _show_list(frame, not frame.has_class("-list")),
    "search": _search,
    "filter": _filter,
    "sort": _sort,
    "clear": _clear,
    "dataset": _dataset,
    "run": _run,
    "model": _model,
    "name_model": _live_model,
    "stop": _stop,
    "export": _export,
    "theme": _theme,
    "help": _help,
    "palette": lambda frame: frame.app.action_command_palette(),
    "quit": lambda frame: frame.leave(),
}


def _some(frame: "Frame") -> bool:
    return frame.pane.n > 0


def _errors(frame: "Frame") -> bool:
    place = frame.place
    return _some(frame) and frame.run_shown is not None and frame.list_task == "spans" and place.marks_errors


def _dataset_is_open(frame: "Frame") -> bool:
    return frame.overview.dataset is not None


def _always(frame: "Frame") -> bool:
    return True


def _folded(frame: "Frame") -> bool:
    return frame.has_class("-narrow")


def _unfolded(frame: "Frame") -> bool:
    return frame.has_class("-narrow") and frame.has_class("-list")


def _can_run(frame: "Frame") -> bool:
    return frame.work is None and _dataset_is_open(frame) and hasattr(frame.source, "run_model")


CAN: dict[str, Callable[["Frame"], bool]] = {
    **dict.fromkeys(("next", "previous", "page_down", "page_up", "first", "last"), _some),
    **dict.fromkeys(("next_error", "previous_error", "next_H", "next_F", "next_N"), _errors),
    **dict.fromkeys(("search", "filter", "sort"), _dataset_is_open),
    **dict.fromkeys(("pane", "pane_back", "theme", "help", "palette", "quit"), _always),
    "open": _unfolded,
    "back": _unfolded,
    "list": _folded,
    "clear": lambda frame: frame.state.filtered,
    "dataset": lambda frame: len(frame.overview.datasets) > 1,
    "run": lambda frame: len(frame.overview.runs) > 0,
    "model": _can_run,
    "name_model": lambda frame: frame.live is not None and frame.work is None,
    "stop": lambda frame: frame.work is not None and not frame.work.stopping,
    "export": lambda frame: _some(frame) and frame.work is None,
}
