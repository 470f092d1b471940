"""One text through everything that a model can do."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import msgspec
from msgspec.structs import replace

from emotui.backends.base import (
    MASK,
    Attribute,
    Attribution,
    Capability,
    Classification,
    Classify,
    Embed,
    Evidence,
    Extract,
    Filled,
    FillMask,
    Generate,
    Generation,
    Message,
    ModelCard,
    Refused,
    Regress,
    Regressed,
    Request,
    Score,
    Scores,
)
from emotui.backends.host import IsCancelled, ModelProcess, lacks
from emotui.errors import BadInput, ModelError
from emotui.records import PLUTCHIK, Text
from emotui.tasks.prompting.settings import YES_NO, ZERO_SHOT, configured
from emotui.tasks.registry import kinds, task_named, with_labels
from emotui.tasks.task import AskModel, Task
from emotui.workbench.runs.plan import chosen_way, sample_seed

# One text asked about as a task asks: the task's own prompt, what the model wrote, and what the task reads from it.

_ID = "text"


@dataclass(frozen=True, slots=True)
class TaskAnswer:
    """What became of one text in a task. Where the model has no words for it (`embedded`), there is no prompt.

    Attributes:
        way: the task's way of asking this model; empty where there is only one.
        prompt: as a run keeps it beside its answers, the messages by their roles.
        rendered: the (first) prompt as the model read it, with its chat template's control tokens; None where there was
            none, or where a server does not tell.
        written: every text that the model wrote, in the order of asking: further tries, and one for each emotion where
            the model reasons about each.
        raw: the answer as a run keeps it; None where `why` tells why there is none.
        parsed: what the task reads from it, as plain values; None where `why` tells that it cannot be read.
        seconds: from question to answer.
    """

    task: str
    way: str
    prompt: str | None
    rendered: str | None
    written: tuple[str, ...]
    raw: str | None
    parsed: Mapping[str, Any] | None
    why: str | None
    seconds: float


def task_names() -> tuple[str, ...]:
    """The tasks that one text can be asked about by, as their records are called in files."""
    return tuple(kinds())


def tasks_for(text: str) -> tuple[str, ...]:
    """Those of `task_names()` that find something to ask about in this text."""
    return tuple(kind for kind, task in kinds().items() if _problem(task, text) is None)


def _problem(task: Task, text: str) -> str | None:
    sample = task.blank(Text(id=_ID, text=text))
    return task.problem(sample, sample)


def ask_task(
    name: str,
    text: str,
    model: AskModel,
    card: ModelCard,
    *,
    way: str | None = None,
    options: Mapping[str, object] | None = None,
    seed: int = 0,
) -> TaskAnswer:
    """Ask `model` about `text` as a run of the task does.

    Args:
        name: one of `task_names()`.
        way, options: as in `emotui.workbench.runs.run.run_task`; None: the model's first way, the task's own prompt.

    Raises:
        BadInput: there is no such task or way, or the text has nothing that the task asks about.
        ModelError: the model cannot be asked this, or died.
    """
    if name not in kinds():
        raise BadInput(f"{name!r} is no task that one text can be asked about; there are: {', '.join(task_names())}")
    task = kinds()[name]
    sample = task.blank(Text(id=_ID, text=text))
    why = _problem(task, text)
    if why is not None:
        raise BadInput(why)
    chosen = chosen_way(task, card, way, options)
    task = configured(task, chosen, with_labels(task, card, chosen, options or {}, None), 1)
    heard = _Heard(model)
    started = time.monotonic()
    (answer,) = task.ask([sample], heard, chosen, [sample_seed(seed, 0, sample.id)])
    seconds = time.monotonic() - started
    parsed, why = None, answer.why
    if answer.raw is not None:
        try:
            parsed = msgspec.to_builtins(task.parse(sample, answer.raw, chosen))
        except (ValueError, msgspec.DecodeError) as error:
            why = f"the output cannot be parsed: {error}"
    return TaskAnswer(
        name, chosen, answer.prompt, heard.rendered, tuple(heard.written), answer.raw, parsed, why, seconds
    )


class _Heard:
    """Asks the model, and keeps what it read and wrote."""

    def __init__(self, model: AskModel) -> None:
        self._model = model
        self.rendered: str | None = None
        self.written: list[str] = []

    def __call__(self, requests: Sequence[Request]) -> Any:
        echoing = [replace(each, echo=True) if isinstance(each, Generate | Score) else each for each in requests]
        answers = self._model(echoing)
        for answer in answers:
            if isinstance(answer, Refused):
                continue
            if isinstance(answer, Generation):
                self.written.append(answer.text)
            if isinstance(answer, Generation | Scores):
                self.rendered = self.rendered or answer.prompt or None
        return answers


__all__ = [
    "PARTS",
    "PROMPT",
    "Attribution",
    "Classification",
    "Evidence",
    "Filled",
    "Generation",
    "ModelCard",
    "Odds",
    "Probe",
    "Regressed",
    "probe",
]

PARTS = ("spans", "classes", "emotions", "words", "masks", "generation", "embedding", "numbers")
"""What a model may say about a text, beside the answers to a task's prompt."""

