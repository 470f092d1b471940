"""Setting examples aside for dev so that an original and its rephrasings never part and training keeps every label."""

import hashlib
from collections.abc import Sequence

from emotui.backends.tuning.recipe import Example
from emotui.metrics.rephrasing_splits import folded, sharing_a_text


def split(examples: Sequence[Example], share: float) -> tuple[list[Example], list[Example]]:
    """Set about `share` of the examples of each label aside, for dev.

    An example goes with all its rephrasings, and examples that have a text in common (be it the original or a
    rephrasing, apart from case and white space) go together. Who is set aside follows from ids alone, so that trainings
    with several seeds share one dev set. A label keeps at least one example for training.

    Args:
        share: in [0, 1).

    Returns:
        Those to train on and those set aside, both in their order.
    """
    aside: set[int] = set()
    wanted = {label: round(share * count) for label, count in _counts(examples).items()}
    left = _counts(examples)
    groups = sharing_a_text([_texts(example) for example in examples])
    for group in sorted(groups, key=lambda group: _lot(min(examples[number].id for number in group))):
        counts = _counts([examples[number] for number in group])
        if all(wanted[label] >= count and left[label] > count for label, count in counts.items()):
            aside.update(group)
            for label, count in counts.items():
                wanted[label] -= count
                left[label] -= count
    kept = [example for number, example in enumerate(examples) if number not in aside]
    return kept, [example for number, example in enumerate(examples) if number in aside]


def shared_texts(examples: Sequence[Example], others: Sequence[Example]) -> int:
    """How many of `others` have a text that is also one of `examples`, original or rephrasing."""
    known = {text for example in examples for text in _texts(example)}
    return sum(not known.isdisjoint(_texts(other)) for other in others)


def _texts(example: Example) -> set[str]:
    return {folded(text) for text in (example.text, *example.rephrasings)}


def _counts(examples: Sequence[Example]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for example in examples:
        counts[example.label] = counts.get(example.label, 0) + 1
    return counts


def _lot(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()
