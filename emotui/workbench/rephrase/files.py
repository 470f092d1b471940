"""Files of rephrasing chains: their sets, statistics and splits, and the way into the store and out of it."""

import itertools
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from emotui.errors import BadInput, EmotuiError
from emotui.formats import Read, capped, check_not_over, read, write
from emotui.formats.reading import Warn, warn_skipped
from emotui.lexicons import emolex
from emotui.metrics.rephrasing_splits import split_chains
from emotui.metrics.rephrasing_statistics import statistics_report
from emotui.metrics.rephrasings import rephrasing_sets, sets_report
from emotui.metrics.word_distributions import SMOOTHING
from emotui.records import Chain, ClassGold, Text
from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.tasks.rephrase.task import Rephrase
from emotui.workbench.rephrase.chains import Imported, chains_of, import_chains, stored_texts
from emotui.workbench.rephrase.log import (
    REVIEW,
    UNDO,
    ClassifierMark,
    Log,
    ReviewEntry,
    check_review,
    last_review,
    numbered,
    review_queue,
    reviews_report,
)
from emotui.workbench.rephrase.originals import check_name, keep_variants, kept_variants
from emotui.workbench.rephrase.views import ReviewItem

# What was rephrased, as the store keeps it: the log, chains, reviews and figures, without any model.

TASK = Rephrase.name


class Rephrased:
    """Reads and adds to a store. Every method may be called from any thread, and raises EmotuiError in one line."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._lock = threading.Lock()
        self._samples: dict[int, tuple[str, dict[int, ClassGold]]] = {}
        self._logs: dict[int, tuple[object, Log]] = {}

    def datasets(self) -> list[Dataset]:
        """Those whose texts can be rephrased."""
        return [dataset for dataset in self.store.datasets.all() if dataset.task == TASK]

    def dataset(self, key: str | int) -> Dataset:
        """The dataset of that name or number. Raises BadInput where there is none, or it is of another task."""
        found = self.store.datasets.get(key)
        if found is None or found.task != TASK:
            there = ", ".join(dataset.name for dataset in self.datasets()) or "none yet"
            what = "there is no dataset" if found is None else "this is a dataset of another task"
            raise BadInput(f"{key}: {what}; texts to rephrase are in: {there}")
        return found

    def samples(self, dataset: Dataset) -> dict[int, ClassGold]:
        """By number, in file order. They are read once, and again where their gold was replaced."""
        with self._lock:
            mark, known = self._samples.get(dataset.dataset, ("", {}))
        if mark != dataset.fingerprint:
            known = stored_texts(self.store, dataset)
            with self._lock:
                self._samples[dataset.dataset] = dataset.fingerprint, known
        return known

    def text(self, number: int) -> ClassGold:
        """One text, without reading the others. Raises BadInput where there is none."""
        found = self.store.samples.records([number])
        if not found:
            raise BadInput(f"there is no text {number}")
        return msgspec.json.decode(found[0][1], type=ClassGold)

    def log(self, dataset: Dataset) -> Log:
        """The log about this dataset. What is new in the store is read when something was written to it."""
        marker = self.store.marker()
        numbers = self.samples(dataset).keys()
        with self._lock:
            kept, log = self._logs.setdefault(dataset.dataset, (None, Log()))
            if kept != marker:
                log.take(self.store.annotations.entries(after=log.last), numbers)
                self._logs[dataset.dataset] = (marker, log)
            return log

    # A second pair of eyes.

    def review_queue(self, dataset: str | int, reviewer: str) -> list[ReviewItem]:
        """Rephrasings that others wrote and this person has not judged, without what the classifier said to them."""
        found = self.dataset(dataset)
        return review_queue(self.log(found).in_force(), self.samples(found), reviewer.strip())

    def review(
        self, dataset: str | int, reviewer: str, attempt: int, meaning: bool, emotion: str, *, kept: bool | None = None
    ) -> None:
        """Keep a judgement of one rephrasing; a second one by the same person takes the place of the first.

        Args:
            attempt: `ReviewItem.attempt`.
            meaning: whether the meaning is kept.
            emotion: the emotion that the reviewer sees in the rephrasing, picked without knowing the gold label.
            kept: whether they say that the emotion is the original's; None: it is, where `emotion` is the gold label.

        Raises:
            BadInput: the attempt is their own, or was taken back; the reviewer or the emotion is empty.
        """
        found = self.dataset(dataset)
        who = reviewer.strip()
        of = check_review(self.log(found).in_force(), self.samples(found), who, attempt, emotion)
        entry = ReviewEntry(attempt=attempt, meaning=meaning, emotion=emotion.strip(), kept=kept)
        self.store.annotations.append(REVIEW, of.sample, who, msgspec.json.encode(entry))

    def take_review_back(self, dataset: str | int, reviewer: str) -> int | None:
        """Take this person's last judgement back; `ReviewItem.attempt` of what is to judge again, or None."""
        found = self.dataset(dataset)
        log = self.log(found)
        last = last_review(log, reviewer.strip())
        if last is None or not isinstance(last.content, ReviewEntry):
            return None
        self.store.annotations.append(UNDO, last.sample, reviewer.strip(), b"{}", undoes=log.tip(last.number))
        return last.content.attempt

    def agreement(self, dataset: str | int) -> dict[str, Any]:
        """How far reviewers agree; see `emotui.workbench.rephrase.log.reviews_report`."""
        found = self.dataset(dataset)
        return reviews_report(self.log(found).in_force(), self.samples(found))

    # What comes out of it.

    def rounds(self, dataset: str | int) -> list[ClassifierMark]:
        """The classifiers that something was rephrased against, in the order in which they came: round 1 and on.

        Chains that came from a file which names no classifier are in no round.
        """
        return numbered(self.log(self.dataset(dataset)).all())

    def chains(
        self,
        dataset: str | int,
        *,
        confirmed_only: bool = False,
        annotator: str | None = None,
        identity: str | None = None,
    ) -> list[Chain]:
        """The chains of one round as records, one for each text; see `emotui.workbench.rephrase.chains.chains_of`."""
        found = self.dataset(dataset)
        return chains_of(
            self.store,
            found,
            self.samples(found),
            self.log(found).in_force(),
            confirmed_only=confirmed_only,
            annotator=annotator,
            identity=identity,
        )

    def statistics(
        self,
        dataset: str | int,
        *,
        confirmed_only: bool = False,
        annotator: str | None = None,
        identity: str | None = None,
        variants: Mapping[str, Mapping[str, str]] | None = None,
    ) -> dict[str, Any]:
        """The figures of one round's chains; see `emotui.metrics.rephrasing_statistics.statistics_report`.

        Args:
            variants: further columns; None: those kept in the workspace (`emotui rephrasings variants`).
        """
        chains = self.chains(dataset, confirmed_only=confirmed_only, annotator=annotator, identity=identity)
        if variants is None:
            variants = kept_variants(self.store, self.dataset(dataset))
        return statistics_report(chains, emolex(), variants)


