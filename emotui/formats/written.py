"""Places that are written: never over what is read, and a text whole or not at all."""

import errno
import os
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from emotui.errors import BadInput, EmotuiError
from emotui.formats.rows import literal, shown

_FULL = (errno.ENOSPC, errno.EDQUOT)


def check_not_over(path: str | Path, *kept: str | Path, what: str = "") -> None:
    """Whether writing to `path` leaves the files `kept` as they are, whatever they are called.

    Args:
        kept: files or folders; `-` is the file that standard input comes from, if any.
        what: the option that names `path`, for the message.

    Raises:
        BadInput: one of them would be overwritten.
    """
    if str(path) == "-" or is_stream(path):
        return
    for other in kept:
        if not _is_same(path, other):
            continue
        name = "standard input" if str(other) == "-" else literal(str(other))
        raise BadInput(
            f"{f'{what} ' * bool(what)}{literal(str(path))} is {name}, which would be lost: name another file"
        )


def _is_same(path: str | Path, other: str | Path) -> bool:
    try:
        if str(other) == "-":
            return os.path.samestat(Path(path).stat(), os.fstat(sys.stdin.fileno()))
        return Path(path).samefile(other)
    except (OSError, ValueError):
        pass
    try:
        return str(other) not in ("", "-") and os.path.realpath(path) == os.path.realpath(other)
    except (OSError, ValueError):
        return False


def is_stream(path: str | Path) -> bool:
    """Whether a pipe or device stands there, which is written into and never replaced."""
    try:
        mode = Path(path).stat().st_mode
    except (OSError, ValueError):
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A new file beside `path` that takes its place at the end, or is gone where something went wrong.

    A link stays a link, and a file keeps its permissions.

    Raises:
        OSError: it cannot be written.
    """
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "is a folder, not a file")
    beside = target.with_name(f".{target.name[:100]}.{secrets.token_hex(4)}.part")
    try:
        yield beside
        with beside.open("rb") as written:
            os.fsync(written.fileno())
        if target.exists():
            beside.chmod(stat.S_IMODE(target.stat().st_mode))
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)


def write_text(path: str | Path, text: str) -> None:
    """Write a text file, whole or not at all; `path` may be a pipe or device too.

    Raises:
        BadInput: the place cannot be written.
        EmotuiError: the disk is full or fails.
    """
    try:
        if is_stream(path):
            Path(path).write_text(text, encoding="utf-8")
            return
        with replacing(Path(path)) as beside:
            beside.write_text(text, encoding="utf-8", newline="\n")
    except UnicodeEncodeError:
        raise BadInput(
            f"{literal(str(path))}: the text holds half of a surrogate pair, which is no character"
        ) from None
    except (OSError, ValueError) as error:
        raise refusal(str(path), error) from None


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write a file of bytes, whole or not at all; `path` may be a pipe or device too.

    Raises:
        BadInput: the place cannot be written.
        EmotuiError: the disk is full or fails.
    """
    try:
        if is_stream(path):
            Path(path).write_bytes(content)
            return
        with replacing(Path(path)) as beside:
            beside.write_bytes(content)
    except (OSError, ValueError) as error:
        raise refusal(str(path), error) from None


def refusal(name: str, error: OSError | ValueError) -> EmotuiError:
    """What kept a file from being written, as one line."""
    if isinstance(error, ValueError):
        return BadInput(f"{literal(name)}: cannot be written: {error}")
    if error.errno in _FULL or "No space left" in str(error):
        return EmotuiError(f"{literal(name)}: the disk is full; nothing was written")
    if isinstance(error, FileNotFoundError):
        return BadInput(f"{literal(name)}: there is no folder {shown(str(Path(name).parent), 200)} to write it in")
    reason = (error.strerror or str(error)).lower()
    if isinstance(error, IsADirectoryError | PermissionError | NotADirectoryError):
        return BadInput(f"{literal(name)}: cannot be written: {reason}")
    return EmotuiError(f"{literal(name)}: cannot be written: {reason}")
