"""Strict, exact, partial and type matches of spans, and characters, beside SEER's F1.

Source: SemEval-2013 task 9.1 (Segura-Bedmar, Martínez and Herrero-Zazo 2013, section 3), which takes its five kinds of
match from MUC (Chinchor and Sundheim 1993): correct, incorrect, partial, missing, spurious. As in the package
nervaluate, precision is `(COR + PAR / 2) / ACT` and recall `(COR + PAR / 2) / POS`, where only the partial scheme has
PAR; ACT is the number of predicted spans and POS that of gold ones.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from emotui.metrics.span_errors import Facts
from emotui.metrics.span_scoring import SampleDetail
from emotui.metrics.states import Floats
from emotui.records import Mark, Span, SpanSample

SCHEMES = ("strict", "exact", "partial", "type")
"""Strict: the place and the label are equal; exact: the place; partial: some character is shared; type: some character
is shared and the label is equal.
"""

TOLERANCE = 1
"""Words by which either border may be off in `tolerant`."""


class Placed(msgspec.Struct, frozen=True):
    """A span by its place; None: it stands nowhere in the text, and is spurious. `label` None: it has none."""

    place: Span | None
    label: str | None = None


class Matches(msgspec.Struct):
    """Counts over spans: correct, incorrect, partial, missing, spurious."""

    correct: int = 0
    incorrect: int = 0
    partial: int = 0
    missing: int = 0
    spurious: int = 0


def count_matches(gold: Sequence[Placed], predicted: Sequence[Placed]) -> dict[str, Matches]:
    """The kinds of match of one text by each of `SCHEMES`.

    Spans are paired one to one, so that no span is counted twice: as many equal places with equal labels as there are,
    then equal places, then the pairs that share most characters. What is left shares none and is missing or spurious.
    """
    found = {scheme: Matches() for scheme in SCHEMES}
    pairs = _paired(gold, predicted)
    for g, p in pairs:
        exact, same = gold[g].place == predicted[p].place, gold[g].label == predicted[p].label
        right = {"strict": exact and same, "exact": exact, "partial": exact, "type": same}
        for scheme, matches in found.items():
            if right[scheme]:
                matches.correct += 1
            elif scheme == "partial":
                matches.partial += 1
            else:
                matches.incorrect += 1
    for matches in found.values():
        matches.missing, matches.spurious = len(gold) - len(pairs), len(predicted) - len(pairs)
    return found


def tolerant_matches(gold: Sequence[Placed], predicted: Sequence[Placed], edges: Sequence[int]) -> int:
    """The greatest number of one-to-one pairs that overlap and whose borders differ by at most `TOLERANCE` words.

    Args:
        edges: where the words of the text begin, in order.
    """
    return len(_assigned(gold, predicted, lambda g, p: int(shared(g, p) > 0 and _is_near(g, p, edges))))


def _is_near(one: Span, other: Span, edges: Sequence[int]) -> bool:
    """Are both borders at most `TOLERANCE` words off?"""
    return all(abs(bisect_left(edges, one[at]) - bisect_left(edges, other[at])) <= TOLERANCE for at in (0, 1))


def shared(one: Span, other: Span) -> int:
    """How many characters two places share."""
    return max(0, min(one[1], other[1]) - max(one[0], other[0]))


def characters(spans: Iterable[Placed]) -> set[int]:
    """The characters of a text that some span covers."""
    return {at for span in spans if span.place for at in range(*span.place)}


def _paired(gold: Sequence[Placed], predicted: Sequence[Placed]) -> list[tuple[int, int]]:
    """An assignment of greatest weight.

    Equal labels of an equal place come before equal places, these before overlap, and of equal overlap the pair with
    equal labels.
    """
    return _assigned(gold, predicted, None)


def _assigned(
    gold: Sequence[Placed], predicted: Sequence[Placed], weigh: Callable[[Span, Span], int] | None
) -> list[tuple[int, int]]:
    from scipy.optimize import linear_sum_assignment

    places = [span.place for span in (*gold, *predicted) if span.place]
    if not gold or not predicted or not places:
        return []
    # Overlaps of one text sum to no more than `most`, so no number of overlaps outweighs one equal place.
    most = 2.0 * (1 + sum(end - start for start, end in places))
    weights = np.zeros((len(gold), len(predicted)))
    for i, g in enumerate(gold):
        for j, p in enumerate(predicted):
            if g.place is None or p.place is None:
                continue
            if weigh is not None:
                weights[i, j] = weigh(g.place, p.place)
            elif common := shared(g.place, p.place):
                same, equal = g.label == p.label, g.place == p.place
                weights[i, j] = 2 * common + same / (1 + len(gold)) + equal * most * (1 + len(gold) * same)
    rows, columns = linear_sum_assignment(weights, maximize=True)
    return [(int(i), int(j)) for i, j in zip(rows, columns, strict=True) if weights[i, j] > 0]


def matching_report(
    gold: Sequence[SpanSample], details: Sequence[SampleDetail | Facts], *, labelled: bool
) -> dict[str, Any]:
    """`semeval` by scheme (the sums over texts of `Matches`), `characters`, `tolerant` and `soft`, of one repeat.

    The last three have `precision`, `recall` and `f1`. `characters`: those inside gold against those inside predicted
    spans (Pavlopoulos et al. 2021, SemEval-2021 task 5, here summed over texts). `tolerant`: spans that overlap with
    borders at most `TOLERANCE` words off. `soft`: characters again, each of gold counted by the share of the text's
    annotators who mark it, over texts that two or more annotated; left out where there are none.

    A span that an answer gives again counts once; one that stands nowhere is spurious, and has no characters. A text
    whose answer is void has no predicted span.

    Args:
        gold: of each answer its text.
        labelled: whether both sides have labels; without them strict and type are left out, as the other two.
    """
    table = matching_table(gold, details)
    sums = table.sum(axis=0)
    figures: dict[str, Any] = {"semeval": {}}
    for name, (above, below) in matching_parts(table, labelled=labelled).items():
        group, _, figure = name.rpartition(".")
        under = figures["semeval"] if group.startswith("semeval.") else figures
        whole = float(below.sum())
        under.setdefault(group.rpartition(".")[2], {})[figure] = float(above.sum()) / whole if whole else None
    kinds = Matches.__struct_fields__
    for scheme, found in figures["semeval"].items():
        at = len(kinds) * SCHEMES.index(scheme)
        found |= {kind: int(count) for kind, count in zip(kinds, sums[at : at + len(kinds)], strict=True)}
    figures["tolerant"]["words"] = TOLERANCE
    if "soft" in figures:
        figures["soft"]["texts"] = int(sums[-1])
    return figures


def has_labels(details: Sequence[SampleDetail | Facts]) -> bool:
    """Whether spans have labels on both sides."""
    return any(one.gold_labels for one in details) and any(one.predicted_labels for one in details)


def matching_names(gold: Sequence[SpanSample], *, labelled: bool) -> list[str]:
    """The names of `matching_parts`."""
    schemes = [f"semeval.{scheme}" for scheme in SCHEMES if labelled or scheme in ("exact", "partial")]
    soft = ["soft"] if any(len(sample.annotators) > 1 for sample in gold) else []
    groups = [*schemes, "characters", "tolerant", *soft]
    return [f"{group}.{figure}" for group in groups for figure in ("precision", "recall", "f1")]


def matching_parts(table: Floats, *, labelled: bool) -> dict[str, tuple[Floats, Floats]]:
    """Of each figure, by its name, what each text adds above and below the line. Args: table: `matching_table`."""
    groups: dict[str, tuple[Floats, Floats, Floats]] = {}  # what is right, of what is predicted, of what is gold
    size = len(Matches.__struct_fields__)
    for at, scheme in enumerate(SCHEMES):
        correct, incorrect, partial, missing, spurious = table[:, at * size : (at + 1) * size].T
        both = correct + incorrect + partial
        if labelled or scheme in ("exact", "partial"):
            groups[f"semeval.{scheme}"] = correct + partial / 2, both + spurious, both + missing
    common, covered, gold_covered, near, spans, gold_spans, *soft, annotated = table[:, len(SCHEMES) * size :].T
    groups["characters"] = common, covered, gold_covered
    groups["tolerant"] = near, spans, gold_spans
    if annotated.any():
        groups["soft"] = soft[0], soft[1], soft[2]
    parts: dict[str, tuple[Floats, Floats]] = {}
    for name, (right, predicted, gold) in groups.items():
        parts |= {f"{name}.precision": (right, predicted), f"{name}.recall": (right, gold)}
        parts[f"{name}.f1"] = 2 * right, predicted + gold
    return parts


def matching_table(gold: Sequence[SpanSample], details: Sequence[SampleDetail | Facts]) -> Floats:
    """What each answer adds to the figures.

    Args:
        gold: of each answer its text.

    Returns:
        (answers, columns): the `Matches` by each scheme; characters in common, predicted and gold; pairs within the
        tolerance, predicted and gold spans; and of texts that two or more annotated the shares of annotators over
        predicted characters, how many these are, all such shares, and 1.
    """
    both = list(zip(gold, details, strict=True))
    blocks = [_block(both[start : start + _AT_ONCE]) for start in range(0, len(both), _AT_ONCE)]
    return np.concatenate([np.zeros((0, _SCHEMES + 10)), *blocks])


_AT_ONCE = 4096
"""Texts whose spans are laid out in arrays together."""

_SCHEMES = len(SCHEMES) * len(Matches.__struct_fields__)
"""Columns of `matching_table` before that of characters in common."""


class _Side:
    """The spans of several texts in arrays, by text: where they begin and end, 0 and 0 for one without a place."""

    def __init__(self, texts: Sequence[Sequence[Placed]], codes: dict[str | None, int]) -> None:
        spans = [span for text in texts for span in text]
        self.n = np.array([len(text) for text in texts], dtype=np.int64)
        self.text = np.repeat(np.arange(len(texts)), self.n)
        self.first = np.cumsum(self.n) - self.n
        places = np.array([span.place or (0, 0) for span in spans], dtype=np.int64).reshape(-1, 2)
        self.start, self.end = places.T
        self.label = np.array([codes.setdefault(span.label, len(codes)) for span in spans], dtype=np.int64)

    def stretches(self, base: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where the characters that some span covers begin and end, with all texts in one line.

        Args:
            base: (texts,) where each text begins in it.
        """
        some = self.end > self.start
        start, end = (one[some] + base[self.text[some]] for one in (self.start, self.end))
        order = np.argsort(start, kind="stable")
        start, reach = start[order], np.maximum.accumulate(end[order])
        opens = np.ones(len(start), dtype=bool)
        opens[1:] = start[1:] > reach[:-1]
        return start[opens], reach[np.append(opens[1:], True)] if len(reach) else reach


