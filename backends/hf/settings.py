"""The options of `hf:`, checked before anything is loaded."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from emotui.backends.options import read_options, split_options
from emotui.errors import BadModel

CHOICES: Mapping[str, tuple[str, ...]] = {
    "dtype": ("auto", "float32", "bfloat16", "float16"),
    "thinking": ("off", "on"),
    "family": ("auto", "causal", "seq2seq", "masked", "classifier", "tagger", "reader", "encoder"),
    "aggregation": ("first", "average", "max"),
    "batching": ("rows", "continuous"),
    "attn": ("auto", "eager", "sdpa", "flash_attention_2", "flex_attention"),
}


@dataclass(frozen=True, slots=True)
class Settings:
    """How a model is loaded and used.

    `online`: a hub name may be fetched; else only what is on this machine counts. `revision`: of a hub name.
    `dtype`: `auto` is bfloat16 on a GPU that has it and float32 on a CPU. `device`: `auto`, `cpu`, `cuda`, `cuda:1`,
    `mps`, or `multi` (layers over all GPUs). `devices`: over how many GPUs layers are spread. `attn`: how attention is
    computed, by transformers' own names; `auto` is what it finds best. `batching`: `rows` writes answers side by side
    until all have ended; `continuous` gives a place that is free to the next, by transformers' own paged loop.
    `bits`: 4 or 8 with bitsandbytes, 0 for none.
    `thinking`: whether a reasoning model thinks before it writes (scores are read without, but for those behind
    thoughts of its own); `thinking_room`: tokens that its thoughts may have beside an answer's own. `context`: tokens,
    0 for the model's own. `batch_tokens`: how many tokens one forward pass may hold, 0 for what suits the device.
    `threads`: 0 for torch's own. `hypothesis`: what an NLI model judges, `{}` for the label. `multi_label`: several
    labels may hold at once, where the model does not say. `share_prefix`: off computes every question of a score with
    its whole prompt.
    `check_memory`: off loads weights that are larger than the free memory. `aggregation`: which pieces of a word
    give it its tag. `outside`: the tags of words in no span, with commas, where they are not known by their names.
    `question`: what a question-answering model is asked about each text; `no_answer`: it may find nothing.
    """

    online: bool = False
    revision: str = ""
    dtype: str = "auto"
    device: str = "auto"
    devices: int = 1
    attn: str = "auto"
    batching: str = "rows"
    bits: int = 0
    thinking: str = "off"
    thinking_room: int = 2048
    family: str = "auto"
    context: int = 0
    batch_tokens: int = 0
    threads: int = 0
    hypothesis: str = "This text expresses {}."
    multi_label: bool = False
    share_prefix: bool = True
    check_memory: bool = True
    aggregation: str = "first"
    outside: str = ""
    question: str = "Which words show what someone feels?"
    no_answer: bool = True


def read_spec(argument: str, options: Mapping[str, Any]) -> tuple[str, Settings]:
    """What follows `hf:` as a directory or hub name and its options. Raises BadModel as `parse_settings`."""
    name, given = split_options("hf", argument)
    return name, parse_settings({**given, **options})


def parse_settings(options: Mapping[str, Any]) -> Settings:
    """Options by name, as `emotui.backends.options.read_options`; a dtype may have its short name.

    Raises:
        BadModel: an option that there is not, or a value that it cannot have.
    """
    named = {**options, **({"dtype": _SHORT.get(dtype, dtype)} if (dtype := options.get("dtype")) is not None else {})}
    settings = read_options("hf", Settings, named, choices=CHOICES)
    if settings.bits not in (0, 4, 8):
        raise BadModel(f"hf: option bits cannot be {settings.bits}: it is 4 or 8 (or 0)")
    if not _DEVICE.fullmatch(settings.device):
        raise BadModel(f"hf: {settings.device!r} is no device: it is auto, cpu, cuda, cuda:N, mps or multi")
    if settings.devices < 1:
        raise BadModel("hf: option devices is how many GPUs the layers go over, 1 or more")
    if settings.devices > 1 and settings.device not in ("auto", "cuda"):
        raise BadModel(
            f"hf: devices={settings.devices} does not go with device={settings.device}: leave one of them out"
        )
    if settings.hypothesis.count("{}") != 1:
        raise BadModel("hf: option hypothesis needs one {} where the label goes")
    if not settings.question.strip():
        raise BadModel("hf: option question is empty")
    return settings


_DEVICE = re.compile(r"auto|cpu|mps|multi|cuda(:\d+)?")
_SHORT = {"bf16": "bfloat16", "fp16": "float16", "f16": "float16", "fp32": "float32", "f32": "float32"}
