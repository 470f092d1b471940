"""Ports for servers that other processes open."""

import random
import socket
from contextlib import suppress


def free_port() -> int:
    """One below those that the system gives to whoever asks for any, so that no other test takes it meanwhile."""
    for port in random.SystemRandom().sample(range(20_000, 32_000), 100):
        with socket.socket() as free, suppress(OSError):
            free.bind(("127.0.0.1", port))
            return port
    raise AssertionError("no port is free")
