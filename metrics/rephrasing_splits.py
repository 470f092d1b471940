"""Splits of chains for training, dev and test that keep an original and its rephrasings together."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from emotui.records import Chain


def split_chains(chains: Sequence[Chain], shares: Mapping[str, float], seed: int = 0) -> dict[str, list[Chain]]:
    """Deal the chains out to parts, label by label, so that every part has each label in about its share.

    A chain goes whole, and chains that have a text in common (original or rephrasing, case and white space apart) go
    together. Where a chain goes follows from the seed and the ids, not from their order in the file.

    Args:
        shares: part to its share; they are above 0 and add up to 1.

    Returns:
        Each part's chains in their order; a part may be empty where there are few chains.

    Raises:
        ValueError: the shares do not add up to 1, or one of them is not above 0.
    """
    if abs(sum(shares.values()) - 1) > 1e-9 or any(not share > 0 for share in shares.values()):
        raise ValueError("the shares of a split are above 0 and add up to 1")
    found: dict[str, set[int]] = {part: set() for part in shares}
    dealt = 0

    def lot(group: Sequence[int]) -> str:
        first = min(chains[place].id for place in group)
        return hashlib.sha256(f"{seed}:{first}".encode()).hexdigest()

    def label(group: Sequence[int]) -> str:
        return min(chains[place].label for place in group)

    texts = [(chain.text, *(attempt.text for attempt in chain.attempts)) for chain in chains]
    groups = sorted(sharing_a_text(texts), key=lambda group: (label(group), lot(group)))
    for _, same in groupby(groups, key=label):
        for group in same:
            dealt += len(group)
            # The part that is furthest behind its share takes the next group; of equal ones the largest part.
            part = max(shares, key=lambda name: (round(shares[name] * dealt - len(found[name]), 9), shares[name]))
            found[part].update(group)
    return {part: [chain for place, chain in enumerate(chains) if place in places] for part, places in found.items()}


def sharing_a_text(texts: Sequence[Iterable[str]]) -> list[list[int]]:
    """Places of what has these texts, all with a common one (also by way of a third) in one group."""
    root = list(range(len(texts)))

    def top(place: int) -> int:
        while root[place] != place:
            root[place] = root[root[place]]
            place = root[place]
        return place

    first: dict[str, int] = {}
    for place, own in enumerate(texts):
        for text in own:
            root[top(place)] = top(first.setdefault(folded(text), place))
    groups: dict[int, list[int]] = {}
    for place in range(len(texts)):
        groups.setdefault(top(place), []).append(place)
    return list(groups.values())


def folded(text: str) -> str:
    """A text apart from case and white space."""
    return " ".join(text.casefold().split())