PROMPT = "What does the person who wrote this feel? Name the feeling, and quote the words that show it.\n\n{text}"
"""What a model that writes is asked where no other prompt is given."""


@dataclass(frozen=True, slots=True)
class Odds:
    """One emotion: the log-odds of yes, and the probability of both answers together (1 for a model with heads)."""

    log_odds: float
    mass: float
    censored: str = ""


@dataclass(frozen=True, slots=True)
class Probe:
    """What a model says about one text. A part is None where `notes` says why: it lacks the capability, or refused.

    Attributes:
        classes: label set to the probabilities over it.
        numbers: what a regression head gives; None where there is none.
        emotions: of Plutchik's eight.
        tasks: the answers to the prompts of the tasks that were asked for. A task that this model cannot be asked is
            not in it, and `notes` has why under the task's name with `task ` before it.
        seconds: for each part, from question to answer.
        lacking: the parts that this model has no capability for.
    """

    card: ModelCard
    text: str
    prompt: str
    spans: tuple[Evidence, ...] | None = None
    classes: Mapping[str, Classification] | None = None
    numbers: Regressed | None = None
    emotions: Mapping[str, Odds] | None = None
    words: Attribution | None = None
    masks: Filled | None = None
    generation: Generation | None = None
    embedding: tuple[float, ...] | None = None
    tasks: Mapping[str, TaskAnswer] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)
    lacking: tuple[str, ...] = ()


class _No(Exception):
    """This part has no answer, for the reason given."""


