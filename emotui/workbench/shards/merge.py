"""Several stores in one: shards of one run become that run, other runs are taken over as they are."""

import hashlib
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from emotui.backends.base import Request
from emotui.backends.servers.batch_files import BatchModel, asked_only
from emotui.errors import BadInput, ModelError
from emotui.formats.rows import literal
from emotui.formats.written import is_stream, refusal, replacing
from emotui.store.query import Dataset, Run
from emotui.store.rows import ScoreRow
from emotui.store.store import Store
from emotui.tasks.prompting.settings import configured
from emotui.tasks.registry import task_named
from emotui.tasks.task import Task
from emotui.workbench.runs.plan import RunConfig, asked_of, chosen_way, free_name, sample_seed
from emotui.workbench.runs.run_file import id_fault, output_fault, run_fault, score_fault, without_machine
from emotui.workbench.runs.states import with_state
from emotui.workbench.shards.shard import Shard, read_shard
from emotui.workbench.texts import stored_samples
from emotui.workbench.turns import with_conversation

# A run's questions as a file of requests that another engine answers (OpenAI's and vLLM's batch format).

KIND = "batch"
_AT_ONCE = 256


class Written(msgspec.Struct, frozen=True):
    """`requests` lines were written, for `open` of `n` samples that have no answer yet."""

    n: int
    open: int
    requests: int


class Question(msgspec.Struct, frozen=True):
    """What a run would ask. `settled`: the person's options with what model and samples together decide.

    `texts`: those of all shards, among which the turns before a text stand.
    """

    task: Task
    way: str | None
    repeats: int
    seed: int
    settled: Callable[[Any, str], Mapping[str, object]]
    texts: Callable[[], Iterable[Any]]


def write_requests(samples: Callable[[], Iterable[Any]], argument: str, question: Question, to: Path) -> Written:
    """Write what is to be asked next: all of it at first, and with answers what these leave open (retries, a score
    behind a reasoning). The run or prediction with `batch:ARGUMENT` asks the very same.

    Args:
        argument: what follows `batch:` in a SPEC; names the answers that there are, if any.

    Raises:
        BadInput, ModelError: as a run would.
    """
    model = asked_only(argument)
    way = chosen_way(question.task, model.card, question.way)
    options = question.settled(model.card, way)
    task = with_conversation(configured(question.task, way, options, question.repeats), options, question.texts())
    try:
        if to.suffix.lower() == ".parquet" and not is_stream(to):
            with replacing(to) as place, tempfile.TemporaryDirectory(dir=place.parent) as folder:
                packed = _Packed(Path(folder))
                n, opened, written = _write(samples, task, model, way, question, packed)
                packed.write_to(place)
        else:
            with nullcontext(to) if is_stream(to) else replacing(to) as place, place.open("wb") as file:
                n, opened, written = _write(samples, task, model, way, question, file)
    except OSError as error:
        raise refusal(str(to), error) from None
    return Written(n, opened, written)


class _Packed:
    """A Parquet file of requests in the making, `custom_id`, `method`, `url` and `body` (JSON) a row.

    Lines are packed a part at a time, on the disk: never are all of them there unpacked.
    """

    def __init__(self, folder: Path) -> None:
        import duckdb

        self._part = folder / "part.jsonl"
        self._connection = duckdb.connect(str(folder / "requests.duckdb"))
        self._connection.execute(f"create table asked ({', '.join(f'{name} varchar' for name in _COLUMNS)})")

    def writelines(self, lines: Iterable[bytes]) -> None:
        """Further requests, as a file of JSON Lines takes them."""
        with self._part.open("ab") as file:
            file.writelines(lines)
            size = file.tell()
        if size > _PART:
            self._pack()

    def write_to(self, place: Path) -> None:
        """All that there are, as a file."""
        if self._part.exists():
            self._pack()
        target = str(place).replace("'", "''")
        self._connection.execute(f"copy asked to '{target}' (format parquet, compression zstd)")
        self._connection.close()

    def _pack(self) -> None:
        columns = ", ".join(f"{name}: 'varchar'" for name in _COLUMNS)
        how = f"format = 'newline_delimited', columns = {{{columns}}}, maximum_object_size = {_LONGEST}"
        source = str(self._part).replace("'", "''")
        self._connection.execute(f"insert into asked from read_json('{source}', {how})")
        self._part.unlink()


_COLUMNS = ("custom_id", "method", "url", "body")
_PART, _LONGEST = 64 * 2**20, 256 * 2**20
"""Bytes of requests that are packed together, and of the longest one."""


