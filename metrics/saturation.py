"""When new samples bring no new codes: saturation of open coding."""

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass

BASE = 10
RUN = 10
THRESHOLD = 0.05


@dataclass(frozen=True, slots=True)
class Saturation:
    """How the codes of samples, in the order in which these were coded, became fewer and fewer new ones.

    Attributes:
        new: of each sample how many of its codes no sample before it has.
        known: how many codes there are after each sample.
        share: the new codes of the last `RUN` samples over those of the first `BASE` ones; None for fewer samples than
            both together, or a base without codes.
        reached: after how many samples that share was first at most the threshold; None: not yet.
    """

    new: tuple[int, ...]
    known: tuple[int, ...]
    share: float | None
    reached: int | None


def saturation(
    codes: Sequence[Collection[Hashable]], *, base: int = BASE, run: int = RUN, threshold: float = THRESHOLD
) -> Saturation:
    """How far open coding is saturated: the new codes of a run of samples over the codes of the first ones.

    Every run of `run` samples that follow each other after the first `base` is looked at, the earliest first; samples
    count in the order in which they were coded.

    Args:
        codes: of each sample its codes.

    Raises:
        ValueError: a base or run of no sample.

    Source: Guest, Namey and Chen 2020 (A simple method to assess and report thematic saturation), with samples in place
    of interviews; their threshold is 5% or none.
    """
    if base < 1 or run < 1:
        raise ValueError("base and run are at least 1")
    seen: set[Hashable] = set()
    new, known = [], []
    for each in codes:
        fresh = set(each) - seen
        seen |= fresh
        new.append(len(fresh))
        known.append(len(seen))
    if len(new) < base + run or not known[base - 1]:
        return Saturation(tuple(new), tuple(known), None, None)
    shares = {end: sum(new[end - run : end]) / known[base - 1] for end in range(base + run, len(new) + 1)}
    reached = next((end for end, share in shares.items() if share <= threshold), None)
    return Saturation(tuple(new), tuple(known), shares[len(new)], reached)
