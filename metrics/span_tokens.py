"""The tokens of a text that stand inside gold spans, against those inside predicted ones."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

import msgspec

from emotui.metrics.tokens import Words, fold, take_apart, token_places
from emotui.records import Span


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
    return count_tokens(folded, origins, gold, [take_apart(span) for span in predicted], located)


def count_tokens(
    folded: str,
    origins: Sequence[int],
    gold: Sequence[Span],
    predicted: Sequence[Words],
    located: Sequence[Span | None],
) -> TokenCounts:
    """As `token_counts`, with the text folded already and the spans taken apart."""
    nowhere = sum([span.count for span, place in zip(predicted, located, strict=True) if place is None])
    found = [place for place in located if place is not None]
    if not gold and not found:
        return TokenCounts(0, nowhere, 0)
    starts, ends = token_places(folded, origins)
    inside_gold, inside_predicted = _inside(gold, starts, ends), _inside(found, starts, ends)
    return TokenCounts(len(inside_gold), nowhere + len(inside_predicted), len(inside_gold & inside_predicted))


def _inside(spans: Iterable[Span], starts: Sequence[int], ends: Sequence[int]) -> set[int]:
    """Which tokens some span overlaps, by their numbers."""
    found: set[int] = set()
    for start, end in spans:
        found.update(range(bisect_right(ends, start), bisect_left(starts, end)))
    return found
