"""Where in a text the spans stand that a model wrote."""

from collections.abc import Sequence

from emotui.metrics.tokens import fold, normalise


def locate(text: str, spans: Sequence[str]) -> tuple[tuple[int, int] | None, ...]:
    """Offsets of each span in the text: its leftmost occurrence not yet taken, without case and punctuation.

    An occurrence is taken if a span before it in the list shares a character with it. Where all are taken, where there
    is none, and where nothing but punctuation is left of the span, the answer is None.

    Returns:
        one `(start, end)` or None a span. `normalise(text[start:end]) == normalise(span)` for each that is found.
    """
    folded, origins = fold(text)
    return locate_folded(folded, origins, [normalise(span) for span in spans])


def locate_folded(folded: str, origins: list[int], spans: Sequence[str]) -> tuple[tuple[int, int] | None, ...]:
    """As `locate`, with text (`fold`) and spans (`normalise`) folded already."""
    found: list[tuple[int, int] | None] = []
    taken: list[tuple[int, int]] = []
    # A model that repeats itself writes the same span hundreds of times; what was taken once stays so.
    looked_to: dict[str, int] = {}
    for span in spans:
        place = None
        at = folded.find(span, looked_to.get(span, 0)) if span else -1
        while at >= 0:
            last = at + len(span)
            # Half of a character that lower-cases to two is no occurrence: there is no offset inside it.
            whole = (at == 0 or origins[at - 1] != origins[at]) and (
                last == len(origins) or origins[last - 1] != origins[last]
            )
            if whole and all(last <= start or end <= at for start, end in taken):
                taken.append((at, last))
                place = (origins[at], origins[last - 1] + 1)
                break
            at = folded.find(span, at + 1)
        looked_to[span] = at if at >= 0 else len(folded)
        found.append(place)
    return tuple(found)
