"""Protocols of papers as presets of an assignment and a scheme. What a paper does not say is said to be ours."""

import msgspec

from emotui.errors import BadInput
from emotui.workbench.annotate.planning.assignment import Assignment

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
