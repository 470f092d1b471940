"""Where answers stand, on the disk, is what a dictionary in memory would say, however many parts it has."""

import hashlib
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emotui.backends.servers import batch_files
from emotui.backends.servers.batch_files import Places

Line = tuple[bytes, bytes]
EDGES = [b"\x00" * 12, b"\x00" * 11 + b"\x01", b"\xff" * 12, b"\xff" * 8 + b"\x00" * 4]
KEYS = [*EDGES, *(bytes([n]) * 12 for n in range(1, 250, 40))]
BODIES = [b"", b"a" * 12, b"b" * 12, b"\x00" * 12, b"\x00" * 11 + b"z"]


def by_hand(lines: Sequence[Line]) -> tuple[dict[bytes, tuple[int, bytes]], set[bytes]]:
    """The line of each key that counts, with its body, and the keys with several answers that differ."""
    places: dict[bytes, tuple[int, bytes]] = {}
    differ = set()
    for number, (key, body) in enumerate(lines):
        before = places.get(key)
        if body and before is not None and before[1] not in (b"", body):
            differ.add(key)
        if body or before is None:
            places[key] = (number, body)
    return places, differ


@given(st.lists(st.tuples(st.sampled_from(KEYS), st.sampled_from(BODIES)), max_size=60), st.integers(1, 9))
def test_places_are_those_of_a_dictionary(lines: list[Line], together: int) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(batch_files, "_TOGETHER", together)
        patched.setattr(batch_files, "_MOST_BITS", 3)
        places = Places()
        for number, (key, body) in enumerate(lines):
            places.add(key, number % 3, 7 * number, number + 1, body)
        places.settle()
    expected, differ = by_hand(lines)
    assert (places.n, places.twice) == (len(expected), len(differ))
    assert places.failed == sum(not body for _, body in expected.values())
    for key in KEYS:
        at = expected.get(key)
        assert places.find(key) == (None if at is None else (at[0] % 3, 7 * at[0], at[0] + 1))
    assert places.find(b"not there, no") is None
    each = (hashlib.blake2b(key + body, digest_size=24).digest() for key, (_, body) in expected.items() if body)
    assert places.digest == f"{sum(map(int.from_bytes, each)) % 2**192:048x}"
