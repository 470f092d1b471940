"""What there is to show: datasets, runs, emotions; and what a source remembers when it is opened."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from emotui.metrics.metric import Metric
from emotui.screens.list_state import ListState
from emotui.store.query import Dataset, Run

if TYPE_CHECKING:
    from emotui.workbench.source import BrowseSource


EMBEDDED = "embedded"

LIVE_MODEL = "live model"
"""The setting that remembers which model is live."""


@dataclass(frozen=True, slots=True)
class Overview:
    """What there is to show."""

    datasets: tuple[Dataset, ...] = ()
    dataset: Dataset | None = None
    runs: tuple[Run, ...] = ()
    emotions: tuple[str, ...] = ()
    metrics: tuple[Metric, ...] = ()


@dataclass(frozen=True, slots=True)
class Opened:
    """A source that has just been opened, with what it remembers; `lists` by task.

    `live`: the SPEC of the model that answers wherever one text at a time is asked about.
    """

    source: "BrowseSource"
    title: str
    lists: Mapping[str, object]
    theme: object
    is_new: bool
    live: str | None


def list_setting(task: str) -> str:
    """Under which name the list of a task is remembered."""
    return "browse" if task == "spans" else f"list of {task}"


def open_up(source: "BrowseSource", tasks: set[str]) -> Opened:
    """Ask a source that has just been opened for what it remembers."""
    needs_first_start = getattr(source, "needs_first_start", None)
    return Opened(
        source,
        source.title(),
        {task: source.setting(list_setting(task)) for task in tasks},
        source.setting("theme"),
        bool(needs_first_start is not None and needs_first_start()),
        _live_model(source),
    )


def _live_model(source: "BrowseSource") -> str | None:
    """The SPEC that was live last; None where there are no models (files are browsed without them)."""
    if not hasattr(source, "model_state"):
        return None
    kept = source.setting(LIVE_MODEL)
    return kept if isinstance(kept, str) and kept else EMBEDDED


def look(source: "BrowseSource", task: str, name: str | None) -> Overview:
    """What there is now of a task; of its datasets the one called `name`, or else the first."""
    datasets = tuple(dataset for dataset in source.datasets() if dataset.task == task)
    dataset = ListState(dataset=name).chosen_dataset(datasets)
    if dataset is None:
        return Overview(datasets)
    number = dataset.dataset
    runs, emotions = tuple(source.runs(number)), tuple(source.emotions(number))
    return Overview(datasets, dataset, runs, emotions, source.metrics(number))
