"""Workspace files that many tests begin with: made once by each worker, then copied."""

import shutil
import tempfile
from collections.abc import Callable, Hashable
from pathlib import Path

_FOLDER = tempfile.TemporaryDirectory(prefix="emotui-templates-")
_made: dict[Hashable, Path] = {}


def copy_of(path: Path, key: Hashable, make: Callable[[Path], object]) -> None:
    """Put at `path` what `make` writes into a new file; `key` names all that it depends on."""
    if key not in _made:
        template = Path(_FOLDER.name) / f"{len(_made)}.duckdb"
        make(template)
        _made[key] = template
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(_made[key], path)
