"""Who annotates what: batches of texts, each for several annotators, and which texts come back for a second answer."""

import hashlib
import random
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from statistics import median

import msgspec

from emotui.errors import BadInput
from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.workbench.annotate.log import Log
from emotui.workbench.annotate.others import logs_of
from emotui.workbench.annotate.planning.order import FIXED, Order
from emotui.workbench.annotate.traces import answer_traces


class Retest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A share of one's own texts comes back for a second answer, after so many others."""

    share: float = 0.0
    after: int = 20
    seed: int = 0


NO_RETEST = Retest()


class Assignment(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a dataset is dealt out: in batches, each text to `overlap` of the annotators.

    `shuffled`: which texts are in a batch together is left to chance. `consent`: words that everybody agrees to before
    the first text. `protocol`: the name of a paper's protocol that it follows.
    """

    annotators: tuple[str, ...]
    overlap: int
    batch: int
    seed: int = 0
    shuffled: bool = True
    order: Order = FIXED
    retest: Retest = NO_RETEST
    consent: str = ""
    protocol: str = ""

    def faults(self) -> list[str]:
        """What cannot be so, in words."""
        found = []
        if not self.annotators:
            found.append("there is nobody to assign texts to: name them with --annotators a,b,c")
        blank = [name for name in self.annotators if not name.strip()]
        twice = [name for name, n in Counter(self.annotators).items() if n > 1]
        if blank or twice:
            found.append(f"{twice[0]!r} is named twice" if twice else "an annotator has no name")
        if not 1 <= self.overlap <= max(1, len(self.annotators)):
            found.append(f"{self.overlap} of {len(self.annotators)} annotators cannot see each text")
        if self.batch < 1:
            found.append("a batch has at least one text")
        if not 0 <= self.retest.share <= 1 or self.retest.after < 1:
            found.append("a retest is of a share from 0 to 1, after at least one other text")
        return found


class Batch(msgspec.Struct, frozen=True):
    """Some texts, in their order, and for whom they are. `number`: from 1."""

    number: int
    samples: tuple[int, ...]
    annotators: tuple[str, ...]


def batches(assignment: Assignment, numbers: Sequence[int]) -> list[Batch]:
    """The batches of a dataset, every text in one.

    Annotators get equally many batches, as far as that goes, and each pair of them shares equally many.
    """
    mixed = list(numbers)
    draw = random.Random(assignment.seed)
    if assignment.shuffled:
        draw.shuffle(mixed)
    load: Counter[str] = Counter()
    shared: Counter[tuple[str, str]] = Counter()
    found: list[Batch] = []
    for place in range(0, len(mixed), assignment.batch):
        chosen: list[str] = []
        while len(chosen) < assignment.overlap:
            rest = [name for name in assignment.annotators if name not in chosen]
            chosen.append(min(rest, key=lambda name: (load[name], sum(shared[_pair(name, one)] for one in chosen))))
            load[chosen[-1]] += 1
        shared.update(_pair(a, b) for a, b in combinations(chosen, 2))
        samples = tuple(mixed[place : place + assignment.batch])
        in_turn = tuple(name for name in assignment.annotators if name in chosen)
        found.append(Batch(len(found) + 1, samples, in_turn))
    return found


def _pair(a: str, b: str) -> tuple[str, str]:
    return (a, b) if a < b else (b, a)


def assign(store: Store, dataset: Dataset, assignment: Assignment) -> list[Batch]:
    """Keep an assignment for a dataset, in place of the one that it had; answers stay as they are.

    Raises:
        BadInput: it cannot be so.
    """
    if faults := assignment.faults():
        raise BadInput(*faults)
    store.set_setting(_setting(dataset), msgspec.to_builtins(assignment))
    return batches(assignment, store.file_order(dataset.dataset))


def assigned(store: Store, dataset: Dataset) -> Assignment | None:
    """The assignment of a dataset; None where everybody annotates everything."""
    kept = store.setting(_setting(dataset))
    return None if kept is None else msgspec.convert(kept, Assignment)


def share_of(assignment: Assignment, numbers: Sequence[int], annotator: str) -> tuple[int, ...]:
    """The texts of one annotator, batch by batch; all of them for somebody whom the assignment does not name."""
    if annotator not in assignment.annotators:
        return tuple(numbers)
    return tuple(
        number for batch in batches(assignment, numbers) if annotator in batch.annotators for number in batch.samples
    )


def comes_back(retest: Retest, annotator: str, sample: int) -> bool:
    """Whether a text is among those that come back to an annotator: decided by chance, the same every time."""
    if retest.share <= 0:
        return False
    digest = hashlib.sha256(f"{retest.seed}/{annotator}/{sample}".encode()).digest()
    return int.from_bytes(digest[:8]) < retest.share * 2**64


def _setting(dataset: Dataset) -> str:
    return f"annotate assignment of {dataset.dataset}"


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


# How far all annotators of a dataset are.


class AnnotatorProgress(msgspec.Struct, frozen=True):
    """One annotator's share. `again`: texts that came back; `seconds`: the median of a first answer, where measured."""

    annotator: str
    n: int
    given: int
    left: int
    flagged: int
    unsure: int
    again: int
    seconds: float | None


class DatasetProgress(msgspec.Struct, frozen=True):
    """`answers`: how many texts have how many answers."""

    n: int
    annotators: tuple[AnnotatorProgress, ...]
    answers: dict[int, int]


def progress_of(store: Store, dataset: Dataset) -> DatasetProgress:
    """Those who are assigned texts, then others who annotate, each with what is theirs."""
    numbers = store.file_order(dataset.dataset)
    plan, logs = assigned(store, dataset), logs_of(store, dataset)
    seconds: dict[str, list[float]] = {}
    for trace in answer_traces(store, dataset):
        if trace.answered is not None and not trace.round:
            seconds.setdefault(trace.annotator, []).append(trace.answered)
    rows = []
    answered: Counter[int] = Counter()
    for name in dict.fromkeys([*(plan.annotators if plan else ()), *logs]):
        log = logs.get(name) or Log(lambda sample: ())
        mine = set(numbers if plan is None else share_of(plan, numbers, name))
        there = [sample for sample in log.samples() if sample in mine]
        given = [sample for sample in there if log.accepted(sample)]
        answered.update(given)
        rows.append(
            AnnotatorProgress(
                name,
                len(mine),
                len(given),
                len(mine) - len(given),
                sum(map(log.flagged, there)),
                sum(map(log.unsure, there)),
                len(log.retested()),
                median(seconds[name]) if name in seconds else None,
            )
        )
    return DatasetProgress(dataset.n, tuple(rows), dict(sorted(Counter(answered[n] for n in numbers).items())))
