"""What a model that writes is told to do with a text (SEER, section 7.1), and prompts of the user's own from a file.

The words are this project's; rules and output contract are the paper's (Tables 10 to 12). Task 1 and Task 2 are asked
alike, as in the paper. `docs/models.md` has the file's format.
"""

import re
from collections.abc import Mapping, Sequence
from functools import partial

import msgspec

from emotui.backends.base import Generate, Generation, Message, Refused
from emotui.backends.grammars import retrieved_line
from emotui.errors import BadInput
from emotui.metrics.span_output import RESPONSE, marker_count, parse_output
from emotui.records import SpanSample
from emotui.tasks.prompting import settings
from emotui.tasks.prompting.files import Places, Prompt, Prompts, as_chat, as_kept, filled, read_prompt_file
from emotui.tasks.prompting.settings import Example, Writing, without_fence, without_thinking
from emotui.tasks.spans.experiments import options, target
from emotui.tasks.task import Asked, AskModel, unanswered

COT = "-cot"
WAYS = ("retrieve", "highlight", f"retrieve{COT}", f"highlight{COT}")
"""Style, and whether the model reasons first: with Tasks 1 and 2 the paper's eight settings."""

EXPERIMENT_WAYS = (
    "experiment-0",
    *(f"experiment-{number}-{style}" for number in (1, 2) for style in ("retrieve", "highlight")),
)
"""Of the prompting experiments; the third asks as the main tasks do."""

ALL_WAYS = WAYS + EXPERIMENT_WAYS

NAMED = {settings.ZERO_SHOT: "retrieve", settings.COT: f"retrieve{COT}"}
"""The words that all tasks share, and the ways here."""

TEXT = "{text}"
_PLACES = {
    way: Places(once=(TEXT, "{target}") if way.startswith("experiment-1") else (TEXT,), barred=(TEXT,))
    for way in ALL_WAYS
}

_WHAT = (
    "What counts: words that show what the speaker feels, or where they stand towards something. A word that names a "
    "feeling counts, and so does a phrase that lets one be seen without naming it: an act, a reaction, a tone.\n"
    "What does not: bare facts, descriptions, and events told without feeling.\n"
)
_RETRIEVE = (
    "You pick out of what a person said the passages in which their feeling shows.\n\n"
    "Copying: each span you give is copied out of the text sign by sign. Spelling, apostrophes, punctuation and spaces "
    "stay as they are; drop nothing, tidy nothing, and neither join nor cut passages.\n"
    f"{_WHAT}"
    "Checking: hold every span against the text before you give it, and copy it afresh for as long as they differ.\n"
    'Form: the spans stand on one line with " | " between one and the next; a single span stands without it. No '
    "heading, no remark, no word that the text does not have. Where no feeling shows, leave the line empty."
)
_HIGHLIGHT = (
    "You mark in what a person said the passages in which their feeling shows.\n\n"
    "Copying: you give the whole text back and add nothing to it but the marker **. Every sign of it, letters, "
    "apostrophes, punctuation and spaces, stays what and where it was.\n"
    f"{_WHAT}"
    "Checking: think the ** away and hold what is left against the text; mark it afresh for as long as they differ. "
    "Markers come in pairs, one right before a passage and one right after it, and a pair encloses all of it. A text "
    "without any feeling comes back as it is, without markers.\n"
    "Form: the marked text and nothing else. No heading, no remark, no other words."
)
_THINK = (
    'First write "Reasoning:" and go through the text step by step: what is felt in it, and where that shows. Then '
    'write "Response:" and after it '
)
_COPY = (
    "You copy texts. Every sign of what you copy, letters, apostrophes, punctuation and spaces, stays what and where "
    "it is in the text; drop nothing, tidy nothing. Hold your copy against the text, and copy afresh for as long as "
    "they differ."
)
_MARK = (
    "You mark passages in texts. You give the whole text back and add nothing to it but the marker **. Every sign of "
    "it, letters, apostrophes, punctuation and spaces, stays what and where it was.\n"
    "Checking: think the ** away and hold what is left against the text; mark it afresh for as long as they differ. A "
    "pair of ** encloses the whole of a passage."
)
_SENTENCES, _ONE_IN_THEM = "The text below is a row of sentences.", "\n\nOne of them is: {target}\n\n"
_OPTIONS = "\n\nOne or two of these three show feeling:\n{options}\n\n"
_BEGIN, _END = "Your task:\n", f"\n\nThe text follows.\n{TEXT}"

