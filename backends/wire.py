"""Length-prefixed pickles over a pipe between the workbench and a model's process. Both ends are this program."""

import pickle
import struct
from typing import Any, BinaryIO

_LENGTH = struct.Struct("<Q")


def send(pipe: BinaryIO, message: Any) -> None:
    """Write one message and flush. Raises BrokenPipeError where the other end is gone."""
    body = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    pipe.write(_LENGTH.pack(len(body)))
    pipe.write(body)
    pipe.flush()


def receive(pipe: BinaryIO) -> Any:
    """Read one message. Raises EOFError where the other end is gone, in the middle of a message too."""
    header = pipe.read(_LENGTH.size)
    if len(header) < _LENGTH.size:
        raise EOFError
    (length,) = _LENGTH.unpack(header)
    body = pipe.read(length)
    if len(body) < length:
        raise EOFError
    return pickle.loads(body)
