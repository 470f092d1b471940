"""What a model is asked about the numbers of a text, and how they are read from its answer. The words are ours."""

import json
import re
from collections.abc import Mapping, Sequence
from math import isfinite

from emotui.tasks.prompting.files import Places, Prompt, Prompts, read_prompt_file
from emotui.tasks.prompting.settings import plain
from emotui.tasks.prompting.ways import COT, ZERO_SHOT
from emotui.tasks.rephrase.labelling import known_label

WAYS = (ZERO_SHOT, COT)
"""In which a model writes."""

ROOM = {ZERO_SHOT: 160, COT: 640}
"""Tokens for an answer."""

ANSWER = "Answer:"
SYSTEM = "You read short texts and rate how their writers feel, in numbers."

_TASK = "Text:\n{text}\n\nRate what its writer feels: {scales}."
PROMPTS: Prompts = {
    ZERO_SHOT: Prompt(
        _TASK + " Reply with nothing but a JSON object with a number for each, such as {example}.",
        SYSTEM,
    ),
    COT: Prompt(
        _TASK + f" Say first, in a few short sentences, what in the text tells. Then write {ANSWER} and behind it a "
        "JSON object with a number for each, such as {example}.",
        SYSTEM,
    ),
}
"""This project's own."""

# The ends of the three scales, after the Self-Assessment Manikin (Bradley and Lang 1994).
_ENDS = {
    "valence": ("very unpleasant", "very pleasant"),
    "arousal": ("very calm", "very excited"),
    "dominance": ("being controlled", "in control"),
}

_PLACES = Places(once=("{text}",), often=("{scales}",), barred=("{text}",))
_OBJECTS = re.compile(r"\{[^{}]*\}")
_NUMBER = r"[+-]?\d{1,15}(?:[.,]\d{1,15})?"


def read_values_prompts(path: str) -> Prompts:
    """A prompt file with a table for one way or both. Raises BadInput as `read_prompt_file`."""
    return read_prompt_file(path, dict.fromkeys(WAYS, _PLACES), WAYS)


def fields(text: str | None, scales: Mapping[str, Sequence[float]]) -> Mapping[str, str]:
    """What is filled in about one text. `scales`: from where to where each number goes, by name."""
    # An example at the lower end of one scale would be copied; the middles say nothing about the text.
    middles = {name: round((low + high) / 2, 2) for name, (low, high) in scales.items()}
    return {
        "text": text or "",
        "scales": "; ".join(_described(name, low, high) for name, (low, high) in scales.items()),
        "example": json.dumps(middles, ensure_ascii=False),
    }


def _described(name: str, low: float, high: float) -> str:
    ends = _ENDS.get(name.casefold())
    if ends is None:
        return f"{name} from {low:g} to {high:g}"
    return f"{name} from {low:g} ({ends[0]}) to {high:g} ({ends[1]})"


def read_numbers(output: str, way: str, names: Sequence[str]) -> tuple[dict[str, float], str]:
    """The numbers that a model wrote, in the order of `names`, and how its answer was to be read.

    `json`: a JSON object with a number for every name and nothing else, case apart (with reasoning: behind the last
    `Answer:`). `lenient`: thoughts and a markdown fence taken off, the numbers that stand behind their names in the
    last pair of braces, else anywhere, the last of each; of one name alone, an answer that begins with a number. A
    comma may part the decimals. Where no number is found it is `unread`.
    """
    answer = plain(output)
    as_asked = answer == output.strip()
    if way == COT:
        _, label, tail = answer.rpartition(ANSWER)
        answer, as_asked = plain(tail), bool(label)
    strict = _strict(answer, names)
    if strict is not None:
        return strict, "json" if as_asked else "lenient"
    objects = _OBJECTS.findall(answer)
    found = (_named(objects[-1], names) if objects else {}) or _named(answer, names)
    if not found and len(names) == 1 and (alone := re.match(rf"{_NUMBER}(?![\w%])", answer)):
        found = {names[0]: _number(alone[0])}
    return found, "lenient" if found else "unread"


def _strict(answer: str, names: Sequence[str]) -> dict[str, float] | None:
    try:
        said = json.loads(answer)
    except (ValueError, RecursionError):
        return None
    if not isinstance(said, dict) or len(said) != len(names):
        return None
    found: dict[str, float] = {}
    for key, value in said.items():
        name = known_label(key, names)
        if name is None or isinstance(value, bool) or not isinstance(value, int | float) or not _finite(value):
            return None
        found[name] = float(value)
    return {name: found[name] for name in names} if len(found) == len(names) else None


def _named(text: str, names: Sequence[str]) -> dict[str, float]:
    """The number that stands behind each name, the last one where it stands several times."""
    found = {}
    for name in names:
        # Between name and number: quotes, what parts them, and a mark of emphasis.
        pattern = rf"(?<!\w){re.escape(name)}(?!\w)[\"'*_`]*\s*(?:is|of|=|:)?[\"'*_`]*\s*[\"'*_`]*({_NUMBER})(?![\w%])"
        numbers = re.findall(pattern, text, re.IGNORECASE)
        if numbers:
            found[name] = _number(numbers[-1])
    return found


def _number(written: str) -> float:
    return float(written.replace(",", "."))


def _finite(value: float) -> bool:
    try:
        return isfinite(value)
    except OverflowError:
        return False
