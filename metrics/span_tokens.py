"""The tokens of a text that stand inside gold spans, against those inside predicted ones."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

import msgspec

from emotui.metrics.tokens import Origins, Words, cuts_no_word, fold, normalise, take_apart, token_places, tokens
from emotui.records import Span

_REST_OF_WORD = re.compile(r"\S*")


class TokenCounts(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Of one text: tokens inside gold spans, predicted tokens, and those that are both."""

    gold: int
    predicted: int
    shared: int


def token_counts(
    text: str, gold: Sequence[Span], predicted: Sequence[str], located: Sequence[Span | None]
) -> TokenCounts:
    """The counts of one text, by place: a token (SQuAD's) is inside a span where the two overlap, and counts once.

    A predicted span that stands nowhere in the text is wrong with all its tokens: they count as predicted.

    Args:
        located: where each predicted span stands, None where it does not.
    """
    folded, origins = fold(text)
    words = [take_apart(text[start:end]) for start, end in gold]
    return count_tokens(text, folded, origins, gold, words, located, [take_apart(span) for span in predicted])


def count_tokens(
    text: str,
    folded: str,
    origins: Origins,
    gold: Sequence[Span],
    gold_words: Sequence[Words],
    located: Sequence[Span | None],
    predicted: Sequence[Words],
) -> TokenCounts:
    """As `token_counts`, with the text folded already and the spans of both sides taken apart."""
    found, found_words, nowhere = [], [], 0
    for place, words in zip(located, predicted, strict=True):
        if place is None:
            nowhere += words.count
        else:
            found.append(place)
            found_words.append(words)
    if not gold and not found:
        return TokenCounts(0, nowhere, 0)
    if cuts_no_word(folded):
        in_gold, in_predicted, shared = _by_stretches(text, gold, gold_words, found, found_words)
    else:
        in_gold, in_predicted, shared = _one_by_one(*token_places(folded, origins), gold, found)
    return TokenCounts(in_gold, nowhere + in_predicted, shared)


def _one_by_one(
    starts: Sequence[int], ends: Sequence[int], gold: Iterable[Span], predicted: Iterable[Span]
) -> tuple[int, int, int]:
    """Tokens inside gold spans, inside predicted ones, and inside both."""
    inside_gold, inside_predicted = _inside(gold, starts, ends), _inside(predicted, starts, ends)
    return len(inside_gold), len(inside_predicted), len(inside_gold & inside_predicted)


def _inside(spans: Iterable[Span], starts: Sequence[int], ends: Sequence[int]) -> set[int]:
    """Which tokens some span overlaps, by their numbers."""
    found: set[int] = set()
    for start, end in spans:
        found.update(range(bisect_right(ends, start), bisect_left(starts, end)))
    return found


def _by_stretches(
    text: str,
    gold: Sequence[Span],
    gold_words: Sequence[Words],
    predicted: Sequence[Span],
    predicted_words: Sequence[Words],
) -> tuple[int, int, int]:
    """As `_one_by_one`, for a text without symbols and combining marks: no white-space word of it has two tokens."""
    counts: dict[Span, int] = {}
    in_gold = _stretches(text, gold, gold_words, counts)
    in_predicted = _stretches(text, predicted, predicted_words, counts)
    both = _meeting(in_gold, in_predicted)
    return _count(text, in_gold, counts), _count(text, in_predicted, counts), _count(text, both, counts)


def _stretches(text: str, spans: Sequence[Span], apart: Sequence[Words], counts: dict[Span, int]) -> list[Span]:
    """Stretches of the text that hold the words that some span touches and cut none: in order, without overlap.

    Args:
        apart: the words of each span. counts: of stretches, how many tokens they hold; those of whole spans are added.
    """
    found = []
    last = len(text)
    for span, words in zip(spans, apart, strict=True):
        start, end = span
        if start and text[start - 1] != " ":
            start = _cut(text, start)[0]
        if end < last and text[end] != " ":
            end = _cut(text, end)[1]
        if start == span[0] and end == span[1]:
            counts[span] = words.count
            found.append(span)
        else:
            found.append((start, end))
    if len(found) > 1:
        found.sort()
        return _joined(found)
    return found


def _cut(text: str, at: int) -> Span:
    """The word that an offset cuts in two, with a character of its token on both sides; the bare offset elsewhere."""
    word = _REST_OF_WORD.match(text, at)
    if word is None or not normalise(word[0]):
        return at, at
    start = at
    while start and not text[start - 1].isspace():
        start -= 1
    return (start, word.end()) if normalise(text[start:at]) else (at, at)


def _joined(stretches: Sequence[Span]) -> list[Span]:
    """Stretches in order, those that overlap made one."""
    found = []
    start, end = stretches[0]
    for stretch in stretches:
        if stretch[0] >= end:
            found.append((start, end))
            start, end = stretch
        elif stretch[1] > end:
            end = stretch[1]
    return [*found, (start, end)]


def _meeting(one: Sequence[Span], other: Sequence[Span]) -> list[Span]:
    """What lies in both of two lists of stretches, each in order and without overlap."""
    found = []
    i = j = 0
    while i < len(one) and j < len(other):
        start, end = one[i]
        other_start, other_end = other[j]
        if start < other_end and other_start < end:
            found.append((start if start > other_start else other_start, end if end < other_end else other_end))
        if end < other_end:
            i += 1
        else:
            j += 1
    return found


def _count(text: str, stretches: Iterable[Span], counts: dict[Span, int]) -> int:
    """How many tokens stretches hold that do not overlap."""
    total = 0
    for stretch in stretches:
        n = counts.get(stretch)
        total += n if n is not None else len(tokens(text[stretch[0] : stretch[1]]))
    return total