def _block(both: Sequence[tuple[SpanSample, SampleDetail | Facts]]) -> Floats:
    """Rows of `matching_table`. What overlaps by one and one in a text is paired so; only other texts are assigned."""
    n = len(both)
    own, said = [placed(sample.spans or ()) for sample, _ in both], [predicted_places(detail) for _, detail in both]
    codes: dict[str | None, int] = {}
    g, p = _Side(own, codes), _Side(said, codes)
    table = np.zeros((n, _SCHEMES + 10))

    # Every gold span of a text beside every predicted one, and of these pairs those that share a character.
    sizes = g.n * p.n
    text = np.repeat(np.arange(n), sizes)
    at = np.arange(len(text)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    i, j = g.first[text] + at // p.n[text], p.first[text] + at % p.n[text]
    meets = np.minimum(g.end[i], p.end[j]) > np.maximum(g.start[i], p.start[j])
    text, i, j = text[meets], i[meets], j[meets]
    several = (np.bincount(i, minlength=len(g.text))[i] > 1) | (np.bincount(j, minlength=len(p.text))[j] > 1)
    tangled = np.zeros(n, dtype=bool)
    tangled[text[several]] = True
    alone = ~tangled[text]
    text, i, j = text[alone], i[alone], j[alone]

    exact, same = (g.start[i] == p.start[j]) & (g.end[i] == p.end[j]), g.label[i] == p.label[j]
    pairs = np.bincount(text, minlength=n)
    right = {"strict": exact & same, "exact": exact, "partial": exact, "type": same}
    for scheme, correct in right.items():
        place = SCHEMES.index(scheme) * len(Matches.__struct_fields__)
        hits = np.bincount(text[correct], minlength=n)
        rest = (pairs - hits, 0 * pairs)  # incorrect, partial
        table[:, place : place + 5] = np.stack(
            [hits, *(rest[::-1] if scheme == "partial" else rest), g.n - pairs, p.n - pairs], axis=1
        )
    near = exact.copy()
    for k in np.flatnonzero(~exact).tolist():
        edges = word_starts(both[text[k]][0].text)
        near[k] = _is_near((g.start[i[k]], g.end[i[k]]), (p.start[j[k]], p.end[j[k]]), edges)
    table[:, _SCHEMES + 3] = np.bincount(text[near], minlength=n)
    for k in np.flatnonzero(tangled).tolist():
        counted = count_matches(own[k], said[k]).values()
        table[k, :_SCHEMES] = [count for matches in counted for count in msgspec.structs.astuple(matches)]
        table[k, _SCHEMES + 3] = tolerant_matches(own[k], said[k], word_starts(both[k][0].text))

    table[:, _SCHEMES : _SCHEMES + 3] = _covered(g, p, n)
    table[:, _SCHEMES + 4], table[:, _SCHEMES + 5] = p.n, g.n
    for k, (sample, _) in enumerate(both):
        if len(sample.annotators) > 1:
            table[k, -4:] = _soft(sample, characters(said[k]))
    return table


def _covered(g: _Side, p: _Side, n: int) -> Floats:
    """(n, 3): the characters of each text that both cover, that predicted and that gold spans cover."""
    ends = np.zeros(n, dtype=np.int64)
    for side in (g, p):
        np.maximum.at(ends, side.text, side.end)
    base = np.cumsum(ends + 1) - ends - 1
    (own, own_end), (said, said_end) = g.stretches(base), p.stretches(base)
    before = np.append(0, np.cumsum(own_end - own))

    def below(at: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many characters of gold spans stand before each place."""
        k = np.searchsorted(own, at, side="right")
        open_still = np.maximum(np.append(0, own_end)[k] - at, 0)
        return np.asarray(before[k] - open_still, dtype=np.int64)

    def by_text(starts: NDArray[np.int64], n_of: NDArray[np.int64]) -> Floats:
        text = np.searchsorted(base, starts, side="right") - 1
        return np.bincount(text, n_of, minlength=n).astype(np.float64)

    common = by_text(said, below(said_end) - below(said))
    return np.stack([common, by_text(said, said_end - said), by_text(own, own_end - own)], axis=1)


def _soft(sample: SpanSample, theirs: set[int]) -> tuple[float, float, float, float]:
    marking = [characters(placed(marks)) for marks in sample.annotators.values()]
    shares = {at: sum(at in one for one in marking) / len(marking) for at in set().union(*marking)}
    return sum(shares.get(at, 0.0) for at in theirs), len(theirs), sum(shares.values()), 1.0


def placed(marks: Sequence[Mark]) -> list[Placed]:
    """Gold spans by their places; one given twice with one label counts once."""
    return [Placed(*one) for one in dict.fromkeys((mark.place, mark.label) for mark in marks)]


def predicted_places(detail: SampleDetail | Facts) -> list[Placed]:
    """The predicted spans of a scored answer, each once."""
    if detail.void:
        return []
    labels = detail.predicted_labels or (None,) * len(detail.located)
    return [
        Placed(place, label)
        for at, (place, label) in enumerate(zip(detail.located, labels, strict=True))
        if at not in detail.repeated
    ]


_WORD = re.compile(r"\S+")


def word_starts(text: str) -> list[int]:
    """Where the words of a text begin: what stands between white space."""
    return [word.start() for word in _WORD.finditer(text)]
