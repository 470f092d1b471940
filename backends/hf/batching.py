"""Requests in batches by their size: longest first, and halved for good where the memory does not suffice."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import torch

from emotui.backends import stopping
from emotui.backends.hf.devices import no_memory

Result = TypeVar("Result")
TOKENS = {"cpu": 2_048, "mps": 8_192, "cuda": 65_536}
"""Tokens, padding included, of one forward pass. A CPU gains nothing from more, a GPU needs many."""

NO_MEMORY = "there is not enough memory for this text alone ({size:,} tokens)"


class Batches:
    """How much goes through a model at once. The longest are first, so that memory fails at once or not at all.

    Args:
        tokens: the budget of a batch; it shrinks when the memory does not suffice, and stays so.
    """

    def __init__(self, tokens: int) -> None:
        self.tokens = tokens

    def run(
        self,
        sizes: Sequence[int],
        compute: Callable[[list[int]], Sequence[Result]],
        refuse: Callable[[str], Result],
        *,
        padded: bool = True,
    ) -> list[Result]:
        """`compute` for all, in batches of indices. Returns: the results in the order of `sizes`.

        Args:
            sizes: tokens of each; a batch costs its longest times its number, or their sum where not `padded`.
            compute: from indices to as many results; may run out of memory.
            refuse: the result for one that is too large even alone, of a reason.
        """
        results: dict[int, Result] = {}
        waiting = sorted(range(len(sizes)), key=lambda index: (-sizes[index], index))
        while waiting:
            stopping.check()
            count = self._fitting([sizes[index] for index in waiting], padded)
            batch = waiting[:count]
            try:
                answers = compute(batch)
            except (torch.OutOfMemoryError, MemoryError, RuntimeError) as error:
                if not no_memory(error):
                    raise
                answers = None
            if answers is not None:
                results.update(zip(batch, answers, strict=True))
                waiting = waiting[count:]
                continue
            # Outside the `except`, where the error's frames would still hold the tensors of the failed batch.
            if torch.cuda.is_available():
                torch.cuda.empty_cache()
            if count == 1:
                results[batch[0]] = refuse(NO_MEMORY.format(size=sizes[batch[0]]))
                waiting = waiting[1:]
            else:
                self.tokens = max(1, _cost([sizes[index] for index in batch], padded) // 2)
        return [results[index] for index in range(len(sizes))]

    def _fitting(self, sizes: Sequence[int], padded: bool) -> int:
        """How many of these, from the first, fit; at least one."""
        count = total = 0
        for size in sizes:
            total = max(sizes[0], size) * (count + 1) if padded else total + size
            if count and total > self.tokens:
                break
            count += 1
        return count


def _cost(sizes: Sequence[int], padded: bool) -> int:
    return max(sizes) * len(sizes) if padded else sum(sizes)
