"""The label sets and how the 28 labels map to smaller ones."""

from __future__ import annotations

from collections.abc import Mapping

from emotui.lexicons import GOEMOTIONS_TO_PLUTCHIK
from emotui.records import PLUTCHIK

GOEMOTIONS = (
    "admiration", "amusement", "anger", "annoyance", "approval", "caring", "confusion", "curiosity", "desire",
    "disappointment", "disapproval", "disgust", "embarrassment", "excitement", "fear", "gratitude", "grief", "joy",
    "love", "nervousness", "optimism", "pride", "realization", "relief", "remorse", "sadness", "surprise", "neutral",
)  # fmt: skip
"""The 28 labels in their published order (Demszky et al. 2020, Table 2)."""

EKMAN: Mapping[str, tuple[str, ...]] = {
    "anger": ("anger", "annoyance", "disapproval"),
    "disgust": ("disgust",),
    "fear": ("fear", "nervousness"),
    "joy": (
        "joy", "amusement", "approval", "excitement", "gratitude", "love", "optimism", "relief", "pride", "admiration",
        "desire", "caring",
    ),
    "sadness": ("sadness", "disappointment", "embarrassment", "grief", "remorse"),
    "surprise": ("surprise", "realization", "confusion", "curiosity"),
    "neutral": ("neutral",),
}  # fmt: skip
"""The grouping published with GoEmotions (`ekman_mapping.json` of its release)."""

PLUTCHIK_GROUPS: Mapping[str, tuple[str, ...]] = {
    emotion: tuple(label for label in GOEMOTIONS if GOEMOTIONS_TO_PLUTCHIK.get(label) == emotion)
    for emotion in PLUTCHIK
} | {"neutral": ("neutral",)}
"""By the project's one mapping (`emotui.lexicons`), with `neutral` beside the eight."""

LABEL_SETS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "goemotions": {label: (label,) for label in GOEMOTIONS},
    "ekman": EKMAN,
    "plutchik": PLUTCHIK_GROUPS,
}


def grouped(probs: Mapping[str, float], label_set: str) -> dict[str, float]:
    """Probability that at least one of a group's labels holds, the labels taken as independent: 1 - prod (1 - p)."""
    result = {}
    for group, members in LABEL_SETS[label_set].items():
        none = 1.0
        for member in members:
            none *= 1.0 - probs[member]
        result[group] = 1.0 - none
    return result


EMOTION_WORDS = (
    "admiration", "adoration", "affection", "afraid", "aggravated", "agitated", "agony", "alarmed", "amazed", "amused",
    "anger", "angry", "anguish", "annoyed", "anticipation", "anxiety", "anxious", "apathetic", "appalled",
    "appreciation", "apprehensive", "ashamed", "astonished", "awe", "bewildered", "bitter", "bitterness", "bliss",
    "bored", "bothered", "brave", "calm", "cheerful", "comfort", "compassion", "confident", "confused", "contempt",
    "content", "contentment", "curiosity", "curious", "delight", "delighted", "depressed", "depression", "desire",
    "despair", "desperate", "devastated", "disappointed", "disappointment", "disgust", "disgusted", "dismay",
    "distress", "distressed", "doubt", "dread", "eager", "ecstatic", "elated", "embarrassed", "embarrassment",
    "empathy", "empty", "enthusiasm", "envious", "envy", "euphoria", "excited", "excitement", "exhausted", "faith",
    "fear", "frightened", "frustrated", "frustration", "fury", "furious", "glad", "gloomy", "grateful", "gratitude",
    "grief", "guilt", "guilty", "happiness", "happy", "hate", "hatred", "heartbroken", "helpless", "hesitant",
    "homesick", "hope", "hopeful", "hopeless", "horrified", "horror", "hostile", "humiliated", "hurt", "impatient",
    "indignation", "insecure", "insulted", "irritated", "isolated", "jealous", "jealousy", "joy", "joyful", "jubilant",
    "lonely", "loneliness", "longing", "love", "loved", "lust", "mad", "melancholy", "miserable", "misery", "moody",
    "nervous", "nostalgia", "nostalgic", "numb", "optimistic", "outrage", "outraged", "overwhelmed", "pain", "panic",
    "passion", "peaceful", "pessimistic", "pity", "pleased", "pleasure", "proud", "pride", "puzzled", "rage", "regret",
    "rejected", "relaxed", "relief", "relieved", "reluctant", "remorse", "resentful", "resentment", "revulsion", "sad",
    "sadness", "satisfaction", "satisfied", "scared", "serene", "shame", "shock", "shocked", "shy", "sorrow", "sorry",
    "stressed", "stunned", "surprise", "surprised", "suspicious", "sympathy", "tender", "tense", "terrified", "terror",
    "thankful", "thrilled", "tired", "torn", "touched", "triumphant", "troubled", "trust", "uncertain", "uncomfortable",
    "uneasy", "unhappy", "upset", "vulnerable", "wary", "wonder", "worried", "worry", "worthless", "yearning",
)  # fmt: skip
"""The candidates that a mask is filled from where none are given: this project's own list."""
