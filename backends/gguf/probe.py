"""Does this build of llama.cpp run? Tried on a small quantised model in a process of its own, since some builds crash.

A build for the machine's own processor (GGML_NATIVE) by an older gcc dies on the first quantised decode where the
processor has AMX. `docs/models.md` has the two remedies.
"""

import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from emotui.backends.gguf.library import Library, package_version
from emotui.installing import install

_LIMIT = 60.0
_MODEL = Path(__file__).with_name("probe.gguf")
_TRIAL = """
import sys
sys.path[:] = {path!r}
from emotui.backends.gguf.probe import main
main({model!r}, {extra!r})
"""


@dataclass(frozen=True, slots=True)
class Trial:
    """`ended`: how the child ended, empty where it ran to its end. `said`: its last line."""

    ended: str
    said: str


def probe_build() -> tuple[bool, str]:
    """Whether llama.cpp works here, and one line: which build it is, or what is wrong and what to do."""
    version = package_version()
    if not version:
        return False, f"llama-cpp-python is not installed: {install('llamacpp')} (docs/models.md)"
    trial = try_decode(extra_buffers=True)
    if not trial.ended:
        return True, f"llama-cpp-python {version}, {trial.said}; a quantised decode works"
    again = try_decode(extra_buffers=False)
    if not again.ended:
        return False, (
            f"llama-cpp-python {version}, {again.said}: a quantised decode {trial.ended} with repacked weights. "
            "gguf: models run without them, more slowly; or build it with GGML_NATIVE=OFF (docs/models.md)"
        )
    words = f" ({again.said})" if again.said else ""
    return False, (
        f"llama-cpp-python {version}: a quantised decode {again.ended}{words}; "
        "build it again with GGML_NATIVE=OFF (docs/models.md)"
    )


def crashes_with_extra_buffers() -> bool:
    """Whether a quantised decode with repacked weights, in a process of its own, does not end well."""
    return bool(try_decode(extra_buffers=True).ended)


def try_decode(*, extra_buffers: bool) -> Trial:
    """Read a prompt with a tiny Q8_0 model in a child process."""
    code = _TRIAL.format(path=sys.path, model=str(_MODEL), extra=extra_buffers)
    try:
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=_LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return Trial(f"hangs for {_LIMIT:.0f} s", "")
    lines = (done.stdout or done.stderr).decode("utf-8", "replace").strip().splitlines()
    said = lines[-1] if lines else ""
    if done.returncode < 0:
        return Trial(f"dies of {signal.Signals(-done.returncode).name}", said)
    return Trial(f"ends with status {done.returncode}" if done.returncode else "", said)


# In the child process: load a small quantised model, decode, and say which build this is.

_GPU_LAYERS = 99


def main(path: str, extra_buffers: bool) -> None:
    """Print one line: the devices, and what the build uses. A crash is the caller's to see."""
    import numpy as np

    from emotui.backends.gguf.context import Context, ContextSize
    from emotui.backends.gguf.library import open_library
    from emotui.backends.gguf.settings import Settings
    from emotui.backends.gguf.vocabulary import Vocabulary
    from emotui.backends.gguf.weights import Weights

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
