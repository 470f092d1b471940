"""Options of a model, behind its SPEC or given by a caller: `hf:DIRECTORY#dtype=float32&device=cpu`."""

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote

from emotui.errors import BadModel

S = TypeVar("S")
_TRUTHS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def named_path(kind: str, argument: str) -> Path:
    """What a SPEC names as a path, there or not; `~` is the person's own folder.

    Raises:
        BadModel: there can be no such path, or nobody may look there.
    """
    try:
        path = Path(argument).expanduser()
        path.exists()
    except (OSError, RuntimeError) as error:
        why = error.strerror if isinstance(error, OSError) else "there is no such home directory"
        raise BadModel(f"{kind}: {argument[:200]!r} cannot be looked at: {why}") from None
    return path


def split_options(kind: str, argument: str) -> tuple[str, dict[str, str]]:
    """`PATH#NAME=VALUE&NAME=VALUE` to the path and its options; a path that has a `#` and exists is that path.

    In a value, `%26` stands for `&`.

    Raises:
        BadModel: an option has no value.
    """
    path, sign, rest = argument.partition("#")
    if not sign or named_path(kind, argument).exists():
        return argument, {}
    pairs = [pair.partition("=") for pair in rest.split("&") if pair]
    for name, equals, _ in pairs:
        if not equals:
            raise BadModel(f"{kind}: the option {name!r} has no value: write #NAME=VALUE&NAME=VALUE after the model")
    return path, {name: unquote(value) for name, _, value in pairs}


def read_options(
    kind: str,
    settings: type[S],
    options: Mapping[str, Any],
    *,
    choices: Mapping[str, tuple[str, ...]],
    least: Mapping[str, int] | None = None,
) -> S:
    """Options by name as `settings`, a dataclass of defaults; numbers and yes/no may be text, as on a command line.

    Args:
        choices: the values that a text can have, where it cannot have any.
        least: the smallest value of a whole number, where that is not 0.

    Raises:
        BadModel: an option that there is not, or a value that it cannot have.
    """
    defaults = {each.name: each.default for each in fields(settings)}  # type: ignore[arg-type]
    found: dict[str, Any] = {}
    for name, value in options.items():
        if name not in defaults:
            raise BadModel(f"{kind}: has no option {name!r}; it has: {', '.join(defaults)}")
        lowest = (least or {}).get(name, 0)
        parsed, wanted = _read(value, defaults[name], choices.get(name), lowest)
        if parsed is None:
            raise BadModel(f"{kind}: option {name} cannot be {value!r}: it is {wanted}")
        found[name] = parsed
    return settings(**found)


def _read(value: Any, default: Any, choice: tuple[str, ...] | None, least: int) -> tuple[Any, str]:
    """The value, None where it cannot be had, and what it should be."""
    if choice is not None:
        return (value if value in choice else None), f"one of {', '.join(choice)}"
    if isinstance(default, bool):
        return _TRUTHS.get(str(value).lower()), "true or false"
    if isinstance(default, int):
        return _whole(value, least), f"a whole number of {least} or more"
    return str(value), "text"


def _whole(value: Any, least: int) -> int | None:
    try:
        number = int(value)
    except (TypeError, ValueError):
        return None
    return number if not isinstance(value, bool) and least <= number < 1 << 31 else None
