"""Asking a model which of eight emotions somebody feels: by its heads, by a first token, or after it has reasoned.

What is kept of an answer is JSON: both logits of each emotion, as they came.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from emotui.backends.base import Generate, Refused, Score
from emotui.records import ScenesGold
from emotui.tasks.prompting.files import Prompt, as_chat, as_kept, filled
from emotui.tasks.scenes.prompts import FIRST_TOKEN, REASONED, questions, scene_fields, shared_and_asked
from emotui.tasks.task import Asked, AskModel, unanswered

HEADS = "heads"
ANSWER = "<answer>"
MAX_TOKENS = 400

_CONFIDENCE = re.compile(r"<confidence>\s*([1-5])\s*</confidence>")


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a model said about one emotion: both logits, the probability on either word, and how it came to it."""

    yes: float
    no: float
    mass: float = 1.0
    censored: str = ""
    confidence: int | None = None
    text: str = ""


class Raw(msgspec.Struct, frozen=True):
    way: str
    answers: Mapping[str, Answer]


def ask_heads(samples: Sequence[ScenesGold], model: AskModel) -> list[Asked]:
    requests = [Score(sample.text or "", tuple(sample.labels)) for sample in samples]
    return _scored(samples, requests, model, HEADS, [None] * len(samples))


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
        asked.append(Asked(_kept(way, found), prompt=prompt))
    return asked


def ask_reasoned(
    samples: Sequence[ScenesGold], model: AskModel, prompt: Prompt, grammar: str | None = None
) -> list[Asked]:
    """First the reasoning up to the answer's tag, then yes against no right behind it."""
    shared, asked = shared_and_asked(prompt)
    pairs = [(sample, name) for sample in samples for name in sample.labels]
    fields = {sample.id: scene_fields(sample.text, sample.subject) for sample in samples}
    scenes = {sample.id: filled(shared, fields[sample.id]) for sample in samples}
    wording = [questions(asked, fields[sample.id], (name,))[0] for sample, name in pairs]
    thoughts = model(
        [
            Generate(
                as_chat(prompt, scenes[sample.id] + question), max_tokens=MAX_TOKENS, stop=(ANSWER,), grammar=grammar
            )
            for (sample, _), question in zip(pairs, wording, strict=True)
        ]
    )
    openings: list[str | None] = []
    lost: dict[str, Refused] = {}
    for (sample, name), thought in zip(pairs, thoughts, strict=True):
        trouble = _unfinished(thought)
        openings.append(None if trouble else thought.text.split(ANSWER)[0] + ANSWER)
        if trouble:
            _lose(lost, sample.id, name, trouble)
    whole = [place for place, (sample, _) in enumerate(pairs) if sample.id not in lost]
    scores = model(
        [
            Score(sample.text or "", (wording[p],), as_chat(prompt, scenes[sample.id]), openings[p] or "")
            for p, (sample, _) in ((place, pairs[place]) for place in whole)
        ]
    )
    found: dict[str, dict[str, Answer]] = {sample.id: {} for sample in samples}
    for place, answer in zip(whole, scores, strict=True):
        sample, name = pairs[place]
        if isinstance(answer, Refused):
            _lose(lost, sample.id, name, answer)
            continue
        text = openings[place] or ""
        sure = _CONFIDENCE.search(text)
        censored = answer.censored[0] if answer.censored else ""
        confidence = int(sure[1]) if sure else None
        found[sample.id][name] = Answer(answer.yes[0], answer.no[0], answer.mass[0], censored, confidence, text)
    prompts = {s.id: as_kept(as_chat(prompt, scenes[s.id] + filled(asked, fields[s.id]))) for s in samples}
    return [
        unanswered(lost[s.id], prompts[s.id])
        if s.id in lost
        else Asked(_kept(REASONED, found[s.id]), prompt=prompts[s.id])
        for s in samples
    ]


def _unfinished(thought: Any) -> Refused | None:
    if isinstance(thought, Refused):
        return thought
    if thought.finish == "length" and ANSWER not in thought.text:
        return Refused(f"the model came to no answer within {MAX_TOKENS} tokens")
    return None


def _lose(lost: dict[str, Refused], key: str, emotion: str, why: Refused) -> None:
    """Keep the first reason; one of the question's own before one that may be gone another time."""
    if key not in lost or (lost[key].again and not why.again):
        lost[key] = Refused(f"{emotion}: {why.why}", again=why.again)


def _kept(way: str, answers: Mapping[str, Answer]) -> str:
    return msgspec.json.encode(Raw(way, answers)).decode()
