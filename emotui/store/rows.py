"""What goes into the store and comes out of it, a row at a time. Records travel as JSON, so the store knows no task.

There may be millions at once, and nothing in one leads back to it, so that Python's collector passes them over.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    import numpy as np

    Numbers = Sequence[int] | np.ndarray[tuple[int], np.dtype[np.int64]]
    """Sample numbers, such as a slice of an order of the list."""

_CHUNK = 500
"""Rows that the first transaction of a long iteration reads."""

WIDE_CHUNK = 20_000
"""Rows that one reads at most: some tens of milliseconds, for which others wait."""

_CHUNK_BYTES = 8 << 20
"""What one may bring in, by the rows before."""


class SampleRow(msgspec.Struct, frozen=True, gc=False):
    """One sample as it is added. `record` is its whole record as UTF-8 JSON.

    `emotion` and `valence` are the sample's own (None for a passage without one); `emotions` and `valences` are all
    that the filter finds it by: its own and those of its sentences.
    """

    id: str
    text: str
    emotion: str | None
    valence: str | None
    emotions: tuple[str, ...]
    valences: tuple[str, ...]
    record: bytes


class ScoreRow(msgspec.Struct, frozen=True, gc=False):
    """How one prediction was scored, under a convention.

    `values`: by the name of the metric, None where it is undefined; `marks` are letters of `MARKS`; `detail` is JSON.
    """

    convention: str
    values: Mapping[str, float | None]
    marks: str
    detail: bytes


class ResultRow(msgspec.Struct, frozen=True, gc=False):
    """What one question to a model gave: its output as it came, and what was parsed and scored from it.

    `attempt` counts the retries of one (sample, repeat) from 0. `error` says why there is no output; such a row leaves
    its (sample, repeat) open, so that a resumed run asks again. `seconds` is what the answer took. `output` is the
    store's number of the row, set on rows that come out of it.
    """

    sample: int
    repeat: int
    attempt: int
    prompt: str | None
    raw: str | None
    error: str | None
    seconds: float
    prediction: bytes | None = None
    score: ScoreRow | None = None
    output: int | None = None


class Outcome(msgspec.Struct, frozen=True, gc=False):
    """What became of one question: how many answers it took (0: there is none), and what counts of them, as JSON.

    `record`: the sample's own.
    """

    sample: int
    record: str
    repeat: int
    attempts: int
    prediction: str | None
    convention: str | None
    detail: str | None


class ValueSum(msgspec.Struct, frozen=True):
    """The values of one metric over the samples of one emotion and valence, added up; `n`: how many have one.

    `holds`: whether the records of these samples hold what was asked for.
    """

    repeat: int
    holds: bool
    emotion: str | None
    valence: str | None
    metric: str
    total: float
    n: int


class Annotation(msgspec.Struct, frozen=True):
    """One entry of the annotation log. `undoes` names the entry that this one takes back. `at` is UTC, ISO 8601."""

    annotation: int
    kind: str
    sample: int | None
    annotator: str
    payload: bytes
    undoes: int | None
    at: str


Outline = tuple[int, str, int | None, int | None]
"""(annotation, kind, sample, undoes) of an entry: what can be told of it without its payload."""


def now() -> str:
    """This moment, UTC, ISO 8601 to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def chunk_rows(rows: int = 0, size: int = 0) -> int:
    """How many rows a transaction of an iteration reads: the first, or the next one after so many of so many bytes."""
    return max(_CHUNK, min(4 * rows, WIDE_CHUNK, rows * _CHUNK_BYTES // max(size, 1)))


def plain(numbers: "Numbers") -> list[int]:
    """As Python integers, which is what DuckDB's parameters take."""
    return [int(number) for number in numbers]
