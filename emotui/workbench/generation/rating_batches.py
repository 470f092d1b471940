"""Which versions a rater gets, in which order, with attention checks between them (section 6.2): plain rules."""

import random
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal

import msgspec

from emotui.errors import BadInput
from emotui.metrics.human_labels import Ties
from emotui.store.rows import Annotation
from emotui.tasks.generation.crowd import CrowdRating, failed_checks

Which = Literal["emotional", "neutral", "mixed"]
WHICH: tuple[Which, ...] = ("emotional", "neutral", "mixed")
"""Versions of one kind apart, or both mixed."""

EMOTIONAL, NEUTRAL = "emotional", "neutral"
CHECK = "check"

SIZE, WANTED, ALLOWED = 50, 5, 0
"""Texts of a batch, raters of a text, and attention checks that one may fail, as in the paper."""

RATES = "10 in 84 for neutral versions, 28 in 277 for emotional ones"
"""How many attention checks the paper has."""

_RATE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(?:(?:/|in|of)\s*(\d+(?:\.\d+)?)\s*|(%)\s*)?")


class Item(msgspec.Struct, frozen=True):
    """One thing to rate: a `version` of a text (`sample`) by a writer (`run`), or a check, which asks for a label."""

    version: str
    sample: int | None = None
    run: str = ""
    asked: str = ""

    @property
    def check(self) -> bool:
        """Whether this is an attention check."""
        return self.version == CHECK


class RatingOptions(msgspec.Struct, frozen=True):
    """How ratings are gathered. `checks`: attention checks a text; `ties`: what several most frequent labels give."""

    which: Which = "emotional"
    size: int = SIZE
    checks: float = 28 / 277
    wanted: int = WANTED
    allowed: int = ALLOWED
    ties: Ties = "none"


def check_rate(written: str) -> float:
    """Attention checks a text: `28/277`, `10 in 84`, `.1` or `10%`.

    Raises:
        BadInput: it is none of those, or more than one a text.
    """
    found = _RATE.fullmatch(written if not written.startswith(".") else f"0{written}")
    if found is None:
        raise BadInput(f"attention checks are a rate such as 28/277, .1 or 10%, not {written!r}")
    value = float(found[1]) / (float(found[2]) if found[2] else 100 if found[3] else 1) if found[2] != "0" else 2.0
    if not 0 <= value <= 1:
        raise BadInput(f"{written}: there cannot be more attention checks than texts")
    return value


def checks_among(n: int, rate: float) -> int:
    """How many attention checks go with n texts: at least one where there are to be any."""
    return max(round(n * rate), 1) if n and rate else 0


