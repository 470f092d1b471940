"""Ask a model about every record of a file, without the store. The records that come out fit `emotui score`."""

import hashlib
import os
import queue
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from emotui.backends.base import ModelCard
from emotui.backends.embedded.settings import read_spec as embedded_spec
from emotui.backends.host import ModelProcess
from emotui.backends.spec import parse_spec
from emotui.errors import ModelError, NotNow
from emotui.formats import checks
from emotui.formats.conversion import to_record
from emotui.formats.reading import Warn
from emotui.formats.rows import Flaw, literal, shown
from emotui.records import Text
from emotui.tasks.asking import Asking
from emotui.tasks.prompting.settings import BEFORE, configured
from emotui.tasks.registry import task_named, with_labels
from emotui.tasks.task import Asked, Task
from emotui.workbench.files.texts import Answered, Answers, Texts, unwritable
from emotui.workbench.runs.plan import chosen_way, identity, notes_on_prompts, pace_of, sample_seed
from emotui.workbench.runs.run import still_open
from emotui.workbench.runs.window import Stop, Window
from emotui.workbench.shards.shard import Shard
from emotui.workbench.turns import with_conversation

if TYPE_CHECKING:
    from emotui.workbench.datasets.foreign import Wish

BATCH = 64

_BATCHES_EACH = 4
"""For how many batches at least a further process of the embedded model is worth its start and its memory."""


FAILURES = 20
"""That are told by their lines."""


@dataclass(frozen=True, slots=True)
class Predictions:
    """A model's answers in the order of the file.

    Attributes:
        n: how many records the file has, of a shard in it.
        answers: one for each, unless `stopped`; to be closed.
        failures: a line for each of the first records that the model refused.
        doubtful: of how many a label has little probability on yes and no together, or no answer.
        stopped: why those that have no record were not answered (a server that went away, a model that died, Ctrl-C).
    """

    model: str
    kind: str
    n: int
    seconds: float
    labels: tuple[str, ...]
    answers: Answers[msgspec.Struct]
    failures: list[str]
    stopped: str | None = None
    doubtful: int = 0

    @property
    def records(self) -> list[msgspec.Struct]:
        """All records, in memory."""
        return list(self.answers)


@dataclass(frozen=True, slots=True)
class Settled:
    """How a loaded model is asked: what a person wants and what the model can, together.

    Attributes:
        names: the labels that it chooses among; none where its task has none, or it names its own.
    """

    spec: str
    card: ModelCard
    task: Task
    way: str
    names: tuple[str, ...]

    def blank(self, text: Text) -> Any:
        """A sample of the task of which nothing is known but the text."""
        return self.task.blank(text, self.names)

    def record(self, sample: Any, answer: Asked) -> tuple[msgspec.Struct, str | None]:
        """The predicted record of one answer; an empty one, and why, where there is none, or none that can be read."""
        task, why = self.task, answer.why
        prediction = None
        if answer.raw is not None:
            try:
                prediction = task.parse(sample, answer.raw, self.way)
            except (ValueError, msgspec.DecodeError) as error:
                why = f"the output cannot be parsed: {error}"
            else:
                silent = task.unread(prediction)
                why = None if silent is None else f"{silent}: {shown(answer.raw)}"
        whole = task.files.whole

        def made(said: Any) -> msgspec.Struct:
            return task.record(sample.id, said) if whole is None else whole.joined(sample, said, self.spec)

        record = made(prediction)
        if (wrong := unwritable(record)) is not None:
            return made(None), f"the answer cannot be written: {wrong}"
        return record, why


def settle(
    kind: str,
    spec: str,
    card: ModelCard,
    *,
    labels: Sequence[str] | None,
    way: str | None,
    options: Mapping[str, object] | None,
    warn: Warn,
) -> Settled:
    """What `predict` asks a loaded model. Raises: as it does, over the model, the labels and the way."""
    task = task_named(kind)
    names = () if task.labels is None else task.labels.of_file(card, labels)
    way = chosen_way(task, card, way, options)
    settled = with_labels(task, card, way, options or {}, None if labels is None else names)
    for note in notes_on_prompts(card) if way and "generate" in card.capabilities else ():
        warn(f"{spec}: {note}")
    return Settled(spec, card, configured(task, way, settled, 1), way, tuple(settled.get("labels", names)))


