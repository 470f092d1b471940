"""`Score` on a server: yes against no in the log-probabilities of the first token, as far as the server shows them."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from emotui.backends.base import Generate, Generation, Message, Refused, Score, Scores
from emotui.backends.grammars import with_verdict
from emotui.backends.rendering import with_question
from emotui.backends.servers.abilities import SPACES, answer_tokens, behind, first_token, logprob_fields
from emotui.backends.servers.answers import ABSENT, ChatAnswer, TextAnswer
from emotui.backends.servers.asking import Asks, written
from emotui.backends.servers.faults import Unanswered
from emotui.backends.yesno import NO, YES

_SIDES = {"yes": YES, "no": NO}
_ROUNDING = 1e-6
"""What is left of 1 is not taken for less: servers round their log-probabilities."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One question's answer; fields as in `Scores`."""

    yes: float
    no: float
    mass: float
    shares: Mapping[str, float]
    censored: str


async def judge(asker: Asks, question: tuple[tuple[Message, ...], str]) -> Verdict:
    """Ask one question (its messages and the opening of the answer) and read the first token's alternatives.

    Raises:
        Unanswered: the server refuses it or fails at it, or sends no log-probabilities this once.
        ModelError: no other request would fare better.
    """
    messages, opening = question
    width = asker.abilities.width
    fields = {"max_tokens": 1, "temperature": 0.0, **logprob_fields(asker.abilities.endpoint, width)}
    seen = first_token(await asker.ask(messages, fields, opening=opening))
    if not seen:
        raise Unanswered("the server sent no log-probabilities with its answer", again=True)
    return read_verdict(seen)


def read_verdict(seen: Iterable[tuple[str, float]]) -> Verdict:
    """Yes against no from the alternatives that a server shows; a form that is not shown counts as nothing.

    A side of which no form is among them is censored: its value is then the highest that its six forms can have
    together, each being at most as likely as the least likely alternative shown, and all at most what is left of 1.

    Args:
        seen: tokens and their log-probabilities; at least one.
    """
    found = [(token.translate(SPACES), logprob) for token, logprob in seen if logprob > ABSENT]
    least = min((logprob for _, logprob in found), default=0.0)
    left = max(1.0 - sum(math.exp(logprob) for _, logprob in found), _ROUNDING)
    values: dict[str, float] = {}
    probabilities: dict[str, float] = {}
    missing: list[str] = []
    for side, forms in _SIDES.items():
        shown = [(token, logprob) for token, logprob in found if token in forms]
        for token, logprob in shown:
            probabilities[token] = probabilities.get(token, 0.0) + math.exp(logprob)
        if shown:
            values[side] = _total([logprob for _, logprob in shown])
        else:
            values[side] = min(math.log(len(forms)) + least, math.log(left))
            missing.append(side)
    mass = sum(probabilities.values())
    return Verdict(
        yes=values["yes"],
        no=values["no"],
        mass=min(mass, 1.0),
        shares={token: value / mass if mass else 0.0 for token, value in probabilities.items()},
        censored="both" if len(missing) == 2 else "".join(missing),
    )


def questions_of(request: Score) -> list[tuple[tuple[Message, ...], str]]:
    """The prompt of each question: added to the last user message, or below the text where there are no messages.

    Raises:
        ModelError: there are messages, and none of them is the user's.
    """
    if not request.messages:
        return [
            ((Message("user", f"{request.text}\n\n{question}"),), request.opening) for question in request.questions
        ]
    return [(with_question(request.messages, question), request.opening) for question in request.questions]


def gather(verdicts: Sequence[Verdict | Refused]) -> Scores | Refused:
    """One request's verdicts as its result; refused as a whole where one question was (for good, if any was so)."""
    refused = [each for each in verdicts if isinstance(each, Refused)]
    if refused:
        return next((each for each in refused if not each.again), refused[0])
    good = [each for each in verdicts if isinstance(each, Verdict)]
    return Scores(
        yes=tuple(each.yes for each in good),
        no=tuple(each.no for each in good),
        mass=tuple(each.mass for each in good),
        shares=tuple(each.shares for each in good),
        censored=tuple(each.censored for each in good),
    )


def _total(logprobs: Sequence[float]) -> float:
    """The logarithm of the sum of probabilities."""
    top = max(logprobs)
    return top + math.log(sum(math.exp(each - top) for each in logprobs))


# `Generate` on a server, and yes against no where the answer went on behind the words that it was to end before.

_FINISHES = {"stop": "stop", "length": "length", None: "stop", "eos_token": "stop", "stop_sequence": "stop"}
"""The last two are TGI's words."""


_BEHIND = 16
"""Tokens that an answer may have behind the words where it is judged: the tag's own, and yes or no."""


async def write(asker: Asks, request: Generate) -> Generation:
    """Answer one request; token counts are the server's own (0 where it gives none).

    A request for a `verdict` is not stopped where the server cannot begin an answer with given words: what the model
    itself says behind the first of `stop` is read, and left out of the text.

    Raises:
        Unanswered: the server refuses it, fails at it, or withholds the answer.
        ModelError: no other request would fare better.
    """
    goes_on = request.verdict and bool(request.stop) and asker.judges_itself
    fields: dict[str, Any] = {
        "max_tokens": request.max_tokens + asker.room + (_BEHIND if goes_on else 0),
        "temperature": request.temperature,
        "top_p": request.top_p,
        "seed": request.seed,
    }
    if goes_on:
        fields |= logprob_fields(asker.abilities.endpoint, asker.abilities.width)
    elif request.stop:
        fields["stop"] = list(request.stop)
    grammar = request.grammar and (with_verdict(request.grammar) if goes_on else request.grammar)
    answer = await asker.ask(request.messages, fields, opening=request.opening, grammar=grammar)
    finish = answer.choices[0].finish_reason
    if finish == "content_filter":
        raise Unanswered("the server's content filter withholds the answer")
    text, ended, verdict = written(answer), _FINISHES.get(finish, str(finish)), None
    if goes_on:
        text, ended, verdict = _judged(answer, text, ended, request.stop[0])
    elif (end := min((text.find(stop) for stop in request.stop if stop in text), default=-1)) >= 0:
        text, ended = text[:end], "stop"  # of a server that takes no such field
    used = answer.usage
    return Generation(
        text=text,
        prompt_tokens=used.prompt_tokens if used else 0,
        tokens=used.completion_tokens if used else 0,
        finish=ended,
        verdict=verdict,
    )


def _judged(answer: ChatAnswer | TextAnswer, text: str, finish: str, tag: str) -> tuple[str, str, Scores | None]:
    """The text before the tag, how it ended, and yes against no behind it.

    Raises:
        Unanswered: the model came to the tag, and the server does not tell what else might have stood behind it.
    """
    before, found, _ = text.partition(tag)
    if not found:
        # It ended by itself without the tag: there is no place to read an answer at.
        return text, "length", None
    seen = behind(answer_tokens(answer), tag)
    if not seen:
        raise Unanswered(f"the server sent no log-probabilities for what stands behind {tag}")
    verdict = gather([read_verdict(seen)])
    assert isinstance(verdict, Scores)
    return before, "stop", verdict
