"""What costs nothing over a dataset of spans: the best of `emotui score spans --baselines`, to stand under the runs."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import msgspec

from emotui.lexicons import empath_keywords
from emotui.metrics.span_baselines import span_baselines
from emotui.metrics.span_errors import Labels, SpanErrors, Tally, over_repeats
from emotui.metrics.span_scoring import score_pairs
from emotui.records import SpanSample
from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.tasks.spans.task import CONVENTION
from emotui.workbench.progress import Cancelled, IsCancelled
from emotui.workbench.results.span_figures import PARTS

BASELINE_SAMPLES = 10_000
"""More are not scored: what costs nothing is not waited for."""

_BATCH = 500


@dataclass(frozen=True, slots=True)
class BaselineFigures:
    """The baseline `name`, over `of` (so many samples). There is no Sim: no embedding model is asked."""

    name: str
    of: str
    errors: SpanErrors
    convention: str = CONVENTION


def best_baselines(
    store: Store,
    dataset: Dataset,
    cancelled: IsCancelled,
    on_count: Callable[[int, int], None] = lambda so_far, n: None,
) -> dict[str, BaselineFigures]:
    """For each part that the dataset has samples of, the baseline with the best F1 over its first samples.

    Raises:
        Cancelled: between two batches.
    """
    n = min(dataset.n, BASELINE_SAMPLES)
    tallies: dict[str, dict[str, Tally]] = {part: {} for part in PARTS}
    for start in range(0, n, _BATCH):
        if cancelled():
            raise Cancelled
        on_count(start, n)
        page = store.dataset_samples(dataset.dataset, start, min(start + _BATCH, n))
        read = [(number, msgspec.json.decode(record, type=SpanSample)) for number, record in page]
        batch = [(number, sample) for number, sample in read if sample.spans is not None]
        samples = [sample for _, sample in batch]
        for name, said in span_baselines(samples, empath_keywords()).items():
            triples = zip(samples, said, (0,) * len(said), strict=True)
            details = score_pairs(triples, None, empath_keywords())
            for (number, sample), detail in zip(batch, details, strict=True):
                tally = tallies[PARTS[bool(sample.sentences)]].setdefault(name, Tally())
                tally.add(number, Labels(sample.emotion, sample.valence, sample.sentences), detail)
    return {part: _best(held) for part, held in tallies.items() if held}


def _best(tallies: dict[str, Tally]) -> BaselineFigures:
    found = {name: over_repeats([tally]) for name, tally in tallies.items()}
    name = max(found, key=lambda one: found[one].figures["f1"].value or 0.0)
    figures = found[name].figures
    # No run has these answers, so there is nothing to jump to.
    bare = {key: replace(figure, samples=()) for key, figure in figures.items()}
    return BaselineFigures(name, f"{figures['n'].value:.0f} samples", replace(found[name], figures=bare))
