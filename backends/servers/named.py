"""Servers that a person of this machine has named: no other is sent a text, or the key.

A workspace may come from somebody else, and so may the SPEC of a model in it. What a person types (an option of a
command, a field of the workbench) names a server for good; the list is a file of this machine, outside of any store.
"""

import contextlib
import json
import secrets
from pathlib import Path
from urllib.parse import urlsplit

from emotui.backends.servers.address import parse_address
from emotui.errors import BadModel, ModelError

KIND = "openai"
_MOST = 1000
"""Servers that are remembered: the list is read at every load."""

_here: set[str] = set()
"""Named in this process: where the file cannot be written, they count until it ends."""


def kept_in() -> Path:
    """The file with the servers' addresses."""
    import platformdirs

    return Path(platformdirs.user_config_dir("emotui")) / "servers.json"


def origin_of(spec: str) -> str | None:
    """`http://HOST:PORT` of a SPEC, None where it is of no server (or has no address that can be read)."""
    kind, _, argument = spec.partition(":")
    if kind != KIND:
        return None
    try:
        parts = urlsplit(parse_address(argument).url)
    except BadModel:
        return None
    return f"{parts.scheme}://{parts.netloc}".lower()


def unnamed(spec: str) -> str | None:
    """The server of a SPEC that nobody has named on this machine; None where there is none."""
    origin = origin_of(spec)
    return None if origin is None or origin in _here or origin in _kept() else origin


def name(spec: str) -> None:
    """A person has named this model: its server may be asked from now on."""
    origin = unnamed(spec)
    if origin is None:
        return
    _here.add(origin)
    path = kept_in()
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            beside.write_text(json.dumps([*_kept(), origin][-_MOST:], indent=1) + "\n", encoding="utf-8")
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)


def check_named(spec: str) -> None:
    """Raises: ModelError where the server of a SPEC was named by a workspace alone."""
    if (origin := unnamed(spec)) is not None:
        raise ModelError(
            f"{origin} was named by this workspace and never by you, so nothing is sent there: to use it, choose the "
            f"model yourself in the workbench, or give a command --model {spec}"
        )


def _kept() -> list[str]:
    try:
        found = json.loads(kept_in().read_bytes())
    except (OSError, ValueError, RecursionError):
        return []
    return [each for each in found if isinstance(each, str)] if isinstance(found, list) else []
