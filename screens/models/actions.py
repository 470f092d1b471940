"""Running a model over the dataset, and choosing the one that is asked live: from any place."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace
from textual.widget import Widget

from emotui.screens.actions import Acting
from emotui.screens.place import Place
from emotui.screens.session import Session
from emotui.screens.widgets.number_format import RIGHT

if TYPE_CHECKING:
    from emotui.screens.dialogs.run_model import Wish
    from emotui.screens.models.sheet import ModelChoice
    from emotui.workbench.progress import OnProgress
    from emotui.workbench.runs.choices import RunChoices
    from emotui.workbench.source import Models

SIGNS = (
    "In the sheet of models",
    (
        ("● ◐ ○ !", "loaded, being loaded or measured, ended, failed"),
        ("■ □", "memory that its process has held at most, size of its files"),
        ("▬", "how fast it is, beside the others of the same unit"),
        (f"{RIGHT} · ?", "it can do this, it cannot, told when it is loaded"),
    ),
)
"""What the marks of the sheet mean."""


class ModelActions(Acting):
    """Each begins long work in the session, one at a time. `owner` is where the dialogs are opened."""

    def __init__(self, session: Session, owner: Widget) -> None:
        self._session, self._owner = session, owner

    def can_model(self) -> bool:
        session = self._session
        return session.job is None and session.overview.dataset is not None and session.models is not None

    def do_model(self) -> None:
        from emotui.screens.dialogs.run_model import ModelDialog, Over
        from emotui.workbench.datasets.samples import experiment_name, experiment_of
        from emotui.workbench.runs import choices as runs_choices
        from emotui.workbench.runs.states import out_of_sight

        session = self._session
        dataset, models = session.overview.dataset, session.models
        if dataset is None or models is None:
            return

        def chosen(wish: "Wish | None") -> None:
            if wish is not None:
                state = replace(session.state, run=None)
                if wish.experiment is not None:
                    state = replace(state.unfiltered(), dataset=experiment_name(wish.experiment), sample=None)
                session.change(state)
                done = {run.run for run in session.overview.runs if run.state == "done"}
                tell = partial(self._tell_if_known, done)
                session.begin(wish.model, partial(_run, models, wish, dataset.dataset, tell), models.stop)

        def choices(spec: str, experiment: int | None) -> "RunChoices":
            known = models.model_state(spec) in ("ready", "ended")
            return runs_choices.run_choices(dataset.task, experiment, spec, models.model(spec).card if known else None)

        over = Over(
            dataset=dataset.name,
            n=dataset.n,
            runs=session.overview.runs,
            experiment=experiment_of(dataset),
            experiments=runs_choices.experiments(dataset.task),
            choices=choices,
            options=partial(runs_choices.checked_options, dataset.task),
            held={run.run: holder for run in session.overview.runs if (holder := out_of_sight(run))},
        )
        self._owner.app.push_screen(ModelDialog(over, session.live), chosen)

    def _tell_if_known(self, done: set[str], run: str) -> None:
        if run in done:
            self._owner.app.call_from_thread(self._owner.notify, "Already done: shown", markup=False)

    def can_name_model(self) -> bool:
        return self._session.live is not None

    def do_name_model(self) -> None:
        from emotui.screens.models.sheet import ModelSheet

        session, models = self._session, self._session.models
        if models is None:
            return

        def chosen(choice: "ModelChoice") -> None:
            def use() -> None:
                session.use_model(choice.spec)
                if choice.probe:
                    self._owner.post_message(Place.Turned("Spot check", "", ""))

            def load(on_progress: "OnProgress") -> None:
                # One that cannot be loaded never takes the place of one that works.
                models.shelf().load(choice.spec, on_progress)
                self._owner.app.call_from_thread(use)

            if models.model_state(choice.spec) == "ready":
                use()
            else:
                session.begin(f"loading {choice.spec}", load, lambda: models.shelf().stop())

        ModelSheet(session, session.live or "", tries=True).ask(self._owner.app, chosen)


def _run(models: "Models", wish: "Wish", dataset: int, tell: Callable[[str], None], on_progress: "OnProgress") -> None:
    from emotui.errors import ModelError
    from emotui.workbench.progress import RunProgress

    if wish.experiment is not None:
        dataset = models.add_experiment(wish.experiment).dataset
    run = models.run_model(
        wish.model,
        dataset,
        wish.wanted,
        on_progress=on_progress,
    )
    if run.state == "failed":
        raise ModelError(run.error or f"run {run.run} failed")
    # A finished run that was found is shown as one that was made.
    tell(run.run)
    on_progress(RunProgress(run.run, run.model, run.done, run.n, run.failed, None, None, run.model))
