"""Ask a model that writes one question a sample, and read its short answer: what tasks of short answers share."""

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec

from emotui.backends.base import Generate, Message, Refused
from emotui.errors import BadInput
from emotui.tasks.prompting.files import Prompt, Prompts, as_kept, prompt_of
from emotui.tasks.prompting.filters import without_fence, without_thinking
from emotui.tasks.task import Asked, AskModel, unanswered


class Writing(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a person can set about how answers are written. `prompts`: their own; None for this project's.

    `max_tokens` None: what the way has room for. `constrain`: a grammar holds answers to their form.
    """

    temperature: Annotated[float, msgspec.Meta(ge=0, le=5)] = 0.0
    top_p: Annotated[float, msgspec.Meta(gt=0, le=1)] = 1.0
    max_tokens: Annotated[int, msgspec.Meta(ge=1)] | None = None
    prompts: dict[str, Prompt] | None = None
    constrain: bool = False

    def prompt(self, own: Prompts, way: str) -> Prompt:
        """The prompt of a way. Raises BadInput where the person's own have none for it."""
        return prompt_of(own if self.prompts is None else self.prompts, way)

    def described(self, way: str, prompt: Prompt, room: int, grammar: str) -> dict[str, object]:
        """All of it that can change an answer, for the run's identity. `grammar`: what answers would be held to."""
        held = {"grammar": grammar} if self.constrain else {}
        return held | {
            "way": way,
            "temperature": self.temperature,
            "top_p": self.top_p,
            "max_tokens": self.max_tokens or room,
            "prompt": msgspec.to_builtins(prompt),
        }


def writing_from(task: str, values: Any, repeats: int) -> Writing:
    """Settings from plain values, as a run keeps them; several repeats are sampled, unless they say otherwise.

    Raises:
        BadInput: one of them is wrong; it is named.
    """
    try:
        return msgspec.convert({**(SAMPLED if repeats > 1 else {}), **values}, Writing)
    except msgspec.ValidationError as error:
        raise BadInput(f"the settings of a {task} run: {error}") from error


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
