"""Which torch is installed and what it can use, asked in a process of its own: importing it is slow, and may crash."""

import signal
import subprocess
import sys
from dataclasses import dataclass

import msgspec

_LIMIT = 120.0
_ASK = """
import json, os, sys
sys.path[:] = {path!r}
out = os.dup(1)
os.dup2(2, 1)
import torch
devices = []
if torch.cuda.is_available():
    for number in range(torch.cuda.device_count()):
        free, total = torch.cuda.mem_get_info(number)
        bf16 = "with" if torch.cuda.is_bf16_supported() else "without"
        name = torch.cuda.get_device_name(number)
        devices.append(f"{{name}} ({{free / 1e9:.0f}} of {{total / 1e9:.0f}} GB free, {{bf16}} bfloat16)")
elif torch.backends.mps.is_available():
    devices.append("Apple GPU (mps)")
made_for = f"CUDA {{torch.version.cuda}}" if torch.version.cuda else "ROCm" if torch.version.hip else "CPU"
assert torch.ones(2, 2).sum().item() == 4
os.write(out, json.dumps({{"version": str(torch.__version__), "made_for": made_for, "devices": devices}}).encode())
"""


@dataclass(frozen=True, slots=True)
class TorchBuild:
    """`made_for`: `CPU`, `CUDA 12.8` or `ROCm`. `problem`: why it does not run, empty where it does."""

    version: str = ""
    made_for: str = ""
    devices: tuple[str, ...] = ()
    problem: str = ""


def torch_build() -> TorchBuild:
    """Import torch in a child process and compute one sum with it."""
    command = [sys.executable, "-c", _ASK.format(path=sys.path)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return TorchBuild(problem=f"importing torch takes longer than {_LIMIT:.0f} s")
    if done.returncode == 0:
        return msgspec.json.decode(done.stdout, type=TorchBuild)
    words = done.stderr.decode("utf-8", "replace").strip().splitlines()
    last = words[-1] if words else "it said nothing"
    if done.returncode < 0:
        return TorchBuild(problem=f"importing torch dies of {signal.Signals(-done.returncode).name} ({last})")
    return TorchBuild(problem=f"torch does not run: {last}")
