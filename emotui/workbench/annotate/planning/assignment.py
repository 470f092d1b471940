"""Who annotates what: batches of texts, each for several annotators, and which texts come back for a second answer."""

import hashlib
import random
from collections import Counter
from collections.abc import Sequence
from itertools import combinations

import msgspec

from emotui.errors import BadInput
from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.workbench.annotate.planning.order import FIXED, Order


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
