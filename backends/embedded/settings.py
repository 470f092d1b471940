"""The options of `embedded`, checked before anything is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from emotui.backends.options import read_options, split_options
from emotui.errors import BadModel

CHOICES: Mapping[str, tuple[str, ...]] = {
    "spans": ("auto", "cues", "clauses"),
    "dtype": ("float32", "int8"),
    "layers": ("own", "shared"),
}


@dataclass(frozen=True, slots=True)
class Settings:
    """How the embedded model computes.

    `threads`: with how many threads. `spans`: how `extract` marks evidence, by cue words, by clauses, or by the one
    that a text's style asks for. `dtype`: `int8` multiplies whole numbers: quicker, smaller, and other answers.
    `layers`: `shared` takes less memory, and a seventh longer for many texts; answers differ by 4e-6 at most.
    """

    threads: int = 1
    spans: str = "auto"
    dtype: str = "float32"
    layers: str = "own"


def read_spec(argument: str, options: Mapping[str, Any]) -> Settings:
    """What follows `embedded` in a SPEC (`#threads=2&spans=cues`), and options beside it, which win.

    Raises:
        BadModel: something else follows its name, an option that there is not, or a value that it cannot have.
    """
    name, given = split_options("embedded", argument)
    if name:
        raise BadModel(
            f"embedded:{name[:200]}: there is one embedded model, and only options follow its name: embedded#threads=2"
        )
    return read_options("embedded", Settings, {**given, **options}, choices=CHOICES, least={"threads": 1})
