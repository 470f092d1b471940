"""On which devices a model goes, and whether it fits there."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import torch
from rich.filesize import decimal

from emotui.backends.hf.files import loaded_bytes
from emotui.backends.hf.settings import Settings
from emotui.bounded import free_memory
from emotui.errors import ModelError
from emotui.installing import pip


@dataclass(frozen=True, slots=True)
class Devices:
    """`first`: where token ids go in. `spread`: over how many GPUs layers go, from the first on; 0 for one device."""

    first: torch.device
    spread: int = 0
    notes: tuple[str, ...] = ()


def chosen_devices(settings: Settings) -> Devices:
    """What the settings ask for: one device, unless several are named.

    Raises:
        ModelError: there is no such device here.
    """
    wanted, gpus = settings.device, torch.cuda.device_count() if torch.cuda.is_available() else 0
    if wanted == "multi" or settings.devices > 1:
        asked = "device=multi" if wanted == "multi" else f"devices={settings.devices}"
        several = gpus if wanted == "multi" else settings.devices
        if gpus == 0:
            raise ModelError(f"hf: {asked} needs GPUs, and torch sees none")
        if several > gpus:
            raise ModelError(f"hf: {asked} is more than there are here: torch sees {gpus}")
        if find_spec("accelerate") is None:
            raise ModelError(f"hf: {asked} needs accelerate: {pip()} install accelerate")
        return Devices(torch.device("cuda", 0), several)
    if wanted == "auto":
        if gpus:
            more = (f"One of {gpus} GPUs is used: devices={gpus} spreads the layers",) if gpus > 1 else ()
            return Devices(torch.device("cuda", 0), notes=more)
        return Devices(torch.device("mps" if torch.backends.mps.is_available() else "cpu"))
    try:
        device = torch.device(wanted)
    except RuntimeError:
        raise ModelError(f"hf: {wanted!r} is no device: it is auto, cpu, cuda, cuda:N, mps or multi") from None
    if device.type == "cuda" and (device.index or 0) >= gpus:
        raise ModelError(f"hf: there is no {wanted} here: torch sees {gpus} GPUs")
    if device.type == "mps" and not torch.backends.mps.is_available():
        raise ModelError("hf: there is no mps device here")
    return Devices(device)


def check_memory(folder: Path, files: Sequence[Path], bytes_each: float, devices: Devices) -> None:
    """Raises ModelError where the weights alone are more than what is free: loading them would end other programs."""
    free = free_memory()
    if devices.first.type == "cuda":
        places = range(devices.spread) if devices.spread else [devices.first]
        free = sum(torch.cuda.mem_get_info(each)[0] for each in places)
    elif devices.first.type != "cpu":
        return
    needed = sum(loaded_bytes(path, bytes_each) for path in files)
    if free is not None and needed > free:
        several = ", devices=N" if devices.first.type == "cuda" and torch.cuda.device_count() > 1 else ""
        raise ModelError(
            f"{folder} needs {decimal(needed)} of memory for its weights and {decimal(free)} are free: take a "
            f"smaller model, dtype=bfloat16 or bits=8{several}, or try it all the same with check_memory=false"
        )


_NO_MEMORY = re.compile(
    r"out of memory|(can't|cannot) allocate memory|not enough memory|STATUS_ALLOC_FAILED|OutOfMemory|"
    r"failed to allocate|unable to allocate|memory allocation fail",
    re.IGNORECASE,
)
"""In what libraries of a device raise: cuBLAS, cuDNN and cuSOLVER say `..._STATUS_ALLOC_FAILED` for it."""


def no_memory(error: BaseException) -> bool:
    """Whether an error says that memory, of the machine or of a device, did not suffice."""
    return isinstance(error, torch.OutOfMemoryError | MemoryError) or _NO_MEMORY.search(str(error)) is not None
