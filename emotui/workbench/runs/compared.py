"""Two sources of one dataset, sample by sample, by one metric."""

from typing import Any

from emotui.errors import BadInput
from emotui.store.query import Run
from emotui.store.store import Store
from emotui.workbench.runs.elsewhere import source_run
from emotui.workbench.runs.scores import metrics_of

_PAGE = 5000
_NAMED = 3


def compare_runs(
    store: Store, first: str, second: str, metric: str | None = None, *, inner: bool = False, seed: int = 0
) -> dict[str, Any]:
    """The document of `emotui compare --runs`: first minus second, over the samples of their dataset.

    Args:
        first: a run's id, or the name of a person or file of the second one's dataset; `second` likewise.
        metric: by name; None: the first of the task.
        inner: compare the samples that both have a value of, instead of refusing.
        seed: of the bootstrap.

    Returns:
        that of `paired_report`, with `runs`, `dataset` and `metric`; repeats count by their mean.

    Raises:
        BadInput: no such run or metric, two datasets, or samples that only one of them has a value of.
    """
    from emotui.metrics.paired import paired_report

    runs = _both(store, first, second)
    dataset = store.dataset(runs[0].dataset)
    assert dataset is not None
    known = metrics_of(store, dataset.dataset)
    name = metric or known[0].name
    if name not in {one.name for one in known}:
        raise BadInput(f"there is no metric {name!r} here; there are: {', '.join(one.name for one in known)}")
    a, b = (_values(store, run, name) for run in runs)
    alone = sorted(a.keys() ^ b.keys())
    if alone and not inner:
        some = ", ".join(map(repr, alone[:_NAMED]))
        raise BadInput(
            f"{len(alone)} samples have a {name} of one of the two only, such as {some}: --inner compares the others"
        )
    if not a.keys() & b.keys():
        raise BadInput(f"no sample has a {name} of both: emotui rescore RUN may give it")
    named = {"dataset": dataset.name, "metric": name, "runs": [run.run for run in runs]}
    return named | paired_report(a, b, inner, seed)


def _both(store: Store, first: str, second: str) -> tuple[Run, Run]:
    """The two runs. A name that is no run's id is looked for in the dataset of the other one."""
    found: list[Run | None] = []
    for name in (first, second):
        try:
            found.append(store.run(name))
        except BadInput:
            found.append(None)
    for place, name in enumerate((first, second)):
        other = found[1 - place]
        if found[place] is None and other is not None:
            dataset = store.dataset(other.dataset)
            found[place] = None if dataset is None else source_run(store, dataset, name)
    if found == [None, None]:
        both = [
            (one, source_run(store, dataset, second))
            for dataset in store.datasets()
            if (one := source_run(store, dataset, first)) is not None
        ]
        whole = [pair for pair in both if pair[1] is not None]
        if len(whole) == 1:
            found = list(whole[0])
    a, b = found
    if a is None or b is None:
        raise BadInput(f"the store has no run or source {first if a is None else second!r} (emotui runs lists them)")
    if a.dataset != b.dataset:
        raise BadInput(f"{first} and {second} are over two datasets: compare sources of one")
    return a, b


def _values(store: Store, run: Run, metric: str) -> dict[str, float]:
    """By the sample's id its value, the mean over repeats."""
    numbers = store.file_order(run.dataset)
    found: dict[str, float] = {}
    for start in range(0, len(numbers), _PAGE):
        for row in store.page(numbers[start : start + _PAGE], run.run):
            value = row.values.get(metric)
            if value is not None:
                found[row.id] = value
    return found
