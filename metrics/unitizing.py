"""Unitizing alpha: do annotators mark the same stretches of a text, with the same labels?

The family of Krippendorff, Mathet, Bouvry and Widlöcher 2016, "On the reliability of unitizing textual continua:
Further developments" (also Krippendorff 2019, Content Analysis, 4th edition, section 12.6), by lengths of text in
characters:

- `u_alpha`: borders and labels, what nobody marked among them (_u alpha).
- `binary`: marked or not marked, whatever the label (|u alpha).
- `coding`: labels alone, where both annotators of a pair marked something (cu alpha).
- `by_label`: a label against all others, under the same condition ((k)u alpha).

The coefficient of Krippendorff 1995 and 2004 bears the same name and is another one: it squares the distances between
borders, and was found not to behave with more than two annotators (2016, section 2). It is not computed here.

Each annotator divides a text into units and gaps, so units of one annotator must not overlap. Here spans may: the
stretch that several spans of an annotator share becomes a unit of its own, whose value is all their labels together
(`anger + fear`); how many characters that concerns is told. The texts stand one after another as one continuum, and no
unit reaches over the border of a text. A text counts with the annotators who said something about it, in the way in
which alpha counts items with missing ratings: pairs of m annotators are weighted by 1 / (m - 1).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise

import msgspec
import numpy as np
from numpy.typing import NDArray

from emotui.metrics.figure import Figure, with_interval
from emotui.metrics.resampling import drawn, estimates, interval_of
from emotui.records import Mark

UNLABELLED = ""
"""The value of a unit without a label."""

TOGETHER = " + "
"""Between the labels of a stretch on which several spans of one annotator lie."""

Floats = NDArray[np.float64]


class MarkedText(msgspec.Struct, frozen=True):
    """A text of `length` characters, and the spans of each annotator who said something about it (perhaps none).

    `group`: the number of what it shares with other texts, which are drawn together; None: nothing.
    """

    length: int
    spans: Mapping[str, Sequence[Mark]]
    group: int | None = None


class Unitizing(msgspec.Struct, frozen=True):
    """The coefficients of the family. `overlapping`: characters on which spans of one annotator overlap.

    By text, in the order given, None for one that does not count: `unlike`, of its characters the share on which two
    annotators differ (a mean over all pairs of them), in [0, 1]; `unlike_labels`, of the stretches that both of a pair
    marked the share on which their labels differ, in [0, 1], None too where there is no such stretch.
    """

    u_alpha: Figure
    binary: Figure
    coding: Figure
    by_label: Mapping[str, Figure]
    overlapping: int = 0
    unlike: Sequence[float | None] = ()
    unlike_labels: Sequence[float | None] = ()


@dataclass(slots=True)
class _Part:
    """What one text adds to the sums: lengths in characters, all pairs of annotators counted 1 / (m - 1)."""

    whole: float = 0
    unlike: float = 0
    unlike_marking: float = 0
    squares: float = 0
    lengths: Counter[str | None] = field(default_factory=Counter)
    both: dict[tuple[str, str], float] = field(default_factory=lambda: defaultdict(float))
    both_squares: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    overlapping: int = 0


def unitizing_alpha(texts: Iterable[MarkedText], resamples: int = 0, seed: int = 0) -> Unitizing:
    """The family of unitizing alphas over texts.

    Args:
        texts: those with fewer than two annotators, or without a character, do not count.
        resamples: of the bootstrap of `u_alpha`, `binary` and `coding`, which draws texts, or groups of them; 0: no
            interval.

    Returns:
        values of at most 1; None, with the reason, where nobody marked anything, or where there is one value only.
    """
    given = list(texts)
    all_parts = [_part(text) if len(text.spans) > 1 and text.length > 0 else None for text in given]
    parts = [part for part in all_parts if part is not None]
    unlike = [None if part is None else part.unlike / part.whole for part in all_parts]
    unlike_labels = [None if part is None else _unlike_labels(part) for part in all_parts]
    n = len(parts)
    overlapping = sum(part.overlapping for part in parts)
    if n == 0:
        nothing = Figure(None, 0, why="no text was marked by two annotators")
        return Unitizing(nothing, nothing, nothing, {}, 0, unlike, unlike_labels)
    values = sorted({value for part in parts for value in part.lengths if value is not None})
    sums = np.array(
        [[part.whole, part.squares, part.unlike, part.unlike_marking, part.lengths[None]] for part in parts]
    )
    lengths = np.array([[part.lengths[value] for value in (None, *values)] for part in parts])
    coding = _coding_sums(parts, values)
    table, wide = np.concatenate([sums, lengths, coding], axis=1), sums.shape[1] + lengths.shape[1]

    def family(added: Floats) -> Floats:
        """(m, 3): the three alphas of added up columns."""
        of_sums, of_lengths = added[:, : sums.shape[1]], added[:, sums.shape[1] : wide]
        return np.stack([_u_alpha(of_sums, of_lengths), _binary(of_sums), _coding(added[:, wide:])], axis=1)

    whole = family(table.sum(axis=0)[None])[0]
    why = "nobody marked anything" if not values else "all texts are marked from end to end with one label"
    found = {
        "u_alpha": why,
        "binary": "nobody marked anything" if not values else "every character is marked by all",
        "coding": "no stretch is marked by two annotators with two labels among them",
    }
    figures = {name: _figure(value, n, why) for (name, why), value in zip(found.items(), whole.tolist(), strict=True)}
    if resamples:
        by = drawn([text.group for text, part in zip(given, all_parts, strict=True) if part is not None])
        sure = estimates(table, family, by, seed=seed, resamples=resamples, bounds=(-np.inf, 1.0))
        figures = {
            name: with_interval(figure, interval_of(each))
            for (name, figure), each in zip(figures.items(), sure, strict=True)
        }
    labels = {value or UNLABELLED: _of_label(parts, value) for value in values}
    return Unitizing(
        figures["u_alpha"], figures["binary"], figures["coding"], labels, overlapping, unlike, unlike_labels
    )


def _unlike_labels(part: _Part) -> float | None:
    whole = sum(part.both.values())
    return sum(length for (a, b), length in part.both.items() if a != b) / whole if whole else None


def units(spans: Sequence[Mark], length: int) -> list[tuple[int, int, str | None]]:
    """A text divided into units and gaps, in order: (start, end, value), None for a gap.

    A stretch under several spans has all their labels, sorted; equal spans count once.
    """
    found: list[tuple[int, int, str | None]] = []
    if (apart := _disjoint(spans, length)) is not None:
        at = 0
        for span in apart:
            if span.start > at:
                found.append((at, span.start, None))
            found.append((span.start, span.end, span.label or UNLABELLED))
            at = span.end
        return [*found, (at, length, None)] if at < length else found
    edges = sorted({0, length, *(min(max(at, 0), length) for span in spans for at in span.place)})
    for start, end in pairwise(edges):
        over = {(span.place, span.label) for span in spans if span.start <= start and span.end >= end}
        value = TOGETHER.join(sorted(label or UNLABELLED for label in {label for _, label in over})) if over else None
        if found and value is None and found[-1][2] is None:
            found[-1] = (found[-1][0], end, None)
        else:
            found.append((start, end, value))
    return found


def _disjoint(spans: Sequence[Mark], length: int) -> list[Mark] | None:
    """The spans in order, where none of them share a character and all lie inside the text."""
    ordered = sorted(spans, key=lambda span: span.start)
    inside = not ordered or (ordered[0].start >= 0 and ordered[-1].end <= length)
    return ordered if inside and all(a.end <= b.start for a, b in pairwise(ordered)) else None


def _part(text: MarkedText) -> _Part:
    part = _Part()
    m = len(text.spans)
    divided = [units(spans, text.length) for spans in text.spans.values()]
    part.whole = float(m * text.length)
    edges = sorted({0, text.length, *(end for one in divided for _, end, _ in one)})
    stretches = list(pairwise(edges))
    columns = []
    for spans, one in zip(text.spans.values(), divided, strict=True):
        part.overlapping += _overlapping(spans, one)
        column: list[str | None] = []
        at = 0
        for start, end, value in one:
            part.lengths[value] += end - start
            # A gap is as many units as it has characters, a unit is one (2016, equation of expected coincidences).
            part.squares += end - start if value is None else (end - start) ** 2
            while at < len(stretches) and stretches[at][1] <= end:
                column.append(value)
                at += 1
        columns.append(column)
    for place, (start, end) in enumerate(stretches):
        there = [column[place] for column in columns]
        if all(value == there[0] for value in there) and there[0] is None:
            continue
        share = (end - start) / (m - 1)
        for a, b in combinations(there, 2):
            if a != b:
                part.unlike += 2 * share
                part.unlike_marking += 2 * share * ((a is None) != (b is None))
            if a is not None and b is not None:
                part.both[a, b] += share
                part.both[b, a] += share
    for own, column in enumerate(columns):
        _add_pairable(part, divided[own], stretches, [other for at, other in enumerate(columns) if at != own], column)
    return part


def _add_pairable(
    part: _Part,
    divided: Sequence[tuple[int, int, str | None]],
    stretches: Sequence[tuple[int, int]],
    others: Sequence[Sequence[str | None]],
    column: Sequence[str | None],
) -> None:
    """The squared length of each unit that can be paired: a stretch counts by the share of others who marked it.

    So the published example has cu alpha .724; with whole lengths it would be .728.
    """
    at = 0
    for _, end, value in divided:
        length = 0.0
        while at < len(stretches) and stretches[at][1] <= end:
            if value is not None:
                marked = sum(other[at] is not None for other in others)
                length += (stretches[at][1] - stretches[at][0]) * marked / len(others)
            at += 1
        if value is not None:
            part.both_squares[value] += length**2


def _overlapping(spans: Sequence[Mark], divided: Sequence[tuple[int, int, str | None]]) -> int:
    distinct = {(span.place, span.label) for span in spans}
    if sum(end - start for (start, end), _ in distinct) == sum(e - s for s, e, value in divided if value is not None):
        return 0
    return sum(
        end - start
        for start, end, value in divided
        if value is not None and sum(place[0] <= start and place[1] >= end for place, _ in distinct) > 1
    )


def _u_alpha(sums: Floats, of_value: Floats) -> Floats:
    whole, squares, unlike = sums[:, :3].T
    return _alphas(unlike, whole, squares, (of_value**2).sum(axis=1))


def _binary(sums: Floats) -> Floats:
    whole, squares, _, unlike, gap = sums.T
    return _alphas(unlike, whole, squares, gap**2 + (whole - gap) ** 2)


def _alphas(unlike: Floats, whole: Floats, squares: Floats, same: Floats) -> Floats:
    """1 - D_o / D_e, where pairs of unlike values may be expected l_c l_k l / (l² - the squares of units) long."""
    expected = whole * (whole**2 - same)
    known = expected > 1e-12 * whole**3
    return np.where(known, 1 - unlike * (whole**2 - squares) / np.where(known, expected, 1.0), np.nan)


def _coding_sums(parts: Sequence[_Part], values: Sequence[str]) -> Floats:
    """(texts, 3 + values): all coincidences of marked text, unlike ones, squares of units, and lengths by value."""
    place = {value: at for at, value in enumerate(values)}
    table = np.zeros((len(parts), 3 + len(values)))
    for row, part in zip(table, parts, strict=True):
        for (a, b), length in part.both.items():
            row[0] += length
            row[1] += length * (a != b)
            row[3 + place[a]] += length
        row[2] = sum(part.both_squares.values())
    return table


def _coding(added: Floats) -> Floats:
    whole, unlike, squares = added[:, 0], added[:, 1], added[:, 2]
    return _alphas(unlike, whole, squares, (added[:, 3:] ** 2).sum(axis=1))


def _of_label(parts: Sequence[_Part], label: str) -> Figure:
    """(k)u alpha of one label: over its stretches that another annotator marked too."""
    n = sum(part.lengths[label] > 0 for part in parts)
    own = sum(length for part in parts for (a, _), length in part.both.items() if a == label)
    whole = sum(length for part in parts for length in part.both.values())
    unlike = own - sum(part.both.get((label, label), 0.0) for part in parts)
    squares = sum(part.both_squares.get(label, 0.0) for part in parts)
    if own == 0:
        return Figure(None, n, why="no other annotator marked anything where this label stands")
    # Expected coincidences of this label with itself and with any, both over the same denominator.
    itself, anything = own**2 - squares, own * whole - squares
    if anything <= itself:
        return Figure(None, n, why="no other label stands where two annotators marked something")
    return Figure(1 - (unlike / own) * anything / (anything - itself), n)


def _figure(value: float, n: int, why: str) -> Figure:
    return Figure(None, n, why=why) if np.isnan(value) else Figure(float(value), n)
