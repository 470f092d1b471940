"""What there is of each text: the original, and from every source its two versions, with their metrics and labels."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from emotui.errors import BadInput
from emotui.metrics.metric import Metric
from emotui.records import GenerationGold
from emotui.store.query import Dataset, Run
from emotui.store.rows import ResultRow
from emotui.store.store import Store
from emotui.tasks.generation.task import EmotionGeneration
from emotui.tasks.generation.whole import Prediction
from emotui.tasks.parts import ILLUSTRATION
from emotui.workbench.runs.scores import last_attempts
from emotui.workbench.runs.states import with_state
from emotui.workbench.task_words import metrics_named

TASK = EmotionGeneration.name

_INVENTED = "(illustration)"


class Writer(msgspec.Struct, frozen=True):
    """A source of versions. `name`: its model's, and where two have one the beginning of the run too."""

    run: str
    name: str
    done: int
    n: int
    state: str


class Version(msgspec.Struct, frozen=True):
    """What one writer made of a text. `values`: by the name of the metric; `marks`: letters of errors.

    `human`, `human_neutral`: the labels of raters of the emotional and of the neutral version. `error`: why there is
    no answer.
    """

    writer: Writer
    neutral: str = ""
    emotional: str = ""
    refused: tuple[str, ...] = ()
    human: tuple[str, ...] = ()
    human_neutral: tuple[str, ...] = ()
    values: Mapping[str, float | None] = {}
    marks: str = ""
    error: str | None = None

    @property
    def silent(self) -> bool:
        """Whether a version is missing, or a refusal stands in its place."""
        return bool(self.refused) or not (self.neutral and self.emotional)


class Versions(msgspec.Struct, frozen=True):
    """A text with all its versions. `illustration`: the text, a writer or the raters are invented."""

    sample: int
    id: str
    original: str
    target: str
    versions: tuple[Version, ...]
    metrics: tuple[Metric, ...]
    illustration: bool


def writers_of(store: Store, dataset: int) -> list[Writer]:
    """The sources of a dataset that have said anything, in the order in which they came."""
    runs = [with_state(run) for run in reversed(store.runs.all(dataset)) if run.done]
    names = [run.model for run in runs]
    return [
        Writer(run.run, run.model if names.count(run.model) == 1 else f"{run.model} {run.run[:6]}", *_standing(run))
        for run in runs
    ]


def _standing(run: Run) -> tuple[int, int, str]:
    return run.done, run.n, run.state


def invented(dataset: Dataset, writers: Iterable[Writer]) -> bool:
    """Whether figures over the dataset are illustration: it comes with emotui, or a writer's name says so."""
    return dataset.source == ILLUSTRATION or any(_INVENTED in writer.name for writer in writers)


def dataset_of(store: Store, dataset: int) -> Dataset:
    """Raises BadInput where there is none of that number, or it is of another task."""
    found = store.datasets.get(dataset)
    if found is None:
        raise BadInput(f"there is no dataset {dataset}")
    if found.task != "generation":
        raise BadInput(f"{found.name} holds {found.task}, and no texts with versions: emotui import generation FILE")
    return found


def versions_of(store: Store, dataset: int, sample: int) -> Versions:
    """Everything about one text.

    Raises:
        BadInput: there is no such dataset or text.
    """
    held, found = dataset_of(store, dataset), store.samples.records([sample])
    if not found or held.task != TASK or sample not in store.samples.file_order(dataset):
        raise BadInput(f"there is no text {sample} in the dataset {held.name}")
    gold = msgspec.json.decode(found[0][1], type=GenerationGold)
    writers = writers_of(store, dataset)
    versions = []
    for writer in writers:
        rows = [row for row in last_attempts(store.results.of_run(writer.run, [sample])) if row.repeat == 0]
        versions += [as_version(writer, row) for row in rows]
    metrics = metrics_named(EmotionGeneration(), (name for one in versions for name in one.values))
    return Versions(sample, gold.id, gold.text, gold.label, tuple(versions), tuple(metrics), invented(held, writers))


def as_version(writer: Writer, row: ResultRow) -> Version:
    """A row of the store as the version that it holds."""
    said = Prediction() if row.prediction is None else msgspec.json.decode(row.prediction, type=Prediction)
    return Version(
        writer,
        said.neutral,
        said.emotional,
        said.refused,
        said.human,
        said.human_neutral,
        {} if row.score is None else dict(row.score.values),
        "" if row.score is None else row.score.marks,
        row.error,
    )


def all_versions(store: Store, writers: Sequence[Writer]) -> dict[int, list[Version]]:
    """By the number of the text what each of these writers made of it; of several repeats the first."""
    found: dict[int, list[Version]] = {}
    for writer in writers:
        for row in last_attempts(store.results.of_run(writer.run)):
            if row.repeat == 0:
                found.setdefault(row.sample, []).append(as_version(writer, row))
    return found
