"""A run once more: asked again with its own settings, and laid beside what it said."""

from typing import TYPE_CHECKING

import msgspec

from emotui.errors import BadInput
from emotui.store.query import Dataset, Run
from emotui.store.store import Store
from emotui.workbench.paper.commands import limit_of
from emotui.workbench.progress import OnProgress
from emotui.workbench.runs.plan import RunConfig
from emotui.workbench.runs.scores import last_attempts
from emotui.workbench.texts import run_dataset

if TYPE_CHECKING:
    from emotui.workbench.workspace import Workspace


class Reproduced(msgspec.Struct, frozen=True):
    """What came of a run that was asked again.

    `same`, `reworded`, `other`: questions with the very output, with another one that says the same, and with one that
    says something else; `missing`: those that only one of the two has. The last three by the id of the sample and the
    repeat. `alike`: whether model, prompts, samples and versions are those of the old run.
    """

    run: str
    again: str
    alike: bool
    same: int
    reworded: tuple[tuple[str, int], ...]
    other: tuple[tuple[str, int], ...]
    missing: tuple[tuple[str, int], ...]

    @property
    def is_same(self) -> bool:
        """Whether every output is the very one."""
        return not (self.reworded or self.other or self.missing)


def run_of(store: Store, name: str) -> tuple[Run, Dataset]:
    """A run that a model made, with its dataset. Raises: BadInput."""
    run = store.run(name)
    dataset = run_dataset(store, run)
    if run.source != "model":
        raise BadInput(f"{run.run} is what a {run.source} says: there is nothing to run again")
    if dataset is None:
        raise BadInput(f"run {run.run} has lost its dataset")
    return run, dataset


def reproduce(
    workspace: "Workspace",
    name: str,
    *,
    model: str | None = None,
    on_progress: OnProgress = lambda progress: None,
) -> Reproduced:
    """Ask for a run again, as a new run that is kept, and compare.

    Args:
        model: the SPEC to use, where the model stands elsewhere on this machine; None: the run's own.

    Raises:
        BadInput: no such run, or no model's. EmotuiError and Cancelled: as `Workspace.run_model`.
    """
    old, dataset = run_of(workspace.store, name)
    config = msgspec.convert(old.config, RunConfig)
    again = workspace.run_model(
        model or old.model,
        dataset.dataset,
        limit=limit_of(old, dataset),
        repeats=config.repeats,
        seed=config.seed,
        way=config.way or None,
        options=config.options,
        fresh=True,
        on_progress=on_progress,
    )
    return compared(workspace.store, old, again)


def compared(store: Store, old: Run, again: Run) -> Reproduced:
    """Two runs over one dataset, output by output."""
    ids = {number: key for key, number in store.numbers_by_id(old.dataset).items()}
    first, second = (
        {
            (ids[row.sample], row.repeat): (row.raw, row.error, row.prediction)
            for row in last_attempts(store.results(run.run))
        }
        for run in (old, again)
    )
    both = first.keys() & second.keys()
    changed = sorted(key for key in both if first[key][:2] != second[key][:2])
    return Reproduced(
        run=old.run,
        again=again.run,
        alike=old.identity == again.identity,
        same=len(both) - len(changed),
        reworded=tuple(key for key in changed if first[key][1:] == second[key][1:]),
        other=tuple(key for key in changed if first[key][1:] != second[key][1:]),
        missing=tuple(sorted(first.keys() ^ second.keys())),
    )
