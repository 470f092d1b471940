"""Requests to one server over HTTP: sent by aiohttp, tried again by tenacity, each answer bounded in bytes and time.

No redirect is followed, so that the key stays with the host that was named, and loopback goes past any proxy.

Tried again is what failed on the way (408, 409, 429, 5xx, a lost connection, a timeout), after 0.5 s, doubling up to 8
s, less up to a quarter by chance, or after as long as `Retry-After` says; a server that asks for more than two minutes
is believed at once.
"""

import asyncio
import math
import ssl
import time
import zlib
from collections.abc import AsyncIterator, Mapping
from email.utils import parsedate_to_datetime
from random import random
from typing import TYPE_CHECKING, Any, Literal
from urllib.request import getproxies, proxy_bypass

import msgspec

from emotui.backends.servers.address import Address

if TYPE_CHECKING:
    from tenacity import RetryCallState

# The body of an answer, read whole, but no further than it may be.

MOST_BYTES = 64 * 2**20
"""Of one answer, unpacked. The longest that is of use (8,000 tokens with 20 alternatives each) takes a third."""

PACKED = ("gzip", "deflate")
_AUTO = zlib.MAX_WBITS | 32
"""Either of both, by its first bytes."""


class TooLong(Exception):
    """An answer of more than `MOST_BYTES`; the rest of it is not read."""


async def read(coding: str, pieces: AsyncIterator[bytes]) -> bytes:
    """The body, unpacked by us: an HTTP package would unpack first and count then.

    Args:
        coding: how it is packed, as its header says; empty where it is not.
        pieces: it, as it comes.

    Raises:
        TooLong: it is longer than it may be.
        ValueError: it is packed in a way that nobody asked for, or is not whole.
        zlib.error: it is packed and damaged.
    """
    coding = coding.strip().lower()
    if coding not in ("", "identity", *PACKED):
        raise ValueError(f"the answer is packed as {coding[:40]!r}")
    unpack = zlib.decompressobj(_AUTO) if coding in PACKED else None
    parts, size = [], 0
    async for piece in pieces:
        part = piece if unpack is None else unpack.decompress(piece, MOST_BYTES - size + 1)
        size += len(part)
        if size > MOST_BYTES:
            raise TooLong
        parts.append(part)
    if unpack is not None and not unpack.eof:
        raise ValueError("the answer is packed and not whole")
    return b"".join(parts)


_AGAIN = (408, 409, 429)
"""Statuses below 500 after which the same request may be answered."""

_LONGEST_WAIT = 120.0
_FIRST_PAUSE, _MOST_PAUSE = 0.5, 8.0
_CONNECT = 5.0


