"""Chains of rephrasings as records: out of the annotation log, and into it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import as_file, files

import msgspec

from emotui.errors import BadInput
from emotui.formats import capped, fingerprint, read
from emotui.records import Attempt, Chain, ClassGold
from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.tasks.rephrase.task import Rephrase
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.datasets.whole_records import add_own_samples
from emotui.workbench.rephrase.log import (
    ATTEMPT,
    FROM_A_FILE,
    SKIP,
    AttemptEntry,
    ClassifierMark,
    Entry,
    Made,
    ReviewEntry,
    SkipEntry,
    confirmed,
    made,
    read_log,
    rounds,
)
from emotui.workbench.rephrase.originals import keep_labels, verdicts_kept
from emotui.workbench.rephrase.views import counters, state_of

REPHRASE = Rephrase.name

SAMPLE_ANNOTATOR = "sample"
"""Whose chains those of the sample data are."""


def chains_of(
    store: Store,
    dataset: Dataset,
    samples: Mapping[int, ClassGold],
    entries: Sequence[Entry],
    *,
    confirmed_only: bool = False,
    annotator: str | None = None,
    identity: str | None = None,
) -> list[Chain]:
    """One chain for each text of the dataset, in file order, as one round left them.

    Of several annotators who worked on a text, the one who began first counts; one who closed the chain goes before
    one who did not. Texts that nobody rephrased have chains without attempts.

    Args:
        entries: of the log, those in force.
        confirmed_only: leave out attempts that no reviewer, or not more than half of them, confirmed.
        annotator: only this one's work.
        identity: the round's classifier; None: that of the last attempt or skip.

    Raises:
        BadInput: there is no such annotator, or classifier.
    """
    marks = rounds(entries)
    people = annotators(entries)
    if annotator is not None and annotator not in people:
        raise BadInput(
            f"{annotator!r} has rephrased nothing of {dataset.name}; who has: {', '.join(people) or 'nobody'}"
        )
    if identity is None:
        own = [e for e in entries if not isinstance(e.content, ReviewEntry) and annotator in (None, e.annotator)]
        last = own[-1].content if own else None
        identity = None if last is None or isinstance(last, ReviewEntry) else last.model.identity
    mark = next((one for one in marks if one.identity == identity), None)
    if identity is not None and mark is None:
        raise BadInput(f"nothing of {dataset.name} was rephrased against a classifier of the identity {identity[:12]}")
    verdicts = {} if mark is None else verdicts_kept(store, dataset, mark.identity, samples)
    passed = confirmed(entries, samples) if confirmed_only else None
    work = {who: made(entries, who, mark.identity) for who in people} if mark is not None else {}
    return [
        _chain(
            sample,
            *_chosen(number, sample, work, annotator, counters(dataset)),
            verdicts.get(number, (None,))[0],
            mark,
            passed,
        )
        for number, sample in samples.items()
    ]


def annotators(entries: Sequence[Entry]) -> list[str]:
    """Those who rephrased or skipped something, in the order in which they began."""
    return list(dict.fromkeys(entry.annotator for entry in entries if not isinstance(entry.content, ReviewEntry)))


def _chosen(
    number: int, sample: ClassGold, work: Mapping[str, Mapping[int, Made]], annotator: str | None, counter_test: bool
) -> tuple[str | None, Made]:
    """Whose chain of a text counts, and that chain."""
    there = [(who, done[number]) for who, done in work.items() if number in done and annotator in (None, who)]
    if not there:
        return None, Made()
    closed = [(who, one) for who, one in there if _state(sample.gold, one, counter_test) != "open"]
    return min(closed or there, key=lambda pair: pair[1].began)


def _state(label: str, one: Made, counter_test: bool) -> str:
    said = tuple(_as_gold(entry.predicted, label) for _, entry in one.attempts)
    return state_of(label, said, skipped=one.skipped, counters=counter_test)


def _chain(
    sample: ClassGold,
    who: str | None,
    one: Made,
    predicted: str | None,
    mark: ClassifierMark | None,
    passed: "set[int] | None",
) -> Chain:
    return Chain(
        id=sample.id,
        text=sample.text,
        label=sample.gold,
        attempts=tuple(
            Attempt(
                text=entry.text,
                predicted=_as_gold(entry.predicted, sample.gold),
                confidence=entry.confidence,
                suggested=entry.suggested,
                similarity=entry.similarity,
            )
            for number, entry in one.attempts
            if passed is None or number in passed
        ),
        predicted=None if predicted is None else _as_gold(predicted, sample.gold),
        skipped=one.skipped,
        annotator=who,
        model=None if mark is None or mark.identity.startswith(FROM_A_FILE) else mark.spec,
        identity=None if mark is None else mark.identity,
    )


def _as_gold(predicted: str, label: str) -> str:
    """The gold label as it is written in the data, where the classifier writes the same one otherwise."""
    return label if predicted.casefold() == label.strip().casefold() else predicted


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import brought: the dataset, and how many chains and attempts were new to it."""

    dataset: Dataset
    chains: int
    attempts: int


