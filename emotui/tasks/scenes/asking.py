"""Asking a model which of eight emotions somebody feels: by its heads, by statements it judges, by a first token, or in
words.

What is kept of an answer is JSON: both logits of each emotion, or what the model wrote of it, as they came.
"""

import re
from collections.abc import Mapping, Sequence

import msgspec

from emotui.backends.base import Generate, Refused, Score
from emotui.records import ScenesGold
from emotui.tasks.prompting.files import Prompt, as_chat, as_kept, filled
from emotui.tasks.prompting.filters import without_thinking
from emotui.tasks.prompting.hypotheses import NLI
from emotui.tasks.scenes.prompts import FIRST_TOKEN, YES_NO, questions, scene_fields, shared_and_asked, statements
from emotui.tasks.task import Asked, AskModel, unanswered

HEADS = "heads"

ROOM = 32
"""Tokens for yes or no, and what little stands around it."""

_YES_NO = re.compile(r"\W*(?:answer\W+)?(yes|no)\b", re.IGNORECASE)


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
    """`unanswered`: why there is no answer about an emotion. `said`: what a model wrote that is asked in words."""

    way: str
    answers: Mapping[str, Answer]
    unanswered: Mapping[str, str] = {}
    said: Mapping[str, str] = {}


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


def ask_in_words(
    samples: Sequence[ScenesGold], model: AskModel, prompt: Prompt, room: int, seeds: Sequence[int]
) -> list[Asked]:
    """A question an emotion, each answered by a word that the model writes: for servers that give no probabilities.

    An emotion about which nothing came costs itself; all of them, the scenario; a server in trouble leaves it open.
    """
    shared, asked = shared_and_asked(prompt)
    requests: list[Generate] = []
    kept = []
    for sample, seed in zip(samples, seeds, strict=True):
        fields = scene_fields(sample.text, sample.subject)
        scene = filled(shared, fields)
        wording = questions(asked, fields, tuple(sample.labels))
        requests += [Generate(as_chat(prompt, scene + each), max_tokens=room, seed=seed) for each in wording]
        kept.append("\n".join((as_kept(as_chat(prompt, scene)), *wording)))
    replies = iter(model(requests))
    found = []
    for sample, words in zip(samples, kept, strict=True):
        of_each = {name: next(replies) for name in sample.labels}
        lost = {name: reply for name, reply in of_each.items() if isinstance(reply, Refused)}
        again = next((name for name, reply in lost.items() if reply.again), None)
        if lost and (again is not None or len(lost) == len(of_each)):
            name = again or next(iter(lost))
            found.append(unanswered(Refused(f"{name}: {lost[name].why}", again=lost[name].again), words))
            continue
        said = {name: reply.text for name, reply in of_each.items() if name not in lost}
        raw = Raw(YES_NO, {}, {name: reply.why for name, reply in lost.items()}, said)
        found.append(Asked(msgspec.json.encode(raw).decode(), prompt=words))
    return found


def yes_or_no(written: str) -> bool | None:
    """What an answer in words begins with, behind a model's thoughts; None where that is neither yes nor no."""
    found = _YES_NO.match(without_thinking(written))
    return None if found is None else found[1].lower() == "yes"


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
