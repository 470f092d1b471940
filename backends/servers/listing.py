"""Which models a server has, without loading one: for a list of what is at hand. Needs no client library."""

import queue
import threading
import urllib.error
import urllib.request
from collections.abc import Callable
from functools import partial
from http.client import HTTPException, HTTPMessage
from typing import IO

import msgspec

from emotui.backends.servers.address import parse_address
from emotui.backends.servers.answers import Served, ServedModels
from emotui.backends.servers.connection import key_from_environment
from emotui.backends.servers.faults import Teller
from emotui.errors import BadModel, ModelError

_MOST = 4_000_000


def models_at(url: str, *, timeout: float = 2.0) -> list[Served]:
    """The models of one server, as it lists them.

    Args:
        url: `http://HOST:PORT/v1`; the only host that is talked to.
        timeout: seconds to wait for the next byte; for all of them five times as long.

    Raises:
        BadModel: that is no server's address.
        ModelError: one clear line: nobody answers, the key is refused, or it is no such server.
    """
    if not url.lower().startswith(("http://", "https://")):
        raise BadModel(f"{url!r} is no server's address: write it as in http://HOST:PORT/v1")
    address = parse_address(f"@{url}")
    key = key_from_environment()
    tell = Teller(address.url, "", key)
    request = urllib.request.Request(f"{address.url}/models", headers={"Authorization": f"Bearer {key}"} if key else {})
    proxies = urllib.request.ProxyHandler({} if address.loopback else None)
    try:
        body = _in_time(
            partial(_body, urllib.request.build_opener(_Unfollowed, proxies), request, timeout), 5 * timeout
        )
        return msgspec.json.decode(tell.without_key(body), type=ServedModels).data
    except urllib.error.HTTPError as error:
        error.close()
        if error.code in (401, 403):
            raise tell.refused_key(error.code) from None
        raise ModelError(f"What answers at {address.url} is no OpenAI-compatible server (HTTP {error.code})") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, HTTPException) as error:
        raise ModelError(
            f"What answers at {address.url} is no OpenAI-compatible server ({tell.clean(str(error))})"
        ) from None
    except OSError as error:
        reason = getattr(error, "reason", None)  # what urllib wraps
        raise tell.gone(reason if isinstance(reason, OSError) else error) from None


def _body(opener: urllib.request.OpenerDirector, request: urllib.request.Request, timeout: float) -> bytes:
    with opener.open(request, timeout=timeout) as answer:
        found: bytes = answer.read(_MOST)
        return found


def _in_time(call: Callable[[], bytes], seconds: float) -> bytes:
    """What a call returns or raises. Raises: TimeoutError, where it takes longer, as a server does that drips."""
    ended: queue.SimpleQueue[bytes | Exception] = queue.SimpleQueue()

    def work() -> None:
        try:
            ended.put(call())
        except Exception as error:  # for who waits
            ended.put(error)

    threading.Thread(target=work, daemon=True).start()
    try:
        found = ended.get(timeout=seconds)
    except queue.Empty:
        raise TimeoutError(f"no whole answer in {seconds:g} s") from None
    if isinstance(found, Exception):
        raise found
    return found


class _Unfollowed(urllib.request.HTTPRedirectHandler):
    """A server that sends us on is not followed: only the named host is talked to."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> None:
        return None
