"""The vectors that masked words are compared by: EmoLex, its supplement of this project, or a file of the person's own.

EmoLex as the package `nrclex` carries it leaves out the words that are tied to nothing, and many everyday ones ("sad",
"scared"). The supplement has a vector for common emotion words by stated rules (docs/masked.md): a word belongs
to a family, and the family has the vector. It is used for words that EmoLex lacks, and never instead of EmoLex.

The lexicon that EXPRESS's authors publish is a file of the person's own: figures by another one are not on its scale.
"""

import csv
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from statistics import fmean
from typing import Any

import msgspec

from emotui.errors import BadInput
from emotui.formats.rows import literal
from emotui.lexicons import emolex
from emotui.metrics.beside import Drawn, Resampled, Shared
from emotui.metrics.masked import (
    DIMENSIONS,
    EXPRESS,
    ITSELF,
    OUTSIDES,
    MaskScore,
    fold,
    masked_report,
    masks_resampled,
    score_mask,
    scored_masks,
    vector_f1,
)
from emotui.tasks.masked.word_vectors import EXPRESS_WORDS, FormsFile, Vector, read_forms, read_lexicon

FAMILIES, WORDS = "emotion_families.csv", "emotion_words.csv"

_POSITIVE, _NEGATIVE = DIMENSIONS.index("positive"), DIMENSIONS.index("negative")

EMOTUI, EMOLEX = BUILT_IN = ("emotui", "emolex")
"""Lexicons by name: EmoLex with this project's supplement, which is the usual one, and EmoLex alone."""

_NAMES = {EMOTUI: "EmoLex with emotui's supplement", EMOLEX: "EmoLex"}

_SCALE = (
    "Acc_V and F1_V of the paper are by its authors' lexicon; by EmoLex with emotui's supplement the F1_V of the same "
    "answers was .015 to .018 higher"
)
UNLIKE_PAPER = f"The paper's rows are left out: {_SCALE}. Score by that file to have them beside: --lexicon FILE"
UNLIKE_PAPER_BESIDE = f"Not on one scale with the paper's: {_SCALE}. Score by that file: --lexicon FILE."
"""What is said where figures by another lexicon would stand beside the paper's, and where they do."""


LEXICON_HELP = f"Compare words by this lexicon file, or by {' or '.join(BUILT_IN)} (docs/masked.md)."
FORMS_HELP = "Inflected forms and their words: a form that the lexicon lacks has its word's vector."
OUTSIDE_HELP = "What a word outside the lexicon counts as: right against itself alone, or ten zeros (express)."
SUPPLEMENT_HELP = "Without emotui's vectors for words that EmoLex lacks."


class EmotionWord(msgspec.Struct, frozen=True):
    """A word of this project's list: its family, and where `emotui masked build` looks for it.

    `looked_for`: `always`; behind `feel` alone, where it says something else behind "am" ("I am strong"); or `never`.
    `vector`: whether the word has its family's vector in the supplement, where EmoLex lacks it.
    """

    word: str
    family: str
    looked_for: str
    vector: bool


SIGN = "°"
"""Stands behind a word whose vector is this project's, wherever it is shown."""

SIGNED = f"{SIGN} a word that EmoLex lacks: its vector is of emotui's supplement (docs/masked.md)"


