"""What a server can do, found out by asking it: which endpoint it has and how many log-probabilities come back."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from emotui.backends.base import Progress
from emotui.backends.rendering import SWITCHES
from emotui.backends.servers.answers import ChatAnswer, ChatLogprobs, Embeddings, Served, TextAnswer, TextLogprobs
from emotui.backends.servers.connection import Connection
from emotui.backends.servers.faults import Unanswered
from emotui.errors import ModelError

WIDTHS = (20, 10, 5)
"""How many alternatives a token are asked for, most first: OpenAI and vLLM grant 20, others 10 or 5."""

_PENALTIES = {"repeat_penalty": 1.0, "repetition_penalty": 1.0}
_NEUTRAL: Sequence[Mapping[str, Any]] = (
    {"top_k": 0, "min_p": 0.0, **_PENALTIES},  # llama-server, llama_cpp.server, vLLM
    {"top_k": -1, "min_p": 0.0, **_PENALTIES},  # SGLang
    {},  # OpenAI, which refuses fields that it does not know
)
"""Servers cut and weigh the distribution by defaults of their own (top 40, a least probability of 0.05, what the
model's files recommend); a sample at a temperature is only that model's with all of it off."""

_KNOWN_PREFILLS = {"vllm": "continue", "sglang": "continue", "llamacpp": "assistant"}
_LISTS_ALL = ("vllm", "sglang", "llamacpp")
"""Software that lists every model it has, and that has one build as long as it runs."""

_NAMED = 12
SPACES = str.maketrans("▁Ġ", "  ")
"""How vocabularies write a leading space; some servers pass it on."""

_PATIENCE = 20.0
_THOUGHTS = 1024
_UNFINISHED = re.compile(r"(max_tokens|output limit)\b.*\breached", re.IGNORECASE)
"""What OpenAI says where a model that thinks was given too few tokens to begin its answer: then it gets so many."""

_QUESTION = "Is water wet? Answer with Yes or No."


@dataclass(frozen=True, slots=True)
class Abilities:
    """What was found.

    Attributes:
        endpoint: `chat` or `completions`.
        width: the alternatives that the first token comes with (0: the server gives no log-probabilities).
        prefill: how the model's turn is begun for it: `continue`, `assistant`, or `none` where no way is known.
        neutral: the fields that switch off what the server would do to sampling by itself and tell the chat template
            about thinking; empty if the server takes none.
        first: the alternatives of the first token of its answer to a yes/no question.
        served_as: the model's name in the server's answers.
        fingerprint: the build that the server reports, or ''.
        used: tokens read and written to find all this out.
        steady: whether the server is known to report one build as long as it runs.
        embeds: whether it gives sentence embeddings; one that gives nothing else has the endpoint `embeddings`.
    """

    endpoint: str
    width: int
    prefill: str
    neutral: Mapping[str, Any]
    first: tuple[tuple[str, float], ...]
    served_as: str
    fingerprint: str
    used: tuple[int, int]
    embeds: bool = False
    steady: bool = False


async def choose_model(connection: Connection) -> tuple[Served, str]:
    """The SPEC's model among those that the server has; where the SPEC names none, the only one.

    A named model that is not listed, or a list that fails, is no reason not to try: servers in the cloud list other
    names than they know, or nothing. Then the second part says what is wrong, else it is empty.

    Raises:
        ModelError: nobody answers, the key is refused, or there is no such model (with the names of those there are).
    """
    address = connection.address
    try:
        served = (await connection.models()).data
    except Unanswered as fault:
        wrong = f"What answers at {address.url} is no OpenAI-compatible server: {fault.why}"
        if address.model:
            return Served(address.model), wrong
        raise ModelError(wrong) from None
    clean = connection.tell.clean
    names = [clean(each.id) for each in served]
    listed = ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
    if not address.model:
        if len(served) == 1:
            return served[0], ""
        raise ModelError(f"Name one of the models of {address.url} before the '@': {listed or 'it has none'}")
    for each in served:
        if each.id == address.model:
            return each, ""
    lacks = f"The server at {address.url} has no model {address.model!r}; it has: {listed or 'none'}"
    if any(each.owned_by in _LISTS_ALL for each in served):
        raise ModelError(lacks)
    return Served(address.model), lacks


async def find_abilities(connection: Connection, served: Served, progress: Progress, unlisted: str = "") -> Abilities:
    """Ask the server a question of one token on each endpoint that the settings allow, then for log-probabilities.

    Args:
        unlisted: what is wrong with the model's name, as the server's list has it; told where it does not answer to it.

    Raises:
        ModelError: no endpoint answers.
    """
    try:
        found = await _find_words(connection, served, progress)
        if unlisted and not _is_of(served.id, found.served_as):
            raise ModelError(unlisted)  # some answer whatever they are asked for, by what they have
    except ModelError as error:
        # A server of an embedding model fails at words as one in trouble does (llama-cpp-python's: HTTP 500).
        if not (embedded := await _embeds(connection, served.id, progress)):
            raise ModelError(unlisted or str(error)) from None
        model = embedded.model or served.id
        return Abilities("embeddings", 0, "none", {}, (), model, "", _used([embedded]), embeds=True)
    embedded = await _embeds(connection, served.id, progress)
    if embedded is None:
        return found
    read, written = _used([embedded])
    return replace(found, embeds=True, used=(found.used[0] + read, found.used[1] + written))


def _is_of(name: str, served_as: str) -> bool:
    """Whether an answer is of the named model: servers add a date (`-2024-08-06`) or a revision (`@main`)."""
    return served_as == name or (served_as.startswith(name) and served_as[len(name)] in "-@:")


async def _embeds(connection: Connection, model: str, progress: Progress) -> Embeddings | None:
    """The server's embedding of a test text; None where it gives none. Most servers refuse at once."""
    progress(f"asking {connection.address.url} for embeddings")
    body = {"model": model, "input": _QUESTION, "encoding_format": "float"}
    try:
        found = await asyncio.wait_for(connection.embed(body, retries=0), _PATIENCE)
    except (Unanswered, ModelError, TimeoutError):
        return None
    return found if len(found.data) == 1 else None


def _used(answers: Iterable[ChatAnswer | TextAnswer | Embeddings]) -> tuple[int, int]:
    """Tokens read and written, as far as the server counts them."""
    bills = [each.usage for each in answers if each.usage is not None]
    return sum(each.prompt_tokens for each in bills), sum(each.completion_tokens for each in bills)


async def _find_words(connection: Connection, served: Served, progress: Progress) -> Abilities:
    wanted = connection.settings.endpoint
    first: ModelError | None = None
    for endpoint in ("chat", "completions") if wanted == "auto" else (wanted,):
        progress(f"asking {connection.address.url} for its {endpoint} endpoint")
        try:
            ask, body, neutral, answer = await _first_answer(connection, endpoint, served.id)
        except _Busy:
            raise
        except ModelError as error:
            first = first or error
            continue
        progress("asking for log-probabilities")
        width, more = await _width(ask, body, endpoint, _retries(connection))
        return Abilities(
            endpoint=endpoint,
            width=width,
            prefill=_prefill(connection, served),
            neutral=neutral,
            first=tuple(first_token(more[-1])) if width else (),
            served_as=answer.model or served.id,
            fingerprint=answer.system_fingerprint or "",
            used=_used([answer, *more]),
            steady=served.owned_by in _LISTS_ALL,
        )
    assert first is not None
    raise first


class _Busy(ModelError):
    """The server would answer another time."""


_Ask = Callable[..., Awaitable[ChatAnswer | TextAnswer]]


async def _first_answer(
    connection: Connection, endpoint: str, model: str
) -> tuple[_Ask, dict[str, Any], Mapping[str, Any], ChatAnswer | TextAnswer]:
    """The endpoint's method, a question of one token, the neutral fields that the server takes, and its answer."""
    fault: Unanswered | None = None
    room = 1
    for plain in (*_NEUTRAL, _NEUTRAL[-1]):
        neutral = dict(plain)
        body: dict[str, Any] = {"model": model, "max_tokens": room, "temperature": 0.0}
        if neutral and endpoint == "chat" and connection.settings.thinking != "auto":
            neutral["chat_template_kwargs"] = dict.fromkeys(SWITCHES, connection.settings.thinking == "on")
        extra = {**neutral, **connection.settings.extra}
        if extra:
            body["extra_body"] = extra
        ask: _Ask = connection.complete
        if endpoint == "chat":
            ask = connection.chat
            body["messages"] = [{"role": "user", "content": _QUESTION}]
        else:
            body["prompt"] = _QUESTION
        try:
            return ask, body, neutral, await ask(body, retries=_retries(connection))
        except Unanswered as refusal:
            fault = refusal
            if _UNFINISHED.search(fault.why):
                room = _THOUGHTS
            if fault.again and fault.status is None:
                break
    assert fault is not None
    kind = _Busy if fault.again else ModelError
    raise kind(f"The server at {connection.address.url} does not answer a test question: {fault.why}")


def _retries(connection: Connection) -> int:
    """Fewer than for a run's requests: a person is waiting for the model to load."""
    return min(2, connection.settings.retries)


def _prefill(connection: Connection, served: Served) -> str:
    """As set, or as the software is known to do it that signs its models."""
    wanted = connection.settings.prefill
    return wanted if wanted != "auto" else _KNOWN_PREFILLS.get(served.owned_by or "", "none")


def logprob_fields(endpoint: str, width: int) -> Mapping[str, Any]:
    """The fields of a request that ask for `width` alternatives a token."""
    return {"logprobs": True, "top_logprobs": width} if endpoint == "chat" else {"logprobs": width}


async def _width(
    ask: _Ask, body: Mapping[str, Any], endpoint: str, retries: int
) -> tuple[int, list[ChatAnswer | TextAnswer]]:
    """The most alternatives that come back, and the answers that it took to find out."""
    answers: list[ChatAnswer | TextAnswer] = []
    for width in WIDTHS:
        asked = {**body, **logprob_fields(endpoint, width)}
        try:
            try:
                answer = await ask(asked, retries=1)
            except Unanswered as fault:
                # A failing server (not one that merely is busy) says: such a request is more than it can do.
                if not fault.again or fault.status is not None:
                    raise
                answer = await ask(asked, retries=retries)
        except Unanswered as fault:
            if fault.again and fault.status is None:
                raise ModelError(f"the server does not answer a test question: {fault.why}") from None
            if fault.again:
                break
            continue
        answers.append(answer)
        if first_token(answer):
            return width, answers
        break
    return 0, answers


def answer_tokens(answer: ChatAnswer | TextAnswer) -> list[tuple[str, list[tuple[str, float]]]]:
    """Every token that was written, with its alternatives; empty where the server sends none."""
    logprobs: ChatLogprobs | TextLogprobs | None = answer.choices[0].logprobs
    if logprobs is None:
        return []
    if logprobs.content:
        return [
            (each.token, [(other.token, other.logprob) for other in each.top_logprobs or ()])
            for each in logprobs.content
        ]
    if isinstance(logprobs, TextLogprobs) and logprobs.tokens and logprobs.top_logprobs:
        return [
            (token, list((others or {}).items()))
            for token, others in zip(logprobs.tokens, logprobs.top_logprobs, strict=False)
        ]
    return []


def behind(tokens: Sequence[tuple[str, list[tuple[str, float]]]], tag: str) -> list[tuple[str, float]]:
    """The alternatives of the first token behind a tag, white space passed over.

    Where a token holds the end of the tag and the beginning of what follows, only alternatives that hold the same end
    count, without it.
    """
    text, ends = "", -1
    for token, others in tokens:
        starts, text = len(text), text + token.translate(SPACES)
        if ends < 0:
            found = text.find(tag)
            if found < 0:
                continue
            ends = found + len(tag)
        if len(text) <= ends or not text[ends:].strip():
            continue
        overlap = text[starts:ends] if starts < ends else ""
        shown = [(other.translate(SPACES), logprob) for other, logprob in others]
        return [(other[len(overlap) :], logprob) for other, logprob in shown if other.startswith(overlap)]
    return []


def first_token(answer: ChatAnswer | TextAnswer) -> list[tuple[str, float]]:
    """The alternatives of the first token that was written, with their log-probabilities; empty where there are none.

    One text may stand for several tokens: a chat's form lists each, the plain form (a mapping) only one.
    """
    logprobs: ChatLogprobs | TextLogprobs | None = answer.choices[0].logprobs
    if logprobs is None:
        return []
    if logprobs.content:
        return [(each.token, each.logprob) for each in logprobs.content[0].top_logprobs or ()]
    if isinstance(logprobs, TextLogprobs) and logprobs.top_logprobs and logprobs.top_logprobs[0]:
        return list(logprobs.top_logprobs[0].items())
    return []
