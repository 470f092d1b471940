"""Folders for what lies on the disk only while it is worked with; those of killed programs are swept away later.

Texts lie in them, so a folder that a kill left behind is no small matter. Its name says whose it is: no folder of a
process that may live is touched.
"""

import contextlib
import os
import re
import shutil
import tempfile
import threading
from pathlib import Path

_OURS = re.compile(r"emotui-(\d+)-(?:[a-z0-9_]{8}|spill)")
_LEFT = re.compile(r"\.(\d+)\.(?:new(?:\.wal)?|version-\d+(?:\.part)?)")
"""What stands after a store's name: a new one that is not whole yet, a copy of it from before an upgrade."""

_swept: set[str] = set()


def folder() -> "tempfile.TemporaryDirectory[str]":
    """A new folder of this process."""
    return tempfile.TemporaryDirectory(prefix=f"emotui-{os.getpid()}-")


def spill() -> Path:
    """Where DuckDB puts what does not fit into memory."""
    return Path(tempfile.gettempdir()) / f"emotui-{os.getpid()}-spill"


def sweep_soon(store: Path | None) -> None:
    """Sweep once in this process, behind whatever else it does.

    Args:
        store: one that can be read and is of today's version, beside which half-made stores and copies of former
            versions may lie; None: nothing there may be written.
    """
    asked = "" if store is None else os.path.realpath(store)
    if os.name == "posix" and asked not in _swept:
        _swept.add(asked)
        threading.Thread(target=sweep, args=(store,), daemon=True).start()


def sweep(store: Path | None) -> None:
    """Remove what killed programs of this user left: scratch folders, stores that were not whole yet, and copies of a
    store from before an upgrade, which `store` has come through."""
    with contextlib.suppress(OSError):
        for left in Path(tempfile.gettempdir()).iterdir():
            found = _OURS.fullmatch(left.name)
            if found and _is_left(left, int(found[1])) and left.is_dir():
                shutil.rmtree(left, ignore_errors=True)
    if store is None:
        return
    with contextlib.suppress(OSError):
        for left in store.parent.iterdir():
            found = _LEFT.fullmatch(left.name.removeprefix(store.name)) if left.name.startswith(store.name) else None
            if found and _is_left(left, int(found[1])):
                left.unlink(missing_ok=True)


def _is_left(path: Path, pid: int) -> bool:
    """Whether it is this user's, no link, and of a process that is gone."""
    if path.is_symlink() or path.stat().st_uid != os.getuid():
        return False
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return True
    except OSError:
        return False
    return False
