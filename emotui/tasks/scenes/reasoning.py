"""Asking a model about one emotion at a time: it reasons, then yes stands against no where its answer begins."""

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from emotui.backends.base import Generate, Refused, Score
from emotui.records import ScenesGold
from emotui.tasks.prompting.files import Prompt, as_chat, as_kept, filled
from emotui.tasks.prompting.settings import without_thinking
from emotui.tasks.scenes.asking import REASONED, Answer, as_raw, questions, scene_fields, shared_and_asked
from emotui.tasks.task import Asked, AskModel, unanswered

ANSWER = "<answer>"
MAX_TOKENS = 400
RETRY_TEMPERATURE = 0.6
"""Of a further try: the same question would only bring the same answer."""

_CONFIDENCE = re.compile(r"<confidence>\s*([1-5])\s*</confidence>")


class Reasoning(msgspec.Struct, frozen=True):
    """How a model is asked. `room`: tokens for each answer; `retries`: further tries where it comes to none."""

    prompt: Prompt
    room: int = MAX_TOKENS
    retries: int = 0
    grammar: str | None = None


class _Question(msgspec.Struct, frozen=True):
    """About one emotion in one scenario. `chat`: what its questions share; `asked`: this one's part."""

    sample: ScenesGold
    emotion: str
    chat: str
    asked: str
    seed: int


def ask_reasoned(samples: Sequence[ScenesGold], model: AskModel, how: Reasoning, seeds: Sequence[int]) -> list[Asked]:
    """Ask about each emotion of each scenario. One that comes to no answer costs itself; all of them, the scenario.

    A server in trouble over one leaves the scenario open.
    """
    shared, asked = shared_and_asked(how.prompt)
    open_questions: list[_Question] = []
    prompts: list[str] = []
    for sample, seed in zip(samples, seeds, strict=True):
        fields = scene_fields(sample.text, sample.subject)
        scene = filled(shared, fields)
        names = tuple(sample.labels)
        wording = questions(asked, fields, names)
        open_questions += [
            _Question(sample, name, scene, each, seed) for name, each in zip(names, wording, strict=True)
        ]
        prompts.append(as_kept(as_chat(how.prompt, scene + filled(asked, fields))))
    found = _judged(open_questions, _thought(open_questions, model, how), model, how)
    results = iter(found)
    return [
        _together([(name, next(results)) for name in sample.labels], prompt)
        for sample, prompt in zip(samples, prompts, strict=True)
    ]


def _thought(asked: Sequence[_Question], model: AskModel, how: Reasoning) -> list[Any]:
    """What the model wrote up to the answer's tag for each question, or why it came to none."""
    found: list[Any] = [None] * len(asked)
    waiting = list(range(len(asked)))
    for attempt in range(how.retries + 1):
        replies = model(
            [
                Generate(
                    as_chat(how.prompt, asked[place].chat + asked[place].asked),
                    max_tokens=how.room,
                    temperature=RETRY_TEMPERATURE if attempt else 0.0,
                    seed=asked[place].seed + attempt,
                    stop=(ANSWER,),
                    grammar=how.grammar,
                    verdict=True,
                )
                for place in waiting
            ]
        )
        unfinished = []
        for place, reply in zip(waiting, replies, strict=True):
            if isinstance(reply, Refused):
                found[place] = reply if found[place] is None or reply.again else found[place]
            elif reply.finish == "length" and ANSWER not in without_thinking(reply.text):
                found[place] = Refused(f"the model came to no answer within {how.room} tokens")
                unfinished.append(place)
            else:
                found[place] = reply
        waiting = unfinished
        if not waiting:
            break
    return found


def _judged(
    asked: Sequence[_Question], thoughts: Sequence[Any], model: AskModel, how: Reasoning
) -> list[Answer | Refused]:
    """Yes against no behind each thought: as the model itself went on, where that is told, else asked for."""
    openings = ["" if isinstance(thought, Refused) else _opening(thought.text) for thought in thoughts]
    to_score = [
        place for place, thought in enumerate(thoughts) if not isinstance(thought, Refused) and thought.verdict is None
    ]
    scores = iter(
        model(
            [
                Score(
                    asked[place].sample.text or "",
                    (asked[place].asked,),
                    as_chat(how.prompt, asked[place].chat),
                    openings[place],
                )
                for place in to_score
            ]
        )
        if to_score
        else ()
    )
    found: list[Answer | Refused] = []
    for thought, text in zip(thoughts, openings, strict=True):
        said = thought
        if not isinstance(thought, Refused):
            said = next(scores) if thought.verdict is None else thought.verdict
        if isinstance(said, Refused):
            found.append(said)
            continue
        sure = _CONFIDENCE.search(text)
        censored = said.censored[0] if said.censored else ""
        found.append(Answer(said.yes[0], said.no[0], said.mass[0], censored, int(sure[1]) if sure else None, text))
    return found


def _opening(text: str) -> str:
    """What a model wrote up to the answer's tag, thoughts that it had before included."""
    answer = without_thinking(text)
    return text[: len(text) - len(answer)] + answer.split(ANSWER)[0] + ANSWER


def _together(answers: Sequence[tuple[str, Answer | Refused]], prompt: str) -> Asked:
    """The answers about one scenario as they are kept."""
    lost = {name: answer for name, answer in answers if isinstance(answer, Refused)}
    found = {name: answer for name, answer in answers if isinstance(answer, Answer)}
    again = next((each for each in lost.items() if each[1].again), None)
    if lost and (again is not None or not found):
        name, why = again or next(iter(lost.items()))
        return unanswered(Refused(f"{name}: {why.why}", again=why.again), prompt)
    return Asked(as_raw(REASONED, found, {name: why.why for name, why in lost.items()}), prompt=prompt)
