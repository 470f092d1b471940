"""Word lists: Empath's emotion keywords (SEER), EmoLex (EXPRESS, hard emotion test sets), and names of emotions.

Neither list is part of emotui: each is read from the data file of its own installed package, whose code is never
imported (Empath's loads an HTTP client, NRCLex's loads TextBlob). EmoLex is free for research only; ask its authors for
other uses.
"""

import json
from collections.abc import Mapping
from functools import cache
from os import PathLike
from pathlib import Path
from types import MappingProxyType

from emotui.bounded import read_bytes
from emotui.errors import BadInput, EmotuiError
from emotui.installing import pip
from emotui.records import PLUTCHIK

EMPATH_CATEGORIES = ("positive_emotion", "negative_emotion")
"""SEER section 10.4. The paper's own example of a keyword, "disgust", is in neither."""

EMOLEX_NAMES = (*PLUTCHIK, "negative", "positive")
"""What EmoLex ties words to."""

GOEMOTIONS_TO_PLUTCHIK: Mapping[str, str] = MappingProxyType(
    {
        # The labels that have the same name in both.
        "anger": "anger",
        "disgust": "disgust",
        "fear": "fear",
        "joy": "joy",
        "sadness": "sadness",
        "surprise": "surprise",
        # GoEmotions' own grouping into Ekman's six (Demszky et al. 2020, the mapping released with it).
        "amusement": "joy",
        "annoyance": "anger",
        "confusion": "surprise",
        "disappointment": "sadness",
        "disapproval": "anger",
        "embarrassment": "sadness",
        "excitement": "joy",
        "gratitude": "joy",
        "grief": "sadness",
        "love": "joy",
        "nervousness": "fear",
        "pride": "joy",
        "realization": "surprise",
        "relief": "joy",
        "remorse": "sadness",
        # Ekman has no trust and no anticipation, so that grouping files these under joy and surprise. On Plutchik's
        # wheel admiration and acceptance are degrees of trust, interest is one of anticipation, and optimism is joy in
        # what is to come (Plutchik 1980).
        "admiration": "trust",
        "approval": "trust",
        "caring": "trust",
        "curiosity": "anticipation",
        "desire": "anticipation",
        "optimism": "anticipation",
    }
)
"""GoEmotions' 27 labels to Plutchik's eight; `neutral` has no counterpart."""

SEER_TO_PLUTCHIK: Mapping[str, str] = MappingProxyType(
    {
        "happy": "joy",
        "sad": "sadness",
        "angry": "anger",
        "disgust": "disgust",
        "fear": "fear",
        "surprise": "surprise",
        # Between anger and disgust on the wheel; filed with the one that it is a turning away in.
        "contempt": "disgust",
    }
)
"""SEER's seven emotions to Plutchik's eight."""


def plutchik_of(label: str) -> str | None:
    """The one of Plutchik's eight that a label of Plutchik, GoEmotions or SEER stands for; None for all others."""
    name = label.strip().lower()
    if name in PLUTCHIK:
        return name
    return GOEMOTIONS_TO_PLUTCHIK.get(name) or SEER_TO_PLUTCHIK.get(name)


@cache
def empath_keywords() -> frozenset[str]:
    """Empath's `positive_emotion` and `negative_emotion` words, lower case; words of several are joined by `_`.

    Raises:
        EmotuiError: the package `empath` is not installed, or its file has no such categories.

    Source: Fast et al. 2016; used by SEER, section 10.4.
    """
    found: set[str] = set()
    missing = set(EMPATH_CATEGORIES)
    for line in _package_file("empath", "data/categories.tsv").read_text("utf-8").splitlines():
        category, *terms = line.rstrip().split("\t")
        if category in missing:
            missing.remove(category)
            found.update(term.lower() for term in terms if term)
    if missing:
        raise EmotuiError(f"the installed empath has no category {' or '.join(sorted(missing))}: install empath 0.89")
    return frozenset(found)


def keywords_from(path: str | PathLike[str]) -> frozenset[str]:
    """Keywords of a file, one a line, lower-cased and trimmed; UTF-8, a BOM is accepted, empty lines are not words.

    Raises:
        BadInput: the file cannot be read, is not UTF-8, or holds no word.
    """
    try:
        text = read_bytes(path).decode("utf-8-sig")
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise BadInput(f"{path}:{line}: not UTF-8") from error
    found = frozenset(word.lower() for line in text.splitlines() if (word := line.strip()))
    if not found:
        raise BadInput(f"{path}: no keyword in it (one a line)")
    return found


@cache
def emolex() -> Mapping[str, frozenset[str]]:
    """EmoLex: what a word is tied to, of `EMOLEX_NAMES`; about 6,500 words, all tied to something.

    The words that the original lists as tied to nothing are not in the package, and so not here.

    Raises:
        EmotuiError: the package `nrclex` is not installed, or its file is not a word list.

    Source: Mohammad and Turney 2013, from NRCLex's data file.
    """
    try:
        entries = json.loads(_package_file("nrclex", "data/nrc_en.json").read_bytes())
        return MappingProxyType({word: frozenset(names) & set(EMOLEX_NAMES) for word, names in entries.items()})
    except (ValueError, AttributeError, TypeError) as error:
        raise EmotuiError("the installed nrclex holds no word list: install nrclex 4.1") from error


def _package_file(package: str, name: str) -> Path:
    """A data file of an installed package, found without importing the package."""
    from importlib.util import find_spec

    spec = find_spec(package)
    for folder in (spec.submodule_search_locations if spec else None) or ():
        path = Path(folder, name)
        if path.is_file():
            return path
    raise EmotuiError(f"the word list of the package {package} is not there: {pip()} install {package}")