Document = dict[str, Any]


def sets_document(path: str, *, to: str | None = None, skip_bad: bool, warn: Warn) -> Document:
    """The document of `emotui rephrasings sets`.

    Args:
        to: a folder for the sets as files (`1R.jsonl` to `4R.jsonl`), records of class, gold; a set without a record
            has no file.
    """
    chains = _chains(path, skip_bad=skip_bad, warn=warn).records
    document = sets_report(chains, emolex())
    if to is not None:
        named = {name: records for name, records in rephrasing_sets(chains).items() if records}
        document["files"] = {name: str(Path(to) / f"{name}.jsonl") for name in named}
        for file in document["files"].values():
            check_not_over(file, path)
        _make_folder(to)
        for name, records in named.items():
            write(document["files"][name], records)
    return document


def statistics_document(
    path: str,
    variants: Mapping[str, str],
    *,
    smoothing: float = SMOOTHING,
    skip_bad: bool,
    warn: Warn,
) -> Document:
    """The document of `emotui rephrasings statistics`.

    Args:
        variants: a column's name to a file of records with `id` and `text`, each a variant of the original of that id.

    Raises:
        BadInput: a file is bad, a variant is of no chain, or a column has the name of another.
    """
    chains = _chains(path, skip_bad=skip_bad, warn=warn).records
    texts = read_variants(variants, {chain.id for chain in chains}, path, skip_bad=skip_bad, warn=warn)
    return statistics_report(chains, emolex(), texts, smoothing=smoothing)


def read_variants(
    variants: Mapping[str, str], ids: set[str], of: str, *, skip_bad: bool = False, warn: Warn
) -> dict[str, dict[str, str]]:
    """Automatic variants of originals from files: column to (id to text).

    Args:
        ids: those that there are, in `of`.

    Raises:
        BadInput: a file is bad, a variant is of no such id, or a column's name is taken.
    """
    found: dict[str, dict[str, str]] = {}
    for name, file in variants.items():
        check_name(name)
        got = read(file, Text, skip_bad=skip_bad)
        warn_skipped(got, warn)
        strays = [
            f"{file}:{line}: no original has the id {record.id!r} in {of}"
            for record, line in zip(got.records, got.lines, strict=True)
            if record.id not in ids
        ]
        if strays and not skip_bad:
            raise BadInput(*capped(strays))
        for stray in strays:
            warn(f"skipped {stray}")
        found[name] = {record.id: record.text for record in got.records if record.id in ids}
    return found


def import_variants(
    service: Rephrased, dataset: str, variants: Mapping[str, str], *, skip_bad: bool, warn: Warn
) -> Document:
    """Keep files of automatic variants in the workspace, as columns of a dataset's statistics.

    Returns:
        `dataset`, `variants` (all that it has now: name to number of texts).

    Raises:
        BadInput: as `read_variants`, or there is no such dataset.
    """
    found = service.dataset(dataset)
    samples = service.samples(found)
    ids = {sample.id for sample in samples.values()}
    texts = read_variants(variants, ids, found.name, skip_bad=skip_bad, warn=warn)
    if texts:
        keep_variants(service.store, found, samples, texts)
    kept = kept_variants(service.store, found)
    return {"dataset": found.name, "variants": {name: len(of) for name, of in kept.items()}}


