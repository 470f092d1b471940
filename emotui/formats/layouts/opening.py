"""Opening the files of a layout, with one line of words where that fails."""

import io
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from emotui.bounded import check_streamed, has_an_end, opened, read_bytes
from emotui.formats.rows import MOST_LINE, UnreadableFile, numbered, shown, too_long


def whole(path: Path, encoding: str | None = None) -> bytes:
    """A file as UTF-8, whatever it is encoded in.

    Raises:
        UnreadableFile: it cannot be opened, or is not in that encoding.
    """
    if encoding is not None:
        return b"".join(line for _, line in utf8_lines(path, encoding))
    try:
        return read_bytes(path, data=True)
    except (OSError, ValueError) as error:
        raise UnreadableFile(_why(error)) from None


def utf8_lines(path: Path, encoding: str | None = None) -> Iterator[tuple[int, bytes]]:
    """The lines of a file with their numbers, from 1, as UTF-8 without a byte order mark, each with its ending.

    Raises:
        UnreadableFile: it cannot be opened, or is not in that encoding.
    """
    number = 0
    try:
        if encoding is None:
            with opened(path) as plain:
                yield from numbered(plain)
        else:
            with io.TextIOWrapper(opened(path), encoding, newline="\n") as text:
                ends, length = has_an_end(text), 0
                for number, line in enumerate(iter(partial(text.readline, MOST_LINE + 1), ""), start=1):
                    if len(line) > MOST_LINE:
                        raise UnreadableFile(too_long(), number)
                    if not ends:
                        length += len(line)
                        check_streamed(length, number)
                    yield number, (line.removeprefix("\ufeff") if number == 1 else line).encode()
    except UnicodeError:
        raise UnreadableFile(f"is not in the encoding {shown(encoding)}", number + 1) from None
    except LookupError:
        raise UnreadableFile(f"there is no encoding {shown(encoding)}") from None
    except (OSError, ValueError) as error:
        raise UnreadableFile(_why(error)) from None


def text_lines(path: Path, encoding: str | None = None, *, endings: bool = False) -> Iterator[tuple[int, str]]:
    """As `utf8_lines`, decoded, and without their endings unless these are asked for.

    Raises:
        UnreadableFile: also where a line is not UTF-8.
    """
    number, line = 0, b""
    try:
        for number, line in utf8_lines(path, encoding):
            text = line.decode()
            if not endings:
                text = text[:-2] if text.endswith("\r\n") else text[:-1] if text.endswith("\n") else text
            yield number, text
    except UnicodeDecodeError as error:
        byte = f"byte 0x{line[error.start]:02x} at byte {error.start + 1}"
        raise UnreadableFile(f"not UTF-8: {byte}; name the encoding if it is another", number) from None


def _why(error: OSError | ValueError) -> str:
    if isinstance(error, FileNotFoundError) or not isinstance(error, OSError):
        return "there is no such file"
    return f"cannot be read: {(error.strerror or str(error)).lower()}"
