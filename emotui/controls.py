"""What a terminal acts on instead of showing it."""

import re

CONTROLS = re.compile("[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Both sets of controls, what turns the direction of writing or ends a line, and halves of surrogate pairs."""


_HALVES = re.compile("[\ud800-\udfff]")


def as_unicode(name: str) -> str:
    """A name with U+FFFD for each byte that was not UTF-8, as in names of files, which may have any."""
    return _HALVES.sub("\ufffd", name)
