"""How much tests of faults and of mutated input try: a little in `make test`, much in `make test-faults`."""

import os
import time
from collections.abc import Iterator

MINUTES = float(os.environ.get("EMOTUI_LONG_TESTS") or 0)
"""How long tests that go by time may take in all; 0 in `make test`."""

_SHARE = 0.4
"""Of those minutes for one test: some of them go on at once."""


def times(few: int, many: int) -> int:
    """How often something is tried; `many` is for 20 minutes."""
    return max(few, round(many * MINUTES / 20)) if MINUTES else few


def rounds(few: int) -> Iterator[int]:
    """Numbers from 0: so `few` of them, or as many as the minutes of a long test give."""
    ends = time.monotonic() + 60 * _SHARE * MINUTES
    done = 0
    while done < few or time.monotonic() < ends:
        yield done
        done += 1
