"""Where the words of a text stand: what is left out, one after the other, to see which carry a prediction."""

import re

# An apostrophe or a hyphen inside keeps a word together; a sign that is neither letter, digit nor mark is no word.
_WORD = re.compile(r"[^\W_]+(?:['’\-][^\W_]+)*|[\U0001F000-\U0001FAFF\u2600-\u27BF]+")


def word_places(text: str) -> list[tuple[int, int]]:
    """(start, end) in code points, half open, in text order. Emoji count as words."""
    return [match.span() for match in _WORD.finditer(text)]
