"""An HTTP client whose answers have an end: in bytes, once they are unpacked, and in seconds, however they come in."""

import asyncio
import zlib
from collections.abc import Mapping
from contextvars import ContextVar
from importlib import import_module
from typing import Any

MOST_BYTES = 64 * 2**20
"""Of one answer, unpacked. The longest that is of use (8,000 tokens with 20 alternatives each) takes a third."""

_PACKED = ("gzip", "deflate")
_AUTO = zlib.MAX_WBITS | 32
"""Either of both, by its first bytes."""


class TooLong(Exception):
    """An answer of more than `MOST_BYTES`; the rest of it is not read."""


_came: ContextVar[Any] = ContextVar("came", default=None)
"""What came of a request that was sent past the openai library: its answer or its error."""


async def quickly(client: Any, url: str, content: bytes, headers: Mapping[str, str]) -> bytes | None:
    """The body of an answer to a POST, sent past the openai library, which takes as long again for each request.

    Args:
        client: a bounded one.

    Returns:
        None where it did not succeed: the next request that the library sends in this task, which must be the same one,
        gets what came of this one in place of an answer of its own, so all that it makes of failures stands.
    """
    try:
        answer = await client.post(url, content=content, headers=headers)
    except Exception as error:
        _came.set(error)
        return None
    if answer.is_success:
        found: bytes = answer.content
        return found
    _came.set(answer)
    return None


def forget() -> None:
    """Nothing is to be handed to the library any more."""
    _came.set(None)


def bounded_client(seconds: float, **settings: Any) -> Any:
    """An `AsyncClient` of whatever HTTP package the openai library is built on.

    Args:
        seconds: that one answer may take, from asking to its last byte.
        settings: as the library's own default client takes them.
    """
    import openai

    own = openai.DefaultAsyncHttpxClient
    package = import_module(own.__mro__[1].__module__.partition(".")[0])

    class Bounded(own):  # type: ignore[misc, valid-type]
        """Reads an answer whole, but no further than it may."""

        async def send(self, request: Any, *, stream: bool = False, **how: Any) -> Any:
            if (came := _came.get()) is not None:
                _came.set(None)
                if isinstance(came, Exception):
                    raise came
                return came
            request.headers["Accept-Encoding"] = ", ".join(_PACKED)
            try:
                async with asyncio.timeout(seconds):
                    answer = await super().send(request, stream=True, **how)
                    try:
                        content = await _read(answer)
                    finally:
                        await answer.aclose()
            except TimeoutError:
                raise package.ReadTimeout(f"no whole answer in {seconds:g} s", request=request) from None
            except (TooLong, ValueError, zlib.error) as error:
                raise package.DecodingError(str(error), request=request) from error
            kept = [(name, value) for name, value in answer.headers.multi_items() if name.lower() not in _OF_THE_WAY]
            return package.Response(answer.status_code, headers=kept, content=content, request=request)

    return Bounded(**settings)


_OF_THE_WAY = ("content-encoding", "content-length", "transfer-encoding")
"""Headers that say how an answer came, not what it is."""


async def _read(answer: Any) -> bytes:
    """The body, unpacked by us: the package would unpack first and count then.

    Raises:
        TooLong: it is longer than it may be.
        ValueError: it is packed in a way that nobody asked for, or is not whole.
    """
    coding = answer.headers.get("content-encoding", "").strip().lower()
    if coding not in ("", "identity", *_PACKED):
        raise ValueError(f"the answer is packed as {coding[:40]!r}")
    unpack = zlib.decompressobj(_AUTO) if coding in _PACKED else None
    parts, size = [], 0
    async for piece in answer.aiter_raw():
        part = piece if unpack is None else unpack.decompress(piece, MOST_BYTES - size + 1)
        size += len(part)
        if size > MOST_BYTES:
            raise TooLong
        parts.append(part)
    if unpack is not None and not unpack.eof:
        raise ValueError("the answer is packed and not whole")
    return b"".join(parts)
