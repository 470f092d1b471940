"""Everything that is said about one text, whoever says it and of whatever kind: one reader for gold, people and runs.

A text owns what is said about it, so that none of this asks for which task a dataset came. What a run says is read
through its own task (`Task.said`), so that answers of another package's task are told like all others.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from emotui.formats import jsonl
from emotui.formats.beside import OF_PEOPLE
from emotui.metrics.metric import Metric
from emotui.records import Mark
from emotui.store.query import Run
from emotui.store.store import Store
from emotui.tasks.parts import SaidLine
from emotui.tasks.registry import SPANS, task_named
from emotui.tasks.texts import RENAMED, SAID, TextSaid, record_json, said_of_text
from emotui.workbench.masked.lexicons import with_lexicon
from emotui.workbench.runs.plan import RunConfig
from emotui.workbench.runs.scores import last_attempts
from emotui.workbench.texts import read_sample, run_dataset

GOLD, PERSON = "gold", "person"

YES, NO = "yes", "no"
"""What a line of `Task.said` has where a source says that a thing is there, and that it is not."""

_TOLD_ELSEWHERE = {*SAID, "id", "text", "subject", "meta"}
"""Keys of a text that are no answer of another package's task: each of those that are stands under its own key."""


class Told(msgspec.Struct, frozen=True):
    """One thing that a source says of a whole text.

    `name`: of a label where that is there, else of what `words` says something (a mask, a version, a target); `label`
    where the label is the only one. `p`: the probability that the source gives. `mark`: the letter of its error.
    """

    name: str
    words: str = ""
    p: float | None = None
    mark: str = ""


class Voice(msgspec.Struct, frozen=True):
    """What one source says of a text.

    Attributes:
        name: of the source.
        kind: gold, person, model or file.
        told: labels and words; None: it has not been asked for any.
        values: numbers by name.
        spans: those that stand in the text; None: it says nothing of spans.
        task: of a run, what it was asked; empty: all kinds at once.
        run: where it is a run, its id.
        figure: of a run its task's first metric, and its value; None: it has not been scored.
        marks: the letters of its errors, over its repeats.
        error: why a run's answer failed.
    """

    name: str
    kind: str
    told: tuple[Told, ...] | None = None
    values: Mapping[str, float] = msgspec.field(default_factory=dict)
    spans: tuple[Mark, ...] | None = None
    task: str = ""
    run: str = ""
    figure: tuple[Metric, float | None] | None = None
    marks: str = ""
    error: str = ""

    @property
    def tells(self) -> bool:
        """Does it answer a question about the whole text, if only by saying that nothing is there?"""
        return self.told is not None or bool(self.values)


def voices_of(store: Store, number: int, runs: Sequence[Run]) -> tuple[Voice, ...]:
    """What is said about a text: gold, then people in its record, then these runs, whatever each was asked.

    Somebody who annotates here is a run once that is published: until then nobody's answers are seen by the others.

    Args:
        number: of the sample.
        runs: over its dataset, in the order in which they are shown.
    """
    ((_, record),) = store.samples.records([number])
    kept_as = task_named(store.datasets.of_sample(number).kept_as)
    said = said_of_text(kept_as, msgspec.json.decode(record, type=dict[str, Any]))
    shown = {run.model for run in runs if run.source == PERSON}
    people = [one for one in people_said(said) if one.name not in shown]
    return (gold_said(said), *people, *(_of_run(store, run, number, record) for run in runs))


def voices_in(task: str, sample: msgspec.Struct) -> tuple[Voice, ...]:
    """What gold and people say in a sample of a task that no store keeps."""
    said = said_of_text(task_named(task), record_json(sample))
    return (gold_said(said), *people_said(said))


def own_columns_of(task: str, record: Mapping[str, Any]) -> Mapping[str, Any]:
    """The columns of the data's own in a record of a task: its `meta`, without what is said about the text there."""
    meta: Mapping[str, Any] = said_of_text(task_named(task), record).get("meta") or {}
    return meta


def gold_said(said: TextSaid) -> Voice:
    """What gold says of a text, given as all that is said of it (`emotui.tasks.texts`)."""
    own = tuple(
        Told(key, _words(value))
        for key, value in said.items()
        if key not in _TOLD_ELSEWHERE and value not in ({}, [], "")
    )
    one = _said_by(GOLD, GOLD, said)
    masks = [Told(f"mask {place}", str(word)) for place, word in enumerate(said.get("words") or (), 1)]
    target = [Told("target", str(said["target"]))] if said.get("target") else []
    told = (*(one.told or ()), *masks, *target, *own)
    return msgspec.structs.replace(one, told=told or one.told)


