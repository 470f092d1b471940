"""Requests to one server through the `openai` client, their answers checked field by field.

The client retries by itself what failed on the way: 408, 409, 429, 5xx, a lost connection, a timeout; after 0.5 s,
doubling up to 8 s, less up to a quarter by chance, or after as long as `Retry-After` says (up to two minutes; a
server that asks for more is believed at once). What it takes for success is looked at here: half a JSON or another
schema is asked for again.
"""

import asyncio
import os
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

import msgspec

from emotui.backends.servers.address import Address
from emotui.backends.servers.answers import ChatAnswer, Embeddings, ServedModels, TextAnswer
from emotui.backends.servers.bounded import bounded_client, forget, quickly
from emotui.backends.servers.faults import Teller, Unanswered
from emotui.backends.servers.settings import Settings
from emotui.errors import ModelError

_Answer = TypeVar("_Answer")
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
        import openai

        self.address = address
        self.settings = settings
        self.tell = Teller(address.url, address.model, key)
        # Redirects stay unfollowed and loopback goes past any proxy: no host is talked to but the one that was named.
        http = self._http = bounded_client(
            settings.timeout,
            follow_redirects=False,
            trust_env=not address.loopback,
            timeout=openai.Timeout(settings.timeout, connect=min(_CONNECT, settings.timeout)),
        )
        self._length = _LENGTHS[0]
        self.refused: set[str] = set()
        """Fields that the server's model does not take: they are left out of what it is asked."""
        self._as_sent: Mapping[str, str] | None = None
        self._headers: dict[str, Any] = {} if key else {"Authorization": openai.Omit()}
        self._client = openai.AsyncOpenAI(
            api_key=key or "none",
            base_url=address.url,
            max_retries=settings.retries,
            timeout=openai.Timeout(settings.timeout, connect=min(_CONNECT, settings.timeout)),
            http_client=http,
        )

    async def close(self) -> None:
        await self._client.close()

    async def models(self) -> ServedModels:
        """The models that the server has. One try: it is the first thing asked, and a person is waiting."""
        client = self._client.with_options(max_retries=0, timeout=min(20.0, self.settings.timeout))

        async def send() -> bytes:
            raw = await client.models.with_raw_response.list(extra_headers=self._headers)
            return raw.content

        return await self._ask(send, ServedModels, retries=0)

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
        """The first try goes past the client; where it fails, the client begins with what came of it."""
        from openai._constants import RAW_RESPONSE_HEADER

        retries = self.settings.retries if retries is None else retries
        document = {name: value for name, value in body.items() if name != "extra_body"} | body.get("extra_body", {})
        try:
            content, sent = msgspec.json.encode(document), self._sent()
        except UnicodeEncodeError:
            raise Unanswered("the text holds half a character (a lone surrogate), which no request can carry") from None

        async def send() -> bytes:
            if (found := await quickly(self._http, self.address.url + path, content, sent)) is not None:
                return found
            headers = {**self._headers, RAW_RESPONSE_HEADER: "true"}
            try:
                raw: Any = await self._client.post(
                    path, cast_to=object, body=document, options={"headers": headers, "max_retries": retries}
                )
            finally:
                forget()
            answer: bytes = raw.content
            return answer

        return await self._ask(send, kind, retries=retries)

    def _sent(self) -> Mapping[str, str]:
        """The headers of a request, as the client would send them; without what it tells OpenAI of this machine."""
        if self._as_sent is None:
            merged = {**self._client.auth_headers, **self._client.default_headers, **self._headers}
            self._as_sent = {
                name: value
                for name, value in merged.items()
                if isinstance(value, str) and not name.startswith("X-Stainless")
            }
        return self._as_sent

    async def _ask(self, send: Callable[[], Awaitable[bytes]], kind: type[_Answer], *, retries: int) -> _Answer:
        import openai

        tries = 1 + min(retries, 2)
        for left in reversed(range(tries)):
            try:
                return msgspec.json.decode(self.tell.without_key(await send()), type=kind)
            except openai.OpenAIError as error:
                raise self.tell.tell(error, 1 + retries) from None
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                fault = f"the answer of the server is not what the protocol says ({self.tell.clean(str(error))})"
            if left:
                await asyncio.sleep(_PAUSE)
        raise Unanswered(fault, again=True)


def _with_length(body: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    return {name if field == _LENGTHS[0] else field: value for field, value in body.items()}
