"""`Generate` on a server, and yes against no where the answer went on behind the words that it was to end before."""

from typing import Any

from emotui.backends.base import Generate, Generation, Scores
from emotui.backends.grammars import with_verdict
from emotui.backends.servers.abilities import answer_tokens, behind, logprob_fields
from emotui.backends.servers.answers import ChatAnswer, TextAnswer
from emotui.backends.servers.asking import Asks, written
from emotui.backends.servers.faults import Unanswered
from emotui.backends.servers.scoring import gather, read_verdict

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
