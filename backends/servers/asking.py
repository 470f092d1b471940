"""One prompt to the server, on the endpoint that it has, within the budget, and only while it is what was loaded."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from emotui.backends.base import Embed, Message
from emotui.backends.rendering import plain_prompt
from emotui.backends.servers.abilities import Abilities
from emotui.backends.servers.answers import ChatAnswer, ChatChoice, TextAnswer
from emotui.backends.servers.connection import Connection
from emotui.backends.servers.faults import Unanswered
from emotui.backends.servers.settings import Settings
from emotui.errors import ModelError

# Tokens and money that a loaded server model may use. A request is only sent when it surely fits.

_TEMPLATE = 128
"""Tokens allowed for what a chat template adds around the messages."""


class Spent(ModelError):
    """The budget has no room for the next request."""


@dataclass(slots=True)
class Bill:
    """What one request used, as the server counted it."""

    read: int = 0
    written: int = 0


class Budget:
    """Counts from loading on. What is under way is held back at its most, so that the limit is not overrun.

    The most that a prompt can cost is one token a byte (no tokeniser of bytes needs more), plus its template.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.read = self.written = 0
        self._held: list[tuple[int, int]] = []
        self._settled = asyncio.Condition()

    @property
    def money(self) -> float:
        """Spent so far, in the unit of the prices."""
        return self._price(self.read, self.written)

    def _price(self, read: int, written: int) -> float:
        return (read * self._settings.price_in + written * self._settings.price_out) / 1e6

    @property
    def limited(self) -> bool:
        return self._settings.token_budget is not None or self._settings.money_budget is not None

    @asynccontextmanager
    async def hold(self, prompt_bytes: int, max_tokens: int) -> AsyncIterator[Bill]:
        """Wait until the request fits beside those under way; what the `Bill` then says is counted.

        Raises:
            Spent: it cannot fit any more.
        """
        most = (prompt_bytes + _TEMPLATE, max_tokens)
        async with self._settled:
            while not self._fits(most):
                if not self._held:
                    raise Spent(self._words())
                await self._settled.wait()
            self._held.append(most)
        bill = Bill()
        try:
            yield bill
        finally:
            self._held.remove(most)
            self.count(bill.read, bill.written)
            async with self._settled:
                self._settled.notify_all()

    def count(self, read: int, written: int) -> None:
        """Add tokens that were used."""
        self.read += read
        self.written += written

    def _fits(self, most: tuple[int, int]) -> bool:
        if not self.limited:
            return True
        read = self.read + most[0] + sum(held[0] for held in self._held)
        written = self.written + most[1] + sum(held[1] for held in self._held)
        tokens, money = self._settings.token_budget, self._settings.money_budget
        return (tokens is None or read + written <= tokens) and (money is None or self._price(read, written) <= money)

    def _words(self) -> str:
        used = f"{self.read + self.written} tokens used"
        if self._settings.money_budget is None:
            return f"the budget of {self._settings.token_budget} tokens has no room for another request ({used})"
        limit = f"{self._settings.money_budget:g}"
        if self._settings.token_budget is not None:
            limit += f" or {self._settings.token_budget} tokens"
        return f"the budget of {limit} has no room for another request ({self.money:.4f} spent, {used})"


_GRAMMAR_FIELDS: Sequence[Callable[[str], Mapping[str, Any]]] = (
    lambda grammar: {"grammar": grammar},  # llama-server, llama_cpp.server
    lambda grammar: {"structured_outputs": {"grammar": grammar}},  # vLLM
    lambda grammar: {"guided_grammar": grammar},  # vLLM before 0.12
    lambda grammar: {"ebnf": grammar},  # SGLang
)
_MOST_BUILDS = 100
_TRIAL = ('root ::= "qz"', "qz")
CONTINUE = {"continue_final_message": True, "add_generation_prompt": False}
_PREFILLS: Mapping[str, Mapping[str, Any]] = {"continue": CONTINUE, "assistant": {}}


class Asks(Protocol):
    """Whatever answers a prompt as a server does. Attributes and methods as of `Asker`."""

    abilities: Abilities

    @property
    def judges_itself(self) -> bool: ...

    @property
    def room(self) -> int: ...

    async def ask(
        self,
        messages: Sequence[Message],
        fields: Mapping[str, Any],
        *,
        opening: str = "",
        grammar: str | None = None,
    ) -> ChatAnswer | TextAnswer: ...


