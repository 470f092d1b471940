"""Ask a model that writes one question a sample, and read its short answer: what tasks of short answers share."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, TypeVar

import msgspec

from emotui.backends.base import Generate, Message, Refused
from emotui.errors import BadInput
from emotui.tasks.prompting.files import Prompt, Prompts, as_kept, prompt_of
from emotui.tasks.prompting.filters import without_fence, without_thinking
from emotui.tasks.task import Asked, AskModel, Task, unanswered


class Writing(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a person can set about how answers are written. `prompts`: their own; None for this project's.

    `max_tokens` None: what the way has room for. `constrain`: a grammar holds answers to their form. `retries`: further
    tries, in a task that asks again where an answer breaks its form.
    """

    temperature: Annotated[float, msgspec.Meta(ge=0, le=5)] = 0.0
    top_p: Annotated[float, msgspec.Meta(gt=0, le=1)] = 1.0
    max_tokens: Annotated[int, msgspec.Meta(ge=1)] | None = None
    retries: Annotated[int, msgspec.Meta(ge=0, le=20)] = 3
    prompts: dict[str, Prompt] | None = None
    constrain: bool = False

    def prompt(self, own: Prompts, way: str) -> Prompt:
        """The prompt of a way. Raises BadInput where the person's own have none for it."""
        return prompt_of(own if self.prompts is None else self.prompts, way)

    def described(self, way: str, prompt: Prompt, room: int, grammar: str) -> dict[str, object]:
        """All of it that can change a single answer, for the run's identity. `grammar`: what it would be held to."""
        held = {"grammar": grammar} if self.constrain else {}
        return held | {
            "way": way,
            "temperature": self.temperature,
            "top_p": self.top_p,
            "max_tokens": self.max_tokens or room,
            "prompt": msgspec.to_builtins(prompt),
        }


SAMPLING = ("temperature", "top_p", "max_tokens")
WRITTEN = (*SAMPLING, "prompts", "constrain")
"""The options of a way in which a model writes."""

W = TypeVar("W", bound=Writing)

_VALUES = {
    "temperature": "a number from 0 to 5",
    "top_p": "a number above 0, up to 1",
    "max_tokens": "a whole number from 1 on",
    "retries": "a whole number from 0 to 20",
    "constrain": "true or false",
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
    return f"--{name.replace('_', '-')}"


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


def plain(output: str) -> str:
    """An answer without a reasoning model's thoughts and without a markdown fence around it, ends trimmed."""
    return without_fence(without_thinking(output)).strip()


SAMPLED = {"temperature": 0.6, "top_p": 0.95}
"""Of a run with several repeats. The paper took each model's own sampling (section 7.3), which lies near this."""
