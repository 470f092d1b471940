"""That a long step goes on, told once in a while."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from emotui.backends.base import Progress

_EVERY = 5.0
"""Seconds."""


@contextmanager
def telling(progress: Progress, step: str) -> Iterator[None]:
    """While the body runs, `progress` hears how long it has."""
    over = threading.Event()
    started = time.monotonic()

    def tell() -> None:
        while not over.wait(_EVERY):
            progress(f"{step}: {time.monotonic() - started:,.0f} s")

    thread = threading.Thread(target=tell, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
