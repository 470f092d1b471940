"""A run's questions as a file of requests that another engine answers (OpenAI's and vLLM's batch format)."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from emotui.backends.base import Request
from emotui.backends.servers.batch_files import BatchModel, asked_only
from emotui.errors import ModelError
from emotui.formats.written import is_stream, refusal, replacing
from emotui.tasks.prompting.settings import configured
from emotui.tasks.task import Task
from emotui.workbench.runs.plan import chosen_way, sample_seed

KIND = "batch"
_AT_ONCE = 256


class Written(msgspec.Struct, frozen=True):
    """`requests` lines were written, for `open` of `n` samples that have no answer yet."""

    n: int
    open: int
    requests: int


class Question(msgspec.Struct, frozen=True):
    """What a run would ask. `settled`: the person's options with what model and samples together decide."""

    task: Task
    way: str | None
    repeats: int
    seed: int
    settled: Callable[[Any, str], Mapping[str, object]]


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
    task = configured(question.task, way, question.settled(model.card, way), question.repeats)
    try:
        with nullcontext(to) if is_stream(to) else replacing(to) as place, place.open("wb") as file:
            n, opened, written = _write(samples, task, model, way, question, file)
    except OSError as error:
        raise refusal(str(to), error) from None
    return Written(n, opened, written)


def _write(
    samples: Callable[[], Iterable[Any]], task: Task, model: BatchModel, way: str, question: Question, file: BinaryIO
) -> tuple[int, int, int]:
    n = opened = written = 0
    for repeat in range(question.repeats):
        for some in _groups(samples()):
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


def _flush(model: BatchModel, file: BinaryIO) -> int:
    lines = model.asker.wanted
    file.writelines(line + b"\n" for line in lines.values())
    count = len(lines)
    lines.clear()
    return count


def _groups(samples: Iterable[Any]) -> Iterator[list[Any]]:
    left = iter(samples)
    while some := list(islice(left, _AT_ONCE)):
        yield some
