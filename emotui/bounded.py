"""Reading files that somebody names, of which some have no end: a device, a pipe that nobody closes."""

import errno
import os
import stat
from pathlib import Path

from emotui.errors import BadInput

MOST_BYTES = 64_000_000
"""Of a file that is read whole and is no data: prompts, labels, lexicons. The longest known has a hundredth."""


def read_bytes(path: str | os.PathLike[str], *, data: bool = False) -> bytes:
    """A whole file.

    Args:
        data: it is a data set, which may be as long as it is on the disk; what is on no disk is bounded all the same.

    Raises:
        OSError: it cannot be read, or is longer than `MOST_BYTES`.
    """
    with Path(path).open("rb") as file:
        if data and stat.S_ISREG(Path(path).stat().st_mode):
            return file.read()
        found = file.read(MOST_BYTES + 1)
    if len(found) > MOST_BYTES:
        raise OSError(errno.EFBIG, f"longer than {MOST_BYTES // 10**6} million bytes", str(path))
    return found


def is_there(path: str | os.PathLike[str]) -> bool:
    """Whether there is such a file; a name that no file can have (too long, with a NUL) is of none."""
    try:
        return Path(path).exists()
    except (OSError, ValueError):
        return False


def expanded(name: str) -> Path:
    """A path that a person typed, `~` and all. Raises BadInput where no user is called so."""
    try:
        return Path(name).expanduser()
    except RuntimeError:
        raise BadInput(f"{name}: there is no such home directory") from None


def read_text(path: str | os.PathLike[str]) -> str:
    """A whole file of UTF-8, with or without a byte order mark; line ends as Python's own are.

    Raises:
        OSError: as `read_bytes`.
        UnicodeDecodeError: it is not UTF-8.
    """
    return read_bytes(path).decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
