"""A backend for tests whose every answer follows from one word: what its evidence is, is known."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from emotui.backends.base import (
    Classification,
    Classify,
    Evidence,
    Extract,
    Generate,
    Generation,
    ModelCard,
    Progress,
    Refused,
    Score,
    Scores,
)

LIKELY, UNLIKELY = 0.9, 0.2
"""The probability of sadness in a text with the word, and in one without it."""


class OneWord:
    """Sadness where it reads the word, else neutral; marks the word, and the text's last word, which moves nothing."""

    def __init__(self, spec: str, word: str, able: tuple[str, ...]) -> None:
        labels = {"own": ("sadness", "neutral")} if "classify" in able else {}
        self.card = ModelCard(spec, "one word", able, {"word": word}, labels)
        self._word = re.compile(rf"\b{re.escape(word)}\b", re.IGNORECASE)

    def classify(self, requests: Sequence[Classify]) -> list[object]:
        return [self._class(one.text) for one in requests]

    def _class(self, text: str) -> object:
        if text.startswith("REFUSE"):
            return Refused("the text is longer than the context")
        p = LIKELY if self._word.search(text) else UNLIKELY
        return Classification({"sadness": p, "neutral": 1 - p}, "sadness" if p > 0.5 else "neutral", False)

    def score(self, requests: Sequence[Score]) -> list[Scores]:
        """Yes to a question about sadness in a text with the word; no to any other."""
        found = []
        for one in requests:
            text = "\n".join((one.text, *(message.content for message in one.messages)))
            there = self._word.search(text) is not None
            yes = tuple(2.0 if there and "sadness" in question else -2.0 for question in one.questions)
            found.append(Scores(yes, (0.0,) * len(yes), (1.0,) * len(yes)))
        return found

    def extract(self, requests: Sequence[Extract]) -> list[tuple[Evidence, ...]]:
        found = []
        for one in requests:
            words = [match.span() for match in re.finditer(r"\w+", one.text)]
            marked = [match.span() for match in self._word.finditer(one.text)] + words[-1:]
            found.append(tuple(Evidence(*place, "sadness", 0.5) for place in dict.fromkeys(marked)))
        return found

    def generate(self, requests: Sequence[Generate]) -> list[Any]:
        """Nothing; where its word is `first`, the label that it is shown first, whatever the text says."""
        if self._word.pattern != r"\bfirst\b":
            return [Refused("it has nothing to write")] * len(requests)
        return [Generation(f'["{_first_label(one)}"]', 1, 1, "stop") for one in requests]


def _first_label(request: Generate) -> str:
    found = re.search(r"does its writer show\? ([^.,]+)", request.messages[-1].content)
    assert found is not None
    return found.group(1)


def load(argument: str, options: Mapping[str, Any], progress: Progress) -> OneWord:
    """`word:WORD`, and behind a comma `label`, `score` or `write`: what it can do is in the argument."""
    word, _, able = argument.partition(",")
    abilities = {"": ("classify", "extract"), "label": ("classify",), "score": ("generate", "score")}
    abilities["write"] = ("generate",)
    return OneWord(f"word:{argument}", word, abilities[able])
