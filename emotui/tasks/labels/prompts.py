"""What a model is asked about all labels of a text at once, and how its list of them is read. The words are ours."""

import json
import re
from collections.abc import Mapping, Sequence

from emotui.tasks.prompting.files import Places, Prompt, Prompts, read_prompt_file
from emotui.tasks.prompting.hypotheses import NLI, check_hypotheses, hypothesis_places, stated
from emotui.tasks.prompting.settings import plain
from emotui.tasks.prompting.ways import COT, ZERO_SHOT
from emotui.tasks.rephrase.labelling import known_label

WAYS = (ZERO_SHOT, COT)
"""In which a model writes."""

ROOM = {ZERO_SHOT: 160, COT: 640}
"""Tokens for an answer."""

ANSWER = "Answer:"

SYSTEM = "You read short texts and find every emotion that the writer of each shows: one, several, or none."
YES_OR_NO = "Does its writer show {label}? Answer with one word, Yes or No."
"""What a model that scores is asked, once for each label, behind the text."""

_TASK = "Text:\n{text}\n\nWhich of these does its writer show? {labels}."
PROMPTS: Prompts = {
    ZERO_SHOT: Prompt(
        _TASK + ' Reply with nothing but a JSON list of those that fit, spelt as above, such as ["{example}"]; '
        "with [] if none of them fits.",
        SYSTEM,
    ),
    COT: Prompt(
        _TASK + f" Say first, in a few short sentences, what in the text points to which of them. Then write {ANSWER} "
        "and behind it a JSON list of those that fit, spelt as above; [] if none of them fits.",
        SYSTEM,
    ),
    NLI: Prompt("The writer of this text feels {label}."),
}
"""This project's own."""

_PLACES = Places(once=("{text}",), often=("{labels}",), barred=("{text}",))
_LISTS = re.compile(r"\[([^\[\]]*)\]")
_NONE = re.compile(r"(none|no emotions?|nothing|neither)( of (them|these|the above))?\.?", re.IGNORECASE)


def read_labels_prompts(path: str) -> Prompts:
    """A prompt file with a table for one way or more. Raises BadInput as `read_prompt_file` and `check_hypotheses`."""
    places = dict.fromkeys(WAYS, _PLACES) | {NLI: hypothesis_places("{label}")}
    return check_hypotheses(path, read_prompt_file(path, places, WAYS))


def statements(template: Prompt, labels: Sequence[str]) -> tuple[str, ...]:
    """What an NLI model judges, one statement for each label."""
    return tuple(stated(template, {"label": label}) for label in labels)


def fields(text: str | None, labels: Sequence[str]) -> Mapping[str, str]:
    """What is filled in about one text."""
    return {"text": text or "", "labels": ", ".join(labels), "example": labels[0]}


def read_list(output: str, way: str, labels: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """The labels that a model wrote, in the order of `labels`, and how its answer was to be read.

    `json`: a JSON list of known labels and nothing else, case apart (with reasoning: behind the last `Answer:`).
    `lenient`: thoughts and a markdown fence taken off, the known labels in the last pair of brackets, else on the
    first line that names any; of a label within another the longer one counts. An empty pair of brackets, or a word
    such as `none`, names no label. Where none of this holds it is `unread`.
    """
    answer = plain(output)
    as_asked = answer == output.strip()
    if way == COT:
        _, label, tail = answer.rpartition(ANSWER)
        answer, as_asked = plain(tail), bool(label)
    strict = _strict(answer, labels)
    if strict is not None:
        return _ordered(strict, labels), "json" if as_asked else "lenient"
    lists = _LISTS.findall(answer)
    if lists:
        found = _named(lists[-1], labels)
        return _ordered(found, labels), "lenient" if found or not lists[-1].strip() else "unread"
    for line in answer.splitlines():
        if found := _named(line, labels):
            return _ordered(found, labels), "lenient"
    return (), "lenient" if _NONE.fullmatch(answer.strip()) else "unread"


def _strict(answer: str, labels: Sequence[str]) -> set[str] | None:
    try:
        listed = json.loads(answer)
    except (ValueError, RecursionError):
        return None
    if not isinstance(listed, list) or not all(isinstance(name, str) for name in listed):
        return None
    known = {known_label(name, labels) for name in listed}
    return None if None in known else {name for name in known if name is not None}


def _named(text: str, labels: Sequence[str]) -> set[str]:
    """The labels that stand in it as whole words."""
    names = sorted(labels, key=len, reverse=True)
    pattern = rf"(?<!\w)(?:{'|'.join(map(re.escape, names))})(?!\w)"
    found = (known_label(each, labels) for each in re.findall(pattern, text, re.IGNORECASE))
    return {name for name in found if name is not None}


def _ordered(found: set[str], labels: Sequence[str]) -> tuple[str, ...]:
    return tuple(name for name in labels if name in found)
