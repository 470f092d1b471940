"""What can go wrong where a model rewrites a text: it refuses, changes nothing, or names the emotion it is to show."""

import re

_REFUSAL = re.compile(
    r"\W*(?:(?:i['’]?m|i am) (?:very |so |really )?sorry[,.]?(?: but)? i (?:can|am|can['’]?t|cannot|won['’]?t)"
    r"|(?:sorry|apologies),? (?:but )?i (?:can|am|can['’]?t|cannot|won['’]?t)"
    r"|i (?:can['’]?t|cannot|can not|won['’]?t|will not|am unable to|am not able to) "
    r"(?:help|assist|rewrite|write|comply|do|fulfil|fulfill|provide|generate|create|continue|process)"
    r"|i['’]m (?:unable|not able) to"
    r"|as an ai\b)",
    re.IGNORECASE,
)
_ENDINGS = "|s|e|es|ed|ing|ion|ment|ness|ful|fully|ly|edly|ingly|ous|ously"
_TAKEN_OFF = ("ment", "ness", "ion", "ful", "ed", "e")
_LEAST = 3
"""Letters that are left of a label's word."""


def is_refusal(answer: str) -> bool:
    """Whether an answer begins as models refuse: sorry, cannot, as an AI. A text that itself says so looks alike."""
    return _REFUSAL.match(answer) is not None


def unchanged(before: str, after: str) -> bool:
    """Whether two texts have the same words in the same order; case, punctuation and white space do not count."""
    return _words(before) == _words(after)


def leaks(text: str, label: str) -> list[str]:
    """Words of a text that are the label's own word or a regular form of it, as they stand there.

    `disappointment` leaks in "disappointed", `joy` in "joyful". Other words for the same emotion are no leak.
    """
    stems = {label.casefold(), _stem(label.casefold())}
    pattern = "|".join(rf"{re.escape(stem)}(?:{_ENDINGS})" for stem in sorted(stems, key=len, reverse=True))
    return re.findall(rf"(?<!\w)(?:{pattern})(?!\w)", text, re.IGNORECASE)


def _stem(label: str) -> str:
    for ending in _TAKEN_OFF:
        if label.endswith(ending) and len(label) - len(ending) >= _LEAST:
            return label.removesuffix(ending)
    return label


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())
