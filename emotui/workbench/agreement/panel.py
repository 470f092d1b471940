"""Who says what about which texts of a dataset: gold, people, models and files, read alike."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from emotui.backends.host import IsCancelled
from emotui.errors import BadInput
from emotui.records import ClassGold, LabelsGold, Mark, MaskedGold, ScenesGold, SpanSample, ValuesGold
from emotui.store.query import Dataset, Run
from emotui.store.store import Store
from emotui.tables import FEW, with_enough
from emotui.tasks.registry import task_named
from emotui.tasks.task import Task
from emotui.workbench.agreement.documents import LABEL, LABELS, SPANS, VALUES, WORDS, SourceCount, named_of
from emotui.workbench.annotate.answers import Answer
from emotui.workbench.annotate.log import REVEALED
from emotui.workbench.annotate.others import given_answers, names_of
from emotui.workbench.datasets.label_maps import mapping_of
from emotui.workbench.datasets.samples import COMPOSED, is_sample_data
from emotui.workbench.datasets.sets import dataset_named
from emotui.workbench.datasets.sources import GOLD, PERSON, people_beside, said_beside, settled_note, sources
from emotui.workbench.progress import Cancelled
from emotui.workbench.runs.scores import groups_of
from emotui.workbench.texts import stored_samples

Said = Sequence[Mark] | Sequence[str] | Mapping[str, float]
"""Marks of spans; labels, or a word a mask; numbers by name, which of vectors are 0 and 1."""

_EVERY = 1000


@dataclass(frozen=True, slots=True)
class Text:
    """A text of the dataset: its number, its id, and what it says (empty where only its answers are kept)."""

    sample: int
    id: str
    text: str


@dataclass(slots=True)
class Panel:
    """What sources say, by the place of the text; a source that says nothing about a text has no entry there.

    `again`: what a source says when it is asked a second time. `gold`: what gold says, whether it is among the sources
    or not. `groups`: of each text the number of what it shares with others, by this `column`; empty where no two share
    anything.
    """

    dataset: Dataset
    kind: str
    texts: list[Text]
    said: dict[str, dict[int, Said]]
    kinds: dict[str, str] = field(default_factory=dict)
    again: dict[str, dict[int, Said]] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    gold: dict[int, Said] = field(default_factory=dict)
    groups: Sequence[int] = ()
    column: str = ""

    def drawn(self, places: Iterable[int]) -> list[int]:
        """What is drawn for intervals: of each of these places of texts its group, or the place itself."""
        return [self.groups[at] for at in places] if self.groups else list(places)

    @property
    def raters(self) -> list[str]:
        """The names of the sources."""
        return list(self.said)

    @property
    def counts(self) -> list[SourceCount]:
        """Who takes part."""
        return [
            SourceCount(name, self.kinds[name], len(said), 2 if self.again.get(name) else 1)
            for name, said in self.said.items()
        ]

    def only(self, names: Sequence[str]) -> "Panel":
        """Of these sources alone."""
        said = {name: self.said[name] for name in names}
        return replace(self, said=said, again={name: self.again[name] for name in names if name in self.again})

    def twice(self, name: str) -> "Panel":
        """A source's first answers against its second ones, over the texts that have both."""
        again = self.again.get(name, {})
        first, second = f"{name}, first", f"{name}, again"
        own = {at: said for at, said in self.said[name].items() if at in again}
        return Panel(
            self.dataset,
            self.kind,
            self.texts,
            {first: own, second: again},
            {first: self.kinds[name], second: self.kinds[name]},
            groups=self.groups,
            column=self.column,
        )

    def shared(self) -> list[int]:
        """The places of texts about which two sources or more say something."""
        counts: dict[int, int] = {}
        for said in self.said.values():
            for at in said:
                counts[at] = counts.get(at, 0) + 1
        return sorted(at for at, n in counts.items() if n > 1)


