"""`Score` on a server: yes against no in the log-probabilities of the first token, as far as the server shows them."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from emotui.backends.base import Message, Refused, Score, Scores
from emotui.backends.rendering import with_question
from emotui.backends.servers.abilities import SPACES, first_token, logprob_fields
from emotui.backends.servers.answers import ABSENT
from emotui.backends.servers.asking import Asks
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
