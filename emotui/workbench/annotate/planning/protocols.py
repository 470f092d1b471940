"""Protocols of papers: how their texts were annotated, and the percent agreement of SEER's Table 2."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Literal

import msgspec

from emotui.errors import BadInput
from emotui.workbench.annotate.answers import Answer
from emotui.workbench.annotate.planning.assignment import Assignment

# Protocols of papers as presets of an assignment and a scheme. What a paper does not say is said to be ours.

CONSENT = """Before you begin, please confirm:
1. I have read what this task is about and what I am asked to do.
2. I know that some texts may be offensive or upsetting, and that I may stop at any time.
3. I take part of my own free will.
"""
"""Our own words; SEER's participants agreed to three points of the same kind (appendix D)."""


class Protocol(msgspec.Struct, frozen=True, kw_only=True):
    """How a paper had texts annotated.

    `overlap`: how many people saw each text; `batch`: how many texts one sitting has, None where the paper does not
    say; `people`: how many it takes at least. `scheme`: the built-in one that fits. `figure`: what it reports.
    """

    name: str
    title: str
    overlap: int
    batch: int | None
    people: int
    scheme: str
    consent: str = ""
    source: str
    figure: str
    steps: tuple[str, ...]


PROTOCOLS = (
    Protocol(
        name="seer",
        title="Evidence by three annotators in batches of 20",
        overlap=3,
        batch=20,
        people=3,
        scheme="spans",
        consent=CONSENT,
        source="SEER, section 9 and appendix D",
        figure="the mean and the best of the three against gold; pairwise span F1",
        steps=(
            "Everybody agrees to the consent text (your own with --consent FILE) before the first text.",
            "Each batch of 20 texts goes to three annotators, who mark the words that express emotion.",
            "Every annotator is a source: compare each with gold (emotui runs), and all in Results.",
        ),
    ),
    Protocol(
        name="seer-labels",
        title="Labels of a model verified by two people",
        overlap=2,
        batch=None,
        people=2,
        scheme="seer",
        source="SEER, section 5.2 and Table 2",
        figure="percent agreement of the two, and percent of texts where both agree with the model",
        steps=(
            "The model's labels are the suggestion: accept or mend each.",
            "Two people work independently, each over every text.",
            "Keep the texts on which both agree with the model (percent agreement, Table 2).",
        ),
    ),
    Protocol(
        name="emoscene",
        title="Eight emotions by three annotators, settled by majority",
        overlap=3,
        batch=None,
        people=3,
        scheme="scenes",
        source="EmoScene, appendix B",
        figure="kappa between annotators, a label at a time",
        steps=(
            "Three annotators label every scenario on their own with the vector of eight emotions.",
            "The final label is the majority of the three, for each emotion (adjudicate, merge by majority).",
        ),
    ),
    Protocol(
        name="express-words",
        title="Words tied to ten dimensions by several people, for a lexicon",
        overlap=3,
        batch=20,
        people=3,
        scheme="emolex",
        source="EXPRESS, Figure A.2; how many people and words a sitting are ours",
        figure="a lexicon: 1 where most of those whose check is right say moderately or strongly",
        steps=(
            "emotui masked questions makes the records of words; emotui import values brings them in.",
            "Everybody says of each word which of four is nearest, and how far it is tied to ten dimensions.",
            "emotui masked lexicon DATASET --to mine.csv writes the lexicon; emotui score masked --lexicon reads it.",
        ),
    ),
)


def protocol_named(name: str) -> Protocol:
    """The protocol of this name.

    Raises:
        BadInput: there is none.
    """
    found = next((one for one in PROTOCOLS if one.name == name), None)
    if found is None:
        raise BadInput(f"there is no protocol {name!r}: {', '.join(one.name for one in PROTOCOLS)}")
    return found


def assignment_by(
    protocol: Protocol, annotators: tuple[str, ...], *, n: int, seed: int = 0, consent: str | None = None
) -> Assignment:
    """The assignment of a protocol for these people.

    Args:
        n: texts of the dataset; they are one batch where the paper names no size.
        consent: words of the person's own in place of ours.

    Raises:
        BadInput: they are too few.
    """
    if len(annotators) < protocol.people:
        raise BadInput(f"{protocol.name} takes {protocol.people} annotators ({protocol.source}), not {len(annotators)}")
    return Assignment(
        annotators=annotators,
        overlap=protocol.overlap,
        batch=protocol.batch or max(1, n),
        seed=seed,
        shuffled=protocol.batch is not None,
        consent=protocol.consent if consent is None else consent,
        protocol=protocol.name,
    )


# Two people verify a model's labels (SEER, section 5.2).

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