def _write(
    samples: Callable[[], Iterable[Any]],
    task: Task,
    model: BatchModel,
    way: str,
    question: Question,
    file: "BinaryIO | _Packed",
) -> tuple[int, int, int]:
    n = opened = written = 0
    for repeat in range(question.repeats):
        for some in _groups_of_samples(samples()):
            seeds = [sample_seed(question.seed, repeat, sample.id) for sample in some]
            asked = task.ask(some, _asking(model), way, seeds)
            n += len(some)
            opened += sum(one.again for one in asked)
            written += _flush(model, file)
    return n, opened, written


def _asking(model: BatchModel) -> Callable[[Sequence[Request]], Any]:
    def ask(requests: Sequence[Any]) -> Any:
        kinds = {type(request).__name__.lower() for request in requests}
        if not kinds:
            return []
        (kind,) = kinds
        if kind not in model.card.capabilities:
            raise ModelError(f"{model.card.spec} cannot {kind}: its answers are in files")
        return getattr(model, kind)(requests)

    return ask


def _flush(model: BatchModel, file: BinaryIO | _Packed) -> int:
    lines = model.asker.wanted
    file.writelines(line + b"\n" for line in lines.values())
    count = len(lines)
    lines.clear()
    return count


def _groups_of_samples(samples: Iterable[Any]) -> Iterator[list[Any]]:
    left = iter(samples)
    while some := list(islice(left, _AT_ONCE)):
        yield some


class Merged(msgspec.Struct, frozen=True):
    """A run as it stands now. `shards`: those that the stores have, `i/n` each; `there`: it was there already.

    `of`: the path of each store, and what the run is called there.
    """

    run: Run
    shards: tuple[str, ...] = ()
    there: bool = False
    of: tuple[tuple[Path, str], ...] = ()


class _Part(msgspec.Struct, frozen=True):
    """A run in one of the stores."""

    store: Store
    dataset: Dataset
    run: Run
    config: RunConfig

    @property
    def shard(self) -> Shard | None:
        return read_shard(self.config.shard) if self.config.shard else None


def merge(target: Store, sources: Sequence[Store]) -> list[Merged]:
    """Keep the model runs of the stores, with the datasets that they are over, in the target.

    Shards of one run (the same model, samples, prompts and settings) become one run, whose answers stand in the order
    of the samples. Where shards are missing it is `stopped`, and can be resumed or merged with them later.

    All of the stores is looked at before anything is kept.

    Raises:
        BadInput: a run is going on, two stores have the same shard, one id stands for two runs, or a store has what no
            run over its dataset keeps.
    """
    found: dict[tuple[Any, ...], list[_Part]] = {}
    for store in sources:
        for run in map(with_state, store.runs.all()):
            dataset = store.datasets.get(run.dataset)
            if dataset is None or run.source != "model":
                continue
            if run.state == "running":
                raise BadInput(f"{_named(store, run)} is going on: merge it when it is done, or stopped")
            config = _config(store, run, dataset)
            shards = config.shard.rpartition("/")[2]
            asked = config.questions if shards and config.questions else run.identity
            key = (dataset.task, dataset.fingerprint, asked, config.whole, shards, run.run if not shards else "")
            found.setdefault(key, []).append(_Part(store, dataset, run, config))
    for parts in found.values():
        _check(parts)
        for part in parts:
            _check_answers(part)
    return [_kept(target, sorted(parts, key=_number)) for parts in found.values()]


def _named(store: Store, run: Run) -> str:
    return literal(f"{store.path}: run {run.run}")


def _config(store: Store, run: Run, dataset: Dataset) -> RunConfig:
    """What a run was asked for. Raises: BadInput where a store says what no run can have."""
    if fault := id_fault(run.run):
        raise BadInput(f"{literal(str(store.path))}: {fault}: rename it there first")
    if fault := run_fault(run, dataset.n):
        raise BadInput(f"{_named(store, run)}: {fault}")
    return msgspec.convert(run.config, RunConfig)


def _number(part: _Part) -> int:
    return part.shard.number if part.shard else 0


def _check(parts: Sequence[_Part]) -> None:
    seen: dict[str, _Part] = {}
    for part in parts:
        other = seen.setdefault(part.config.shard, part)
        if other is not part:
            what = f"shard {part.config.shard} of run" if part.shard else "run"
            named = literal(f"{part.store.path}: {what} {part.run.run} is in {other.store.path} too")
            raise BadInput(f"{named}: leave one out")


