"""A paper's folder once more: its models are asked again in another store, and its tables laid beside the old ones."""

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from emotui.bounded import read_bytes
from emotui.errors import BadInput
from emotui.formats.rows import literal
from emotui.store.query import Dataset, Run
from emotui.store.store import Store
from emotui.tasks.registry import task_named
from emotui.workbench.datasets.label_maps import keep_label_map
from emotui.workbench.datasets.samples import add_experiment, add_samples
from emotui.workbench.paper.folder import write_paper
from emotui.workbench.paper.recipe import FILE, Recipe, RecipeDataset, RecipeRun, limit_of, read_recipe
from emotui.workbench.progress import OnProgress, RunOptions
from emotui.workbench.reports.report import unwatched
from emotui.workbench.runs.packing import unpack
from emotui.workbench.runs.plan import MOST_REPEATS, RunConfig
from emotui.workbench.runs.scores import last_attempts
from emotui.workbench.texts import run_dataset

if TYPE_CHECKING:
    from emotui.workbench.workspace import Workspace

# A run once more: asked again with its own settings, and laid beside what it said.


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
    run = store.runs.get(name)
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
        RunOptions(
            limit=limit_of(old, dataset),
            repeats=config.repeats,
            seed=config.seed,
            way=config.way or None,
            options=config.options,
            fresh=True,
        ),
        on_progress=on_progress,
    )
    return compared(workspace.store, old, again)


def compared(store: Store, old: Run, again: Run) -> Reproduced:
    """Two runs over one dataset, output by output."""
    ids = {number: key for key, number in store.samples.numbers_by_id(old.dataset).items()}
    first, second = (
        {
            (ids[row.sample], row.repeat): (row.raw, row.error, row.prediction)
            for row in last_attempts(store.results.of_run(run.run))
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


class Again(msgspec.Struct, frozen=True):
    """`same`, `other`: files of tables and figures that are the same byte for byte, and that are not (or are gone).

    `figures`: why figures are not compared, empty where they are. `runs`: how each model's answers compare with those
    kept.
    """

    same: tuple[str, ...]
    other: tuple[str, ...]
    runs: tuple[Reproduced, ...] = ()
    figures: str = ""


def recipe_of(folder: str) -> Recipe:
    """What a folder says of itself. Raises: BadInput."""
    path = Path(folder) / FILE
    try:
        return read_recipe(read_bytes(path), str(path))
    except OSError:
        raise BadInput(f"{literal(folder)}: has no {FILE}: it is no folder of `emotui paper`") from None


def make_again(
    workspace: "Workspace",
    folder: str,
    to: str,
    *,
    kept: bool = False,
    models: Mapping[str, str] | None = None,
    on_progress: OnProgress = unwatched,
    on_run: Callable[[str], None] = lambda run: None,
) -> Again:
    """Make a folder again.

    Args:
        workspace: where datasets and runs are added.
        kept: take the models' kept answers in place of asking again.
        models: the SPECs under which models stand here, by those in the recipe.
        on_run: told which run begins.

    Raises:
        BadInput: it is no such folder, a dataset is neither in it nor in the store. EmotuiError: a model failed.
    """
    recipe, store = recipe_of(folder), workspace.store
    datasets = {one.name: _dataset(store, Path(folder), one) for one in recipe.datasets}
    ids: dict[str, str] = {}
    compared_runs = []
    for one in recipe.runs:
        on_run(one.run)
        dataset = datasets.get(one.dataset)
        if dataset is None:
            raise BadInput(f"{literal(folder)}/{FILE}:1: run {literal(one.run)} is over no dataset of it")
        old = _unpacked(store, folder, one)
        if kept or not one.by_model:
            ids[one.run] = one.run
            continue
        config = _config(folder, one)
        done = workspace.run_model(
            (models or {}).get(one.model, one.model),
            dataset.dataset,
            RunOptions(
                limit=one.limit,
                repeats=config.repeats,
                seed=config.seed,
                way=config.way or None,
                options=config.options,
                fresh=True,
            ),
            on_progress=on_progress,
        )
        ids[done.run] = one.run
        compared_runs.append(compared(store, old, done))
    write_paper(
        *(store, workspace.results(), list(ids), to),
        sim=recipe.sim,
        published=recipe.published,
        texts=recipe.texts,
        stated=recipe.stated,
        ids=ids,
        on_progress=on_progress,
    )
    made = recipe_of(to)
    why = _drawn_otherwise(recipe.drawn_by, made.drawn_by)
    before, now = (one.tables if why else one.tables | one.figures for one in (recipe, made))
    names = sorted(before.keys() | now.keys())
    same = tuple(name for name in names if before.get(name) == now.get(name) == _hash(Path(to) / name))
    return Again(same, tuple(name for name in names if name not in same), tuple(compared_runs), why)


def _config(folder: str, one: RecipeRun) -> RunConfig:
    """What a run was asked for. Raises: BadInput where a folder says what no run can have."""
    where = f"{literal(f'{folder}/{FILE}')}:1: run {literal(one.run)}"
    try:
        config = msgspec.convert(one.config, RunConfig)
    except (msgspec.ValidationError, RecursionError) as error:
        raise BadInput(f"{where}: {literal(str(error))[:200]}") from None
    if not 1 <= config.repeats <= MOST_REPEATS or (one.limit is not None and one.limit < 1):
        raise BadInput(f"{where}: no run has {config.repeats} repeats, or a limit of {one.limit}")
    return config


def _drawn_otherwise(before: str, now: str) -> str:
    """Why figures of two folders cannot be the same byte for byte, empty where they can."""
    if before == now:
        return ""
    if not before or not now:
        return "there were none" if now else "matplotlib is not installed here"
    return f"matplotlib {literal(before)} drew them, and {now} does here"


def _unpacked(store: Store, folder: str, one: RecipeRun) -> Run:
    """The run as it is kept; in a store that has it already, that one."""
    if one.run in store.runs.names():
        there = store.runs.get(one.run)
        if there.identity == one.identity:
            return there
    return unpack(store, str(Path(folder) / one.file))


def _dataset(store: Store, folder: Path, one: RecipeDataset) -> Dataset:
    """The dataset of these samples, which are added where the store has them not."""
    if one.experiment is not None:
        return add_experiment(store, one.experiment, one.task)
    for dataset in store.datasets.all():
        if dataset.task == one.task and dataset.fingerprint == one.fingerprint and dataset.name == one.name:
            return dataset
    if not one.file:
        raise BadInput(
            f"{literal(str(folder))}: the samples of {literal(one.name)} are not in it, and not in this store"
        )
    task = task_named(one.task)
    path = folder / one.file
    try:
        lines = read_bytes(path, data=True).splitlines()
        samples = [msgspec.json.decode(line, type=task.sample) for line in lines]
    except OSError:
        raise BadInput(f"{literal(str(path))}: cannot be read") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"{literal(str(path))}: {literal(str(error))[:200]}") from None
    found = add_samples(store, task.name, one.name, samples, one.source or "a paper's folder")
    for source, mapping in one.label_maps.items():
        keep_label_map(store, found, mapping, source or None)
    return found


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
