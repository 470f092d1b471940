"""One `Generate` request: its body on either endpoint, its answer, and how a server is told a grammar."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from emotui.backends.base import Generate, Generation, Message
from emotui.backends.servers.abilities import Abilities
from emotui.backends.servers.answers import ChatAnswer, TextAnswer
from emotui.backends.servers.budget import Bill, Budget
from emotui.backends.servers.connection import Connection
from emotui.backends.servers.faults import Unanswered
from emotui.errors import ModelError

_GRAMMAR_FIELDS = (
    lambda grammar: {"grammar": grammar},  # llama-server, llama_cpp.server
    lambda grammar: {"structured_outputs": {"grammar": grammar}},  # vLLM
    lambda grammar: {"guided_grammar": grammar},  # vLLM before 0.11
    lambda grammar: {"ebnf": grammar},  # SGLang
)
_TRIAL = ('root ::= "qz"', "qz")
_FINISHES = {"stop": "stop", "length": "length", None: "stop"}


class Writer:
    """Asks one server to write, within a budget."""

    def __init__(self, connection: Connection, model: str, abilities: Abilities, budget: Budget) -> None:
        self._connection = connection
        self._model = model
        self._abilities = abilities
        self._budget = budget
        self._grammar_field: int | None = None
        self._trial = asyncio.Lock()

    async def write(self, request: Generate) -> Generation:
        """Answer one request.

        Raises:
            Unanswered: the server refuses it or fails at it.
            ModelError: no other request would fare better.
        """
        constraint = {} if request.grammar is None else await self._constraint(request.grammar)
        sampling: dict[str, Any] = {
            "max_tokens": request.max_tokens,
            "temperature": request.temperature,
            "top_p": request.top_p,
            "seed": request.seed,
        }
        if request.stop:
            sampling["stop"] = list(request.stop)
        answer = await self.ask(request.messages, sampling, constraint)
        choice = answer.choices[0]
        text = choice.text if not isinstance(answer, ChatAnswer) else (choice.message.content or "")  # type: ignore[union-attr]
        if choice.finish_reason == "content_filter":
            raise Unanswered("the server's content filter withholds the answer")
        used = answer.usage
        return Generation(
            text=text,
            prompt_tokens=used.prompt_tokens if used else 0,
            tokens=used.completion_tokens if used else 0,
            finish=_FINISHES.get(choice.finish_reason, str(choice.finish_reason)),
        )

    async def ask(
        self, messages: Sequence[Message], fields: Mapping[str, Any], constraint: Mapping[str, Any] | None = None
    ) -> ChatAnswer | TextAnswer:
        """Send one prompt with these fields, on the endpoint that the server has; at least one choice comes back."""
        body: dict[str, Any] = {"model": self._model, **fields}
        extra = {**self._connection.settings.extra, **(constraint or {})}
        if extra:
            body["extra_body"] = extra
        most = sum(len(message.content.encode()) for message in messages)
        answer: ChatAnswer | TextAnswer
        async with self._budget.hold(most, int(fields["max_tokens"])) as bill:
            if self._abilities.endpoint == "chat":
                body["messages"] = [{"role": message.role, "content": message.content} for message in messages]
                answer = await self._connection.chat(body)
            else:
                body["prompt"] = plain_prompt(messages)
                answer = await self._connection.complete(body)
            _count(answer, bill)
        self._same_server(answer)
        return answer

    def _same_server(self, answer: ChatAnswer | TextAnswer) -> None:
        """Results are kept under the identity of what was loaded, so another model or build must not slip in."""
        served, clean = self._abilities, self._connection.tell.clean
        if answer.model and answer.model != served.served_as:
            raise ModelError(
                f"The server now answers as {clean(answer.model)!r}, not as {clean(served.served_as)!r}: load it again"
            )
        if self._connection.settings.fingerprint == "hold" and (answer.system_fingerprint or "") != served.fingerprint:
            raise ModelError(
                f"The server now reports the build {clean(answer.system_fingerprint or 'none')!r}, not "
                f"{clean(served.fingerprint or 'none')!r}: load it again, or set fingerprint=ignore"
            )

    async def _constraint(self, grammar: str) -> Mapping[str, Any]:
        """The field in which this server takes a grammar: found once, by a grammar that allows one odd word."""
        async with self._trial:
            if self._grammar_field is None:
                self._grammar_field = await self._try_grammars()
        if self._grammar_field < 0:
            raise Unanswered("the server does not follow a grammar: run without --constrain")
        return _GRAMMAR_FIELDS[self._grammar_field](grammar)

    async def _try_grammars(self) -> int:
        grammar, only = _TRIAL
        question = (Message("user", "Say hello."),)
        for place, field in enumerate(_GRAMMAR_FIELDS):
            try:
                answer = await self.ask(question, {"max_tokens": 8, "temperature": 0.0}, field(grammar))
            except Unanswered as fault:
                if fault.again and fault.status is None:
                    raise
                continue
            choice = answer.choices[0]
            text = choice.message.content if hasattr(choice, "message") else choice.text
            if (text or "").strip() == only:
                return place
        return -1


def plain_prompt(messages: Sequence[Message]) -> str:
    """The prompt for a model without a chat template: the messages' texts, an empty line between them."""
    return "\n\n".join(message.content for message in messages)


def _count(answer: ChatAnswer | TextAnswer, bill: Bill) -> None:
    if answer.usage is not None:
        bill.read, bill.written = answer.usage.prompt_tokens, answer.usage.completion_tokens
