"""The body of an answer, read whole, but no further than it may be."""

import zlib
from collections.abc import AsyncIterator

MOST_BYTES = 64 * 2**20
"""Of one answer, unpacked. The longest that is of use (8,000 tokens with 20 alternatives each) takes a third."""

PACKED = ("gzip", "deflate")
_AUTO = zlib.MAX_WBITS | 32
"""Either of both, by its first bytes."""


class TooLong(Exception):
    """An answer of more than `MOST_BYTES`; the rest of it is not read."""


async def read(coding: str, pieces: AsyncIterator[bytes]) -> bytes:
    """The body, unpacked by us: an HTTP package would unpack first and count then.

    Args:
        coding: how it is packed, as its header says; empty where it is not.
        pieces: it, as it comes.

    Raises:
        TooLong: it is longer than it may be.
        ValueError: it is packed in a way that nobody asked for, or is not whole.
        zlib.error: it is packed and damaged.
    """
    coding = coding.strip().lower()
    if coding not in ("", "identity", *PACKED):
        raise ValueError(f"the answer is packed as {coding[:40]!r}")
    unpack = zlib.decompressobj(_AUTO) if coding in PACKED else None
    parts, size = [], 0
    async for piece in pieces:
        part = piece if unpack is None else unpack.decompress(piece, MOST_BYTES - size + 1)
        size += len(part)
        if size > MOST_BYTES:
            raise TooLong
        parts.append(part)
    if unpack is not None and not unpack.eof:
        raise ValueError("the answer is packed and not whole")
    return b"".join(parts)
