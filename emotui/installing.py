"""How to install what is not part of emotui itself: commands that work as they stand, published or not."""

import shutil
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

EXTRAS: Mapping[str, tuple[str, ...]] = {
    "llamacpp": ("llama-cpp-python>=0.3.16",),
    "openai": ("aiohttp>=3.11", "tenacity>=9"),
    "masking": ("HanTa>=1.2.1",),
    "constrain": ("llguidance>=1",),
    "train": ("peft>=0.18",),
    "serve": ("textual-serve>=1.1",),
    "arrow": ("pyarrow>=15",),
    "cas": ("dkpro-cassis>=0.9",),
    "figures": ("matplotlib>=3.8",),
}
"""What each extra of pyproject.toml brings."""


def install(extra: str) -> str:
    """The command that installs an extra into the Python that runs this."""
    return f"{pip()} install {' '.join(repr(package) for package in EXTRAS[extra])}"


def pip() -> str:
    """What installs into the Python that runs this: `pip` where that is its own, else its module, which comes first
    where it is missing, as in environments that uv made.
    """
    here = Path(sys.executable)
    found = shutil.which("pip")
    if found is not None and Path(found).parent == here.parent:
        return "pip"
    return f"{here} -m pip" if find_spec("pip") is not None else f"{here} -m ensurepip && {here} -m pip"