class WordVectors(msgspec.Struct, frozen=True):
    """Lower-cased words with their vectors over `DIMENSIONS`, and all that figures by them go by.

    Attributes:
        table: a form has the vector of its word, where a file of forms was given.
        supplement: the words whose vector is this project's.
        name: as conventions and notes call it.
        key: one of `BUILT_IN`, or the beginning of a hash over the files' own.
        sha256: of the lexicon file and of the file of forms; empty where there is none.
        outside: what a word outside counts as, one of `emotui.metrics.masked.OUTSIDES`.
        express: whether it has shape and size of the lexicon of EXPRESS's authors.
        notes: what was told when the files were read.
    """

    table: Mapping[str, Vector]
    supplement: frozenset[str] = frozenset()
    name: str = _NAMES[EMOTUI]
    key: str = EMOTUI
    sha256: tuple[str, ...] = ()
    outside: str = ITSELF
    express: bool = False
    notes: tuple[str, ...] = ()

    @property
    def mark(self) -> str:
        """What tells two lexicons with their rules apart; the convention of a score ends with it."""
        return self.key if self.outside == ITSELF else f"{self.key}/{self.outside}"

    def marked(self, word: str) -> str:
        """The word, with `SIGN` behind it where its vector is of the supplement."""
        return f"{word}{SIGN}" if fold(word) in self.supplement else word

    def score(self, gold: str, predicted: str | None) -> MaskScore:
        """One mask: as `score_mask`."""
        return score_mask(gold, predicted, self.table, self.outside)

    def scored(self, gold: Mapping[str, Sequence[str]], predicted: Mapping[str, Sequence[str]]) -> list[MaskScore]:
        """Every mask: as `scored_masks`."""
        return scored_masks(gold, predicted, self.table, self.outside)

    def report(
        self,
        gold: Mapping[str, Sequence[str]],
        predicted: Mapping[str, Sequence[str]],
        shared: Shared | None = None,
    ) -> dict[str, Any]:
        """As `masked_report`, with `lexicon`: its document."""
        told = masked_report(
            gold, predicted, self.table, supplement=self.supplement, shared=shared, outside=self.outside
        )
        return told | {"lexicon": self.document()}

    def resampled(
        self, gold: Mapping[str, Sequence[str]], predicted: Mapping[str, Sequence[str]], by: Drawn
    ) -> Resampled:
        """As `masks_resampled`."""
        return masks_resampled(gold, predicted, self.table, by, self.outside)

    def document(self) -> dict[str, Any]:
        """As figures name it in JSON."""
        return {
            "name": self.name,
            "words": len(self.table),
            "sha256": list(self.sha256),
            "outside": self.outside,
            "express": self.express,
        }


@cache
def emotion_words() -> Mapping[str, EmotionWord]:
    """This project's list of common emotion words."""
    return {
        row["word"]: EmotionWord(row["word"], row["family"], row["looked_for"], row["vector"] == "1")
        for row in csv.DictReader(_lines(WORDS))
    }


@cache
def family_vectors() -> Mapping[str, Vector]:
    """The vector of each family of the list."""
    return {row["family"]: tuple(int(row[name]) for name in DIMENSIONS) for row in csv.DictReader(_lines(FAMILIES))}


@cache
def word_vectors(*, supplement: bool = True, outside: str = ITSELF) -> WordVectors:
    """EmoLex (Mohammad and Turney 2013), with the supplement for words that it lacks or without."""
    known = {word: tuple(int(name in names) for name in DIMENSIONS) for word, names in emolex().items()}
    if not supplement:
        return WordVectors(known, name=_NAMES[EMOLEX], key=EMOLEX, outside=outside)
    families = family_vectors()
    added = {word: families[one.family] for word, one in emotion_words().items() if one.vector and word not in known}
    return WordVectors({**added, **known}, frozenset(added), outside=outside)


def supplement_against(words: WordVectors) -> dict[str, Any]:
    """How far the vectors of the supplement agree with a lexicon's own.

    Returns:
        `words` of the supplement, `shared` with the lexicon, and over these the mean F1 of the two vectors (`f1`; two
        of ten zeros have 0), the share that is the same (`exact`), and the words of which one says positive alone and
        the other negative alone (`opposite`). None of an empty `shared`.
    """
    own = word_vectors()
    pairs = {word: (words.table[word], own.table[word]) for word in sorted(own.supplement) if word in words.table}
    signs = {word: [vector[_POSITIVE] - vector[_NEGATIVE] for vector in pair] for word, pair in pairs.items()}
    return {
        "lexicon": words.document(),
        "words": len(own.supplement),
        "shared": len(pairs),
        "f1": fmean(vector_f1(*pair) for pair in pairs.values()) if pairs else None,
        "exact": fmean(one == other for one, other in pairs.values()) if pairs else None,
        "opposite": [word for word, (one, other) in signs.items() if one * other < 0],
    }


