"""How much context and how many layers on the GPU: from what the file says and what memory is free."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.filesize import decimal

from emotui.backends.base import Progress
from emotui.backends.gguf.files import ModelFiles
from emotui.backends.gguf.header import Header
from emotui.backends.gguf.library import Device, Library
from emotui.backends.gguf.probe import crashes_with_extra_buffers
from emotui.backends.gguf.settings import Settings
from emotui.errors import ModelError

# Whether a model may be loaded with llama.cpp's repacked weights: with some builds they crash.


def allow_extra_buffers(library: Library, settings: Settings, progress: Progress) -> bool:
    """As the option says; `auto` tries a build with AMX kernels in a process of its own first."""
    if settings.extra_buffers != "auto":
        return settings.extra_buffers == "on"
    if not library.uses_amx:
        return True
    progress("trying llama.cpp's AMX kernels in a process of their own")
    return not crashes_with_extra_buffers()


MOST_CONTEXT = 8192
"""Tokens, unless more are asked for: the tasks' prompts are far shorter, and a longer cache is only memory."""
LEAST_CONTEXT = 512
_OVERHEAD = 400_000_000
"""Bytes that computing needs besides weights, cache and logits, on the CPU and on a GPU."""
CPU_BATCH, GPU_BATCH = 128, 512
"""Tokens of a prompt computed at a time, where the settings leave it open."""
_KV_BYTES = {"f16": 2.0, "f32": 4.0, "q8_0": 34 / 32}


@dataclass(frozen=True, slots=True)
class Plan:
    """`gpu_layers` of `layers` (the output layer counts as one)."""

    context: int
    gpu_layers: int
    layers: int


def make_plan(files: ModelFiles, settings: Settings, gpus: Sequence[Device], free: int | None) -> Plan:
    """Choose what the settings leave open. The context is halved until it fits, so it seldom depends on the moment.

    Args:
        free: bytes of main memory, None where that is not known: nothing is checked then.

    Raises:
        ModelError: the model does not fit even with the least context, or with the one that is asked for.
    """
    header = files.header
    trained = header.context or MOST_CONTEXT
    context = settings.context or min(trained, MOST_CONTEXT)
    token = bytes_a_token(header, settings.kv)
    room = None if free is None or not settings.check_memory else free + sum(gpu.free for gpu in gpus)

    computing = _OVERHEAD + logits_bytes(header, settings.batch or (GPU_BATCH if gpus else CPU_BATCH))

    def needed() -> int:
        return files.size + computing + int(context * token)

    while room is not None and needed() > room:
        if settings.context or context // 2 < LEAST_CONTEXT:
            raise ModelError(
                f"{files.parts[0]} needs {decimal(needed())} of memory with a context of {context} tokens and "
                f"{decimal(room)} are free: take a smaller quantisation"
                + (" or context" if settings.context else "")
                + ", or try it all the same with check_memory=false"
            )
        context //= 2
    layers = header.number("block_count", 0) + 1
    return Plan(context, _gpu_layers(files, settings, gpus, layers, context * token, computing), layers)


def flash_type(settings: Settings, plan: Plan) -> int:
    """llama.cpp's number for flash attention: 0 off, 1 on, -1 where it fits the model and the GPU."""
    return {"off": 0, "on": 1, "auto": -1 if plan.gpu_layers else 0}[settings.flash]


def bytes_a_token(header: Header, kv: str) -> float:
    """Bytes that keys and values of one token take, at most: models with a sliding window take less."""
    heads = max(1, header.number("attention.head_count", 1))
    kv_heads = header.number("attention.head_count_kv", heads)
    width = header.number("embedding_length", 0) // heads
    keys, values = header.number("attention.key_length", width), header.number("attention.value_length", width)
    return header.number("block_count", 0) * kv_heads * (keys + values) * _KV_BYTES[kv]


def logits_bytes(header: Header, batch: int) -> int:
    """Bytes that llama.cpp reserves for the logits of a whole batch, computed and handed out: with a vocabulary of
    152,000 and 512 tokens more than all else that it computes with.
    """
    return 2 * 4 * batch * header.vocabulary


def _gpu_layers(
    files: ModelFiles, settings: Settings, gpus: Sequence[Device], layers: int, cache: float, computing: int
) -> int:
    if not gpus:
        return 0
    if settings.gpu_layers >= 0:
        return min(settings.gpu_layers, layers)
    usable = sum(max(0, gpu.free - computing) for gpu in gpus)
    return min(layers, int(usable // max(1.0, (files.size + cache) / layers)))
