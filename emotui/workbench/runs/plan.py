"""Which run a person asks for: how the model is asked, under which identity, and whether it was done before."""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count
from typing import Any

import msgspec

from emotui.backends.base import ANSWERS, CAPABLE_KINDS, ModelCard
from emotui.errors import BadInput
from emotui.records import Mark
from emotui.store.query import Dataset, Run
from emotui.store.store import Store
from emotui.tasks.prompting.settings import configured
from emotui.tasks.registry import resolve_labels, task_named
from emotui.tasks.task import Task
from emotui.workbench.progress import RunOptions
from emotui.workbench.runs.window import Pace
from emotui.workbench.texts import stored_samples
from emotui.workbench.turns import with_conversation

MOST_REPEATS = 1000
"""Of a run: a hundred times what papers report."""

BATCH = 16
"""Samples asked about and kept at a time."""

WRITERS = CAPABLE_KINDS["generate"]


class RunConfig(msgspec.Struct, frozen=True, kw_only=True):
    """What a run was asked for, and who ran it (so that a killed one is not shown as running).

    `boot`, `space`, `begun`: the start of the machine, what its process numbers count in, and when the process began.
    `questions`: the run's identity without the answers, where these stand in files that may become more.
    `shard`: which part of `whole` samples it is (`i/n`); empty for all of them. `lexicon`: the mark of the one that its
    first scores were asked to be by; empty for the usual one.
    """

    seed: int = 0
    repeats: int = 1
    way: str = ""
    options: dict[str, Any] = {}
    pid: int = 0
    host: str = ""
    boot: str = ""
    space: str = ""
    begun: str = ""
    emotui: str = ""
    flattered: bool = False
    trained_on: str = ""
    shard: str = ""
    whole: int = 0
    questions: str = ""
    lexicon: str = ""


def settings_of(run: Run) -> RunConfig:
    """What a run was asked for. Raises: BadInput where its row says what no run can have."""
    try:
        return msgspec.convert(run.config, RunConfig)
    except (msgspec.ValidationError, RecursionError) as error:
        raise BadInput(
            f"run {run.run}: its settings cannot be read ({error}): no emotui wrote them; emotui delete takes it away"
        ) from None


def identity(task: Task, of: Mapping[str, str], card: ModelCard, seed: int, repeats: int, way: str = "") -> str:
    """SHA-256 over canonical JSON of everything that can change the run's outputs.

    Args:
        of: the samples: under `asked` the fingerprint of what of them can change an answer.
    """
    content = {
        "task": task.name,
        "version": task.version,
        **of,
        "model": {"spec": card.spec, **card.identity},
        "seed": seed,
        "repeats": repeats,
        "batch": f"{card.together} to {card.grows_to}" if card.grows_to else card.together or BATCH,
        **task.settings(way),
    }
    return hashlib.sha256(msgspec.json.encode(content, order="sorted")).hexdigest()


def pace_of(card: ModelCard, usual: int) -> Pace:
    """How many samples a model is asked about at a time: one, where it answers several asks side by side, so that none
    waits for the others of its batch.

    Args:
        usual: where the model has no number of its own.
    """
    return Pace(1, 1) if card.at_once > 1 else Pace(card.together or usual, card.grows_to)


class Plan(msgspec.Struct, frozen=True):
    """A run as a model of this card would go through it.

    `hit`: a finished one that is the same. `twin`: one that is the same over a dataset that differs in gold alone.
    """

    task: Task
    way: str
    options: Mapping[str, object]
    identity: str
    name: str
    hit: Run | None
    twin: Run | None


class RunRequest(msgspec.Struct, frozen=True):
    """What a person asks for, apart from the model."""

    store: Store
    dataset: Dataset
    wanted: RunOptions
    spans: Mapping[str, Sequence[Mark]] | None = None

    @property
    def whole(self) -> int:
        """Samples of all shards."""
        return self.dataset.n if self.wanted.limit is None else min(self.wanted.limit, self.dataset.n)

    @property
    def places(self) -> range:
        """Which samples it asks about."""
        return range(self.whole) if self.wanted.shard is None else self.wanted.shard.places(self.whole)

    def plan(self, card: ModelCard) -> Plan:
        """Raises BadInput and ModelError as `chosen_way` and the task's options do."""
        store, dataset = self.store, self.dataset
        task = task_named(dataset.task)
        way = chosen_way(task, card, self.wanted.way, self.wanted.options)
        options = resolve_labels(
            task, card, partial(labelled_samples, store, dataset), way, self.wanted.options or {}, self.wanted.seed
        )
        task = configured(task, way, options, self.wanted.repeats)
        task = task if self.spans is None else task.with_spans(self.spans)
        task = with_conversation(task, options, _samples(store, dataset))
        marks = identities(store, task, dataset, card, self.wanted.seed, self.wanted.repeats, way)
        n = len(self.places) * self.wanted.repeats
        hits = [old for old in finished(store.runs.all(dataset.dataset), marks) if self._as_many(old, n)]
        twins = [] if hits else self._twins(task, card, way, n)
        name = free_name(store, marks[0][:8])
        return Plan(task, way, options, marks[0], name, next(iter(hits), None), next(iter(twins), None))

    def _twins(self, task: Task, card: ModelCard, way: str, n: int) -> list[Run]:
        """Finished runs over datasets with the same texts and other gold, which were asked the same."""
        asked = asked_of(self.store, self.dataset)
        found: list[Run] = []
        for other in (one.read_as(task.name) for one in self.store.datasets.all()):
            same_size = other.dataset != self.dataset.dataset and other.n == self.dataset.n
            asked_here = (
                any(run.task == task.name for run in self.store.runs.all(other.dataset)) if same_size else False
            )
            if asked_here and asked_of(self.store, other) == asked:
                marks = identities(self.store, task, other, card, self.wanted.seed, self.wanted.repeats, way)
                found += [old for old in finished(self.store.runs.all(other.dataset), marks) if self._as_many(old, n)]
        return found

    def _as_many(self, old: Run, n: int) -> bool:
        """Whether a run is over the same samples of its dataset."""
        return old.n == n and old.config.get("shard", "") == str(self.wanted.shard or "")


