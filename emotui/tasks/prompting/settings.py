"""Ask a model that writes one question a sample, and read its short answer: what tasks of short answers share."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Annotated, Any, Literal, TypeVar

import msgspec

from emotui.backends.base import Generate, Message, Refused
from emotui.errors import BadInput
from emotui.tasks.parts import shared_by
from emotui.tasks.prompting.files import Places, Prompt, Prompts, as_kept, filled, prompt_of
from emotui.tasks.task import Asked, AskModel, Task, unanswered

# What an NLI model judges: a statement about a text, made from a template for each label.

NLI = "nli"
"""The way of asking: does the text entail the statement, or contradict it?"""


def hypothesis_places(label: str) -> Places:
    """A template names the label at least once."""
    return Places(once=(), often=(label,))


def check_hypotheses(path: str, prompts: Prompts) -> Prompts:
    """The prompts of a file as they are.

    Raises:
        BadInput: the template has what no statement about a text can have.
    """
    template = prompts.get(NLI)
    if template is not None and template.system:
        raise BadInput(f"{path}: {NLI}.system: an NLI model judges a statement and reads no system message")
    if template is not None and "{text}" in template.user:
        raise BadInput(f"{path}: {NLI}.user: {{text}} is what the statement is about, and does not stand in it")
    return prompts


def stated(template: Prompt, fields: Mapping[str, str]) -> str:
    """The statement, which begins with a capital."""
    words = filled(template.user, fields)
    return words[:1].upper() + words[1:]


# One word for a way of asking in all tasks. A task's own names, which stored runs hold, stay valid beside them.

DIRECT = "direct"
"""A model that needs no words: it has heads, fills masks, or marks spans itself."""

ZERO_SHOT = "zero-shot"
"""The bare question."""

FEW_SHOT = "few-shot"
"""The question after examples."""

COT = "cot"
"""The model reasons before it answers."""


# The turns of a conversation before the text that is asked about.

TURNS_PLACE = "{before}"
"""Where they stand in a prompt."""

NO_TURNS = "(nothing)"
"""Stands there for the first turn of a conversation."""

TURNS = f"What was said before it, in the same conversation, oldest first:\n{TURNS_PLACE}\n\n"
"""Stands before this project's own questions, where turns are asked for."""

BEFORE = "before"
"""The option: how many turns, or `all`."""

MOST_TURNS = 1000


# One annotator, whose answers are asked for.

VOICE = "voice"
"""The option: `Annotator`; `--as` on the command line."""

VOICE_PLACE = "{annotator}"
"""Where that stands in a prompt."""

_VOICE = "Answer as one particular annotator would, also where other people would answer otherwise.\n\n"
_ABOUT = "About this annotator:\n{description}\n\n"
_EXAMPLES = "What this annotator said of other texts:\n\n"
_EXAMPLE = "Text:\n{text}\nAnswer: {answer}\n\n"
_NOW = "Now the text to answer as this annotator would.\n\n"


class Example(msgspec.Struct, frozen=True, omit_defaults=True):
    """An earlier answer. `answer`: a label, a list of labels, numbers by name, or the places of spans. `shared`: what
    the text shares with others (`shared_by`).
    """

    id: str
    text: str
    answer: Any
    shared: str | None = None


class Annotator(msgspec.Struct, frozen=True, omit_defaults=True):
    """Whose answers are asked for. `examples`: in the order of preference; `shown`: how many of them at a text."""

    name: str
    description: str = ""
    examples: tuple[Example, ...] = ()
    shown: int = 0

    def examples_for(self, sample: Any) -> list[Example]:
        """The first `shown` that are of no text that the answer to this one could be read off: neither of itself, nor
        of its words, nor of its passage or conversation.
        """
        text, shared = _bare(sample.text or ""), shared_by(getattr(sample, "meta", None) or {})
        apart = (
            one
            for one in self.examples
            if one.id != sample.id and _bare(one.text) != text and (shared is None or one.shared != shared)
        )
        return list(islice(apart, self.shown))

    def told(self, sample: Any, form: Callable[[Example], str]) -> str:
        """What stands before the question about a text. `form`: an example's answer as the question asks for it."""
        told = _VOICE + (filled(_ABOUT, {"description": self.description}) if self.description else "")
        if shown := self.examples_for(sample):
            told += _EXAMPLES
            told += "".join(filled(_EXAMPLE, {"text": one.text, "answer": form(one)}) for one in shown)
        return told + _NOW


