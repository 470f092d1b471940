"""What a person does with whole datasets: other names, the trash, other gold over the same texts."""

from dataclasses import dataclass
from typing import Any

from emotui.backends.host import IsCancelled
from emotui.errors import BadInput
from emotui.formats import fingerprint, read
from emotui.formats.reading import Warn, warn_skipped
from emotui.store.query import Dataset, Run
from emotui.store.store import Store
from emotui.tasks.registry import task_named
from emotui.tasks.task import Task
from emotui.workbench.datasets.foreign import Wish, read_foreign
from emotui.workbench.runs.run import rescore
from emotui.workbench.runs.states import check_at_rest


@dataclass(frozen=True, slots=True)
class Replaced:
    """A dataset with its new gold, and the ids of the runs that were scored anew."""

    dataset: Dataset
    rescored: tuple[str, ...] = ()


def described(dataset: Dataset) -> dict[str, object]:
    """A dataset for programs."""
    names = ("name", "task", "n", "gold", "source", "added", "fingerprint", "deleted")
    return {"dataset" if name == "name" else name: getattr(dataset, name) for name in names}


def dataset_named(store: Store, name: str) -> Dataset:
    """The dataset of that name.

    Raises:
        BadInput: there is none.
    """
    found = store.datasets.get(name)
    if found is None:
        there = ", ".join(one.name for one in store.datasets.all()) or "none"
        raise BadInput(f"the store has no dataset {name!r} (there: {there})")
    return found


def rename(store: Store, old: str, new: str) -> Dataset | Run:
    """Give a dataset or run another name; what it was before.

    Raises:
        BadInput: there is none, the new name is taken, or the run is going on.
    """
    _check_at_rest(store, old)
    return store.by_name.rename(old, new)


def delete(store: Store, name: str) -> Dataset | Run:
    """Put a dataset, with its runs, or a run into the trash; what it was.

    Raises:
        BadInput: there is none, or a run is going on.
    """
    _check_at_rest(store, name)
    return store.by_name.delete(name)


def _check_at_rest(store: Store, name: str) -> None:
    """Raises BadInput while this run, or one over this dataset, is going on."""
    found = store.by_name.get(name)
    check_at_rest(store.runs.all(found.dataset) if isinstance(found, Dataset) else [found])


def replace_gold(
    store: Store,
    dataset: str,
    path: str,
    *,
    sim: bool = True,
    skip_bad: bool = False,
    warn: Warn,
    cancelled: IsCancelled | None = None,
) -> Replaced:
    """Replace a dataset's gold by the records of a file with the same ids and texts, and score all runs anew.

    Raises:
        BadInput: no such dataset, a bad file, other ids, another text under an id, or a run over it is going on.
    """
    found = dataset_named(store, dataset)
    task = task_named(found.task)
    check_at_rest(store.runs.all(found.dataset))
    samples = _samples(task, path, skip_bad=skip_bad, warn=warn)
    rows = [task.row(sample) for sample in samples]
    new = store.gold.replace(found, rows, path, fingerprint(samples), check=check_at_rest)
    runs = [run.run for run in store.runs.all(new.dataset) if store.gold.scored_under(run.run) is not None]
    for run in runs:
        rescore(store, run, sim=sim, cancelled=cancelled)
    return Replaced(new, tuple(runs))


def _samples(task: Task, path: str, *, skip_bad: bool, warn: Warn) -> list[Any]:
    """The samples of a file of the task's own records, or of one that another hand wrote.

    Raises:
        BadInput: it is neither; what is wrong with it as a file of records where no reader takes it for its own.
    """
    try:
        got = read(path, task.sample, skip_bad=skip_bad)
    except BadInput as problem:
        try:
            found = read_foreign([path], Wish(kind=task.files.kind), skip_bad=skip_bad)
        except BadInput:
            raise problem from None
        for line in found.skipped:
            warn(f"skipped {line}")
        return found.samples
    warn_skipped(got, warn)
    return list(got.records)
