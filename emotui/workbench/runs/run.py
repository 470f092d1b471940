"""Run a model over a dataset, batch by batch, into the store: resumable, cancellable, and never computed twice.

Asking, parsing and scoring are separate steps over what is kept, so `rescore` needs no model.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from emotui import __version__
from emotui.backends.base import ModelCard
from emotui.backends.host import Cancelled, IsCancelled, ModelProcess
from emotui.backends.stamps import stamp_of
from emotui.errors import BadInput, EmotuiError, ModelError, NotNow
from emotui.records import Mark
from emotui.store.query import Dataset, Run
from emotui.store.rows import ResultRow
from emotui.store.store import Store
from emotui.tasks.asking import PASSED_OVER, Asking
from emotui.tasks.prompting.settings import configured
from emotui.tasks.registry import task_named
from emotui.tasks.task import Asked, Task
from emotui.workbench.datasets.label_maps import for_scoring
from emotui.workbench.datasets.samples import has_texts, is_sample_data
from emotui.workbench.masked.lexicons import lexicon_of, with_lexicon
from emotui.workbench.progress import OnProgress, RunOptions, RunProgress
from emotui.workbench.runs.machine import Meter, keep_measured, remember_card, remembered_card
from emotui.workbench.runs.plan import (
    BATCH,
    RunConfig,
    RunRequest,
    identities,
    pace_of,
    questions_of,
    sample_seed,
    settings_of,
)
from emotui.workbench.runs.scores import ELSEWHERE, Embedder, Key, last_attempts, outputs_of, scored
from emotui.workbench.runs.states import GOING, check_at_rest, is_own, signed, with_state
from emotui.workbench.runs.window import Stop, Window
from emotui.workbench.shards.shard import places_of
from emotui.workbench.texts import check_needs, run_dataset, samples_of, stored_samples
from emotui.workbench.turns import with_conversation

if TYPE_CHECKING:
    from emotui.tasks.parts import Lexicon

EMBEDDING = "embedded"
"""The model behind Sim."""

_TAKEN = 5000
"""Answers of another run that are taken over in one transaction."""


def run_task(
    store: Store,
    model: ModelProcess,
    dataset: Dataset,
    wanted: RunOptions = RunOptions(),  # noqa: B008  # it is frozen
    *,
    spans: Mapping[str, Sequence[Mark]] | None = None,
    on_progress: OnProgress = lambda progress: None,
    cancelled: IsCancelled | None = None,
) -> Run:
    """Run the dataset's task with a model and return the run as it stands in the store.

    A finished run of the same identity that covers as many samples is returned as it is, unless `fresh`; of one over a
    dataset that differs in gold alone the answers are taken over.

    Args:
        spans: what the task asks about in place of gold's spans, by the id of their text (`Task.with_spans`).

    Raises:
        BadInput: `resume` does not fit the model or dataset, the dataset has labels only, or there is no such way or
            option.
        ModelError: the model could not be loaded or died; what was done is kept, and the run can be resumed.
        Cancelled: `cancelled()` became true; likewise.
    """
    resume, lexicon = wanted.resume, wanted.lexicon
    if not has_texts(dataset):
        raise BadInput(f"{dataset.name} has labels only: import it with its texts first (docs/results.md)")
    if lexicon is not None:
        if resume is not None:
            raise BadInput(
                "--resume goes on by the run's own lexicon: finish it, then emotui rescore RUN --lexicon FILE"
            )
        with_lexicon(store, task_named(dataset.task), None, lexicon)  # a task without words refuses it
    check_needs(store, dataset)
    waits = _Waits(
        RunProgress("", model.spec, 0, dataset.n, 0, None, None, f"loading {model.spec}"), on_progress, cancelled
    )
    store, on_progress = store.waiting(waits.wait), waits.tell
    asked = RunRequest(store, dataset, wanted, spans)
    # What is known of a model suffices to find a finished run: asking twice does not load it.
    known = None if resume is not None or wanted.fresh else remembered_card(store, model)
    plan = None if known is None else asked.plan(known)
    if plan is not None and plan.hit is not None:
        return by_lexicon(store, plan.hit, lexicon, cancelled)
    if known is not None and plan is not None and plan.twin is not None:
        card = known
    else:
        stamp = stamp_of(model.spec)
        card = model.load(cancelled=cancelled)
        remember_card(store, model, stamp, card)
        plan = None
    task, twin = task_named(dataset.task), None
    repeats, seed = wanted.repeats, wanted.seed
    options: Mapping[str, object]
    if resume is not None:
        run = store.runs.get(resume)
        if run.source != "model":
            raise BadInput(f"{run.run} is what a {run.source} says: no model can go on with it")
        settings = settings_of(run)
        repeats, seed = settings.repeats, settings.seed
        part, whole = settings.shard, settings.whole
        places = places_of(part, whole) if part else range(run.n // repeats)
        way, options = settings.way, settings.options
        task = configured(task, way, options, repeats)
        task = task if spans is None else task.with_spans(spans)
        texts = (sample for _, sample in stored_samples(store, dataset, dataset.n))
        task = with_conversation(task, options, texts)
        marks = identities(store, task, dataset, card, seed, repeats, way)
        # Files of answers may have become more since; and before their hash was kept, a run had the questions' alone.
        questions = questions_of(store, task, dataset, card, seed, repeats, way)
        if run.identity not in (*marks, *questions) and settings.questions not in questions:
            raise BadInput(f"run {run.run} cannot be resumed: its model, samples or versions have changed since")
        if questions and run.identity != marks[0]:
            _check_answers(store, run, dataset, task, model, way, seed, cancelled)
        if with_state(run).state == "running" and not is_own(settings) and not wanted.take_over:
            raise BadInput(
                f"run {run.run} is going on in process {settings.pid} of {settings.host}: stop that first. Where it is "
                "gone for good, --take-over finishes its run"
            )
        former, name = run.identity, run.run
        mark = marks[0] if questions else former
    else:
        plan = plan or asked.plan(card)
        if plan.hit is not None and not wanted.fresh:
            return by_lexicon(store, plan.hit, lexicon, cancelled)
        task, way, options, places = plan.task, plan.way, plan.options, asked.places
        part, whole = (str(wanted.shard), asked.whole) if wanted.shard else ("", 0)
        former, mark, name = "", plan.identity, plan.name
        questions = questions_of(store, task, dataset, card, seed, repeats, way)
        twin = None if wanted.fresh else plan.twin
    by = lexicon.mark if lexicon is not None else "" if resume is None else str(run.config.get("lexicon", ""))
    config = RunConfig(
        seed=seed,
        repeats=repeats,
        way=way,
        options=dict(options or {}),
        emotui=__version__,
        flattered=is_sample_data(dataset) and task.name in card.fitted_on,
        trained_on=card.trained_on.get(task.name, ""),
        shard=part,
        whole=whole,
        questions=next(iter(questions), ""),
        lexicon=by,
    )
    run = store.runs.start(
        run=name,
        identity=mark,
        task=task.name,
        model=model.spec,
        dataset=dataset.dataset,
        config=msgspec.to_builtins(signed(config)),
        n=len(places) * repeats,
        former=former,
    )
    # From now on nobody replaces its gold; until a moment ago somebody may have.
    dataset = run_dataset(store, run) or dataset
    task = with_lexicon(store, task, run, lexicon)
    if twin is not None:
        _take_over(store, task, way, dataset, twin, run.run, cancelled)
    stop = Stop(cancelled)
    ask = Asking(model, stop)
    running = _Running(
        store, model, ask, card, dataset, run, task, way, seed, repeats, places, on_progress, cancelled, stop
    )
    return running.finish(retry=wanted.retry)


def _check_answers(
    store: Store,
    run: Run,
    dataset: Dataset,
    task: Task,
    model: ModelProcess,
    way: str,
    seed: int,
    cancelled: IsCancelled | None,
) -> None:
    """See that files of answers, which may have become more, still hold what a run has from them.

    Raises:
        BadInput: they answer one of its questions differently now.
    """
    answered = [
        row for row in last_attempts(store.results.of_run(run.run)) if row.raw is not None and row.error is None
    ]
    numbers = {row.sample for row in answered}
    samples = {key: sample for key, sample in stored_samples(store, dataset, dataset.n) if key in numbers}
    ask = Asking(model, cancelled)
    for start in range(0, len(answered), BATCH):
        some = [row for row in answered[start : start + BATCH] if row.sample in samples]
        asked = [samples[row.sample] for row in some]
        seeds = [sample_seed(seed, row.repeat, samples[row.sample].id) for row in some]
        for row, now in zip(some, task.ask(asked, ask, way, seeds), strict=True):
            if now.raw is not None and now.raw != row.raw:
                raise BadInput(
                    f"run {run.run} has another answer about {samples[row.sample].id} than the files have now: other"
                    " answers are another run, which emotui batch read makes"
                )


_Batch = list[tuple[Key, Any]]
"""Samples that a model is asked about together."""


class _Waits:
    """Tells how far a run is, and for whom it waits while another program holds the store."""

    def __init__(self, last: RunProgress, on_progress: OnProgress, cancelled: IsCancelled | None) -> None:
        self._last, self._on_progress, self._cancelled = last, on_progress, cancelled

    def tell(self, progress: RunProgress) -> None:
        self._last = progress
        self._on_progress(progress)

    def wait(self, who: str, seconds: float) -> None:
        """Raises Cancelled where the person has asked for that meanwhile."""
        if self._cancelled is not None and self._cancelled():
            raise Cancelled
        self._on_progress(replace(self._last, waiting=who, rate=None, remaining=None))


class _Running:
    """One run in progress."""

    def __init__(
        self,
        store: Store,
        model: ModelProcess,
        ask: Asking,
        card: ModelCard,
        dataset: Dataset,
        run: Run,
        task: Task,
        way: str,
        seed: int,
        repeats: int,
        places: range,
        on_progress: OnProgress,
        cancelled: IsCancelled | None,
        stop: Stop,
    ) -> None:
        self.store, self.ask, self.dataset, self.run = store, ask, dataset, run
        self.at_once, self.pace, self.stop = card.at_once, pace_of(card, BATCH), stop
        self.task, self.way, self.seed = for_scoring(store, task, dataset, run.model), way, seed
        self.repeats, self.places = repeats, places
        self.on_progress = on_progress
        # Sim is the embedded model's cosine, whichever model is asked (SEER, section 6).
        self.model = model
        self.embedding = None if model.spec == EMBEDDING else ModelProcess(EMBEDDING)
        self.embed = Embedder(self.embedding or model, cancelled) if task.embeds else None

    def finish(self, *, retry: bool) -> Run:
        """Ask for all that is not there yet; the state in the store says how it ended, however it ended.

        Texts that were passed over stay so, unless `retry`.

        A run in which every answer failed is `failed`.
        """
        run = self.run.run
        GOING.add(run)
        meter = Meter()
        try:
            return self._finish(run, "" if retry else PASSED_OVER)
        finally:
            GOING.discard(run)
            with suppress(EmotuiError):  # the run is kept, whatever becomes of this
                keep_measured(self.store, run, replace(meter.read(), builds=self.model.builds))

    def _finish(self, run: str, passed_over: str) -> Run:
        done = self.store.results.done(run, passed_over)
        self.store.runs.set_state(run, "running")
        started, before, failed = time.monotonic(), len(done), self.run.failed
        try:
            self._tell(len(done), failed, None)
            # What a server was in trouble over is asked for once more, when all else is done.
            for _ in range(2):
                open_ones: list[str] = []
                window = Window(self._ask, self.at_once, self.stop)
                with closing(window.answers(self._batches(done))) as groups:
                    for group in groups:
                        rows, unanswered = self._rows(group)
                        open_ones += unanswered
                        if rows:
                            self.store.results.commit(run, rows, gold=self.dataset.gold)
                        done |= {(row.sample, row.repeat) for row in rows}
                        # A failed one has no attempt that did not.
                        failed += sum(row.error is not None for row in rows)
                        self._tell(len(done), failed, (len(done) - before) / (time.monotonic() - started))
                if not open_ones:
                    break
            else:
                raise ModelError(still_open(len(open_ones), self.run.n, open_ones[0]))
        except (Cancelled, KeyboardInterrupt):
            self.store.runs.set_state(run, "stopped")
            raise
        except EmotuiError as error:
            self.store.runs.set_state(run, "failed", str(error))
            raise
        finally:
            if self.embedding is not None:
                self.embedding.close()
        ended = self.store.runs.get(run)
        if ended.failed and not ended.done:
            why = next((row.error for row in self.store.results.of_run(run) if row.error is not None), None)
            self.store.runs.set_state(run, "failed", f"every answer failed: {why}")
        else:
            self.store.runs.set_state(run, "done")
        return self.store.runs.get(run)

    def _batches(self, done: set[Key]) -> Iterator[_Batch]:
        """What is still to be asked, in the order of the list, so that rows fill it from the top."""
        for repeat in range(self.repeats):
            waiting: _Batch = []
            there = stored_samples(self.store, self.dataset, self.places.stop, first=self.places.start)
            for number, sample in there:
                if (number, repeat) not in done:
                    waiting.append(((number, repeat), sample))
                if len(waiting) >= self.pace.size:
                    yield waiting
                    waiting = []
            if waiting:
                yield waiting

    def _ask(self, batch: _Batch) -> tuple[Sequence[Asked], float]:
        """The answers to a batch, and the seconds that each question took."""
        started = time.monotonic()
        samples = [sample for _, sample in batch]
        seeds = [sample_seed(self.seed, repeat, sample.id) for (_, repeat), sample in batch]
        answers = self.task.ask(samples, self.ask, self.way, seeds)
        self.pace.tell(len(batch), time.monotonic() - started)
        return answers, (time.monotonic() - started) / sum(1 + len(answer.before) for answer in answers)

    def _rows(
        self, group: Sequence[tuple[_Batch, tuple[Sequence[Asked], float] | NotNow]]
    ) -> tuple[list[ResultRow], list[str]]:
        """Rows to keep, and why the samples that have none are still open."""
        outputs: list[ResultRow] = []
        samples: dict[Key, Any] = {}
        open_ones: list[str] = []
        for batch, found in group:
            if isinstance(found, NotNow):
                open_ones += [str(found).removeprefix(f"{self.run.model}: ")] * len(batch)
                continue
            answers, seconds = found
            for (key, sample), answer in zip(batch, answers, strict=True):
                if answer.again:
                    open_ones.append(answer.why or "")
                    continue
                samples[key] = sample
                attempts = [*((raw, None) for raw in answer.before), (answer.raw, answer.why)]
                outputs += [
                    ResultRow(*key, attempt, answer.prompt, raw, why, seconds)
                    for attempt, (raw, why) in enumerate(attempts)
                ]
        by_number = {number: sample for (number, _), sample in samples.items()}
        return scored(self.task, self.way, outputs, by_number, self.embed), open_ones

    def _tell(self, done: int, failed: int, rate: float | None) -> None:
        left = (self.run.n - done) / rate if rate else None
        self.on_progress(
            RunProgress(
                run=self.run.run,
                model=self.run.model,
                done=done,
                n=self.run.n,
                failed=failed,
                rate=rate,
                remaining=left,
                step=f"{self.task.words.progress} {self.dataset.name}",
            )
        )


def still_open(n: int, of: int, why: str) -> str:
    """That so many were not answered for the server's sake, and why the first was not."""
    return f"{n} of {of} could not be answered: {why}"


