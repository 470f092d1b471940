"""Explicit, implicit and misleading texts, and negation, by words alone: the document of `emotui lexical`.

Source: hard emotion test sets, section 4 (Explicit Emotion Word Frequency, Lexical Cues) and appendix B.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from emotui.errors import BadInput
from emotui.lexicons import EMOLEX_NAMES, emolex, plutchik_of
from emotui.metrics.inflections import dictionary_forms
from emotui.records import PLUTCHIK

if TYPE_CHECKING:
    import numpy as np

Category = Literal["explicit", "implicit", "misleading"]
CATEGORIES: tuple[Category, ...] = ("explicit", "implicit", "misleading")

Lexicon = Mapping[str, Collection[str]]
"""Lower-case word to the names that it is tied to; others than Plutchik's eight (positive, negative) do not count."""

NEGATIONS = frozenset(
    ("no", "not", "never", "none", "nobody", "nothing", "nowhere", "neither", "nor", "cannot", "nope", "without")
)
"""What makes a text negated, beside words in n't. Appendix B prints no list; words that only weaken (hardly, barely,
few) are left out, and so is un- at the beginning of a word."""

_WITHOUT_APOSTROPHE = (
    *("aint", "arent", "cant", "couldnt", "didnt", "doesnt", "dont", "hadnt", "hasnt", "havent", "isnt", "mustnt"),
    *("neednt", "shouldnt", "wasnt", "werent", "wouldnt"),
)
UNMARKED_CONTRACTIONS = frozenset(_WITHOUT_APOSTROPHE)
"""Contractions as they are typed in a hurry. `wont` is left out: it is a word of its own."""

# A word is a run of letters with their combining marks; an apostrophe (straight, curly or a modifier letter) may stand
# inside it. A hyphen parts two words: EmoLex has none with one.
_LETTER = r"[^\W\d_][\u0300-\u036f]*"
_WORD = re.compile(rf"(?:{_LETTER})+(?:['’ʼ](?:{_LETTER})+)*")
_APOSTROPHES = str.maketrans("’ʼ", "''")
_CLITICS = ("'s", "'ll", "'ve", "'re", "'d", "'m")


@dataclass(frozen=True, slots=True)
class Cue:
    """A word tied to emotions: `text[start:end]` is `word` as written; `emotions` in Plutchik's order."""

    word: str
    start: int
    end: int
    emotions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Lexical:
    """What the words of a text say beside its gold label.

    `emotion`: the one of Plutchik's eight that the label stands for; None for `neutral`. `explicit_words`: how many of
    the cues are tied to it.
    """

    category: Category
    cues: tuple[Cue, ...]
    explicit_words: int
    negated: bool
    emotion: str | None


def lexical(text: str, label: str, lexicon: Lexicon, *, inflections: bool = False) -> Lexical:
    """How a text shows its emotion, by its words.

    Explicit: some word is tied to the gold emotion. Misleading: none is, but some word is tied to another emotion.
    Implicit: no word is tied to any. A text labelled `neutral` has no cues.

    A word is looked up in lower case as it is written: the lexicon as its authors published it.

    Args:
        label: of Plutchik's eight, or one that `emotui.lexicons.plutchik_of` maps to them, or `neutral`.
        inflections: where the lexicon has no such word, look it up as the dictionary form of a regular inflection
            (`emotui.metrics.inflections`); the first form that the lexicon has counts.

    Raises:
        ValueError: the label has no counterpart among the eight.
    """
    emotion = emotion_of(label)
    cues = () if emotion is None else cues_of(text, lexicon, inflections=inflections)
    explicit = sum(emotion in cue.emotions for cue in cues)
    category: Category = "explicit" if explicit else "misleading" if cues else "implicit"
    return Lexical(category, cues, explicit, is_negated(text), emotion)


def emotion_of(label: str) -> str | None:
    """Plutchik's emotion behind a gold label; None for `neutral`. Raises ValueError for a label without one."""
    emotion = plutchik_of(label)
    if emotion is None and label.strip().lower() != "neutral":
        raise ValueError(f"the label {label!r} is none of Plutchik's eight, GoEmotions' or SEER's")
    return emotion


