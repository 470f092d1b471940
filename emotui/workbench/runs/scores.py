"""From kept outputs to scores and figures; no model is asked."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, overload

import msgspec
from msgspec.structs import replace

from emotui.backends.host import IsCancelled, ModelProcess
from emotui.errors import BadInput
from emotui.formats.rows import literal
from emotui.store.query import Dataset, Run
from emotui.store.rows import ResultRow
from emotui.store.store import Store
from emotui.tasks.added_metrics import NO_VALUE, mean_of, with_added
from emotui.tasks.asking import embedded
from emotui.tasks.parts import shared_column
from emotui.tasks.registry import task_named
from emotui.tasks.task import Parsed, Task
from emotui.workbench.datasets.label_maps import note_on
from emotui.workbench.masked.lexicons import note_on_lexicon, with_lexicon
from emotui.workbench.runs.plan import settings_of
from emotui.workbench.texts import run_dataset, sample_reader, stored_samples

if TYPE_CHECKING:
    import numpy as np

# Sentence embeddings for Sim, from the embedded model in its own process.


class Embedder:
    """Unit-length sentence embeddings of a model, in batches between which it can be cancelled.

    SEER section 6 uses sentence-BERT; all-MiniLM-L6-v2 is one of that family.
    """

    def __init__(self, model: ModelProcess, cancelled: IsCancelled | None = None) -> None:
        self.model = model
        """What embeds; it may be asked for more than that."""
        self._cancelled = cancelled

    def __call__(self, texts: Sequence[str]) -> "np.ndarray":
        """Returns (n, 384) float32, each row of length 1, or of NaN where the model did not finish the text."""
        return embedded(self.model, texts, self._cancelled)


class LazyEmbedder:
    """The embedded model, loaded when it is first asked for (it takes some seconds), and once."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._embedder: Embedder | None = None

    def __enter__(self) -> "LazyEmbedder":
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @contextmanager
    def use(self) -> Iterator[Embedder]:
        """As `emotui.tasks.parts.Embedding`."""
        if self._embedder is None:
            self._embedder = Embedder(self._stack.enter_context(ModelProcess("embedded")))
        yield self._embedder


# Which samples of a dataset share a passage, a post or an original, by a column of the data's own.


def groups_of(store: Store, dataset: int) -> tuple[str, dict[int, int]] | None:
    """The column by which samples of a dataset go together, and by a sample's number that of its group.

    Returns:
        None where no two samples share anything.
    """
    with store.together():
        column = shared_column(store.samples.own_columns(dataset))
        if column is None:
            return None
        numbers, said = store.samples.file_order(dataset), store.samples.said_in(dataset, column)
    seen: dict[str, int] = {}
    groups = {
        number: seen.setdefault(word, number) if word else number for number, word in zip(numbers, said, strict=True)
    }
    return (column, groups) if len(set(groups.values())) < len(groups) else None


ELSEWHERE = "elsewhere"
"""In place of a way to ask: nobody was asked here."""

_LONGEST_WHY = 120

Key = tuple[int, int]
"""A sample's number and the repeat."""