def split_files(
    path: str, to: str, shares: Mapping[str, float], *, seed: int = 0, skip_bad: bool, warn: Warn
) -> Document:
    """Split a file of chains, and write each part as `PART.jsonl` (the originals: class, gold) and
    `PART_rephrasings.jsonl` (the chains that have an attempt): what `emotui train classifier` takes.

    Returns:
        `seed`, `parts` (`{name: {originals, rephrased, rephrasings, files}}`).

    Raises:
        BadInput: the file is bad, or has too few chains for the parts.
    """
    names = {part: (str(Path(to) / f"{part}.jsonl"), str(Path(to) / f"{part}_rephrasings.jsonl")) for part in shares}
    for file in itertools.chain.from_iterable(names.values()):
        check_not_over(file, path)
    chains = _chains(path, skip_bad=skip_bad, warn=warn).records
    parts = split_chains(chains, shares, seed)
    empty = [part for part, kept in parts.items() if not kept]
    if empty:
        raise BadInput(f"{path}: {len(chains)} chains are too few: nothing is left for {', '.join(empty)}")
    _make_folder(to)
    document: Document = {"seed": seed, "parts": {}}
    for part, kept in parts.items():
        rephrased = [chain for chain in kept if chain.attempts]
        originals = [ClassGold(id=chain.id, text=chain.text, label=chain.label) for chain in kept]
        files = list(names[part][: 1 + bool(rephrased)])
        write(files[0], originals)
        if rephrased:
            write(files[1], rephrased)
        document["parts"][part] = {
            "originals": len(kept),
            "rephrased": len(rephrased),
            "rephrasings": sum(len(chain.attempts) for chain in rephrased),
            "files": files,
        }
    return document


def export_chains(
    service: Rephrased,
    dataset: str,
    to: str,
    *,
    confirmed_only: bool = False,
    annotator: str | None = None,
    round: int | None = None,
) -> Document:
    """Write the chains of one round as a file, one for each text of the dataset.

    Args:
        round: its number, as the place shows it; None: the one that was worked on last.

    Returns:
        `dataset`, `to`, `chains`, `attempts`, `annotators`, `model`, `round` (null: they came from a file).

    Raises:
        BadInput: there is no such dataset, annotator or round, or nothing was rephrased yet.
    """
    marks = service.rounds(dataset)
    if not service.log(service.dataset(dataset)).in_force():
        raise BadInput(f"{dataset}: nothing was rephrased yet")
    if round is not None and not 1 <= round <= len(marks):
        raise BadInput(f"{dataset} has {len(marks)} rounds, numbered from 1: there is no round {round}")
    identity = None if round is None else marks[round - 1].identity
    check_not_over(to, service.store.path)
    chains = service.chains(dataset, confirmed_only=confirmed_only, annotator=annotator, identity=identity)
    write(to, chains)
    used = chains[0].identity
    return {
        "dataset": dataset,
        "to": to,
        "chains": sum(bool(chain.attempts) or chain.skipped for chain in chains),
        "attempts": sum(len(chain.attempts) for chain in chains),
        "annotators": sorted({chain.annotator for chain in chains if chain.annotator}),
        "model": chains[0].model,
        "round": next((number for number, mark in enumerate(marks, start=1) if mark.identity == used), None),
    }


def import_chain_files(
    store: Store, paths: Sequence[str], name: str | None, annotator: str, *, skip_bad: bool, warn: Warn
) -> Imported:
    """Bring chains from files into the store: their originals as one dataset, and what was written for them.

    Raises:
        BadInput: a file is bad, an id stands in two of them, or the name belongs to other samples.
    """
    chains: list[Chain] = []
    seen: dict[str, str] = {}
    for path in paths:
        got = _chains(path, skip_bad=skip_bad, warn=warn)
        for chain, line in zip(got.records, got.lines, strict=True):
            if chain.id in seen:
                raise BadInput(f"{path}:{line}: the id {chain.id!r} stands in {seen[chain.id]} too")
            seen[chain.id] = path
            chains.append(chain)
    title = name or ("stdin" if paths[0] == "-" else Path(paths[0]).stem)
    return import_chains(store, chains, title, ", ".join(paths), annotator)


def _chains(path: str, *, skip_bad: bool, warn: Warn) -> Read[Chain]:
    got = read(path, Chain, skip_bad=skip_bad)
    warn_skipped(got, warn)
    return got


def _make_folder(to: str) -> None:
    """Make the folder where it is missing."""
    try:
        Path(to).mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise BadInput(f"{to}: is a file, not a folder") from error
    except OSError as error:
        raise EmotuiError(f"{to}: cannot be made: {error.strerror or error}") from error
