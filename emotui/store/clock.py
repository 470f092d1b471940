"""The time as the store writes it."""

from datetime import UTC, datetime


def now() -> str:
    """This moment, UTC, ISO 8601 to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
