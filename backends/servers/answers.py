"""What a server's answers look like. Only the fields that are used, each checked: nothing half right slips in."""

from typing import Annotated

import msgspec

ABSENT = -9000.0
"""vLLM and SGLang write -9999 for the logarithm of a probability of 0, which JSON cannot hold; so it is no figure."""


LogProbability = Annotated[float, msgspec.Meta(le=0.01)]
"""At most 0, but for rounding."""

Count = Annotated[int, msgspec.Meta(ge=0)]


class Alternative(msgspec.Struct):
    """A token that might have stood there."""

    token: str
    logprob: LogProbability


class ChatToken(msgspec.Struct):
    """A token of a chat answer, with its alternatives, best first."""

    token: str
    logprob: LogProbability
    top_logprobs: list[Alternative] | None = None


class ChatLogprobs(msgspec.Struct):
    content: list[ChatToken] | None = None


class ChatMessage(msgspec.Struct):
    content: str | None = None


class ChatChoice(msgspec.Struct):
    message: ChatMessage
    finish_reason: str | None = None
    logprobs: ChatLogprobs | None = None


class TextLogprobs(msgspec.Struct):
    """Of a plain completion: parallel lists with one entry a token (OpenAI, vLLM), or as in a chat (llama-server)."""

    tokens: list[str] | None = None
    top_logprobs: list[dict[str, LogProbability] | None] | None = None
    content: list[ChatToken] | None = None


class TextChoice(msgspec.Struct):
    text: str
    finish_reason: str | None = None
    logprobs: TextLogprobs | None = None


class Usage(msgspec.Struct):
    prompt_tokens: Count
    completion_tokens: Count = 0


class ChatAnswer(msgspec.Struct):
    choices: Annotated[list[ChatChoice], msgspec.Meta(min_length=1)]
    model: str | None = None
    usage: Usage | None = None
    system_fingerprint: str | None = None


class TextAnswer(msgspec.Struct):
    choices: Annotated[list[TextChoice], msgspec.Meta(min_length=1)]
    model: str | None = None
    usage: Usage | None = None
    system_fingerprint: str | None = None


class Served(msgspec.Struct):
    """One entry of a server's list of models."""

    id: str
    owned_by: str | None = None
    root: str | None = None
    max_model_len: int | None = None


class ServedModels(msgspec.Struct):
    data: list[Served]


class Embedding(msgspec.Struct):
    embedding: Annotated[list[float], msgspec.Meta(min_length=1)]
    index: Count = 0


class Embeddings(msgspec.Struct):
    """The vectors of some texts, each with the place of its text."""

    data: list[Embedding]
    model: str | None = None
    usage: Usage | None = None