def by_lexicon(store: Store, run: Run, lexicon: "Lexicon | None", cancelled: IsCancelled | None) -> Run:
    """A run with its words compared by this lexicon, scored again where its scores are by another."""
    if lexicon is None or lexicon_of(store, run).mark == lexicon.mark:
        return run
    return rescore(store, run.run, lexicon=lexicon, cancelled=cancelled)


def rescore(
    store: Store,
    run: str,
    *,
    sim: bool = True,
    lexicon: "Lexicon | None" = None,
    cancelled: IsCancelled | None = None,
) -> Run:
    """Parse and score a run's kept outputs again, in one transaction; the outputs stay as they are.

    Args:
        lexicon: what masked words are compared by from now on; None: what they were.

    Raises:
        BadInput: the run is going on, has lost its dataset, or has settings or answers that no run can have.
    """
    found = store.runs.get(run)
    check_at_rest([found])
    dataset = run_dataset(store, found)
    if dataset is None:
        raise BadInput(f"run {found.run} has lost its dataset")
    settings = settings_of(found)
    task = task_named(dataset.task).with_options(settings.options, settings.repeats)
    task = with_lexicon(store, task, found, lexicon)
    way = settings.way if found.source == "model" else ELSEWHERE
    outputs = outputs_of(store, found, dataset)
    rows = scored_outputs(store, task, way, dataset, outputs, found.model, sim=sim, cancelled=cancelled)
    store.results.replace_scores(found.run, rows, gold=dataset.gold, of=len(outputs))
    return store.runs.get(found.run)


