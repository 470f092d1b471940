"""The options of `gguf:`, checked before anything is loaded."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from emotui.errors import ModelError

CHOICES: Mapping[str, tuple[str, ...]] = {
    "kv": ("f16", "f32", "q8_0"),
    "flash": ("auto", "on", "off"),
    "thinking": ("off", "on"),
    "extra_buffers": ("auto", "on", "off"),
}


@dataclass(frozen=True, slots=True)
class Settings:
    """How a model is loaded and used.

    `context`: tokens, 0 for what the file and the free memory allow, at most 8192. `gpu_layers`: -1 for as many as fit
    in the free memory of the GPUs. `kv`: what keys and values are kept in. `batch`: tokens of a prompt computed at a
    time, 0 for what suits the device. `threads`: 0 for one a core. `flash`: flash attention; `auto` is off on a CPU,
    and what llama.cpp finds best on a GPU. `thinking`: whether a reasoning model thinks before it writes (scores are
    always read without). `extra_buffers`: llama.cpp's repacked weights; `auto` is off only where a trial shows that
    this build crashes with them. `check_memory`: off loads a model that is larger than the free memory.
    """

    context: int = 0
    gpu_layers: int = -1
    kv: str = "f16"
    batch: int = 0
    threads: int = 0
    flash: str = "auto"
    thinking: str = "off"
    extra_buffers: str = "auto"
    check_memory: bool = True


def parse_settings(options: Mapping[str, Any]) -> Settings:
    """Options by name; numbers and yes/no may be given as text, as on a command line.

    Raises:
        ModelError: an option that there is not, or a value that it cannot have.
    """
    known = {each.name: type(each.default) for each in fields(Settings)}
    parsed: dict[str, Any] = {}
    for name, value in options.items():
        if name not in known:
            raise ModelError(f"gguf: has no option {name!r}; it has: {', '.join(known)}")
        if name in CHOICES:
            if value not in CHOICES[name]:
                raise ModelError(f"gguf: option {name} cannot be {value!r}: it is one of {', '.join(CHOICES[name])}")
            parsed[name] = value
        elif known[name] is bool:
            parsed[name] = _truth(name, value)
        else:
            parsed[name] = _whole(name, value, -1 if name == "gpu_layers" else 0)
    settings = Settings(**parsed)
    if settings.kv == "q8_0" and settings.flash != "on":
        raise ModelError("gguf: option kv=q8_0 needs flash=on: llama.cpp keeps quantised values only so")
    return settings


def _truth(name: str, value: Any) -> bool:
    words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    if (word := str(value).lower()) not in words:
        raise ModelError(f"gguf: option {name} cannot be {value!r}: it is true or false")
    return words[word]


def _whole(name: str, value: Any, least: int) -> int:
    try:
        number = int(value)
    except (TypeError, ValueError):
        number = least - 1
    if isinstance(value, bool) or not least <= number < 1 << 31:
        raise ModelError(f"gguf: option {name} cannot be {value!r}: it is a whole number of {least} or more")
    return number
