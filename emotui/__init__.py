"""emotui: see what a language model thinks people feel, and why it is wrong."""

from pathlib import Path

__version__ = "0.1.0"

# In a bare checkout `backends/`, `metrics/` and the others stand beside this package, not in it: look for them there.
_checkout = Path(__file__).resolve().parent.parent
if (_checkout / "pyproject.toml").is_file() and (_checkout / "metrics").is_dir():
    __path__.append(str(_checkout))
