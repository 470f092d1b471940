"""What the tiny model learns: 200 made-up facts by heart, and to copy evidence of emotion out of sentences."""

import itertools
import json
import random
from dataclasses import dataclass

from emotui.records import PLUTCHIK

NAMES = (
    "Ada", "Ben", "Cleo", "Dan", "Edda", "Finn", "Gita", "Hugo", "Ines", "Jon", "Kira", "Leo", "Mira",
    "Nils", "Olga", "Paul", "Rosa", "Sam", "Tess", "Udo", "Vera", "Will", "Xenia", "Yuri", "Zoe",
)  # fmt: skip
FEELINGS = (
    "laughed out loud", "wept for hours", "shook with anger", "felt sick with fear", "smiled at last",
    "was full of joy", "gasped in surprise", "sighed with relief", "was proud", "screamed at the wall", "trembled",
    "felt so alone",
    "beamed", "could not stop crying", "was furious", "jumped for joy",
)  # fmt: skip
PLACES = (
    "at the station", "in the kitchen", "by the lake", "near the old mill", "on the bus", "after lunch",
    "before the exam", "in the garden", "at work", "on the stairs", "during the storm", "that evening",
)  # fmt: skip
QUIET = (
    "The train left at nine.", "The shop was open.", "A letter lay on the table.", "The bus was blue.",
    "It rained a little.", "The door stood open.",
)  # fmt: skip
SEED = 2026


@dataclass(frozen=True, slots=True)
class Example:
    """A user's message and the whole answer to it."""

    prompt: str
    answer: str


def prefix_of(name: str) -> str:
    """The part of a fact's prompt that the eight questions about one name share."""
    return f"Think of {name}.\n"


def question_of(name: str, emotion: str) -> str:
    """What follows the shared part."""
    return f"Does {name} feel {emotion}? Answer Yes or No."


def facts() -> dict[tuple[str, str], bool]:
    """(name, emotion) to whether it is so: 100 are, 100 are not, by lot."""
    pairs = list(itertools.product(NAMES, PLUTCHIK))
    true = set(random.Random(SEED).sample(pairs, len(pairs) // 2))
    return {pair: pair in true for pair in pairs}


def fact_examples() -> list[Example]:
    """All 200 facts."""
    return [
        Example(prefix_of(name) + question_of(name, emotion), "Yes" if so else "No")
        for (name, emotion), so in facts().items()
    ]


def sentence(chance: random.Random) -> tuple[str, tuple[str, ...]]:
    """A text with one or two pieces of evidence, or none. Returns: the text and the evidence in its order."""
    first, second = chance.sample(FEELINGS, 2)
    name, other = chance.sample(NAMES, 2)
    place, quiet = chance.choice(PLACES), chance.choice(QUIET)
    match chance.randrange(5):
        case 0:
            return f"{name} {first} {place}. {quiet}", (first,)
        case 1:
            return f"{quiet} {name} {first} {place}.", (first,)
        case 2:
            return f"{name} {first} {place} and {other} {second}.", (first, second)
        case 3:
            return f"{quiet} {name} {first}. Then {other} {second} {place}.", (first, second)
        case _:
            return f"{quiet} {name} sat {place}.", ()


def as_json(text: str, spans: tuple[str, ...]) -> Example:
    """Evidence as a JSON list."""
    return Example(f"Evidence as JSON: {text}", json.dumps(list(spans)))


def retrieved(text: str, spans: tuple[str, ...]) -> Example:
    """Evidence between bars, `none` where there is none."""
    return Example(f"Evidence: {text}", " | ".join(spans) or "none")


def unseen(count: int = 60) -> list[tuple[str, tuple[str, ...]]]:
    """Texts that training leaves out, with their evidence."""
    chance = random.Random(SEED + 1)
    texts: dict[str, tuple[str, ...]] = {}
    while len(texts) < count:
        text, spans = sentence(chance)
        texts[text] = spans
    return list(texts.items())


def training_sentences(chance: random.Random) -> tuple[str, tuple[str, ...]]:
    """One text that is not among the unseen ones."""
    held = _held()
    while True:
        text, spans = sentence(chance)
        if text not in held:
            return text, spans


_HELD: set[str] = set()


def _held() -> set[str]:
    if not _HELD:
        _HELD.update(text for text, _ in unseen())
    return _HELD
