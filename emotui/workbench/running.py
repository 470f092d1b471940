"""Run a model over a dataset, batch by batch, into the store: resumable, cancellable, and never computed twice.

Asking, parsing and scoring are separate steps over what is kept, so `rescore` needs no model.
"""

import hashlib
import os
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import msgspec

from emotui import __version__
from emotui.backends.base import ModelCard
from emotui.backends.host import Cancelled, IsCancelled, ModelProcess
from emotui.errors import BadInput, EmotuiError
from emotui.metrics.span_report import report
from emotui.metrics.span_scoring import SampleDetail
from emotui.records import SpanSample
from emotui.store.query import Dataset, Run
from emotui.store.rows import ResultRow, ScoreRow
from emotui.store.store import Store
from emotui.tasks import spans
from emotui.workbench.similarity import Embedder

BATCH = 16
Key = tuple[int, int]


@dataclass(frozen=True, slots=True)
class RunProgress:
    """How far a run is. `rate`: samples a second so far; `remaining`: seconds left, None before the first batch."""

    run: str
    model: str
    done: int
    n: int
    failed: int
    rate: float | None
    remaining: float | None
    step: str


OnProgress = Callable[[RunProgress], None]


def identity(dataset: Dataset, card: ModelCard, seed: int, repeats: int) -> str:
    """SHA-256 over canonical JSON of everything that can change the run's outputs."""
    content = {
        "task": "spans",
        "version": spans.VERSION,
        "dataset": dataset.fingerprint,
        "model": {"spec": card.spec, **card.identity},
        "seed": seed,
        "repeats": repeats,
        "batch": BATCH,
    }
    return hashlib.sha256(msgspec.json.encode(content, order="sorted")).hexdigest()


def run_spans(
    store: Store,
    model: ModelProcess,
    dataset: Dataset,
    *,
    limit: int | None = None,
    repeats: int = 1,
    seed: int = 0,
    resume: str | None = None,
    fresh: bool = False,
    on_progress: OnProgress = lambda progress: None,
    cancelled: IsCancelled | None = None,
) -> Run:
    """Run the spans task and return the run as it stands in the store.

    A finished run of the same identity that covers as many samples is returned as it is, unless `fresh`.

    Args:
        limit: only the dataset's first samples.
        resume: a stopped run to finish instead of starting one; its own limit and repeats hold.

    Raises:
        BadInput: `resume` does not fit the model or dataset.
        ModelError: the model could not be loaded or died; what was done is kept, and the run can be resumed.
        Cancelled: `cancelled()` became true; likewise.
    """
    card = model.load(cancelled=cancelled)
    if resume is not None:
        run = store.run(resume)
        settings = msgspec.convert(run.config, _Config)
        repeats, seed, n_samples = settings.repeats, settings.seed, run.n // settings.repeats
        if identity(dataset, card, seed, repeats) != run.identity:
            raise BadInput(f"run {run.run} cannot be resumed: its model, samples or versions have changed since")
    else:
        n_samples = dataset.n if limit is None else min(limit, dataset.n)
        mark = identity(dataset, card, seed, repeats)
        same = [old for old in store.runs(dataset.dataset) if old.identity == mark]
        for old in same:
            if old.state == "done" and old.n == n_samples * repeats and not old.failed and not fresh:
                return old
        config = _Config(seed=seed, repeats=repeats, pid=os.getpid(), host=socket.gethostname(), emotui=__version__)
        run = store.start_run(
            run=f"{mark[:8]}-{1 + sum(1 for _ in same)}",
            identity=mark,
            task="spans",
            model=model.spec,
            dataset=dataset.dataset,
            config=msgspec.to_builtins(config),
            n=n_samples * repeats,
        )
    return _Running(store, model, dataset, run, repeats, n_samples, on_progress, cancelled).finish()


class _Config(msgspec.Struct, frozen=True, kw_only=True):
    """What a run was asked for, and who ran it (so that a killed one is not shown as running)."""

    seed: int = 0
    repeats: int = 1
    pid: int = 0
    host: str = ""
    emotui: str = ""


