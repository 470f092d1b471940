"""What a paper is made from: runs, their datasets, and what is known of each."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import msgspec

from emotui.backends.base import ModelCard
from emotui.store.query import Dataset, Run
from emotui.store.store import Store
from emotui.tasks.registry import task_named
from emotui.workbench.paper.recipe import Naming
from emotui.workbench.runs.machine import Measured, known_card, measured
from emotui.workbench.runs.plan import RunConfig
from emotui.workbench.runs.scores import groups_of, last_attempts

_PACKAGES = (
    *("numpy", "scipy", "torch", "transformers", "sentence-transformers", "llama-cpp-python", "aiohttp", "duckdb"),
    *("krippendorff", "empath", "nrclex", "matplotlib"),
)


_PARAMETERS = re.compile(r"([\d.,]+ (?:thousand|million|billion)) parameters")


class Told(msgspec.Struct, frozen=True):
    """One run. `called`: its id in the paper. `asked`: how often a model was asked, over which time in seconds.

    `prompts`: how many different prompts there were, and how many answers have none. `measured`: what it ran on.
    `gold`: a sentence about the texts and what gold says of them; empty where there are none. `shared`: the column by
    which texts go together; empty where no two do.
    """

    run: Run
    dataset: Dataset
    called: str
    config: RunConfig
    conventions: tuple[str, ...]
    asked: int
    seconds: float
    prompts: int
    unprompted: int
    card: ModelCard | None
    measured: Measured | None
    gold: str
    shared: str

    @property
    def is_model(self) -> bool:
        return self.run.source == "model"


def told_of(store: Store, runs: Sequence[Run], naming: Naming) -> list[Told]:
    """What is known of each run."""
    datasets = {dataset.dataset: dataset for dataset in store.datasets.all()}
    asked = dict.fromkeys((run.dataset, run.task) for run in runs)
    gold = {one: described((record for _, record in store.samples.of_dataset(one[0])), one[1]) for one in asked}
    shared = {dataset: (groups_of(store, dataset) or ("", {}))[0] for dataset, _ in asked}
    found = []
    for run in runs:
        rows = list(store.results.of_run(run.run))
        conventions = dict.fromkeys(row.score.convention for row in last_attempts(rows) if row.score is not None)
        found.append(
            Told(
                run=run,
                dataset=datasets[run.dataset],
                called=naming.run(run.run),
                config=msgspec.convert(run.config, RunConfig),
                conventions=tuple(conventions),
                asked=len(rows),
                seconds=sum(row.seconds for row in rows),
                prompts=len({row.prompt for row in rows if row.prompt is not None}),
                unprompted=sum(row.prompt is None for row in rows),
                card=known_card(store, run.model) if run.source == "model" else None,
                measured=measured(store, run.run),
                gold=gold[run.dataset, run.task],
                shared=shared[run.dataset],
            )
        )
    return found


class _Record(msgspec.Struct):
    """What of a sample is counted."""

    text: str | None = None
    spans: list[Any] | None = None
    label: str | None = None
    labels: list[str] | dict[str, int] | None = None
    values: dict[str, float] | None = None


def described(records: Iterable[bytes], task: str) -> str:
    """A sentence about texts and what gold says of them; empty where there is no text.

    Args:
        records: samples as JSON.
        task: the task that is asked; what gold says of its kind is told.
    """
    decoder = msgspec.json.Decoder(_Record)
    every = [one for one in map(decoder.decode, records) if one.text]
    if not every:
        return ""
    words = sum(len((one.text or "").split()) for one in every) / len(every)
    said = _GOLD[task_named(task).files.kind](every) if task_named(task).files.kind in _GOLD else ""
    return f"The texts have {words:.0f} words on average{said and f'; {said}'}."


def _spans(records: Sequence[_Record]) -> str:
    there = [one.spans for one in records if one.spans]
    n = sum(map(len, there))
    return f"the gold annotation marks {n:,} span{'s' * (n != 1)} in {len(there):,} of them" if there else ""


def _label(records: Sequence[_Record]) -> str:
    there = [one.label for one in records if one.label is not None]
    if not there:
        return ""
    n = len(set(there))
    return f"the gold annotation assigns one of {n:,} label{'s' * (n != 1)} to {_many(len(there), len(records))}"


def _labels(records: Sequence[_Record]) -> str:
    there = [one.labels for one in records if one.labels is not None]
    there += [[one.label] for one in records if one.labels is None and one.label is not None]
    if not there:
        return ""
    names = {name for labels in there for name in labels}
    given = sum(sum(map(bool, one.values())) if isinstance(one, dict) else len(one) for one in there)
    mean = f"{given / len(there):.1f} on average"
    return f"the gold annotation assigns any of {len(names):,} labels to {_many(len(there), len(records))} ({mean})"


def _masked(records: Sequence[_Record]) -> str:
    n = sum(len(one.labels) for one in records if one.labels)
    different = len({word.lower() for one in records for word in one.labels or ()})
    return f"{n:,} emotion words, {different:,} of them different, are masked" if n else ""


def _values(records: Sequence[_Record]) -> str:
    there = [one.values for one in records if one.values]
    names = sorted({name for values in there for name in values})
    return f"the gold annotation rates {_many(len(there), len(records))} for {', '.join(names)}" if there else ""


def _many(n: int, of: int) -> str:
    return "each" if n == of else f"{n:,} of them"


_GOLD: Mapping[str, Callable[[Sequence[_Record]], str]] = {
    "spans": _spans,
    "evidence": _spans,
    "class": _label,
    "labels": _labels,
    "scenes": _labels,
    "masked": _masked,
    "values": _values,
}
"""What gold says, by kind."""


def parameters_of(card: ModelCard | None) -> str:
    """How many parameters a model has, as its card says it (`22 million`); empty where it does not."""
    found = (_PARAMETERS.search(note) for note in (card.notes if card is not None else ()))
    return next((match[1] for match in found if match), "")


def datasets_of(told: Sequence[Told]) -> list[Dataset]:
    """Each once, in the order of the runs."""
    return list({one.dataset.dataset: one.dataset for one in told}.values())


def packages() -> Mapping[str, str]:
    """The versions of what is installed and may matter."""
    found: dict[str, str] = {}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def prompts_of(store: Store, run: Run) -> list[dict[str, Any]]:
    """Every prompt as it was sent, with the sample, repeat and attempt that it was sent for."""
    ids = {number: key for key, number in store.samples.numbers_by_id(run.dataset).items()}
    return [
        {"id": ids[row.sample], "repeat": row.repeat, "attempt": row.attempt, "prompt": row.prompt}
        for row in store.results.of_run(run.run)
        if row.prompt is not None
    ]
