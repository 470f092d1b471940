"""Which samples of a dataset are of one conversation: an index by a column of the data's own, made when asked for."""

import contextlib
import threading
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from emotui.errors import EmotuiError

if TYPE_CHECKING:
    import numpy as np

    from emotui.store.store import Store

AT_ONCE = 20_000
"""Samples that are read in one turn of the store. A dataset of no more is indexed at once, a larger one by and by."""

MOST = 1000
"""Members of a conversation that are given: those that stand nearest in the file."""


class Conversations:
    """The index of one dataset by one column.

    Args:
        first, n: the numbers of its samples.
    """

    def __init__(self, store: "Store", first: int, n: int, column: str) -> None:
        self._first = first
        self._hashes: np.ndarray | None = None
        self._order: np.ndarray | None = None
        # The store is not kept: what is known of it lives no longer than it does.
        self._reading = threading.Thread(
            target=self._read_quietly, args=(store, n, column), name="conversations", daemon=True
        )
        if n > AT_ONCE:
            self._reading.start()
        else:
            self._read(store, n, column)

    def members(self, sample: int) -> list[int] | None:
        """The numbers of the samples that say the same, in the order of the file; None until it is known."""
        import numpy as np

        if self._hashes is None or self._order is None:
            return None
        said = self._hashes[sample - self._first]
        start = np.searchsorted(self._hashes, said, sorter=self._order)
        end = np.searchsorted(self._hashes, said, sorter=self._order, side="right")
        places = self._order[start:end]
        at = int(np.searchsorted(places, sample - self._first))
        begin = min(max(at - MOST // 2, 0), max(len(places) - MOST, 0))
        return [int(place) + self._first for place in places[begin : begin + MOST]]

    def wait(self) -> None:
        """Until it is known."""
        if self._reading.is_alive():
            self._reading.join()

    def _read_quietly(self, store: "Store", n: int, column: str) -> None:
        # Where the store is busy or gone, turns are looked for nearby, as before.
        with contextlib.suppress(EmotuiError):
            self._read(store, n, column)

    def _read(self, store: "Store", n: int, column: str) -> None:
        import numpy as np

        first = self._first
        parts = [store.hashes(first + start, min(AT_ONCE, n - start), column) for start in range(0, n, AT_ONCE)]
        hashes = np.concatenate(parts)
        self._order = np.argsort(hashes, kind="stable")
        self._hashes = hashes


_known: "WeakKeyDictionary[Store, dict[tuple[int, int, str], Conversations]]" = WeakKeyDictionary()
_lock = threading.Lock()


def conversations(store: "Store", sample: int, column: str) -> Conversations | None:
    """The index of a sample's dataset by a column; None where there is none for a column of this name."""
    if '"' in column or "\\" in column:
        return None
    with _lock:
        held = _known.setdefault(store, {})
        for (first, n, name), index in held.items():
            if name == column and first <= sample < first + n:
                return index
        there = store.range_of(sample)
        if there is None:
            return None
        held[*there, column] = made = Conversations(store, *there, column)
        return made