class _Running:
    """One run in progress."""

    def __init__(
        self,
        store: Store,
        model: ModelProcess,
        dataset: Dataset,
        run: Run,
        repeats: int,
        n_samples: int,
        on_progress: OnProgress,
        cancelled: IsCancelled | None,
    ) -> None:
        self.store, self.model, self.dataset, self.run = store, model, dataset, run
        self.repeats, self.n_samples = repeats, n_samples
        self.on_progress, self.cancelled = on_progress, cancelled
        self.embed = Embedder(model, cancelled)

    def finish(self) -> Run:
        """Ask for all that is not there yet; the state in the store says how it ended, however it ended."""
        run = self.run.run
        done = self.store.done(run)
        self.store.set_state(run, "running")
        started, before, failed = time.monotonic(), len(done), self.run.failed
        try:
            self._tell(len(done), failed, None)
            for batch in self._batches(done):
                rows = self._ask(batch)
                self.store.commit_batch(run, rows)
                done |= {(row.sample, row.repeat) for row in rows}
                failed += sum(row.error is not None for row in rows)
                self._tell(len(done), failed, (len(done) - before) / (time.monotonic() - started))
        except (Cancelled, KeyboardInterrupt):
            self.store.set_state(run, "stopped")
            raise
        except EmotuiError as error:
            self.store.set_state(run, "failed", str(error))
            raise
        self.store.set_state(run, "done")
        return self.store.run(run)

    def _batches(self, done: set[Key]) -> Iterator[list[tuple[Key, SpanSample]]]:
        """What is still to be asked, in the order of the list, so that rows fill it from the top."""
        for repeat in range(self.repeats):
            waiting: list[tuple[Key, SpanSample]] = []
            for number, sample in stored_samples(self.store, self.dataset, self.n_samples):
                if (number, repeat) not in done:
                    waiting.append(((number, repeat), sample))
                if len(waiting) == BATCH:
                    yield waiting
                    waiting = []
            if waiting:
                yield waiting

    def _ask(self, batch: Sequence[tuple[Key, SpanSample]]) -> list[ResultRow]:
        started = time.monotonic()
        answers = self.model.ask([spans.ask(sample) for _, sample in batch], cancelled=self.cancelled)
        seconds = (time.monotonic() - started) / len(batch)
        outputs = []
        for ((number, repeat), _), answer in zip(batch, answers, strict=True):
            why = spans.refused(answer)
            raw = None if why else spans.raw(answer)
            outputs.append(ResultRow(number, repeat, 0, None, raw, why, seconds, None, None))
        return scored(outputs, {number: sample for (number, _), sample in batch}, self.embed)

    def _tell(self, done: int, failed: int, rate: float | None) -> None:
        left = (self.run.n - done) / rate if rate else None
        self.on_progress(
            RunProgress(
                self.run.run, self.run.model, done, self.run.n, failed, rate, left, f"marking {self.dataset.name}"
            )
        )


def stored_samples(store: Store, dataset: Dataset, n: int, page: int = 512) -> Iterator[tuple[int, SpanSample]]:
    """The first n samples of a dataset, with their numbers, a page at a time."""
    for start in range(0, n, page):
        for number, record in store.dataset_samples(dataset.dataset, start, min(start + page, n)):
            yield number, msgspec.json.decode(record, type=SpanSample)


def scored(outputs: Sequence[ResultRow], samples: dict[int, SpanSample], embed: Embedder | None) -> list[ResultRow]:
    """Parse kept outputs and score them; an output that cannot be parsed keeps its reason as the error."""
    rows: list[ResultRow] = []
    parsed: list[int] = []
    golds: list[SpanSample] = []
    predictions = []
    for row in outputs:
        if row.raw is not None:
            sample = samples[row.sample]
            try:
                prediction = spans.parse(sample, row.raw)
            except (ValueError, msgspec.DecodeError) as error:
                row = replace(row, error=f"the output cannot be parsed: {error}")
            else:
                row = replace(row, prediction=msgspec.json.encode(prediction), error=None)
                parsed.append(len(rows))
                golds.append(sample)
                predictions.append(spans.predicted(sample, prediction, row.repeat))
        rows.append(row)
    distinct = list({gold.id: gold for gold in golds}.values())
    details = {(detail.id, detail.repeat): detail for detail in spans.score(distinct, predictions, embed)}
    for place, asked in zip(parsed, predictions, strict=True):
        rows[place] = replace(rows[place], score=score_row(details[asked.id, asked.repeat]))
    return rows


def score_row(detail: SampleDetail) -> ScoreRow:
    """A score as it is stored, under the convention it was computed by."""
    return ScoreRow(spans.CONVENTION, detail.f1, detail.sim, detail.marks, msgspec.json.encode(detail))


def rescore(store: Store, run: str, *, sim: bool = True, cancelled: IsCancelled | None = None) -> Run:
    """Parse and score a run's kept outputs again, in one transaction; the outputs stay as they are."""
    found = store.run(run)
    dataset = store.dataset(found.dataset)
    if dataset is None:
        raise BadInput(f"run {found.run} has lost its dataset")
    samples = dict(stored_samples(store, dataset, dataset.n))
    outputs = list(store.results(found.run))
    if sim:
        with ModelProcess("embedded") as model:
            rows = scored(outputs, samples, Embedder(model, cancelled))
    else:
        rows = scored(outputs, samples, None)
    store.replace_scores(found.run, rows)
    return store.run(found.run)


def metrics(store: Store, run: Run) -> dict[str, object]:
    """The figures of a run, as `emotui score spans` names them, over what is done so far."""
    dataset = store.dataset(run.dataset)
    details = [
        msgspec.json.decode(row.score.detail, type=SampleDetail)
        for row in store.results(run.run)
        if row.score is not None
    ]
    if dataset is None or not details:
        return {}
    ids = {detail.id for detail in details}
    golds = [sample for _, sample in stored_samples(store, dataset, dataset.n) if sample.id in ids]
    return report(golds, details)


def with_state(run: Run) -> Run:
    """The run, `stopped` where it says running but its process is gone (killed, or the power failed)."""
    settings = msgspec.convert(run.config, _Config)
    if run.state == "running" and settings.host == socket.gethostname() and not _alive(settings.pid):
        return replace(run, state="stopped")
    return run


def _alive(pid: int) -> bool:
    if os.name != "posix":
        return True  # there, signal 0 would end the process
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
