"""Ask a model about every record of a file, without the store. The records that come out fit `emotui score`."""

import contextlib
import os
import queue
import struct
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec

from emotui.backends.base import ModelCard
from emotui.backends.embedded.settings import read_spec as embedded_spec
from emotui.backends.host import ModelProcess
from emotui.backends.spec import parse_spec
from emotui.errors import BadInput, ModelError, NotNow
from emotui.formats import checks, jsonl
from emotui.formats.beside import lifted
from emotui.formats.conversion import to_record
from emotui.formats.json_document import present
from emotui.formats.reading import Warn
from emotui.formats.rows import Flaw, literal, shown
from emotui.formats.written import refusal
from emotui.tasks.asking import Asking
from emotui.tasks.prompting.settings import configured
from emotui.tasks.registry import task_named, with_labels
from emotui.tasks.task import Asked, Task
from emotui.workbench.files.texts import Texts
from emotui.workbench.runs.plan import chosen_way, identity, notes_on_prompts, pace_of, sample_seed
from emotui.workbench.runs.run import still_open
from emotui.workbench.runs.window import Stop, Window
from emotui.workbench.shards.shard import Shard

if TYPE_CHECKING:
    from emotui.workbench.datasets.foreign import Wish

# What a model has answered about the texts of a file, on the disk as it comes: it can be gone on with after a kill.

R = TypeVar("R", bound=msgspec.Struct)

_HEAD = b'{"emotui predict":'
"""With which a file of answers begins: what begins otherwise is somebody's, and is left as it is."""
_LONGEST_HEAD = 10_000
_OFFSET = struct.Struct("<Q")
_decode = msgspec.json.Decoder(tuple[int, int, str | None, msgspec.Raw]).decode


class Answered(msgspec.Struct, Generic[R], frozen=True):
    """A predicted record, the place and line of its text, and why it is an empty one."""

    place: int
    line: int
    record: R
    why: str | None = None


class Answers(Generic[R]):
    """The answers about n texts, each written once; in memory is none of them.

    Args:
        kind: of the records.
        path: of the file; None: one without a name, gone when this is closed.
        asked: names all that can change an answer.
        fresh: what the file holds is dropped.

    Attributes:
        done: how many texts have an answer.
        failed: how many of those are empty ones.

    Raises:
        BadInput: there is a file of other answers, another process writes it, or it cannot be written.
    """

    def __init__(self, kind: type[R], n: int, path: Path | None, asked: str, *, fresh: bool = False) -> None:
        self._kind, self._n, self._path = kind, n, path
        self.done = self.failed = 0
        self._offsets = tempfile.TemporaryFile()  # noqa: SIM115 - see `close`
        self._offsets.truncate(n * _OFFSET.size)
        head = _HEAD + msgspec.json.encode(asked) + b"}\n"
        try:
            self._file = tempfile.TemporaryFile() if path is None else path.open("a+b")  # noqa: SIM115 - see `close`
        except OSError as error:
            self._offsets.close()
            raise refusal(str(path), error) from None
        try:
            self._lock()
            self._file.seek(0)
            found = self._file.readline(_LONGEST_HEAD)
            if not (_HEAD.startswith(found) or found.startswith(_HEAD)):
                raise BadInput(
                    f"{literal(str(path))}: holds no answers of emotui's: move it away, or name another file"
                )
            if found.endswith(b"\n") and found != head and not fresh:
                raise BadInput(
                    f"{literal(str(path))}: holds answers to something else (other texts, model or settings): go on "
                    "with that, or start anew with --fresh"
                )
            if found == head and not fresh:
                self._index()
            else:
                self._file.truncate(0)
                self._file.write(head)
                self._file.flush()
        except BaseException:
            self.close()
            raise

    def __contains__(self, place: int) -> bool:
        return self._offset(place) > 0

    def __len__(self) -> int:
        return self.done

    def __iter__(self) -> Iterator[R]:
        """The records in the order of their texts."""
        return (one.record for one in self.in_order())

    def keep(self, answered: Iterable[Answered[R]]) -> None:
        """Write some answers, each about another text that had none."""
        at = self._file.seek(0, os.SEEK_END)
        for one in answered:
            said = msgspec.json.encode((one.place, one.line, one.why, msgspec.Raw(_written(one.record)))) + b"\n"
            self._file.write(said)
            self._count(one.place, at, one.why)
            at += len(said)
        self._file.flush()

    def get(self, place: int) -> Answered[R] | None:
        """The answer about a text, if there is one."""
        offset = self._offset(place)
        return self._at(offset) if offset else None

    def in_order(self, start: int = 0) -> Iterator[Answered[R]]:
        """What is answered, from a place on, in the order of the texts."""
        for place in range(start, self._n):
            if (one := self.get(place)) is not None:
                yield one

    def failures(self, most: int) -> list[Answered[R]]:
        """The first of those that failed."""
        found: list[Answered[R]] = []
        if self.failed:
            for one in self.in_order():
                if one.why is not None:
                    found.append(one)
                if len(found) == min(most, self.failed):
                    break
        return found

    def close(self, *, remove: bool = False) -> None:
        """Let go of the file. `remove`: it is of no more use."""
        with contextlib.suppress(OSError):
            self._file.close()
        self._offsets.close()
        if remove and self._path is not None:
            self._path.unlink(missing_ok=True)

    def _lock(self) -> None:
        if self._path is None:
            return
        try:
            import fcntl
        except ImportError:  # not on Windows
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BadInput(f"{literal(str(self._path))}: another process is writing it") from None
        except OSError:  # a file system without locks
            return

    def _index(self) -> None:
        """Find the answers of an earlier start; a line that a kill cut short is dropped."""
        at = self._file.tell()
        for said in self._file:
            try:
                place, _, why, _ = _decode(said)
                whole = said.endswith(b"\n") and 0 <= place < self._n
            except (msgspec.MsgspecError, UnicodeDecodeError):
                whole = False
            if not whole:
                break
            if place not in self:
                self._count(place, at, why)
            at += len(said)
        self._file.truncate(at)

    def _count(self, place: int, at: int, why: str | None) -> None:
        self._offsets.seek(place * _OFFSET.size)
        self._offsets.write(_OFFSET.pack(at))
        self.done += 1
        self.failed += why is not None

    def _offset(self, place: int) -> int:
        """Where the answer about a text begins; 0: there is none, since the first line stands there."""
        self._offsets.seek(place * _OFFSET.size)
        (offset,) = _OFFSET.unpack(self._offsets.read(_OFFSET.size))
        return int(offset)

    def _at(self, offset: int) -> Answered[R]:
        self._file.seek(offset)
        place, line, why, raw = _decode(self._file.readline())
        record = to_record(self._kind, jsonl.decode(bytes(raw)), line)
        if isinstance(record, Flaw):
            raise BadInput(f"{literal(str(self._path))}: the answer about line {line} is damaged: {record.reason}")
        return Answered(place, line, record, why)


