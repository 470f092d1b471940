"""The baselines of the samples that runs cover: the best of `emotui score spans --baselines`, under the runs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec

from emotui.lexicons import empath_keywords
from emotui.metrics.span_baselines import span_baselines
from emotui.metrics.span_errors import Labels, SpanErrors, Tally, over_repeats
from emotui.metrics.span_intervals import with_intervals
from emotui.metrics.span_scoring import score_pairs
from emotui.records import SpanSample
from emotui.store.store import Store
from emotui.tasks.spans.task import CONVENTION
from emotui.workbench.progress import Cancelled, IsCancelled
from emotui.workbench.results.span_figures import RunFigures

BASELINE_SAMPLES = 10_000
"""More are not scored: nobody waits for a baseline."""

_BATCH = 500


@dataclass(frozen=True, slots=True)
class Coverage:
    """What some runs have scores of in one of `PARTS`: the first `BASELINE_SAMPLES` of these samples, by number.

    `n`: how many there are of all.
    """

    part: str
    numbers: tuple[int, ...]
    n: int
    runs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BaselineFigures:
    """The baseline `name` over what runs cover. There is no Sim: no embedding model is asked."""

    name: str
    over: Coverage
    errors: SpanErrors
    convention: str = CONVENTION

    @property
    def n(self) -> int:
        """How many samples it is scored over."""
        return int(self.errors.figures["n"].value or 0)


def coverages(runs: Sequence[RunFigures]) -> list[Coverage]:
    """What the runs cover of each part, each such set of samples once, with its runs; the greatest first."""
    found: dict[tuple[str, tuple[int, ...]], list[str]] = {}
    for run in runs:
        for part, errors in run.parts.items():
            found.setdefault((part, errors.figures["n"].samples), []).append(run.run.run)
    made = [
        Coverage(part, numbers[:BASELINE_SAMPLES], len(numbers), tuple(names))
        for (part, numbers), names in found.items()
        if numbers
    ]
    return sorted(made, key=lambda one: -one.n)


def best_baselines(
    store: Store,
    covered: Sequence[Coverage],
    cancelled: IsCancelled,
    on_count: Callable[[int, int], None] = lambda so_far, n: None,
    groups: Mapping[int, int] | None = None,
) -> list[BaselineFigures]:
    """For each coverage the baseline with the best F1 over it; each sample is scored once.

    Args:
        groups: as of `with_intervals`.

    Raises:
        Cancelled: between two batches.
    """
    wanted = [frozenset(one.numbers) for one in covered]
    numbers = sorted(frozenset().union(*wanted))
    tallies: list[dict[str, Tally]] = [{} for _ in covered]
    for start in range(0, len(numbers), _BATCH):
        if cancelled():
            raise Cancelled
        on_count(start, len(numbers))
        page = store.samples(numbers[start : start + _BATCH])
        read = [(number, msgspec.json.decode(record, type=SpanSample)) for number, record in page]
        batch = [(number, sample) for number, sample in read if sample.spans is not None]
        samples = [sample for _, sample in batch]
        for name, said in span_baselines(samples, empath_keywords()).items():
            triples = zip(samples, said, (0,) * len(said), strict=True)
            details = score_pairs(triples, None, empath_keywords())
            for (number, sample), detail in zip(batch, details, strict=True):
                labels = Labels(sample.emotion, sample.valence, sample.sentences)
                for among, held in zip(wanted, tallies, strict=True):
                    if number in among:
                        held.setdefault(name, Tally()).add(number, labels, detail)
    return [_best(held, over, groups) for held, over in zip(tallies, covered, strict=True) if held]


def _best(tallies: dict[str, Tally], over: Coverage, groups: Mapping[int, int] | None) -> BaselineFigures:
    found = {name: over_repeats([tally]) for name, tally in tallies.items()}
    name = max(found, key=lambda one: found[one].figures["f1"].value or 0.0)
    sure = with_intervals(found[name], [tallies[name]], groups)
    # No run has these answers, so there is nothing to jump to.
    bare = {key: replace(figure, samples=()) for key, figure in sure.figures.items()}
    return BaselineFigures(name, over, replace(sure, figures=bare))
