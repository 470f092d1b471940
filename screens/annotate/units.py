"""Graphemes, words, clauses and sentences of a text, as offsets `[start, end)`; worked out a block at a time.

A word is a run of letters and digits (`haven't` is one), a single sign or emoji, or in scripts without spaces what
BudouX takes for a phrase (Japanese) or a word (Chinese, Thai). Punctuation belongs to no word.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import accumulate, pairwise

import regex

from emotui.records import Span

_BLOCK = 2000
"""Characters of a block at most, unless a run without white space is longer."""

_LONGEST = 4000
"""Characters at which a block is cut even where there is no white space."""

_CLUSTER = regex.compile(r"\X")
_NO_SPACES = regex.compile(
    r"[[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{Lao}\p{Khmer}\p{Myanmar}]--[\p{P}\p{S}\s]]+", regex.V1
)
_WORD = regex.compile(
    r"(?P<no_spaces>" + _NO_SPACES.pattern + r")"
    r"|[[\p{L}\p{M}\p{N}_]--[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]]+"
    r"(?:['’\-‐.·][\p{L}\p{N}][\p{L}\p{M}\p{N}_]*)*"
    r"|(?=[\p{S}\p{Extended_Pictographic}])\X",
    regex.V1,
)
_KANA = regex.compile(r"[\p{Hiragana}\p{Katakana}]")
_THAI = regex.compile(r"\p{Thai}")
_HAN = regex.compile(r"\p{Han}")
_TRADITIONAL = frozenset("們這個國說時會來對學為麼發經過還沒後裡話與樣從愛覺開關讓")

_ABBREVIATED = r"(?<!\b(?:Mr|Mrs|Ms|Dr|Prof|St|vs|etc|e\.g|i\.e|[A-Z]))"
_SENTENCE_END = regex.compile(
    rf"(?:[.!?…]*(?:[!?…]|{_ABBREVIATED}\.)[\"'”’)\]»]*(?=\s+[^\s\p{{Ll}}]|\s*$)|[。！？｡]+[」』”）]*|\n)", regex.V1
)
_CLAUSE_END = regex.compile(r"(?:[,;:،؛][\"'”’)\]»]*(?=\s)|\s[–—-]+(?=\s)|—|[、，；：])")


class TextUnits:
    """The units of one text. What is asked for twice is worked out once.

    Args:
        sentences: where its sentences stand, where that is known; else they are told by their punctuation.
    """

    def __init__(self, text: str, sentences: Sequence[Span] = ()) -> None:
        self.text = text
        self._told = sorted(sentences)
        self._blocks = _blocks(text)
        self._words: dict[int, list[Span]] = {}
        self._sentences: dict[int, list[Span]] = {}
        self._clauses: dict[int, list[Span]] = {}

    # Words.

    def words(self, start: int, end: int) -> list[Span]:
        """The words that begin in `[start, end)`."""
        return [word for word in self._meeting(self._words_of, start, end) if start <= word[0] < end]

    def word_at(self, at: int) -> Span | None:
        """The word that covers an offset, or else the nearest one: after it, or before it where none follows."""
        return self._near(self._words_of, at)

    def next_word(self, at: int) -> Span | None:
        """The first word that begins after an offset."""
        return self._after(self._words_of, at)

    def previous_word(self, at: int) -> Span | None:
        """The last word that begins before an offset."""
        return self._before(self._words_of, at)

    # Clauses and sentences.

    def sentence_at(self, at: int) -> Span | None:
        """The sentence that covers an offset, or else the nearest one."""
        return self._near(self._sentences_of, at)

    def next_sentence(self, at: int) -> Span | None:
        return self._after(self._sentences_of, at)

    def previous_sentence(self, at: int) -> Span | None:
        return self._before(self._sentences_of, at)

    def clause_at(self, at: int) -> Span | None:
        """The clause that covers an offset, or else the nearest one."""
        return self._near(self._clauses_of, at)

    def next_clause(self, at: int) -> Span | None:
        return self._after(self._clauses_of, at)

    def previous_clause(self, at: int) -> Span | None:
        return self._before(self._clauses_of, at)

    # Graphemes.

    def grapheme_at(self, at: int) -> Span | None:
        """The grapheme that covers an offset; the last one at the end of the text; None where there is no text."""
        if not self.text:
            return None
        at = min(max(at, 0), len(self.text) - 1)
        found = (at, at + 1)
        for match in _CLUSTER.finditer(self.text, _safe_before(self.text, at)):
            found = match.span()
            if found[1] > at:
                break
        return found

    def snapped(self, start: int, end: int) -> Span | None:
        """The least stretch of whole graphemes around `[start, end)`, without white space at its ends.

        None where nothing but white space is left.
        """
        start, end = max(min(start, end), 0), min(max(start, end), len(self.text))
        while start < end and self.text[start].isspace():
            start += 1
        while end > start and self.text[end - 1].isspace():
            end -= 1
        first, last = self.grapheme_at(start), self.grapheme_at(end - 1)
        if start >= end or first is None or last is None:
            return None
        return first[0], last[1]

    def snapped_to_words(self, start: int, end: int) -> Span | None:
        """The words that `[start, end)` meets, from the first to the last; else as `snapped`."""
        start, end = min(start, end), max(start, end)
        met = [word for word in self._meeting(self._words_of, start, end) if word[0] < end and word[1] > start]
        return (met[0][0], met[-1][1]) if met else self.snapped(start, end)

    # Blocks.

    def _block_of(self, at: int) -> int:
        return max(bisect_right(self._blocks, at) - 1, 0)

    def _ends(self, block: int) -> Span:
        after = self._blocks[block + 1] if block + 1 < len(self._blocks) else len(self.text)
        return self._blocks[block], after

    def _words_of(self, block: int) -> list[Span]:
        if block not in self._words:
            self._words[block] = _words(self.text, *self._ends(block))
        return self._words[block]

    def _sentences_of(self, block: int) -> list[Span]:
        if block not in self._sentences:
            start, end = self._ends(block)
            told = [one for one in self._told if start <= one[0] < end]
            # Where sentences are told, what stands between them belongs to none.
            found = told if self._told else _cut(self, start, end, _SENTENCE_END)
            self._sentences[block] = found
        return self._sentences[block]

    def _clauses_of(self, block: int) -> list[Span]:
        if block not in self._clauses:
            sentences = self._sentences_of(block)
            self._clauses[block] = [clause for one in sentences for clause in _cut(self, *one, _CLAUSE_END)]
        return self._clauses[block]

    def _meeting(self, units: Callable[[int], list[Span]], start: int, end: int) -> list[Span]:
        first, last = self._block_of(start), self._block_of(max(end - 1, start))
        return [unit for block in range(first, last + 1) for unit in units(block)]

    def _near(self, units: Callable[[int], list[Span]], at: int) -> Span | None:
        here = self._before(units, at + 1)
        if here is not None and at < here[1]:
            return here
        return self._after(units, at) or here

    def _after(self, units: Callable[[int], list[Span]], at: int) -> Span | None:
        for block in range(self._block_of(at), len(self._blocks)):
            found = units(block)
            place = bisect_right(found, at, key=_start)
            if place < len(found):
                return found[place]
        return None

    def _before(self, units: Callable[[int], list[Span]], at: int) -> Span | None:
        for block in range(self._block_of(max(at - 1, 0)), -1, -1):
            found = units(block)
            place = bisect_left(found, at, key=_start)
            if place:
                return found[place - 1]
        return None


def _start(unit: Span) -> int:
    return unit[0]


def _blocks(text: str) -> list[int]:
    """Where blocks begin: after a line feed, else after white space, else wherever one has become too long."""
    starts, at = [0], 0
    while len(text) - at > _BLOCK:
        cut = text.rfind("\n", at, at + _BLOCK) + 1
        if cut <= at:
            cut = text.rfind(" ", at, at + _BLOCK) + 1
        if cut <= at:
            cut = text.find(" ", at + _BLOCK, at + _LONGEST) + 1
        if cut <= at:
            cut = min(at + _LONGEST, len(text))
        for match in _CLUSTER.finditer(text, _safe_before(text, cut - 1)):
            if match.end() >= cut:
                cut = match.end()
                break
        if cut >= len(text):
            break
        starts.append(cut)
        at = cut
    return starts


def _safe_before(text: str, at: int) -> int:
    """An offset at or before `at` where a grapheme surely begins: at an ASCII character that can be seen."""
    least = max(at - 64, 0)
    for here in range(at, least, -1):
        if " " <= text[here] < "\x7f" and text[here - 1].isascii():
            return here
    return least


def _cut(units: TextUnits, start: int, end: int, border: "regex.Pattern[str]") -> list[Span]:
    """The stretch cut after every border, without white space around the pieces."""
    edges = [start, *(match.end() for match in border.finditer(units.text, start, end)), end]
    pieces = (units.snapped(first, last) for first, last in pairwise(edges) if first < last)
    return [piece for piece in pieces if piece is not None]


def _words(text: str, start: int, end: int) -> list[Span]:
    found: list[Span] = []
    for match in _WORD.finditer(text, start, end):
        if match.lastgroup == "no_spaces":
            found += _phrases(text, *match.span())
        else:
            found.append(match.span())
    return found if text.isascii() else _on_graphemes(text, start, end, found)


def _on_graphemes(text: str, start: int, end: int, words: Sequence[Span]) -> list[Span]:
    """The words widened to whole graphemes; of two in one grapheme the first has it."""
    borders = list(accumulate(map(len, _CLUSTER.findall(text, start, end)), initial=start))
    found: list[Span] = []
    for first, last in words:
        begins = max(borders[bisect_right(borders, first) - 1], found[-1][1] if found else start)
        ends = borders[bisect_left(borders, last)]
        if begins < ends:
            found.append((begins, ends))
    return found


def _phrases(text: str, start: int, end: int) -> list[Span]:
    """A run of a script without spaces, cut by the model of its language."""
    run = text[start:end]
    parse = _parser(_language(run))
    return list(pairwise(accumulate(map(len, parse(run)), initial=start)))


def _language(run: str) -> str:
    if _KANA.search(run):
        return "japanese"
    if _THAI.search(run):
        return "thai"
    if _HAN.search(run):
        return "traditional_chinese" if _TRADITIONAL.intersection(run) else "simplified_chinese"
    return ""


@lru_cache
def _parser(language: str) -> Callable[[str], list[str]]:
    import budoux

    match language:
        case "japanese":
            return budoux.load_default_japanese_parser().parse
        case "thai":
            return budoux.load_default_thai_parser().parse
        case "traditional_chinese":
            return budoux.load_default_traditional_chinese_parser().parse
        case "simplified_chinese":
            return budoux.load_default_simplified_chinese_parser().parse
    clusters: Callable[[str], list[str]] = _CLUSTER.findall
    return clusters
