"""What a source says of the texts of a dataset, as what gold would say of them: every kind that it speaks of."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from emotui.errors import BadInput
from emotui.formats import checks
from emotui.formats.rows import literal
from emotui.store.query import Dataset, Run
from emotui.store.store import Store
from emotui.tasks.registry import task_named
from emotui.tasks.task import Task
from emotui.tasks.texts import record_json, said_of_text, sample_of_text
from emotui.workbench.runs.elsewhere import source_run
from emotui.workbench.runs.scores import last_attempts
from emotui.workbench.texts import stored_samples

PERSON, FILE = "person", "file"

_LABELS = ("labels", "label")
"""A text's labels are of one kind, whether it may have several or one."""

_KINDS: Mapping[str, Sequence[str]] = {"spans": ("spans",), "labels": _LABELS, "values": ("values",)}
"""What may be said beside what a source's own task is about, by the task that reads it; and under which keys."""

_OWN: Mapping[str, set[str]] = {
    "spans": {"spans"},
    "evidence": {"spans"},
    "labels": set(_LABELS),
    "scenes": set(_LABELS),
    "class": set(_LABELS),
    "values": {"values"},
    "masked": {"labels"},
}
"""By the kind of a task's records the keys that its own answers are said under."""

_NOT_GOLD = {"note": "notes", "skipped": "texts passed over"}
"""What people say that gold has no place for, and what it is called."""


@dataclass(frozen=True, slots=True)
class Golds:
    """All samples of a dataset with a source as gold.

    Attributes:
        told: the source.
        without: the ids that it says nothing about; these samples stay as they are.
        notes: a line for what is taken beside the answers of its task, and one for what is not.
        fault: why it cannot be gold; empty: it can.
    """

    told: str
    samples: list[Any]
    without: list[str]
    notes: tuple[str, ...] = ()
    fault: str = ""


def as_gold(store: Store, dataset: Dataset, name: str) -> Golds:
    """A source of a dataset as gold; nothing is kept.

    A kind of which it says something (spans, labels of texts, numbers) is replaced in all texts that it answered: what
    gold said of that kind there goes. Of numbers those of the names that it says.

    Raises:
        BadInput: there is no such source.
    """
    run = source_run(store, dataset, name)
    asked = dataset if run is None else dataset.read_as(run.task)
    task, kept_as = task_named(asked.task), task_named(dataset.kept_as)
    samples = dict(stored_samples(store, asked, dataset.n))
    predictions, keys, told = _predictions(store, asked, task, name, run, samples)
    beside = _Beside(task, keys)
    golds = Golds(told, [], [])
    kept = dict(stored_samples(store, dataset.read_as(dataset.kept_as), dataset.n))
    for number, sample in samples.items():
        if number not in predictions:
            golds.without.append(sample.id)
            golds.samples.append(kept[number])
            continue
        try:
            gold = task.as_gold(sample, predictions[number])
            if task.name != kept_as.name or beside:
                # What the answer is of is said anew, and all else that is said of the text stays.
                gold = _sample(kept_as, beside.added(said_of_text(task, record_json(gold)), keys.get(number, {})))
        except (BadInput, ValueError, TypeError) as problem:
            return replace(golds, fault=str(problem))
        if (why := checks.fault(gold)) is not None:
            return replace(golds, fault=f"{told} cannot be made gold: {gold.id}: {why}")
        golds.samples.append(gold)
    return replace(golds, notes=beside.notes())


def _sample(kept_as: Task, said: Mapping[str, Any]) -> Any:
    """A text as its store keeps it. Its label is not taken for the emotion of a passage, of which nothing is said."""
    found = sample_of_text(kept_as, said)
    passage = "emotion" in type(found).__struct_fields__ and "emotion" not in said
    return msgspec.structs.replace(found, emotion=None) if passage else found


@dataclass(slots=True)
class _Beside:
    """What a source says beside the answers of its own task; false where that is nothing.

    `names`: of numbers that it says anywhere. `taken`: by key or name of a number in how many texts.
    """

    task: Task
    keys: Mapping[int, Mapping[str, Any]]
    kinds: tuple[str, ...] = ()
    names: dict[str, None] = field(default_factory=dict)
    taken: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        own = _OWN.get(self.task.files.kind, set())
        there = {key for said in self.keys.values() for key, value in said.items() if value not in (None, {})}
        self.kinds = tuple(kind for kind, keys in _KINDS.items() if not own & set(keys) and there & set(keys))
        if "values" in self.kinds:
            self.names = dict.fromkeys(name for said in self.keys.values() for name in said.get("values") or ())

    def __bool__(self) -> bool:
        return bool(self.kinds)

    def added(self, said: Mapping[str, Any], keys: Mapping[str, Any]) -> dict[str, Any]:
        """A text with what is said of it under `keys` in place of what gold says of these kinds.

        Raises:
            ValueError: it does not fit the text.
        """
        found = dict(said)
        for kind in self.kinds:
            there = {key: keys[key] for key in _KINDS[kind] if keys.get(key) is not None}
            if kind == "values":
                old = {
                    name: value for name, value in (found.pop("values", None) or {}).items() if name not in self.names
                }
                numbers = {str(name): float(value) for name, value in (there.get("values") or {}).items()}
                found |= {"values": old | numbers} if old or numbers else {}
                self._count(numbers)
                continue
            for key in _KINDS[kind]:
                found.pop(key, None)
            if set(there) == {"label"}:
                found |= {"label": str(there["label"])}
            elif there:
                task = task_named(kind)
                sample = sample_of_text(task, found)
                read = said_of_text(task, record_json(task.as_gold(sample, task.taken(sample, there))))
                found |= {kind: read.get(kind, [])} | {key: there[key] for key in there if key == "label"}
            self._count([kind] if there else [])
        return found

    def _count(self, names: Collection[str]) -> None:
        for name in names:
            self.taken[name] = self.taken.get(name, 0) + 1

    def notes(self) -> tuple[str, ...]:
        """What is taken beside, in how many texts; and what is not."""
        left = {word: sum(bool(said.get(key)) for said in self.keys.values()) for key, word in _NOT_GOLD.items()}
        lines = [f"{literal(name)} ({n:,} text{'s' * (n != 1)})" for name, n in self.taken.items()]
        stay = [f"{word} ({n:,})" for word, n in left.items() if n]
        return (
            *([f"taken too: {', '.join(lines)}, in place of what gold said of it"] if lines else []),
            *([f"not taken into gold: {', '.join(stay)}"] if stay else []),
        )


