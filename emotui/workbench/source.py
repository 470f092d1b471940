"""What Browse needs to know, wherever the samples are: in a store (`Workspace`) or in files (`FileView`)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from emotui.metrics.metric import Metric
from emotui.records import SpanSample
from emotui.store.query import Dataset, ListQuery, ListRow, Run

if TYPE_CHECKING:
    import numpy as np

    from emotui.metrics.span_scoring import SampleDetail


@dataclass(frozen=True, slots=True)
class RepeatView:
    """One answer of a run to one sample: its score in detail, and the raw output and prompt as they were kept."""

    repeat: int
    detail: "SampleDetail | None"
    labels: tuple[str, ...] = ()
    raw: str | None = None
    prompt: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """One sample, and what a run said about it (no repeats where it has not been asked yet)."""

    number: int
    sample: SpanSample
    run: Run | None
    repeats: tuple[RepeatView, ...]


class BrowseSource(Protocol):
    """A list of samples with runs over them. Every call may take a while and may raise `EmotuiError`."""

    def title(self) -> str:
        """What the samples stand in, for the top line."""

    def datasets(self) -> list[Dataset]:
        """Datasets of every task, oldest first."""

    def runs(self, dataset: int) -> list[Run]:
        """Runs over a dataset, newest first."""

    def metrics(self, dataset: int) -> tuple[Metric, ...]:
        """What samples of a dataset are scored by, that of most interest first."""

    def emotions(self, dataset: int) -> list[str]:
        """Gold emotions that occur, in the order of the list's filter."""

    def order(self, query: ListQuery) -> "np.ndarray":
        """Sample numbers (int64) that match, in order."""

    def page(self, numbers: Sequence[int], run: str | None) -> list[ListRow]:
        """Rows for these sample numbers, in their order."""

    def evidence(self, sample: int, run: str | None) -> Evidence:
        """Everything about one sample."""

    def summary(self, run: str) -> dict[str, object]:
        """The figures of a run, as `emotui score spans` names them."""

    def marker(self) -> object:
        """A value that changes when there is something new to show. Cheap enough to ask twice a second."""

    def setting(self, key: str, default: object = None) -> object:
        """A remembered choice of the screen."""

    def set_setting(self, key: str, value: object) -> None:
        """Remember a choice; silently not, where the source is read-only."""
