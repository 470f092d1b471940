"""`Generate` on a server."""

from typing import Any

from emotui.backends.base import Generate, Generation
from emotui.backends.servers.asking import Asker, written
from emotui.backends.servers.faults import Unanswered

_FINISHES = {"stop": "stop", "length": "length", None: "stop"}


async def write(asker: Asker, request: Generate) -> Generation:
    """Answer one request; token counts are the server's own (0 where it gives none).

    Raises:
        Unanswered: the server refuses it, fails at it, or withholds the answer.
        ModelError: no other request would fare better.
    """
    fields: dict[str, Any] = {
        "max_tokens": request.max_tokens,
        "temperature": request.temperature,
        "top_p": request.top_p,
        "seed": request.seed,
    }
    if request.stop:
        fields["stop"] = list(request.stop)
    answer = await asker.ask(request.messages, fields, opening=request.opening, grammar=request.grammar)
    finish = answer.choices[0].finish_reason
    if finish == "content_filter":
        raise Unanswered("the server's content filter withholds the answer")
    used = answer.usage
    return Generation(
        text=written(answer),
        prompt_tokens=used.prompt_tokens if used else 0,
        tokens=used.completion_tokens if used else 0,
        finish=_FINISHES.get(finish, str(finish)),
    )
