"""A crowd platform's table as ratings: a row an answer, or a row a rater with a column an item."""

import csv
import io
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from emotui.bounded import read_text
from emotui.errors import BadInput
from emotui.formats import capped, read
from emotui.formats.reading import Warn, warn_skipped
from emotui.metrics.human_labels import Ties
from emotui.metrics.rating_subset import Candidate, agreed_upon, chosen
from emotui.records import Generation, GenerationGold, Rating
from emotui.store.query import Run
from emotui.store.store import Store
from emotui.tasks.generation.crowd import Crowd, CrowdRating, gather, item_names
from emotui.tasks.generation.whole import Prediction, joined
from emotui.workbench.generation.rating import OPTIONS, labels_given, options_from, rating_log
from emotui.workbench.generation.rating_batches import EMOTIONAL, NEUTRAL, RatingLog
from emotui.workbench.generation.versions import Version, all_versions, dataset_of, writers_of

# Ratings made in the workbench, as files and as what a crowd platform's table comes to.


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
        number: msgspec.json.decode(record, type=GenerationGold) for number, record in store.samples.of_dataset(dataset)
    }
    records = [
        _record(golds[number], one, alone=alone)
        for writer in writers.values()
        for number, versions in sorted(all_versions(store, [writer]).items())
        for one in versions
    ]
    ratings, asked = rows_of(log, {run: one.name for run, one in writers.items()}, golds)
    options = options_from(store.settings.get(OPTIONS))
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
    ids = {number: key for key, number in store.samples.numbers_by_id(dataset).items()}
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


RATER = ("participant_id", "prolific_pid", "prolific id", "participant", "rater", "worker_id", "workerid", "annotator")
ITEM = ("item", "item_id", "text_id", "question", "stimulus")
LABEL = ("label", "response", "answer", "emotion", "value", "choice")
"""Names that platforms give such columns; case does not matter."""


def crowd_ratings(
    records: Sequence[str],
    table: str,
    checks: str | None,
    *,
    rater: str | None = None,
    item: str | None = None,
    label: str | None = None,
    allowed: int = 0,
    wanted: int = 5,
    neutral: bool = False,
    ties: Ties = "none",
    skip_bad: bool = False,
    warn: Warn,
) -> Crowd:
    """Generation records with the ratings of a table.

    Args:
        table: CSV, or TSV by its ending, with a header. Without an item column it has a column an item.
        checks: CSV or TSV of attention checks, with columns `item` and `label`.
        rater, item, label: names of columns; None: they are found.

    Raises:
        BadInput: a file cannot be read, lacks a column, or has answers that do not fit; `FILE:LINE: what`.
    """
    texts: list[Generation] = []
    for path in records:
        got = read(path, Generation, skip_bad=skip_bad)
        warn_skipped(got, warn)
        texts += got.records
    expected = _checks(checks) if checks is not None else {}
    known = {*item_names(texts, neutral=neutral), *expected}
    ratings = list(_ratings(table, known, rater, item, label))
    if not ratings:
        raise BadInput(f"{table}:1: there is no rating in the file")
    try:
        return gather(texts, ratings, expected, allowed=allowed, wanted=wanted, neutral=neutral, ties=ties)
    except BadInput as error:
        raise BadInput(*capped(error.problems)) from None


def _checks(path: str) -> dict[str, str]:
    found = {}
    for line, row in table_rows(path):
        name, label = _column(path, row, None, ITEM, "item"), _column(path, row, None, LABEL, "label")
        if not row[name] or not row[label]:
            raise BadInput(f"{path}:{line}: an attention check needs an item and the label that it asks for")
        found[row[name]] = row[label]
    return found


def _ratings(
    path: str, known: Collection[str], rater: str | None, item: str | None, label: str | None
) -> Iterator[CrowdRating]:
    for line, row in table_rows(path):
        who = row[_column(path, row, rater, RATER, "rater")]
        if not who:
            raise BadInput(f"{path}:{line}: the rater is missing")
        name = item or _found(row, ITEM)
        if name is None:
            columns = [column for column in row if column in known]
            if not columns:
                raise BadInput(
                    f"{path}:1: there is neither a column of items ({', '.join(ITEM)}; or --item COLUMN) nor one named "
                    "like a text (MODEL/ID)"
                )
            # An empty cell: this rater was not shown the item.
            for column in columns:
                if row[column]:
                    yield CrowdRating(column, who, row[column], f"{path}:{line}")
            continue
        said = row[_column(path, row, label, LABEL, "label")]
        yield CrowdRating(row[_column(path, row, name, (), "item")], who, said, f"{path}:{line}")


