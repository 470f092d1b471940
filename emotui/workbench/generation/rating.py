"""Rating versions of texts blind: batches are drawn, each answer is kept at once, and what came of it is counted."""

import threading
from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from emotui.errors import BadInput
from emotui.records import GenerationGold
from emotui.store.annotations import Entry
from emotui.store.store import Store
from emotui.tasks.generation.whole import folded
from emotui.workbench.generation.rating_batches import (
    BATCH,
    EMOTIONAL,
    KINDS,
    NEUTRAL,
    RATING,
    SIZE,
    UNDO,
    Batch,
    Item,
    RatingEntry,
    RatingLog,
    RatingOptions,
    checks_of,
    drawn,
    read_rating_log,
)
from emotui.workbench.generation.versions import Version, all_versions, dataset_of, invented, writers_of

CHECK_WORDS = "Please choose the emotion {label}."
"""An attention check, as the paper words it (section 6.2)."""

OPTIONS = "generation rating"
"""The setting that remembers how ratings are gathered."""


class Answer(msgspec.Struct, frozen=True):
    """What a rater does at a place of a batch: chooses a label, or takes the choice back (`emotion` empty)."""

    serial: int
    at: int
    emotion: str
    seconds: float | None = None


class Sitting:
    """A rater at a batch. It gives texts without saying whose they are, and keeps each answer in the store.

    Attributes:
        texts: what is shown for each item, in the order of the batch.
        labels: what can be chosen.
        answers: by place what was chosen so far.
    """

    def __init__(self, store: Store, batch: Batch, texts: Sequence[str], labels: Sequence[str], log: RatingLog) -> None:
        self.texts, self.labels = tuple(texts), tuple(labels)
        self._store, self._batch = store, batch
        self._numbers = {at: one.number for at, one in log.of_batch(batch.number).items()}
        self.answers = {at: one.emotion for at, one in log.of_batch(batch.number).items()}
        self._last = 0
        self._lock = threading.Lock()

    @property
    def rater(self) -> str:
        """Who sits there."""
        return self._batch.rater

    def keep(self, answers: Sequence[Answer]) -> int:
        """Write what is not written yet, in its order; the serial of the last that is. May be called again with more.

        Raises:
            EmotuiError: the store cannot be written.
        """
        with self._lock:
            for one in answers:
                if one.serial > self._last:
                    self._write(one)
                    self._last = one.serial
            return self._last

    def _write(self, answer: Answer) -> None:
        """Keep an answer in place of the one before, in one transaction: a kill leaves the one or the other."""
        batch, item = self._batch, self._batch.items[answer.at]
        before = self._numbers.get(answer.at)
        entries: list[Entry] = []
        if before is not None:
            entries.append((UNDO, item.sample, batch.rater, b"{}", before))
        if answer.emotion:
            said = RatingEntry(batch.number, answer.at, answer.emotion, answer.seconds, item.run, item.version)
            entries.append((RATING, item.sample, batch.rater, msgspec.json.encode(said), None))
        made = self._store.annotations.append_each(entries)
        self._numbers.pop(answer.at, None)
        if answer.emotion:
            self._numbers[answer.at] = made[-1].annotation

    def came_to(self) -> Mapping[str, int]:
        """How the batch stands: `texts` rated, `checks` answered, `failed`, and `left`."""
        log = rating_log(self._store, self._batch.dataset)
        done = list(log.of_batch(self._batch.number).values())
        counts = checks_of(done).get(self._batch.rater, {"checks": 0, "failed": 0})
        texts = sum(not one.item.check for one in done)
        aside = int(self._batch.rater in log.aside())
        return {"texts": texts, **counts, "left": len(self._batch.items) - len(done), "aside": aside}


def rating_log(store: Store, dataset: int) -> RatingLog:
    """What stands of the ratings of a dataset."""
    return read_rating_log(store.annotations.entries(kind=KINDS), dataset)


def labels_given(log: RatingLog) -> dict[tuple[str, int, str], tuple[str, ...]]:
    """By run, text and version the labels of raters who are not set aside."""
    found: dict[tuple[str, int, str], tuple[str, ...]] = {}
    for one in log.kept():
        if one.item.sample is not None:
            key = one.item.run, one.item.sample, one.item.version
            found[key] = (*found.get(key, ()), one.emotion)
    return found


def with_labels(version: Version, sample: int, given: Mapping[tuple[str, int, str], tuple[str, ...]]) -> Version:
    """The version with the labels that were given here behind those that it came with."""
    human, neutral = (given.get((version.writer.run, sample, name), ()) for name in (EMOTIONAL, NEUTRAL))
    if not human and not neutral:
        return version
    return msgspec.structs.replace(
        version, human=(*version.human, *human), human_neutral=(*version.human_neutral, *neutral)
    )


