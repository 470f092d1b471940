"""Where the tests and what they read lie."""

from pathlib import Path

TESTS = Path(__file__).resolve().parent
CHECKOUT = TESTS.parent
TINY = TESTS / "tiny"