def scored(
    task: Task, way: str, outputs: Sequence[ResultRow], samples: dict[int, Any], embed: Embedder | None
) -> list[ResultRow]:
    """Parse kept outputs and score them; an output that cannot be parsed keeps its reason as the error.

    By the way `ELSEWHERE` an output is what somebody else says, by the keys of records in files.

    Of several attempts at one question the last is its answer. The others stay as they came. A question without an
    answer, or with one that cannot be parsed, is scored as one that was answered with nothing.
    """
    last = {(row.sample, row.repeat): place for place, row in enumerate(outputs)}
    last |= {(row.sample, row.repeat): place for place, row in enumerate(outputs) if row.raw is not None}
    rows = list(outputs)
    parsed: dict[int, bytes | None] = {}
    errors: dict[int, str | None] = {}
    places: list[int] = []
    answers: list[Parsed] = []
    encode = msgspec.json.Encoder().encode
    decoded: dict[str, dict[str, Any]] = {}  # by what says it: many say alike
    for key, place in last.items():
        row, sample = rows[place], samples[key[0]]
        prediction, errors[place] = None, row.error
        try:
            prediction = _parsed(task, way, sample, row.raw, decoded)
        except (ValueError, msgspec.DecodeError) as error:
            errors[place] = f"the output cannot be parsed: {error}"
        if prediction is not None:
            errors[place] = None
        parsed[place] = row.prediction if prediction is None else encode(prediction)
        said = _silence(task, sample) if prediction is None else prediction
        if said is not None and (task.scores_unlabelled or is_labelled(task, sample)):
            places.append(place)
            answers.append(Parsed(sample, row.repeat, said))
    scores = dict(zip(places, with_added(task, answers, task.score(answers, embed)), strict=True))
    for place, prediction in parsed.items():
        score = scores.get(place, rows[place].score)
        rows[place] = replace(rows[place], prediction=prediction, error=errors[place], score=score)
    return rows


def _parsed(task: Task, way: str, sample: Any, raw: str | None, decoded: dict[str, dict[str, Any]]) -> Any | None:
    if raw is None:
        return None
    if way == ELSEWHERE:
        if (said := decoded.get(raw)) is None:
            said = decoded[raw] = msgspec.json.decode(raw, type=dict[str, Any])
        return task.taken(sample, said)
    return task.parse(sample, raw, way)


def _silence(task: Task, sample: Any) -> Any | None:
    """An answer that says nothing; None where the task knows none, and then failed answers are not scored."""
    try:
        return task.taken(sample, {})
    except (BadInput, ValueError):
        return None


def is_labelled(task: Task, sample: Any) -> bool:
    """Whether gold says anything that an answer to the task can be scored against."""
    return task.files.labelled is None or task.files.labelled(sample)


def last_attempts(rows: Iterable[ResultRow]) -> list[ResultRow]:
    """Of each question the attempt that counts: the last that brought an answer, else the last one."""
    last: dict[Key, ResultRow] = {}
    for row in rows:
        key = (row.sample, row.repeat)
        if row.raw is not None or key not in last or last[key].raw is None:
            last[key] = row
    return list(last.values())


class Golds(Sequence[Any]):
    """Samples that are read anew from the store whenever somebody goes through them, so that many need no memory."""

    def __init__(self, read: Callable[[], Iterator[Any]], n: int, *, alone: bool = False) -> None:
        self._read, self._n = read, n
        self.alone = alone
        """Whether none of them shares anything with another, which `shared_of` need not look for then."""
        self._all: list[Any] | None = None

    def __iter__(self) -> Iterator[Any]:
        return self._read() if self._all is None else iter(self._all)

    def __len__(self) -> int:
        return self._n

    @overload
    def __getitem__(self, place: int) -> Any: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Any]: ...

    def __getitem__(self, place: int | slice) -> Any:
        """Whoever asks for one by its place has them all read."""
        if self._all is None:
            self._all = list(self._read())
        return self._all[place]


