"""Files of rephrasing chains: their sets, statistics and splits, and the way into the store and out of it."""

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from emotui.errors import BadInput, EmotuiError
from emotui.formats import Read, capped, check_not_over, read, write
from emotui.formats.reading import Warn, warn_skipped
from emotui.lexicons import emolex
from emotui.metrics.rephrasing_splits import split_chains
from emotui.metrics.rephrasing_statistics import statistics_report
from emotui.metrics.rephrasings import rephrasing_sets, sets_report
from emotui.metrics.word_distributions import SMOOTHING
from emotui.records import Chain, ClassGold, Text
from emotui.store.store import Store
from emotui.workbench.rephrase.chains import Imported, import_chains
from emotui.workbench.rephrase.originals import check_name, keep_variants, kept_variants
from emotui.workbench.rephrase.records import Rephrased

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
