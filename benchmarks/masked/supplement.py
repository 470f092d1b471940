"""Which words of the list have a vector in the supplement: `python benchmarks/masked/supplement.py [--write]`.

The sign of a word's family (positive or negative) has to be that of at least one other list, and of none the opposite:
EmoLex, of the word's dictionary form, or of the word with or without -ness, -ly or -ism; Empath's emotion categories;
the polarities that come with TextBlob. With `--write` the column `vector` of the list is written anew.
"""

import csv
import re
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from statistics import mean

from emotui.lexicons import emolex
from emotui.metrics.inflections import dictionary_forms
from emotui.metrics.masked import vector_f1
from emotui.tasks.masked.lexicon import emotion_words, family_vectors, word_vectors
from emotui.tasks.masked.word_vectors import Vector

LIST = Path(__file__).parents[2] / "sample_data" / "emotion_words.csv"
NEGATIVE, POSITIVE = 8, 9


def sign(vector: Vector) -> int:
    """1 of what is positive alone, -1 of what is negative alone, 0 otherwise."""
    return vector[POSITIVE] - vector[NEGATIVE]


def kin(word: str) -> Iterator[str]:
    """Words with the same meaning by rule: one dictionary form, and what -ness, -ly and -ism make or unmake."""
    yield from (form for form in dictionary_forms(word) if form in emolex())
    yield from (word + ending for ending in ("ness", "ly"))
    for ending, other in (("ness", ""), ("iness", "y"), ("istic", "ism"), ("y", "iness"), ("y", "ily")):
        if word.endswith(ending):
            yield word.removesuffix(ending) + other


def signs(word: str) -> Iterator[int]:
    """What each other list says of the word, where it has it."""
    table = word_vectors(supplement=False).table
    yield from (sign(table[one]) for one in kin(word) if one in table)
    positive, negative = (word in empath()[name] for name in ("positive_emotion", "negative_emotion"))
    yield positive - negative
    polarity = polarities().get(word, 0.0)
    yield (polarity > 0) - (polarity < 0)


def corroborated(word: str) -> bool:
    """Whether the sign of the word's family stands in another list, and the opposite in none."""
    own = sign(family_vectors()[emotion_words()[word].family])
    said = set(signs(word))
    return own != 0 and own in said and -own not in said


@cache
def empath() -> Mapping[str, frozenset[str]]:
    """Empath's categories."""
    rows = (line.rstrip().split("\t") for line in _package_file("empath", "data/categories.tsv").splitlines())
    return {name: frozenset(words) for name, *words in rows}


@cache
def polarities() -> Mapping[str, float]:
    """A word's mean polarity in the list of TextBlob, from -1 to 1."""
    found: dict[str, list[float]] = {}
    text = _package_file("textblob", "en/en-sentiment.xml")
    for word, polarity in re.findall(r'<word form="([^"]+)".*?polarity="([^"]+)"', text):
        found.setdefault(word, []).append(float(polarity))
    return {word: mean(each) for word, each in found.items()}


def _package_file(package: str, name: str) -> str:
    spec = find_spec(package)
    assert spec is not None
    assert spec.submodule_search_locations
    return (Path(next(iter(spec.submodule_search_locations))) / name).read_text(encoding="utf-8")


def main() -> None:
    """Print how the rule divides the list; write its column where asked."""
    known = word_vectors(supplement=False).table
    lacking = [word for word in emotion_words() if word not in known]
    kept = [word for word in lacking if corroborated(word)]
    print(f"{len(emotion_words())} words, {len(lacking)} that EmoLex lacks, {len(kept)} of them corroborated")
    families = {word: family_vectors()[one.family] for word, one in emotion_words().items()}
    for name, words in (
        ("of EmoLex", [word for word in emotion_words() if word in known]),
        ("of EmoLex and corroborated", [word for word in emotion_words() if word in known and corroborated(word)]),
    ):
        pairs = [(known[word], families[word]) for word in words]
        opposed = sum(sign(one) * sign(other) < 0 for one, other in pairs)
        same = mean(one == other for one, other in pairs)
        print(f"{name}: {len(pairs)}, mean F1 {mean(vector_f1(*pair) for pair in pairs):.3f}, {same:.0%}, {opposed}")
    if "--write" in sys.argv:
        rows = list(csv.DictReader(LIST.read_text(encoding="utf-8").splitlines()))
        with LIST.open("w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, rows[0], lineterminator="\n")
            table.writeheader()
            table.writerows(row | {"vector": int(corroborated(row["word"]))} for row in rows)


if __name__ == "__main__":
    main()
