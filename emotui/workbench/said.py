"""What gold and a run say of one sample of any task, in lines."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from emotui.errors import BadInput
from emotui.metrics.metric import Metric
from emotui.store.query import Run
from emotui.store.store import Store
from emotui.tasks.parts import SaidLine
from emotui.tasks.registry import task_named
from emotui.workbench.answers import own_columns_of
from emotui.workbench.masked.lexicons import with_lexicon
from emotui.workbench.runs.plan import RunConfig
from emotui.workbench.runs.scores import last_attempts
from emotui.workbench.runs.states import with_state
from emotui.workbench.task_words import metrics_named
from emotui.workbench.texts import read_sample
from emotui.workbench.turns import Turns, is_sequence, turns_of

__all__ = ["Said", "SaidLine", "SampleSaid", "said_of"]


if TYPE_CHECKING:
    from emotui.workbench.runs.over_time import Strip


@dataclass(frozen=True, slots=True)
class Said:
    """One answer of a run: lines beside gold, its values by the name of the metric, and the letters of its errors.

    `raw` and `prompt` are as they were kept.
    """

    repeat: int
    lines: tuple[SaidLine, ...]
    values: dict[str, float | None]
    marks: str
    error: str | None
    raw: str | None = None
    prompt: str | None = None


ALONG = ("labels", "rephrase", "scenes", "values")
"""Tasks whose answers are told along a conversation or person."""


@dataclass(frozen=True, slots=True)
class SampleSaid:
    """A sample as any place can show it. `gold`: its lines without a run; `answers`: one a repeat of `run`.

    `meta`: columns of the data's own. `turns`: of the conversation that it is from. `strip`: what gold and the run say
    along that, or along what the same person wrote.
    """

    number: int
    task: str
    id: str
    text: str
    gold: tuple[SaidLine, ...]
    metrics: tuple[Metric, ...]
    answers: tuple[Said, ...]
    run: Run | None = None
    subject: str | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)
    turns: Turns = field(default_factory=Turns)
    strip: "Strip | None" = None


class _Text(msgspec.Struct):
    id: str
    text: str | None = None
    subject: str | None = None


def said_of(store: Store, dataset: int | str, number: int, run: str | None) -> SampleSaid:
    """What gold and a run (None: gold alone) say of a sample.

    Raises:
        BadInput: there is no such dataset, sample or run.
    """
    held, found = store.datasets.get(dataset), store.samples.records([number])
    if held is None or not found:
        raise BadInput(f"there is no sample {number} in the dataset {dataset!r}")
    of = None if run is None else with_state(store.runs.get(run))
    held = held if of is None else held.read_as(of.task)
    task = task_named(held.task)
    record = found[0][1]
    sample, named = read_sample(store, held, record), msgspec.json.decode(record, type=_Text)
    if of is not None:
        settings = msgspec.convert(of.config, RunConfig)
        task = with_lexicon(store, task.with_options(settings.options, settings.repeats), of)
    rows = [] if of is None else last_attempts(store.results.of_run(of.run, [number]))
    answers = []
    for row in rows:
        prediction = None if row.prediction is None else msgspec.json.decode(row.prediction, type=task.prediction)
        answers.append(
            Said(
                row.repeat,
                task.said(sample, prediction),
                {} if row.score is None else dict(row.score.values),
                "" if row.score is None else row.score.marks,
                row.error,
                row.raw,
                row.prompt,
            )
        )
    gold = task.said(sample, None)
    metrics = metrics_named(task, (name for answer in answers for name in answer.values))
    around = turns_of(store, number, record)
    own = own_columns_of(held.kept_as, msgspec.json.decode(record))
    strip = None
    if of is not None and task.name in ALONG and is_sequence(own):
        from emotui.workbench.runs.over_time import strip_of

        strip = strip_of(store, held, of, number, own)
    return SampleSaid(
        number,
        task.name,
        named.id,
        named.text or "",
        gold,
        metrics,
        tuple(answers),
        of,
        subject=named.subject,
        meta=own,
        turns=around,
        strip=strip,
    )