def probe(
    model: ModelProcess,
    text: str,
    *,
    prompt: str | None = None,
    max_tokens: int = 200,
    labels: Sequence[str] = (),
    parts: Sequence[str] = PARTS,
    tasks: Sequence[str] = (),
    ways: Mapping[str, str] | None = None,
    options: Mapping[str, Mapping[str, object]] | None = None,
    progress: Callable[[str], None] = lambda line: None,
    cancelled: IsCancelled | None = None,
) -> Probe:
    """Ask everything that the model can answer about `text`, one part after the other.

    Args:
        prompt: for a model that writes; `{text}` in it becomes the text.
        labels: for a model that judges labels it was never trained on; Plutchik's eight where there are none.
        parts: which of `PARTS` to ask for.
        tasks: the tasks (`emotui.workbench.models.probe.task_names`) whose own prompts are asked too, last.
        ways, options: by task, how it is asked (as in a run); the model's first way and the task's own prompt else.

    Raises:
        BadInput: there is no such task.
        ModelError: the model cannot be loaded, or died.
        Cancelled: `cancelled()` became true.
    """
    strange = next((name for name in tasks if name not in task_names()), None)
    if strange is not None:
        raise BadInput(f"{strange!r} is no task that one text can be asked about; there are: {', '.join(task_names())}")
    card = model.load(progress, cancelled)
    question = (prompt or PROMPT).replace("{text}", text)
    able = card.capabilities
    seconds: dict[str, float] = {}
    notes: dict[str, str] = {}
    lacking: list[str] = []

    def one(request: Request) -> Any:
        answer = model.ask([request], cancelled=cancelled)[0]
        if isinstance(answer, Refused):
            raise _No(answer.why)
        return answer

    def part(name: str, capability: Capability | None, ask: Callable[[], Any]) -> Any:
        if capability is not None and name not in parts:
            return None
        if capability is not None and (capability not in able or (name == "words" and "generate" in able)):
            # Which words an answer in words follows depends on the question: `emotui lens gradients` asks it.
            notes[name] = _lacks(card, capability) if capability not in able else _ASKED_ELSEWHERE
            lacking.append(name)
            return None
        progress(name)
        started = time.monotonic()
        try:
            return ask()
        except (_No, BadInput) as why:
            notes[name] = str(why)
            return None
        except ModelError as error:
            if model.pid is None:
                raise
            notes[name] = str(error)
            return None
        finally:
            seconds[name] = time.monotonic() - started

    def classes() -> dict[str, Classification]:
        return {name: one(Classify(text, *how)) for name, how in _label_sets(card, tuple(labels)).items()}

    def filled() -> Any:
        if MASK not in text:
            raise _No(f"there is no {MASK} in the text")
        return one(FillMask(text))

    def task(name: str) -> TaskAnswer:
        asking = partial(model.ask, cancelled=cancelled)
        return ask_task(name, text, asking, card, way=(ways or {}).get(name), options=(options or {}).get(name))

    def carried() -> str | None:
        """What words carry: a model without labels of its own cannot choose that, so it is the likeliest it judged."""
        if card.labels or "classify" not in able:
            return None
        return next(iter((judged or classes()).values())).label

    write = Generate((Message("user", question),), max_tokens=max_tokens)
    judged = part("classes", "classify", classes)
    found = {
        "spans": part("spans", "extract", lambda: tuple(one(Extract(text)))),
        "classes": judged,
        "numbers": part("numbers", "regress", lambda: one(Regress(text))) if "regress" in able else None,
        "emotions": part("emotions", "score", lambda: _emotions(one(_questions(card, text)))),
        "words": part("words", "attribute", lambda: one(Attribute(text, carried()))),
        "masks": part("masks", "fill_mask", filled),
        "generation": part("generation", "generate", lambda: one(write)),
        "embedding": part("embedding", "embed", lambda: tuple(float(each) for each in one(Embed(text)))),
    }
    said = {name: part(f"task {name}", None, partial(task, name)) for name in tasks}
    answered = {name: answer for name, answer in said.items() if answer is not None}
    return Probe(card, text, question, **found, tasks=answered, seconds=seconds, notes=notes, lacking=tuple(lacking))


_ASKED_ELSEWHERE = "which words the answers of a model that writes follow: emotui lens gradients"


def _lacks(card: ModelCard, capability: Capability) -> str:
    """What a model cannot do, which kinds can, and how this one can be asked the same in words."""
    told = lacks(card.spec, capability)
    if capability == "score" and "generate" in card.capabilities:
        return f"{told}; in words, yes or no of each emotion: emotui probe --task scenes --way {YES_NO}"
    return told


def _label_sets(card: ModelCard, labels: tuple[str, ...]) -> dict[str, tuple[str | None, tuple[str, ...] | None]]:
    """Each label set of the model, as `Classify` asks for it.

    The given ones, or Plutchik's eight, for a model that has none of its own.
    """
    own = [name for name in card.labels if name != "score"]
    if own:
        return {name: (name, None) for name in own}
    return {"given": (None, labels)} if labels else {"plutchik": (None, PLUTCHIK)}


def _emotions(answer: Scores) -> dict[str, Odds]:
    censored = answer.censored or ("",) * len(PLUTCHIK)
    rows = zip(PLUTCHIK, answer.yes, answer.no, answer.mass, censored, strict=True)
    return {name: Odds(yes - no, mass, kept_back) for name, yes, no, mass, kept_back in rows}


def _questions(card: ModelCard, text: str) -> Score:
    """Of a model that writes as the scenes task asks, at the first token; of one that judges labels, the labels."""
    if "generate" not in card.capabilities:
        return Score(text, PLUTCHIK)
    return asked_of_scene(text)


def asked_of_scene(text: str, subject: str | None = None) -> Score:
    """What the scenes task asks a model that writes about the eight emotions of somebody in a text, at its first token.

    Args:
        subject: who that is; None: whoever is at its centre.
    """
    task = task_named("scenes")
    asked: list[Score] = []

    def note(requests: Sequence[Any]) -> list[Refused]:
        asked.extend(requests)
        return [Refused("it is only noted what is asked")] * len(requests)

    scene = task.blank(Text(id="", text=text, subject=subject), PLUTCHIK)
    task.ask([scene], note, task.asking.named[ZERO_SHOT], [0])
    return asked[0]
