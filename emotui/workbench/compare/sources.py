"""What can be compared: runs, people and files that are kept beside a dataset, people inside its gold, former gold."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from emotui.errors import BadInput
from emotui.store.query import Dataset, Run
from emotui.store.rows import ResultRow
from emotui.store.store import Store
from emotui.tasks.parts import SaidLine
from emotui.tasks.registry import task_named
from emotui.workbench.datasets.sources import GOLD, PERSON, SETTLED, person_says, sources
from emotui.workbench.runs.elsewhere import source_run
from emotui.workbench.runs.scores import ELSEWHERE, former_gold, scored
from emotui.workbench.texts import read_sample, runs_of, stored_samples

if TYPE_CHECKING:
    import numpy as np

    Values = np.ndarray[tuple[int], np.dtype[np.float64]]
    """(n,) by the place of the sample in its dataset; NaN where there is no value."""

_LOOKED_AT = 300
"""Texts that tell whether gold is the majority of its annotators."""

_IN_GOLD = "in the gold records: gold may rest on the same answers"
_NUMBERS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}

_SAID = ("spans", "label", "labels", "values")
"""The keys of a record under which gold stands."""


class Compared(msgspec.Struct, frozen=True):
    """A source that has a value for samples of a dataset. `kind`: gold, person, settled (the result of an
    adjudication), model or file.

    `key` names it for good: a run's id, `person:NAME`, or `gold:VERSION`. `told`: what else tells it from others of its
    name (way and date). `n`: about how many texts it says something. `run`: where it is kept beside the others.
    """

    key: str
    name: str
    kind: str
    told: str = ""
    n: int = 0
    run: str | None = None


def comparable(store: Store, dataset: Dataset) -> list[Compared]:
    """All sources of a dataset that answer the task it is read as, runs first, the newest before the others; today's
    gold is what they are scored by.
    """
    with store.together():
        runs = {run.run: run for run in runs_of(store, dataset)}
        named = sources(store, dataset.name)
        versions = store.gold.versions(dataset.dataset)
        formerly = {key: former_gold(store, run) for key, run in runs.items()} if dataset.gold > 1 else {}
    kept, people = [], []
    for one in named:
        if one.run is not None:
            if one.n and one.run in runs:
                run = runs[one.run]
                told = " ".join(filter(None, (_told(run), formerly.get(one.run, ""))))
                kind = SETTLED if one.settled else one.kind
                kept.append(Compared(one.run, one.name, kind, told, one.n, one.run))
        elif one.kind == PERSON:
            people.append(Compared(f"{PERSON}:{one.name}", one.name, PERSON, "in the gold records", one.n))
    former = [
        Compared(f"{GOLD}:{version}", f"gold {version}", GOLD, (made or "")[:10], dataset.n)
        for version, _, made in versions
        if version != dataset.gold and _answered_otherwise(store, dataset, version)
    ]
    return [*kept, *people, *former]


_otherwise: dict[tuple[str, int, str, str, int, int], bool] = {}
"""What `_answered_otherwise` has seen: the store's path, the dataset's number, fingerprint and task, both versions."""


def _answered_otherwise(store: Store, dataset: Dataset, version: int) -> bool:
    """Does a former version of gold answer the dataset's task otherwise than today's, and not only another question?"""
    key = str(store.path), dataset.dataset, dataset.fingerprint, dataset.task, dataset.gold, version
    if key not in _otherwise:
        _otherwise[key] = _differs(store, dataset, version)
    return _otherwise[key]


def _differs(store: Store, dataset: Dataset, version: int) -> bool:
    task, former = task_named(dataset.task), store.gold.former(dataset.dataset, version)
    for number, record in store.samples.records(sorted(former)):
        sample = read_sample(store, dataset, record)
        try:
            before, now = (task.taken(sample, _said(json)) for json in (former[number], record))
        except (BadInput, ValueError):
            return True  # what cannot be read as an answer is told where it is compared
        if before != now:
            return True
    return False


def _said(record: bytes) -> dict[str, Any]:
    """What gold says in a record, by the keys of records."""
    read = msgspec.json.decode(record, type=dict[str, Any])
    return {key: read[key] for key in _SAID if key in read}


def _told(run: Run) -> str:
    """Way, seed where it is not the usual one, and when it began."""
    seed = run.config.get("seed")
    parts = [str(run.config.get("way") or ""), f"seed {seed}" if seed else "", run.started[:16].replace("T", " ")]
    return " ".join(part for part in parts if part)


def source_named(store: Store, dataset: Dataset, name: str) -> Compared:
    """The source of this key or name, or whose run's id begins so.

    Raises:
        BadInput: there is none, or there are several.
    """
    found = fitting(store, dataset, name)
    if len(found) > 1:
        raise BadInput(f"{name!r} may be any of {', '.join(one.key for one in found)}")
    if not found:
        there = ", ".join(dict.fromkeys(one.name for one in comparable(store, dataset))) or "none"
        raise BadInput(f"{dataset.name} has no source {name!r} to compare; it has: {there}")
    return found[0]


def fitting(store: Store, dataset: Dataset, name: str) -> list[Compared]:
    """The sources of this key or name, or whose run's id begins so."""
    known = comparable(store, dataset)
    found = [one for one in known if one.key == name] or [one for one in known if one.name == name]
    if not found and (run := source_run(store, dataset, name)) is not None:
        found = [one for one in known if one.run == run.run]
    return found


