"""The dictionary forms that an English word may be an inflection of, by rule: for looking words up in a lexicon.

Lexicons list `love` and `hope`, texts say `loved` and `hoping`. These are the regular endings only: the plural and
third person (-s, -es, -ies), the past (-ed, -ied), -ing, and the degrees of adjectives in -y (-ier, -iest).
"""

from collections.abc import Iterator
from itertools import pairwise

_VOWELS = frozenset("aeiouy")
_HISSING = ("s", "x", "z", "ch", "sh", "o")

NO_INFLECTION = frozenset(("according", "based", "morning", "mornings", "during"))
"""Words that end like an inflection of a word in EmoLex (accord, base, morn) and are none as people use them."""


def dictionary_forms(word: str) -> Iterator[str]:
    """Candidates, the likeliest first; the word itself is not among them.

    A stem of one syllable that ends consonant, vowel, consonant would double its last letter before -ed and -ing
    ("scarred"), so `scared` gives `scare` alone.

    Args:
        word: lower case.
    """
    if word in NO_INFLECTION or len(word) < 4:
        return
    for ending in ("ies", "ied", "ier", "iest"):
        if word.endswith(ending) and len(word) > len(ending) + 1:
            yield word.removesuffix(ending) + "y"
    if word.endswith("es") and word[:-2].endswith(_HISSING):
        yield word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        yield word[:-1]
    for ending in ("ed", "ing"):
        if word.endswith(ending):
            yield from _verbs(word.removesuffix(ending))


def _verbs(stem: str) -> Iterator[str]:
    if len(stem) < 2 or _VOWELS.isdisjoint(stem):
        return
    last, before = stem[-1], stem[-2]
    if last == before and last not in _VOWELS:
        yield stem  # kissed
        yield stem[:-1]  # hugged
        return
    closed = last not in _VOWELS and last not in "wx" and before in _VOWELS and stem[-3:-2] not in _VOWELS
    if closed and _syllables(stem) == 1:
        yield stem + "e"
        return
    yield stem
    yield stem + "e"


def _syllables(stem: str) -> int:
    """Runs of vowels."""
    return sum(now in _VOWELS and before not in _VOWELS for before, now in pairwise(" " + stem))
