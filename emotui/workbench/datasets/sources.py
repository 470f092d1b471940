"""Whoever says something about the texts of a dataset: gold, people, models, files. Any of them can be made gold."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from emotui.backends.host import IsCancelled, ModelProcess
from emotui.errors import BadInput
from emotui.formats import checks, fingerprint
from emotui.formats.reading import Warn
from emotui.formats.rows import literal
from emotui.store.query import Dataset, Run
from emotui.store.store import Store
from emotui.tasks.registry import task_named
from emotui.tasks.task import Task
from emotui.tasks.texts import record_json, said_of_text, sample_of_text
from emotui.workbench.annotate.log import settled_among
from emotui.workbench.datasets import label_maps
from emotui.workbench.datasets.sets import dataset_named
from emotui.workbench.progress import Cancelled, OnProgress, RunProgress
from emotui.workbench.runs.elsewhere import FILE, Said, keep_said, source_run
from emotui.workbench.runs.run import EMBEDDING, rescore
from emotui.workbench.runs.scores import Embedder, last_attempts
from emotui.workbench.runs.states import check_at_rest, with_state
from emotui.workbench.texts import stored_samples

GOLD, PERSON = "gold", "person"

SETTLED = "settled"
"""The kind, among sources that are compared, of the result of an adjudication."""

_NAMED = 3


@dataclass(frozen=True, slots=True)
class Source:
    """One that says something about `n` texts of a dataset. `kind`: gold, person, model or file.

    `run`: under which id it is kept beside the others; None for gold, and for a person whose word stands inside the
    gold records only. `gold`: the version of gold that its scores are of; for gold itself the version that it is.
    `settled`: it is the result of an adjudication, and no further person beside those whose answers it settles.
    """

    name: str
    kind: str
    n: int
    run: str | None = None
    state: str = ""
    gold: int | None = None
    settled: bool = False

    @property
    def is_person(self) -> bool:
        """Whether it is one of the people who are meant where all people are."""
        return self.kind == PERSON and not self.settled


def settled_note(names: Sequence[str]) -> str:
    """What is to be known of results of adjudication where all people are taken."""
    if len(names) == 1:
        return f"{names[0]} is the result of an adjudication, and no person: not counted unless named"
    return f"{', '.join(names)} are results of adjudication, and no people: not counted unless named"


def sources(store: Store, dataset: str) -> list[Source]:
    """Gold, then people, then what is kept beside them, the newest first.

    Raises:
        BadInput: there is no such dataset.
    """
    with store.together():
        found = dataset_named(store, dataset)
        # Who has taken every answer back says nothing.
        runs = [with_state(run) for run in store.runs.all(found.dataset) if run.done or run.source != PERSON]
        taken = {run.model for run in runs if run.source == PERSON}
        people = [
            Source(name, PERSON, n) for name, n in store.samples.annotators(found.dataset) if n and name not in taken
        ]
        under = store.gold.each_scored_under(found.dataset)
        settled = settled_among(store, found, runs)
        kept = [
            Source(run.model, run.source, run.done, run.run, run.state, under.get(run.run), run.run in settled)
            for run in runs
        ]
    return [Source(GOLD, GOLD, found.n, gold=found.gold), *people, *kept]


def take_person(
    store: Store, dataset: str, name: str, *, sim: bool = True, cancelled: IsCancelled | None = None
) -> Run:
    """Keep what a person says inside the gold records as a source of its own, scored; a second time nothing changes.

    Raises:
        BadInput: there is no such dataset, or nobody of that name in it.
    """
    found = dataset_named(store, dataset)
    said = [Said(number, 0, keys) for number, keys in person_says(store, found, name).items()]
    return keep_said(store, found, name, PERSON, said, sim=sim, cancelled=cancelled)


@dataclass(frozen=True, slots=True)
class Proposed:
    """What would happen if a source were made gold: `after` is today's version, `missing` how many texts it is silent
    about, `scored` the runs whose scores are of today's gold, `notes` what is taken beside the answers of its task and
    what is not, and `fault` why it cannot be gold (empty: it can).
    """

    dataset: Dataset
    told: str
    missing: int
    scored: tuple[str, ...]
    fault: str = ""
    notes: tuple[str, ...] = ()


def proposed(store: Store, dataset: str, name: str) -> Proposed:
    """Look at what `make_gold` would do, and change nothing.

    Raises:
        BadInput: there is no such dataset or source.
    """
    found = dataset_named(store, dataset)
    scored = tuple(run.run for run in store.runs.all(found.dataset) if store.gold.scored_under(run.run) is not None)
    golds = _as_gold(store, found, name)
    return Proposed(found, golds.told, len(golds.without), scored, golds.fault, golds.notes)


def make_gold(
    store: Store, dataset: str, name: str, *, keep_missing: bool = False, warn: Warn = lambda line: None
) -> Dataset:
    """Make what a source says the next version of a dataset's gold. Scores keep the version they were computed under.

    Args:
        keep_missing: texts about which the source says nothing keep the gold that they have.
        warn: told what is taken beside the answers of the source's task, and what is not.

    Raises:
        BadInput: there is no such dataset or source, it says nothing about some texts, its word cannot be gold, or a
            run over the dataset is going on.
    """
    found = dataset_named(store, dataset)
    check_at_rest(store.runs.all(found.dataset))
    golds = _as_gold(store, found, name)
    if golds.fault:
        raise BadInput(golds.fault)
    if golds.without and not keep_missing:
        first = ", ".join(map(repr, golds.without[:_NAMED])) + (", …" if len(golds.without) > _NAMED else "")
        raise BadInput(
            f"{golds.told} says nothing about {len(golds.without)} of {found.n} texts ({first}): "
            "with --keep-missing these keep the gold that they have"
        )
    rows = [task_named(found.task).row(sample) for sample in golds.samples]
    made = store.gold.replace(found, rows, f"source {golds.told}", fingerprint(golds.samples), check=check_at_rest)
    for line in golds.notes:
        warn(f"{found.name}: {line}")
    return made


def former_again(store: Store, dataset: Dataset, version: int) -> Dataset:
    """Make the version before the last one of a dataset's gold the next one.

    Args:
        version: the one that is wanted.

    Raises:
        BadInput: it is not the version before the last one, or a run over the dataset is going on.
    """
    if dataset.gold != version + 1:
        raise BadInput(f"the gold of {dataset.name} has changed since: it is version {dataset.gold}")
    task, former = task_named(dataset.task), store.gold.former(dataset.dataset, version)
    samples = [
        msgspec.json.decode(former[number], type=task.sample) if number in former else sample
        for number, sample in stored_samples(store, dataset, dataset.n)
    ]
    rows = list(map(task.row, samples))
    return store.gold.replace(dataset, rows, f"version {version}", fingerprint(samples), check=check_at_rest)


# What a source says of the texts as what gold would say of them: every kind that it speaks of.

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
class _Golds:
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


def _as_gold(store: Store, dataset: Dataset, name: str) -> _Golds:
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
    golds = _Golds(told, [], [])
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


# What a person does with sources from the workbench: take one in, score again, make gold, map labels.


@dataclass(frozen=True, slots=True)
class LabelSheet:
    """Labels that a source says of spans and gold has not (`theirs`), those of gold (`own`), and what is kept.

    `guess`: by the name, None where nothing suggests itself.
    """

    dataset: Dataset
    source: str
    theirs: tuple[str, ...]
    own: tuple[str, ...]
    kept: Mapping[str, str]
    guess: Mapping[str, str | None]


class SourceBench:
    """Made by `Workspace.sources()`. Every method may be called from any thread, and may take a while."""

    def __init__(self, store: Store, process: Callable[[str], ModelProcess]) -> None:
        """`process` gives the process of a model; asked for the embedded one when the nearest labels are."""
        self._store, self._process = store, process

    def people(self, dataset: int) -> list[Source]:
        """People whose word stands inside the gold records alone, not yet beside the runs."""
        found = self._named(dataset)
        return [one for one in sources(self._store, found.name) if one.kind == PERSON and one.run is None]

    def take(self, dataset: int, name: str, on_progress: OnProgress, cancelled: IsCancelled) -> Run:
        """Keep what a person says inside the gold records beside the runs, scored.

        Raises:
            BadInput: nobody of that name says anything.
            Cancelled: stopped; it goes on when it is asked for again.
        """
        on_progress(_step(f"scoring {name}"))
        return take_person(self._store, self._named(dataset).name, name, cancelled=cancelled)

    def proposed(self, dataset: int, name: str) -> Proposed:
        """What would happen if this source were made gold; nothing changes.

        Raises:
            BadInput: there is no such source.
        """
        return proposed(self._store, self._named(dataset).name, name)

    def make_gold(
        self, proposal: Proposed, name: str, *, again: bool, on_progress: OnProgress, cancelled: IsCancelled
    ) -> Dataset:
        """Make a source gold; texts that it is silent about keep what they have.

        Args:
            again: score the runs of the proposal against the new gold.

        Raises:
            BadInput: it cannot be gold.
            Cancelled: stopped while runs were scored; the new gold stays, and so do the scores that are there.
        """
        made = make_gold(self._store, proposal.dataset.name, name, keep_missing=True)
        for run in proposal.scored if again else ():
            self.rescore(run, on_progress, cancelled)
        return made

    def take_gold_back(
        self, proposal: Proposed, *, again: bool, on_progress: OnProgress, cancelled: IsCancelled
    ) -> Dataset:
        """Make what gold said before this proposal was taken the next version.

        Args:
            again: score the runs of the proposal against it.

        Raises:
            BadInput: gold has changed since.
            Cancelled: stopped while runs were scored; the new gold stays, and so do the scores that are there.
        """
        made = former_again(self._store, self._named(proposal.dataset.dataset), proposal.dataset.gold)
        for run in proposal.scored if again else ():
            self.rescore(run, on_progress, cancelled)
        return made

    def rescore(self, run: str, on_progress: OnProgress, cancelled: IsCancelled) -> Run:
        """Parse and score what is kept of a source again, against today's gold.

        Raises:
            Cancelled: stopped; the scores that are there stay.
        """
        on_progress(_step(f"scoring {run} again"))
        if cancelled():
            raise Cancelled
        return rescore(self._store, run, cancelled=cancelled)

    def labels(self, dataset: int, run: str) -> LabelSheet:
        """What there is to map of a run's labels.

        Raises:
            BadInput: the dataset has no spans.
        """
        found, source = self._named(dataset), self._store.runs.get(run).model
        own = label_maps.gold_labels(self._store, found)
        theirs = tuple(label for label in label_maps.labels_said(self._store, [run]) if label not in own)
        kept = label_maps.mapping_of(self._store, found, source)
        return LabelSheet(found, source, theirs, own, kept, label_maps.guessed(theirs, own))

    def nearest(self, sheet: LabelSheet) -> Mapping[str, tuple[str, float]]:
        """The nearest label of gold for each of theirs, and the cosine; the embedded model is loaded for it."""
        return label_maps.nearest(sheet.theirs, sheet.own, Embedder(self._process(EMBEDDING)))

    def keep_labels(
        self, sheet: LabelSheet, mapping: Mapping[str, str], cancelled: IsCancelled = lambda: False
    ) -> None:
        """Keep this mapping for the source of the sheet, but for what is kept for all; scores stay until `rescore`.

        Raises:
            Cancelled: stopped before it was kept.
        """
        common = label_maps.label_map(self._store, sheet.dataset)
        own = {label: ours for label, ours in mapping.items() if common.get(label) != ours}
        if cancelled():
            raise Cancelled
        label_maps.keep_label_map(self._store, sheet.dataset, own, sheet.source)

    def _named(self, dataset: int) -> Dataset:
        found = self._store.datasets.get(dataset)
        if found is None:
            raise BadInput(f"there is no dataset {dataset}")
        return found


def _step(words: str) -> RunProgress:
    return RunProgress("", words, 0, 0, 0, None, None, words)