def given_vectors(given: Mapping[str, Any]) -> WordVectors:
    """Those that the options name: a file of the person's own alone, or one of `BUILT_IN`.

    Args:
        given: `lexicon`, `forms`, `outside` and `no_supplement`, each where it is given.

    Raises:
        BadInput: a file cannot be read, or is no lexicon; `no_supplement` goes with a file.
    """
    named, outside = given.get("lexicon"), given.get("outside") or ITSELF
    if outside not in OUTSIDES:
        raise BadInput(f"--outside is one of {', '.join(OUTSIDES)}, not {literal(str(outside))}")
    if given.get("no_supplement") and named not in (None, EMOLEX):
        raise BadInput("--no-supplement leaves emotui's own vectors out, and another lexicon has none: give one of two")
    if named in (None, *BUILT_IN):
        found = word_vectors(supplement=named != EMOLEX and not given.get("no_supplement"), outside=outside)
    else:
        read = read_lexicon(named)
        notes = _told_twice(named, read.twice)
        name = Path(named).name
        found = WordVectors(
            read.vectors, frozenset(), name, _key(read.sha256), (read.sha256,), outside, read.is_express, notes
        )
    if given.get("forms"):
        return _with_forms(found, str(given["forms"]), read_forms(str(given["forms"])))
    return found


def asked_vectors(given: Mapping[str, Any]) -> WordVectors | None:
    """As `given_vectors`; None where no option names any."""
    return given_vectors(given) if any(given.values()) else None


def _with_forms(words: WordVectors, path: str, forms: FormsFile) -> WordVectors:
    """A form that the lexicon lacks has the vector of its word there; words stay as they are for Acc_L."""
    added = {
        form: words.table[word] for form, word in forms.words.items() if word in words.table and form not in words.table
    }
    known = sum(form in words.table for form in forms.words)
    without = len(forms.words) - known - len(added)
    told = f"{path}: {len(forms.words)} forms: {len(added)} have their word's vector, {known} a vector of their own"
    told += f", and of {without} the lexicon lacks form and word" if without else ""
    return msgspec.structs.replace(
        words,
        table={**words.table, **added},
        name=f"{words.name} with the forms of {Path(path).name}",
        key=_key(words.key, forms.sha256),
        sha256=(*words.sha256, forms.sha256),
        notes=(*words.notes, told, *_told_twice(path, forms.twice)),
    )


def _told_twice(path: str, twice: Sequence[tuple[str, int]]) -> tuple[str, ...]:
    if not twice:
        return ()
    word, line = twice[0]
    some = f"{len(twice)} words stand" if len(twice) > 1 else "a word stands"
    return (f"{path}:{line}: {some} here twice, and the first row counts ({literal(word)})",)


def _key(*parts: str) -> str:
    return sha256(" ".join(parts).encode()).hexdigest()[:16]


class _Kept(msgspec.Struct):
    """A lexicon of files as a store keeps it: a vector as ten digits."""

    name: str
    sha256: tuple[str, ...]
    express: bool
    vectors: dict[str, str]
    supplement: list[str]


def as_kept(words: WordVectors) -> dict[str, Any]:
    """A lexicon as a store keeps it, apart from its rule for words outside."""
    vectors = {word: "".join(map(str, vector)) for word, vector in words.table.items()}
    kept = _Kept(words.name, words.sha256, words.express, vectors, sorted(words.supplement))
    built: dict[str, Any] = msgspec.to_builtins(kept)
    return built


def from_kept(mark: str, kept: object) -> WordVectors | None:
    """The lexicon of a `WordVectors.mark`; None where it is of files and nothing is kept of them."""
    key, _, outside = mark.partition("/")
    if key in BUILT_IN:
        return word_vectors(supplement=key == EMOTUI, outside=outside or ITSELF)
    if kept is None:
        return None
    found = msgspec.convert(kept, _Kept)
    table = {word: tuple(map(int, digits)) for word, digits in found.vectors.items()}
    return WordVectors(
        table, frozenset(found.supplement), found.name, key, found.sha256, outside or ITSELF, found.express
    )


def told_of_scale(words: WordVectors) -> str:
    """What stands over figures by a lexicon: its name, and how far they are on the paper's scale."""
    rule = (
        "a word outside it has ten zeros (express)"
        if words.outside == EXPRESS
        else "a word outside it matches itself alone"
    )
    told = f"Vectors: {words.name}, {len(words.table):,} words; {rule}."
    if words.express:
        told += f" It has shape and size of the lexicon of EXPRESS's authors ({EXPRESS_WORDS:,} words)."
    return told


def _lines(name: str) -> list[str]:
    return files("emotui.sample_data").joinpath(name).read_text("utf-8").splitlines()
