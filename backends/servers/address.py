"""Which server, and which of its models: the `MODEL@http://HOST:PORT/v1` of an `openai:` SPEC."""

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from emotui.errors import ModelError

_PARTS = re.compile(r"(?P<model>.*?)@(?P<url>https?://.*)", re.DOTALL | re.IGNORECASE)
_FORM = "openai:MODEL@http://HOST:PORT/v1"


@dataclass(frozen=True, slots=True)
class Address:
    """`model` is empty where the SPEC leaves it out; `url` has no credentials, no query and no slash at its end."""

    model: str
    url: str
    host: str

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
        ModelError: no server is named, or the address holds credentials (the key has one place: the environment).
    """
    found = _PARTS.fullmatch(argument.strip())
    if found is None:
        raise ModelError(f"openai: needs a model and the address of its server, as in {_FORM}")
    try:
        parts = urlsplit(found["url"])
        host, port = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host:
        raise ModelError(f"openai: the server's address is no web address: write it as in {_FORM}")
    if parts.username is not None or parts.password is not None:
        raise ModelError("openai: leave the user name and password out of the address: set OPENAI_API_KEY instead")
    if parts.query or parts.fragment:
        raise ModelError(f"openai: leave '?' and '#' out of the server's address: write it as in {_FORM}")
    name = f"[{host}]" if ":" in host else host
    port_part = "" if port is None else f":{port}"
    path = parts.path.rstrip("/") or "/v1"
    return Address(found["model"], f"{parts.scheme.lower()}://{name}{port_part}{path}", host)
