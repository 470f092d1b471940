"""What gold, models, files and other people say about one text."""

import csv
import random
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from io import StringIO
from pathlib import PurePath
from statistics import median
from typing import Any

import msgspec

from emotui.bounded import read_text
from emotui.errors import BadInput
from emotui.formats.rows import literal
from emotui.records import SpanSample
from emotui.store.query import Dataset, Run
from emotui.store.rows import Annotation
from emotui.store.store import Store
from emotui.tasks.parts import shared_by
from emotui.tasks.prompting.settings import VOICE, Annotator, Example
from emotui.tasks.registry import task_named
from emotui.tasks.task import Task
from emotui.workbench.annotate.answers import Answer, gold_answer, predicted_answer, spans_of
from emotui.workbench.annotate.events import KIND
from emotui.workbench.annotate.log import BLIND, REVEALED, Log, adjudicators, whole_log
from emotui.workbench.runs.elsewhere import source_run
from emotui.workbench.runs.plan import settings_of
from emotui.workbench.runs.scores import last_attempts
from emotui.workbench.texts import read_sample, runs_of, stored_samples

GOLD, PERSON = "gold", "person"


class OtherSaid(msgspec.Struct, frozen=True):
    """What a source says. `kind`: gold, person, model or file. `run`: under which id it is kept, if it is."""

    name: str
    kind: str
    answer: Answer
    run: str | None = None


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
    ((_, record),) = store.samples.records([sample])
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
        for row in last_attempts(store.results.of_run(run.run, [sample])):
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
    for entry in store.annotations.entries(sample=sample, kind=KIND):
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
    for entry in store.annotations.entries(kind=KIND, within=store.samples.file_order(dataset.dataset)):
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
        rows = [
            row for row in last_attempts(store.results.of_run(run.run)) if row.prediction is not None and not row.repeat
        ]
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
    """Everybody who says something beside gold: people, then runs, each by the name that `source_answers` takes.

    What was settled between them is no further vote.
    """
    everybody, settled = logs_of(store, dataset), adjudicators(store, dataset)
    here = [name for name in everybody if name not in settled]
    known = {name for person in everybody for name in names_of(person)}
    runs = [run for run in runs_of(store, dataset) if not (run.source == PERSON and run.model in known)]
    taken = {run.model for run in runs if run.source == PERSON}
    people = [name for name, _ in store.samples.annotators(dataset.dataset) if name not in (*here, *taken)]
    return [*here, *people, *(run.run for run in runs)]


def by_sample(answers: Mapping[str, Mapping[int, Answer]]) -> dict[int, list[Answer]]:
    """The answers to each text, in the order of the sources."""
    found: defaultdict[int, list[Answer]] = defaultdict(list)
    for said in answers.values():
        for sample, answer in said.items():
            found[sample].append(answer)
    return found


# A model asked as one of the people: with earlier answers of theirs, and scored against them.

MARKS = "marks"
KINDS = {"labels": "labels", "rephrase": "label", "values": "values", "spans": MARKS}
"""By task the form in which answers of annotators are compared (`own_answers_report`)."""

SHOWN = 8
"""Earlier answers beside each text, unless it is said how many."""


def voice_of(
    store: Store, dataset: Dataset, name: str, *, shown: int, description: str = "", seed: int = 0
) -> dict[str, object]:
    """The option by which a task asks as an annotator: their answers to texts of a dataset, given blind, in a draw.

    No more examples are kept than it takes to have `shown` beside any text, whatever texts it shares a passage with.

    Raises:
        BadInput: there is no such annotator, the task asks as nobody, or nothing is known of them that it could show.
    """
    answers = _comparable(store, dataset, [name])[name]
    samples = {number: sample for number, sample in stored_samples(store, dataset, dataset.n) if number in answers}
    groups: Counter[object] = Counter()
    kept: list[Example] = []
    for number in random.Random(seed).sample(sorted(samples), len(samples)):
        sample = samples[number]
        if len(kept) - max(groups.values(), default=0) >= shown:
            break
        shared = shared_by(getattr(sample, "meta", None) or {})
        kept.append(Example(sample.id, sample.text or "", answers[number], shared))
        groups[shared or " ".join((sample.text or "").split()).casefold()] += 1
    if shown and not kept and not description:
        raise BadInput(f"{name} said nothing of these texts that a {dataset.task} run could show a model")
    told = Annotator(name, description, tuple(kept), shown)
    return {VOICE: msgspec.to_builtins(told)}


