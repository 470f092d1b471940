"""Ask a model about every record of a file, without the store. The records that come out fit `emotui score`."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import msgspec

from emotui.backends.base import ModelCard
from emotui.backends.host import ModelProcess
from emotui.errors import BadInput, ModelError, NotNow
from emotui.formats import read
from emotui.formats.reading import Warn, warn_skipped
from emotui.formats.rows import shown
from emotui.records import Text
from emotui.tasks.prompting.settings import configured
from emotui.tasks.registry import kinds, task_named, with_labels
from emotui.tasks.task import Asked, Task
from emotui.workbench.asking import Asking
from emotui.workbench.runs.plan import chosen_way, notes_on_prompts, sample_seed
from emotui.workbench.runs.run import still_open
from emotui.workbench.runs.window import Stop, Window

BATCH = 64


@dataclass(frozen=True, slots=True)
class Predictions:
    """A model's answers in the order of the file.

    Attributes:
        n: how many records the file has.
        records: one for each, unless `stopped`.
        failures: a line for each record that the model refused.
        stopped: why those that have no record were not answered (a server that went away, a model that died, Ctrl-C).
    """

    model: str
    kind: str
    n: int
    seconds: float
    labels: tuple[str, ...]
    records: list[msgspec.Struct]
    failures: list[str] = field(default_factory=list)
    stopped: str | None = None


def predict(
    kind: str,
    spec: str,
    path: str,
    *,
    labels: Sequence[str] | None = None,
    way: str | None = None,
    options: Mapping[str, object] | None = None,
    skip_bad: bool = False,
    warn: Warn,
    progress: Callable[[int, int], None] = lambda done, n: None,
) -> Predictions:
    """Read `path`, ask the model, and return one predicted record for each id.

    A record that the model refuses becomes an empty answer of its kind (no spans, no labels) and is counted as failed.
    One that a server was in trouble over is asked for once more, when all else is done; where the model is gone for
    good, what it has answered is returned.

    Args:
        labels: a label set of the person's own, in a task that chooses among labels.
        way, options: how a model that writes is asked (`emotui.tasks`); None: greedily, and by the task's first way.
        progress: called with how many of how many are done.

    Raises:
        BadInput: the file is bad, `labels` are not ones that the model has, or it cannot be asked that way.
        ModelError: the model cannot do this, or died before it had answered anything.
    """
    task = task_named(kind)
    got = read(path, Text, skip_bad=skip_bad)
    warn_skipped(got, warn)
    with ModelProcess(spec) as model:
        card = model.load()
        names = _labels(task, card, labels)
        way = chosen_way(task, card, way, options)
        settled = with_labels(task, card, way, options or {}, None if labels is None else names)
        names = tuple(settled.get("labels", names))
        task = configured(task, way, settled, 1)
        for note in notes_on_prompts(card) if way and "generate" in card.capabilities else ():
            warn(f"{spec}: {note}")
        samples = [task.blank(text, names) for text in got.records]
        started = time.monotonic()
        found: dict[int, Answered] = {}
        stopped: str | None = None
        stop = Stop(None)
        ask = Asking(model, stop)
        size = BATCH if card.at_once == 1 else 1

        def asked_about(places: Sequence[int]) -> Sequence[Asked]:
            asked = [samples[place] for place in places]
            return task.ask(asked, ask, way, [sample_seed(0, 0, sample.id) for sample in asked])

        try:
            for _ in range(2):
                waiting = [place for place in range(len(got.records)) if place not in found]
                batches = (waiting[start : start + size] for start in range(0, len(waiting), size))
                whys: list[str] = []
                with closing(Window(asked_about, card.at_once, stop).answers(batches)) as groups:
                    for group in groups:
                        for places, answers in group:
                            if isinstance(answers, NotNow):
                                whys += [str(answers).removeprefix(f"{spec}: ")] * len(places)
                                continue
                            whys += [one.why or "" for one in answers if one.again]
                            found |= {
                                place: _answered(task, samples[place], one, way, spec)
                                for place, one in zip(places, answers, strict=True)
                                if not one.again
                            }
                        progress(len(found), len(got.records))
                if not whys:
                    break
            else:
                raise ModelError(still_open(len(whys), len(got.records), whys[0]))
        except (ModelError, KeyboardInterrupt) as error:
            if not found:
                raise
            stopped = str(error) or "interrupted"
        seconds = time.monotonic() - started
    done = sorted(found)
    failures = [f"{path}:{got.lines[place]}: {found[place].why}" for place in done if found[place].why is not None]
    records = [found[place].record for place in done]
    return Predictions(spec, task.files.kind, len(got.records), seconds, names, records, failures, stopped)


@dataclass(frozen=True, slots=True)
class Answered:
    """A record, and why it is an empty one."""

    record: msgspec.Struct
    why: str | None = None


def _answered(task: Task, sample: Any, answer: Asked, way: str, model: str) -> Answered:
    """The predicted record of one answer; an empty one where there is none, or none that can be read."""
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
    record = task.record(sample.id, prediction) if whole is None else whole.joined(sample, prediction, model)
    return Answered(record, why)


def _labels(task: Task, card: ModelCard, given: Sequence[str] | None) -> tuple[str, ...]:
    """The labels that the answers will be over; none in a task that chooses among no labels."""
    if task.labels is not None:
        return task.labels.of_file(card, given)
    if given is not None:
        there = [kind for kind, one in kinds().items() if one.labels is not None]
        named = " and ".join(filter(None, (", ".join(there[:-1]), there[-1])))
        raise BadInput(f"--labels is for {named}, not for {task.files.kind}")
    return ()
