"""What a model that writes is asked about the one emotion of a text, with or without examples, and how it is read.

Source: hard emotion test sets, appendix D, for what each prompt shows: zero-shot, few-shot (10 examples), and few-shot
with rephrasings of each example that are said to have its meaning and so its emotion. The words are this project's.
"""

import random
import re
from collections.abc import Mapping, Sequence

import msgspec

from emotui.errors import BadInput
from emotui.tasks.prompting.files import Places, Prompt, Prompts, filled, read_prompt_file
from emotui.tasks.prompting.settings import plain
from emotui.tasks.prompting.ways import FEW_SHOT, ZERO_SHOT
from emotui.tasks.rephrase.labelling import ASKED, known_label

WAYS = ("zs", "fs", "fs-r")
NAMED = {ZERO_SHOT: "zs", FEW_SHOT: "fs", f"{FEW_SHOT}-rephrased": "fs-r", "fsr": "fs-r"}
"""The words that all tasks share, and the names here; one of these is written without its dash too."""

SHOTS = 10
"""Examples in a prompt (section 5.2)."""

SPARE = 20
"""Examples that are kept beside those, to take the place of one that is about the very text asked about."""

ROOM = 48
"""Tokens for an answer."""

EXAMPLES = {"fs": "fs-example", "fs-r": "fs-r-example"}
"""The table of a prompt file with the words of one example, for the ways that show any."""

_ASKED = (
    "The writer of each text below shows one of these emotions: {labels}.\n\n{examples}\n\n"
    "Now the last one. Answer with its emotion alone, one of those above.\n\nText: {text}\nEmotion:"
)
_EXAMPLE = "Text: {text}\nEmotion: {label}"
_REPHRASED = (
    "Text: {text}\nEmotion: {label}\n"
    "The same can be said in other words. What is meant stays, so the emotion is {label} here too:\n{rephrasings}"
)
PROMPTS: Prompts = {
    "zs": ASKED,
    "fs": Prompt(_ASKED, ASKED.system),
    "fs-r": Prompt(_ASKED, ASKED.system),
    "fs-example": Prompt(_EXAMPLE),
    "fs-r-example": Prompt(_REPHRASED),
}
"""This project's own."""

_TEXT, _LABELS, _SHOWN, _LABEL, _SAID = "{text}", "{labels}", "{examples}", "{label}", "{rephrasings}"
_PLACES: Mapping[str, Places] = {
    "zs": Places(once=(_TEXT,), barred=(_TEXT,)),
    "fs": Places(once=(_TEXT, _SHOWN), barred=(_TEXT, _SHOWN)),
    "fs-r": Places(once=(_TEXT, _SHOWN), barred=(_TEXT, _SHOWN)),
    "fs-example": Places(once=(_TEXT,), often=(_LABEL,)),
    "fs-r-example": Places(once=(_TEXT, _SAID), often=(_LABEL,)),
}


class Example(msgspec.Struct, frozen=True):
    """A text with its label, and rephrasings of it where it came from a chain."""

    id: str
    text: str
    label: str
    rephrasings: tuple[str, ...] = ()


def read_rephrase_prompts(path: str) -> Prompts:
    """A prompt file with tables for any of the ways, and for one example. Raises BadInput as `read_prompt_file`."""
    return read_prompt_file(path, _PLACES, WAYS, NAMED)


def drawn(examples: Sequence[Example], seed: int) -> list[Example]:
    """The examples that prompts show: `SHOTS`, and `SPARE` more; drawn label by label, so that labels are even."""
    draw = random.Random(seed)
    by_label: dict[str, list[Example]] = {}
    for example in draw.sample(examples, len(examples)):
        by_label.setdefault(example.label, []).append(example)
    rounds = max((len(group) for group in by_label.values()), default=0)
    in_turn = [group[turn] for turn in range(rounds) for group in by_label.values() if turn < len(group)]
    return in_turn[: SHOTS + SPARE]


def fitting(examples: Sequence[Example], way: str) -> list[Example]:
    """Those that a way can show. Raises BadInput where there is none."""
    found = [example for example in examples if example.rephrasings or way != "fs-r"]
    if not examples:
        raise BadInput(f"{way} shows examples: give a file of chains or of labelled texts by --examples FILE")
    if not found:
        raise BadInput("fs-r shows examples with their rephrasings, but no chain in the file has any")
    return found


def shots(examples: Sequence[Example], key: str, text: str) -> list[Example]:
    """The first `SHOTS` examples that are not about the text asked about: of another id, and no same words."""
    asked = _folded(text)
    others = [
        example
        for example in examples
        if example.id != key and asked not in {_folded(said) for said in (example.text, *example.rephrasings)}
    ]
    return others[:SHOTS]


def shown(prompt: Prompt, examples: Sequence[Example]) -> str:
    """The examples in a prompt's words, with an empty line between them."""
    return "\n\n".join(
        filled(
            prompt.user,
            {
                "text": example.text,
                "label": example.label,
                "rephrasings": "\n".join(f"- {said}" for said in example.rephrasings),
            },
        )
        for example in examples
    )


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def read_label(output: str, labels: Sequence[str]) -> tuple[str, str]:
    """The label that a model wrote, and how its answer was to be read; no label (`""`) where it is `unread`.

    `exact`: one of the labels and nothing else, case and ends apart. `lenient`: thoughts and a markdown fence taken
    off, the first line in which any label stands as a whole word, and only one does. Several labels there, or none
    anywhere, are `unread`. Where one label is part of another, the longer one counts.
    """
    exact = known_label(output, labels)
    if exact is not None:
        return exact, "exact"
    answer = plain(output)
    names = sorted(labels, key=len, reverse=True)
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, names))})(?!\w)", re.IGNORECASE) if names else None
    for line in answer.splitlines():
        found = {known_label(each, labels) for each in pattern.findall(line)} if pattern else set()
        if found:
            (label, *others) = found
            return ("", "unread") if others or label is None else (label, "lenient")
    return "", "unread"
