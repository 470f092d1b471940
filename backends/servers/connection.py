"""Requests to one server, their answers checked field by field.

The first try of each is sent by aiohttp (`first_try`); where it fails, the `openai` client goes on with what came of
it. That client retries what failed on the way: 408, 409, 429, 5xx, a lost connection, a timeout; after 0.5 s, doubling
up to 8 s, less up to a quarter by chance, or after as long as `Retry-After` says (up to two minutes; a server that asks
for more is believed at once). It is imported when something fails first, since that takes longer than connecting. What
counts as success is looked at here: half a JSON or another schema is asked for again.
"""

import asyncio
import os
import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any, TypeVar

import msgspec

from emotui import __version__
from emotui.backends.servers.address import Address
from emotui.backends.servers.answers import ChatAnswer, Embeddings, ServedModels, TextAnswer
from emotui.backends.servers.bounded import bounded_client, hand_over
from emotui.backends.servers.faults import Teller, Unanswered
from emotui.backends.servers.first_try import Came, FirstTry, Lost, goes_straight
from emotui.backends.servers.settings import Settings
from emotui.errors import ModelError

_Answer = TypeVar("_Answer")
_AGENT = f"emotui/{__version__}"
_ACCOUNT = {"OPENAI_ORG_ID": "OpenAI-Organization", "OPENAI_PROJECT_ID": "OpenAI-Project"}
"""Variables of the client's own, and the headers that it makes of them."""

_CONNECT = 5.0
_PAUSE = 0.5
_LENGTHS = ("max_tokens", "max_completion_tokens")
"""The field that limits an answer's length: what servers know, and what OpenAI's later models want instead."""

_SPARED = ("temperature", "top_p", "seed", "stop")
"""Fields that some models of OpenAI's refuse (they sample at a temperature of 1, whatever is asked)."""

_UNKNOWN = re.compile(r"unsupported|not supported|not support|unknown|unrecognized|not permitted|extra", re.IGNORECASE)


def key_from_environment() -> str:
    """The key, from OPENAI_API_KEY alone; '' where it is not set.

    Raises:
        ModelError: it holds what no header can carry (its text would stand in the HTTP package's own error).
    """
    key = os.environ.get("OPENAI_API_KEY", "").strip()
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise ModelError("OPENAI_API_KEY holds a character that no key has (a space, a line break, an accent)")
    return key