def as_json(example: Example) -> str:
    """An example's answer as JSON; a label as it is."""
    return example.answer if isinstance(example.answer, str) else json.dumps(example.answer, ensure_ascii=False)


def _bare(text: str) -> str:
    return " ".join(text.split()).casefold()


# What models wrap around an answer, taken off: thinking, and fences.


def without_thinking(output: str) -> str:
    """The answer behind a reasoning model's thoughts: `<think>…</think>` at its beginning, once or more.

    So too `<seed:think>` (Seed-OSS), and all channels before the final one (gpt-oss).

    Where the prompt already opened the tag, the thoughts end at the first `</think>`. Thoughts that never end leave no
    answer. Tags further on belong to the answer, and stay.
    """
    if _CHANNEL.match(output):
        return output.rpartition(_FINAL)[2] if _FINAL in output else ""
    found = _THINKING.match(output)
    if found:
        while found:
            output = output[found.end() :]
            found = _THINKING.match(output)
        return output
    closing = _THOUGHT.search(output)
    opening = re.search(r"<(?:seed:)?think(?:ing)?>", output, re.IGNORECASE)
    return output[closing.end() :] if closing and not opening else output


def without_fence(output: str) -> str:
    """What stands inside a markdown code fence that encloses the whole answer."""
    found = _FENCE.fullmatch(output)
    return found[2] if found else output


_FENCE = re.compile(r"\s*(`{3,})[^\n`]*\n(.*?)\n?[ \t]*\1\s*", re.DOTALL)


_THINKING = re.compile(r"\s*<(think|thinking|seed:think)>(.*?)(</\1>|\Z)", re.DOTALL | re.IGNORECASE)


_THOUGHT = re.compile(r"</(?:seed:)?think(?:ing)?>", re.IGNORECASE)


_CHANNEL = re.compile(r"\s*(<\|start\|>assistant)?<\|channel\|>")
_FINAL = "<|channel|>final<|message|>"