def predict(
    kind: str,
    spec: str,
    path: str,
    *,
    labels: Sequence[str] | None = None,
    way: str | None = None,
    options: Mapping[str, object] | None = None,
    wish: "Wish | None" = None,
    skip_bad: bool = False,
    shard: Shard | None = None,
    kept: Path | None = None,
    fresh: bool = False,
    warn: Warn,
    progress: Callable[[int, int], None] = lambda done, n: None,
    each: Callable[[msgspec.Struct], None] | None = None,
) -> Predictions:
    """Read `path`, ask the model, and give one predicted record for each id.

    A record that the model refuses becomes an empty answer of its kind (no spans, no labels) and is counted as failed.
    One that a server was in trouble over is asked for once more, when all else is done; where the model is gone for
    good, what it has answered is there.

    Args:
        labels: a label set of the person's own, in a task that chooses among labels.
        way, options: how a model that writes is asked (`emotui.tasks`); None: greedily, and by the task's first way.
        wish: how a person says that the file is laid out; None: it is found out.
        shard: only these of its texts; the shards' records after each other are those of the file.
        kept: a file in which answers are kept as they come, and of which those of an earlier start are taken.
        fresh: take none.
        progress: called with how many of how many are done.
        each: called with each record, in order, as soon as all before it are there.

    Raises:
        BadInput: the file is bad, `labels` are not ones that the model has, it cannot be asked that way, or `kept`
            holds answers to something else.
        ModelError: the model cannot do this, or died before it had answered anything.
    """
    # Cut between batches, so that each has the texts, and the last digits, that it has where all is asked.
    part = range if shard is None else partial(shard.places, together=BATCH)
    turns = bool(options and options.get(BEFORE))
    with (
        closing(Texts(path, wish=wish, skip_bad=skip_bad, part=part, columns=turns)) as texts,
        ExitStack() as processes,
    ):
        model = processes.enter_context(ModelProcess(spec))
        if texts.taken is not None:
            warn(f"{literal(path)}: taken for {texts.taken}")
        for problem in texts.skipped:
            warn(f"skipped {problem}")
        settled = settle(kind, spec, model.load(), labels=labels, way=way, options=options, warn=warn)
        if turns:  # those of a shard's texts may be in another shard
            told = with_conversation(settled.task, options, (text for _, text in texts.whole()))
            settled = replace(settled, task=told)
        task, card, names, way = settled.task, settled.card, settled.names, settled.way
        settings = {"texts": texts.fingerprint, "labels": "\n".join(names), "way": way}
        settings |= {} if shard is None else {"shard": str(shard)}
        asked = identity(task, settings, card, 0, 1, way)
        answers: Answers[msgspec.Struct] = Answers(task.files.predicted, texts.n, kept, asked, fresh=fresh)
        if answers.done:
            warn(f"{answers.done} of {texts.n} were answered before: going on")
        models = [model]
        models += [
            processes.enter_context(ModelProcess(spec)) for _ in range(1, _at_once(spec, texts.n - answers.done))
        ]
        if len(models) > 1:
            warn(f"{spec}: {len(models)} processes, as many as there are cores")
        try:
            started = time.monotonic()
            stopped = _Predicting(settled, models, texts, texts.n, answers).finish(progress, each)
            seconds = time.monotonic() - started
        except BaseException:
            answers.close(remove=not answers.done)
            raise
    failures = [f"{path}:{one.line}: {one.why}" for one in answers.failures(FAILURES)]
    return Predictions(
        spec, task.files.kind, texts.n, seconds, names, answers, failures, stopped, _doubtful(task, answers)
    )


