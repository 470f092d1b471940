"""Labels of spans that met: how often they are the same, which is taken for which, and F1 with them."""

from collections.abc import Iterable, Mapping, Sized
from typing import Any, Protocol

from emotui.metrics.classes import class_report
from emotui.metrics.spans import Pair


class Labelled(Protocol):
    """What is asked of a scored sample. Labels: one or None a span, empty where no span has any."""

    @property
    def f1(self) -> float: ...
    @property
    def gold(self) -> Sized: ...
    @property
    def located(self) -> Sized: ...
    @property
    def repeated(self) -> Sized: ...
    @property
    def pairs(self) -> tuple[Pair, ...]: ...
    @property
    def gold_labels(self) -> tuple[str | None, ...]: ...
    @property
    def predicted_labels(self) -> tuple[str | None, ...]: ...


def differ(scored: Labelled, pair: Pair) -> bool:
    """Whether the two spans of a pair both have a label, and not the same one."""
    gold, predicted = _labels(scored, pair)
    return gold is not None and predicted is not None and gold != predicted


def label_pairs(scored: Labelled) -> tuple[tuple[str, str], ...]:
    """(gold, predicted) labels of the aligned pairs with F1 above 0 that have both."""
    found = [_labels(scored, pair) for pair in scored.pairs if pair.f1]
    return tuple([(gold, said) for gold, said in found if gold is not None and said is not None])


def labelled_f1(scored: Labelled) -> float:
    """A sample's F1 where an aligned pair whose labels differ counts 0; its F1 where none does."""
    if not scored.gold_labels or not scored.predicted_labels:
        return scored.f1
    wrong = sum([pair.f1 for pair in scored.pairs if differ(scored, pair)])
    if not wrong:
        return scored.f1
    right = sum([pair.f1 for pair in scored.pairs if not differ(scored, pair)])
    return right / max(len(scored.gold), len(scored.located) - len(scored.repeated))


def _labels(scored: Labelled, pair: Pair) -> tuple[str | None, str | None]:
    gold = scored.gold_labels[pair.gold] if scored.gold_labels else None
    return gold, scored.predicted_labels[pair.predicted] if scored.predicted_labels else None


def labels_report(pairs: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """`n`, `accuracy`, `macro_f1` and `confusion` of (gold, predicted) labels, as `class_report` has them.

    The macro F1 is over all labels that are gold or predicted in some pair.
    """
    numbered = {str(number): pair for number, pair in enumerate(pairs)}
    found = class_report(
        {key: gold for key, (gold, _) in numbered.items()}, {key: said for key, (_, said) in numbered.items()}
    )
    return {name: found[name] for name in ("n", "accuracy", "macro_f1", "confusion")}


def mapped(labels: Iterable[str], mapping: Mapping[str, str], own: Iterable[str]) -> tuple[dict[str, str], list[str]]:
    """What the labels of one set are called in another.

    Args:
        labels: of the one set. mapping: theirs to ours. own: those of the other set, which stand for themselves where
            the mapping does not name them.

    Returns:
        each label with its image, and the labels that have none.
    """
    known = set(own)
    found = {label: mapping.get(label, label) for label in labels if label in mapping or label in known}
    return found, [label for label in dict.fromkeys(labels) if label not in found]