PROMPTS: Prompts = {
    "retrieve": Prompt(
        f"{_BEGIN}In the text below, feeling shows in some passages. Give those passages, whole and unaltered, and "
        f"write nothing else.{_END}",
        _RETRIEVE,
    ),
    "highlight": Prompt(
        f"{_BEGIN}In the text below, feeling shows in some passages. Put ** before and after each of them. Give back "
        f"the whole text, unaltered but for these markers, and write nothing else.{_END}",
        _HIGHLIGHT,
    ),
    f"retrieve{COT}": Prompt(
        f"{_BEGIN}In the text below, feeling shows in some passages. Give those passages, whole and unaltered.\n"
        f"{_THINK}the passages, and nothing else.{_END}",
        _RETRIEVE,
    ),
    f"highlight{COT}": Prompt(
        f"{_BEGIN}In the text below, feeling shows in some passages. Put ** before and after each of them and give "
        f"back the whole text, unaltered but for these markers.\n"
        f"{_THINK}the whole text with the markers, and nothing else.{_END}",
        _HIGHLIGHT,
    ),
    "experiment-0": Prompt(
        f"{_BEGIN}{_SENTENCES} Give all of it back, unaltered, and write nothing else.{_END}", _COPY
    ),
    "experiment-1-retrieve": Prompt(
        f"{_BEGIN}{_SENTENCES}{_ONE_IN_THEM}Find it in the text. Give it, whole and unaltered, and write nothing "
        f"else.{_END}",
        _COPY,
    ),
    "experiment-1-highlight": Prompt(
        f"{_BEGIN}{_SENTENCES}{_ONE_IN_THEM}Put ** before and after it. Give back the whole text, unaltered but for "
        f"these markers, and write nothing else.{_END}",
        _MARK,
    ),
    "experiment-2-retrieve": Prompt(
        f"{_BEGIN}{_SENTENCES} One of them shows feeling.{_OPTIONS}Give those that do, whole and unaltered, and write "
        f"nothing else.{_END}",
        _RETRIEVE,
    ),
    "experiment-2-highlight": Prompt(
        f"{_BEGIN}{_SENTENCES} One of them shows feeling.{_OPTIONS}Put ** before and after those that do. Give back "
        f"the whole text, unaltered but for these markers, and write nothing else.{_END}",
        _HIGHLIGHT,
    ),
}
"""This project's own."""


def style_of(way: str) -> tuple[str, bool]:
    """A way's style, and whether the model reasons first. A text that is given back whole is read as one span."""
    return "highlight" if "highlight" in way else "retrieve", way.endswith(COT)


def way_of(style: str, cot: bool, experiment: int | None = None) -> str:
    """The way of a style with or without reasoning, and of a prompting experiment.

    Raises:
        BadInput: the experiment has no such way.
    """
    if experiment in (None, 3):
        return style + COT * cot
    way = "experiment-0" if experiment == 0 else f"experiment-{experiment}-{style}"
    if way not in EXPERIMENT_WAYS or cot or (experiment == 0 and style != "retrieve"):
        asked = f"{style} with reasoning" if cot else style
        raise BadInput(f"experiment {experiment} is not asked by {asked} (SEER, appendix B)")
    return way


def ways_of_experiment(number: int) -> tuple[str, ...]:
    """The ways of an experiment. The third is asked as the main tasks are, without reasoning or with it."""
    return WAYS if number == 3 else tuple(way for way in EXPERIMENT_WAYS if way.startswith(f"experiment-{number}"))


def way_of_experiment(number: int, style: str | None, cot: bool) -> str | None:
    """As `way_of`; None, the model's own way, for the third where neither style nor reasoning is chosen."""
    return None if number == 3 and not style and not cot else way_of(style or "retrieve", cot, number)


def messages(prompt: Prompt, fields: Mapping[str, str]) -> tuple[Message, ...]:
    """The chat for one sample. `fields` (`text`, in experiments also `target` or `options`) are put in as they are."""
    return as_chat(prompt, filled(prompt.user, fields))


def read_prompts(path: str) -> Prompts:
    """A prompt file, one table a way (`ALL_WAYS`). Raises BadInput as `read_prompt_file`."""
    return read_prompt_file(path, _PLACES, WAYS, NAMED)


# Ask a model that writes for the evidence in texts, and ask again where its answer breaks the contract.

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
        | settings.context()
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
    form = partial(_as_answer, style)
    chats = [messages(prompt, {**_fields(sample, way), **settings.context_of(sample, form)}) for sample in samples]
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


def _as_answer(style: str, example: Example) -> str:
    """An example's spans in the form of an answer of this style; of those that overlap the first."""
    spans, marked, at = [], "", 0
    for start, end in sorted((int(start), int(end)) for start, end in example.answer):
        if start >= at:
            spans.append(" ".join(example.text[start:end].split()))
            marked += f"{example.text[at:start]}**{example.text[start:end]}**"
            at = end
    return " | ".join(spans) if style == "retrieve" else marked + example.text[at:]


def _fields(sample: SpanSample, way: str) -> dict[str, str]:
    fields = {"text": sample.text}
    if way.startswith("experiment-1"):
        fields["target"] = target(sample)
    elif way.startswith("experiment-2"):
        fields["options"] = "\n".join(f"- {option}" for option in options(sample))
    return fields


def _broken(reply: Generation, style: str, cot: bool, text: str) -> bool:
    return reply.finish == "length" or breach(bare(reply.text, cot), style, cot, text) is not None
