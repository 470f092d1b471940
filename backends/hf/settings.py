"""The options of `hf:`, checked before anything is loaded."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from emotui.errors import ModelError

CHOICES: Mapping[str, tuple[str, ...]] = {
    "dtype": ("auto", "float32", "bfloat16", "float16"),
    "thinking": ("off", "on"),
    "family": ("auto", "causal", "seq2seq", "masked", "classifier", "encoder"),
}


@dataclass(frozen=True, slots=True)
class Settings:
    """How a model is loaded and used.

    `online`: a hub name may be fetched; else only what is on this machine counts. `revision`: of a hub name.
    `dtype`: `auto` is bfloat16 on a GPU that has it and float32 on a CPU. `device`: `auto`, `cpu`, `cuda`, `cuda:1`,
    `mps`, or `multi` (layers over all GPUs). `bits`: 4 or 8 with bitsandbytes, 0 for none. `thinking`: whether a
    reasoning model thinks before it writes (scores are always read without). `context`: tokens, 0 for the model's own.
    `batch_tokens`: how many tokens one forward pass may hold, 0 for what suits the device. `threads`: 0 for torch's
    own. `hypothesis`: what an NLI model judges, `{}` for the label. `multi_label`: several labels may hold at once,
    where the model does not say. `share_prefix`: off computes every question of a score with its whole prompt.
    """

    online: bool = False
    revision: str = ""
    dtype: str = "auto"
    device: str = "auto"
    bits: int = 0
    thinking: str = "off"
    family: str = "auto"
    context: int = 0
    batch_tokens: int = 0
    threads: int = 0
    hypothesis: str = "This text expresses {}."
    multi_label: bool = False
    share_prefix: bool = True


def parse_settings(options: Mapping[str, Any]) -> Settings:
    """Options by name; numbers and yes/no may be given as text, as on a command line.

    Raises:
        ModelError: an option that there is not, or a value that it cannot have.
    """
    known = {each.name: type(each.default) for each in fields(Settings)}
    parsed: dict[str, Any] = {}
    for name, value in options.items():
        if name not in known:
            raise ModelError(f"hf: has no option {name!r}; it has: {', '.join(known)}")
        try:
            parsed[name] = _typed(value, known[name])
        except ValueError:
            raise ModelError(f"hf: option {name} cannot be {value!r}: it is {_WANTED[known[name]]}") from None
        if name in CHOICES and parsed[name] not in CHOICES[name]:
            raise ModelError(f"hf: option {name} cannot be {value!r}: it is one of {', '.join(CHOICES[name])}")
    settings = Settings(**parsed)
    if settings.bits not in (0, 4, 8):
        raise ModelError(f"hf: option bits cannot be {settings.bits}: it is 4 or 8 (or 0)")
    if settings.hypothesis.count("{}") != 1:
        raise ModelError("hf: option hypothesis needs one {} where the label goes")
    return settings


_WANTED: Mapping[Any, str] = {int: "a whole number of 0 or more", bool: "true or false", str: "text"}


def _typed(value: Any, kind: Any) -> Any:
    if kind is bool:
        words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
        if (word := str(value).lower()) not in words:
            raise ValueError(value)
        return words[word]
    if kind is int:
        if isinstance(value, bool) or int(value) < 0:
            raise ValueError(value)
        return int(value)
    return str(value)
