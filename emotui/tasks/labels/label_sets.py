"""Which labels a text may have: those of the dataset, as the model knows them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from emotui.backends.base import ModelCard
from emotui.errors import BadInput
from emotui.metrics.labels import label_names
from emotui.records import LabelsGold
from emotui.tasks.matching import matched, matched_all

CLASSIFY, HEADS, SCORE = "classify", "heads", "score"
"""Ways of asking that give probabilities: a classifier's own labels, heads for yes and no, the words Yes and No."""

OF_HEADS = "score"
"""Under which name a card has the labels that its heads are for."""


class LabelSets:
    """The labels that are asked about."""

    always = True

    def of_file(self, card: ModelCard, given: Sequence[str] | None) -> tuple[str, ...]:
        """The given ones, else the model's first label set, if it has any.

        Raises:
            BadInput: the model has labels of its own and not a given one.
        """
        own = own_sets(card)
        if given is None:
            return next(iter(own.values()), ())
        if own:
            _fitting(card, own | _heads(card), given)
        return tuple(given)

    def settled(
        self,
        card: ModelCard,
        samples: Callable[[], Iterable[LabelsGold]],
        way: str,
        options: Mapping[str, object],
        seed: int,
    ) -> Mapping[str, object]:
        """With `labels` (those that the samples name), and of a classifier its `label_set` and own `thresholds`.

        Where no sample names any, the labels are the model's first set.

        Raises:
            BadInput: the model lacks one of them, or there are none.
        """
        chosen: Any = options.get("labels")
        labels = tuple(chosen or label_names(sample.said or () for sample in samples()))
        labels = labels or next(iter((_heads(card) if way == HEADS else own_sets(card)).values()), ())
        if not labels:
            raise BadInput(
                f"there are no labels to choose from: no text has one, and {card.spec} has none of its own "
                "(--labels FILE gives them, one a line)"
            )
        found: dict[str, object] = {**options, "labels": list(labels)}
        if way == HEADS:
            _fitting(card, _heads(card), labels)
        elif way == CLASSIFY and (own := own_sets(card)):
            name = _fitting(card, own, labels)
            found["label_set"] = name
            own_thresholds = card.thresholds.get(name, {})
            if "thresholds" not in options and own_thresholds:
                found["thresholds"] = {
                    label: own_thresholds[known] for label in labels if (known := matched(label, own_thresholds))
                }
        return found


def own_sets(card: ModelCard) -> dict[str, tuple[str, ...]]:
    """The label sets of a classifier, by name."""
    return {name: tuple(labels) for name, labels in card.labels.items() if name != OF_HEADS}


def _heads(card: ModelCard) -> dict[str, tuple[str, ...]]:
    return {OF_HEADS: tuple(card.labels[OF_HEADS])} if OF_HEADS in card.labels else {}


def _fitting(card: ModelCard, sets: Mapping[str, Sequence[str]], labels: Sequence[str]) -> str:
    """The first set that holds all these labels (`emotui.tasks.matching`).

    Raises:
        BadInput: none does; one line that names what the nearest one lacks.
    """
    lacks = {name: sum(matched(label, own) is None for label in labels) for name, own in sets.items()}
    nearest = min(lacks, key=lambda name: lacks[name])
    matched_all(labels, sets[nearest], card.spec)
    return nearest
