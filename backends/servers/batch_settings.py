"""The SPEC of answers in files: `batch:MODEL@FILE.jsonl#NAME=VALUE`, or a folder of such files."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any
from urllib.parse import unquote

from emotui.backends.servers.settings import THINKING, read_value
from emotui.errors import BadModel

ENGINES = ("vllm", "openai")


@dataclass(frozen=True, slots=True)
class Settings:
    """How requests are written.

    Attributes:
        engine: `vllm` (also SGLang), or `openai`, which takes other fields.
        top_logprobs: alternatives a token, from which yes and no are read; 0 asks for none.
        thinking, thinking_room: as of a server (`emotui.backends.servers.settings`).
        extra: further fields of each request's body.
    """

    engine: str = "vllm"
    top_logprobs: int = 20
    thinking: str = "off"
    thinking_room: int = 2048
    extra: Mapping[str, Any] = field(default_factory=dict)


_CHOICES = {"engine": ENGINES, "thinking": THINKING}
_WHOLE = {"top_logprobs": 0, "thinking_room": 0}


def read_spec(argument: str, options: Mapping[str, Any]) -> tuple[str, str, Settings]:
    """The model's name, the file or folder (empty where none is named), and the options.

    Raises:
        BadModel: no model is named, an option is unknown, or has a value that it cannot have.
    """
    whole, _, rest = argument.partition("#")
    model, _, path = whole.partition("@")
    if not model:
        raise BadModel("batch: needs the name of a model, as in batch:MODEL@ANSWERS.jsonl")
    given: dict[str, Any] = {}
    for pair in filter(None, rest.split("&")):
        name, sign, value = pair.partition("=")
        if not sign:
            raise BadModel(f"batch: the option {name!r} has no value: write #NAME=VALUE&NAME=VALUE at the end")
        given[name] = unquote(value)
    known = [each.name for each in fields(Settings)]
    values: dict[str, Any] = {}
    for name, value in {**given, **options}.items():
        if name not in known:
            raise BadModel(f"batch: has no option {name!r} (it has: {', '.join(known)})")
        values[name] = read_value("batch", name, value, choices=_CHOICES, whole=_WHOLE, below=1e6)
    return model, path, Settings(**values)
