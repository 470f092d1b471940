"""Frames over a pipe between the workbench and a model's process: a msgpack document and, behind it, an array's bytes.

What a model's process writes is bytes of a length that is bounded before any of them is read; nothing of it is run.
"""

import struct
from typing import IO

LONGEST = 64 * 2**20
"""Bytes of a document that a model's process may write: a batch of answers is a few megabytes."""

LARGEST = 2**30
"""Bytes of an array that it may write: 65,536 texts in 4,096 dimensions of float32."""

_HEADER = struct.Struct("<QQ")


class TooLong(ValueError):
    """The other end announces more than may come."""


def send(pipe: IO[bytes], document: bytes, array: "bytes | memoryview" = b"") -> None:
    """Write one frame and flush. Raises BrokenPipeError where the other end is gone."""
    pipe.write(_HEADER.pack(len(document), len(array)) + document)
    if array:
        pipe.write(array)
    pipe.flush()


def receive(pipe: IO[bytes], *, bounded: bool = True) -> tuple[bytes, bytearray]:
    """Read one frame: its document and its array's bytes, which may be none.

    Args:
        bounded: no more than `LONGEST` and `LARGEST`; the process of a model takes whatever its parent sends.

    Raises:
        EOFError: the other end is gone, in the middle of a frame too.
        TooLong: more is announced; none of it was read.
    """
    header = pipe.read(_HEADER.size)
    if len(header) < _HEADER.size:
        raise EOFError
    length, size = _HEADER.unpack(header)
    if bounded and (length > LONGEST or size > LARGEST):
        raise TooLong(f"a message of {length + size:,} bytes")
    document = pipe.read(length)
    array = bytearray(size)
    if len(document) < length or pipe.readinto(array) < size:  # type: ignore[attr-defined]
        raise EOFError
    return document, array
