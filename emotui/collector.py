"""How often Python looks for objects that hold each other."""

import gc

COLLECT_AFTER = 50_000
"""New objects until it looks among them: at Python's own 700, imports and rows that are read cost up to a third more,
since nearly all of them stay and none is in a circle."""


def collect_seldom() -> None:
    """Look less often, in this process."""
    gc.set_threshold(COLLECT_AFTER)
