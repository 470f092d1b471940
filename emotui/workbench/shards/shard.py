"""Parts of a run that several processes or machines compute, each into a store of its own."""

import re

import msgspec

from emotui.errors import BadInput

_FORM = re.compile(r"(\d{1,6})/(\d{1,6})")


class Shard(msgspec.Struct, frozen=True):
    """One of `of` parts, counted from 1: texts that stand together, and as many as in any other, or one less.

    Where there are fewer texts than parts some have none.
    """

    number: int
    of: int

    def places(self, n: int, together: int = 1) -> range:
        """Which of n texts are in it, from 0 on. The parts together are all, each once and in their order.

        Args:
            together: of so many, counted from the first text, none are parted, if there are as many such groups as
                parts; a part then has a group more or less than another.
        """
        groups = -(-n // together)
        if groups < self.of:
            groups, together = n, 1
        ends = (number * groups // self.of * together for number in (self.number - 1, self.number))
        return range(*(min(n, end) for end in ends))

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


def read_shard(text: str) -> Shard:
    """`i/n` as a shard. Raises BadInput for anything else."""
    found = _FORM.fullmatch(text)
    if found is None or not 1 <= int(found[1]) <= int(found[2]):
        raise BadInput(f"--shard is i/n with i from 1 to n, such as 2/8, and not {text!r}")
    return Shard(int(found[1]), int(found[2]))


def places_of(shard: str, n: int) -> range:
    """Which of n texts a run asks about. `shard`: as its configuration has it, empty for all."""
    return read_shard(shard).places(n) if shard else range(n)
