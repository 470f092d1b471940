"""Weights of fewer bits: packed while they are loaded (bitsandbytes), or kept so in their files (GPTQ, AWQ, FP8)."""

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
import transformers

from emotui.backends.hf.placing.devices import Devices
from emotui.backends.hf.settings import Settings
from emotui.errors import ModelError
from emotui.installing import pip

_NEEDS: Mapping[str, tuple[str, ...]] = {
    "gptq": ("optimum", "gptqmodel", "accelerate"),
    "awq": ("gptqmodel", "accelerate"),
    "fp8": ("accelerate",),
    "compressed-tensors": ("compressed_tensors", "accelerate"),
    "bitsandbytes": ("bitsandbytes", "accelerate"),
    "mxfp4": ("accelerate",),
    "bitnet": ("accelerate",),
    "sinq": ("sinq",),
}
"""Packages that transformers wants for what config.json names as `quant_method`; of others it says so itself."""

_ON_A_GPU = ("gptq", "awq", "bitnet")
"""Whose kernels are for NVIDIA GPUs; without one, BitNet compiles its unpacking for minutes before it loads."""

UNPACKED = ("fp8", "mxfp4")
"""What transformers unpacks where there is no GPU that computes with it."""


def check_packed(folder: Path, config: Mapping[str, Any], settings: Settings, device: torch.device) -> str | None:
    """By which method the files are quantised; None where they are not.

    Raises:
        ModelError: transformers does not know it, a package or a GPU is missing for it, or `bits` asks for another one.
    """
    said = config.get("quantization_config")
    if not isinstance(said, Mapping):
        return None
    method = str(said.get("quant_method") or ("bitsandbytes" if said.get("load_in_4bit") else "an unknown method"))
    if settings.bits:
        raise ModelError(f"{folder} is quantised already ({method}): leave bits={settings.bits} out")
    for package in _NEEDS.get(method, ()):
        if find_spec(package) is None:
            name = package.replace("_", "-")
            raise ModelError(f"{folder} is quantised by {method}, which needs {name}: {pip()} install {name}")
    if method in _ON_A_GPU and device.type != "cuda":
        raise ModelError(f"{folder} is quantised by {method}, which runs on an NVIDIA GPU: here the device is {device}")
    if why := _refused(dict(said), device):
        raise ModelError(f"{folder} is quantised by {method}, which cannot be loaded here: {why}")
    return method


def _refused(said: dict[str, Any], device: torch.device) -> str:
    """Why transformers would not load such files, asked before it reads their weights; empty where it would."""
    from transformers.quantizers.auto import AutoHfQuantizer

    try:
        if not AutoHfQuantizer.supports_quant_method(dict(said)):
            return f"transformers {transformers.__version__} does not know it"
        quantizer = AutoHfQuantizer.from_config(said, pre_quantized=True)
        quantizer.validate_environment(dtype=torch.bfloat16, device_map={"": device}, weights_only=True)
    except Exception as error:
        return " ".join(str(error).split())[:200] or type(error).__name__
    return ""


def placement(devices: Devices, settings: Settings, dtype: torch.dtype, *, packed: bool) -> dict[str, Any]:
    """What `from_pretrained` is told of where weights go: straight to a GPU, without a copy in main memory.

    Raises:
        ModelError: `bits` needs a package that is missing.
    """
    placed: dict[str, Any] = {}
    if devices.spread:
        room = {place: int(0.9 * torch.cuda.mem_get_info(place)[0]) for place in range(devices.spread)}
        placed = {"device_map": "balanced", "max_memory": room}
    elif settings.bits or packed or (devices.first.type == "cuda" and find_spec("accelerate") is not None):
        placed = {"device_map": {"": devices.first}}
    if settings.bits:
        placed["quantization_config"] = _bits(settings.bits, dtype)
    return placed


def _bits(bits: int, dtype: torch.dtype) -> Any:
    for package in ("bitsandbytes", "accelerate"):
        if find_spec(package) is None:
            raise ModelError(f"hf: bits={bits} needs {package}: {pip()} install bitsandbytes accelerate")
    if bits == 8:
        return transformers.BitsAndBytesConfig(load_in_8bit=True)
    return transformers.BitsAndBytesConfig(
        load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=dtype, bnb_4bit_use_double_quant=True
    )