def _predictions(
    store: Store, dataset: Dataset, task: Task, name: str, run: Run | None, samples: Mapping[int, Any]
) -> tuple[Mapping[int, Any], Mapping[int, Mapping[str, Any]], str]:
    """What a source says by the number of the sample, of several repeats in the first: as the task reads it, and by the
    keys of records, which a model has none of; and its name.
    """
    if run is None:
        own = person_says(store, dataset, name)
        keys = {
            number: {**also, **own.get(number, {})} for number, also in _beside_in_gold(store, dataset, name).items()
        }
        return {number: task.taken(samples[number], said) for number, said in own.items()}, own | keys, name
    rows = [
        row for row in last_attempts(store.results.of_run(run.run)) if row.prediction is not None and row.repeat == 0
    ]
    told = rows if run.source in (PERSON, FILE) else []
    return (
        {row.sample: msgspec.json.decode(row.prediction or "", type=task.prediction) for row in rows},
        {row.sample: msgspec.json.decode(row.raw, type=dict[str, Any]) for row in told if row.raw},
        run.run,
    )


def said_beside(store: Store, run: Run, kind: str) -> dict[int, Mapping[str, Any]]:
    """What a person or a file says of labels or numbers of whole texts beside the answers of its own task, such as
    spans: by the number of the sample, by the keys of records, of several repeats in the first. A model says nothing.

    Args:
        kind: the task that reads it.
    """
    keys = _KINDS.get(kind, ())
    own = _OWN.get(task_named(run.task).files.kind, set())
    found: dict[int, Mapping[str, Any]] = {}
    if run.source not in (PERSON, FILE) or not keys or own & set(keys):
        return found
    for row in last_attempts(store.results.of_run(run.run)):
        if row.prediction is None or row.repeat or not row.raw:
            continue
        said = msgspec.json.decode(row.raw)
        there = {key: said[key] for key in keys if said.get(key) not in (None, {})} if isinstance(said, dict) else {}
        if there:
            found[row.sample] = there
    return found


class _Annotated(msgspec.Struct):
    annotators: dict[str, Any] = {}


class _Meta(msgspec.Struct):
    meta: dict[str, Any] = {}


def person_says(store: Store, dataset: Dataset, name: str) -> dict[int, Mapping[str, Any]]:
    """What a person says inside the gold records, by the number of the sample and the keys of records."""
    found = {
        number: _keys(dataset.task, there[name])
        for number, record in store.samples.of_dataset(dataset.dataset)
        if name in (there := msgspec.json.decode(record, type=_Annotated).annotators)
    }
    if not found:
        people = ", ".join(person for person, _ in store.samples.annotators(dataset.dataset)) or "nobody"
        raise BadInput(
            f"{dataset.name} has no source {name!r} (see: emotui sources; inside its gold records: {people})"
        )
    return found


def people_beside(store: Store, dataset: Dataset, kind: str) -> set[str]:
    """Who says something of a kind inside the gold records that these have no field for."""
    if not store.samples.annotators(dataset.dataset):
        return set()
    found: set[str] = set()
    for _, record in store.samples.of_dataset(dataset.dataset):
        people = msgspec.json.decode(record, type=_Meta).meta.get("annotators")
        for name, said in people.items() if isinstance(people, dict) else ():
            if isinstance(said, dict) and any(said.get(key) not in (None, {}) for key in _KINDS.get(kind, ())):
                found.add(name)
    return found


def _beside_in_gold(store: Store, dataset: Dataset, name: str) -> dict[int, Mapping[str, Any]]:
    """What a person says inside the gold records of what these have no field for."""
    found: dict[int, Mapping[str, Any]] = {}
    for number, record in store.samples.of_dataset(dataset.dataset):
        people = msgspec.json.decode(record, type=_Meta).meta.get("annotators")
        said = people.get(name) if isinstance(people, dict) else None
        if isinstance(said, dict):
            found[number] = said
    return found


def _keys(task: str, said: Any) -> Mapping[str, Any]:
    """What an annotator says, whose bare list is of spans or labels, and whose bare object in scenarios of labels."""
    if isinstance(said, Sequence):
        return {"labels" if task == "labels" else "spans": said}
    return {"labels": said} if task == "scenes" and "labels" not in said else dict(said)