def cues_of(text: str, lexicon: Lexicon, *, inflections: bool = False) -> tuple[Cue, ...]:
    """Every word that the lexicon ties to one of Plutchik's eight, in text order."""
    found = []
    for start, end in _words(text):
        emotions = _tied(text[start:end].lower(), lexicon, inflections=inflections)
        if emotions:
            found.append(Cue(text[start:end], start, end, emotions))
    return tuple(found)


def is_negated(text: str) -> bool:
    """Whether some word is a negation: one of `NEGATIONS`, a contraction in n't, or one without its apostrophe."""
    for match in _WORD.finditer(text):
        word = match.group().lower().translate(_APOSTROPHES)
        if word.endswith("n't") or word in NEGATIONS or word in UNMARKED_CONTRACTIONS:
            return True
        if word.removesuffix("'s") in NEGATIONS:  # nobody's
            return True
    return False


def words_of(text: str) -> list[str]:
    """Words in lower case, for counting: apostrophes made straight."""
    return [match.group().lower().translate(_APOSTROPHES) for match in _WORD.finditer(text)]


def _words(text: str) -> Iterable[tuple[int, int]]:
    """Words to look up: without the ends of contractions, and without those in n't."""
    for match in _WORD.finditer(text):
        start, end = match.span()
        word = match.group()
        if not word.isalpha():
            word = word.lower().translate(_APOSTROPHES)
            if word.endswith("n't"):
                continue
            end -= len(next((each for each in _CLITICS if word.endswith(each)), ""))
        yield start, end


@lru_cache(maxsize=1 << 16)
def _forms(word: str) -> tuple[str, ...]:
    """The same words come again and again, in texts as while one types."""
    return tuple(dictionary_forms(word))


def _tied(word: str, lexicon: Lexicon, *, inflections: bool) -> tuple[str, ...]:
    names = lexicon.get(word)
    if names is None and inflections:
        names = next((lexicon[form] for form in _forms(word) if form in lexicon), None)
    return tuple(emotion for emotion in PLUTCHIK if emotion in names) if names else ()


def lexical_report(
    records: Iterable[tuple[str, str, str]], lexicon: Lexicon, *, inflections: bool = False
) -> dict[str, Any]:
    """The document of `emotui lexical`.

    Args:
        records: (id, text, label) each.

    Returns:
        `n`, `records` (`id`, `category`, `cues` `[{word, start, end, emotions}]`, `explicit_words`, `negated`) in
        their order, `counts` of the categories, `mean_explicit_words`, `negated` (share), `notes`.

    Raises:
        BadInput: labels without a counterpart among Plutchik's eight, a line each beginning with the id.
    """
    rows: list[dict[str, Any]] = []
    problems = []
    for key, text, label in records:
        try:
            found = lexical(text, label, lexicon, inflections=inflections)
        except ValueError as problem:
            problems.append(f"{key}: {problem}")
            continue
        cues = [{"word": c.word, "start": c.start, "end": c.end, "emotions": list(c.emotions)} for c in found.cues]
        rows.append(
            {
                "id": key,
                "category": found.category,
                "cues": cues,
                "explicit_words": found.explicit_words,
                "negated": found.negated,
            }
        )
    if problems:
        raise BadInput(*problems)
    counts = Counter(row["category"] for row in rows)
    n = len(rows)
    return {
        "n": n,
        "records": rows,
        "counts": {category: counts[category] for category in CATEGORIES},
        "mean_explicit_words": sum(row["explicit_words"] for row in rows) / n if n else None,
        "negated": sum(row["negated"] for row in rows) / n if n else None,
        "notes": {} if n else dict.fromkeys(("mean_explicit_words", "negated"), "there is no record"),
    }


def category_shares(found: Sequence[Lexical]) -> dict[str, float | None]:
    """The share of each category, in [0, 1]; None over no text."""
    counts = Counter(each.category for each in found)
    return {name: counts[name] / len(found) if found else None for name in CATEGORIES}


def word_features(texts: Sequence[str]) -> "np.ndarray":
    """(n, 11): how many words of each text EmoLex ties to each of Plutchik's eight, to good and to bad; and of all."""
    import numpy as np

    lexicon = emolex()
    found = np.zeros((len(texts), len(EMOLEX_NAMES) + 1))
    for row, text in enumerate(texts):
        words = words_of(text)
        found[row, -1] = len(words)
        for word in words:
            for name in lexicon.get(word, ()):
                found[row, EMOLEX_NAMES.index(name)] += 1
    return found