def scored_outputs(
    store: Store,
    task: Task,
    way: str,
    dataset: Dataset,
    outputs: Sequence[ResultRow],
    source: str,
    *,
    sim: bool = True,
    embed: Embedder | None = None,
    cancelled: IsCancelled | None = None,
) -> list[ResultRow]:
    """What a source says of samples of a dataset, parsed and scored.

    Args:
        embed: of the embedded model; None: that is loaded here, where scores need it.
    """
    samples = samples_of(store, dataset, {row.sample for row in outputs})
    task = for_scoring(store, task, dataset, source)
    if not (sim and task.embeds):
        return scored(task, way, outputs, samples, None)
    if embed is not None:
        return scored(task, way, outputs, samples, embed)
    with ModelProcess(EMBEDDING) as model:
        return scored(task, way, outputs, samples, Embedder(model, cancelled))


def _take_over(
    store: Store, task: Task, way: str, dataset: Dataset, twin: Run, run: str, cancelled: IsCancelled | None
) -> None:
    """Give a run the answers of one over a dataset with the same texts in the same order, scored against its gold."""
    offset = first_number(store, dataset.dataset) - first_number(store, twin.dataset)
    outputs = [
        replace(row, sample=row.sample + offset, score=None, output=None) for row in store.results.of_run(twin.run)
    ]
    rows = scored_outputs(store, task, way, dataset, outputs, twin.model, cancelled=cancelled)
    for start in range(0, len(rows), _TAKEN):
        store.results.commit(run, rows[start : start + _TAKEN], gold=dataset.gold)


def first_number(store: Store, dataset: int) -> int:
    """The number of a dataset's first sample."""
    return next((number for number, _ in store.samples.of_dataset(dataset, 0, 1)), 0)
