"""The options of `gguf:`, checked before anything is loaded."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from emotui.backends.options import read_options, split_options
from emotui.errors import BadModel

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
    read without, but for those behind thoughts of its own). `thinking_room`: tokens that its thoughts may have beside
    an answer's own. `extra_buffers`: llama.cpp's repacked weights; `auto` is off only where a trial shows that
    this build crashes with them. `check_memory`: off loads a model that is larger than the free memory.
    """

    context: int = 0
    gpu_layers: int = -1
    kv: str = "f16"
    batch: int = 0
    threads: int = 0
    flash: str = "auto"
    thinking: str = "off"
    thinking_room: int = 2048
    extra_buffers: str = "auto"
    check_memory: bool = True


def read_spec(argument: str, options: Mapping[str, Any]) -> tuple[str, Settings]:
    """What follows `gguf:` as a path and its options. Raises BadModel as `parse_settings`."""
    path, named = split_options("gguf", argument)
    return path, parse_settings({**named, **options})


def parse_settings(options: Mapping[str, Any]) -> Settings:
    """Options by name, as `emotui.backends.options.read_options`.

    Raises:
        BadModel: an option that there is not, a value that it cannot have, or two that do not go together.
    """
    settings = read_options("gguf", Settings, options, choices=CHOICES, least={"gpu_layers": -1})
    if settings.kv == "q8_0" and settings.flash != "on":
        raise BadModel("gguf: option kv=q8_0 needs flash=on: llama.cpp keeps quantised values only so")
    return settings
