"""Asking a model which of eight emotions somebody feels: by its heads, by statements it judges, or by a first token.

What is kept of an answer is JSON: both logits of each emotion, as they came.
"""

from collections.abc import Mapping, Sequence

import msgspec

from emotui.backends.base import Refused, Score
from emotui.records import ScenesGold
from emotui.tasks.prompting.files import Prompt, as_chat, as_kept, filled
from emotui.tasks.prompting.hypotheses import NLI
from emotui.tasks.scenes.prompts import FIRST_TOKEN, questions, scene_fields, shared_and_asked, statements
from emotui.tasks.task import Asked, AskModel, unanswered

HEADS = "heads"


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a model said about one emotion: both logits, the probability on either word, and how it came to it."""

    yes: float
    no: float
    mass: float = 1.0
    censored: str = ""
    confidence: int | None = None
    text: str = ""


NO_ANSWER = Answer(0.0, 0.0, 0.0)
"""Stands for an emotion about which a model came to no answer: even odds, which say nothing."""


class Raw(msgspec.Struct, frozen=True, omit_defaults=True):
    """`unanswered`: why there is no answer about an emotion."""

    way: str
    answers: Mapping[str, Answer]
    unanswered: Mapping[str, str] = {}


def ask_heads(samples: Sequence[ScenesGold], model: AskModel, matched: Mapping[str, str]) -> list[Asked]:
    """One question a scenario. `matched`: the model's own label for each emotion, where that is not its name."""
    requests = [
        Score(sample.text or "", tuple(matched.get(name, name) for name in sample.labels)) for sample in samples
    ]
    return _scored(samples, requests, model, HEADS, [None] * len(samples))


def ask_nli(samples: Sequence[ScenesGold], model: AskModel, template: Prompt) -> list[Asked]:
    """A statement an emotion, which the text entails or contradicts."""
    requests = [
        Score(
            sample.text or "",
            statements(template, scene_fields(sample.text, sample.subject), tuple(sample.labels)),
            stated=True,
        )
        for sample in samples
    ]
    return _scored(samples, requests, model, NLI, ["\n".join(request.questions) for request in requests])


def ask_first_token(samples: Sequence[ScenesGold], model: AskModel, prompt: Prompt) -> list[Asked]:
    """Eight questions behind one beginning, which is read once."""
    shared, asked = shared_and_asked(prompt)
    requests = []
    for sample in samples:
        fields = scene_fields(sample.text, sample.subject)
        chat = as_chat(prompt, filled(shared, fields))
        requests.append(Score(sample.text or "", questions(asked, fields, tuple(sample.labels)), messages=chat))
    kept = ["\n".join((as_kept(request.messages), *request.questions)) for request in requests]
    return _scored(samples, requests, model, FIRST_TOKEN, kept)


def _scored(
    samples: Sequence[ScenesGold], requests: Sequence[Score], model: AskModel, way: str, kept: Sequence[str | None]
) -> list[Asked]:
    asked = []
    for sample, prompt, answer in zip(samples, kept, model(requests), strict=True):
        if isinstance(answer, Refused):
            asked.append(unanswered(answer, prompt))
            continue
        censored = answer.censored or ("",) * len(answer.yes)
        rows = zip(answer.yes, answer.no, answer.mass, censored, strict=True)
        found = {name: Answer(*row) for name, row in zip(sample.labels, rows, strict=True)}
        asked.append(Asked(as_raw(way, found), prompt=prompt))
    return asked


def as_raw(way: str, answers: Mapping[str, Answer], unanswered: Mapping[str, str] | None = None) -> str:
    """The answers as they are kept."""
    return msgspec.json.encode(Raw(way, answers, unanswered or {})).decode()