def people_said(said: TextSaid) -> list[Voice]:
    """What each annotator in the record of a text says of it."""
    return [_said_by(name, PERSON, answer) for name, answer in (said.get("annotators") or {}).items()]


def _said_by(name: str, kind: str, said: Mapping[str, Any]) -> Voice:
    spans, values = said.get("spans"), said.get("values") or {}
    labels, label = said.get("labels"), said.get("label")
    told: list[Told] | None = None
    if labels is not None:
        there = labels.items() if isinstance(labels, Mapping) else ((one, 1) for one in labels)
        told = [Told(str(one), YES) for one, value in there if value]
    if label:
        one_label = Told("label", str(label))
        told = [one_label, *(one for one in told or () if one.name != label)]
    return Voice(
        name,
        kind,
        None if told is None else tuple(told),
        {key: float(value) for key, value in values.items() if isinstance(value, int | float)},
        None if spans is None else tuple(_marks(spans)),
    )


def _marks(spans: Iterable[Any]) -> list[Mark]:
    """Spans of records as files have them, which are lists or objects."""
    return [
        Mark(one["start"], one["end"], one.get("label"))
        if isinstance(one, Mapping)
        else Mark(one[0], one[1], *one[2:3])
        for one in spans
        if not isinstance(one, str)
    ]


def _of_run(store: Store, run: Run, number: int, record: bytes) -> Voice:
    """What the first of a run's answers says, with the mean of its scores and all of their errors."""
    settings = msgspec.convert(run.config, RunConfig)
    task = with_lexicon(store, task_named(run.task).with_options(settings.options, settings.repeats), run)
    blank = Voice(run.model, run.source, task=run.task, run=run.run)
    rows, over = last_attempts(store.results.of_run(run.run, [number])), run_dataset(store, run)
    if not rows or over is None:
        return blank
    figure = task.metrics[0]
    values = [row.score.values.get(figure.name) for row in rows if row.score is not None]
    known = [value for value in values if value is not None]
    scored = msgspec.structs.replace(
        blank,
        figure=(figure, sum(known) / len(known) if known else None) if values else None,
        marks="".join(dict.fromkeys(letter for row in rows if row.score is not None for letter in row.score.marks)),
        error=rows[0].error or "",
    )
    if rows[0].prediction is None:
        return scored
    prediction = msgspec.json.decode(rows[0].prediction, type=task.prediction)
    sample = read_sample(store, over, record)
    if run.task == SPANS:
        scored = msgspec.structs.replace(scored, spans=_placed(sample, task.marks(prediction)))
    else:
        told, numbers = _of_lines(task.said(sample, prediction))
        scored = msgspec.structs.replace(scored, told=told, values=numbers)
    return scored if run.source == "model" else _with_beside(scored, task.files.kind, rows[0].raw)


def _with_beside(voice: Voice, kind: str, raw: str | None) -> Voice:
    """What a person or a file says beside what the task asks stands in the raw answer."""
    keys = jsonl.decode((raw or "").encode(errors="replace"))
    if not isinstance(keys, dict):
        return voice
    said = {key: keys[key] for key in OF_PEOPLE if key in keys and key not in RENAMED.get(kind, {})}
    more = _said_by(voice.name, voice.kind, said)
    return msgspec.structs.replace(
        voice,
        told=more.told if voice.told is None else voice.told,
        values={**more.values, **voice.values},
        spans=more.spans if voice.spans is None else voice.spans,
    )


def _placed(sample: Any, given: Sequence[str | Mark]) -> tuple[Mark, ...]:
    from emotui.metrics.locating import locate

    places = locate(sample.text, [one if isinstance(one, str) else sample.text[one.start : one.end] for one in given])
    found = [
        (place, None) if isinstance(one, str) else (one.place, one.label)
        for one, place in zip(given, places, strict=True)
    ]
    return tuple(Mark(*place, label) for place, label in found if place is not None)


def _of_lines(lines: Iterable[SaidLine]) -> tuple[tuple[Told, ...], dict[str, float]]:
    """Labels and words of a prediction, and numbers by name; what it says is not there is left out, as gold does."""
    told, numbers = [], dict[str, float]()
    for line in lines:
        if line.predicted in ("", NO):
            continue
        if line.measured and (number := _number(line.predicted)) is not None:
            numbers[line.name] = number
        else:
            told.append(Told(line.name, line.predicted, line.p, line.mark))
    return tuple(told), numbers


def _number(words: str) -> float | None:
    try:
        return float(words.replace("−", "-").split()[0])
    except (ValueError, IndexError):
        return None


def _words(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
