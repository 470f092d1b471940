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
    rows = [_row(sample, detail) for sample, detail in zip(gold, details, strict=True)]
    return np.array(rows, dtype=np.float64).reshape(len(rows), len(SCHEMES) * len(Matches.__struct_fields__) + 10)


def _row(sample: SpanSample, detail: SampleDetail | Facts) -> list[float]:
    own, said = placed(sample.spans or ()), predicted_places(detail)
    row: list[float] = []
    for matches in count_matches(own, said).values():
        row += msgspec.structs.astuple(matches)
    mine, theirs = characters(own), characters(said)
    row += len(mine & theirs), len(theirs), len(mine)
    row += tolerant_matches(own, said, word_starts(sample.text)), len(said), len(own)
    if len(sample.annotators) < 2:
        return [*row, 0.0, 0.0, 0.0, 0.0]
    marking = [characters(placed(marks)) for marks in sample.annotators.values()]
    shares = {at: sum(at in one for one in marking) / len(marking) for at in set().union(*marking)}
    return [*row, sum(shares.get(at, 0.0) for at in theirs), len(theirs), sum(shares.values()), 1.0]


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


def word_starts(text: str) -> list[int]:
    """Where the words of a text begin: what stands between white space."""
    return [at for at, letter in enumerate(text) if not letter.isspace() and (at == 0 or text[at - 1].isspace())]
