"""How far two answers to one text are apart, in [0, 1]: for orders and for what has to be adjudicated."""

from collections.abc import Iterable, Sequence
from itertools import combinations

from emotui.workbench.annotate.answer import Answer, SentenceSaid, SpanMark


def distance(a: Answer, b: Answer, ranges: dict[str, float] | None = None) -> float:
    """0 where both say the same, 1 where they share nothing; the mean over what either of them says anything of.

    Spans: 1 less the F1 of the characters inside them, each counted once a label. Labels: 1 less the Jaccard index.
    Numbers: the mean difference over the length of their scale (`ranges`; without one, different or not). Sentences
    and words: the share of those that differ.
    """
    parts = []
    if a.spans or b.spans:
        parts.append(_spans(a.spans, b.spans))
    if a.labels is not None or b.labels is not None:
        parts.append(_labels(a.labels or (), b.labels or ()))
    if names := {*a.values, *b.values}:
        parts.append(_mean(_number(a.values.get(name), b.values.get(name), (ranges or {}).get(name)) for name in names))
    if places := {*a.sentences, *b.sentences}:
        nothing = SentenceSaid()
        pairs = [(a.sentences.get(place, nothing), b.sentences.get(place, nothing)) for place in places]
        parts.append(_mean(((x.emotion != y.emotion) + (x.valence != y.valence)) / 2 for x, y in pairs))
    if masks := {*a.words, *b.words}:
        parts.append(_mean(float(_word(a, mask) != _word(b, mask)) for mask in masks))
    return _mean(parts)


def spread(answers: Sequence[Answer], ranges: dict[str, float] | None = None) -> float:
    """The mean distance over all pairs of answers; 0 for fewer than two."""
    return _mean(distance(a, b, ranges) for a, b in combinations(answers, 2))


def _spans(a: Sequence[SpanMark], b: Sequence[SpanMark]) -> float:
    mine, theirs = _characters(a), _characters(b)
    return 1 - 2 * len(mine & theirs) / (len(mine) + len(theirs))


def _characters(spans: Sequence[SpanMark]) -> set[tuple[int, str | None]]:
    return {(at, span.label) for span in spans for at in range(span.start, span.end)}


def _labels(a: Sequence[str], b: Sequence[str]) -> float:
    both, either = set(a) & set(b), set(a) | set(b)
    return 1 - len(both) / len(either) if either else 0.0


def _number(a: float | None, b: float | None, length: float | None) -> float:
    if a is None or b is None:
        return 1.0
    return min(1.0, abs(a - b) / length) if length else float(a != b)


def _word(answer: Answer, mask: int) -> str:
    return answer.words.get(mask, "").strip().lower()


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found) if found else 0.0
