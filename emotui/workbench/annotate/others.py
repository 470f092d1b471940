"""What gold, models, files and other people say about one text."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import msgspec

from emotui.errors import BadInput
from emotui.records import SpanSample
from emotui.store.query import Dataset
from emotui.store.rows import Annotation
from emotui.store.store import Store
from emotui.tasks.registry import task_named
from emotui.tasks.task import Task
from emotui.workbench.annotate.answers import Answer, gold_answer, predicted_answer, spans_of
from emotui.workbench.annotate.events import KIND
from emotui.workbench.annotate.log import Log, whole_log
from emotui.workbench.runs.elsewhere import source_run
from emotui.workbench.runs.scores import last_attempts
from emotui.workbench.texts import read_sample, runs_of, stored_samples

GOLD, PERSON = "gold", "person"


class OtherSaid(msgspec.Struct, frozen=True):
    """What a source says. `kind`: gold, person, model or file. `run`: under which id it is kept, if it is."""

    name: str
    kind: str
    answer: Answer
    run: str | None = None


BLIND, REVEALED = "", ", after reveal"
"""What stands behind an annotator's name in that of their source: of the answers given blind, and of those changed."""


def names_of(annotator: str) -> tuple[str, ...]:
    """What the sources of somebody who annotates here may be called; the last ones where the first are taken."""
    return tuple(f"{annotator}{which}{here}" for here in ("", ", here") for which in (BLIND, REVEALED))


def others_of(
    store: Store, dataset: Dataset, task: Task, sample: int, besides: str, *, words: bool = False
) -> tuple[OtherSaid, ...]:
    """Gold, then people, then models and files, the newest first; of people those answers that are given.

    Args:
        besides: the annotator who asks.
        words: labels are words for masks.
    """
    ((_, record),) = store.samples([sample])
    known = read_sample(store, dataset, record)
    found: list[OtherSaid] = []
    gold = gold_answer(known, words=words)
    if gold is not None:
        found.append(OtherSaid(GOLD, GOLD, gold))
    here = dict(_annotating(store, sample))
    found += [OtherSaid(name, PERSON, answer) for name, answer in here.items() if name != besides]
    found += [
        OtherSaid(name, PERSON, answer)
        for name, answer in inside(task, dataset.task, known, words)
        if name not in here and name != besides
    ]
    for run in runs_of(store, dataset):
        if run.source == PERSON and any(run.model in names_of(name) for name in (besides, *here)):
            continue
        for row in last_attempts(store.results(run.run, [sample])):
            if row.prediction is None or row.repeat:
                continue
            said = msgspec.json.decode(row.prediction, type=task.prediction)
            answer = predicted_answer(task, known, said, words=words)
            if answer is not None:
                found.append(OtherSaid(run.model, run.source, answer, run.run))
    return tuple(found)


def _annotating(store: Store, sample: int) -> Iterator[tuple[str, Answer]]:
    """The blind answers that people gave here."""
    of: dict[str, list[Annotation]] = {}
    for entry in store.annotations(sample=sample, kind=KIND):
        of.setdefault(entry.annotator, []).append(entry)
    for name, log in ((name, whole_log(entries)) for name, entries in of.items()):
        if log.answered(sample):
            yield name, log.state(sample).blind


def inside(task: Task, named: str, sample: Any, words: bool) -> Iterator[tuple[str, Answer]]:
    """What people say inside the gold record."""
    annotators: Mapping[str, Any] = getattr(sample, "annotators", {})
    for name, said in annotators.items():
        if isinstance(sample, SpanSample):
            yield name, Answer(spans=spans_of(said))
            continue
        answer = predicted_answer(task, sample, task.taken(sample, _keys(named, said)), words=words)
        if answer is not None:
            yield name, answer


def _keys(task: str, said: Any) -> Mapping[str, Any]:
    """What an annotator says, whose bare list is of labels, and whose bare object in scenarios of labels."""
    if isinstance(said, list | tuple):
        return {"labels": said}
    return {"labels": said} if task == "scenes" and "labels" not in said else dict(said)


# All answers that people gave to a dataset here: for agreement, for adjudication, for orders.


class Given(msgspec.Struct, frozen=True):
    """An answer that is given.

    `blind`: before anything was revealed. `final`: with what was changed after that. `second`: that of the retest, None
    where the text did not come back, or its second answer is not given yet. `unsure`: of the first answer.
    """

    blind: Answer
    final: Answer
    second: Answer | None = None
    unsure: bool = False


