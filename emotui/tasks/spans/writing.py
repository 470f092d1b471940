"""Ask a model that writes for the evidence in texts, and ask again where its answer breaks the contract.

Source: SEER, section 7.3: up to three retries; five runs, each with the model's sampling.
"""

import re
from collections.abc import Sequence

import msgspec

from emotui.backends.base import Generate, Generation, Refused
from emotui.backends.grammars import retrieved_line
from emotui.errors import BadInput
from emotui.metrics.span_output import RESPONSE, marker_count, parse_output
from emotui.records import SpanSample
from emotui.tasks.prompting.files import as_kept
from emotui.tasks.prompting.settings import Writing, without_fence, without_thinking
from emotui.tasks.spans.experiments import options, target
from emotui.tasks.spans.prompts import PROMPTS, messages, style_of
from emotui.tasks.task import Asked, AskModel, unanswered

# What a model wrote, freed of its wrapping, and whether it keeps the contract of SEER's prompts (Tables 10 and 11).

_LABEL = re.compile(r"^[ \t]*(?:#{1,6}[ \t]+)?(\*\*|__)(Reasoning|Response)[ \t]*(?:\1:|:\1)[ \t]*", re.MULTILINE)
_HEADING = re.compile(r"^[ \t]*#{1,6}[ \t]+(Reasoning:|Response:)", re.MULTILINE)


def with_plain_labels(output: str) -> str:
    """`**Response:**`, `**Response**:` and `## Response:` at the beginning of a line as `Response:`."""
    return _HEADING.sub(r"\1", _LABEL.sub(r"\2: ", output))


def bare(output: str, cot: bool) -> str:
    """The output without thoughts and markdown around it: what is parsed, scored and exported."""
    output = without_fence(without_thinking(output))
    if not cot:
        return output
    head, label, tail = with_plain_labels(output).rpartition(RESPONSE)
    return head + label + without_fence(tail)


def breach(output: str, style: str, cot: bool, text: str) -> str | None:
    """How a bare output breaks the contract, or None; a broken one is asked for again.

    What `parse_output` finds invalid is broken, and so are: a second `Response:`, a marker without a partner, and spans
    on more than one line. Such an answer can still be read, and is where it is the last one.
    """
    invalid = parse_output(output, style, cot, text).invalid
    if invalid:
        return invalid
    if cot:
        if output.count(RESPONSE) > 1 + text.count(RESPONSE):
            return f"more than one {RESPONSE}"
        output = output.rpartition(RESPONSE)[2]
    if style == "highlight" and marker_count(output, text) % 2:
        return "a marker without a partner"
    if style == "retrieve" and len([line for line in output.splitlines() if line.strip()]) > 1:
        return "spans on more than one line"
    return None


RETRY_TEMPERATURE = 0.6
"""Of a retry in a run at temperature 0, where the same question would only bring the same answer."""

_ROOM = {False: 512, True: 1536}
"""Tokens for an answer without and with reasoning, where `max_tokens` is not set: one more for every two characters."""


def grammar_of(settings: Writing, way: str) -> str | None:
    """What an answer keeps to. Raises BadInput where a way has no form that a grammar could hold."""
    if not settings.constrain:
        return None
    style, cot = style_of(way)
    if style != "retrieve" or way == "experiment-0":
        raise BadInput(f"{way} gives the text back, and no grammar holds that: --constrain is for retrieve")
    return retrieved_line(RESPONSE if cot else None)


def described(settings: Writing, way: str) -> dict[str, object]:
    """All that can change an answer, for the run's identity.

    Raises:
        BadInput: as `grammar_of`, or the person's own prompts have none for this way.
    """
    grammar = grammar_of(settings, way)
    held = {} if grammar is None else {"grammar": grammar}
    return (
        held
        | {"way": way, "retry_temperature": RETRY_TEMPERATURE, "room": _ROOM[style_of(way)[1]]}
        | {
            "temperature": settings.temperature,
            "top_p": settings.top_p,
            "max_tokens": settings.max_tokens,
            "retries": settings.retries,
            "prompt": msgspec.to_builtins(settings.prompt(PROMPTS, way)),
        }
    )


def ask_in_words(
    samples: Sequence[SpanSample], model: AskModel, way: str, seeds: Sequence[int], settings: Writing
) -> list[Asked]:
    """Ask about each sample, and again, with the next seed, while an answer breaks the contract and retries are left.

    An answer that ran out of tokens is asked for again too. The last attempt is the answer, whatever it is; where a
    retry is refused, the one before it. A server that goes away leaves the sample open.
    """
    prompt, grammar = settings.prompt(PROMPTS, way), grammar_of(settings, way)
    style, cot = style_of(way)
    chats = [messages(prompt, _fields(sample, way)) for sample in samples]
    answers: list[list[str]] = [[] for _ in samples]
    lost: dict[int, Refused] = {}
    waiting = list(range(len(samples)))
    for attempt in range(settings.retries + 1):
        temperature = settings.temperature or (RETRY_TEMPERATURE if attempt else 0.0)
        replies = model(
            [
                Generate(
                    chats[place],
                    max_tokens=settings.max_tokens or _ROOM[cot] + len(samples[place].text) // 2,
                    temperature=temperature,
                    top_p=settings.top_p,
                    seed=seeds[place] + attempt,
                    grammar=grammar,
                )
                for place in waiting
            ]
        )
        again = []
        for place, reply in zip(waiting, replies, strict=True):
            if isinstance(reply, Refused):
                if reply.again or not answers[place]:
                    lost[place] = reply
            else:
                answers[place].append(reply.text)
                if _broken(reply, style, cot, samples[place].text):
                    again.append(place)
        waiting = again
        if not waiting:
            break
    texts = [as_kept(chat) for chat in chats]
    return [
        unanswered(lost[place], texts[place])
        if place in lost
        else Asked(said[-1], prompt=texts[place], before=tuple(said[:-1]))
        for place, said in enumerate(answers)
    ]


def _fields(sample: SpanSample, way: str) -> dict[str, str]:
    fields = {"text": sample.text}
    if way.startswith("experiment-1"):
        fields["target"] = target(sample)
    elif way.startswith("experiment-2"):
        fields["options"] = "\n".join(f"- {option}" for option in options(sample))
    return fields


def _broken(reply: Generation, style: str, cot: bool, text: str) -> bool:
    return reply.finish == "length" or breach(bare(reply.text, cot), style, cot, text) is not None