def _at_once(spec: str, n: int) -> int:
    """How many processes of a model are best asked about so many texts: of the embedded one, as there are cores."""
    kind, argument = parse_spec(spec)
    if kind != "embedded":
        return 1
    threads = embedded_spec(argument, {}).threads
    return max(1, min(_cores() // threads, n // (_BATCHES_EACH * BATCH)))


def _cores() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _doubtful(task: Task, answers: Answers[msgspec.Struct]) -> int:
    marks = [name for name in ("little_mass", "unanswered") if name in task.files.predicted.__struct_fields__]
    return sum(any(getattr(record, name) for name in marks) for record in answers) if marks else 0


_Batch = list[tuple[int, int, Any]]
"""Place, line and sample of each of some texts."""


class _Predicting:
    """Asks about all texts that have no answer yet."""

    def __init__(
        self,
        settled: Settled,
        models: Sequence[ModelProcess],
        texts: Iterable[tuple[int, Text]],
        n: int,
        answers: Answers[msgspec.Struct],
    ) -> None:
        self._settled, self._texts, self._n, self._answers = settled, texts, n, answers
        card = settled.card
        self._pace = pace_of(card, BATCH)
        self._stop = Stop(None)
        # One entry a batch that may be under way: several of a server, and one of each process.
        self._free: queue.SimpleQueue[Asking] = queue.SimpleQueue()
        self._at_once = card.at_once * len(models)
        for model in models:
            asking = Asking(model, self._stop)
            for _ in range(card.at_once):
                self._free.put(asking)
        self._told = 0

    def finish(self, progress: Callable[[int, int], None], each: Callable[[msgspec.Struct], None] | None) -> str | None:
        """Returns: why some texts have no answer; None where all have one. Raises: the reason, where none has any."""
        answers, n = self._answers, self._n
        stopped: str | None = None
        try:
            for _ in range(2):
                why: str | None = None
                window = Window(self._ask, self._at_once, self._stop)
                with closing(window.answers(self._batches())) as groups:
                    for group in groups:
                        found, trouble = self._answered(group)
                        answers.keep(found)
                        why = why or trouble
                        self._tell(each, holes=False)
                        progress(answers.done, n)
                if why is None:
                    break
            else:
                raise ModelError(still_open(n - answers.done, n, why or ""))
        except (ModelError, KeyboardInterrupt) as error:
            if not answers.done:
                raise
            stopped = str(error) or "interrupted"
        self._tell(each, holes=True)
        return stopped

    def _batches(self) -> Iterator[_Batch]:
        waiting: _Batch = []
        for place, (line, text) in enumerate(self._texts):
            if place not in self._answers:
                waiting.append((place, line, self._settled.blank(text)))
            if len(waiting) >= self._pace.size:
                yield waiting
                waiting = []
        if waiting:
            yield waiting

    def _ask(self, batch: _Batch) -> Sequence[Asked]:
        samples, started = [sample for _, _, sample in batch], time.monotonic()
        seeds = [sample_seed(0, 0, sample.id) for sample in samples]
        asking = self._free.get()
        try:
            answers = self._settled.task.ask(samples, asking, self._settled.way, seeds)
        finally:
            self._free.put(asking)
        self._pace.tell(len(batch), time.monotonic() - started)
        return answers

    def _answered(
        self, group: Sequence[tuple[_Batch, Sequence[Asked] | NotNow]]
    ) -> tuple[list[Answered[msgspec.Struct]], str | None]:
        """The answers of a group, and why the first text without one has none."""
        found: list[Answered[msgspec.Struct]] = []
        trouble: str | None = None
        for batch, answers in group:
            if isinstance(answers, NotNow):
                trouble = trouble or str(answers).removeprefix(f"{self._settled.spec}: ")
                continue
            for (place, line, sample), one in zip(batch, answers, strict=True):
                if one.again:
                    trouble = trouble or one.why or ""
                else:
                    record, why = self._settled.record(sample, one)
                    found.append(Answered(place, line, record, why))
        return found, trouble

    def _tell(self, each: Callable[[msgspec.Struct], None] | None, *, holes: bool) -> None:
        """Hand on the records that are next in order; with `holes` also those behind a text that has none."""
        if each is None:
            return
        if holes:
            for one in self._answers.in_order(self._told):
                each(one.record)
            self._told = self._n
        while self._told < self._n and (following := self._answers.get(self._told)) is not None:
            each(following.record)
            self._told += 1


class Asker:
    """A model in a process of its own that is asked about one lot of texts after the other, as `predict` asks.

    Args, and what is raised by `answers`: as of `predict`. Nothing is loaded before the first lot.
    `model`: the process, where there is one.

    Attributes:
        predicted: the kind of its records.
    """

    def __init__(
        self,
        kind: str,
        spec: str,
        *,
        labels: Sequence[str] | None = None,
        way: str | None = None,
        options: Mapping[str, object] | None = None,
        warn: Warn,
        model: ModelProcess | None = None,
    ) -> None:
        self.predicted = task_named(kind).files.predicted
        self._model = model or ModelProcess(spec)
        self._settle = partial(settle, kind, spec, labels=labels, way=way, options=options, warn=warn)
        self._settled: Settled | None = None

    def close(self) -> None:
        """End the process; asked again, it starts anew."""
        self._model.close()

    def answers(self, rows: Sequence[Mapping[str, Any]]) -> list[Answered[msgspec.Struct]]:
        """A predicted record for each row, in order.

        A row that is no text, or that the model refuses, has an empty record, and why.

        Raises:
            ModelError: some texts got no answer, for no fault of theirs.
        """
        settled = self._settled = self._settled or self._settle(self._model.load())
        texts = [_text(row, line) for line, row in enumerate(rows, 1)]
        good = [(line, text) for line, text in enumerate(texts, 1) if isinstance(text, Text)]
        kept: Answers[msgspec.Struct] = Answers(settled.task.files.predicted, len(good), None, "")
        with closing(kept):
            asked = _Predicting(settled, [self._model], good, len(good), kept)
            if (stopped := asked.finish(lambda done, n: None, None)) is not None:
                raise ModelError(stopped)
            said = {one.line: one for one in kept.in_order()}
        return [said.get(line) or _flawed(settled, line, text) for line, text in enumerate(texts, 1)]


def _text(row: Mapping[str, Any], line: int) -> Text | Flaw:
    """A row as a text. Without an id it has one by its words, which seeds what is drawn about it."""
    key = row.get("id")
    key = hashlib.sha256(str(row.get("text")).encode("utf-8", "replace")).hexdigest() if key is None else key
    text = to_record(Text, {**row, "id": key}, line)
    if isinstance(text, Flaw):
        return text
    try:
        text.text.encode()
    except UnicodeEncodeError:  # which no file can hold
        return Flaw("`text` holds half of a surrogate pair, which is no character")
    problem = checks.fault(text)
    return text if problem is None else Flaw(problem)


def _flawed(settled: Settled, line: int, flaw: Text | Flaw) -> Answered[msgspec.Struct]:
    """The empty answer about a row that is no text."""
    assert isinstance(flaw, Flaw)  # every text has been answered
    record, why = settled.record(settled.blank(Text(id=str(line), text="")), Asked(None, flaw.reason))
    return Answered(line - 1, line, record, why)
