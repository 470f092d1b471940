"""Reading files that somebody names, of which some have no end: a device, a pipe that nobody closes."""

import errno
import os
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO, BinaryIO

from emotui.errors import BadInput

MOST_BYTES = 64_000_000
"""Of a file that is read whole and is no data: prompts, labels, lexicons. The longest known has a hundredth."""

MOST_STREAMED = 2_000_000_000
MOST_STREAMED_LINES = 5_000_000
"""Of a data set that is no file on a disk, and so may have no end: a million texts have half a billion bytes."""


WRITER_PATIENCE = 1.0
"""Seconds within which somebody must have opened a pipe with a name for writing, as a shell does at once."""


def opened(path: str | os.PathLike[str]) -> BinaryIO:
    """A file open for reading bytes; the caller closes it.

    Raises:
        OSError: it cannot be opened, or is a pipe into which nobody writes.
        ValueError: no file can have such a name.
    """
    if not stat.S_ISFIFO(Path(path).stat().st_mode):
        return Path(path).open("rb")
    found: list[BinaryIO | OSError] = []
    guard = threading.Lock()
    over = False

    def wait() -> None:
        try:
            pipe: BinaryIO | OSError = Path(path).open("rb")  # noqa: SIM115 - the caller's
        except OSError as error:
            pipe = error
        with guard:
            if not over:
                found.append(pipe)
            elif not isinstance(pipe, OSError):
                pipe.close()

    # The system lets nobody look for a writer without waiting for one, so a thread waits that holds up no exit.
    waiting = threading.Thread(target=wait, daemon=True)
    waiting.start()
    waiting.join(WRITER_PATIENCE)
    with guard:
        over = True
    if not found:
        raise OSError(errno.EAGAIN, "nobody writes into this pipe", str(path))
    if isinstance(found[0], OSError):
        raise found[0]
    return found[0]


def has_an_end(stream: IO[bytes] | IO[str]) -> bool:
    """Whether what is open is a file on a disk, or in memory."""
    try:
        return stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    except (OSError, ValueError, AttributeError):
        return True


def chunks(stream: BinaryIO, size: int) -> Iterator[bytes]:
    """All of a data set in pieces. Raises: OSError where it is no file on a disk and has more than is read of such."""
    ends, length, lines = has_an_end(stream), 0, 0
    while piece := stream.read(size):
        if not ends:
            length, lines = length + len(piece), lines + piece.count(b"\n")
            check_streamed(length, lines)
        yield piece


def check_streamed(length: int, lines: int) -> None:
    """Raises: OSError where more bytes or lines came than are read of what may have no end."""
    if length > MOST_STREAMED or lines > MOST_STREAMED_LINES:
        most = f"{MOST_STREAMED_LINES / 10**6:g} million lines or {MOST_STREAMED / 10**9:g} GB"
        raise OSError(errno.EFBIG, f"more than {most} from what is no file: write it to one first")


def read_bytes(path: str | os.PathLike[str], *, data: bool = False) -> bytes:
    """A whole file.

    Args:
        data: it is a data set, which may be as long as it is on the disk; what is on no disk is bounded all the same.

    Raises:
        OSError: it cannot be read, or is longer than `MOST_BYTES`.
    """
    with opened(path) as file:
        if data and has_an_end(file):
            return file.read()
        return first_bytes(file, str(path))


def first_bytes(stream: BinaryIO, name: str) -> bytes:
    """All of what is open. Raises: OSError where that is more than `MOST_BYTES`."""
    found = stream.read(MOST_BYTES + 1)
    if len(found) > MOST_BYTES:
        raise OSError(errno.EFBIG, f"longer than {MOST_BYTES // 10**6} million bytes", name)
    return found


def is_there(path: str | os.PathLike[str]) -> bool:
    """Whether there is such a file; a name that no file can have (too long, with a NUL) is of none.

    Raises:
        BadInput: that cannot be seen.
    """
    try:
        return Path(path).exists()
    except PermissionError:
        raise BadInput(f"{path}: its folder may not be looked into: change its permissions") from None
    except (OSError, ValueError):
        return False


def expanded(name: str) -> Path:
    """A path that a person typed, `~` and all. Raises BadInput where no user is called so."""
    try:
        return Path(name).expanduser()
    except RuntimeError:
        raise BadInput(f"{name}: there is no such home directory") from None


def read_text(path: str | os.PathLike[str], *, data: bool = False) -> str:
    """A whole file of UTF-8, with or without a byte order mark; line ends as Python's own are.

    Args:
        data: as for `read_bytes`.

    Raises:
        OSError: as `read_bytes`.
        UnicodeDecodeError: it is not UTF-8.
    """
    return read_bytes(path, data=data).decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")


def free_memory() -> int | None:
    """Bytes of main memory that a program can have now, within its control group too; None where not known."""
    try:
        lines = Path("/proc/meminfo").read_text("ascii").splitlines()
        known = {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines if line.endswith("kB")}
        free = known["MemAvailable"]
    except (OSError, ValueError, KeyError, IndexError):
        return None
    group = Path("/sys/fs/cgroup")
    try:
        limit = int((group / "memory.max").read_text("ascii"))
        used = int((group / "memory.current").read_text("ascii"))
        fields = dict(line.split() for line in (group / "memory.stat").read_text("ascii").splitlines())
        # What the file cache holds can be had: it counts as used until somebody needs it.
        return min(free, max(0, limit - used + int(fields.get("inactive_file", 0))))
    except (OSError, ValueError):  # no such group, or no limit ("max")
        return free