def read_panel(
    store: Store,
    dataset: str,
    names: Sequence[str] | None = None,
    *,
    kind: str | None = None,
    cancelled: IsCancelled | None = None,
) -> Panel:
    """Read what sources say.

    Args:
        kind: of answers, as tasks name it: labels, values, … None: what the dataset came for. What people and files say
            of whole texts beside spans (a scheme with several kinds of answers) are answers of that kind too.
        names: of sources: gold, people, models, files, or ids of runs. None: all people, where there are two or more
            (without those of under ten texts where two have as many); else all sources, each model's newest run.

    Raises:
        BadInput: no such dataset or source, fewer than two sources, or a task of which nothing can be compared.
        Cancelled: by `cancelled`.
    """
    found = dataset_named(store, dataset)
    task = task_named(kind or found.task)
    found = found.read_as(task.name)
    reading = _READINGS.get(task.sample)
    if reading is None:
        raise BadInput(
            f"{found.name} is of the {task.name} task, whose answers agreement cannot compare: "
            "it takes labels, numbers, spans or words that two sources give to one text"
        )
    beside = _beside(store, found)
    chosen, notes = _chosen(store, found, names, beside)
    wants_people = {name for name, run in chosen.items() if run is None and name != GOLD}
    texts: list[Text] = []
    gold: dict[int, Said] = {}
    said: dict[str, dict[int, Said]] = {name: {} for name in chosen}
    samples: list[Any] = []
    place: dict[int, int] = {}
    for number, sample in stored_samples(store, found, found.n):
        _stop(cancelled, len(texts))
        place[number] = len(texts)
        texts.append(Text(number, sample.id, getattr(sample, "text", None) or ""))
        samples.append(sample)
        if (own := reading.read(sample)) is not None:
            gold[place[number]] = own
        for name in wants_people & _annotators(sample).keys() if wants_people else ():
            said[name][place[number]] = _of_person(_annotators(sample)[name])
    if GOLD in said:
        said[GOLD] = gold
    kinds, again = {GOLD: GOLD}, {}
    for name, run in chosen.items():
        if run is None:
            kinds.setdefault(name, PERSON)
            continue
        kinds[name] = run.source
        if run.run in beside:
            said[name] = _of_keys(task, beside[run.run], samples, place, reading)
            continue
        said[name], again[name] = _of_run(store, task, run, samples, place, reading, cancelled)
        failed = run.done - len(said[name])
        if failed > 0 and not again[name]:
            notes[name] = f"{failed} of its answers failed or cannot be read: it says nothing about those texts"
    second = _second_answers(store, found, reading.kind, place)
    again |= {name: answers for name, answers in second.items() if kinds.get(name) == PERSON}
    if reading.kind == SPANS:
        for name, run in chosen.items():
            mapping = {} if name == GOLD else mapping_of(store, found, name if run is None else run.model)
            if mapping:
                said[name], again[name] = _mapped(said[name], mapping), _mapped(again.get(name, {}), mapping)
                notes["labels"] = "labels of spans are mapped to gold's by the mapping that is kept for the source"
    written = {name for sample in samples for name in _annotators(sample)} if is_sample_data(found) else set()
    if composed := [name for name in said if name in written]:
        notes[", ".join(composed)] = COMPOSED
    kind = _kind(reading.kind, task.sample, said)
    asked_twice = {name: more for name, more in again.items() if more}
    column, group = groups_of(store, found.dataset) or ("", {})
    groups = [group[text.sample] for text in texts] if group else ()
    return Panel(found, kind, texts, said, kinds, asked_twice, notes, gold, groups, column)


