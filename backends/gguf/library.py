"""llama.cpp through llama-cpp-python's plain C functions: found, kept quiet, and asked what it was built for."""

import ctypes
import os
import re
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from emotui.errors import ModelError
from emotui.installing import install

_ERROR = 4
"""ggml's own number; llama-cpp-python's comment has another."""


_BEFORE_WHY = re.compile(r"^(\w+: +)?(error loading model: +|failed to initialize the context: +)*")


@dataclass(frozen=True, slots=True)
class Device:
    """A GPU that this build can use. Bytes."""

    name: str
    free: int
    total: int


class Library:
    """The loaded library. `c` has its functions by their C names; `complaints` the error lines it has written."""

    def __init__(self, c: Any) -> None:
        os.environ["GGML_NO_BACKTRACE"] = "1"  # else an abort starts a debugger, and its chatter is the last words
        self.c = c
        self.complaints: list[str] = []
        self._callback = c.llama_log_callback(self._log)  # llama.cpp keeps the pointer only
        c.llama_log_set(self._callback, ctypes.c_void_p(0))
        c.llama_backend_init()

    def why(self) -> str:
        """The first error line since the last call: what llama.cpp says went wrong, at its root."""
        lines = [line for line in self.complaints if line]
        self.complaints.clear()
        return lines[0] if lines else ""

    def _log(self, level: int, text: bytes, _: Any) -> None:
        if level == _ERROR and len(self.complaints) < 50:
            self.complaints.append(_BEFORE_WHY.sub("", text.decode("utf-8", "replace").strip()))

    @property
    def build(self) -> str:
        """What changes rounding: the package's version and the instructions that it uses."""
        return f"llama-cpp-python {package_version()}; {self.features}"

    @property
    def features(self) -> str:
        """Such as `CPU : AVX2 F16C LLAMAFILE`."""
        text: str = self.c.llama_print_system_info().decode("utf-8", "replace")
        groups = [part.strip().removesuffix(" = 1") for part in text.split("|")]
        return " ".join(part for part in groups if part)

    @property
    def uses_amx(self) -> bool:
        """Whether it was built with the kernels that crash with some compilers."""
        return "AMX_INT8" in self.features

    def gpus(self) -> list[Device]:
        """The GPUs that this build sees; empty for a CPU build."""
        if not self.c.llama_supports_gpu_offload():
            return []
        from llama_cpp._ggml import libggml

        libggml.ggml_backend_dev_count.restype = ctypes.c_size_t
        libggml.ggml_backend_dev_get.argtypes = [ctypes.c_size_t]
        libggml.ggml_backend_dev_get.restype = ctypes.c_void_p
        libggml.ggml_backend_dev_type.argtypes = [ctypes.c_void_p]
        libggml.ggml_backend_dev_description.argtypes = [ctypes.c_void_p]
        libggml.ggml_backend_dev_description.restype = ctypes.c_char_p
        size = ctypes.POINTER(ctypes.c_size_t)
        libggml.ggml_backend_dev_memory.argtypes = [ctypes.c_void_p, size, size]
        libggml.ggml_backend_dev_memory.restype = None
        found = []
        for number in range(libggml.ggml_backend_dev_count()):
            device = libggml.ggml_backend_dev_get(number)
            if libggml.ggml_backend_dev_type(device) in (1, 2):  # a GPU, or one that shares the CPU's memory
                free, total = ctypes.c_size_t(), ctypes.c_size_t()
                libggml.ggml_backend_dev_memory(device, ctypes.byref(free), ctypes.byref(total))
                name = libggml.ggml_backend_dev_description(device).decode("utf-8", "replace")
                found.append(Device(name, free.value, total.value))
        return found


@cache
def open_library() -> Library:
    """The one of this process: llama.cpp keeps a pointer to its listener for good.

    Raises:
        ModelError: it is not installed, or cannot be loaded.
    """
    try:
        import llama_cpp.llama_cpp as c
    except ImportError:
        raise ModelError(
            f"gguf: needs llama-cpp-python, which is not installed: {install('llamacpp')} "
            "(compiles for minutes; docs/models.md)"
        ) from None
    except (OSError, RuntimeError) as error:
        raise ModelError(f"llama-cpp-python cannot be loaded ({_first_line(error)}): build it again") from None
    return Library(c)


def package_version() -> str:
    """Of llama-cpp-python; empty where it is not installed."""
    try:
        return version("llama-cpp-python")
    except PackageNotFoundError:
        return ""


def cores() -> int:
    """Cores that this process may use: more threads than cores make llama.cpp much slower."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
