"""Where the caret stands, what is selected, which span is chosen: what keys move, without a screen and without a store.

The caret covers a unit: a word, a grapheme, a clause or a sentence. A selection reaches from the unit where it was
begun to the caret. At most one span is chosen: the one that borders, labels and removal are about.
"""

from collections.abc import Collection, Sequence
from itertools import pairwise
from operator import is_

from emotui.records import Span
from emotui.screens.annotate.units import TextUnits
from emotui.workbench.annotate.answers import SpanMark

# Hint letters: one or two letters for each place that can be chosen, the shortest for the nearest.

ROW = "asdfjklgheiruwotypqcvnmbxz"
"""Letters as they lie under the fingers: the home row first."""

_LEAST = 4
"""Letters without which digits come to help."""

_TIGHT = 2
"""Characters that a code of two letters takes from its start on, with nothing left before the next."""


def alphabet(taken: Collection[str]) -> str:
    """The letters that hints are made of: none that is a key of a label, in capitals or not."""
    avoided = {key.lower() for key in taken}
    letters = "".join(letter for letter in ROW if letter not in avoided)
    return letters if len(letters) >= _LEAST else letters + "1234567890"


def codes(n: int, letters: str) -> list[str]:
    """`n` codes of which none begins another, shortest first; of the same length those of earlier letters first."""
    if n <= 0:
        return []
    found = list(letters)
    while len(found) < n:
        # As few codes grow as give room for all: the last of the shortest, which are the hardest to reach.
        shortest = len(found[0])
        short = sum(len(code) == shortest for code in found)
        grown = min(-(-(n - len(found)) // (len(letters) - 1)), short)
        long = [code + letter for code in found[short - grown : short] for letter in letters]
        found = found[: short - grown] + found[short:] + long
    return found[:n]


def hints(starts: Sequence[int], near: int, letters: str) -> dict[str, int]:
    """A code for each of these offsets, which stand in text order.

    Those that the next one follows within two characters (the word `I`, say) have the shortest codes, so that two codes
    seldom touch; then those nearest to `near`.
    """
    tight = {start for start, following in pairwise(starts) if following - start <= _TIGHT}
    by_need = sorted(starts, key=lambda start: (start not in tight, abs(start - near), start))
    return dict(zip(codes(len(by_need), letters), by_need, strict=True))


WORD, CHARACTER, CLAUSE, SENTENCE = "word", "character", "clause", "sentence"


class Marking:
    """Over one text. `spans` are those of the answer, in order, as they are now."""

    def __init__(self, units: TextUnits, spans: Sequence[SpanMark] = ()) -> None:
        self.units = units
        self.spans: tuple[SpanMark, ...] = tuple(spans)
        self.caret: Span | None = units.word_at(0) or units.grapheme_at(0)
        self.chosen: str | None = None
        self.hints: dict[str, int] = {}
        self.dealt: dict[int, str] = {}
        self.typed = ""
        self._anchor: Span | None = None
        self._dragged: Span | None = None
        self._under: tuple[tuple[object, ...], SpanMark | None] = ((None, None, None), None)

    def take(self, spans: Sequence[SpanMark]) -> None:
        """The spans are these now, in the order of the text; one that is gone is no longer chosen.

        Of spans in one place those that come first here stay first.
        """
        self.spans = tuple(sorted(spans, key=lambda span: (span.start, -span.end)))
        if self.chosen_span is None:
            self.chosen = None

    @property
    def at(self) -> int:
        """The offset of the caret."""
        return 0 if self.caret is None else self.caret[0]

    # Selecting.

    @property
    def selecting(self) -> bool:
        """Is a span begun that has no label yet?"""
        return self._anchor is not None or self._dragged is not None

    @property
    def waits_for_label(self) -> bool:
        """Is a span begun and ended, by letters or the mouse, so that nothing but its label is to come?"""
        return self._dragged is not None

    @property
    def selection(self) -> Span | None:
        """What a label's key would mark while one selects, without white space at its ends."""
        if self._dragged is not None:
            return self._dragged
        if self._anchor is None or self.caret is None:
            return None
        start, end = min(self._anchor[0], self.caret[0]), max(self._anchor[1], self.caret[1])
        return self.units.snapped(start, end)

    @property
    def stretch(self) -> Span | None:
        """What a label's key would mark now: the selection, else the unit under the caret."""
        if self.selecting:
            return self.selection
        return None if self.caret is None else self.units.snapped(*self.caret)

    def begin(self) -> None:
        """Begin a span at the caret."""
        self.chosen = None
        self._dragged, self._anchor = None, self.caret

    def select(self, start: int, end: int, *, words: bool = True) -> None:
        """Select what was dragged over, in whole words or in graphemes."""
        found = self.units.snapped_to_words(start, end) if words else self.units.snapped(start, end)
        if found is not None:
            self.chosen, self._anchor = None, None
            self._dragged = self.caret = found

    def drop(self) -> bool:
        """Leave hints, the selection, the chosen span, whichever there is first; says whether there was one."""
        if self.hints or self.selecting:
            self.hints, self.typed = {}, ""
            self._anchor = self._dragged = None
            return True
        left, self.chosen = self.chosen is not None, None
        return left

    def close(self, made: str | None) -> None:
        """The selection has become this span, which is chosen now."""
        self._anchor = self._dragged = None
        self.hints, self.typed = {}, ""
        self.chosen = made

    # Hints.

    def show_hints(self, starts: Sequence[int], letters: str, *, go_on: bool = False) -> None:
        """Deal letters to these places: the first one chosen begins a span, the second ends it.

        Args:
            go_on: a span that is begun stays so, and the letters are for its end.
        """
        if not go_on:
            self._anchor = self._dragged = self.chosen = None
        self.typed = ""
        self.hints = hints(starts, self.at, letters)
        self.dealt = {at: code for code, at in self.hints.items()}

    @property
    def ends_hinted(self) -> bool:
        """Do the letters stand for the end of a span?"""
        return bool(self.hints) and self._anchor is not None

    def type_hint(self, letter: str) -> bool | None:
        """A letter of a hint is typed: None where no hint goes on with it, True where the end is chosen by it.

        Words keep their letters from the start to the end, so that both can be read before either is typed.
        """
        typed = self.typed + letter.lower()
        if not any(code.startswith(typed) for code in self.hints):
            return None
        self.typed = typed
        if typed not in self.hints:
            return False
        here = self.units.word_at(self.hints[typed])
        ending = self._anchor is not None
        dealt, self.hints, self.typed = self.hints, {}, ""
        self.caret = here
        if ending:
            self._dragged, self._anchor = self.selection, None
            return True
        self._anchor = here
        if here is not None:
            self.hints = {code: at for code, at in dealt.items() if at >= here[0]}
        return False

    # The caret.

    def put(self, at: int) -> None:
        """Put the caret on the word at an offset."""
        self.caret = self.units.word_at(at) or self.units.grapheme_at(at)
        self.chosen, self._dragged = None, None

    def go_to(self, at: int) -> None:
        """Move the caret to the word at an offset; a span that was begun reaches there."""
        if self._dragged is not None:
            self._anchor, self._dragged = self._dragged, None
        self.caret = self.units.word_at(at) or self.units.grapheme_at(at)
        self.chosen = None

    def move(self, unit: str, step: int) -> bool:
        """Move the caret by one unit; says whether there was one."""
        caret, units = self.caret, self.units
        if caret is None:
            return False
        if self._dragged is not None:
            self._anchor, self._dragged = self._dragged, None
        match unit:
            case "word":
                found = units.next_word(caret[0]) if step > 0 else units.previous_word(caret[0])
            case "clause":
                found = units.next_clause(caret[0]) if step > 0 else units.previous_clause(caret[0])
                here = units.clause_at(caret[0])
                # The clause that the caret is in comes first.
                if here is not None and here != caret and here[0] <= caret[0] < here[1]:
                    found = here
            case "sentence":
                found = units.next_sentence(caret[0]) if step > 0 else units.previous_sentence(caret[0])
                here = units.sentence_at(caret[0])
                if here is not None and here != caret and here[0] <= caret[0] < here[1]:
                    found = here
            case _:
                found = self._by_character(caret, step)
        self.chosen = None
        if found is None or found == caret:
            return False
        self.caret = found
        return True

    def _by_character(self, caret: Span, step: int) -> Span | None:
        """The next grapheme; with a span begun, the one up to which it reaches then."""
        units, length = self.units, len(self.units.text)
        if self._anchor is None:
            at = caret[0] - 1
            if step > 0:
                first = units.grapheme_at(caret[0])
                at = length if first is None else first[1]
            return units.grapheme_at(at) if 0 <= at < length else None
        start, end = min(self._anchor[0], caret[0]), max(self._anchor[1], caret[1])
        forward = caret[0] >= self._anchor[0]
        # What was begun with a word or a clause may be cut short within it: only its first grapheme stays.
        self._anchor = units.grapheme_at(start if forward else end - 1)
        edge = units.grapheme_at(end - 1 if forward else start)
        if edge is None:
            return None
        at = edge[1] if step > 0 else edge[0] - 1
        return units.grapheme_at(at) if (start <= at if forward else at < end) and 0 <= at < length else None

    # The spans.

    @property
    def chosen_span(self) -> SpanMark | None:
        """The span that is chosen."""
        return next((span for span in self.spans if span.id == self.chosen), None)

    @property
    def under(self) -> SpanMark | None:
        """The span that borders and removal are about: the chosen one, else the shortest around the caret."""
        known = (self.spans, self.at, self.chosen)
        if not all(map(is_, known, self._under[0])):
            around = [span for span in self.spans if span.start <= self.at < span.end]
            found = self.chosen_span or min(around, key=lambda span: span.end - span.start, default=None)
            self._under = known, found
        return self._under[1]

    def choose(self, id: str) -> None:
        """Choose a span; the caret goes to its first word."""
        self.chosen, self._anchor, self._dragged = id, None, None
        span = self.chosen_span
        if span is not None:
            word = self.units.word_at(span.start)
            within = word is not None and span.start <= word[0] < span.end
            self.caret = word if within else self.units.grapheme_at(span.start)

    def walks(self, step: int) -> bool:
        """Is there a span to go on to? Past the last one there is none, nor before the first."""
        here = self.chosen_span
        return bool(self.spans) if here is None else 0 <= self.spans.index(here) + step < len(self.spans)

    def walk(self, step: int) -> bool:
        """Choose the next span or the one before, in the order of the text, in a circle; says whether there is any."""
        if not self.spans:
            return False
        here = self.chosen_span
        if here is not None:
            at = self.spans.index(here) + step
        elif step > 0:
            at = next((place for place, span in enumerate(self.spans) if span.start >= self.at), 0)
        else:
            before = [place for place, span in enumerate(self.spans) if span.start < self.at]
            at = before[-1] if before else -1
        self.choose(self.spans[at % len(self.spans)].id)
        return True

    def moved(self, span: SpanMark, border: str, step: int) -> Span | None:
        """Where a span stands once its start or its end has moved by a word; None where it cannot.

        Where less than a word would be left, the border moves by a character.
        """
        units, start, end = self.units, span.start, span.end
        word: Span | None
        if border == "start":
            word = units.next_word(start) if step > 0 else units.previous_word(start)
            found = None if word is None else (word[0], end)
        else:
            last = units.previous_word(end)
            if step > 0:
                word = last if last is not None and last[1] > end else units.next_word(end - 1)
            else:
                word = last if last is not None and last[1] < end else units.previous_word(last[0]) if last else None
            found = None if word is None else (start, word[1])
        return found if found is not None and found[0] < found[1] and found != span.mark.place else None
