"""Files in TOML that a person names: whatever stands in one, it is what it says or one line."""

import re
from typing import Any

from emotui.errors import BadInput

_PART = r"""(?<![\w-])(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+"""
_LONG_KEY = re.compile(rf"(?:{_PART}\.[ \t]*){{100,}}+")
_KEYS_END = re.compile(rf"{_PART}[=\]]")
_MOST_WORK = 10_000_000
"""Dots of a key squared, over all keys: so long do Python's steps over them take a second."""

_WHOLE = range(-(2**63), 2**63)


def parse_toml(path: str, text: str) -> dict[str, Any]:
    """What a text in TOML says.

    Args:
        path: the text's file, which the refusal names.

    Raises:
        BadInput: `PATH:LINE: this is no TOML: why`; without a line where Python's reader tells none.
    """
    # Imported here: the first row waits for modules that read TOML, and none of its lists does.
    import tomllib

    keys = (found for found in _LONG_KEY.finditer(text) if _KEYS_END.match(text, found.end()))
    if sum(found.group().count(".") ** 2 for found in keys) > _MOST_WORK:
        raise BadInput(f"{path}: this is no TOML that can be read: a key has thousands of dots")
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        why, _, place = str(error).partition(" (at ")
        line = place.removeprefix("line ").partition(",")[0]
        end = text.rstrip().count("\n") + 1
        raise BadInput(f"{path}:{line if line.isdecimal() else end}: this is no TOML: {why}") from None
    except RecursionError:
        raise BadInput(f"{path}: this is no TOML that can be read: it is nested too deeply") from None
    except ValueError:  # Python's own, of a number with more than 4,300 digits
        raise BadInput(f"{path}: this is no TOML: {_TOO_LARGE}") from None
    if not _fits(content):
        raise BadInput(f"{path}: this is no TOML: {_TOO_LARGE}")
    return content


_TOO_LARGE = "a whole number in it has more than 64 bits"


def _fits(value: object) -> bool:
    """Whether every whole number in it has at most 64 bits, as TOML has them."""
    match value:
        case dict():
            return all(map(_fits, value.values()))
        case list():
            return all(map(_fits, value))
        case bool():
            return True
        case int():
            return value in _WHOLE
        case _:
            return True
