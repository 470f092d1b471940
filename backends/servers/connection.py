"""Requests to one server, their answers checked field by field.

`transport` sends them and tries again what failed on the way. What counts as success is looked at here: half a JSON or
another schema is asked for again, twice at most (tenacity, as there).
"""

import asyncio
import os
import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from typing import Any, TypeVar

import msgspec

from emotui import __version__
from emotui.backends.servers.address import Address, parse_address
from emotui.backends.servers.answers import ChatAnswer, Embeddings, Served, ServedModels, TextAnswer
from emotui.backends.servers.faults import Teller, Unanswered
from emotui.backends.servers.settings import Settings
from emotui.backends.servers.transport import Came, Lost, Transport
from emotui.errors import BadModel, ModelError
from emotui.installing import install

_Answer = TypeVar("_Answer")
_AGENT = f"emotui/{__version__}"
_ACCOUNT = {"OPENAI_ORG_ID": "OpenAI-Organization", "OPENAI_PROJECT_ID": "OpenAI-Project"}
"""Variables that OpenAI's own client knows, and the headers that it makes of them."""

_PAUSE = 0.5
_LENGTHS = ("max_tokens", "max_completion_tokens")
"""The field that limits an answer's length: what servers know, and what OpenAI's later models want instead."""

_SPARED = ("temperature", "top_p", "seed", "stop")
"""Fields that some models of OpenAI's refuse (they sample at a temperature of 1, whatever is asked)."""

_UNKNOWN = re.compile(r"unsupported|not supported|not support|unknown|unrecognized|not permitted|extra", re.IGNORECASE)


def check_client() -> None:
    """Raises: ModelError where a package that asks servers is missing."""
    if find_spec("aiohttp") is None or find_spec("tenacity") is None:
        raise ModelError(f"Models behind a server need the aiohttp and tenacity packages: {install('openai')}")


def key_from_environment() -> str:
    """The key, from OPENAI_API_KEY alone; '' where it is not set.

    Raises:
        ModelError: it holds what no header can carry (its text would stand in the HTTP package's own error).
    """
    key = os.environ.get("OPENAI_API_KEY", "").strip()
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise ModelError("OPENAI_API_KEY holds a character that no key has (a space, a line break, an accent)")
    return key


class _Garbled(Exception):
    """A success whose body is no answer: half a JSON, or another schema."""


class Connection:
    """One server, asked with at most `settings.concurrency` connections. Bound to the event loop that first uses it."""

    def __init__(self, address: Address, settings: Settings, key: str) -> None:
        self.address = address
        self.settings = settings
        self.tell = Teller(address.url, address.model, key)
        self._transport = Transport(address, settings.timeout, headers_with(key))
        self._length = _LENGTHS[0]
        self.refused: set[str] = set()
        """Fields that the server's model does not take: they are left out of what it is asked."""

    async def close(self) -> None:
        await self._transport.close()

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
        from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_attempt, wait_fixed

        tries = AsyncRetrying(
            stop=stop_after_attempt(1 + min(retries, 2)),
            wait=wait_fixed(_PAUSE),
            retry=retry_if_exception_type(_Garbled),
            reraise=True,
        )
        try:
            found: _Answer = await tries(self._read, method, path, content, kind, retries, timeout)
        except _Garbled as garbled:
            raise Unanswered(str(garbled), again=True) from None
        return found

    async def _read(
        self, method: str, path: str, content: bytes | None, kind: type[_Answer], retries: int, timeout: float | None
    ) -> _Answer:
        """What one answer that is a success says. Raises _Garbled, and as `_sent`."""
        body = await self._sent(method, path, content, retries, timeout)
        try:
            return msgspec.json.decode(self.tell.without_key(body), type=kind)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            fault = f"the answer of the server is not what the protocol says ({self.tell.clean(str(error))})"
            raise _Garbled(fault) from None

    async def _sent(self, method: str, path: str, content: bytes | None, retries: int, timeout: float | None) -> bytes:
        """The body of an answer that is a success. Raises what `tell` makes of any other."""
        try:
            came, tries = await self._transport.send(method, path, content, retries=retries, seconds=timeout)
        except Lost as lost:
            raise self.tell.tell(lost) from None
        if came.succeeded:
            return came.content
        raise self.tell.status(came.status, came.content, came.headers.get("location"), tries)


def headers_with(key: str) -> Mapping[str, str]:
    """Of every request: the key, and no more of this machine than what asks."""
    account = {header: os.environ[name] for name, header in _ACCOUNT.items() if os.environ.get(name)}
    return {
        "Accept": "application/json",
        "Content-Type": "application/json",
        "User-Agent": _AGENT,
        **account,
        **({"Authorization": f"Bearer {key}"} if key else {}),
    }


def _with_length(body: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    return {name if field == _LENGTHS[0] else field: value for field, value in body.items()}


# Which models a server has, without loading one: for a list of what is at hand.


def models_at(url: str, *, timeout: float = 2.0) -> list[Served]:
    """The models of one server, as it lists them.

    Args:
        url: `http://HOST:PORT/v1`; the only host that is talked to.
        timeout: seconds to wait for a connection; for the whole answer five times as long.

    Raises:
        BadModel: that is no server's address.
        ModelError: one clear line: nobody answers, the key is refused, or it is no such server.
    """
    if not url.lower().startswith(("http://", "https://")):
        raise BadModel(f"{url!r} is no server's address: write it as in http://HOST:PORT/v1")
    address = parse_address(f"@{url}")
    check_client()
    key = key_from_environment()
    tell = Teller(address.url, "", key)
    try:
        with ThreadPoolExecutor(1) as apart:  # whoever asks may be in an event loop
            came = apart.submit(asyncio.run, _asked(address, key, timeout)).result()
    except Lost as lost:
        raise tell.gone(lost) from None
    if came.status in (401, 403):
        raise tell.refused_key(came.status)
    if not came.succeeded:
        raise ModelError(f"What answers at {address.url} is no OpenAI-compatible server (HTTP {came.status})")
    try:
        return msgspec.json.decode(tell.without_key(came.content), type=ServedModels).data
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ModelError(
            f"What answers at {address.url} is no OpenAI-compatible server ({tell.clean(str(error))})"
        ) from None


async def _asked(address: Address, key: str, timeout: float) -> Came:
    transport = Transport(address, 5 * timeout, headers_with(key), connecting=timeout)
    try:
        came, _ = await transport.send("GET", "/models", None, retries=0)
    finally:
        await transport.close()
    return came