def metrics(store: Store, run: Run) -> dict[str, object]:
    """The figures of a run, as `emotui score` of its task names them, over what is done so far."""
    dataset = run_dataset(store, run)
    rows = list(store.results.of_run(run.run))
    numbers = {row.sample for row in rows if row.score is not None}
    if dataset is None:
        return {}
    unscored = {row.sample for row in rows if row.prediction is not None} - numbers
    unlabelled = {} if task_named(dataset.task).scores_unlabelled else {"unlabelled": len(unscored)}
    if not numbers:
        return {"n": 0, **unlabelled} if unlabelled and unscored else {}
    versions = store.gold.all_scored_under(run.run)
    version = min(versions, default=dataset.gold)
    former = store.gold.former(dataset.dataset, version) if version < dataset.gold else {}
    read = sample_reader(store, dataset)

    def scored_golds() -> Iterator[Any]:
        for number, sample in stored_samples(store, dataset, dataset.n):
            if number in numbers:
                yield read(former[number]) if number in former else sample

    golds = Golds(scored_golds, len(numbers), alone=not store.samples.holding(dataset.dataset, '"meta":{"', 1))
    settings = settings_of(run)
    task = with_lexicon(store, task_named(dataset.task).with_options(settings.options, settings.repeats), run)
    added = _added_means(task, rows)
    scores = [row.score for row in rows if row.score is not None]
    asked = dict(task.diagnostics(rows))
    del rows  # of a million, what the figures are made of is enough
    notes = msgspec.convert(asked.pop("notes", {}), dict[str, str])
    from emotui.metrics.beside import with_beside  # needs numpy

    report = {**task.report(golds, scores), **unlabelled, **asked}
    figures: dict[str, object] = with_beside(report, task.intervals(golds, scores))
    figures |= {name: mean for name, mean in added.items() if name not in figures}
    notes |= {name: NO_VALUE for name, mean in added.items() if mean is None}
    why = settings.trained_on
    if settings.flattered:
        why = f"{run.model} was fitted on these samples, so its figures here flatter it"
    if why:
        notes["run"] = why
    if mapped := note_on(store, dataset, run.run, {score.convention for score in scores}):
        notes["labels"] = mapped
    if by := note_on_lexicon(task, {score.convention for score in scores}):
        notes["lexicon"] = by
    if version < dataset.gold:
        notes["gold"] = f"{_under(versions, dataset)}: emotui rescore {run.run}"
    if notes:
        figures["notes"] = msgspec.convert(figures.get("notes") or {}, dict[str, str]) | notes
    return figures


def outputs_of(store: Store, run: Run, dataset: Dataset) -> list[ResultRow]:
    """All that is kept of a run's answers. Raises: BadInput where some are about texts that are not in its dataset."""
    there = store.samples.file_order(dataset.dataset)
    rows = list(store.results.of_run(run.run))
    if any(row.sample not in there for row in rows):
        raise BadInput(f"run {run.run} has answers about texts that are not in its dataset: no emotui wrote them")
    return rows


def unreadable(store: Store, run: Run) -> str:
    """Why what the store has of a run's answers and scores is none that its task made; empty: it can be read."""
    try:
        task = task_named(run.task)
        for row in store.results.of_run(run.run):
            if row.prediction is not None:
                msgspec.json.decode(row.prediction, type=task.prediction)
        metrics(store, run)
    except Exception as error:  # whatever somebody else's bytes do to whoever reads them
        return literal(f"{type(error).__name__}: {error}")[:_LONGEST_WHY]
    return ""


def former_gold(store: Store, run: Run) -> str:
    """That a run's scores are of a former version of gold, in words; empty where they are of today's."""
    dataset, versions = run_dataset(store, run), store.gold.all_scored_under(run.run)
    if dataset is None or min(versions, default=dataset.gold) >= dataset.gold:
        return ""
    return _under(versions, dataset)


def _under(versions: Sequence[int], dataset: Dataset) -> str:
    if len(versions) > 1:
        mixed = " and ".join(map(str, versions))
        return f"mixed: scored partly against version {mixed} of gold, and today's is {dataset.gold}"
    return f"scored against version {versions[0]} of gold, and today's is {dataset.gold}"


def _added_means(task: Task, rows: Sequence[ResultRow]) -> dict[str, object]:
    """The means of the metrics that other packages added."""
    own = {metric.name for metric in task.metrics}
    alike = {id(row.score.values): row.score.values for row in rows if row.score is not None}  # many rows share theirs
    names = dict.fromkeys(name for values in alike.values() for name in values if name not in own)
    kept = [(row.sample, row.score.values) for row in rows if row.score is not None] if names else ()
    return {name: mean_of((sample, values.get(name)) for sample, values in kept) for name in names}
