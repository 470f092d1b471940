"""What a paper is made from: runs, their datasets, and what is known of each."""

import re
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import msgspec

from emotui.backends.base import ModelCard
from emotui.store.query import Dataset, Run
from emotui.store.store import Store
from emotui.workbench.paper.naming import Naming
from emotui.workbench.runs.cards import known_card
from emotui.workbench.runs.machine import Measured, measured
from emotui.workbench.runs.plan import RunConfig
from emotui.workbench.runs.scores import last_attempts

_PACKAGES = (
    *("numpy", "scipy", "torch", "transformers", "sentence-transformers", "llama-cpp-python", "openai", "duckdb"),
    *("krippendorff", "empath", "nrclex", "matplotlib"),
)


_PARAMETERS = re.compile(r"([\d.,]+ (?:thousand|million|billion)) parameters")


class Told(msgspec.Struct, frozen=True):
    """One run. `called`: its id in the paper. `asked`: how often a model was asked, over which time in seconds.

    `prompts`: how many different prompts there were, and how many answers have none. `measured`: what it ran on.
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

    @property
    def is_model(self) -> bool:
        return self.run.source == "model"


def told_of(store: Store, runs: Sequence[Run], naming: Naming) -> list[Told]:
    """What is known of each run."""
    datasets = {dataset.dataset: dataset for dataset in store.datasets()}
    found = []
    for run in runs:
        rows = list(store.results(run.run))
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
            )
        )
    return found


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
    ids = {number: key for key, number in store.numbers_by_id(run.dataset).items()}
    return [
        {"id": ids[row.sample], "repeat": row.repeat, "attempt": row.attempt, "prompt": row.prompt}
        for row in store.results(run.run)
        if row.prompt is not None
    ]