def _check_answers(part: _Part) -> None:
    """Raises: BadInput where a run has answers or scores that no run over its dataset, or that shard of it, keeps."""
    store, run, config = part.store, part.run, part.config
    first = _first(store, part.dataset)
    own = range(first, first + part.dataset.n)
    where = "dataset"
    if part.shard is not None:
        places, where = part.shard.places(config.whole), f"shard {part.shard}"
        own = own[places.start : places.stop]
    try:
        task = task_named(run.task).with_options(config.options, config.repeats)
        golds = dict(stored_samples(store, part.dataset.read_as(run.task), part.dataset.n))
        kept: dict[int, list[ScoreRow]] = {}
        answers = 0
        for row in store.results.of_run(run.run):
            answers += 1
            if row.sample not in own:
                raise BadInput(f"it has answers about texts that are not in its {where}")
            scored = "" if row.score is None else score_fault(row.score)
            if fault := output_fault(row, config.repeats) or scored:
                raise BadInput(fault)
            if row.prediction is not None:
                msgspec.json.decode(row.prediction, type=task.prediction)
            if row.score is not None:
                kept.setdefault(row.sample, []).append(row.score)
        if answers != run.done + run.failed:
            raise BadInput(f"it counts {run.done + run.failed:,} as answered and holds {answers:,}")
    except Exception as error:  # whatever somebody else's bytes do to who reads them
        raise BadInput(f"{_named(store, run)}: {_why(error)}") from None
    # What makes figures of scores reads all of them, as whoever looks at the run will.
    scores = [score for number in golds for score in kept.get(number, ())]
    try:
        task.report([golds[number] for number in golds if number in kept], scores)
    except Exception as error:
        again = "where they are of another version, `emotui rescore` makes them anew there"
        raise BadInput(f"{_named(store, run)}: its scores cannot be read ({_why(error)}): {again}") from None


def _why(error: Exception) -> str:
    return literal(str(error))[:200] or type(error).__name__


def _kept(target: Store, parts: Sequence[_Part]) -> Merged:
    first = parts[0]
    config = dict(without_machine(first.run.config))
    shards = tuple(part.config.shard for part in parts if part.shard)
    of = tuple((part.store.path, part.run.run) for part in parts)
    n = first.run.n
    if shards:
        config |= {"shard": "", "whole": 0}
        n = first.config.whole * first.config.repeats
    identity = _identity(parts)
    dataset = dataset_in(target, first.store, first.dataset)
    done = None if shards else first.run.run
    there = next((run for run in target.runs.all(dataset.dataset) if _same(run, identity, n, done)), None)
    if there is not None and (not shards or there.done + there.failed >= n):
        return Merged(there, shards, there=True, of=of)
    if there is None:
        name = free_name(target, identity[:8]) if shards else first.run.run
        if name in target.runs.names():
            named = literal(f"{first.store.path}: there is another run {name} in {target.path}")
            raise BadInput(f"{named}: rename one of them")
        there = target.runs.start(
            run=name,
            identity=identity,
            task=first.run.task,
            model=first.run.model,
            dataset=dataset.dataset,
            config=config,
            n=n,
        )
    for part in parts:
        offset = _first(target, dataset) - _first(part.store, part.dataset)
        target.results.take_over(there.run, part.store.path, part.run.run, offset, gold=dataset.gold)
    ended = target.runs.get(there.run)
    whole = ended.done + ended.failed >= n
    state = ("failed" if ended.failed and not ended.done else "done") if whole else "stopped"
    target.runs.set_state(there.run, state, first.run.error if state == "failed" else None)
    return Merged(target.runs.get(there.run), shards, of=of)


def _identity(parts: Sequence[_Part]) -> str:
    """That of all parts; where each was answered by files of its own, a hash over theirs."""
    marks = sorted({part.run.identity for part in parts})
    return marks[0] if len(marks) == 1 else hashlib.sha256("\n".join(marks).encode()).hexdigest()


def _same(run: Run, identity: str, n: int, name: str | None) -> bool:
    return run.identity == identity and run.n == n and not run.config.get("shard") and name in (None, run.run)


def _first(store: Store, dataset: Dataset) -> int:
    return next((number for number, _ in store.samples.of_dataset(dataset.dataset, 0, 1)), 0)


def dataset_in(target: Store, store: Store, own: Dataset) -> Dataset:
    """The dataset of another store in the target, added where it lacks."""
    same = [one for one in target.datasets.all() if (one.task, one.fingerprint) == (own.task, own.fingerprint)]
    if any(one.n != own.n for one in same):
        named = literal(f"{store.path}: {own.name}")
        raise BadInput(f"{named}: it has other samples than its fingerprint says")
    if same:
        return next((one for one in same if one.name == own.name), same[0])
    task = task_named(own.task)
    taken = {one.name for one in (*target.datasets.all(), *target.datasets.all(trash=True))}
    name = next(
        each
        for number in range(1, len(taken) + 2)
        if (each := own.name if number == 1 else f"{own.name} {number}") not in taken
    )
    rows = (task.row(sample) for _, sample in stored_samples(store, own, own.n))
    return target.datasets.add(name, own.task, rows, own.source, own.fingerprint, asked=asked_of(store, own))
