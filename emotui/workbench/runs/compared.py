"""Two sources of one dataset, sample by sample, by one metric: the document of `emotui compare --runs`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from emotui.errors import BadInput
from emotui.metrics.metric import Metric
from emotui.store.query import Dataset, Run
from emotui.store.store import Store
from emotui.tasks.registry import SPANS
from emotui.workbench.compare.sources import Compared, fitting, gold_note, values_of, with_gold
from emotui.workbench.datasets.sets import dataset_named
from emotui.workbench.masked.lexicons import check_one_lexicon
from emotui.workbench.runs.scores import groups_of
from emotui.workbench.task_words import metrics_of

if TYPE_CHECKING:
    from emotui.metrics.significance import Correction

_NAMED = 3
_TESTS = ("mcnemar_p", "permutation_p", "wilcoxon_p")
"""Of a comparison, that which says most first."""


def compare_runs(
    store: Store,
    first: str,
    second: str,
    metric: str | None = None,
    *,
    inner: bool = False,
    seed: int = 0,
    of: str | None = None,
) -> dict[str, Any]:
    """The document of `emotui compare --runs`: first minus second, over the samples of their dataset.

    Args:
        first: a run's id, the name of a person or file of the second one's dataset, `person:NAME` inside its gold
            records, or `gold:VERSION`; `second` likewise.
        metric: by name; None: the first of the task.
        inner: compare the samples that both have a value of, instead of refusing.
        seed: of the bootstrap.
        of: the name of their dataset, where names stand in several; None: there is one.

    Returns:
        that of `paired_report`, with `runs`, `dataset` and `metric`, `higher_is_better` (None: neither end is better;
        `won` and `lost` are above and below all the same), and `shared`, the column by which samples go together;
        repeats count by their mean. Where the task has labels, `f1` and `f1_by_label` of `label_tests`;
        where their spans were taken away, `evidence` (`emotui.workbench.compare.evidence`).

    Raises:
        BadInput: no such run or metric, two datasets, or samples that only one of them has a value of.
    """
    import numpy as np

    from emotui.metrics.paired import paired_report
    from emotui.workbench.compare.evidence import beside_f1, evidence_document
    from emotui.workbench.compare.figures import label_tests, with_label_tests

    dataset, sources = both_sources(store, first, second, of)
    check_one_lexicon(store, dataset, [source.run for source in sources])
    known = metrics_of(store, dataset.dataset, dataset.task)
    name = metric or known[0].name
    if name not in {one.name for one in known if not one.pooled}:
        return _over_all(store, dataset, sources, name, inner=inner, seed=seed)
    ids = {number: key for key, number in store.samples.numbers_by_id(dataset.dataset).items()}
    numbers = list(store.samples.file_order(dataset.dataset))
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
        kept = any(source.run for source in sources)
        hint = "emotui rescore RUN may give it" if kept else "without gold, emotui agreement compares people"
        raise BadInput(f"no sample has a {name} of both: {hint}")
    shared = groups_of(store, dataset.dataset)
    groups = None if shared is None else {ids[number]: str(group) for number, group in shared[1].items()}
    by = next(one for one in known if one.name == name)
    named = _named_in(dataset, sources, by, None if shared is None else shared[0])
    tested = label_tests(store, dataset, *sources, None if shared is None else shared[1], seed=seed)
    document = named | with_label_tests(paired_report(a, b, inner, seed, groups=groups), tested)
    taken = beside_f1(store, dataset, {source.key for source in sources}) if dataset.task == SPANS else None
    if taken is not None:
        document |= {"evidence": evidence_document(taken)}
    return with_gold(document, gold_note(store, dataset, sources))


def _over_all(
    store: Store, dataset: Dataset, sources: tuple[Compared, Compared], name: str, *, inner: bool, seed: int
) -> dict[str, Any]:
    """The same of a figure that is over all samples together, such as a rate over sentences."""
    from emotui.metrics.resampling import group_numbers
    from emotui.metrics.sums import compared_sums
    from emotui.workbench.compare.figures import SourceFigures, metric_of, no_figure

    each = [SourceFigures(store, dataset, source) for source in sources]
    first, second = (one.figure(name) for one in each)
    if first is None or second is None:
        own = [metric.name for metric in metrics_of(store, dataset.dataset, dataset.task)]
        if first is None and second is None:
            raise no_figure(name, list(dict.fromkeys([*own, *each[0].names()])))
        raise BadInput(f"{sources[first is not None].name} has no {name}, and the other one has")
    both = first.there & second.there
    alone = int((first.there != second.there).sum())
    if alone and not inner:
        raise BadInput(f"{alone} samples are scored of one of the two only: --inner compares the others")
    if not both.any():
        raise BadInput(f"no sample is scored of both: emotui rescore RUN may give it a {name}")
    shared = groups_of(store, dataset.dataset)
    groups = None if shared is None else group_numbers(list(shared[1].values()))
    known = metrics_of(store, dataset.dataset, dataset.task)
    by = next((one for one in known if one.name == name), metric_of(name))
    named = _named_in(dataset, sources, by, None if shared is None else shared[0])
    return with_gold(named | compared_sums(first, second, both, groups, seed=seed), gold_note(store, dataset, sources))


def _named_in(dataset: Dataset, sources: tuple[Compared, Compared], by: Metric, shared: str | None) -> dict[str, Any]:
    named: dict[str, Any] = {"dataset": dataset.name, "metric": by.name, "runs": [source.key for source in sources]}
    named |= {"higher_is_better": by.higher_is_better if by.directed else None}
    return named if shared is None else named | {"shared": shared}


def comparable_figures(store: Store, first: str, second: str, of: str | None = None) -> list[str]:
    """The names of all figures by which two sources can be compared: metrics of samples first.

    Raises:
        BadInput: as `compare_runs`.
    """
    from emotui.workbench.compare.figures import SourceFigures, names_of_all

    dataset, sources = both_sources(store, first, second, of)
    own = [one.name for one in metrics_of(store, dataset.dataset, dataset.task)]
    every = names_of_all([SourceFigures(store, dataset, source) for source in sources])
    return [*own, *(name for name in every if name not in own)]


def compare_figures(
    store: Store,
    first: str,
    second: str,
    names: Sequence[str],
    correction: "Correction" = "holm",
    *,
    inner: bool = False,
    seed: int = 0,
    of: str | None = None,
) -> dict[str, Any]:
    """Several figures of two sources at once, whose p are corrected over all of them.

    Returns:
        `dataset`, `runs`, `figures`: the document of each (`compare_runs`) with `p` (of the test that `test` names:
        McNemar where scores are 0 or 1 and samples share nothing, Wilcoxon of other means, else the permutation test)
        and `p_corrected`; and `conventions`.
    """
    from emotui.metrics.significance import CORRECTIONS, adjusted_known

    each = [compare_runs(store, first, second, name, inner=inner, seed=seed, of=of) for name in names]
    tests = [next((key for key in _TESTS if one.get(key) is not None), None) for one in each]
    p = [None if test is None else one[test] for one, test in zip(each, tests, strict=True)]
    corrected = adjusted_known(p, correction)
    figures = [
        {key: value for key, value in one.items() if key not in ("dataset", "runs")}
        | {"test": test, "p": raw, "p_corrected": other}
        for one, test, raw, other in zip(each, tests, p, corrected, strict=True)
    ]
    told = f"over the {len(names)} figures asked for by {CORRECTIONS[correction]}"
    head = {"dataset": each[0]["dataset"], "runs": each[0]["runs"], "figures": figures}
    return head | {"conventions": {"p_corrected": told}}


def both_sources(
    store: Store, first: str, second: str, of: str | None = None
) -> tuple[Dataset, tuple[Compared, Compared]]:
    """The dataset, as the task of the two reads it, and the two sources.

    A name that is no run's id is looked for in the dataset of the other one, or in the one that is named.
    """
    only = None if of is None else dataset_named(store, of).dataset
    a, b = _run_named(store, first), _run_named(store, second)
    if a is not None and b is not None and a.dataset != b.dataset:
        raise BadInput(f"{first} and {second} are over two datasets: compare sources of one")
    if a is not None and b is not None and a.task != b.task:
        raise BadInput(f"{first} answers {a.task} and {second} {b.task}: compare sources that answer one question")
    known = a or b
    datasets = [
        one
        for one in store.datasets.all()
        if (known is None or one.dataset == known.dataset) and only in (None, one.dataset)
    ]
    there: list[tuple[Dataset, list[Compared], list[Compared]]] = []
    for dataset in datasets:
        tasks = [run.task for run in store.runs.all(dataset.dataset)] if known is None else [known.task]
        # What the dataset came for goes before what else was asked, and one source of a name before several.
        order = [dataset.read_as(task) for task in dict.fromkeys([*([dataset.task] if known is None else []), *tasks])]
        found = [(read, fitting(store, read, first), fitting(store, read, second)) for read in order]
        both = sorted((one for one in found if one[1] and one[2]), key=lambda one: max(map(len, one[1:])) > 1)
        there += both[:1]
    if len(there) > 1:
        where = ", ".join(dataset.name for dataset, *_ in there)
        raise BadInput(f"{first!r}, {second!r}: both are sources of {where}: --dataset names one, or the id of a run")
    for dataset, *each in there:
        for name, named in zip((first, second), each, strict=True):
            if len(named) > 1:
                raise BadInput(f"{name!r} may be any of {', '.join(one.key for one in named)}")
        return dataset, (each[0][0], each[1][0])
    missing = second if a is not None else first
    raise BadInput(f"the store has no run or source {missing!r} (emotui runs lists them)")


def _run_named(store: Store, name: str) -> Run | None:
    try:
        return store.runs.get(name)
    except BadInput:
        return None
