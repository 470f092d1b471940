"""Where answers of llama.cpp are written: one in the memory there is, several in rooms of their own if they fit."""

from typing import cast

import pytest

from emotui.backends.gguf.context import Context
from emotui.backends.gguf.model import Rooms
from emotui.errors import ModelError


class Memory:
    """A context without a model."""

    def __init__(self, branches: int, capacity: int) -> None:
        self.branches, self.capacity, self.closed = branches, capacity, False

    def close(self) -> None:
        self.closed = True


class Maker:
    """Rooms of a model whose tokens take a byte each, with what was made."""

    def __init__(
        self, free: int | None = None, *, branches: int = 16, refuse: int | None = None, most: int = 16
    ) -> None:
        self.made: list[Memory] = []
        self.shared = Memory(branches, 1000)
        self.refuse = refuse
        self.rooms = Rooms(cast(Context, self.shared), self.make, 1.0, lambda: free, most)

    def make(self, count: int, tokens: int) -> Context:
        if self.refuse is not None and count > self.refuse:
            raise ModelError("no memory")
        self.made.append(Memory(count, tokens))
        return cast(Context, self.made[-1])

    def of(self, *needs: int) -> Memory:
        return cast(Memory, self.rooms.of(needs))


def test_one_answer_is_written_in_the_memory_that_is_there() -> None:
    maker = Maker()
    assert maker.of(100) is maker.shared
    assert Maker(branches=0).of(*[9] * 20).branches == 0


def test_rooms_are_as_many_as_answers_and_hold_the_longest_in_whole_parts() -> None:
    maker = Maker()
    own = maker.of(100, 300, 200, 257)
    assert (own.branches, own.capacity) == (4, 512)
    assert maker.of(*[9] * 40).branches == 16


def test_an_answer_is_never_longer_in_a_room_than_in_the_shared_memory() -> None:
    assert Maker().of(*[5000] * 4).capacity == 1000


def test_rooms_are_kept_while_they_suffice_and_made_anew_larger() -> None:
    maker = Maker()
    first = maker.of(*[200] * 8)
    assert maker.of(*[256] * 5) is first
    second = maker.of(*[300] * 8)
    assert second is not first
    assert first.closed


@pytest.mark.parametrize(("free", "count"), [(4 * 256 * 17, 16), (4 * 256 * 7, 6), (4 * 256 * 3, 2)])
def test_rooms_take_a_quarter_of_the_free_memory(free: int, count: int) -> None:
    assert Maker(free).of(*[200] * 16).branches == count  # one more room reads the prompts


def test_without_memory_for_two_rooms_the_shared_one_is_used() -> None:
    for maker in (Maker(4 * 256 * 2), Maker(refuse=1)):
        assert maker.of(*[200] * 16) is maker.shared


def test_rooms_for_which_a_device_has_no_memory_are_halved() -> None:
    assert Maker(refuse=50, most=255).of(*[200] * 300).branches == 31  # 255, 127, 63


def test_rooms_grow_with_what_is_asked_together_and_are_kept_where_memory_ends() -> None:
    maker = Maker(4 * 256 * 101, most=255)
    assert [maker.of(*[200] * count).branches for count in (32, 64, 128, 255, 128)] == [32, 64, 100, 100, 100]
    assert len(maker.made) == 4
