"""Two sources of one dataset, sample by sample, by one metric: the document of `emotui compare --runs`."""

from typing import Any

from emotui.errors import BadInput
from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.workbench.compare.sources import Compared, source_named, values_of
from emotui.workbench.masked.lexicons import check_one_lexicon
from emotui.workbench.runs.sharing import groups_of
from emotui.workbench.task_metrics import metrics_of

_NAMED = 3


def compare_runs(
    store: Store, first: str, second: str, metric: str | None = None, *, inner: bool = False, seed: int = 0
) -> dict[str, Any]:
    """The document of `emotui compare --runs`: first minus second, over the samples of their dataset.

    Args:
        first: a run's id, the name of a person or file of the second one's dataset, `person:NAME` inside its gold
            records, or `gold:VERSION`; `second` likewise.
        metric: by name; None: the first of the task.
        inner: compare the samples that both have a value of, instead of refusing.
        seed: of the bootstrap.

    Returns:
        that of `paired_report`, with `runs`, `dataset` and `metric`, and `shared`, the column by which samples go
        together; repeats count by their mean. Where the task has labels, `f1` and `f1_by_label` of `label_tests`.

    Raises:
        BadInput: no such run or metric, two datasets, or samples that only one of them has a value of.
    """
    import numpy as np

    from emotui.metrics.paired import paired_report
    from emotui.workbench.compare.label_tests import label_tests, with_label_tests

    dataset, sources = both_sources(store, first, second)
    check_one_lexicon(store, dataset, [source.run for source in sources])
    known = metrics_of(store, dataset.dataset)
    name = metric or known[0].name
    if name not in {one.name for one in known}:
        raise BadInput(f"there is no metric {name!r} here; there are: {', '.join(one.name for one in known)}")
    ids = {number: key for key, number in store.numbers_by_id(dataset.dataset).items()}
    numbers = list(store.file_order(dataset.dataset))
    a, b = (
        {ids[number]: value for number, value in zip(numbers, values.tolist(), strict=True) if not np.isnan(value)}
        for values in (values_of(store, dataset, source, name) for source in sources)
    )
    alone = sorted(a.keys() ^ b.keys())
    if alone and not inner:
        some = ", ".join(map(repr, alone[:_NAMED]))
        raise BadInput(
            f"{len(alone)} samples have a {name} of one of the two only, such as {some}: --inner compares the others"
        )
    if not a.keys() & b.keys():
        raise BadInput(f"no sample has a {name} of both: emotui rescore RUN may give it")
    shared = groups_of(store, dataset.dataset)
    groups = None if shared is None else {ids[number]: str(group) for number, group in shared[1].items()}
    named = {"dataset": dataset.name, "metric": name, "runs": [source.key for source in sources]}
    if shared is not None:
        named["shared"] = shared[0]
    tested = label_tests(store, dataset, *sources, None if shared is None else shared[1], seed=seed)
    return named | with_label_tests(paired_report(a, b, inner, seed, groups=groups), tested)


def both_sources(store: Store, first: str, second: str) -> tuple[Dataset, tuple[Compared, Compared]]:
    """The dataset and its two sources. A name that is no run's id is looked for in the dataset of the other one."""
    runs = {name: _dataset_of_run(store, name) for name in (first, second)}
    a, b = runs[first], runs[second]
    if a is not None and b is not None and a != b:
        raise BadInput(f"{first} and {second} are over two datasets: compare sources of one")
    datasets = [one for one in store.datasets() if one.dataset == (a or b) or (a is None and b is None)]
    fitting = []
    for dataset in datasets:
        found = [_named(store, dataset, name) for name in (first, second)]
        if found[0] is not None and found[1] is not None:
            fitting.append((dataset, (found[0], found[1])))
    if len(fitting) == 1:
        return fitting[0]
    missing = second if a is not None else first
    raise BadInput(f"the store has no run or source {missing!r} (emotui runs lists them)")


def _named(store: Store, dataset: Dataset, name: str) -> Compared | None:
    try:
        return source_named(store, dataset, name)
    except BadInput:
        return None


def _dataset_of_run(store: Store, name: str) -> int | None:
    try:
        return store.run(name).dataset
    except BadInput:
        return None