class Connection:
    """One server, asked with at most `settings.concurrency` connections. Bound to the event loop that first uses it."""

    def __init__(self, address: Address, settings: Settings, key: str) -> None:
        self.address = address
        self.settings = settings
        self.tell = Teller(address.url, address.model, key)
        self._key = key
        self._connecting = min(_CONNECT, settings.timeout)
        self._first = FirstTry(settings.timeout, self._connecting) if goes_straight(address) else None
        self._length = _LENGTHS[0]
        self.refused: set[str] = set()
        """Fields that the server's model does not take: they are left out of what it is asked."""

    async def close(self) -> None:
        if self._first is not None:
            await self._first.close()
        if "_client" in self.__dict__:
            await self._client.close()

    async def models(self) -> ServedModels:
        """The models that the server has. One try: it is the first thing asked, and a person is waiting."""
        return await self._ask("GET", "/models", None, ServedModels, 0, timeout=min(20.0, self.settings.timeout))

    async def chat(self, body: Mapping[str, Any], *, retries: int | None = None) -> ChatAnswer:
        """One chat completion. Its length is limited by whichever of two names the server knows; what its model refuses
        of `_SPARED` is left out.

        Raises:
            Unanswered: for this request.
            ModelError: for every request.
        """
        while True:
            kept = {name: value for name, value in body.items() if name not in self.refused}
            try:
                return await self._chat(kept, retries)
            except Unanswered as fault:
                named = next((name for name in _SPARED if name in kept and f"'{name}'" in fault.why), None)
                if fault.status not in (400, 422) or named is None or not _UNKNOWN.search(fault.why):
                    raise
                self.refused.add(named)

    async def _chat(self, body: Mapping[str, Any], retries: int | None) -> ChatAnswer:
        length = self._length
        try:
            return await self._post("/chat/completions", _with_length(body, length), ChatAnswer, retries)
        except Unanswered as fault:
            (other,) = (name for name in _LENGTHS if name != length)
            unknown = other in fault.why or _UNKNOWN.search(fault.why)
            if fault.status not in (400, 422) or length not in fault.why or not unknown:
                raise
        found = await self._post("/chat/completions", _with_length(body, other), ChatAnswer, retries)
        self._length = other
        return found

    async def embed(self, body: Mapping[str, Any], *, retries: int | None = None) -> Embeddings:
        """The embeddings of some texts; raises as `chat` does."""
        return await self._post("/embeddings", body, Embeddings, retries)

    async def complete(self, body: Mapping[str, Any], *, retries: int | None = None) -> TextAnswer:
        """One plain completion; raises as `chat` does."""
        return await self._post("/completions", body, TextAnswer, retries)

    async def _post(self, path: str, body: Mapping[str, Any], kind: type[_Answer], retries: int | None) -> _Answer:
        document = {name: value for name, value in body.items() if name != "extra_body"} | body.get("extra_body", {})
        return await self._ask("POST", path, document, kind, self.settings.retries if retries is None else retries)

    async def _ask(
        self,
        method: str,
        path: str,
        document: Mapping[str, Any] | None,
        kind: type[_Answer],
        retries: int,
        *,
        timeout: float | None = None,
    ) -> _Answer:
        try:
            content = None if document is None else msgspec.json.encode(document)
        except UnicodeEncodeError:
            raise Unanswered("the text holds half a character (a lone surrogate), which no request can carry") from None
        tries = 1 + min(retries, 2)
        for left in reversed(range(tries)):
            body = await self._sent(method, path, document, content, retries, timeout)
            try:
                return msgspec.json.decode(self.tell.without_key(body), type=kind)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                fault = f"the answer of the server is not what the protocol says ({self.tell.clean(str(error))})"
            if left:
                await asyncio.sleep(_PAUSE)
        raise Unanswered(fault, again=True)

    async def _sent(
        self,
        method: str,
        path: str,
        document: Mapping[str, Any] | None,
        content: bytes | None,
        retries: int,
        timeout: float | None,
    ) -> bytes:
        """The body of an answer that is a success. Raises what `tell` makes of any other."""
        came = None
        if self._first is not None:
            came = await self._first.send(method, self.address.url + path, self._headers, content, timeout)
        if isinstance(came, Came):
            if came.succeeded:
                return came.content
            if came.is_final or not retries:
                raise self.tell.status(came.status, came.content, came.headers.get("location"))
        import openai

        try:
            return await self._by_library(method, path, document, retries, timeout, came)
        except openai.OpenAIError as error:
            raise self.tell.tell(error, 1 + retries) from None

    async def _by_library(
        self,
        method: str,
        path: str,
        document: Mapping[str, Any] | None,
        retries: int,
        timeout: float | None,
        came: Came | Lost | None,
    ) -> bytes:
        """The body of a request that the library sends until it succeeds; `came`: of the first try, where it was."""
        from openai._constants import RAW_RESPONSE_HEADER

        given = {} if self._key else {"Authorization": _omit()}
        options: dict[str, Any] = {"headers": {**given, RAW_RESPONSE_HEADER: "true"}, "max_retries": retries}
        if timeout is not None:
            options["timeout"] = timeout
        hand_over(came)
        try:
            if document is None:
                raw: Any = await self._client.get(path, cast_to=object, options=options)
            else:
                raw = await self._client.post(path, cast_to=object, body=document, options=options)
        finally:
            hand_over(None)
        answer: bytes = raw.content
        return answer

    @cached_property
    def _client(self) -> Any:
        import openai

        # Redirects stay unfollowed and loopback goes past any proxy: no host is talked to but the one that was named.
        timeout = openai.Timeout(self.settings.timeout, connect=self._connecting)
        return openai.AsyncOpenAI(
            api_key=self._key or "none",
            base_url=self.address.url,
            max_retries=self.settings.retries,
            timeout=timeout,
            http_client=bounded_client(
                self.settings.timeout,
                follow_redirects=False,
                trust_env=not self.address.loopback,
                timeout=timeout,
            ),
        )

    @cached_property
    def _headers(self) -> Mapping[str, str]:
        """Of a first try: what the client would send, without what it tells of this machine."""
        account = {header: os.environ[name] for name, header in _ACCOUNT.items() if os.environ.get(name)}
        key = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        return {
            "Accept": "application/json",
            "Content-Type": "application/json",
            "User-Agent": _AGENT,
            **account,
            **key,
        }


def _omit() -> Any:
    import openai

    return openai.Omit()


def _with_length(body: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    return {name if field == _LENGTHS[0] else field: value for field, value in body.items()}
