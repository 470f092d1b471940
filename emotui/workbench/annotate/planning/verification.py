"""Two people verify a model's labels: percent agreement (SEER, section 5.2 and Table 2)."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Literal

import msgspec

from emotui.workbench.annotate.answers import Answer

Aspect = Literal["labels", "emotion", "valence"]
"""What is verified: the labels of a text, or the emotion or the valence of each sentence."""


class Verified(msgspec.Struct, frozen=True):
    """Shares over the `n` texts, or sentences, that the model and all of the people label; None where there is none.

    `annotators`: people pass the same verdict on the model's label (Table 2, % Annotator). `model`: all agree with it
    (% GPT). `same`: people give the same label, whatever the model's. `kept`: the texts all of whose labels everybody
    agrees with, by number: what the paper retains. `divided`: those in which people pass different verdicts; `refused`:
    those in which somebody disagrees with the model; `unlike`: those in which people give different labels.
    """

    n: int
    annotators: float | None
    model: float | None
    same: float | None
    kept: tuple[int, ...]
    divided: tuple[int, ...] = ()
    refused: tuple[int, ...] = ()
    unlike: tuple[int, ...] = ()


def percent_agreement(
    model: Mapping[int, Answer], people: Sequence[Mapping[int, Answer]], aspect: Aspect = "labels"
) -> Verified:
    """How often people agree with one another, and with a model's labels.

    SEER's annotators marked agreement or disagreement with each label. Here they give a label of their own: who gives
    another than the model's disagrees with it.
    """
    n = annotators = agreed = same = 0
    kept: list[int] = []
    divided: list[int] = []
    refused: list[int] = []
    unlike: list[int] = []
    for sample in sorted(set(model).intersection(*people)) if people else []:
        labels = _labels(model[sample], aspect)
        theirs = [_labels(one[sample], aspect) for one in people]
        places = [place for place in labels if all(place in one for one in theirs)]
        right = alike = equal = 0
        for place in places:
            verdicts = {one[place] == labels[place] for one in theirs}
            alike += len(verdicts) == 1
            right += verdicts == {True}
            equal += len({one[place] for one in theirs}) == 1
        n += len(places)
        annotators, agreed, same = annotators + alike, agreed + right, same + equal
        if places:
            (kept if right == len(places) else refused).append(sample)
            divided += [sample] * (alike < len(places))
            unlike += [sample] * (equal < len(places))
    if n == 0:
        return Verified(0, None, None, None, ())
    texts = (tuple(kept), tuple(divided), tuple(refused), tuple(unlike))
    return Verified(n, annotators / n, agreed / n, same / n, *texts)


def _labels(answer: Answer, aspect: Aspect) -> dict[int, Hashable]:
    """What an answer says by the place of the sentence; of a whole text at the place 0."""
    if aspect == "labels":
        return {} if answer.labels is None else {0: frozenset(answer.labels)}
    said = {place: one.emotion if aspect == "emotion" else one.valence for place, one in answer.sentences.items()}
    return {place: label for place, label in said.items() if label is not None}