def add_chains(
    store: Store, dataset: Dataset, samples: Mapping[int, ClassGold], chains: Sequence[Chain], annotator: str
) -> Imported:
    """Bring chains into the log of a dataset that has their texts, all or none of them.

    A chain whose annotator has worked on its text against its classifier already is left out, so that importing a
    file twice changes nothing.

    Args:
        annotator: of chains that name none.

    Raises:
        BadInput: a chain of an id that the dataset does not have, or has with another text or label.
    """
    numbers = {sample.id: number for number, sample in samples.items()}
    problems = [
        f"{chain.id}: {dataset.name} has no such text with this label"
        for chain in chains
        if chain.id not in numbers
        or (samples[numbers[chain.id]].text, samples[numbers[chain.id]].label) != (chain.text, chain.label)
    ]
    if problems:
        raise BadInput(*capped(problems))
    unknown = FROM_A_FILE + fingerprint(chains)[:16]
    there = {
        (entry.sample, entry.annotator, entry.content.model.identity)
        for entry in read_log(store.annotations.entries(), samples).all()
        if not isinstance(entry.content, ReviewEntry)
    }
    rows: list[tuple[str, int | None, str, bytes]] = []
    labels: dict[str, dict[int, str]] = {}
    new = 0
    for chain in chains:
        number, who = numbers[chain.id], chain.annotator or annotator
        mark = ClassifierMark(spec=chain.model or "a file", identity=chain.identity or unknown)
        if chain.predicted is not None:
            labels.setdefault(mark.identity, {})[number] = chain.predicted
        if (number, who, mark.identity) in there or not (chain.attempts or chain.skipped):
            continue
        new += 1
        rows += [(ATTEMPT, number, who, _attempt(attempt, mark)) for attempt in chain.attempts]
        if chain.skipped:
            rows.append((SKIP, number, who, msgspec.json.encode(SkipEntry(model=mark, round=0))))
    for identity, said in labels.items():
        keep_labels(store, dataset, identity, said)
    if rows:
        store.annotations.append_all(rows)
    return Imported(dataset, new, sum(kind == ATTEMPT for kind, _, _, _ in rows))


def _attempt(attempt: Attempt, mark: ClassifierMark) -> bytes:
    entry = AttemptEntry(
        text=attempt.text,
        predicted=attempt.predicted,
        confidence=attempt.confidence,
        model=mark,
        round=0,
        suggested=attempt.suggested,
        similarity=attempt.similarity,
    )
    return msgspec.json.encode(entry)


def texts_of(chains: Sequence[Chain]) -> list[ClassGold]:
    """The originals of chains, as samples of a dataset."""
    return [ClassGold(id=chain.id, text=chain.text, label=chain.label) for chain in chains]


def import_chains(
    store: Store, chains: Sequence[Chain], name: str, source: str, annotator: str = "imported"
) -> Imported:
    """Bring chains into the dataset of this name, or add their originals as one where there is none.

    Raises:
        BadInput: the dataset is of another task, or lacks one of the originals.
    """
    dataset = store.datasets.get(name)
    if dataset is None or dataset.task != Rephrase.name:
        dataset = add_samples(store, Rephrase.name, name, texts_of(chains), source)
    return add_chains(store, dataset, stored_texts(store, dataset), chains, annotator)


def stored_texts(store: Store, dataset: Dataset) -> dict[int, ClassGold]:
    """The labelled texts of a dataset by number, in file order: a chain needs a label to lead away from."""
    read = (
        (number, msgspec.json.decode(record, type=ClassGold))
        for number, record in store.samples.of_dataset(dataset.dataset)
    )
    return {number: sample for number, sample in read if sample.label is not None}


def add_sample_rephrasings(store: Store) -> Dataset:
    """Add this package's own texts with their chains, by the annotator `sample`, where they are not there yet."""
    dataset = add_own_samples(store, Rephrase.name)
    with as_file(files("emotui.sample_data") / "rephrasings.jsonl") as path:
        chains = read(str(path), Chain).records
    add_chains(store, dataset, stored_texts(store, dataset), chains, SAMPLE_ANNOTATOR)
    return dataset
