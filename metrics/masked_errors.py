"""What models put in place of people's emotion words: normalised mispredictions, and how often each word is used.

EXPRESS, "Error Analysis": Table A.6 and Figure A.3.
"""

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from typing import Any

from emotui.metrics.masked import MaskScore, fold


def normalised_mispredictions(
    models: Sequence[Sequence[MaskScore]], least: int = 1, supplement: Container[str] = ()
) -> list[dict[str, Any]]:
    """Pairs of words with different vectors, by their share of the masks with that gold word, over all models.

    Args:
        models: the masks of each model, in one order.
        least: masks that a gold word must have in one model's list to be listed. The paper prints no such bound.
        supplement: words whose vectors were added to the lexicon; pairs with one name them.

    Returns:
        `{label, predicted, count, masks, share}`, the greatest share first, then the greatest count; `masks` are those
        of the label over all models.

    Source: EXPRESS, Table A.6.
    """
    masks = Counter(mask.gold for model in models for mask in model)
    pairs = Counter(
        (mask.gold, mask.predicted)
        for model in models
        for mask in model
        if mask.predicted is not None and not mask.same_vector
    )
    found = []
    for (word, guess), count in pairs.items():
        if masks[word] >= least * len(models):
            added = [one for one in (word, guess) if one in supplement]
            row = {
                "label": word,
                "predicted": guess,
                "count": count,
                "masks": masks[word],
                "share": count / masks[word],
            }
            found.append(row | ({"supplement": added} if added else {}))
    return sorted(found, key=lambda row: (-row["share"], -row["count"], row["label"], row["predicted"]))


def word_counts(
    gold: Mapping[str, Sequence[str]], models: Mapping[str, Mapping[str, Sequence[str]]], top: int = 75
) -> list[dict[str, Any]]:
    """How often people and models use each word, the commonest of people first.

    Args:
        gold: id to its words.
        models: name to id to words; words beyond the last mask are not counted.
        top: words that are listed.

    Returns:
        `{word, gold, models: {name: count}, difference}`; `difference` is the mean over models minus gold.

    Source: EXPRESS, Figure A.3.
    """
    people = Counter(fold(word) for words in gold.values() for word in words)
    said = {
        name: Counter(fold(word) for key, words in gold.items() for word in answers[key][: len(words)] if fold(word))
        for name, answers in models.items()
    }
    total = sum(said.values(), Counter[str]())
    words = sorted({*people, *total}, key=lambda word: (-people[word], -total[word], word))
    return [
        {
            "word": word,
            "gold": people[word],
            "models": {name: counts[word] for name, counts in said.items()},
            "difference": total[word] / len(said) - people[word] if said else None,
        }
        for word in words[:top]
    ]
