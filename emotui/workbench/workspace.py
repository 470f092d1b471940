"""A workspace: one store, the models at work on it, and what a person can do with both."""

import contextlib
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from emotui.errors import BadInput, StoreError
from emotui.metrics.metric import Metric
from emotui.records import SpanSample
from emotui.store.access import OnWaiting
from emotui.store.query import Dataset, ListQuery, ListRow, Run, counted_marks
from emotui.store.rows import ResultRow
from emotui.store.store import Store, default_path
from emotui.store.upgrade import OnUpgrade
from emotui.tasks.registry import SPANS, task_named
from emotui.workbench.runs.states import with_state
from emotui.workbench.source import Evidence, RepeatView, predicted_spans
from emotui.workbench.task_words import metrics_of
from emotui.workbench.turns import turns_of

if TYPE_CHECKING:
    import numpy as np

    from emotui.backends.host import ModelProcess
    from emotui.formats.reading import Warn
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

FIRST_START = "first_start"
"""The setting that says how far the first start came: `loaded`, then `done`."""

DEFAULT_MODEL = "embedded"


class Workspace:
    """Implements `BrowseSource` over a store, and starts and stops runs. Every method may be called from any thread."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._stop = threading.Event()
        self._models: dict[str, ModelProcess] = {}
        self._lock = threading.Lock()
        self._scenes: SceneBench | None = None
        self._shelf: LoadedModels | None = None
        self._results: Results | None = None
        self._rephrasing: Rephrasing | None = None
        self._comparing: Comparing | None = None
        self._generation: GenerationBench | None = None
        self._notes: NoteBook | None = None
        self._slicing: Slicing | None = None
        self._removal: Removal | None = None
        self._pushes: TextPusher | None = None
        self._layers: LayerReader | None = None
        self._looks_through = False

    @classmethod
    def open(
        cls,
        path: str | Path | None = None,
        *,
        read_only: bool = False,
        create: bool = True,
        on_waiting: OnWaiting | None = None,
        on_upgrade: OnUpgrade | None = None,
        at_once: bool = False,
    ) -> "Workspace":
        """Open a workspace file, and make it where there is none (`create`).

        Args:
            on_waiting: told for whom all that is done with it waits while another program holds the file, and for how
                many seconds; None: it waits for 10 s in place of an hour.
            on_upgrade: told, before and after, where an older workspace is brought up to date.
            at_once: do not look through a store again that has not changed since, and see at the end that the next
                one to open it need not either.

        Raises:
            StoreError: it cannot be opened; the message says why and what to do.
        """
        file = Path(path) if path else default_path()
        store = Store.open(
            file,
            read_only=read_only,
            create=create,
            on_waiting=on_waiting,
            again=not at_once,
            on_upgrade=on_upgrade,
        )
        opened = cls(store)
        opened._looks_through = at_once
        return opened

    @classmethod
    def look_into(
        cls,
        path: str | Path | None = None,
        *,
        read_only: bool = False,
        on_waiting: OnWaiting | None = None,
        on_upgrade: OnUpgrade | None = None,
    ) -> "Workspace":
        """As `open`, for what needs a workspace that is there: a path that was named is not made.

        Raises:
            BadStore: there is no such file, or it is no store.
            StoreError: it cannot be opened; the message says why and what to do.
        """
        return cls.open(path, read_only=read_only, create=not path, on_waiting=on_waiting, on_upgrade=on_upgrade)

    def close(self) -> None:
        """End all models. The store needs no closing: it is held only for the length of a transaction."""
        self._stop.set()
        for model in self._models.values():
            model.close()
        if self._looks_through:
            with contextlib.suppress(StoreError):
                self.store.look_through()

    # What Browse asks.

    def title(self) -> str:
        return self.store.path.stem + (" (read only)" if self.store.read_only else "")

    def together(self) -> AbstractContextManager[None]:
        return self.store.together()

    def datasets(self) -> list[Dataset]:
        return self.store.datasets.all()

    def runs(self, dataset: int) -> list[Run]:
        return [with_state(run) for run in self.store.runs.all(dataset)]

    def settled(self, dataset: int) -> frozenset[str]:
        people = [run for run in self.store.runs.all(dataset) if run.source == "person"]
        found = self.store.datasets.get(dataset) if people else None
        if found is None:
            return frozenset()
        from emotui.workbench.annotate.log import settled_among

        return settled_among(self.store, found, people)

    def metrics(self, dataset: int, task: str | None = None) -> tuple[Metric, ...]:
        return metrics_of(self.store, dataset, task)

    def emotions(self, dataset: int) -> list[str]:
        return self.store.samples.emotions(dataset)

    def filter_counts(self, dataset: int, run: str | None) -> Mapping[str, Mapping[str, int]]:
        counts = self.store.samples.label_counts(dataset)
        if run is None:
            return counts
        marks = counted_marks(self.store.listing.marks(dataset, run))
        if not marks["L"] and not self.store.samples.labels_spans(dataset):
            del marks["L"]
        return counts | {"marks": marks}

    def order(self, query: ListQuery) -> "np.ndarray | range":
        # All of a dataset is known by two numbers: the first page then waits neither for numpy nor for a query.
        if query.whole:
            return self.store.samples.file_order(query.dataset)
        found = self.store.listing.order(query)
        if query.conditions:
            kept = self.slicing().keeps(query.dataset, query.conditions, query.run)
            found = found[kept[found - self.store.samples.file_order(query.dataset).start]]
        return found

    def marks(self, dataset: int, run: str) -> "np.ndarray":
        return self.store.listing.marks(dataset, run)

    def page(self, numbers: Sequence[int], run: str | None) -> list[ListRow]:
        return self.store.list_rows.page(numbers, run)

    def evidence(self, sample: int, run: str | None) -> Evidence:
        from emotui.workbench.answers import own_columns_of
        from emotui.workbench.runs.scores import last_attempts
        from emotui.workbench.texts import read_sample

        with self.store.together():
            ((_, record),) = self.store.samples.records([sample])
            dataset = self.store.datasets.of_sample(sample).read_as(SPANS)
            asked: SpanSample = read_sample(self.store, dataset, record)
            rows = [] if run is None else last_attempts(self.store.results.of_run(run, [sample]))
            return Evidence(
                number=sample,
                sample=asked,
                run=None if run is None else with_state(self.store.runs.get(run)),
                repeats=tuple([_repeat(asked, row) for row in rows]),
                turns=turns_of(self.store, sample, record),
                meta=own_columns_of(dataset.kept_as, msgspec.json.decode(record)),
            )

    def voices(self, sample: int, runs: Sequence[str]) -> "tuple[Voice, ...]":
        from emotui.workbench.answers import voices_of

        with self.store.together():
            return voices_of(self.store, sample, [self.store.runs.get(run) for run in runs])

    def records(self, dataset: int, numbers: Sequence[int], run: str | None) -> Sequence[msgspec.Struct]:
        from emotui.workbench.runs.export_rows import gold_records, run_records

        wanted = [int(number) for number in numbers]
        if run is None:
            return gold_records(self.store, dataset, wanted)
        return run_records(self.store, self.store.runs.get(run), wanted)

    def write_rows(self, dataset: int, numbers: Sequence[int], runs: Sequence[str], path: str) -> Sequence[str]:
        from emotui.workbench.runs.export_rows import PARTS, export_rows, found_sources, layout_to_write, write_rows

        found = self.store.datasets.get(dataset)
        if found is None:
            raise BadInput(f"there is no dataset {dataset}")
        sources = found_sources(self.store, (found.name, *runs))
        rows = export_rows(self.store, sources, PARTS, [int(number) for number in numbers])
        return write_rows(path, layout_to_write(path, None), rows)

    def said(self, dataset: int, sample: int, run: str | None) -> "SampleSaid":
        from emotui.workbench.said import said_of

        return said_of(self.store, dataset, sample, run)

    def summary(self, run: str) -> dict[str, object]:
        from emotui.workbench.runs.scores import metrics

        return metrics(self.store, self.store.runs.get(run))

    def scenes(self) -> "SceneBench":
        """What re-decodes runs of the scenes task. It brings scipy in, so it is made when it is first asked for."""
        from emotui.workbench.scenes.service import SceneBench

        with self._lock:
            if self._scenes is None:
                self._scenes = SceneBench(self.store)
            return self._scenes

    def rephrasing(self) -> "Rephrasing":
        """What a person rephrases texts with, against a live classifier."""
        from emotui.workbench.rephrase.service import Rephrasing

        with self._lock:
            if self._rephrasing is None:
                self._rephrasing = Rephrasing(self.store, self.model)
            return self._rephrasing

    def generation(self) -> "GenerationBench":
        """What reads versions of texts and their figures, made when it is first asked for: it brings numpy in."""
        from emotui.workbench.generation.bench import GenerationBench

        with self._lock:
            if self._generation is None:
                self._generation = GenerationBench(self.store)
            return self._generation

    def results(self) -> "Results":
        """SEER's tables, bars and transitions over the store, made when they are first asked for."""
        from emotui.workbench.results.service import Results

        with self._lock:
            if self._results is None:
                self._results = Results(self.store, self.model)
            return self._results

    def comparing(self) -> "Comparing":
        """What compares sources of a dataset, made when it is first asked for: it brings scipy in."""
        from emotui.workbench.compare.pairs import Comparing

        with self._lock:
            if self._comparing is None:
                self._comparing = Comparing(self.store)
            return self._comparing

    def masked(self) -> "MaskedBench":
        """What looks into masked texts, and keeps what people guess and judge about them."""
        from emotui.workbench.masked.looking import MaskedBench

        return MaskedBench(self.store)

    def notes(self) -> "NoteBook":
        """The notes on samples and their codes."""
        from emotui.workbench.notes import NoteBook

        with self._lock:
            if self._notes is None:
                self._notes = NoteBook(self.store)
            return self._notes

    def drafts(self) -> "DraftBook":
        """What people write and have not kept yet."""
        from emotui.workbench.drafts import DraftBook

        return DraftBook(self.store)

    def slicing(self) -> "Slicing":
        """Parts of datasets, made when it is first asked for: it brings scipy in."""
        from emotui.workbench.slices.slicing import Slicing

        comparing, notes = self.comparing(), self.notes()
        with self._lock:
            if self._slicing is None:
                self._slicing = Slicing(self.store, comparing, notes)
            return self._slicing

    def removal(self) -> "Removal":
        """What takes spans out of texts and asks models again; the store keeps their answers."""
        from emotui.workbench.why.removal import Removal

        with self._lock:
            if self._removal is None:
                self._removal = Removal(self.store, self.model)
            return self._removal

    def layers(self) -> "LayerReader":
        """What reads texts by the layers of models; it keeps its probes."""
        from emotui.workbench.why.heat import LayerReader

        with self._lock:
            if self._layers is None:
                self._layers = LayerReader(self.store, self.model)
            return self._layers

    def pushes(self) -> "TextPusher":
        """What pushes texts while a person looks at them; it holds the directions of one model."""
        from emotui.workbench.why.live_push import TextPusher

        with self._lock:
            if self._pushes is None:
                self._pushes = TextPusher(self.store, self.model)
            return self._pushes

    def near(self, dataset: int, sample: int, n: int) -> "list[Near]":
        """The texts of a dataset that are nearest to a sample's, by the embedded model; it is loaded for that."""
        from emotui.workbench.slices.near import nearest_texts

        return nearest_texts(self.store, dataset, sample, self.model(DEFAULT_MODEL), n)

    def shelf(self) -> "LoadedModels":
        """What loads, ends and measures models. It looks into folders, so it is made when it is first asked for."""
        from emotui.workbench.models.discovery import model_folders, models_at_hand
        from emotui.workbench.models.loaded import LoadedModels

        with self._lock:
            if self._shelf is None:
                path = str(self.store.path)
                self._shelf = LoadedModels(
                    self.model, lambda: models_at_hand(model_folders((), path)).models, self.store.runs.all
                )
            return self._shelf

    def ask_sql(self, question: str, stop: threading.Event) -> "Table":
        """The answer to one SELECT over the views of the store; once `stop` is set, it ends."""
        from emotui.workbench.query_process import ask

        return ask(self.store.path, question, stop)

    @property
    def importing(self) -> "Callable[[], Importing] | None":
        """What looks at files of any hand and brings them in; None where nothing may be written."""
        return None if self.store.read_only else self._importing

    def _importing(self) -> "Importing":
        from emotui.workbench.datasets.importing import Importing

        return Importing(self.store)

    @property
    def sources(self) -> "Callable[[], SourceBench] | None":
        """What takes people in, scores again, and makes a source gold; None where nothing may be written."""
        return None if self.store.read_only else self._sources

    def _sources(self) -> "SourceBench":
        from emotui.workbench.datasets.sources import SourceBench

        return SourceBench(self.store, self.model)

    @property
    def annotating(self) -> "Callable[[], Desk] | None":
        """What a person annotates with; None where nothing may be written."""
        return None if self.store.read_only else self._annotating

    def _annotating(self) -> "Desk":
        from emotui.workbench.annotate.desk import Desk

        return Desk(self.store)

    def spot_checks(self) -> "SpotChecks":
        """What keeps texts that a person tried."""
        from emotui.workbench.datasets.spot_checks import SpotChecks

        return SpotChecks(self.store)

    @property
    def models(self) -> "Workspace":
        """A workspace has models."""
        return self

    @property
    def files(self) -> tuple[Path, ...]:
        """The store."""
        return (self.store.path,)

    def marker(self) -> object:
        return self.store.marker()

    def setting(self, key: str, default: object = None) -> object:
        return self.store.settings.get(key, default)

    def set_setting(self, key: str, value: object) -> None:
        if not self.store.read_only:
            self.store.settings.set(key, value)

    # What a person does.

    def import_files(
        self, paths: Sequence[str], name: str | None = None, task: str = SPANS, *, warn: "Warn | None" = None
    ) -> Dataset:
        """Add samples of a task from files as a dataset; `warn` is told what is read otherwise than it stands."""
        from emotui.workbench.datasets.whole_records import import_files

        return import_files(self.store, task, paths, name, warn=warn or (lambda line: None))

    def add_experiment(self, number: int) -> Dataset:
        """The dataset of a prompting experiment, made where it is not there yet.

        Raises:
            BadInput: there is no such experiment.
        """
        from emotui.workbench.datasets.samples import add_experiment

        return add_experiment(self.store, number)

    def run_model(
        self,
        spec: str,
        dataset: int | str,
        wanted: "RunOptions | None" = None,
        *,
        task: str | None = None,
        on_progress: "OnProgress" = lambda progress: None,
    ) -> Run:
        """Run a model over a dataset and wait for it; `stop()` from another thread ends it between or inside batches.

        Args:
            wanted: how it is to be run; None: as it is by default.
            task: what is asked about its texts; None: what they came for, or what the run to resume asks.

        Raises:
            BadInput: no such dataset, or a resume that does not fit.
            EmotuiError: the model or the store failed; what was done is kept.
            Cancelled: stopped; what was done is kept and can be resumed.
        """
        from emotui.workbench.progress import RunOptions, RunProgress
        from emotui.workbench.runs.run import run_task

        wanted = wanted or RunOptions()
        found = self.store.datasets.get(dataset)
        if found is None:
            raise BadInput(f"the store has no dataset {dataset!r}")
        former = None if wanted.resume is None else self.store.runs.get(wanted.resume)
        if task is None and former is not None:
            task = former.task
        if task is not None:
            found = found.read_as(task)
        spans = None
        named: Any = wanted.options if former is None else former.config.get("options")
        if named and "spans" in named:
            from emotui.workbench.compare.evidence import with_evidence

            options, spans = with_evidence(self.store, found, named)
            wanted = msgspec.structs.replace(wanted, options=options)
        self._stop.clear()
        model = self.model(spec)
        on_progress(RunProgress("", spec, 0, found.n, 0, None, None, f"loading {spec}"))
        return run_task(
            self.store,
            model,
            found,
            wanted,
            spans=spans,
            on_progress=on_progress,
            cancelled=self._stop.is_set,
        )

    def stop(self) -> None:
        """Stop the run in progress; what it has done stays."""
        self._stop.set()

    def model(self, spec: str) -> "ModelProcess":
        """The process of a model, one a SPEC; it is started by its first load or question."""
        from emotui.backends.host import ModelProcess

        with self._lock:
            if spec not in self._models:
                self._models[spec] = ModelProcess(spec)
            return self._models[spec]

    def model_state(self, spec: str) -> str:
        """How a model stands: `ready`, `loading`, `ended` (it was loaded once), or `not loaded`. Answers at once."""
        model = self._models.get(spec)
        if model is None:
            return "not loaded"
        if model.pid is not None:
            return "ready" if model.card is not None else "loading"
        return "ended" if model.card is not None else "not loaded"

    def needs_first_start(self) -> bool:
        """Whether this workspace has nothing in it yet and may be written."""
        return (
            not self.store.read_only
            and self.setting(FIRST_START) != "done"
            and (self.setting(FIRST_START) == "loaded" or not self.datasets())
        )

    def first_start(self, on_progress: "OnProgress" = lambda progress: None) -> None:
        """Load the sample data of every task, and texts of which all is said, and run the embedded model over them.

        A first start that was cut short goes on later.
        """
        from emotui.workbench.progress import RunOptions, RunProgress
        from emotui.workbench.sample_data import add_first_samples

        on_progress(RunProgress("", DEFAULT_MODEL, 0, 0, 0, None, None, "loading the sample data"))

        asked = add_first_samples(self.store)
        self.set_setting(FIRST_START, "loaded")
        for number, (dataset, task) in enumerate(asked, 1):

            def tell(progress: RunProgress, number: int = number) -> None:
                on_progress(msgspec.structs.replace(progress, part=(number, len(asked))))

            runs = self.runs(dataset.dataset)
            unfinished = [run.run for run in runs if run.state in ("stopped", "failed") and run.task == task]
            try:
                resume = unfinished[0] if unfinished else None
                self.run_model(DEFAULT_MODEL, dataset.dataset, RunOptions(resume=resume), task=task, on_progress=tell)
            except BadInput:
                self.run_model(DEFAULT_MODEL, dataset.dataset, task=task, on_progress=tell)
        self.set_setting(FIRST_START, "done")


def _repeat(sample: SpanSample, row: ResultRow) -> RepeatView:
    from emotui.metrics.span_scoring import SampleDetail

    task = task_named(SPANS)
    prediction = None if row.prediction is None else msgspec.json.decode(row.prediction, type=task.prediction)
    detail = None if row.score is None else msgspec.json.decode(row.score.detail, type=SampleDetail)
    return RepeatView(
        repeat=row.repeat,
        detail=detail if sample.spans is not None else None,
        spans=() if prediction is None else predicted_spans(sample, task.marks(prediction), detail),
        raw=row.raw,
        prompt=row.prompt,
        error=row.error,
    )