def labelled_samples(store: Store, dataset: Dataset) -> Iterator[Any]:
    """The samples of a dataset; for a task that asks for it, then what gold says of the labels of the same texts."""
    yield from _samples(store, dataset)
    if getattr(task_named(dataset.task).labels, "of_texts", False):
        yield from _samples(store, dataset.read_as("labels"))


def _samples(store: Store, dataset: Dataset) -> Iterator[Any]:
    return (sample for _, sample in stored_samples(store, dataset, dataset.n))


def asked_of(store: Store, dataset: Dataset) -> str:
    """The fingerprint of what of a dataset's samples can change a model's answers, in their order.

    It is computed once a dataset and task, and kept where the store may be written.
    """
    own = dataset.task == dataset.kept_as
    if own:
        now = dataset if dataset.asked is not None else store.datasets.get(dataset.dataset)
        if now is not None and now.asked is not None and now.fingerprint == dataset.fingerprint:
            return now.asked
    key = f"asked {dataset.dataset} {dataset.task}"
    if not own and (kept := store.settings.get(key)) is not None and kept[0] == dataset.fingerprint:
        return str(kept[1])
    found = asked_fingerprint(task_named(dataset.task), _samples(store, dataset))
    if store.read_only:
        return found
    if own:
        store.datasets.set_asked(dataset, found)
    else:
        store.settings.set(key, [dataset.fingerprint, found])
    return found


def asked_fingerprint(task: Task, samples: Iterable[Any]) -> str:
    """SHA-256 over the ids of samples and what of each can change an answer."""
    digest = hashlib.sha256()
    for sample in samples:
        digest.update(msgspec.json.encode([sample.id, task.question(sample)], order="sorted"))
        digest.update(b"\n")
    return digest.hexdigest()


def identities(
    store: Store, task: Task, dataset: Dataset, card: ModelCard, seed: int, repeats: int, way: str
) -> list[str]:
    """Under which identities a run like this may be kept: today's, then those that named the dataset's own records."""
    of = [{"asked": asked_of(store, dataset)}]
    of += [{"dataset": mark} for mark in store.gold.fingerprints(dataset.dataset)]
    return [identity(task, one, card, seed, repeats, way) for one in of]


def questions_of(
    store: Store, task: Task, dataset: Dataset, card: ModelCard, seed: int, repeats: int, way: str
) -> list[str]:
    """The same without the answers, where the card has these from files; nothing of any other model."""
    if ANSWERS not in card.identity:
        return []
    asked = {name: value for name, value in card.identity.items() if name != ANSWERS}
    return identities(store, task, dataset, msgspec.structs.replace(card, identity=asked), seed, repeats, way)


def finished(runs: Iterable[Run], marks: Collection[str]) -> list[Run]:
    """Those of these runs that are of one of these identities and whole."""
    return [run for run in runs if run.identity in marks and run.state == "done" and not run.failed]


def free_name(store: Store, beginning: str) -> str:
    """A run's id that begins so and is not taken."""
    taken = store.runs.names()
    return next(name for number in count(1) if (name := f"{beginning}-{number}") not in taken)


def chosen_way(task: Task, card: ModelCard, wanted: str | None, options: Mapping[str, object] | None = None) -> str:
    """The way to ask this model: the wanted one, else the model's first; `""` where there is only one.

    `wanted`: by the task's own name, or by the word that all tasks share (`emotui.tasks.prompting.settings`).

    Raises:
        BadInput: it cannot be asked that way, or there are options for a model that has none.
        ModelError: it cannot be asked at all.
    """
    there = task.ways(card)
    writers = "" if "generate" in card.capabilities else f"; kinds of model that write: {', '.join(WRITERS)}"
    own = wanted if wanted in there else task.asking.named.get(wanted or "", wanted)
    if wanted and own not in (there or ("",)):
        known = f"it can be asked by {', '.join(there)}" if there else "there is one way only"
        raise BadInput(f"{card.spec} cannot be asked the {task.name} task by {wanted!r}: {known}{writers}")
    if options and not there:
        raise BadInput(f"{card.spec} writes no text, so these settings are not for it: {', '.join(options)}{writers}")
    return own or (there or ("",))[0]


def notes_on_prompts(card: ModelCard) -> tuple[str, ...]:
    """What a person should know about how this model's prompts are written, where that is not as usual."""
    return tuple(note for note in card.notes if "chat template" in note or "chat endpoint" in note)


def sample_seed(seed: int, repeat: int, key: str) -> int:
    """The seed of one sample in one repeat: the same in every batch and store, another for every sample."""
    return int.from_bytes(hashlib.sha256(f"{seed}/{repeat}/{key}".encode()).digest()[:4]) >> 1
