"""Batches and ratings in the annotation log, and what of it stands. The log only grows: undo is an entry in it."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from emotui.store.rows import Annotation
from emotui.tasks.generation.crowd import CrowdRating, failed_checks
from emotui.workbench.generation.rating_batches import Item

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
        return sorted(last.values(), key=lambda one: one.number)


def checks_of(ratings: Iterable[Rated]) -> dict[str, dict[str, int]]:
    """Of each rater `checks` and `failed`."""
    given = [
        CrowdRating(f"{one.batch}/{one.at}" if one.item.check else "", one.rater, one.emotion, "") for one in ratings
    ]
    asked = {f"{one.batch}/{one.at}": one.item.asked for one in ratings if one.item.check}
    return failed_checks(given, asked)


def read_rating_log(entries: Sequence[Annotation], dataset: int) -> RatingLog:
    """What stands of a dataset's entries, in their order; those of other datasets are passed over."""
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
