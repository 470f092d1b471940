"""What the child process of `probe` does: load a small quantised model, decode, and say which build this is."""

from pathlib import Path

import numpy as np

from emotui.backends.gguf.context import Context, ContextSize
from emotui.backends.gguf.library import Library, open_library
from emotui.backends.gguf.settings import Settings
from emotui.backends.gguf.vocabulary import Vocabulary
from emotui.backends.gguf.weights import Weights

_GPU_LAYERS = 99


def main(path: str, extra_buffers: bool) -> None:
    """Print one line: the devices, and what the build uses. A crash is the caller's to see."""
    library = open_library()
    gpus = library.gpus()
    weights = Weights(
        library,
        Path(path),
        gpu_layers=_GPU_LAYERS if gpus else 0,
        extra_buffers=extra_buffers,
        progress=lambda line: None,
    )
    vocabulary = Vocabulary(library, weights)
    context = Context(library, weights, ContextSize(128, 64), Settings(), vocabulary.size, threads=2)
    # Long and short: the kernels for a prompt are not those for one token.
    prompt = vocabulary.encode("A quantised decode, long enough for the kernels that take many rows.")
    rows = [context.read(prompt), context.extend([prompt[0]])]
    if not np.isfinite(rows).all():
        raise SystemExit("its logits are no numbers")
    context.close()
    weights.close()
    names = ", ".join(f"{gpu.name} ({gpu.free / 1e9:.0f} of {gpu.total / 1e9:.0f} GB free)" for gpu in gpus)
    kind = f"GPU build: {names}" if gpus else "GPU build without a GPU" if _can_offload(library) else "CPU build"
    print(f"{kind} [{library.features}]")


def _can_offload(library: Library) -> bool:
    answer: bool = library.c.llama_supports_gpu_offload()
    return answer