class Writing(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a person can set about how answers are written. `prompts`: their own; None for this project's.

    `max_tokens` None: what the way has room for. `constrain`: a grammar holds answers to their form. `retries`: further
    tries, in a task that asks again where an answer breaks its form. `before`: how many turns of its conversation stand
    before a text; `turns`: these, by the id of the text, which are the samples' and no setting of the person's.
    `voice`: whose answers are asked for.
    """

    temperature: Annotated[float, msgspec.Meta(ge=0, le=5)] = 0.0
    top_p: Annotated[float, msgspec.Meta(gt=0, le=1)] = 1.0
    max_tokens: Annotated[int, msgspec.Meta(ge=1)] | None = None
    retries: Annotated[int, msgspec.Meta(ge=0, le=20)] = 3
    prompts: dict[str, Prompt] | None = None
    constrain: bool = False
    before: Annotated[int, msgspec.Meta(ge=0, le=MOST_TURNS)] | Literal["all"] | None = None
    turns: Mapping[str, str] = {}
    voice: Annotator | None = None

    def prompt(self, own: Prompts, way: str) -> Prompt:
        """The prompt of a way; of this project's own with places for an annotator and for turns, where asked for.

        Raises:
            BadInput: the person's own have none for it, or turns or an annotator are asked for and it has no place for
                them, or the other way round.
        """
        chosen = prompt_of(own if self.prompts is None else self.prompts, way)
        if self.prompts is None:
            context = VOICE_PLACE * (self.voice is not None) + TURNS * bool(self.before)
            return Prompt(context + chosen.user, chosen.system) if context else chosen
        for place in (TURNS_PLACE, VOICE_PLACE):
            if place in chosen.system:
                raise BadInput(f"{way}.system: {place} belongs in user")
        if (VOICE_PLACE in chosen.user) != (self.voice is not None):
            raise BadInput(
                f"your prompt for {way} has {VOICE_PLACE}: say whose answers by --as NAME"
                if self.voice is None
                else f"your prompt for {way} has no {VOICE_PLACE}: write where the annotator's examples stand"
            )
        if self.before is None and TURNS_PLACE in chosen.user:
            raise BadInput(f"your prompt for {way} has {TURNS_PLACE}: say how many turns by --before N (0: none)")
        if self.before and TURNS_PLACE not in chosen.user:
            raise BadInput(f"your prompt for {way} has no {TURNS_PLACE}: write where the turns before a text stand")
        return chosen

    def context_of(self, sample: Any, form: Callable[[Example], str] = as_json) -> Mapping[str, str]:
        """The fields of a prompt with the turns before a text, and with the annotator whose answer is asked for; none
        where neither is.
        """
        turns = {} if self.before is None else {BEFORE: self.turns.get(sample.id, NO_TURNS)}
        return turns if self.voice is None else {**turns, VOICE_PLACE[1:-1]: self.voice.told(sample, form)}

    def opening(self, sample: Any) -> str:
        """What stands before a question that no prompt of a person's replaces: annotator and turns, or nothing."""
        context = VOICE_PLACE * (self.voice is not None) + TURNS * bool(self.before)
        return filled(context, self.context_of(sample))

    def context(self) -> dict[str, object]:
        """What stands before the texts, for the run's identity; empty where nothing does."""
        import hashlib  # not before a run: the first row of the list waits for what this module imports

        found: dict[str, object] = {}
        if self.before:
            told = hashlib.sha256(msgspec.json.encode(dict(self.turns), order="sorted")).hexdigest()
            found[BEFORE] = {"turns": self.before, "said": told}
        if self.voice is not None:
            found["as"] = hashlib.sha256(msgspec.json.encode(self.voice, order="sorted")).hexdigest()
        return found

    def described(self, way: str, prompt: Prompt, room: int, grammar: str) -> dict[str, object]:
        """All of it that can change a single answer, for the run's identity. `grammar`: what it would be held to."""
        held = {"grammar": grammar} if self.constrain else {}
        return (
            held
            | self.context()
            | {
                "way": way,
                "temperature": self.temperature,
                "top_p": self.top_p,
                "max_tokens": self.max_tokens or room,
                "prompt": msgspec.to_builtins(prompt),
            }
        )


SAMPLING = ("temperature", "top_p", "max_tokens")
WRITTEN = (*SAMPLING, "prompts", "constrain")
"""The options of a way in which a model writes."""

CONTEXT = (BEFORE, VOICE)
"""Those of tasks that can put something before a text: turns, and whose answers are asked for."""

W = TypeVar("W", bound=Writing)

_VALUES = {
    "temperature": "a number from 0 to 5",
    "top_p": "a number above 0, up to 1",
    "max_tokens": "a whole number from 1 on",
    "retries": "a whole number from 0 to 20",
    "constrain": "true or false",
    BEFORE: f"a number of turns from 0 to {MOST_TURNS}, or all",
}


def all_options(task: Task) -> frozenset[str]:
    """The options that some way of asking has."""
    return frozenset(name for way in (*task.asking.ways, "") for name in task.option_names(way))


def check_options(task: Task, options: Iterable[str], way: str | None = None) -> None:
    """Raises BadInput for an option that a way of asking does not have; `way` None: that none of the task's has."""
    if way is None:
        strange = [name for name in options if name not in all_options(task)]
        if strange:
            raise BadInput(f"the {task.name} task has no setting {strange[0]!r}: leave {_flag(strange[0])} out")
        return
    names = task.option_names(way)
    strange = [name for name in options if name not in names]
    if strange:
        written = any(name in WRITTEN for name in names)
        where = way or f"a model that needs no words for {task.name}"
        why = "" if written or strange[0] not in (*WRITTEN, "retries") else ", where a model is not asked to write"
        raise BadInput(f"{_flag(strange[0])} is not for {where}{why}: leave it out")


def options_from(task: Task, values: Mapping[str, object], repeats: int, kind: type[W]) -> W:
    """Settings from plain values, as a run keeps them; several repeats are sampled, unless they say otherwise.

    Raises:
        BadInput: one of them is wrong; it is named.
    """
    check_options(task, values)
    sampled = {name: value for name, value in SAMPLED.items() if repeats > 1 and name in all_options(task)}
    try:
        return msgspec.convert({**sampled, **values}, kind)
    except msgspec.ValidationError as error:
        name = str(error).rpartition("`$.")[2].rstrip("`")
        if name in _VALUES:
            raise BadInput(f"{_flag(name)} must be {_VALUES[name]}, not {values[name]!r}") from error
        raise BadInput(f"the settings of a {task.name} run: {error}") from error


def configured(task: Task, way: str, options: Mapping[str, object], repeats: int) -> Task:
    """The task with a person's settings, which are those of this way of asking.

    Raises:
        BadInput: one of them is wrong, is not for this way, or the way has no prompt among the person's own.
    """
    check_options(task, options)
    check_options(task, options, way)
    found = task.with_options(options, repeats)
    found.settings(way)
    return found


def _flag(name: str) -> str:
    return "--as" if name == VOICE else f"--{name.replace('_', '-')}"


def write_answers(
    chats: Sequence[tuple[Message, ...]],
    model: AskModel,
    seeds: Sequence[int],
    settings: Writing,
    rooms: Sequence[int],
    grammars: Sequence[str | None],
) -> list[Asked]:
    """One answer to each chat, as it came.

    Args:
        rooms: tokens that each answer has, unless the settings say otherwise.
        grammars: one for each chat; used where the settings hold answers to their form.
    """
    replies = model(
        [
            Generate(
                chat,
                max_tokens=settings.max_tokens or room,
                temperature=settings.temperature,
                top_p=settings.top_p,
                seed=seed,
                grammar=grammar if settings.constrain else None,
            )
            for chat, seed, room, grammar in zip(chats, seeds, rooms, grammars, strict=True)
        ]
    )
    return [
        unanswered(reply, as_kept(chat)) if isinstance(reply, Refused) else Asked(reply.text, prompt=as_kept(chat))
        for chat, reply in zip(chats, replies, strict=True)
    ]


# Yes or no of each label, in words: for models that write and tell no probabilities.

YES_NO = "yes-no"
"""The way of asking so. Its answers are hard: labels, and nothing that could be taken for a probability."""

ROOM = 32
"""Tokens for yes or no, and what little stands around it."""

ANSWER = "<answer>"
"""Stands before the answer of a model that was asked to reason first."""

_YES_NO = re.compile(r"\W*(?:answer\W+)?(yes|no)\b", re.IGNORECASE)


class InWords(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a model wrote of each label, as it came; `unanswered`: why it wrote nothing of some."""

    said: Mapping[str, str]
    unanswered: Mapping[str, str] = {}

    def read(self, labels: Iterable[str], *, tagged: bool = False) -> tuple[dict[str, bool], dict[str, str]]:
        """Yes and no by label, and why there is neither of the others.

        Args:
            tagged: as of `yes_or_no`.

        Raises:
            ValueError: a label was not asked about, or there is neither yes nor no of any.
        """
        said: dict[str, bool] = {}
        lost: dict[str, str] = {}
        for name in labels:
            if name in self.unanswered:
                lost[name] = self.unanswered[name]
            elif name not in self.said:
                raise ValueError(f"there is no answer for {name!r}")
            elif (answer := yes_or_no(self.said[name], tagged=tagged)) is not None:
                said[name] = answer
            else:
                lost[name] = f"the model says neither yes nor no: {' '.join(self.said[name].split())[:60]!r}"
        if not said:
            raise ValueError("the model says neither yes nor no")
        return said, lost


def answer_each(
    chats: Sequence[Mapping[str, tuple[Message, ...]]], model: AskModel, room: int, seeds: Sequence[int]
) -> list[InWords | Refused]:
    """What the model writes of each label of each text, the likeliest words.

    A label about which nothing came costs itself; all of them, the text; a server in trouble leaves the text open.

    Args:
        chats: the question about each label, a mapping a text.
        seeds: one a text.
    """
    replies = iter(
        model(
            [
                Generate(chat, max_tokens=room, seed=seed)
                for by_label, seed in zip(chats, seeds, strict=True)
                for chat in by_label.values()
            ]
        )
    )
    found: list[InWords | Refused] = []
    for by_label in chats:
        of_each = {name: next(replies) for name in by_label}
        lost = {name: reply for name, reply in of_each.items() if isinstance(reply, Refused)}
        again = next((name for name, reply in lost.items() if reply.again), None)
        if lost and (again is not None or len(lost) == len(of_each)):
            name = again or next(iter(lost))
            found.append(Refused(f"{name}: {lost[name].why}", again=lost[name].again))
            continue
        said = {name: reply.text for name, reply in of_each.items() if name not in lost}
        found.append(InWords(said, {name: reply.why for name, reply in lost.items()}))
    return found


def yes_or_no(written: str, *, tagged: bool = False) -> bool | None:
    """What an answer in words begins with, behind a model's thoughts; None where that is neither yes nor no.

    Args:
        tagged: reasons were asked for, and the answer behind the last `<answer>`.
    """
    answer = without_thinking(written)
    if tagged:
        _, tag, answer = answer.rpartition(ANSWER)
        answer = answer if tag else ""
    found = _YES_NO.match(answer)
    return None if found is None else found[1].lower() == "yes"


def plain(output: str) -> str:
    """An answer without a reasoning model's thoughts and without a markdown fence around it, ends trimmed."""
    return without_fence(without_thinking(output)).strip()


SAMPLED = {"temperature": 0.6, "top_p": 0.95}
"""Of a run with several repeats. The paper took each model's own sampling (section 7.3), which lies near this."""
