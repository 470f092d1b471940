"""Asking a model which of eight emotions somebody feels: by its heads, by statements it judges, by a first token, or in
words.

What is kept of an answer is JSON: both logits of each emotion, or what the model wrote of it, as they came.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from emotui.backends.base import Generate, Refused, Score
from emotui.records import ScenesGold
from emotui.tasks.prompting.files import Places, Prompt, Prompts, as_chat, as_kept, filled, read_prompt_file
from emotui.tasks.prompting.settings import (
    ANSWER,
    COT,
    NLI,
    ROOM,
    YES_NO,
    ZERO_SHOT,
    answer_each,
    check_hypotheses,
    hypothesis_places,
    stated,
    without_thinking,
)
from emotui.tasks.task import Asked, AskModel, unanswered

# What a model that writes is asked about a scenario (EmoScene, appendix E), and prompts of the user's own from a
# file.

FIRST_TOKEN, REASONED = "first-token", "reasoned"
WAYS = (FIRST_TOKEN, REASONED, YES_NO)

SYSTEM = "You read short scenes and judge what one person in them feels. Judge that person only, from what is written."
SCENE = "Scene:\n{text}\n\nPerson: {subject}\n\n"
QUESTION = "Does {subject} feel {emotion} in this scene? Answer with one word, Yes or No."
REASONING = (
    "Does {subject} feel {emotion} in this scene? Go about it in this order. First name, in two or three short "
    "sentences, what in the scene speaks for it or against it. Then write how sure you are, from 1 (a guess) to 5 "
    "(certain), as <confidence>N</confidence>, and nothing about why. Last write <answer>Yes</answer> or "
    "<answer>No</answer>, and stop."
)
SOMEONE = "the person at its centre"
"""The subject of a scenario that names none."""

PROMPTS: Prompts = {
    FIRST_TOKEN: Prompt(SCENE + QUESTION, SYSTEM),
    REASONED: Prompt(SCENE + REASONING, SYSTEM),
    YES_NO: Prompt(SCENE + QUESTION, SYSTEM),
    NLI: Prompt("{subject} feels {emotion}."),
}
"""This project's own."""

_TEXT, _SUBJECT, _EMOTION = "{text}", "{subject}", "{emotion}"
_PLACES = Places(once=(_TEXT,), often=(_SUBJECT, _EMOTION), barred=(_TEXT, _SUBJECT, _EMOTION))


def read_scenes_prompts(path: str) -> Prompts:
    """A prompt file with a table for one way or more. Raises BadInput as `read_prompt_file` and `check_hypotheses`."""
    places = dict.fromkeys(WAYS, _PLACES) | {NLI: hypothesis_places(_EMOTION)}
    return check_hypotheses(path, read_prompt_file(path, places, WAYS, {ZERO_SHOT: FIRST_TOKEN, COT: REASONED}))


def shared_and_asked(prompt: Prompt) -> tuple[str, str]:
    """`user` before and from the line that names the emotion first: what eight questions share, and where they part.

    A model computes the first part once, and the two one after the other are all of `user`.
    """
    here = prompt.user.rfind("\n", 0, prompt.user.find(_EMOTION)) + 1
    return prompt.user[:here], prompt.user[here:]


def scene_fields(text: str | None, subject: str | None) -> Mapping[str, str]:
    """What is filled in about a scenario; the emotion comes with each question."""
    return {"text": text or "", "subject": subject or SOMEONE}


def questions(asked: str, fields: Mapping[str, str], emotions: tuple[str, ...]) -> tuple[str, ...]:
    """One question for each emotion."""
    return tuple(filled(asked, {**fields, "emotion": emotion}) for emotion in emotions)


def statements(template: Prompt, fields: Mapping[str, str], emotions: tuple[str, ...]) -> tuple[str, ...]:
    """What an NLI model judges, one statement for each emotion."""
    return tuple(stated(template, {**fields, "emotion": emotion}) for emotion in emotions)


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
    chats = []
    kept = []
    for sample in samples:
        fields = scene_fields(sample.text, sample.subject)
        scene, names = filled(shared, fields), tuple(sample.labels)
        wording = questions(asked, fields, names)
        chats.append({name: as_chat(prompt, scene + each) for name, each in zip(names, wording, strict=True)})
        kept.append("\n".join((as_kept(as_chat(prompt, scene)), *wording)))
    found = []
    for reply, words in zip(answer_each(chats, model, room, seeds), kept, strict=True):
        if isinstance(reply, Refused):
            found.append(unanswered(reply, words))
            continue
        raw = Raw(YES_NO, {}, reply.unanswered, reply.said)
        found.append(Asked(msgspec.json.encode(raw).decode(), prompt=words))
    return found


def wants_reasons(prompt: Prompt) -> bool:
    """Whether an answer in words has its yes or no behind a tag."""
    return ANSWER in prompt.user or ANSWER in (prompt.system or "")


def room_of(prompt: Prompt) -> int:
    """Tokens for an answer in words."""
    return MAX_TOKENS if wants_reasons(prompt) else ROOM


def confidence_in(written: str) -> int | None:
    """What stands in the first `<confidence>` of an answer; None without a whole number from 1 to 5."""
    found = _CONFIDENCE.search(written)
    return None if found is None else int(found[1])


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


# Asking a model about one emotion at a time: it reasons, then yes stands against no where its answer begins.

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
        censored = said.censored[0] if said.censored else ""
        found.append(Answer(said.yes[0], said.no[0], said.mass[0], censored, confidence_in(text), text))
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