def logs_of(store: Store, dataset: Dataset) -> dict[str, Log]:
    """The log of everybody who annotated a dataset here, by name, in the order in which they began."""
    of: dict[str, list[Annotation]] = {}
    for entry in store.annotations(kind=KIND, within=store.file_order(dataset.dataset)):
        of.setdefault(entry.annotator, []).append(entry)
    return {name: whole_log(entries) for name, entries in of.items()}


def given_answers(store: Store, dataset: Dataset) -> dict[str, dict[int, Given]]:
    """By annotator and by the number of the sample the answers that are given."""
    return {name: dict(_given(log)) for name, log in logs_of(store, dataset).items()}


def _given(log: Log) -> Iterator[tuple[int, Given]]:
    retested = log.retested()
    for sample in log.samples():
        if log.answered(sample):
            said = log.state(sample)
            again = log.state(sample, 1) if sample in retested else None
            second = again.answer if again is not None and again.accepted and not again.skipped else None
            yield sample, Given(said.blind, said.answer, second, said.unsure)


def skipped_texts(store: Store, dataset: Dataset) -> dict[str, dict[int, str]]:
    """By annotator the texts that they passed over, with why (`emotui.workbench.annotate.events.Skip`)."""
    return {
        name: {sample: log.state(sample).skipped for sample in log.samples() if log.skipped(sample)}
        for name, log in logs_of(store, dataset).items()
    }


def both_answers(store: Store, dataset: Dataset, annotator: str) -> list[tuple[int, Answer, Answer]]:
    """(sample, first answer, second answer) of each text that came back to an annotator: for agreement with oneself."""
    found = given_answers(store, dataset).get(annotator, {})
    return [(sample, one.blind, one.second) for sample, one in found.items() if one.second is not None]


def source_answers(
    store: Store, dataset: Dataset, sources: Collection[str], *, words: bool = False, final: bool = False
) -> dict[str, dict[int, Answer]]:
    """What each of these sources says, by the number of the sample.

    A source is `gold`, somebody who annotates here, somebody inside the gold records, or a run by its id or name.

    Args:
        words: labels are words for masks.
        final: of those who annotate here, with what they changed after the reveal.

    Raises:
        BadInput: a name may be any of several runs, or is nobody's.
    """
    task = task_named(dataset.task)
    here = given_answers(store, dataset)
    found: dict[str, dict[int, Answer]] = {}
    runs = {}
    for name in sources:
        if name in here:
            found[name] = {sample: one.final if final else one.blind for sample, one in here[name].items()}
        elif name != GOLD and (run := source_run(store, dataset, name)) is not None:
            runs[name] = run
    samples = dict(stored_samples(store, dataset, dataset.n)) if len(found) < len(sources) else {}
    for name, run in runs.items():
        rows = [row for row in last_attempts(store.results(run.run)) if row.prediction is not None and not row.repeat]
        said = {row.sample: msgspec.json.decode(row.prediction or b"", type=task.prediction) for row in rows}
        made = {sample: predicted_answer(task, samples[sample], one, words=words) for sample, one in said.items()}
        found[name] = {sample: answer for sample, answer in made.items() if answer is not None}
    for name in sources:
        if name not in found:
            found[name] = _in_records(samples, name, dataset.task, words)
    return {name: found[name] for name in sources}


def _in_records(samples: Mapping[int, object], name: str, task: str, words: bool) -> dict[int, Answer]:
    found: dict[int, Answer] = {}
    for number, sample in samples.items():
        if name == GOLD:
            if (gold := gold_answer(sample, words=words)) is not None:
                found[number] = gold
        else:
            said = dict(inside(task_named(task), task, sample, words))
            found |= {number: said[name]} if name in said else {}
    if not found and name != GOLD:
        raise BadInput(f"there is no source {name!r} (see: emotui sources)")
    return found


def votes_of(store: Store, dataset: Dataset) -> list[str]:
    """Everybody who says something beside gold: people, then runs, each by the name that `source_answers` takes."""
    here = list(logs_of(store, dataset))
    known = {name for person in here for name in names_of(person)}
    runs = [run for run in runs_of(store, dataset) if not (run.source == PERSON and run.model in known)]
    taken = {run.model for run in runs if run.source == PERSON}
    people = [name for name, _ in store.annotators(dataset.dataset) if name not in (*here, *taken)]
    return [*here, *people, *(run.run for run in runs)]


def by_sample(answers: Mapping[str, Mapping[int, Answer]]) -> dict[int, list[Answer]]:
    """The answers to each text, in the order of the sources."""
    found: defaultdict[int, list[Answer]] = defaultdict(list)
    for said in answers.values():
        for sample, answer in said.items():
            found[sample].append(answer)
    return found
