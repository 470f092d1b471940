"""The two prompts of section 4, in this project's words, and what is taken off their answers.

The paper prints neither prompt. It says what they ask for: no explicit emotion, meaning and sentence structure kept;
then the target emotion, by minimal yet effective changes of style.
"""

import re

from emotui.tasks.prompting.files import Places, Prompt, Prompts, read_prompt_file
from emotui.tasks.prompting.settings import plain

NEUTRALISE, INJECT = "neutralise", "inject"
STEPS = (NEUTRALISE, INJECT)
"""The tables of a prompt file: the first is about a text, the second about what came of it and a target emotion."""

SYSTEM = "You revise short texts. You answer with the revised text alone."
PROMPTS: Prompts = {
    NEUTRALISE: Prompt(
        "Text:\n{text}\n\n"
        "Write this text without feeling in it. Leave out or replace the words and turns that show how somebody feels "
        "or what they think of something. What is said stays the same, and so do the order and the build of the "
        "sentences; where nothing shows a feeling, change nothing.",
        SYSTEM,
    ),
    INJECT: Prompt(
        "Text:\n{text}\n\n"
        "Write this text so that a reader sees this in it: {emotion}. Change as little as will do. What is said stays "
        "the same. Let wording and manner show it rather than the word for it.",
        SYSTEM,
    ),
}
"""This project's own."""

_TEXT, _EMOTION = "{text}", "{emotion}"
_PLACES = {
    NEUTRALISE: Places(once=(_TEXT,), barred=(_TEXT,)),
    INJECT: Places(once=(_TEXT,), often=(_EMOTION,), barred=(_TEXT,)),
}
_QUOTES = {'"': '"', "“": "”", "'": "'", "‘": "’", "«": "»"}
_PREFACE = re.compile(
    r"(?:(?:sure|certainly|of course)[!,.]?\s*)?"
    r"(?:here(?:['’]s| is| are)\b[^\n:]{0,80}|(?:neutral|neutralized|neutralised|emotional|revised|rewritten)"
    r"(?: (?:text|version))?|text|output|answer)\s*:[ \t]*\n*",
    re.IGNORECASE,
)


def read_generation_prompts(path: str) -> Prompts:
    """A prompt file with a table `[neutralise]`, `[inject]`, or both. Raises BadInput as `read_prompt_file`."""
    return read_prompt_file(path, _PLACES, STEPS)


def rewritten(answer: str) -> str:
    """The text in an answer: thoughts, a fence, a line like "Here is the neutral version:" and quotes are taken off."""
    text = plain(answer)
    preface = _PREFACE.match(text)
    if preface and text[preface.end() :].strip():
        text = text[preface.end() :].strip()
    inner = text[1:-1]
    if len(text) > 2 and _QUOTES.get(text[0]) == text[-1] and text[0] not in inner and text[-1] not in inner:
        text = inner.strip()
    return text
