"""How to install what is not part of emotui itself: commands that work as they stand, published or not."""

import shutil
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from emotui.errors import ModelError

_TRANSFORMERS = ("sentence-transformers>=5", "torch>=2.6", "transformers>=5")

EXTRAS: Mapping[str, tuple[str, ...]] = {
    "hf": _TRANSFORMERS,
    "llamacpp": ("llama-cpp-python>=0.3.16",),
    "openai": ("aiohttp>=3.11", "tenacity>=9"),
    "masking": ("HanTa>=1.2.1",),
    "constrain": ("llguidance>=1",),
    "train": ("peft>=0.18", *_TRANSFORMERS),
    "serve": ("textual-serve>=1.1",),
    "arrow": ("pyarrow>=15",),
    "cas": ("dkpro-cassis>=0.9",),
    "figures": ("matplotlib>=3.8",),
    "attribution": ("captum>=0.9",),
}
"""What each extra of pyproject.toml brings."""


_MODULES = {"cassis": "dkpro-cassis", "llama_cpp": "llama-cpp-python"}
"""Distributions whose module has another name than the same with `_` for `-`."""


def extra_of(module: str) -> str:
    """The extra that brings a module (`captum`: `attribution`); empty: none does."""
    top = module.partition(".")[0]
    wanted = _MODULES.get(top, top.replace("_", "-")).lower()
    brought = ((extra, package.partition(">")[0].lower()) for extra, packages in EXTRAS.items() for package in packages)
    return next((extra for extra, package in brought if package == wanted), "")


_CPU_BUILDS = "https://download.pytorch.org/whl/cpu"
"""Where torch's builds without CUDA are: for Linux, what package indices have brings 2.8 GB with it."""


def install(extra: str) -> str:
    """The command that installs an extra into the Python that runs this; with torch's CPU build, where no GPU is."""
    packages = EXTRAS[extra]
    first = ""
    if any(package.startswith("torch>") for package in packages) and sys.platform == "linux" and not has_gpu():
        packages = tuple(package for package in packages if not package.startswith("torch>"))
        first = f"{pip()} install 'torch>=2.6' --index-url {_CPU_BUILDS} && "
    return f"{first}{pip()} install {' '.join(repr(package) for package in packages)}"


def has_gpu() -> bool:
    """Whether Linux names a GPU that torch computes on (NVIDIA's or AMD's)."""
    return any(Path("/dev").glob("nvidia[0-9]*")) or Path("/dev/kfd").exists()


def check_transformers(what: str, extra: str = "hf") -> None:
    """Args: what: needs torch and transformers. Raises: ModelError with the command that brings them."""
    missing = [name for name in ("torch", "transformers") if find_spec(name) is None]
    if missing:
        size = "2.8 GB with CUDA" if has_gpu() else "about 0.3 GB"
        verb = "is" if len(missing) == 1 else "are"
        raise ModelError(f"{what}: {' and '.join(missing)} {verb} not installed: {install(extra)} ({size})")


def check_captum() -> None:
    """Raises: ModelError with the command that brings it, where it is missing."""
    if find_spec("captum") is None:
        raise ModelError(f"gradients of words: captum is not installed: {install('attribution')}")


def pip() -> str:
    """What installs into the Python that runs this: `pip` where that is its own, else its module, which comes first
    where it is missing, as in environments that uv made.
    """
    here = Path(sys.executable)
    found = shutil.which("pip")
    if found is not None and Path(found).parent == here.parent:
        return "pip"
    return f"{here} -m pip" if find_spec("pip") is not None else f"{here} -m ensurepip && {here} -m pip"
