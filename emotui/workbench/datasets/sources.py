"""Whoever says something about the texts of a dataset: gold, people, models, files. Any of them can be made gold."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from emotui.backends.host import IsCancelled, ModelProcess
from emotui.errors import BadInput
from emotui.formats import fingerprint
from emotui.formats.reading import Warn
from emotui.store.query import Dataset, Run
from emotui.store.store import Store
from emotui.tasks.registry import task_named
from emotui.workbench.annotate.log import settled_among
from emotui.workbench.datasets import label_maps
from emotui.workbench.datasets.golds import PERSON as PERSON
from emotui.workbench.datasets.golds import as_gold
from emotui.workbench.datasets.golds import person_says as person_says
from emotui.workbench.datasets.sets import dataset_named
from emotui.workbench.progress import Cancelled, OnProgress, RunProgress
from emotui.workbench.runs.elsewhere import Said, keep_said
from emotui.workbench.runs.run import EMBEDDING, rescore
from emotui.workbench.runs.scores import Embedder
from emotui.workbench.runs.states import check_at_rest, with_state
from emotui.workbench.texts import stored_samples

GOLD = "gold"

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
    golds = as_gold(store, found, name)
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
    golds = as_gold(store, found, name)
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