def voices_of(
    store: Store,
    number: int,
    task: str,
    names: Sequence[str],
    options: Mapping[str, object],
    *,
    shown: int | None = None,
    told: str | None = None,
    seed: int = 0,
) -> dict[str, Mapping[str, object]]:
    """By annotator the options of a run that is asked as them, over the dataset of this number.

    All runs choose among the labels that gold and these people give, unless the options say which.

    Args:
        shown: earlier answers beside each text; None: 8.
        told: a file of what is known of them (`description_in`).

    Raises:
        BadInput: as `voice_of` and `description_in`.
    """
    found = store.datasets.get(number)
    assert found is not None
    dataset, names = found.read_as(task), list(dict.fromkeys(names))
    descriptions = {} if told is None else description_in(told, names)
    labels = [] if "labels" in options else _labels_of(store, dataset, names)
    more = {"labels": labels} if labels else {}
    return {
        name: {**options, **more}
        | voice_of(
            store,
            dataset,
            name,
            shown=SHOWN if shown is None else shown,
            description=descriptions.get(name, ""),
            seed=seed,
        )
        for name in names
    }


def _labels_of(store: Store, dataset: Dataset, names: Sequence[str]) -> list[str]:
    """The labels that gold or these people give anywhere, by name; empty where answers are none of labels."""
    kind = KINDS.get(dataset.task)
    if kind not in ("label", "labels"):
        return []
    every = _comparable(store, dataset, [GOLD, *names]).values()
    said = (answer for own in every for answer in own.values())
    return sorted({label for one in said for label in ([one] if kind == "label" else one)})


def _comparable(store: Store, dataset: Dataset, sources: Sequence[str]) -> dict[str, dict[int, Any]]:
    """What each source says of each text: a label, a list of labels, numbers by name, or places of spans."""
    kind = KINDS.get(dataset.task)
    if kind is None:
        raise BadInput(f"--as is for {', '.join(KINDS)}, not for {dataset.task}")
    found = {}
    for name in sources:
        try:
            said = source_answers(store, dataset, [name])[name]
        except BadInput:
            # A record of one label has no room for annotators: what the texts came for has.
            said = source_answers(store, dataset.read_as(dataset.kept_as), [name])[name]
        forms = ((number, _form(kind, answer)) for number, answer in said.items())
        found[name] = {number: form for number, form in forms if form is not None}
    return found


def _form(kind: str, answer: Answer) -> Any:
    if kind == "values":
        return dict(answer.values) or None
    if kind == MARKS:
        return [place for span in answer.spans for place in span.parts]
    if answer.labels is None or kind == "labels":
        return answer.labels if answer.labels is None else list(answer.labels)
    return answer.labels[0] if answer.labels else None


def voices_report(store: Store, dataset: Dataset, runs: Mapping[str, str]) -> dict[str, Any]:
    """How close runs that were asked as annotators come to what these say.

    Args:
        runs: by the annotator's name the id of the run.

    Returns:
        `runs`; `plain`, the newest run of the same model and way that was asked as nobody (None: there is none); and a
        document of `own_answers_report` by source: `asked_as` (each annotator's own run), `plain`, `others` (the answer
        that most of the other people give), `gold`, each against the annotators' own answers; and `to_others`, the
        runs against that answer of the others. Each is over the texts of which both sides and the run say something.
    """
    from emotui.metrics.people_spread import own_answers_report

    kind = KINDS[dataset.task]
    samples = dict(stored_samples(store, dataset, dataset.n))

    def comparable(names: Sequence[str]) -> dict[str, dict[int, Any]]:
        found = _comparable(store, dataset, names)
        if kind != MARKS:
            return found
        return {name: {at: _marked(samples[at].text, one) for at, one in said.items()} for name, said in found.items()}

    def answered(run: str) -> dict[int, Any]:
        """None where the answer says nothing, or failed: it counts as wrong."""
        return dict.fromkeys(row.sample for row in store.results.of_run(run)) | comparable([run])[run]

    kept = {run.run: run for run in store.runs.all(dataset.dataset)}
    people = [name for name in votes_of(store, dataset) if name not in kept or kept[name].source == PERSON]
    said = comparable(list(dict.fromkeys([*people, *runs])))
    asked = {name: answered(run) for name, run in runs.items()}
    others = {name: _of_most([said[other] for other in said if other != name], kind) for name in runs}
    plain = _asked_as_nobody(kept.values(), kept[next(iter(runs.values()))])
    beside = {"asked_as": asked, "others": others, "gold": dict.fromkeys(runs, comparable([GOLD])[GOLD])}
    if plain is not None:
        beside["plain"] = dict.fromkeys(runs, answered(plain))

    def report(given: Mapping[str, Mapping[int, Any]], by: Mapping[str, Mapping[int, Any]]) -> dict[str, Any] | None:
        both = {
            at: [name for name in runs if at in given[name] and at in by[name] and at in asked[name]] for at in samples
        }
        texts = [at for at, names in both.items() if names]
        if not texts:
            return None
        true, told = ([{name: side[name][at] for name in both[at]} for at in texts] for side in (given, by))
        return own_answers_report(
            true, told, kind, [shared_by(getattr(samples[at], "meta", None) or {}) for at in texts]
        )

    documents = {source: report(said, by) for source, by in beside.items()}
    return {"runs": dict(runs), "plain_run": plain, **documents, "to_others": report(others, asked)}


