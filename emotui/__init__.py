"""emotui: see what a language model thinks people feel, and why it is wrong."""

from importlib import import_module
from pathlib import Path
from typing import Any

__version__ = "0.1.0"

# In a bare checkout `backends/`, `metrics/` and the others stand beside this package, not in it: look for them there.
_checkout = Path(__file__).resolve().parent.parent
if (_checkout / "pyproject.toml").is_file() and (_checkout / "metrics").is_dir():
    __path__.append(str(_checkout))


def __getattr__(name: str) -> Any:
    """What `emotui.api` offers to notebooks and scripts, brought in when it is first asked for."""
    if name in ("open", "score", "Predictor"):
        return getattr(import_module(f"{__name__}.api"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
