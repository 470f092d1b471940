"""Ratings made in the workbench, as files and as what a crowd platform's table comes to."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from emotui.errors import BadInput
from emotui.metrics.human_labels import Ties
from emotui.records import Generation, GenerationGold, Rating
from emotui.store.query import Run
from emotui.store.store import Store
from emotui.tasks.generation.crowd import Crowd, CrowdRating, gather
from emotui.tasks.generation.whole import Prediction, joined
from emotui.workbench.generation.rating import OPTIONS, labels_given, options_from, rating_log
from emotui.workbench.generation.rating_batches import EMOTIONAL, NEUTRAL, RatingLog
from emotui.workbench.generation.versions import Version, all_versions, dataset_of, writers_of


def kept_ratings(store: Store, dataset: int, *, ties: Ties = "none", alone: bool = False) -> Crowd:
    """The ratings kept here as those of a crowd platform's table: the records with their labels, and the document.

    Args:
        alone: labels that versions came with are left out.

    Raises:
        BadInput: there is no rating.
    """
    log = rating_log(store, dataset)
    if not log.ratings:
        raise BadInput(f"nothing of {dataset_of(store, dataset).name} was rated here yet")
    writers = {one.run: one for one in writers_of(store, dataset)}
    golds = {
        number: msgspec.json.decode(record, type=GenerationGold) for number, record in store.dataset_samples(dataset)
    }
    records = [
        _record(golds[number], one, alone=alone)
        for writer in writers.values()
        for number, versions in sorted(all_versions(store, [writer]).items())
        for one in versions
    ]
    ratings, asked = rows_of(log, {run: one.name for run, one in writers.items()}, golds)
    options = options_from(store.setting(OPTIONS))
    return gather(records, ratings, asked, allowed=options.allowed, wanted=options.wanted, ties=ties)


def _record(gold: GenerationGold, version: Version, *, alone: bool) -> Generation:
    human, neutral = ((), ()) if alone else (version.human, version.human_neutral)
    said = Prediction(version.neutral, version.emotional, version.refused, human, neutral)
    record = joined(gold, said, version.writer.name)
    assert isinstance(record, Generation)
    return record


def rows_of(
    log: RatingLog, names: Mapping[str, str], golds: Mapping[int, Any]
) -> tuple[list[CrowdRating], dict[str, str]]:
    """Ratings as a table has them (`MODEL/ID`, `MODEL/ID/neutral`, or a check), and what the checks ask for.

    Of two ratings of one thing by one rater the newer. Ratings of sources that are gone are left out.
    """
    found: dict[tuple[str, str], CrowdRating] = {}
    asked: dict[str, str] = {}
    for one in log.ratings:
        item = one.item
        if item.check:
            name = f"check-{one.batch}-{one.at}"
            asked[name] = item.asked
        elif item.run in names and item.sample is not None and item.sample in golds:
            name = f"{names[item.run]}/{golds[item.sample].id}" + ("/neutral" if item.version == NEUTRAL else "")
        else:
            continue
        found[one.rater, name] = CrowdRating(name, one.rater, one.emotion, f"rating {one.number}")
    return list(found.values()), asked


def rating_rows(store: Store, dataset: int) -> list[Rating]:
    """The ratings of texts that count: raters who are set aside are left out, and so are attention checks."""
    log = rating_log(store, dataset)
    names = {one.run: one.name for one in writers_of(store, dataset)}
    ids = {number: key for key, number in store.numbers_by_id(dataset).items()}
    return [
        Rating(
            item=f"{names[one.item.run]}/{ids[one.item.sample]}" + ("/neutral" if one.item.version == NEUTRAL else ""),
            rater=one.rater,
            label=one.emotion,
            seconds=one.seconds,
        )
        for one in log.kept()
        if one.item.run in names and one.item.sample is not None and one.item.sample in ids
    ]


def labelled(store: Store, run: Run) -> Callable[[int, msgspec.Struct], msgspec.Struct]:
    """From a text's number and a run's record of it to the record with the labels that were given here."""
    given = labels_given(rating_log(store, run.dataset))

    def joined_to(sample: int, record: msgspec.Struct) -> msgspec.Struct:
        human, neutral = (given.get((run.run, sample, version), ()) for version in (EMOTIONAL, NEUTRAL))
        if not isinstance(record, Generation) or not (human or neutral):
            return record
        return msgspec.structs.replace(
            record, human=(*record.human, *human), human_neutral=(*record.human_neutral, *neutral)
        )

    return joined_to