def _asked_as_nobody(runs: Iterable[Run], like: Run) -> str | None:
    """The newest finished run of the same model, task and way that was asked as nobody."""
    wanted = like.model, like.task, "done", settings_of(like).way
    for run in runs:
        config = settings_of(run) if run.source == like.source else None
        if config and VOICE not in config.options and (run.model, run.task, run.state, config.way) == wanted:
            return run.run
    return None


def _of_most(people: Sequence[Mapping[int, Any]], kind: str) -> dict[int, Any]:
    """What most people say of each text: the most frequent label, of equally many the first by name; each of several
    labels that more than half of them give; the median of numbers; what at least half of them mark.
    """
    by_text: defaultdict[int, list[Any]] = defaultdict(list)
    for said in people:
        for at, answer in said.items():
            by_text[at].append(answer)
    return {at: _most(answers, kind) for at, answers in by_text.items()}


def _most(answers: Sequence[Any], kind: str) -> Any:
    if kind == "values":
        names = dict.fromkeys(name for answer in answers for name in answer)
        return {name: median([answer[name] for answer in answers if name in answer]) for name in names}
    if kind == MARKS:
        return "".join("01"[2 * each.count("1") >= len(each)] for each in zip(*answers, strict=True))
    counts = Counter(label for answer in answers for label in ([answer] if kind == "label" else answer))
    if kind == "labels":
        return [label for label, n in counts.items() if 2 * n > len(answers)]
    return min(counts, key=lambda label: (-counts[label], label))


def _marked(text: str, places: Sequence[tuple[int, int]]) -> str:
    """For each character that is no white space, whether it is marked."""
    inside = {at for start, end in places for at in range(start, end)}
    return "".join("01"[at in inside] for at, sign in enumerate(text) if not sign.isspace())


# What is told of an annotator by a file.


def description_in(path: str, names: Sequence[str]) -> dict[str, str]:
    """By annotator what a file says of them: a text, for one annotator, or records by name (LeWiDi's traits).

    Records are a JSON object of names, or a table whose first column has the names.

    Raises:
        BadInput: the file cannot be read, or says nothing of one of them.
    """
    try:
        text = read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{literal(path)}: cannot be read: {error}") from error
    ending = PurePath(path).suffix.lower()
    if ending == ".json":
        records = _objects(path, text)
    elif ending in (".csv", ".tsv"):
        rows = csv.DictReader(StringIO(text), delimiter="\t" if ending == ".tsv" else ",")
        first = next(iter(rows.fieldnames or ()), "")
        records = {str(row[first]): {name: row[name] for name in row if name not in (first, None)} for row in rows}
    elif len(names) > 1:
        raise BadInput(f"{literal(path)} is one text for {len(names)} annotators: give a .json, .csv or .tsv by name")
    else:
        records = {names[0]: text.strip()}
    lacking = [name for name in names if not records.get(name)]
    if lacking:
        raise BadInput(f"{literal(path)}: says nothing of {literal(lacking[0])}")
    return {name: _traits(records[name]) for name in names}


def _objects(path: str, text: str) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadInput(f"{literal(path)}: is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise BadInput(f"{literal(path)}: should be an object: a name, and what is known of the annotator")
    return found


def _traits(record: Any) -> str:
    if isinstance(record, Mapping):
        return "\n".join(f"{name}: {value}" for name, value in record.items() if value not in (None, ""))
    return str(record)
