"""Where in a text the spans stand that a model wrote."""

import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence

from emotui.metrics.tokens import Origins, fold, normalise
from emotui.records import Span


def locate(text: str, spans: Sequence[str]) -> tuple[Span | None, ...]:
    """Offsets of each span in the text, without case and punctuation.

    A span stands at the leftmost occurrence that begins and ends on word edges and that no equal span before it in the
    list has taken; where there is none, at the leftmost occurrence of any kind that none has taken; else nowhere
    (None), and so does one of which nothing but punctuation is left. Spans that differ may overlap. A word edge is
    where letters, digits and their combining marks do not stand on both sides; an occurrence is taken by one that it
    shares a character with.

    Returns:
        one `(start, end)` or None a span. `normalise(text[start:end]) == normalise(span)` for each that is found.
    """
    folded, origins = fold(text)
    return locate_folded(text, folded, origins, [normalise(span) for span in spans])


def places_as_written(text: str, words: str) -> tuple[Span, ...]:
    """Where words stand in a text letter by letter, the leftmost first.

    Those on word edges (see `locate`) where there are any, else all.
    """
    found = []
    at = text.find(words) if words else -1
    while at >= 0:
        found.append((at, at + len(words)))
        at = text.find(words, at + 1)
    return tuple(place for place in found if on_word_edges(text, place)) or tuple(found)


def on_word_edges(text: str, place: Span) -> bool:
    """Whether a place begins and ends no word in its middle."""
    return _edge(text, place[0]) and _edge(text, place[1])


def locate_folded(text: str, folded: str, origins: Origins, spans: Sequence[str]) -> tuple[Span | None, ...]:
    """As `locate`, with the text (`fold`) and the spans (`normalise`) folded already."""
    if len(set(spans)) == len(spans):
        return tuple([_place(text, folded, origins, span) for span in spans])
    places = {span: _places(text, folded, origins, span, n) for span, n in Counter(spans).items()}
    return tuple([next(places[span], None) for span in spans])


def _place(text: str, folded: str, origins: Origins, span: str) -> Span | None:
    """Where a span stands that has no equal."""
    found = None
    for at, last in _occurrences(text, folded, origins, span):
        place = (origins[at], origins[last - 1] + 1)
        if on_word_edges(text, place):
            return place
        found = found or place
    return found


def _places(text: str, folded: str, origins: Origins, span: str, wanted: int) -> Iterator[Span]:
    """Where one span and those equal to it stand, in the order in which they take their places; `wanted` at most."""
    taken: list[Span] = []
    inside: list[tuple[int, int]] = []
    for at, last in _occurrences(text, folded, origins, span):
        place = (origins[at], origins[last - 1] + 1)
        if not on_word_edges(text, place):
            inside.append(place)
        elif not taken or taken[-1][1] <= place[0]:
            taken.append(place)
            yield place
            if len(taken) == wanted:
                return
    for place in inside:
        if all(place[1] <= start or end <= place[0] for start, end in taken):
            taken.append(place)
            yield place


def _occurrences(text: str, folded: str, origins: Origins, span: str) -> Iterator[tuple[int, int]]:
    """All places of a string in the folded text, from the left, overlapping ones too."""
    whole = text.isascii()
    at = folded.find(span) if span else -1
    while at >= 0:
        last = at + len(span)
        # Half of a character that lower-cases to two is no occurrence: there is no offset inside it.
        if whole or (
            (at == 0 or origins[at - 1] != origins[at]) and (last == len(origins) or origins[last - 1] != origins[last])
        ):
            yield at, last
        at = folded.find(span, at + 1)


def _edge(text: str, at: int) -> bool:
    if at == 0 or at == len(text):
        return True
    before, after = text[at - 1], text[at]
    return before == " " or after == " " or not (_of_word(before) and _of_word(after))


def _of_word(character: str) -> bool:
    return character.isalnum() or (not character.isascii() and unicodedata.category(character).startswith("M"))
