"""Ask a model about every record of a file, without the store. The records that come out fit `emotui score`."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from emotui.backends.base import Extract, ModelCard, Refused, Request, Score
from emotui.backends.host import ModelProcess
from emotui.errors import BadInput, ModelError
from emotui.formats import read
from emotui.formats.reading import Warn, warn_skipped
from emotui.formats.rows import shown
from emotui.records import (
    PLUTCHIK,
    ClassGold,
    ClassPrediction,
    MaskedGold,
    MaskedPrediction,
    ScenesGold,
    ScenesPrediction,
    SpanPrediction,
    SpanSample,
    Text,
)
from emotui.tasks.masked.task import MASK, Masked
from emotui.tasks.rephrase.task import Rephrase, suited
from emotui.tasks.scenes.task import HEADS, Scenes
from emotui.tasks.spans import task as spans_task
from emotui.tasks.spans.task import Spans
from emotui.tasks.task import AskModel
from emotui.workbench.runs.plan import chosen_way, notes_on_prompts, sample_seed
from emotui.workbench.runs.run import still_open

KINDS = ("spans", "scenes", "masked", "class")
BATCH = 64
Predicted = SpanPrediction | ScenesPrediction | MaskedPrediction | ClassPrediction


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
    records: list[Predicted]
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
        labels: a label set of the person's own, for `scenes` and `class`.
        way, options: how a model that writes is asked (`emotui.tasks`); None: greedily, and by the task's first way.
        progress: called with how many of how many are done.

    Raises:
        BadInput: the file is bad, `labels` are not ones that the model has, or it cannot be asked that way.
        ModelError: the model cannot do this, or died before it had answered anything.
    """
    got = read(path, Text, skip_bad=skip_bad)
    warn_skipped(got, warn)
    with ModelProcess(spec) as model:
        card = model.load()
        names = _labels(kind, card, labels)
        words = _in_words(kind, card, names, way, options, labelled=labels is not None)
        for note in notes_on_prompts(card) if words is not None else ():
            warn(f"{spec}: {note}")
        if words is None:
            words = _as_it_is(kind, names)
        started = time.monotonic()
        found: dict[int, Answered] = {}
        stopped: str | None = None
        try:
            for _ in range(2):
                waiting = [place for place in range(len(got.records)) if place not in found]
                whys: list[str] = []
                for start in range(0, len(waiting), BATCH):
                    places = waiting[start : start + BATCH]
                    answers = words([got.records[place] for place in places], model.ask)
                    found |= {place: one for place, one in zip(places, answers, strict=True) if not one.again}
                    whys += [one.why or "" for one in answers if one.again]
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
    return Predictions(spec, kind, len(got.records), seconds, names, records, failures, stopped)


@dataclass(frozen=True, slots=True)
class Answered:
    """A record, and why it is an empty one; `again`: for no fault of the text's, so that it may be asked again."""

    record: Predicted
    why: str | None = None
    again: bool = False


InWords = Callable[[Sequence[Text], AskModel], list[Answered]]
"""From texts and a model to what became of each."""


def _as_it_is(kind: str, names: tuple[str, ...]) -> InWords:
    """A question a text to a model that needs no words."""

    def ask(texts: Sequence[Text], model: AskModel) -> list[Answered]:
        answers = model([_request(kind, text, names) for text in texts])
        return [
            Answered(_record(kind, text, answer, names), answer.why, answer.again)
            if isinstance(answer, Refused)
            else Answered(_record(kind, text, answer, names))
            for text, answer in zip(texts, answers, strict=True)
        ]

    return ask


def _in_words(
    kind: str,
    card: ModelCard,
    names: tuple[str, ...],
    way: str | None,
    options: Mapping[str, object] | None,
    *,
    labelled: bool,
) -> InWords | None:
    """How a task asks; None for spans and scenes where the model needs no words.

    Raises:
        BadInput: the way, or one of the options, is not for this kind or model.
        ModelError: the model cannot be asked this at all.
    """
    if kind == "spans":
        marking = Spans().with_options(options or {}, 1)
        way = chosen_way(marking, card, way, options)
        if way:
            marking.settings(way)  # a way without a prompt is told before anything is asked
        return _spans_in_words(marking, way) if way else None
    if kind == "scenes":
        judging = Scenes().with_options(options or {}, 1)
        way = chosen_way(judging, card, way, options)
        judging.settings(way)
        return None if way == HEADS else _scenes_in_words(judging, way, names)
    if kind == "masked":
        filling = Masked().with_options(options or {}, 1)
        way = chosen_way(filling, card, way, options)
        filling.settings(way)
        return _masked(filling, way)
    way = chosen_way(Rephrase(), card, way)
    given = dict(options or {}) | ({"labels": list(names)} if labelled else {})
    naming = Rephrase().with_options(suited(card, (), way, given, 0) if labelled else given, 1)
    naming.settings(way)
    return _classes(naming, way)


