"""What a terminal acts on instead of showing it."""

import re

CONTROLS = re.compile("[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Both sets of controls, what turns the direction of writing or ends a line, and halves of surrogate pairs."""

INVISIBLE = re.compile(
    CONTROLS.pattern[:-1]
    + "\u00ad\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200d\u2060-\u2065\u206a-\u206f\ufeff"
    "\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0001\U000e0020-\U000e007f]"
)
"""Those, and what is shown as nothing at all (Unicode's format characters), such as a space without width."""

_HALVES = re.compile("[\ud800-\udfff]")


def as_unicode(name: str) -> str:
    """A name with U+FFFD for each byte that was not UTF-8, as in names of files, which may have any."""
    return _HALVES.sub("\ufffd", name)
