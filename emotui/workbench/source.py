"""What the screens need to know, wherever the samples are: in a store (`Workspace`) or in files (`FileView`)."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from emotui.metrics.metric import Metric
from emotui.records import Mark, Span, SpanSample
from emotui.store.query import Dataset, ListQuery, ListRow, Run
from emotui.workbench.turns import Turns

if TYPE_CHECKING:
    import threading
    from pathlib import Path

    import numpy as np

    from emotui.backends.host import ModelProcess
    from emotui.metrics.span_scoring import SampleDetail
    from emotui.workbench.annotate.desk import Desk
    from emotui.workbench.answers import Voice
    from emotui.workbench.compare.pairs import Comparing
    from emotui.workbench.datasets.importing import Importing
    from emotui.workbench.datasets.sources import SourceBench
    from emotui.workbench.datasets.spot_checks import SpotChecks
    from emotui.workbench.drafts import DraftBook
    from emotui.workbench.generation.bench import GenerationBench
    from emotui.workbench.masked.looking import MaskedBench
    from emotui.workbench.models.loaded import LoadedModels
    from emotui.workbench.notes import NoteBook
    from emotui.workbench.progress import OnProgress, RunOptions
    from emotui.workbench.query_process import Table
    from emotui.workbench.rephrase.service import Rephrasing
    from emotui.workbench.results.service import Results
    from emotui.workbench.said import SampleSaid
    from emotui.workbench.scenes.service import SceneBench
    from emotui.workbench.slices.near import Near
    from emotui.workbench.slices.slicing import Slicing
    from emotui.workbench.why.heat import LayerReader
    from emotui.workbench.why.live_push import TextPusher
    from emotui.workbench.why.removal import Removal


class PredictedSpan(msgspec.Struct, frozen=True):
    """A span that a run gave: its words, where they stand in the text (None: nowhere), and what it said of them."""

    text: str
    place: Span | None
    label: str | None = None
    score: float | None = None


WriteRows = Callable[[int, Sequence[int], Sequence[str], str], Sequence[str]]
"""(dataset, samples, runs and annotators, path) to a line for each kind of thing that the layout cannot hold.