def unwritable(record: msgspec.Struct) -> str | None:
    """Why no file can hold a record; None where one can."""
    try:
        _written(record)
    except UnicodeEncodeError:
        return "it holds half of a surrogate pair, which is no character"
    return checks.fault(record)


def _written(record: msgspec.Struct) -> bytes:
    """A record as a line of a file of records has it."""
    return msgspec.json.encode(lifted(type(record), present(record)))


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
    task = task_named(kind)
    # Cut between batches, so that each has the texts, and the last digits, that it has where all is asked.
    part = range if shard is None else partial(shard.places, together=BATCH)
    with closing(Texts(path, wish=wish, skip_bad=skip_bad, part=part)) as texts, ExitStack() as processes:
        model = processes.enter_context(ModelProcess(spec))
        if texts.taken is not None:
            warn(f"{literal(path)}: taken for {texts.taken}")
        for problem in texts.skipped:
            warn(f"skipped {problem}")
        card = model.load()
        names = () if task.labels is None else task.labels.of_file(card, labels)
        way = chosen_way(task, card, way, options)
        settled = with_labels(task, card, way, options or {}, None if labels is None else names)
        names = tuple(settled.get("labels", names))
        task = configured(task, way, settled, 1)
        for note in notes_on_prompts(card) if way and "generate" in card.capabilities else ():
            warn(f"{spec}: {note}")
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
            stopped = _Predicting(task, models, card, texts, answers, names, way, spec).finish(progress, each)
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
        task: Task,
        models: Sequence[ModelProcess],
        card: ModelCard,
        texts: Texts,
        answers: Answers[msgspec.Struct],
        names: Sequence[str],
        way: str,
        spec: str,
    ) -> None:
        self._task, self._texts, self._answers, self._names = task, texts, answers, names
        self._way, self._spec, self._pace = way, spec, pace_of(card, BATCH)
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
        answers, n = self._answers, self._texts.n
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
                waiting.append((place, line, self._task.blank(text, self._names)))
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
            answers = self._task.ask(samples, asking, self._way, seeds)
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
                trouble = trouble or str(answers).removeprefix(f"{self._spec}: ")
                continue
            for (place, line, sample), one in zip(batch, answers, strict=True):
                if one.again:
                    trouble = trouble or one.why or ""
                else:
                    record, why = _record(self._task, sample, one, self._way, self._spec)
                    found.append(Answered(place, line, record, why))
        return found, trouble

    def _tell(self, each: Callable[[msgspec.Struct], None] | None, *, holes: bool) -> None:
        """Hand on the records that are next in order; with `holes` also those behind a text that has none."""
        if each is None:
            return
        if holes:
            for one in self._answers.in_order(self._told):
                each(one.record)
            self._told = self._texts.n
        while self._told < self._texts.n and (following := self._answers.get(self._told)) is not None:
            each(following.record)
            self._told += 1


def _record(task: Task, sample: Any, answer: Asked, way: str, model: str) -> tuple[msgspec.Struct, str | None]:
    """The predicted record of one answer; an empty one, and why, where there is none, or none that can be read."""
    why = answer.why
    prediction = None
    if answer.raw is not None:
        try:
            prediction = task.parse(sample, answer.raw, way)
        except (ValueError, msgspec.DecodeError) as error:
            why = f"the output cannot be parsed: {error}"
        else:
            silent = task.unread(prediction)
            why = None if silent is None else f"{silent}: {shown(answer.raw)}"
    whole = task.files.whole

    def made(said: Any) -> msgspec.Struct:
        return task.record(sample.id, said) if whole is None else whole.joined(sample, said, model)

    record = made(prediction)
    if (wrong := unwritable(record)) is not None:
        return made(None), f"the answer cannot be written: {wrong}"
    return record, why