def table_rows(path: str) -> Iterator[tuple[int, Mapping[str, str]]]:
    """The rows of a CSV, or TSV by its ending, by the names of the header, with their lines.

    Raises:
        BadInput: it cannot be read, or a row has another number of cells; `FILE:LINE: what`.
    """
    try:
        text = read_text(path).removeprefix("\ufeff")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: cannot be read: {error}") from None
    reader = csv.reader(io.StringIO(text), delimiter="\t" if path.endswith(".tsv") else ",")
    header: list[str] = []
    try:
        for cells in reader:
            if not any(cells):
                continue
            if not header:
                header = [cell.strip() for cell in cells]
                continue
            if len(cells) != len(header):
                raise BadInput(f"{path}:{reader.line_num}: has {len(cells)} cells where the header has {len(header)}")
            yield reader.line_num, {name: cell.strip() for name, cell in zip(header, cells, strict=True)}
    except csv.Error as error:
        raise BadInput(f"{path}:{reader.line_num}: this is no table: {error}") from None


def _found(row: Mapping[str, str], names: Sequence[str]) -> str | None:
    columns = {column.casefold(): column for column in reversed(list(row))}
    return next((columns[name] for name in names if name in columns), None)


def _column(path: str, row: Mapping[str, str], given: str | None, names: Sequence[str], what: str) -> str:
    found = given if given in row else _found(row, names) if given is None else None
    if found is None:
        wanted = repr(given) if given is not None else f"{what} ({', '.join(names)}; or --{what} COLUMN)"
        raise BadInput(f"{path}:1: there is no column {wanted}; there are: {', '.join(row)}")
    return found


# The subset of texts to have rated (section 6.1): from a file of originals to their ids.


def choose_subset(
    path: str, *, source: str, order: str | None = None, annotations: str | None = None, least: float = 0.6
) -> dict[str, Any]:
    """Which texts to have rated.

    Args:
        path: originals with `id` and `label`: CSV, TSV, or records with columns of their own in `meta`.
        source, order, annotations: columns with the video or document of a text, its place there (None: the file's
            order), and the labels that several annotators gave it (a list, or in a table parted by `|` or `;`).

    Returns:
        `n`, `ids` (chosen, in the file's order), `chosen`, `agreed` (ids of the texts above `least` agreement),
        `sources`, `emotions`.

    Raises:
        BadInput: a column is missing or a place is no number; `FILE:LINE: what`.
    """
    texts: list[Candidate] = []
    problems: list[str] = []
    for line, row in _texts(path):
        try:
            texts.append(_candidate(row, len(texts), source, order, annotations))
        except ValueError as problem:
            problems.append(f"{path}:{line}: {problem}")
    if problems:
        raise BadInput(*capped(problems))
    ids = chosen(texts, least)
    return {
        "n": len(texts),
        "chosen": len(ids),
        "ids": ids,
        "agreed": agreed_upon(texts, least),
        "sources": len({one.source for one in texts}),
        "emotions": len({one.emotion for one in texts}),
    }


def _texts(path: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    if path.endswith((".csv", ".tsv")):
        yield from table_rows(path)
        return
    got = read(path, GenerationGold)
    for line, record in zip(got.lines, got.records, strict=True):
        yield line, {**record.meta, **{key: value for key, value in msgspec.structs.asdict(record).items() if value}}


def _candidate(row: Mapping[str, Any], at: int, source: str, order: str | None, annotations: str | None) -> Candidate:
    lacking = [name for name in ("id", "label", source, order) if name is not None and row.get(name) in (None, "")]
    if lacking:
        raise ValueError(f"has no {lacking[0]!r}; there are: {', '.join(row)}")
    try:
        place = float(at if order is None else row[order])
    except (TypeError, ValueError):
        place = math.nan
    if not math.isfinite(place):
        raise ValueError(f"{order!r} must be a number, not {row[order or '']!r}")
    given = row.get(annotations) if annotations is not None else None
    labels = re.split(r"[|;]", given) if isinstance(given, str) else given or ()
    gold = tuple(name for label in labels if (name := str(label).strip().casefold()))
    return Candidate(str(row["id"]), str(row["label"]).strip().casefold(), str(row[source]), place, gold)
