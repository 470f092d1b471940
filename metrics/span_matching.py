"""Strict, exact, partial and type matches of spans, and characters, beside SEER's F1.

Source: SemEval-2013 task 9.1 (Segura-Bedmar, Martínez and Herrero-Zazo 2013, section 3), which takes its five kinds of
match from MUC (Chinchor and Sundheim 1993): correct, incorrect, partial, missing, spurious. As in the package
nervaluate, precision is `(COR + PAR / 2) / ACT` and recall `(COR + PAR / 2) / POS`, where only the partial scheme has
PAR; ACT is the number of predicted spans and POS that of gold ones.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec
import numpy as np

from emotui.metrics.span_scoring import SampleDetail
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

    def figures(self) -> dict[str, int | float | None]:
        """The counts, with precision, recall and F1 (None over nothing)."""
        possible = self.correct + self.incorrect + self.partial + self.missing
        actual = self.correct + self.incorrect + self.partial + self.spurious
        right = self.correct + self.partial / 2
        return {
            "precision": right / actual if actual else None,
            "recall": right / possible if possible else None,
            "f1": 2 * right / (actual + possible) if actual + possible else None,
            **msgspec.structs.asdict(self),
        }


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

    def near(one: Span, other: Span) -> bool:
        starts, ends = (np.searchsorted(edges, (one[at], other[at])) for at in (0, 1))
        shift = max(abs(int(starts[0]) - int(starts[1])), abs(int(ends[0]) - int(ends[1])))
        return shared(one, other) > 0 and shift <= TOLERANCE

    return len(_assigned(gold, predicted, lambda g, p: int(near(g, p))))


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


def matching_report(gold: Sequence[SpanSample], details: Sequence[SampleDetail]) -> dict[str, Any]:
    """`semeval` by scheme (the sums over texts of `Matches`), `characters`, `tolerant` and `soft`.

    The last three have `precision`, `recall` and `f1`. `characters`: those inside gold against those inside predicted
    spans (Pavlopoulos et al. 2021, SemEval-2021 task 5, here summed over texts). `tolerant`: spans that overlap with
    borders at most `TOLERANCE` words off. `soft`: characters again, each of gold counted by the share of the text's
    annotators who mark it, over texts that two or more annotated; left out where there are none. Strict and type are
    left out unless both sides have labels: without them they are the other two.

    Repeats are pooled. A span that an answer gives again counts once; one that stands nowhere is spurious, and has no
    characters. A text whose answer is void has no predicted span.
    """
    sample_of = {sample.id: sample for sample in gold}
    totals = {scheme: Matches() for scheme in SCHEMES}
    soft = np.zeros(3)
    annotated = 0
    near = spans = gold_spans = common = covered = gold_covered = 0
    for detail in details:
        sample = sample_of[detail.id]
        own = placed(sample.spans or ())
        said = predicted_places(detail)
        for scheme, matches in count_matches(own, said).items():
            total = totals[scheme]
            for name in Matches.__struct_fields__:
                setattr(total, name, getattr(total, name) + getattr(matches, name))
        near += tolerant_matches(own, said, word_starts(sample.text))
        spans, gold_spans = spans + len(said), gold_spans + len(own)
        mine, theirs = characters(own), characters(said)
        if len(sample.annotators) > 1:
            annotated += 1
            marking = [characters(placed(marks)) for marks in sample.annotators.values()]
            shares = {at: sum(at in one for one in marking) / len(marking) for at in set().union(*marking)}
            soft += sum(shares.get(at, 0.0) for at in theirs), len(theirs), sum(shares.values())
        common, covered, gold_covered = common + len(mine & theirs), covered + len(theirs), gold_covered + len(mine)
    labelled = any(d.gold_labels for d in details) and any(d.predicted_labels for d in details)
    schemes = SCHEMES if labelled else ("exact", "partial")
    return {
        "semeval": {scheme: totals[scheme].figures() for scheme in schemes},
        "characters": _of_sums(common, covered, gold_covered),
        "tolerant": _of_sums(near, spans, gold_spans) | {"words": TOLERANCE},
    } | ({"soft": _of_sums(*soft.tolist()) | {"texts": annotated}} if annotated else {})


def placed(marks: Sequence[Mark]) -> list[Placed]:
    """Gold spans by their places; one given twice with one label counts once."""
    return [Placed(*one) for one in dict.fromkeys((mark.place, mark.label) for mark in marks)]


def predicted_places(detail: SampleDetail) -> list[Placed]:
    """The predicted spans of a scored answer, each once."""
    if detail.void:
        return []
    labels = detail.predicted_labels or (None,) * len(detail.located)
    return [
        Placed(place, label)
        for at, (place, label) in enumerate(zip(detail.located, labels, strict=True))
        if at not in detail.repeated
    ]


def word_starts(text: str) -> list[int]:
    """Where the words of a text begin: what stands between white space."""
    return [at for at, letter in enumerate(text) if not letter.isspace() and (at == 0 or text[at - 1].isspace())]


def _of_sums(right: float, predicted: float, gold: float) -> dict[str, float | None]:
    return {
        "precision": right / predicted if predicted else None,
        "recall": right / gold if gold else None,
        "f1": 2 * right / (predicted + gold) if predicted + gold else None,
    }