Raises BadInput where the file cannot be written.
"""


def predicted_spans(
    sample: SpanSample, spans: Sequence[str | Mark], detail: "SampleDetail | None"
) -> tuple[PredictedSpan, ...]:
    """The spans of an answer with their places: those that it gave itself, else those where its words stand.

    Args:
        detail: the score of just these spans, which knows the places of those that are strings.
    """
    from emotui.metrics.locating import locate  # the start needs no alignment

    words = [span if isinstance(span, str) else sample.text[span.start : span.end] for span in spans]
    fits = detail is not None and len(detail.located) == len(words)
    found = detail.located if detail is not None and fits else locate(sample.text, words)
    return tuple(
        PredictedSpan(said, place) if isinstance(span, str) else PredictedSpan(said, span.place, span.label, span.score)
        for said, span, place in zip(words, spans, found, strict=True)
    )


class RepeatView(msgspec.Struct, frozen=True):
    """One answer of a run to one sample: its score in detail, and the raw output and prompt as they were kept.

    `spans`: as `detail.predicted` has them in its order. `detail` is None where the answer has not been scored, or
    failed, or the sample has no gold.
    """

    repeat: int
    detail: "SampleDetail | None"
    spans: tuple[PredictedSpan, ...] = ()
    raw: str | None = None
    prompt: str | None = None
    error: str | None = None


class Evidence(msgspec.Struct, frozen=True):
    """One sample, and what a run said about it (no repeats where it has not been asked yet).

    `turns`: of the conversation that it is from. `meta`: columns of the data's own.
    """

    number: int
    sample: SpanSample
    run: Run | None
    repeats: tuple[RepeatView, ...]
    turns: Turns = Turns()
    meta: Mapping[str, Any] = {}


class Models(Protocol):
    """What a source that has models does with them. Every call but `model_state` and `stop` may take a while."""

    def model(self, spec: str) -> "ModelProcess":
        """The process of a model, one a SPEC."""

    def model_state(self, spec: str) -> str:
        """How a model stands: `ready`, `loading`, `ended` or `not loaded`. Answers at once."""

    def shelf(self) -> "LoadedModels":
        """What loads, ends and measures models."""

    def add_experiment(self, number: int) -> Dataset:
        """The dataset of a prompting experiment, made where it is not there yet."""

    def run_model(
        self,
        spec: str,
        dataset: int | str,
        wanted: "RunOptions",
        *,
        on_progress: "OnProgress",
    ) -> Run:
        """Run a model over a dataset and wait for it."""

    def stop(self) -> None:
        """Stop the run in progress; what it has done stays."""

    def needs_first_start(self) -> bool:
        """Whether there is nothing yet, and sample data may be put there."""

    def first_start(self, on_progress: "OnProgress") -> None:
        """Load the sample data and run a model over it."""


class BrowseSource(Protocol):
    """A list of samples with runs over them. Every call may take a while and may raise `EmotuiError`.

    What not every source has is a property: None where it is not there, else what gives it. Reading the property
    costs nothing; calling what it gives may import a library.
    """

    def title(self) -> str:
        """What the samples stand in, for the top line."""

    def together(self) -> AbstractContextManager[None]:
        """What a thread reads inside is of one moment, and may cost less; nothing may be written there."""

    def datasets(self) -> list[Dataset]:
        """Datasets of every task, oldest first."""

    def runs(self, dataset: int) -> list[Run]:
        """Runs over a dataset, newest first."""

    def settled(self, dataset: int) -> frozenset[str]:
        """The ids of runs over a dataset that hold the result of an adjudication, and so are no further person's."""

    def metrics(self, dataset: int, task: str | None = None) -> tuple[Metric, ...]:
        """What runs of a task (None: the dataset's own) over a dataset are scored by, that of most interest first."""

    def emotions(self, dataset: int) -> list[str]:
        """Gold emotions that occur, in the order of the list's filter."""

    def filter_counts(self, dataset: int, run: str | None) -> Mapping[str, Mapping[str, int]]:
        """How many samples have each emotion, valence and, by the run, mark: by `emotions`, `valences` and `marks`.

        Without `L` among the marks where gold has no label of any span, so that none can be wrong.
        """

    def order(self, query: ListQuery) -> "np.ndarray | range":
        """Sample numbers (int64) that match, in order; a range where they are all, and in the order of the file."""

    def marks(self, dataset: int, run: str) -> "np.ndarray":
        """(n,) by the place of the sample: its errors as a bit each in the order of `MARKS`; -1 without a score."""

    def page(self, numbers: Sequence[int], run: str | None) -> list[ListRow]:
        """Rows for these sample numbers, in their order."""

    def evidence(self, sample: int, run: str | None) -> Evidence:
        """Everything about one sample."""

    def records(self, dataset: int, numbers: Sequence[int], run: str | None) -> Sequence[msgspec.Struct]:
        """The records of samples in this order, as files have them: gold, or what `run` says of them, all repeats.

        Raises:
            EmotuiError: they cannot be read.
        """

    def said(self, dataset: int, sample: int, run: str | None) -> "SampleSaid":
        """One sample of any task, and what a run said about it, in lines."""

    def voices(self, sample: int, runs: Sequence[str]) -> "tuple[Voice, ...]":
        """Everything that gold, people and these runs, of any task, say of one sample."""

    def summary(self, run: str) -> dict[str, object]:
        """The figures of a run, as `emotui score spans` names them."""

    @property
    def files(self) -> "tuple[Path, ...]":
        """What it reads, over which nothing may be written."""

    def marker(self) -> object:
        """A value that changes when there is something new to show. Cheap enough to ask twice a second."""

    def setting(self, key: str, default: object = None) -> object:
        """A remembered choice of the screen."""

    def set_setting(self, key: str, value: object) -> None:
        """Remember a choice; silently not, where the source is read-only."""

    def close(self) -> None:
        """End the models that it has started."""

    @property
    def models(self) -> Models | None:
        """What it does with models."""

    @property
    def scenes(self) -> "Callable[[], SceneBench] | None":
        """What re-decodes runs over scenarios."""

    @property
    def generation(self) -> "Callable[[], GenerationBench] | None":
        """What reads versions of texts, their figures and raters' labels, and keeps ratings."""

    @property
    def rephrasing(self) -> "Callable[[], Rephrasing] | None":
        """What a person rephrases texts with."""

    @property
    def write_rows(self) -> "WriteRows | None":
        """What writes samples with gold, what runs say, scores and marks into a file, in a layout by its ending."""

    @property
    def results(self) -> "Callable[[], Results] | None":
        """The tables, bars and transitions of its runs."""

    @property
    def comparing(self) -> "Callable[[], Comparing] | None":
        """What compares sources of a dataset."""

    @property
    def masked(self) -> "Callable[[], MaskedBench] | None":
        """What looks into masked texts, and keeps what people guess and judge about them."""

    @property
    def notes(self) -> "Callable[[], NoteBook] | None":
        """What keeps notes on samples and their codes."""

    @property
    def drafts(self) -> "Callable[[], DraftBook] | None":
        """What keeps what a person writes and has not kept yet."""

    @property
    def near(self) -> "Callable[[int, int, int], list[Near]] | None":
        """(dataset, sample, n) to the texts that are nearest to a sample's."""

    @property
    def removal(self) -> "Callable[[], Removal] | None":
        """What takes spans out of texts, and asks models again."""

    @property
    def layers(self) -> "Callable[[], LayerReader] | None":
        """What reads texts by the layers of models, with probes of a dataset's labels."""

    @property
    def pushes(self) -> "Callable[[], TextPusher] | None":
        """What pushes texts along a label's direction, while a person looks at them."""

    @property
    def slicing(self) -> "Callable[[], Slicing] | None":
        """What knows parts of datasets: filters with a name, figures in each, rules."""

    @property
    def spot_checks(self) -> "Callable[[], SpotChecks] | None":
        """What keeps texts that a person tried."""

    @property
    def annotating(self) -> "Callable[[], Desk] | None":
        """What a person annotates with."""

    @property
    def importing(self) -> "Callable[[], Importing] | None":
        """What looks at files of any hand and brings them in."""

    @property
    def sources(self) -> "Callable[[], SourceBench] | None":
        """What takes people in, scores again, and makes a source gold; None where nothing may be written."""

    @property
    def ask_sql(self) -> "Callable[[str, threading.Event], Table] | None":
        """What answers one SELECT over what it holds; once the event is set, it ends."""
