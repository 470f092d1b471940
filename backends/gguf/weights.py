"""Load a model's weights into llama.cpp, or say in one line why that cannot be."""

import ctypes
import re
from pathlib import Path
from typing import Any

from emotui.backends.base import Progress
from emotui.backends.gguf.library import Library, package_version
from emotui.errors import ModelError

_UNKNOWN = re.compile(r"unknown model architecture: '([^']*)'")


class Weights:
    """A loaded model. `model` is llama.cpp's pointer, valid until `close`.

    Args:
        path: the (first) file.
        gpu_layers: how many layers go to the GPU.
        extra_buffers: allow repacked weights.

    Raises:
        ModelError: llama.cpp cannot load it, or it is no model that writes or embeds.
    """

    def __init__(
        self, library: Library, path: Path, *, gpu_layers: int, extra_buffers: bool, progress: Progress
    ) -> None:
        c = library.c
        parameters = c.llama_model_default_params()
        parameters.n_gpu_layers = gpu_layers
        parameters.use_extra_bufts = extra_buffers
        self._callback = c.llama_progress_callback(_Percent(path.name, progress))
        parameters.progress_callback = self._callback
        library.why()
        self.model: Any = c.llama_model_load_from_file(str(path).encode(), parameters)
        if not self.model:
            raise ModelError(_refusal(path, library.why()))
        self._free = c.llama_model_free
        if c.llama_model_has_encoder(self.model) and c.llama_model_has_decoder(self.model):
            self.close()
            raise ModelError(
                f"{path} has an encoder and a decoder (T5's kind): use its Hugging Face form, hf:DIRECTORY"
            )

    def close(self) -> None:
        """Free the memory. Contexts made of it must be closed before."""
        if self.model:
            self._free(self.model)
            self.model = None


class _Percent:
    """Tells each whole tenth once. True: go on."""

    def __init__(self, name: str, progress: Progress) -> None:
        self._name = name
        self._progress = progress
        self._told = -1

    def __call__(self, done: float, _: ctypes.c_void_p) -> bool:
        tenth = int(done * 10)
        if tenth > self._told:
            self._told = tenth
            self._progress(f"loading {self._name}: {tenth * 10}%")
        return True


def _refusal(path: Path, why: str) -> str:
    if match := _UNKNOWN.search(why):
        return (
            f"{path} is a {match[1]!r} model, an architecture that llama-cpp-python {package_version()} does not know: "
            "install a newer one"
        )
    if "allocate" in why or "out of memory" in why:
        return f"{path} finds no memory ({why}): take a smaller quantisation, or fewer gpu_layers"
    return f"{path} cannot be loaded by llama.cpp: {why or 'it does not say why'}"
