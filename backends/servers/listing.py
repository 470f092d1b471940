"""Which models a server has, without loading one: for a list of what is at hand."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import msgspec

from emotui.backends.servers.address import Address, parse_address
from emotui.backends.servers.answers import Served, ServedModels
from emotui.backends.servers.connection import check_client, headers_with, key_from_environment
from emotui.backends.servers.faults import Teller
from emotui.backends.servers.transport import Came, Lost, Transport
from emotui.errors import BadModel, ModelError


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
