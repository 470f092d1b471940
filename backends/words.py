"""Where the words of a text stand, and the tokens of a model's own tokenizer, without its weights."""

import re
from collections.abc import Callable
from pathlib import Path

from emotui.errors import BadInput

# An apostrophe or a hyphen inside keeps a word together; a sign that is neither letter, digit nor mark is no word.
_WORD = re.compile(r"[^\W_]+(?:['’\-][^\W_]+)*|[\U0001F000-\U0001FAFF\u2600-\u27BF]+")


def word_places(text: str) -> list[tuple[int, int]]:
    """(start, end) in code points, half open, in text order. Emoji count as words."""
    return [match.span() for match in _WORD.finditer(text)]


FILE = "tokenizer.json"

TokenPlaces = Callable[[str], list[tuple[int, int]]]
"""The `[start, end)` of each token of a text, in code points; without tokens for beginning and end."""


def token_places(model: str = "") -> TokenPlaces:
    """By the tokenizer of a model's folder, or by a `tokenizer.json`; without either by that of `embedded` (MiniLM's).

    Raises:
        BadInput: there is no such file, or it is no tokenizer.
    """
    from tokenizers import Tokenizer

    if model:
        path = Path(model.removeprefix("hf:"))
        path = path / FILE if path.is_dir() else path
    else:
        from emotui.backends.embedded.base_files import base_files

        path = base_files().tokenizer
    if not path.is_file():
        raise BadInput(f"{path}: there is no such file; a tokenizer is a {FILE}, or a model's folder that has one")
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises nothing narrower
        raise BadInput(f"{path}: not a tokenizer ({str(error).splitlines()[0]})") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return lambda text: [place for place in tokenizer.encode(text, add_special_tokens=False).offsets if place[1]]
