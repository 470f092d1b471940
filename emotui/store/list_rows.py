"""The lines of a page of the sample list; without numpy: the first page need not wait for it."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from emotui.records import Mark, Sentence
from emotui.store import access
from emotui.store.query import ListRow, bits_to_marks
from emotui.store.results import VALUES, joined, metric_sets
from emotui.store.rows import plain

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from emotui.store.rows import Numbers

_PREVIEW = 200
"""Characters of the text that a line of the list gets."""


_LABELLED = 5000
"""Characters of a text whose record is looked into for the emotions of its sentences and the labels of its spans."""

_NEUTRAL = "neutral"


class _Felt(msgspec.Struct):
    sentences: tuple[Sentence, ...] = ()
    spans: tuple[Mark, ...] | None = None


def felt(sentences: Sequence[Sentence], spans: Sequence[Mark]) -> str:
    """The emotions of sentences, or else the labels of spans: each once, in the order in which they come.

    Neutral is left out beside others.
    """
    named = dict.fromkeys(one.emotion for one in sentences if one.emotion)
    said = [name for name in named if name != _NEUTRAL] or [*named]
    return ", ".join(said or dict.fromkeys(mark.label for mark in spans if mark.label))


def _felt(connection: "DuckDBPyConnection", numbers: Sequence[int]) -> dict[int, str]:
    """What these samples are about, by their sentences and spans; where these say so."""
    if not numbers:
        return {}
    found = connection.execute(
        "select sample, record from samples where sample between ? and ? and sample in (select unnest(?::bigint[]))"
        " and (contains(record, '\"spans\":[[') or contains(record, '\"sentences\":[{'))",
        [min(numbers), max(numbers), list(numbers)],
    )
    records = ((sample, msgspec.json.decode(record, type=_Felt)) for sample, record in found.fetchall())
    return {sample: said for sample, one in records if (said := felt(one.sentences, one.spans or ()))}


class _Scored:
    """The current scores of one sample over its repeats."""

    __slots__ = ("bits", "values")

    def __init__(self) -> None:
        self.values: dict[str, list[float]] = {}
        self.bits = 0

    def add(self, values: Mapping[str, float | None], bits: int) -> None:
        """One repeat's."""
        self.bits |= bits
        if not self.values:
            self.values = {name: [] if value is None else [value] for name, value in values.items()}
            return
        for name, value in values.items():
            known = self.values.setdefault(name, [])
            if value is not None:
                known.append(value)

    def means(self) -> dict[str, float | None]:
        """Each metric's mean over the repeats that have a value."""
        return {name: sum(known) / len(known) if known else None for name, known in self.values.items()}


_NOT_SCORED = _Scored()


_AMONG = "sample between ? and ? and sample in (select unnest(?::bigint[]))"


def _scores(connection: "DuckDBPyConnection", wanted: Sequence[int], run: str) -> dict[int, _Scored]:
    found = connection.execute(
        f"select sample, marks, metric_set, {VALUES} from scores"
        f" where run = (select number from runs where run = ?) and current and {_AMONG}",
        [run, min(wanted), max(wanted), list(wanted)],
    ).fetchall()
    sets = metric_sets(connection)
    scores: dict[int, _Scored] = {}
    for sample, bits, kind, *values in found:
        scores.setdefault(sample, _Scored()).add(joined(sets[kind], values), bits)
    return scores


class ListRows:
    """Every method is one short transaction; safe across threads."""

    def __init__(self, turns: access.Access) -> None:
        self._turns = turns

    def page(self, numbers: "Numbers", run: str | None) -> list[ListRow]:
        """The lines of these samples in the list, in their order; unknown numbers are left out."""
        with self._turns.reading() as connection:
            wanted = plain(numbers)
            if not wanted:
                return []
            scores = {} if run is None else _scores(connection, wanted, run)
            found = connection.execute(
                f"select sample, id, left(text, {_PREVIEW}), emotion, valence, length from samples where {_AMONG}",
                [min(wanted), max(wanted), wanted],
            )
            lines: dict[int, ListRow] = {}
            rows = found.fetchall()
            by_sample = _felt(connection, [row[0] for row in rows if row[3] is None and row[5] <= _LABELLED])
            for sample, id_, beginning, emotion, valence, _ in rows:
                said = scores.get(sample, _NOT_SCORED)
                feels = emotion or by_sample.get(sample)
                lines[sample] = ListRow(
                    sample, id_, " ".join(beginning.split()), feels, valence, said.means(), bits_to_marks(said.bits)
                )
            return [lines[number] for number in wanted if number in lines]

    def values_and_marks(self, numbers: "Numbers", run: str) -> dict[int, tuple[dict[str, float | None], str]]:
        """What a run scored at these samples, over its repeats, and its marks; those without a score are left out."""
        with self._turns.reading(access.ROOMY) as connection:
            wanted = plain(numbers)
            scores = _scores(connection, wanted, run) if wanted else {}
            return {sample: (said.means(), bits_to_marks(said.bits)) for sample, said in scores.items()}
