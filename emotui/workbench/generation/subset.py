"""The subset of texts to have rated (section 6.1): from a file of originals to their ids."""

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from emotui.errors import BadInput
from emotui.formats import capped, read
from emotui.metrics.rating_subset import Candidate, agreed_upon, chosen
from emotui.records import GenerationGold
from emotui.workbench.generation.ratings import table_rows


def choose_subset(
    path: str, *, source: str, order: str | None = None, annotations: str | None = None, least: float = 0.6
) -> dict[str, Any]:
    """Which texts to have rated.

    Args:
        path: originals with `id` and `label`: CSV, TSV, or records with columns of their own in `meta`.
        source, order, annotations: columns with the video or document of a text, its place there (None: the file's
            order), and the labels that several annotators gave it (a list, or in a table parted by `|` or `;`).

    Returns:
        `n`, `ids` (chosen, in the file's order), `chosen`, `agreed` (ids of the texts above `least` agreement),
        `sources`, `emotions`.

    Raises:
        BadInput: a column is missing or a place is no number; `FILE:LINE: what`.
    """
    texts: list[Candidate] = []
    problems: list[str] = []
    for line, row in _texts(path):
        try:
            texts.append(_candidate(row, len(texts), source, order, annotations))
        except ValueError as problem:
            problems.append(f"{path}:{line}: {problem}")
    if problems:
        raise BadInput(*capped(problems))
    ids = chosen(texts, least)
    return {
        "n": len(texts),
        "chosen": len(ids),
        "ids": ids,
        "agreed": agreed_upon(texts, least),
        "sources": len({one.source for one in texts}),
        "emotions": len({one.emotion for one in texts}),
    }


def _texts(path: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    if path.endswith((".csv", ".tsv")):
        yield from table_rows(path)
        return
    got = read(path, GenerationGold)
    for line, record in zip(got.lines, got.records, strict=True):
        yield line, {**record.meta, **{key: value for key, value in msgspec.structs.asdict(record).items() if value}}


def _candidate(row: Mapping[str, Any], at: int, source: str, order: str | None, annotations: str | None) -> Candidate:
    lacking = [name for name in ("id", "label", source, order) if name is not None and row.get(name) in (None, "")]
    if lacking:
        raise ValueError(f"has no {lacking[0]!r}; there are: {', '.join(row)}")
    try:
        place = float(at if order is None else row[order])
    except (TypeError, ValueError):
        place = math.nan
    if not math.isfinite(place):
        raise ValueError(f"{order!r} must be a number, not {row[order or '']!r}")
    given = row.get(annotations) if annotations is not None else None
    labels = re.split(r"[|;]", given) if isinstance(given, str) else given or ()
    gold = tuple(name for label in labels if (name := str(label).strip().casefold()))
    return Candidate(str(row["id"]), str(row["label"]).strip().casefold(), str(row[source]), place, gold)