def task_answered(store: Store, dataset: Dataset, names: Iterable[str | None]) -> str:
    """The task that all of these sources answer: the dataset's own, or another that its runs were asked for.

    Raises:
        BadInput: there is no such source, or no task that all of them answer.
    """
    tasks = dict.fromkeys([dataset.task, *(run.task for run in store.runs.all(dataset.dataset))])
    answers: dict[str, list[str]] = {}
    for name in dict.fromkeys(name for name in names if name is not None):
        answers[name] = [task for task in tasks if fitting(store, dataset.read_as(task), name)]
        if not answers[name]:
            known = [one for task in tasks for one in comparable(store, dataset.read_as(task))]
            there = ", ".join(dict.fromkeys(one.name for one in known if one.kind != GOLD)) or "none"
            raise BadInput(f"{dataset.name} has no source {name!r}; it has: {there}")
    shared = [task for task in tasks if all(task in own for own in answers.values())]
    if not shared:
        each = ", ".join(f"{name} answers {' and '.join(own)}" for name, own in answers.items())
        raise BadInput(f"{each}: these cannot be compared with each other")
    return shared[0]


def gold_note(store: Store, dataset: Dataset, compared: Iterable[Compared]) -> str:
    """What has to be known of the gold that figures of these are by, in words; empty: nothing.

    Figures of a run may be under a former version of gold, and a person may have made the gold that scores them.
    """
    compared = tuple(compared)
    notes = [f"{one.name} is {words}" for one in compared if (words := part_of_gold(store, dataset, one))]
    if dataset.gold > 1:
        runs = [one.run for one in compared if one.run is not None]
        under = {run: former_gold(store, store.runs.get(run)) for run in runs}
        notes += [f"{run} is {words}: emotui rescore {run}" for run, words in under.items() if words]
    return "; ".join(notes)


def with_gold(document: dict[str, Any], note: str) -> dict[str, Any]:
    """The document of a comparison with what has to be known of gold among its notes."""
    return document | {"notes": {**(document.get("notes") or {}), "gold": note}} if note else document


def part_of_gold(store: Store, dataset: Dataset, source: Compared) -> str:
    """What a person is to the gold that scores them, in words that go on after `is`; empty of any other source.

    Gold is the majority where that is so of each of the first 300 texts: the labels that more than half of a text's
    annotators give are just those of gold.
    """
    if source.kind != PERSON or source.run is not None:
        return ""
    sizes = set()
    for _, record in store.samples.of_dataset(dataset.dataset, 0, _LOOKED_AT):
        read = msgspec.json.decode(record, type=dict[str, Any])
        people = [_labels_given(one) for one in (read.get("annotators") or {}).values()]
        gold = _labels_given(read.get("labels", read.get("label")))
        if gold is None or not people:
            continue
        votes = Counter(label for one in people for label in one or ())
        if None in people or {label for label, n in votes.items() if 2 * n > len(people)} != gold:
            return _IN_GOLD
        sizes.add(len(people))
    if not sizes:
        return _IN_GOLD
    n = sizes.pop() if len(sizes) == 1 else 0
    which = _NUMBERS.get(n, str(n)) if n else "annotators"
    return f"one of gold's {which}: gold is their majority vote, with this one counted"