def _chosen(
    store: Store, dataset: Dataset, names: Sequence[str] | None, beside: "_Beside"
) -> tuple[dict[str, Run | None], dict[str, str]]:
    """The sources by name, with their runs; None for gold and for people inside the gold records."""
    runs = {run.run: run for run in store.runs.all(dataset.dataset) if run.task == dataset.task or run.run in beside}
    known = [
        one if one.run is None or one.run not in beside else replace(one, n=len(beside[one.run]))
        for one in sources(store, dataset.name)
        if one.run is None or one.run in runs
    ]
    notes: dict[str, str] = {}
    if names is None:
        speaking = [one for one in known if one.n and not one.settled]
        people = [one for one in speaking if one.is_person]
        kept = with_enough({one: one.n for one in people})
        picked = kept if len(people) > 1 else speaking
        if len(people) > 1:
            notes["sources"] = "the annotators alone, since there are several"
        if aside := [one.name for one in people if one not in kept]:
            notes["aside"] = f"{named_of(aside)}: under {FEW} texts, not counted unless named"
        if settled := [one.name for one in known if one.n and one.settled]:
            notes["settled"] = settled_note(settled)
        listed = {one.name: one for one in reversed(picked)}  # of equal names the newest, which stands first
        picked = [one for one in picked if listed[one.name] is one]
    else:
        picked = []
        for name in dict.fromkeys(names):
            fitting = (
                [one for one in known if one.run == name]
                or [one for one in known if one.name == name][:1]
                or [one for one in known if one.run is not None and one.run.startswith(name)]
            )
            if len(fitting) != 1:
                there = ", ".join(dict.fromkeys(one.name for one in known))
                raise BadInput(f"{dataset.name} has no source {name!r}; it has: {there}")
            picked.append(fitting[0])
    if len(picked) < 2:
        raise BadInput(f"agreement needs two sources; {dataset.name} has {len(picked)} (see: emotui sources)")
    found: dict[str, Run | None] = {}
    for one in picked:
        name = one.name if one.name not in found else f"{one.name} ({one.run})"
        found[name] = None if one.run is None else runs[one.run]
    return found, notes


_Beside = Mapping[str, Mapping[int, Mapping[str, Any]]]
"""By run of another task what it says of this kind beside its own, by the keys of records."""


def _beside(store: Store, dataset: Dataset) -> _Beside:
    """What people and files that answered another task say of this one; who answered this one has that alone."""
    runs = store.runs.all(dataset.dataset)
    answered = {run.model for run in runs if run.task == dataset.task and run.done}
    others = (run for run in runs if run.task != dataset.task and run.model not in answered)
    return {run.run: said for run in others if (said := said_beside(store, run, dataset.task))}


def kinds_beside(store: Store, dataset: Dataset) -> list[str]:
    """Kinds other than the dataset's own, labels and numbers of texts, of which two people or more say something."""
    found = []
    for kind in (LABELS, VALUES):
        if kind != dataset.task:
            asked = dataset.read_as(kind)
            there = _beside(store, asked)
            here = {one.name for one in sources(store, dataset.name) if one.is_person and one.run in there}
            found += [kind] if len(here | people_beside(store, dataset, kind)) > 1 else []
    return found


def _of_keys(
    task: Task,
    said: Mapping[int, Mapping[str, Any]],
    samples: Sequence[Any],
    place: Mapping[int, int],
    reading: "_Reading",
) -> dict[int, Said]:
    """What stands under the keys of records; what does not fit its text says nothing."""
    found: dict[int, Said] = {}
    for number, keys in said.items():
        if number in place:
            sample = samples[place[number]]
            try:
                found[place[number]] = _opinion(task, sample, task.taken(sample, keys), reading)
            except (BadInput, ValueError):
                continue
    return found


def _of_run(
    store: Store,
    task: Task,
    run: Run,
    samples: Sequence[Any],
    place: Mapping[int, int],
    reading: "_Reading",
    cancelled: IsCancelled | None,
) -> tuple[dict[int, Said], dict[int, Said]]:
    """What a run says, the first time and the second; failed answers say nothing."""
    rounds: tuple[dict[int, Said], dict[int, Said]] = ({}, {})
    for at, outcome in enumerate(store.results.outcomes(run.run)):
        _stop(cancelled, at)
        if outcome.prediction is None or outcome.repeat > 1 or outcome.sample not in place:
            continue
        where = place[outcome.sample]
        prediction = msgspec.json.decode(outcome.prediction, type=task.prediction)
        try:
            rounds[outcome.repeat][where] = _opinion(task, samples[where], prediction, reading)
        except BadInput:  # more or fewer words than masks: no answer to compare
            continue
    return rounds


