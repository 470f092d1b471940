"""The openai library's HTTP client with an end to each answer: in bytes, once it is unpacked, and in seconds."""

import asyncio
import zlib
from contextvars import ContextVar
from importlib import import_module
from typing import Any

from emotui.backends.servers.first_try import Came, Lost
from emotui.backends.servers.reading import PACKED, TooLong, read

_came: ContextVar[Came | Lost | None] = ContextVar("came", default=None)
"""What came of a request that was sent past the library."""


def hand_over(came: Came | Lost | None) -> None:
    """Give the next request that the library sends in this task what came of it already: it makes of that, and of all
    further tries, what it makes of its own. None: nothing is to be handed to it."""
    _came.set(came)


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
                if isinstance(came, Lost):
                    raise getattr(package, came.kind)(came.why, request=request) from came.cause
                return _response(came.status, came.headers.items(), came.content, request)
            request.headers["Accept-Encoding"] = ", ".join(PACKED)
            try:
                async with asyncio.timeout(seconds):
                    answer = await super().send(request, stream=True, **how)
                    try:
                        content = await read(answer.headers.get("content-encoding", ""), answer.aiter_raw())
                    finally:
                        await answer.aclose()
            except TimeoutError:
                raise package.ReadTimeout(f"no whole answer in {seconds:g} s", request=request) from None
            except (TooLong, ValueError, zlib.error) as error:
                raise package.DecodingError(str(error), request=request) from error
            return _response(answer.status_code, answer.headers.multi_items(), content, request)

    def _response(status: int, headers: Any, content: bytes, request: Any) -> Any:
        kept = [(name, value) for name, value in headers if name.lower() not in _OF_THE_WAY]
        return package.Response(status, headers=kept, content=content, request=request)

    return Bounded(**settings)


_OF_THE_WAY = ("content-encoding", "content-length", "transfer-encoding")
"""Headers that say how an answer came, not what it is."""
