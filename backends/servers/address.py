"""Which server, and which of its models: the `MODEL@http://HOST:PORT/v1` of an `openai:` SPEC.

Options may follow after a `#`, which no server ever sees: `...:8000/v1#concurrency=32&timeout=60`.
"""

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from emotui.errors import BadModel

_PARTS = re.compile(r"(?P<model>.*?)@(?P<url>https?://.*)", re.DOTALL | re.IGNORECASE)
_FORM = "openai:MODEL@http://HOST:PORT/v1"


@dataclass(frozen=True, slots=True)
class Address:
    """`model` is empty where the SPEC leaves it out; `url` has no credentials, no query and no slash at its end."""

    model: str
    url: str
    host: str
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def loopback(self) -> bool:
        """Whether requests stay on this machine."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def encrypted(self) -> bool:
        return self.url.startswith("https://")


def parse_address(argument: str) -> Address:
    """Split what follows `openai:`. An address without a path is taken to mean `/v1`, where such servers answer.

    Raises:
        BadModel: no server is named, or the address holds credentials (the key has one place: the environment).
    """
    found = _PARTS.fullmatch(argument.strip())
    if found is None:
        raise BadModel(f"openai: needs a model and the address of its server, as in {_FORM}")
    try:
        parts = urlsplit(found["url"])
        host, port = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host:
        raise BadModel(f"openai: the server's address is no web address: write it as in {_FORM}")
    if parts.username is not None or parts.password is not None:
        raise BadModel("openai: leave the user name and password out of the address: set OPENAI_API_KEY instead")
    if parts.query:
        raise BadModel(f"openai: leave '?' out of the server's address: write it as in {_FORM}")
    pairs = [pair.partition("=") for pair in parts.fragment.split("&") if pair]
    bare = next((name for name, sign, _ in pairs if not sign), None)
    if bare is not None:
        raise BadModel(f"openai: the option {bare!r} has no value: write #NAME=VALUE&NAME=VALUE after the address")
    place = f"[{host}]" if ":" in host else host
    if port is not None:
        place += f":{port}"
    path = parts.path.rstrip("/") or "/v1"
    return Address(
        found["model"],
        f"{parts.scheme.lower()}://{place}{path}",
        host,
        {name: unquote(value) for name, _, value in pairs},
    )
