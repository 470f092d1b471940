"""The vectors that masked words are compared by: EmoLex, its supplement of this project, or a file of the person's own.

EmoLex as the package `nrclex` carries it leaves out the words that are tied to nothing, and many everyday ones ("sad",
"scared"). The supplement has a vector for common emotion words by stated rules (docs/emotion_words.md): a word belongs
to a family, and the family has the vector. It is used for words that EmoLex lacks, and never instead of EmoLex.
"""

import csv
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec

from emotui.lexicons import emolex
from emotui.metrics.masked import DIMENSIONS, fold
from emotui.tasks.masked.word_vectors import Vector, vectors_from

FAMILIES, WORDS = "emotion_families.csv", "emotion_words.csv"


class EmotionWord(msgspec.Struct, frozen=True):
    """A word of this project's list: its family, and where `emotui masked build` looks for it.

    `looked_for`: `always`; behind `feel` alone, where it says something else behind "am" ("I am strong"); or `never`.
    """

    word: str
    family: str
    looked_for: str


SIGN = "°"
"""Stands behind a word whose vector is this project's, wherever it is shown."""

SIGNED = f"{SIGN} a word that EmoLex lacks: its vector is of emotui's supplement (docs/emotion_words.md)"


class WordVectors(msgspec.Struct, frozen=True):
    """Lower-cased words with their vectors over `DIMENSIONS`; `supplement`: those whose vector is this project's."""

    table: Mapping[str, Vector]
    supplement: frozenset[str] = frozenset()

    def marked(self, word: str) -> str:
        """The word, with `SIGN` behind it where its vector is of the supplement."""
        return f"{word}{SIGN}" if fold(word) in self.supplement else word


@cache
def emotion_words() -> Mapping[str, EmotionWord]:
    """This project's list of common emotion words."""
    return {
        row["word"]: EmotionWord(row["word"], row["family"], row["looked_for"]) for row in csv.DictReader(_lines(WORDS))
    }


@cache
def family_vectors() -> Mapping[str, Vector]:
    """The vector of each family of the list."""
    return {row["family"]: tuple(int(row[name]) for name in DIMENSIONS) for row in csv.DictReader(_lines(FAMILIES))}


@cache
def word_vectors(*, supplement: bool = True) -> WordVectors:
    """EmoLex (Mohammad and Turney 2013), with the supplement for words that it lacks or without."""
    known = {word: tuple(int(name in names) for name in DIMENSIONS) for word, names in emolex().items()}
    if not supplement:
        return WordVectors(known)
    families = family_vectors()
    added = {word: families[one.family] for word, one in emotion_words().items() if word not in known}
    return WordVectors({**added, **known}, frozenset(added))


def given_vectors(given: Mapping[str, Any]) -> WordVectors:
    """Those that the options of `emotui score masked` name: a file of the person's own alone, or EmoLex.

    Raises:
        BadInput: the file cannot be read, or is no lexicon.
    """
    if given.get("lexicon"):
        return WordVectors(vectors_from(given["lexicon"]))
    return word_vectors(supplement=not given.get("no_supplement"))


def _lines(name: str) -> list[str]:
    return files("emotui.sample_data").joinpath(name).read_text("utf-8").splitlines()
