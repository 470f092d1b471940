"""How much tests of faults and of mutated input try: a little in `make test`, much in `make test-faults`."""

import os

LONG = "EMOTUI_LONG_TESTS" in os.environ


def times(few: int, many: int) -> int:
    """How often something is tried."""
    return many if LONG else few