def batch_size(n: int, about: int) -> int:
    """How many of n texts a batch takes, so that all batches are about as large as wanted and none is a small rest."""
    return -(-n // max(round(n / about), 1)) if n else 0


def drawn(
    items: Sequence[Item],
    valid: Mapping[Item, int],
    reserved: Mapping[Item, int],
    own: Collection[Item],
    labels: Sequence[str],
    options: RatingOptions,
    seed: str,
) -> list[Item]:
    """A rater's next batch: texts that need most ratings first, mixed, with attention checks spread among them.

    No version of a text stands in a batch twice while there are other texts, so that versions are not held against
    each other.

    Args:
        valid: how many labels each has of raters who are not set aside.
        reserved: how many further ones are on their way, in batches that others have begun.
        own: what this rater has rated already.
    """
    chance = random.Random(seed)
    free = [one for one in items if one not in own and valid.get(one, 0) < options.wanted]
    open_to = [one for one in free if valid.get(one, 0) + reserved.get(one, 0) < options.wanted] or free
    chance.shuffle(open_to)
    open_to.sort(key=lambda one: valid.get(one, 0) + reserved.get(one, 0))
    n = batch_size(len(open_to), options.size)
    taken: list[Item] = []
    seen: set[int | None] = set()
    for one in open_to:
        if len(taken) < n and one.sample not in seen:
            seen.add(one.sample)
            taken.append(one)
    rest = [one for one in open_to if one not in set(taken)]
    taken += rest[: n - len(taken)]
    chance.shuffle(taken)
    return with_checks(taken, labels, checks_among(len(taken), options.checks), chance)


def with_checks(texts: Sequence[Item], labels: Sequence[str], checks: int, chance: random.Random) -> list[Item]:
    """The texts with so many attention checks, one somewhere in each of as many equal parts; each label in turn."""
    asked = list(labels)
    chance.shuffle(asked)
    places: dict[int, list[Item]] = {}
    for at in range(checks):
        first, stop = at * len(texts) // checks, (at + 1) * len(texts) // checks
        place = chance.randrange(first, max(stop, first + 1))
        places.setdefault(place, []).append(Item(CHECK, asked=asked[at % len(asked)]))
    found: list[Item] = []
    for at, one in enumerate(texts):
        found += [one, *places.get(at, ())]
    return found


# Batches and ratings in the annotation log, and what of it stands. The log only grows: undo is an entry in it.

KINDS = "generation-"
BATCH, RATING, UNDO = "generation-batch", "generation-rating", "generation-undo"


class Batch(msgspec.Struct, frozen=True):
    """What one rater was given. `number`: of its entry; `allowed`: attention checks that may be failed."""

    dataset: int
    items: tuple[Item, ...]
    allowed: int = 0
    rater: str = ""
    number: int = 0


class RatingEntry(msgspec.Struct, frozen=True):
    """One answer. `at`: the place of its item in the batch; `emotion`: the label; `seconds`: how long it took."""

    batch: int
    at: int
    emotion: str
    seconds: float | None = None
    run: str = ""
    version: str = ""


class Rated(msgspec.Struct, frozen=True):
    """A rating that stands, with its item."""

    number: int
    batch: int
    at: int
    rater: str
    item: Item
    emotion: str
    seconds: float | None
    made: str


class RatingLog(msgspec.Struct, frozen=True):
    """What stands of the log of a dataset. `batches`: by the number of their entry."""

    batches: Mapping[int, Batch]
    ratings: tuple[Rated, ...]

    def of_batch(self, number: int) -> dict[int, Rated]:
        """By their places the ratings of a batch."""
        return {one.at: one for one in self.ratings if one.batch == number}

    def open_batch(self, rater: str) -> Batch | None:
        """A rater's batch that has items without a rating; the newest."""
        mine = [one for one in self.batches.values() if one.rater == rater]
        return next((one for one in reversed(mine) if len(self.of_batch(one.number)) < len(one.items)), None)

    def aside(self, allowed: int | None = None) -> dict[str, tuple[int, int]]:
        """Raters who failed more attention checks than they may: to how many they answered, and how many wrongly.

        Args:
            allowed: how many one may fail; None: as their batches say, the most generous.
        """
        counts = checks_of(self.ratings)
        may = {one.rater: one.allowed for one in self.batches.values()}
        return {
            rater: (one["checks"], one["failed"])
            for rater, one in counts.items()
            if one["failed"] > (may.get(rater, 0) if allowed is None else allowed)
        }

    def kept(self, allowed: int | None = None) -> list[Rated]:
        """The ratings of texts by raters who are not set aside; of two of one thing by one rater the newer."""
        aside = self.aside(allowed)
        last = {(one.rater, one.item): one for one in self.ratings if not one.item.check and one.rater not in aside}
        return sorted(last.values(), key=lambda one: (one.made, one.number))


def checks_of(ratings: Iterable[Rated]) -> dict[str, dict[str, int]]:
    """Of each rater `checks` and `failed`."""
    given = [
        CrowdRating(f"{one.batch}/{one.at}" if one.item.check else "", one.rater, one.emotion, "") for one in ratings
    ]
    asked = {f"{one.batch}/{one.at}": one.item.asked for one in ratings if one.item.check}
    return failed_checks(given, asked)


def read_rating_log(entries: Sequence[Annotation], dataset: int) -> RatingLog:
    """What stands of a dataset's entries, in the order in which they were made, on whichever machine.

    Those of other datasets are passed over.
    """
    entries = sorted(entries, key=lambda one: (one.at, one.annotation))
    undone = {one.undoes for one in entries if one.kind == UNDO}
    batches: dict[int, Batch] = {}
    ratings: list[Rated] = []
    for one in entries:
        if one.kind == BATCH:
            batch = msgspec.json.decode(one.payload, type=Batch)
            if batch.dataset == dataset:
                batches[one.annotation] = msgspec.structs.replace(batch, rater=one.annotator, number=one.annotation)
        elif one.kind == RATING and one.annotation not in undone:
            said = msgspec.json.decode(one.payload, type=RatingEntry)
            of = batches.get(said.batch)
            if of is not None and 0 <= said.at < len(of.items):
                item = of.items[said.at]
                ratings.append(
                    Rated(one.annotation, said.batch, said.at, of.rater, item, said.emotion, said.seconds, one.at)
                )
    return RatingLog(batches, tuple(ratings))
