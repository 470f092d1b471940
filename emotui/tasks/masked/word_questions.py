"""Words as questions to people: how far each is tied to ten dimensions, behind a check that its meaning is known.

The check is EmoLex's (Mohammad and Turney 2013, section 3): which of four words is nearest in meaning. What is right
stands as gold, so that it is hidden while a person annotates.
"""

import random
from collections.abc import Sequence

import msgspec

from emotui.records import ValuesGold
from emotui.tasks.masked.lexicon import emotion_words

NEAREST, EMOTION = "nearest", "emotion"
"""The numbers beside the ten dimensions: which of the four words is nearest, and whether the word is an emotion."""

OTHERS = 3
"""Words in a check that are not near."""

_FAR = [
    "ladder",
    "gravel",
    "teaspoon",
    "bracket",
    "envelope",
    "turnip",
    "pavement",
    "socket",
    "napkin",
    "cylinder",
    "lorry",
    "cupboard",
    "pebble",
    "zinc",
    "parsley",
    "hinge",
    "brick",
    "tile",
    "bucket",
    "saddle",
    "plywood",
    "trellis",
    "carton",
    "axle",
    "gutter",
    "marrow",
    "stapler",
    "doorknob",
    "lentil",
    "tripod",
]
_STEM = 4
"""Letters that a near word must not share with the word, so that spelling gives nothing away."""


class WordChoice(msgspec.Struct, frozen=True):
    """A word, one near it in meaning, and others that are not."""

    word: str
    near: str
    far: tuple[str, ...]


def choice_for(word: str, seed: int) -> WordChoice | None:
    """A check from this project's list of emotion words: a near word is of the same family. None: there is none."""
    rows = emotion_words()
    known = rows.get(word)
    if known is None:
        return None
    near = [one.word for one in rows.values() if one.family == known.family and one.word[:_STEM] != known.word[:_STEM]]
    if not near:
        return None
    source = random.Random(f"{seed} {word}")
    return WordChoice(word, source.choice(near), tuple(source.sample(_FAR, OTHERS)))


def question(choice: WordChoice, seed: int) -> ValuesGold:
    """The word as a record to annotate; gold says which of the four is right."""
    shown = [choice.near, *choice.far]
    random.Random(f"{seed} order {choice.word}").shuffle(shown)
    lines = [choice.word, "", "Which of these is nearest in meaning?"]
    lines += [f"{number} {word}" for number, word in enumerate(shown, 1)]
    return ValuesGold(
        id=choice.word,
        text="\n".join(lines),
        values={NEAREST: shown.index(choice.near) + 1},
        meta={"word": choice.word},
    )


def questions(choices: Sequence[WordChoice], seed: int) -> list[ValuesGold]:
    """A record each."""
    return [question(one, seed) for one in choices]
