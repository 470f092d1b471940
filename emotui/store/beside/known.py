"""Stores that this user's programs have looked through for macros, so that one that has not changed is not again.

Kept in a file of the user's, outside of any store. A mark names the file and how it stands; the time at which its
system last changed it (`st_ctime_ns`) is nothing that a copy brings along or a program can set.
"""

import contextlib
import os
import secrets
import stat
from pathlib import Path

import msgspec

Mark = tuple[int, int, int, int, int]

_MOST = 100
"""Stores that are remembered: the file is read whenever the workbench opens one."""


def kept_in() -> Path:
    """The file with the marks."""
    import platformdirs

    return Path(platformdirs.user_state_dir("emotui")) / "stores.json"


def mark_of(path: Path) -> Mark | None:
    """How a store stands, to be asked while nobody writes it; None where a log beside it holds something too."""
    try:
        if os.path.lexists(path.with_name(path.name + ".wal")):
            return None
        found = path.stat()
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def is_known(mark: Mark | None) -> bool:
    """Whether a store was looked through as it stands now."""
    return mark is not None and mark in _kept().values()


def remember(path: Path, mark: Mark | None) -> None:
    """A store has been looked through as it stood by this mark; where that cannot be kept, it is not."""
    if mark is None or is_known(mark):
        return
    name, marks = os.path.realpath(path), _kept()
    marks.pop(name, None)
    marks[name] = mark
    to = kept_in()
    beside = to.with_name(f".{to.name}.{secrets.token_hex(4)}")
    with contextlib.suppress(OSError, UnicodeEncodeError):
        to.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            beside.write_bytes(msgspec.json.encode(dict(list(marks.items())[-_MOST:])))
            beside.replace(to)
        finally:
            beside.unlink(missing_ok=True)


def _kept() -> dict[str, Mark]:
    try:
        return msgspec.json.decode(kept_in().read_bytes(), type=dict[str, Mark])
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return {}
