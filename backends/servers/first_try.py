"""The first try of each request: sent by aiohttp, which takes a sixth of the processor's time that the openai library
takes for a request that succeeds. What fails is the library's to try again.
"""

import asyncio
import zlib
from collections.abc import Mapping
from typing import Any, Literal
from urllib.request import getproxies

import msgspec

from emotui.backends.servers.address import Address
from emotui.backends.servers.reading import PACKED, TooLong, read

_AGAIN = (408, 409, 429)
"""Statuses below 500 over which the library asks again."""


class Came(msgspec.Struct, frozen=True):
    """An answer of the server, unpacked."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def succeeded(self) -> bool:
        return 200 <= self.status < 300

    @property
    def is_final(self) -> bool:
        """Whether no other try of the same request would be made."""
        said = self.headers.get("x-should-retry")
        return said == "false" if said in ("true", "false") else self.status < 500 and self.status not in _AGAIN


class Lost(msgspec.Struct, frozen=True):
    """No answer came of a request that may have reached the server; `kind`: the library's name for such an error."""

    kind: Literal["ConnectTimeout", "ReadTimeout", "RemoteProtocolError", "DecodingError"]
    why: str
    cause: Exception | None = None


class FirstTry:
    """Sends requests to one server, each over a connection that is kept for the next.

    Args:
        seconds: that one answer may take, from asking to its last byte.
        connecting: seconds that a connection may take.
    """

    def __init__(self, seconds: float, connecting: float) -> None:
        self._seconds, self._connecting = seconds, connecting
        self._session: Any = None

    async def send(
        self, method: str, url: str, headers: Mapping[str, str], content: bytes | None, seconds: float | None = None
    ) -> Came | Lost | None:
        """What comes of a request; None where no connection came about, so that nothing was sent.

        Args:
            seconds: in place of those that any answer may take.
        """
        import aiohttp

        seconds = seconds or self._seconds
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0),
                auto_decompress=False,
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=self._connecting),
                headers={"Accept-Encoding": ", ".join(PACKED)},
            )
        try:
            async with (
                asyncio.timeout(seconds),
                self._session.request(method, url, data=content, headers=headers, allow_redirects=False) as answer,
            ):
                found = await read(answer.headers.get("content-encoding", ""), answer.content.iter_any())
                kept = {name.lower(): value for name, value in answer.headers.items()}
                return Came(answer.status, kept, found)
        except aiohttp.ConnectionTimeoutError as error:
            return Lost("ConnectTimeout", str(error))
        except TimeoutError:
            return Lost("ReadTimeout", f"no whole answer in {seconds:g} s")
        except aiohttp.ClientConnectorError:
            return None
        except (aiohttp.ClientError, OSError) as error:
            return Lost("RemoteProtocolError", str(error) or type(error).__name__)
        except (TooLong, ValueError, zlib.error) as error:
            return Lost("DecodingError", str(error), error)

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()


def goes_straight(address: Address) -> bool:
    """Whether no proxy stands between: those are the library's to speak to."""
    return address.loopback or not getproxies()
