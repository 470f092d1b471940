"""How much tests of faults and mutated input try: a little in `make test`, much in `make test-faults`; and counts."""

import os
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Literal

MINUTES = float(os.environ.get("EMOTUI_LONG_TESTS") or 0)
"""How long tests that go by time may take in all; 0 in `make test`."""

_SHARE = 0.4
"""Of those minutes for one test: some of them go on at once."""

What = Literal["kills", "bad inputs", "hostile calls"]
"""A process that is struck; a file, an answer or a setting that is damaged or made to harm; a command, a key or a model
that is given such."""

LEAST: Mapping[What, int] = {"kills": 300, "bad inputs": 5_000, "hostile calls": 500}
"""How many of each a whole `make test-faults` of 20 minutes tries at least."""

WHOLE = 20

counted: Counter[What] = Counter()
"""What the tests of this process have tried."""


def tried(what: What, n: int = 1) -> None:
    """Count what was tried: one test may do much of it."""
    counted[what] += n


def times(few: int, many: int) -> int:
    """How often something is tried; `many` is for 20 minutes."""
    return max(few, round(many * MINUTES / WHOLE)) if MINUTES else few


def rounds(few: int, share: float = _SHARE) -> Iterator[int]:
    """Numbers from 0: so `few` of them, or as many as a long test gives in its share of the minutes."""
    ends = time.monotonic() + 60 * share * MINUTES
    done = 0
    while done < few or time.monotonic() < ends:
        yield done
        done += 1