def _masked(task: Masked, way: str) -> InWords:
    def ask(texts: Sequence[Text], model: AskModel) -> list[Answered]:
        # The task takes nothing of the gold words but how many there are.
        samples = [MaskedGold(id=text.id, text=text.text, labels=("",) * text.text.count(MASK)) for text in texts]
        found = []
        for sample, answer in zip(samples, task.ask(samples, model, way, _seeds(samples)), strict=True):
            if answer.raw is None:
                found.append(Answered(MaskedPrediction(id=sample.id, labels=()), answer.why, answer.again))
                continue
            words = task.parse(sample, answer.raw, way).labels
            why = None if words else f"there are no words in the answer: {shown(answer.raw)}"
            found.append(Answered(MaskedPrediction(id=sample.id, labels=words), why))
        return found

    return ask


def _classes(task: Rephrase, way: str) -> InWords:
    def ask(texts: Sequence[Text], model: AskModel) -> list[Answered]:
        samples = [ClassGold(id=text.id, text=text.text, label="") for text in texts]
        found = []
        for sample, answer in zip(samples, task.ask(samples, model, way, _seeds(samples)), strict=True):
            if answer.raw is None:
                found.append(Answered(ClassPrediction(id=sample.id, label=""), answer.why, answer.again))
                continue
            said = task.parse(sample, answer.raw, way)
            why = None if said.label else f"the answer names no label, or several: {shown(answer.raw)}"
            found.append(Answered(ClassPrediction(id=sample.id, label=said.label, probs=dict(said.probs) or None), why))
        return found

    return ask


def _seeds(samples: Sequence[MaskedGold] | Sequence[ClassGold]) -> list[int]:
    return [sample_seed(0, 0, sample.id) for sample in samples]


def _spans_in_words(task: Spans, way: str) -> InWords:
    def ask(texts: Sequence[Text], model: AskModel) -> list[Answered]:
        samples = [SpanSample(id=text.id, text=text.text, spans=()) for text in texts]
        answers = task.ask(samples, model, way, [sample_seed(0, 0, sample.id) for sample in samples])
        return [
            Answered(SpanPrediction(id=sample.id, spans=()), answer.why, answer.again)
            if answer.raw is None
            else Answered(spans_task.predicted(sample.id, task.parse(sample, answer.raw, way)))
            for sample, answer in zip(samples, answers, strict=True)
        ]

    return ask


def _scenes_in_words(task: Scenes, way: str, names: tuple[str, ...]) -> InWords:
    def ask(texts: Sequence[Text], model: AskModel) -> list[Answered]:
        unknown = dict.fromkeys(names, 0)  # the task asks about the labels of a sample and takes nothing else of them
        samples = [ScenesGold(id=text.id, text=text.text, subject=text.subject, labels=unknown) for text in texts]
        found: list[Answered] = []
        for sample, answer in zip(samples, task.ask(samples, model, way, ()), strict=True):
            if answer.raw is None:
                found.append(Answered(ScenesPrediction(id=sample.id, labels={}), answer.why, answer.again))
                continue
            said = task.parse(sample, answer.raw, way)
            record = ScenesPrediction(
                id=sample.id, scores=said.scores, confidence=said.confidence, censored=said.censored
            )
            found.append(Answered(record))
        return found

    return ask


def _labels(kind: str, card: ModelCard, labels: Sequence[str] | None) -> tuple[str, ...]:
    """The labels that the answers will be over."""
    if kind == "scenes":
        default: tuple[str, ...] = PLUTCHIK
        known = card.labels.get("plutchik", PLUTCHIK)
    elif kind == "class":
        default = known = next(iter(card.labels.values()), ())
        if labels is None and not card.labels and Rephrase().ways(card):
            raise BadInput(f"{card.spec} has no labels of its own: give them in a file, one a line, by --labels FILE")
    else:
        if labels is not None:
            raise BadInput(f"--labels is for scenes and class, not for {kind}")
        return ()
    if labels is None:
        return tuple(default)
    trained = {label for group in card.labels.values() for label in group} if kind == "class" else set(known)
    strange = [label for label in labels if label not in trained]
    if strange and card.labels:
        raise BadInput(f"{card.spec} has no label {strange[0]!r}; it knows: {', '.join(sorted(trained))}")
    return tuple(labels)


def _request(kind: str, record: Text, names: tuple[str, ...]) -> Request:
    return Extract(record.text) if kind == "spans" else Score(record.text, names)


def _record(kind: str, record: Text, answer: object, names: tuple[str, ...]) -> Predicted:
    """The predicted record of one answer; an empty one where the model refused."""
    lost = isinstance(answer, Refused)
    if kind == "spans":
        marked = [] if lost else sorted(answer, key=lambda e: (e.start, e.end))  # type: ignore[call-overload]
        return SpanPrediction(id=record.id, spans=tuple(record.text[e.start : e.end] for e in marked))
    pairs = {} if lost else dict(zip(names, zip(answer.yes, answer.no, strict=True), strict=True))  # type: ignore[attr-defined]
    return ScenesPrediction(id=record.id, scores=pairs) if pairs else ScenesPrediction(id=record.id, labels={})
