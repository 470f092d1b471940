"""Prompts that begin alike, split where they part."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Group:
    """Token ids. No ending is empty; the prefix may be, where nothing is shared."""

    prefix: list[int]
    endings: list[list[int]]

    @property
    def packed_size(self) -> int:
        """Tokens where the prefix stands once."""
        return len(self.prefix) + sum(map(len, self.endings))

    @property
    def spread_size(self) -> int:
        """Tokens where every ending has the prefix before it."""
        return (len(self.prefix) + max(map(len, self.endings))) * len(self.endings)


def shared_prefix(prompts: Sequence[list[int]]) -> Group:
    """Split whole prompts at the last place up to which they agree; each keeps one token at least."""
    shortest = min(map(len, prompts)) - 1
    length = 0
    while length < shortest and all(prompt[length] == prompts[0][length] for prompt in prompts):
        length += 1
    return Group(prompts[0][:length], [prompt[length:] for prompt in prompts])