class Came(msgspec.Struct, frozen=True):
    """An answer of the server, unpacked."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def succeeded(self) -> bool:
        return 200 <= self.status < 300

    @property
    def is_passing(self) -> bool:
        """Whether another try of the same request may fare better."""
        said = self.headers.get("x-should-retry")
        passing = said == "true" if said in ("true", "false") else self.status >= 500 or self.status in _AGAIN
        return passing and not self.succeeded and (self.wait is None or self.wait <= _LONGEST_WAIT)

    @property
    def wait(self) -> float | None:
        """Seconds that the server asks for, in any of the ways in which servers say it."""
        said = self.headers.get("retry-after", "")
        try:
            if "retry-after-ms" in self.headers:
                seconds = float(self.headers["retry-after-ms"]) / 1000
            elif said.strip()[:1].isalpha():
                seconds = parsedate_to_datetime(said).timestamp() - time.time()
            else:
                seconds = float(said)
        except (ValueError, OverflowError):
            return None
        return seconds if math.isfinite(seconds) and seconds >= 0 else None


class Lost(Exception):
    """No whole answer came: nobody listens, it took too long, the connection broke, or it has no end."""

    def __init__(self, kind: Literal["unreachable", "late", "dropped", "long"], why: str) -> None:
        super().__init__(why)
        self.kind = kind
        self.tries = 1


class Transport:
    """Sends requests to one server, each over a connection that is kept for the next.

    Args:
        seconds: that one answer may take, from asking to its last byte.
        headers: of every request.
        connecting: seconds that a connection may take.
    """

    def __init__(
        self, address: Address, seconds: float, headers: Mapping[str, str], *, connecting: float = _CONNECT
    ) -> None:
        self._address, self._seconds, self._headers = address, seconds, headers
        self._connecting = min(connecting, seconds)
        self._proxy = None if address.loopback else proxy_of(address)
        self._session: Any = None

    async def send(
        self, method: str, path: str, content: bytes | None, *, retries: int, seconds: float | None = None
    ) -> tuple[Came, int]:
        """What the last try of a request brought, and how many there were.

        Args:
            path: behind the server's address.
            retries: further tries after one that failed on the way.
            seconds: in place of those that any answer may take.

        Raises:
            Lost: the last try brought no answer; its `tries` says how many there were.
        """
        from tenacity import AsyncRetrying, retry_if_exception, retry_if_result, stop_after_attempt

        tries = AsyncRetrying(
            stop=stop_after_attempt(1 + retries),
            wait=_pause,
            retry=retry_if_result(_is_passing) | retry_if_exception(_is_passing),
            # Without it tenacity would raise an error of its own in place of the last try's answer.
            retry_error_callback=_last,
        )
        came: Came = await tries(self._one, method, path, content, seconds or self._seconds)
        return came, int(tries.statistics["attempt_number"])

    async def _one(self, method: str, path: str, content: bytes | None, seconds: float) -> Came:
        import aiohttp

        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, ssl=_trusted() if self._address.encrypted else True),
                auto_decompress=False,
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=self._connecting),
                headers={"Accept-Encoding": ", ".join(PACKED), **self._headers},
            )
        url = self._address.url + path
        try:
            async with (
                asyncio.timeout(seconds),
                self._session.request(method, url, data=content, allow_redirects=False, proxy=self._proxy) as answer,
            ):
                found = await read(answer.headers.get("content-encoding", ""), answer.content.iter_any())
                kept = {name.lower(): value for name, value in answer.headers.items()}
                return Came(answer.status, kept, found)
        except (aiohttp.ConnectionTimeoutError, aiohttp.ClientConnectorError, aiohttp.ClientHttpProxyError) as error:
            raise Lost("unreachable", str(error)) from error
        except TimeoutError:
            raise Lost("late", f"no whole answer in {seconds:g} s") from None
        except TooLong as error:
            raise Lost("long", str(error)) from error
        except (aiohttp.ClientError, OSError, ValueError, zlib.error) as error:
            raise Lost("dropped", str(error) or type(error).__name__) from error

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()


def proxy_of(address: Address) -> str | None:
    """The proxy that the environment names for a server; None where it names none."""
    proxies = getproxies()
    found = proxies.get("https" if address.encrypted else "http") or proxies.get("all")
    return None if found is None or proxy_bypass(address.host) else found


def _is_passing(outcome: Came | BaseException) -> bool:
    return outcome.is_passing if isinstance(outcome, Came) else isinstance(outcome, Lost) and outcome.kind != "long"


def _pause(state: "RetryCallState") -> float:
    """Seconds before the next try."""
    outcome = state.outcome
    assert outcome is not None
    asked = None if outcome.failed else outcome.result().wait
    if asked is not None:
        return float(asked)
    longest: float = min(_FIRST_PAUSE * 2 ** (state.attempt_number - 1), _MOST_PAUSE)
    return longest * (1 - random() / 4)


def _last(state: "RetryCallState") -> Came:
    """What the last try brought. Raises its `Lost`."""
    outcome = state.outcome
    assert outcome is not None
    if isinstance(lost := outcome.exception(), Lost):
        lost.tries = state.attempt_number
    found: Came = outcome.result()
    return found


def _trusted() -> ssl.SSLContext:
    """The authorities of the system, and those of certifi where that is installed: some Pythons come with none."""
    context = ssl.create_default_context()
    try:
        import certifi
    except ImportError:
        return context
    context.load_verify_locations(certifi.where())
    return context