class Asker:
    """Sends prompts for a loaded model.

    Args:
        connection: to the server.
        model: the name that the server knows it by.
        abilities: what was found at loading.
        budget: counts what is used.
    """

    def __init__(self, connection: Connection, model: str, abilities: Abilities, budget: Budget) -> None:
        self.abilities = abilities
        self._connection = connection
        self._model = model
        self._budget = budget
        self._builds = [abilities.fingerprint]
        self._told = 0
        self._grammar_field: int | None = None
        self._trial = asyncio.Lock()

    async def ask(
        self,
        messages: Sequence[Message],
        fields: Mapping[str, Any],
        *,
        opening: str = "",
        grammar: str | None = None,
    ) -> ChatAnswer | TextAnswer:
        """The server's answer to one prompt, with at least one choice.

        Args:
            messages: the conversation.
            fields: of the request's body (`max_tokens` among them).
            opening: what the model's turn begins with.
            grammar: what the answer has to follow (GBNF).

        Raises:
            Unanswered: the server refuses this request or fails at it.
            ModelError: no other request would fare better; it follows no grammar.
        """
        constraint = {} if grammar is None else await self._constraint(grammar)
        return await self._send(messages, fields, opening, constraint)

    @property
    def judges_itself(self) -> bool:
        """Whether yes and no are read from what the model wrote: it gives their figures, but no answer can be begun."""
        served = self.abilities
        return served.endpoint == "chat" and served.prefill not in _PREFILLS and served.width > 0

    @property
    def room(self) -> int:
        """Tokens for thoughts, beside an answer's own."""
        settings = self._connection.settings
        return settings.thinking_room if settings.thinking == "on" else 0

    def new_builds(self) -> tuple[str, ...]:
        """Builds that the server has reported since this was last asked, each once; those held or ignored are none."""
        if builds_are(self._connection.settings, self.abilities) != "note":
            return ()
        new, self._told = self._builds[self._told :], len(self._builds)
        return tuple(self._connection.tell.clean(each) for each in new if each)

    async def embed(self, request: Embed) -> list[float]:
        """The vector of one text; raises as `ask` does."""
        body = {"model": self._model, "input": request.text, "encoding_format": "float"}
        async with self._budget.hold(len(request.text.encode(errors="replace")), 0) as bill:
            answer = await self._connection.embed(body)
            if answer.usage is not None:
                bill.read = answer.usage.prompt_tokens
        if not answer.data:
            raise Unanswered("the server sent no embedding", again=True)
        if answer.model and answer.model != self.abilities.served_as:
            raise ModelError(
                f"The server now answers as {self._connection.tell.clean(answer.model)!r}, not as "
                f"{self._connection.tell.clean(self.abilities.served_as)!r}: load it again"
            )
        return answer.data[0].embedding

    async def _send(
        self, messages: Sequence[Message], fields: Mapping[str, Any], opening: str, constraint: Mapping[str, Any]
    ) -> ChatAnswer | TextAnswer:
        body: dict[str, Any] = {"model": self._model, **fields}
        extra = {**self.abilities.neutral, **self._connection.settings.extra, **constraint}
        try:
            most = sum(len(message.content.encode()) for message in messages) + len(opening.encode())
        except UnicodeEncodeError:
            raise Unanswered("the text holds half a character (a lone surrogate), which no request can carry") from None
        answer: ChatAnswer | TextAnswer
        async with self._budget.hold(most, int(fields["max_tokens"])) as bill:
            if self.abilities.endpoint == "chat":
                body["messages"] = [{"role": message.role, "content": message.content} for message in messages]
                if opening:
                    body["messages"].append({"role": "assistant", "content": opening})
                    extra |= self._prefill()
                answer = await self._connection.chat(body | ({"extra_body": extra} if extra else {}))
            else:
                body["prompt"] = plain_prompt(messages) + (f" {opening}" if opening else "")
                answer = await self._connection.complete(body | ({"extra_body": extra} if extra else {}))
            if answer.usage is not None:
                bill.read, bill.written = answer.usage.prompt_tokens, answer.usage.completion_tokens
        self._same_server(answer)
        return answer

    def _prefill(self) -> Mapping[str, Any]:
        """The fields by which this server lets the model go on with a turn that has begun."""
        if self.abilities.prefill not in _PREFILLS:
            raise Unanswered(
                "this server is not known to let an answer begin with given words: set prefill=continue (vLLM, SGLang) "
                "or prefill=assistant (llama-server)"
            )
        return _PREFILLS[self.abilities.prefill]

    def _same_server(self, answer: ChatAnswer | TextAnswer) -> None:
        """Results are kept under the identity of what was loaded, so another model or build must not slip in."""
        served, clean = self.abilities, self._connection.tell.clean
        if answer.model and answer.model != served.served_as:
            raise ModelError(
                f"The server now answers as {clean(answer.model)!r}, not as {clean(served.served_as)!r}: load it again"
            )
        build = answer.system_fingerprint or ""
        if build not in self._builds and len(self._builds) < _MOST_BUILDS:
            self._builds.append(build)
        if builds_are(self._connection.settings, served) == "hold" and build != served.fingerprint:
            raise ModelError(
                f"The server now reports the build {clean(answer.system_fingerprint or 'none')!r}, not "
                f"{clean(served.fingerprint or 'none')!r}: load it again, or set fingerprint=note"
            )

    async def _constraint(self, grammar: str) -> Mapping[str, Any]:
        """The field in which this server takes a grammar: found once, by a grammar that allows one odd word."""
        async with self._trial:
            if self._grammar_field is None:
                self._grammar_field = await self._try_grammars()
        if self._grammar_field < 0:
            raise ModelError("the server does not follow a grammar: run without --constrain")
        return _GRAMMAR_FIELDS[self._grammar_field](grammar)

    async def _try_grammars(self) -> int:
        grammar, only = _TRIAL
        question = (Message("user", "Say hello."),)
        for place, field in enumerate(_GRAMMAR_FIELDS):
            try:
                answer = await self._send(question, {"max_tokens": 8, "temperature": 0.0}, "", field(grammar))
            except Unanswered as fault:
                if fault.again and fault.status is None:
                    raise
                continue
            if written(answer).strip() == only:
                return place
        return -1


def builds_are(settings: Settings, served: Abilities) -> str:
    """`hold`, `note` or `ignore`: as set, or by what is known of the server."""
    if settings.fingerprint != "auto":
        return settings.fingerprint
    return "hold" if served.steady else "note"


def written(answer: ChatAnswer | TextAnswer) -> str:
    """The text of an answer as the model wrote it."""
    choice = answer.choices[0]
    return (choice.message.content or "") if isinstance(choice, ChatChoice) else choice.text