def _second_answers(store: Store, dataset: Dataset, kind: str, place: Mapping[int, int]) -> dict[str, dict[int, Said]]:
    """What those who annotated here said when a text came back to them (a retest), by the name of their source."""
    found: dict[str, dict[int, Said]] = {}
    for annotator, given in given_answers(store, dataset).items():
        second = {
            place[sample]: _as_said(one.second, kind)
            for sample, one in given.items()
            if one.second is not None and sample in place
        }
        if second:
            found |= dict.fromkeys((name for name in names_of(annotator) if REVEALED not in name), second)
    return found


def _as_said(answer: Answer, kind: str) -> Said:
    if kind == SPANS:
        return tuple(span.mark for span in answer.spans)
    if kind == WORDS:
        return tuple(answer.words.get(mask, "") for mask in range(1 + max(answer.words, default=-1)))
    return dict(answer.values) if kind == VALUES else tuple(answer.labels or ())


def _annotators(sample: Any) -> Mapping[str, Any]:
    """What people say inside a record; records of one class and of masks hold nobody's answers."""
    there: Mapping[str, Any] = getattr(sample, "annotators", {})
    return there


def _of_person(said: Any) -> Said:
    """What an annotator says inside a gold record, where numbers stand under `values`."""
    own: Said = said["values"] if isinstance(said, Mapping) and isinstance(said.get("values"), Mapping) else said
    return own


def _opinion(task: Task, sample: Any, prediction: Any, reading: "_Reading") -> Said:
    """A prediction in the shape that gold has, which is the same for all sources."""
    said = reading.read(task.as_gold(sample, prediction))
    return () if said is None else said


def _mapped(said: Mapping[int, Any], mapping: Mapping[str, str]) -> dict[int, Said]:
    """Marks with their labels under the names that gold has."""
    return {
        at: tuple(msgspec.structs.replace(mark, label=mapping.get(mark.label or "", mark.label)) for mark in marks)
        for at, marks in said.items()
    }


def _stop(cancelled: IsCancelled | None, at: int) -> None:
    if cancelled is not None and at % _EVERY == 0 and cancelled():
        raise Cancelled


@dataclass(frozen=True, slots=True)
class _Reading:
    """What is said in a gold record; `read` gives None where nothing is."""

    kind: str
    read: Callable[[Any], Said | None]


def _labels(record: LabelsGold) -> Said | None:
    said = record.said
    return tuple(name for name, there in said.items() if there) if isinstance(said, Mapping) else said


def _values(record: ValuesGold) -> Said | None:
    return record.values or None


def _vector(record: ScenesGold) -> Said | None:
    return record.gold


def _spans(record: SpanSample) -> Said | None:
    return record.spans


def _words(record: MaskedGold) -> Said | None:
    return record.labels


def _label(record: ClassGold) -> Said | None:
    return (record.label,) if record.label else None


_READINGS: Mapping[type, _Reading] = {
    SpanSample: _Reading(SPANS, _spans),
    LabelsGold: _Reading(LABELS, _labels),
    ScenesGold: _Reading(LABELS, _vector),
    MaskedGold: _Reading(WORDS, _words),
    ClassGold: _Reading(LABEL, _label),
    ValuesGold: _Reading(VALUES, _values),
}


def _kind(kind: str, sample: type, said: Mapping[str, Mapping[int, Said]]) -> str:
    """Several labels a text are one label, where everybody always gives just one."""
    if kind == LABELS and sample is LabelsGold:
        answers = [answer for answers in said.values() for answer in answers.values()]
        if answers and all(len(answer) == 1 for answer in answers):
            return LABEL
    return kind
