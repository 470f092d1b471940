"""All tables of people's spread of a dataset, of whichever kind its answers are."""

from collections.abc import Mapping, Sequence

from emotui.store.query import Dataset, Run
from emotui.store.store import Store
from emotui.tables import ResultsTable
from emotui.workbench.datasets.samples import is_sample_data
from emotui.workbench.datasets.sources import PERSON
from emotui.workbench.progress import IsCancelled
from emotui.workbench.results.spread.opinions import Opinions, of_labels, of_masks
from emotui.workbench.results.spread.questions import spread_of
from emotui.workbench.results.spread.spans import of_spans
from emotui.workbench.texts import runs_of


def people_tables(
    store: Store,
    dataset: Dataset,
    runs: Sequence[Run],
    groups: Mapping[int, int] | None,
    cancelled: IsCancelled,
) -> tuple[ResultsTable, ...]:
    """Of labels, words for masks, spans and numbers; none where no text has two annotators.

    Versions of texts (generation) have none: people grade them, and no source gives grades.

    Args:
        runs: the sources; those that are people count as annotators.
        groups: by the number of a text that of what it shares with others.

    Raises:
        Cancelled: between two thousand answers or so.
    """
    models = [run for run in runs if run.source != PERSON]
    people = [run for run in runs_of(store, dataset) if run.source == PERSON]
    composed = is_sample_data(dataset)
    if dataset.task == "values":
        from emotui.workbench.results.spread.number_tables import number_tables

        return tuple(number_tables(store, dataset, models, people, groups, composed=composed, cancelled=cancelled))
    asked: list[Opinions] = []
    if dataset.task == "spans":
        asked = of_spans(store, dataset, models, people, cancelled)
    elif dataset.task == "masked":
        asked = [of_masks(store, models, people, cancelled)]
    elif dataset.task in ("labels", "scenes", "rephrase"):
        asked = [of_labels(store, dataset, models, people, cancelled)]
    tables: list[ResultsTable] = []
    for one in asked:
        spread = spread_of(one)
        if spread is not None:
            from emotui.workbench.results.spread.tables import spread_tables  # imports scipy, which takes a second

            tables += spread_tables(spread, models, groups, composed=composed)
    return tuple(tables)
