"""Ask a model that writes for three rephrasings that avoid the words which give an emotion away.

The paper's annotators are told to use more implicit expressions and fewer emotion words, meaning and emotion kept
(section 3); here a model is told the same, in this project's words. `docs/models.md` has the format for one's own.
"""

import re
from collections.abc import Sequence

from emotui.backends.base import Generate, Generation
from emotui.backends.grammars import literal
from emotui.backends.host import IsCancelled, ModelProcess, lacks
from emotui.errors import ModelError
from emotui.tasks.prompting.files import Places, Prompt, Prompts, as_chat, filled, prompt_of, read_prompt_file
from emotui.tasks.prompting.settings import without_fence, without_thinking

WAY = "suggest"
COUNT = 3
TRIES = 3
TEMPERATURE = 0.8

PROMPTS: Prompts = {
    WAY: Prompt(
        "Text:\n{text}\n\n"
        "Its writer shows {emotion}. Write three new versions of this text. Each says the same, and a reader still "
        "sees {emotion} in it, but from what happens and what the writer does, because no word names the feeling. Do "
        "without these words, and without other forms of them: {words}.\n\n"
        "Answer with three lines and nothing else: 1. and the first version, 2. and the second, 3. and the third.",
        "You rewrite short texts. What a text means, and what its writer feels, stays as it is; only the wording "
        "changes.",
    )
}
"""This project's own."""

NO_WORDS = "(none in particular)"
"""Stands for the words to avoid where there is none."""

_TEXT, _EMOTION, _WORDS = "{text}", "{emotion}", "{words}"
_PLACES = Places(once=(_TEXT,), often=(_WORDS,), barred=(_TEXT, _EMOTION, _WORDS))
_LINE = re.compile(r"\s*(?:\*\*)?([1-9])[.):](?:\*\*)?\s+(.+?)\s*")
_QUOTES = {'"': '"', "“": "”", "'": "'", "‘": "’", "«": "»"}


def read_suggestion_prompts(path: str) -> Prompts:
    """A prompt file with the table `[suggest]`: `{text}` once, `{words}` at least once, `{emotion}` if wanted.

    Raises:
        BadInput: as `emotui.tasks.prompting.files.read_prompt_file`.
    """
    return read_prompt_file(path, {WAY: _PLACES}, (WAY,))


def parse_suggestions(output: str, original: str) -> list[str]:
    """The three rephrasings of an answer.

    Strict: after thoughts and a code fence are taken off, there are three lines, numbered 1 to 3, none of them empty,
    like the original or like another. Quotation marks around a whole line are taken off.

    Raises:
        ValueError: in what the answer breaks this.
    """
    lines = [line for line in without_fence(without_thinking(output)).strip().splitlines() if line.strip()]
    found = [_LINE.fullmatch(line) for line in lines]
    if [match and match[1] for match in found] != ["1", "2", "3"]:
        raise ValueError("it is not three lines numbered 1 to 3")
    texts = [_unquoted(match[2]) for match in found if match]
    if any(not any(map(str.isalnum, text)) for text in texts):
        raise ValueError("one of the three is empty")
    if len({text.casefold() for text in (original.strip(), *texts)}) <= COUNT:
        raise ValueError("one of the three is the original, or another one of them")
    return texts


def _unquoted(text: str) -> str:
    inner = text[1:-1]
    if len(text) > 2 and _QUOTES.get(text[0]) == text[-1] and text[0] not in inner and text[-1] not in inner:
        return inner.strip()
    return text


def three_lines(longest: int) -> str:
    """The grammar of an answer whose lines have at most so many characters: what the last try is held to."""
    lines = " ".join(f"{literal(('' if k == 1 else chr(10)) + f'{k}. ')} line" for k in range(1, COUNT + 1))
    return f"root ::= {lines}\nline ::= [^ \\n\\r] [^\\n\\r]{{1,{longest - 1}}}\n"


def check_writes(model: ModelProcess, cancelled: IsCancelled | None = None) -> None:
    """Raises ModelError where the model cannot write, in one sentence that names the kinds that can."""
    card = model.load(cancelled=cancelled)
    if "generate" not in card.capabilities:
        raise ModelError(lacks(card.spec, "generate"))


def suggest(
    model: ModelProcess,
    original: str,
    emotion: str,
    words: Sequence[str],
    *,
    prompts: Prompts = PROMPTS,
    cancelled: IsCancelled | None = None,
) -> list[str]:
    """Three rephrasings of a text, as a model writes them.

    An answer that breaks the form is asked for again with another seed; the last time a grammar holds the model to it,
    where it follows grammars.

    Args:
        words: not to be used.
        prompts: with a table `suggest`.

    Raises:
        BadInput: `prompts` has no such table.
        ModelError: the model cannot write, died, or never kept to the form.
        Cancelled: `cancelled()` became true.
    """
    prompt = prompt_of(prompts, WAY)
    check_writes(model, cancelled)
    fields = {"text": original, "emotion": emotion, "words": ", ".join(words) or NO_WORDS}
    chat = as_chat(prompt, filled(prompt.user, fields))
    longest = 60 + 2 * len(original)
    room = (COUNT + 1) * longest  # enough also where a token is one character; a good answer ends long before
    why = ""
    for seed in range(TRIES + 1):
        held = seed == TRIES
        grammar = three_lines(longest) if held else None
        asked = Generate(chat, max_tokens=room, temperature=TEMPERATURE, top_p=0.95, seed=seed, grammar=grammar)
        try:
            answer = model.ask([asked], cancelled=cancelled)[0]
        except ModelError as error:
            # A model that follows no grammar says so, and has had its tries; one that died is another matter.
            if not held or model.pid is None:
                raise
            why = why or str(error)
            break
        if not isinstance(answer, Generation):
            why = answer.why
            continue
        try:
            return parse_suggestions(answer.text, original)
        except ValueError as problem:
            why = str(problem)
    raise ModelError(f"{model.spec} wrote no three rephrasings in {TRIES + 1} tries: {why}")