def _labels_given(said: object) -> set[str] | None:
    """The labels of an answer as records have it; None where it is of no labels."""
    if isinstance(said, str):
        return {said}
    if isinstance(said, Mapping):
        plain = all(isinstance(one, int) for one in said.values())
        return {str(label) for label, one in said.items() if one} if plain else None
    labels = isinstance(said, list) and all(isinstance(one, str) for one in said)
    return set(said) if isinstance(said, list) and labels else None


def values_of(store: Store, dataset: Dataset, source: Compared, metric: str) -> "Values":
    """What a source scored at each sample, of several repeats the mean. Sim of people inside the gold is left out."""
    if source.run is not None:
        return store.listing.metric_means(dataset.dataset, source.run, metric)
    return scored_now(store, dataset, source).get(metric, nothing(dataset.n))


def nothing(n: int) -> "Values":
    """(n,) NaN, where there is no value."""
    import numpy as np

    return np.full(n, np.nan)


def details_of(store: Store, dataset: Dataset, source: Compared) -> dict[tuple[int, int], str | bytes]:
    """By the number of the sample and the repeat what is kept of each score."""
    if source.run is not None:
        found = store.results.outcomes(source.run)
        return {(one.sample, one.repeat): one.detail for one in found if one.detail is not None}
    rows = rows_now(store, dataset, source)
    return {(row.sample, row.repeat): row.score.detail for row in rows if row.score is not None}


def error_letters(store: Store, dataset: Dataset, source: Compared) -> dict[int, str]:
    """By the number of each sample that has a value the letters of its errors, over repeats."""
    if source.run is not None:
        import numpy as np

        found = store.list_rows.values_and_marks(np.array(store.samples.file_order(dataset.dataset)), source.run)
    else:
        rows = rows_now(store, dataset, source)
        found = {row.sample: (dict(row.score.values), row.score.marks) for row in rows if row.score is not None}
    return {key: letters for key, (values, letters) in found.items() if any(one is not None for one in values.values())}


def rows_now(store: Store, dataset: Dataset, source: Compared) -> list[ResultRow]:
    """What one whose scores are not kept says, scored."""
    samples = dict(stored_samples(store, dataset, dataset.n))
    said = says(store, dataset, source)
    rows = [
        ResultRow(number, 0, 0, None, msgspec.json.encode(keys).decode(), None, 0.0) for number, keys in said.items()
    ]
    return scored(task_named(dataset.task), ELSEWHERE, rows, samples, None)


def lines_now(store: Store, dataset: Dataset, source: Compared, number: int) -> tuple[SaidLine, ...]:
    """What one that is not kept beside the dataset says of a sample, beside gold; nothing where it says nothing."""
    keys = says(store, dataset, source).get(number)
    if keys is None:
        return ()
    task = task_named(dataset.task)
    ((_, record),) = store.samples.records([number])
    sample = read_sample(store, dataset, record)
    row = ResultRow(number, 0, 0, None, msgspec.json.encode(keys).decode(), None, 0.0)
    (found,) = scored(task, ELSEWHERE, [row], {number: sample}, None)
    if found.prediction is None:
        return ()
    return task.said(sample, msgspec.json.decode(found.prediction, type=task.prediction))


def scored_now(store: Store, dataset: Dataset, source: Compared) -> dict[str, "Values"]:
    """The values of one whose scores are not kept, by metric; none of Sim."""
    found: dict[str, Values] = {}
    first = store.samples.file_order(dataset.dataset).start
    for row in rows_now(store, dataset, source):
        for name, value in {} if row.score is None else row.score.values.items():
            if value is not None:
                found.setdefault(name, nothing(dataset.n))[row.sample - first] = value
    return found


def says(store: Store, dataset: Dataset, source: Compared) -> Mapping[int, Mapping[str, Any]]:
    """What one inside the gold records, or former gold, says: by the number of the sample, by the keys of records."""
    kind, _, name = source.key.partition(":")
    if kind == PERSON:
        return person_says(store, dataset, name)
    records = dict(store.samples.of_dataset(dataset.dataset)) | store.gold.former(dataset.dataset, int(name))
    return {number: keys for number, record in records.items() if (keys := _said(record))}
