"""What a model that writes is asked about masked emotion words (EXPRESS), and how its list of words is read.

The words are this project's; what is asked for, a list with one emotion word a mask, is the paper's (Table A.9).
"""

import json
import re
from collections.abc import Mapping, Sequence

from emotui.tasks.masked.examples import Example
from emotui.tasks.prompting.files import Places, Prompt, Prompts, read_prompt_file
from emotui.tasks.prompting.settings import plain

SHOWING = ("few-shot-random", "few-shot-nearest")
"""The ways that show examples: drawn ones, and those whose texts are nearest."""

WAYS = ("zero-shot", "cot", *SHOWING)
"""The paper's four settings: the bare question, reasoning first, and the bare question behind four examples."""

ROOM, WORD_ROOM = {"zero-shot": 48, "cot": 512} | dict.fromkeys(SHOWING, 48), 16
"""Tokens for an answer: so many, and so many more for each word."""

ANSWER = "Answer:"

SYSTEM = (
    "You are given short texts in which people write about themselves. Every <mask> stands where a word for what the "
    "writer feels has been covered up. You find the covered words."
)
_TASK = (
    "{text}\n\n"
    "Covered words in this text: {count}. Which single emotion word did the writer put at each <mask>? Go from the "
    "first <mask> to the last."
)
_SHOWN = Prompt(
    "Here are other texts with the words that were covered in them.\n\n{examples}\n\nNow a text whose words are not "
    f"known.\n\n{_TASK} Reply with nothing but a JSON list, one lower-case word for each <mask>: {{form}}",
    SYSTEM,
)
PROMPTS: Prompts = {
    "zero-shot": Prompt(
        _TASK + " Reply with nothing but a JSON list, one lower-case word for each <mask>: {form}", SYSTEM
    ),
    "cot": Prompt(
        _TASK + f" Say first, in a few short sentences, what in the text points to which feeling. Then write {ANSWER} "
        "and behind it a JSON list, one lower-case word for each <mask>: {form}",
        SYSTEM,
    ),
    **dict.fromkeys(SHOWING, _SHOWN),
}
"""This project's own; the same words for drawn and for nearest examples, as in the paper (Table A.9)."""

_PLACES = {
    way: Places(once=("{text}", "{examples}"), barred=("{text}", "{examples}"))
    if way in SHOWING
    else Places(once=("{text}",), barred=("{text}",))
    for way in WAYS
}

_LISTS = re.compile(r"\[([^\[\]]*)\]")
_QUOTED = re.compile(r"""(?:"([^"]*)"|'([^']*)'|“([^”]*)”|‘([^’]*)’)\s*(?:,|$)""")
_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.):])\s+")
_LABEL = re.compile(r"\b(?:final\s+)?answers?\s*:", re.IGNORECASE)
_LONGEST_WORD = 3
"""Words that an entry without quotes may have: more of them are a sentence."""


def read_masked_prompts(path: str) -> Prompts:
    """A prompt file with a table for some of the ways. Raises BadInput as `read_prompt_file`."""
    return read_prompt_file(path, _PLACES, WAYS)


def fields(text: str, count: int, examples: Sequence[Example] | None = None) -> Mapping[str, str]:
    """What is filled in about one text: itself, how many masks it has, and the form of a list of so many words.

    `examples`: what is shown before it, the farthest first, so that the nearest stands next to the text.
    """
    form = json.dumps([f"word{number}" for number in range(1, count + 1)] if count > 1 else ["word"])
    shown = [f"Text: {one.text}\nAnswer: {json.dumps(list(one.labels))}" for one in reversed(examples or ())]
    told = {"text": text, "count": str(count), "form": form}
    return told if examples is None else told | {"examples": "\n\n".join(shown)}


def read_words(output: str, way: str, count: int) -> tuple[tuple[str, ...], str]:
    """The words that a model gave, and how they were to be read.

    `json`: what is asked for, a JSON list of `count` strings and nothing else (with reasoning: behind the last
    `Answer:`). Anything else is `lenient`: thoughts and a markdown fence are taken off, and what stands before the last
    `Answer:`; then the last pair of brackets counts, and in it the quoted entries in any quotes, or the entries between
    commas; where there is no pair of brackets, the entries between commas or line ends, without bullets and numbers, if
    each has three words at most. Where none of this gives a word it is `unread`. Words keep the order in which they
    stand, in lower case and without quotes and points at their ends (`Sad.` is `sad`); a list may be too short or too
    long.
    """
    answer = plain(output)
    as_asked = answer == output.strip()
    if way == "cot":
        _, label, tail = answer.rpartition(ANSWER)
        answer, as_asked = plain(tail), bool(label)
    strict = _strings(answer)
    if as_asked and strict is not None and len(strict) == count and all(strict):
        return strict, "json"
    words = _lenient(answer)
    return words, "lenient" if words else "unread"


def _strings(text: str) -> tuple[str, ...] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, list) or not all(isinstance(word, str) for word in found):
        return None
    return tuple(_bare(word) for word in found)


def _lenient(answer: str) -> tuple[str, ...]:
    answer = _LABEL.split(answer)[-1]
    lists = _LISTS.findall(answer)
    if lists:
        inside = lists[-1].strip()
        quoted = [next(filter(None, groups), "") for groups in _QUOTED.findall(inside)]
        return _entries(quoted or inside.split(","))
    entries = _entries(re.split(r"[,\n]", answer))
    return entries if all(len(entry.split()) <= _LONGEST_WORD for entry in entries) else ()


def _entries(parts: list[str]) -> tuple[str, ...]:
    bare = (_bare(_BULLET.sub("", part)) for part in parts)
    return tuple(word for word in bare if word)


def _bare(word: str) -> str:
    """The word in lower case, without what models put around it; nothing where there is no letter or digit in it."""
    found = word.strip().strip("\"'“”‘’`*_.,;:!").strip().lower()
    return found if any(map(str.isalnum, found)) else ""
