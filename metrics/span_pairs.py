"""Two annotators' spans against each other: F1 of places, with labels, and of words; and their labels side by side.

Neither of the two is gold; every figure is the same the other way round.
"""

from collections.abc import Iterable, Sequence, Set

import msgspec
import numpy as np
from numpy.typing import NDArray

from emotui.metrics.figure import Figure, with_interval
from emotui.metrics.resampling import drawn, interval_of, ratio_replicates
from emotui.metrics.spans import align_words
from emotui.metrics.tokens import WordsBySpan
from emotui.records import Mark, ties

NONE = ""
"""In the confusion: no span."""

UNLABELLED = "(no label)"
"""In the confusion: a span without a label."""


class SpanPair(msgspec.Struct, frozen=True):
    """Two annotators over the texts that both looked at.

    `n`: those in which at least one of them marked something, which the figures are over; `both_empty`: the others, on
    which the two agree, and which add nothing: neither 1 nor 0. `exact_f1`: 2 x equal places / all spans;
    `labelled_f1`: the label is equal too; `overlap_f1`: the mean over texts of the token F1 of the best one-to-one
    alignment (SEER, section 6). `parts_f1`: 2 x equal parts with equal labels / all parts, None where no span has
    several; `relation_f1`: 2 x relations of one kind between equal places / all relations (as SemEval-2024 task 3),
    None where there are none. `confusion`: the labels of aligned spans with a word in common, the first annotator's in
    the row; `""`: the other marked nothing there. `cells`: of each of its cells how often that is so in which text, by
    its place. `by_text`: overlap F1 by the place of the text, None where neither marked anything.
    """

    a: str
    b: str
    n: int
    both_empty: int
    exact_f1: Figure
    labelled_f1: Figure
    overlap_f1: Figure
    parts_f1: Figure | None
    relation_f1: Figure | None
    confusion: dict[str, dict[str, int]]
    by_text: Sequence[float | None] = ()
    cells: dict[str, dict[str, dict[int, int]]] = {}


def span_pair(
    a: str,
    b: str,
    texts: Iterable[tuple[str, Sequence[Mark], Sequence[Mark]]],
    words: WordsBySpan | None = None,
    *,
    groups: Sequence[int] = (),
    resamples: int = 0,
    seed: int = 0,
) -> SpanPair:
    """Compare two annotators.

    Args:
        texts: a text, the spans of the first, and those of the second. Equal spans with one label count once.
        words: of spans, where several pairs share them.
        groups: of each text the number of what it shares with others, which are drawn together; empty: nothing.
        resamples: of the bootstrap, which draws the texts in which one of them marked something; 0: no intervals.
    """
    known = WordsBySpan() if words is None else words
    both_empty = n = 0
    marked: list[int] = []  # the groups of texts in which one of them marked something
    counted: list[tuple[float, ...]] = []  # of each text both sides of the three figures
    parts, related, several = [], [], False
    cells: dict[str, dict[str, dict[int, int]]] = {}
    by_text: list[float | None] = []
    for at, (text, own, other) in enumerate(texts):
        first, second = _distinct(own), _distinct(other)
        if not first and not second:
            both_empty += 1
            by_text.append(None)
            continue
        n += 1
        marked.append(groups[at] if groups else at)
        places, others = {mark.place for mark in first}, {mark.place for mark in second}
        exact = 2 * len(places & others), len(places) + len(others)
        alike = 2 * len({(m.place, m.label) for m in first} & {(m.place, m.label) for m in second})
        pairs, score = align_words(
            [known[text[m.start : m.end]] for m in first], [known[text[m.start : m.end]] for m in second], None
        )
        by_text.append(score)
        counted.append((*exact, alike, len(first) + len(second), score, 1))
        parts.append(_both(*({(part, m.label) for m in marks for part in m.parts} for marks in (first, second))))
        related.append(_both(ties(own), ties(other)))
        several = several or any(len(mark.parts) > 1 for mark in (*first, *second))
        aligned = [(pair.gold, pair.predicted) for pair in pairs if pair.f1 > 0]
        left, right = {i for i, _ in aligned}, {j for _, j in aligned}
        said = [(first[i].label or UNLABELLED, second[j].label or UNLABELLED) for i, j in aligned]
        said += [(mark.label or UNLABELLED, NONE) for i, mark in enumerate(first) if i not in left]
        said += [(NONE, mark.label or UNLABELLED) for j, mark in enumerate(second) if j not in right]
        for row, column in said:
            cell = cells.setdefault(row, {}).setdefault(column, {})
            cell[at] = cell.get(at, 0) + 1
    why = None if n else "neither marked anything in a text that both looked at"
    exact_f1 = labelled_f1 = overlap_f1 = Figure(None, n, why=why)
    if counted:
        exact_f1, labelled_f1, overlap_f1 = _ratios(np.array(counted, dtype=np.float64), marked, resamples, seed)
    parts_f1, relation_f1 = (
        _ratios(np.array(each, dtype=np.float64), marked, resamples, seed)[0]
        if told and any(all_ for _, all_ in each)
        else None
        for each, told in ((parts, several), (related, True))
    )
    return SpanPair(
        a,
        b,
        n,
        both_empty,
        exact_f1,
        labelled_f1,
        overlap_f1,
        parts_f1,
        relation_f1,
        {row: {column: sum(cell.values()) for column, cell in line.items()} for row, line in cells.items()},
        by_text,
        cells,
    )


def _both(first: Set[object], second: Set[object]) -> tuple[int, int]:
    """Twice what both have, and what each has."""
    return 2 * len(first & second), len(first) + len(second)


def _ratios(counted: NDArray[np.float64], groups: Sequence[int], resamples: int, seed: int) -> list[Figure]:
    """Each two columns as the one's sum over the other's, with its interval. Args: counted: (n, columns)."""
    n = len(counted)
    sums = counted.sum(axis=0)
    found = [Figure(float(sums[at] / sums[at + 1]), n) for at in range(0, len(sums), 2)]
    if not resamples:
        return found
    parts = [(counted[:, at], counted[:, at + 1]) for at in range(0, len(sums), 2)]
    sure = ratio_replicates(parts, drawn(groups), seed=seed, resamples=resamples)
    return [with_interval(one, interval_of(each)) for one, each in zip(found, sure, strict=True)]


def _distinct(marks: Sequence[Mark]) -> list[Mark]:
    """In the order of the text, equal places with one label once."""
    once = {(mark.place, mark.label): mark for mark in marks}
    return sorted(once.values(), key=lambda mark: (mark.place, mark.label or ""))