def begin(store: Store, dataset: int, rater: str, options: RatingOptions) -> Sitting:
    """The rater's batch that is not finished, else a new one.

    Raises:
        BadInput: nothing is left for this rater to rate, or there is nothing to rate at all.
    """
    if not rater.strip():
        raise BadInput("who rates? the name is blank")
    held = dataset_of(store, dataset)
    writers = writers_of(store, dataset)
    by_text = all_versions(store, writers)
    golds = {
        number: msgspec.json.decode(record, type=GenerationGold) for number, record in store.samples.of_dataset(dataset)
    }
    labels = choices([gold.label for gold in golds.values()])
    log = rating_log(store, dataset)
    batch = log.open_batch(rater)
    if batch is None:
        if rater in log.aside():
            raise BadInput(f"{rater} failed attention checks and is set aside: somebody else has to rate")
        made_up = invented(held, writers)
        items, valid = offered(by_text, log, options, count_kept=not made_up)
        own = {one.item for one in log.ratings if one.rater == rater}
        seed = f"{dataset} {rater} {len(log.batches)}"
        found = drawn(items, valid, on_their_way(log, rater), own, labels, options, seed)
        if not found:
            why = "no version has been written yet" if not items else f"nothing is left for {rater} to rate"
            raise BadInput(why)
        entry = Batch(dataset, tuple(found), options.allowed)
        number = store.annotations.append(BATCH, None, rater, msgspec.json.encode(entry))
        batch = msgspec.structs.replace(entry, rater=rater, number=number)
    texts = [_words(one, by_text) for one in batch.items]
    return Sitting(store, batch, texts, labels, log)


def choices(targets: Sequence[str]) -> list[str]:
    """What a rater chooses among: the targets in the alphabet, and neutral."""
    named = {folded(target): target for target in targets}
    named.setdefault(NEUTRAL, NEUTRAL)
    return [named[name] for name in sorted(named)]


def offered(
    by_text: Mapping[int, Sequence[Version]], log: RatingLog, options: RatingOptions, *, count_kept: bool
) -> tuple[list[Item], dict[Item, int]]:
    """What can be rated, and how many labels each has already of raters who are not set aside.

    Args:
        count_kept: labels that versions came with count too; those of invented raters do not.
    """
    given = labels_given(log)
    items: list[Item] = []
    valid: dict[Item, int] = {}
    for sample, versions in by_text.items():
        for one in versions:
            for name, text, labels in (
                (EMOTIONAL, one.emotional, one.human),
                (NEUTRAL, one.neutral, one.human_neutral),
            ):
                if text and not one.silent and options.which in (name, "mixed"):
                    item = Item(name, sample, one.writer.run)
                    items.append(item)
                    came_with = len(labels) if count_kept else 0
                    valid[item] = came_with + len(given.get((one.writer.run, sample, name), ()))
    return items, valid


def on_their_way(log: RatingLog, rater: str) -> dict[Item, int]:
    """How many ratings of each thing other raters, who are not set aside, have begun a batch with and not given yet."""
    aside = log.aside()
    found: Counter[Item] = Counter()
    for batch in log.batches.values():
        if batch.rater != rater and batch.rater not in aside:
            done = log.of_batch(batch.number)
            found.update(one for at, one in enumerate(batch.items) if at not in done and not one.check)
    return dict(found)


def _words(item: Item, by_text: Mapping[int, Sequence[Version]]) -> str:
    if item.check:
        return CHECK_WORDS.format(label=item.asked)
    of = next((one for one in by_text.get(item.sample or 0, ()) if one.writer.run == item.run), None)
    if of is None:
        return ""
    return of.emotional if item.version == EMOTIONAL else of.neutral


def options_from(value: object) -> RatingOptions:
    """What was remembered; whatever in it makes no sense any more is left at its default."""
    try:
        found = msgspec.convert(value, RatingOptions)
    except msgspec.ValidationError:
        return RatingOptions()
    sound = 1 <= found.size <= 1000 and 0 <= found.checks <= 1 and found.wanted >= 1 and found.allowed >= 0
    return found if sound else RatingOptions(size=SIZE)


def changed_options(options: RatingOptions, given: Mapping[str, object]) -> RatingOptions:
    """The options with what is not None in place of theirs."""
    return msgspec.convert(
        msgspec.to_builtins(options) | {name: value for name, value in given.items() if value is not None},
        RatingOptions,
    )
