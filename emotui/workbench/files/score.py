"""The figures of files: every command that scores, decodes or compares without a model and without the store."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from operator import attrgetter
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from emotui.bounded import is_there
from emotui.errors import BadInput
from emotui.formats import Read, capped, read
from emotui.formats.beside import kept_beside
from emotui.formats.columns import FOUND, LabelColumns
from emotui.formats.layouts.layout import ReadOptions
from emotui.formats.ratings import read_ratings
from emotui.formats.reading import Warn, first_fields, warn_skipped
from emotui.formats.rows import shown
from emotui.records import (
    ClassGold,
    LabelsPrediction,
    Rating,
    SampleScore,
    ScenesGold,
    ScenesPrediction,
    SpanPrediction,
)
from emotui.tables import number_of, number_that
from emotui.tasks.added_metrics import NO_VALUE, file_means
from emotui.tasks.parts import AGAINST, CALIBRATE, PEOPLE
from emotui.tasks.registry import task_named
from emotui.tasks.task import Task
from emotui.workbench.datasets.foreign import Foreign, Wish, read_foreign
from emotui.workbench.datasets.importing import described
from emotui.workbench.masked.lexicons import MASKED
from emotui.workbench.runs.scores import LazyEmbedder

if TYPE_CHECKING:
    from emotui.metrics.expected import Objective
    from emotui.metrics.nested_cv import Grid

# Whether a file of predictions is about the records of a gold file, and about all of them.

MISSING = ("empty", "skip")
"""What a gold record without a prediction counts as: an answer that says nothing, or none at all."""

_NAMED = 3
_LIKELY = 0.5


def lacking_in(task: Task, golds: Sequence[Any], answers: Sequence[Any]) -> list[tuple[str, int]]:
    """Each gold id and repeat without a prediction, where predictions have repeats; else the repeat is 0."""
    if not task.files.repeats:
        said = {record.id for record in answers}
        return [(one.id, 0) for one in golds if one.id not in said]
    there = {(record.id, record.repeat) for record in answers}
    repeats = sorted({repeat for _, repeat in there}) or [0]
    return [(one.id, repeat) for repeat in repeats for one in golds if (one.id, repeat) not in there]


def listed(keys: Mapping[str, Any], *, also_absent: bool = False) -> list[str]:
    """The labels that gold or an answer gives a whole text. `also_absent`: those too that it says are not there."""
    several = keys.get("labels") or ()
    if isinstance(several, Mapping):
        several = [name for name, there in several.items() if (there or 0) >= _LIKELY or also_absent]
    return [*several, *([keys["label"]] if keys.get("label") else [])]


def without_text(predicted: str, gold: str, labels: Sequence[str]) -> str:
    """That no text has these labels, such as numbers in place of names, or names in another case: they are wrong."""
    some = ", ".join(map(shown, labels[:_NAMED]))
    return f"{predicted}: no text of {gold} has the label {some}" + (
        f" ({len(labels)} such labels)" if len(labels) > 1 else ""
    )


def _warn_of_strangers(
    task: Task, golds: Sequence[Any], answers: Sequence[Any], predicted: str, gold: str, warn: Warn
) -> None:
    """A line about labels that are given and that gold has nowhere. Of masks, whose words may be any, there is none."""
    if task.name == MASKED:
        return
    known, said = (
        dict.fromkeys(
            name
            for one in records
            for name in listed({key: getattr(one, key, None) for key in ("label", "labels")}, also_absent=also_absent)
        )
        for records, also_absent in ((golds, True), (answers, False))
    )
    if known and (strangers := [name for name in said if name not in known]):
        warn(without_text(predicted, gold, strangers))


def check_fit(
    golds: Sequence[Any], answers: Sequence[Any], lacking: Collection[tuple[str, int]], predicted: str, gold: str
) -> dict[str, Any]:
    """Nothing, where the two files fit.

    Raises:
        BadInput: a line for each prediction about no gold record, that begins with its id, and one for all that
            `lacking` names.
    """
    ids = {record.id for record in golds}
    problems = [f"{record.id}: no record of {gold} has this id" for record in answers if record.id not in ids]
    if lacking:
        problems.append(without_prediction(predicted, lacking, f"{len(golds)} gold ids"))
    if problems:
        raise BadInput(*problems)
    return {}


def without_prediction(path: str, lacking: Collection[tuple[str, int]], of: str) -> str:
    """That a file has no prediction for some ids (or repeats of them), the first of them named, of so many."""
    without = list(dict.fromkeys(key for key, _ in lacking))
    first = ", ".join(map(repr, without[:_NAMED])) + (", …" if len(without) > _NAMED else "")
    return (
        f"{path}: no prediction for {len(without)} of {of} ({first}): "
        "say what they count as with --missing empty or --missing skip"
    )


Record = TypeVar("Record", bound=msgspec.Struct)
Document = dict[str, Any]


class _Files:
    """The files of one report: read with the same rules, and blamed by the line on which a record stands."""

    def __init__(self, *, skip_bad: bool, warn: Warn) -> None:
        self._skip_bad, self._warn = skip_bad, warn
        self._read: list[tuple[str, Sequence[Any], Sequence[int], Callable[[Any], str]]] = []
        """Path, records, lines and keys of files of which nobody has asked yet where a record stands."""
        self._places: dict[str, str] = {}

    def read(
        self,
        path: str,
        kind: type[Record],
        key: str | Callable[[Record], str] = "id",
        columns: LabelColumns = FOUND,
    ) -> list[Record]:
        """Records of a file. A problem that is found later is put down to the file read last that has the key."""
        got: Read[Record] = read(path, kind, skip_bad=self._skip_bad, columns=columns)
        warn_skipped(got, self._warn)
        self._read.append((path, got.records, got.lines, key if callable(key) else attrgetter(key)))
        return got.records

    def golds(self, path: str, task: Task, columns: LabelColumns) -> list[Any]:
        """Gold records of a file as plain `emotui import` reads it; the project's own kind by a faster reader.

        Raises:
            BadInput: neither reader takes it; what the own one finds wrong, where the file is of its kind.
        """
        kind, on_disk = task.sample, is_there(path) and (Path(path).is_file() or Path(path).is_dir())
        if columns.threshold is not None or not on_disk:
            return self.read(path, kind, columns=columns)
        lines = Path(path).suffix.lower() == ".jsonl"
        there = first_fields(path) if lines else frozenset[str]()
        own = bool(there) and there <= {*kind.__struct_fields__, *kept_beside(kind), "annotators"}
        if own or columns.names:
            with suppress(BadInput):
                return self.read(path, kind, columns=columns)
        wish = Wish(task.name, options=ReadOptions(label_names=columns.names or ()))
        try:
            found = read_foreign([path], wish, skip_bad=self._skip_bad)
        except BadInput:
            if lines or columns.names or task.files.label_columns:
                return self.read(path, kind, columns=columns)
            raise
        unread = "id" in there and not any("id" in taken.options.columns for taken in found.taken)
        labelled, people = task.files.labelled, task.files.annotators
        silent = labelled is not None and not any(
            labelled(one) or (people is not None and people(one)) for one in found.samples
        )
        if unread or silent:
            return self.read(path, kind, columns=columns)
        for line in (*(f"skipped {line}" for line in found.skipped), *_read_as(found)):
            self._warn(line)
        self._looked_up().update(zip([sample.id for sample in found.samples], found.places, strict=True))
        return found.samples

    def place(self, key: str, path: str, line: int) -> None:
        """Let a record that was read elsewhere be blamed by its line."""
        self._looked_up()[key] = f"{path}:{line}"

    def _looked_up(self) -> dict[str, str]:
        """Where the record of each key stands. Nearly always nothing is wrong, and a million are not looked up."""
        for path, records, lines, key in self._read:
            self._places.update((key(record), f"{path}:{line}") for record, line in zip(records, lines, strict=True))
        self._read.clear()
        return self._places

    def good(self, records: Sequence[Record], check: Callable[[Record], object]) -> list[Record]:
        """The records that `check` raises no ValueError for; the others are told."""
        kept = []
        for record in records:
            try:
                check(record)
            except ValueError as problem:
                key = record.id  # type: ignore[attr-defined]
                self._warn(f"skipped {self.placed(f'{key}: {problem}')}")
                continue
            kept.append(record)
        return kept

    def scorable(self, records: Sequence[Record], fault: Callable[[Record], str | None] | None) -> list[Record]:
        """The gold records; those with a fault are bad input, or left out and told.

        Raises:
            BadInput: some have a fault; `FILE:LINE: ID: what`.
        """
        wrong = {place: why for place, one in enumerate(records) if fault is not None and (why := fault(one))}
        told = [self.placed(f"{records[place].id}: {why}") for place, why in wrong.items()]  # type: ignore[attr-defined]
        if told and not self._skip_bad:
            raise BadInput(*capped(told))
        for problem in told:
            self._warn(f"skipped {problem}")
        return [one for place, one in enumerate(records) if place not in wrong]

    def report(self, build: Callable[[], Document]) -> Document:
        """The report; what it finds wrong with a record, told as `FILE:LINE: what`."""
        try:
            return build()
        except BadInput as error:
            raise BadInput(*capped([self.placed(problem) for problem in error.problems])) from None

    def placed(self, problem: str) -> str:
        """A problem that begins with a key, behind the file and line of that."""
        places = self._looked_up()
        for end in [place for place, letter in enumerate(problem) if letter == ":"]:
            if problem[:end] in places:
                return f"{places[problem[:end]]}: {problem}"
        return problem


def _read_as(found: Foreign) -> Iterator[str]:
    """What a file was taken for, where its columns are not called as the fields of records are, and what was made of it
    that may be meant otherwise; a line each.
    """
    (taken,) = found.taken
    if any(column != key.partition(".")[2] and column != key for key, column in taken.options.columns.items()):
        first, *more = described(found)
        yield first
        yield from (f"{taken.place}: {line.strip()}" for line in more)
    else:
        yield from (f"{taken.place}: {line}" for line in (*taken.options.remarks, *found.notes))


def score_files(
    kind: str,
    gold: str,
    predicted: str,
    given: Mapping[str, Any] | None = None,
    *,
    missing: str | None = None,
    baselines: bool = False,
    columns: LabelColumns = FOUND,
    skip_bad: bool = False,
    warn: Warn,
) -> Document:
    """The document of `emotui score KIND`.

    Args:
        given: values of the task's own options (`TaskFiles.score_options`), with `_` for the dashes in their names.
        missing: one of `MISSING` of `files.fit`, and then the document counts them; None: they are bad input.
        baselines: add the figures of baselines, by name, under `baselines`.
        columns: of a table with a column a label.

    Raises:
        BadInput: a file cannot be read, or does not fit the other one; `FILE:LINE: what`. Or there is no such option.
    """
    task = task_named(kind)
    score = task.files.score
    if score is None:
        raise BadInput(f"files of {kind} are not scored")
    if baselines and task.files.baselines is None:
        raise BadInput(f"there are no baselines for {kind}")
    _check_asked(task, given or {}, missing, columns)
    files = _Files(skip_bad=skip_bad, warn=warn)
    every = files.scorable(files.golds(gold, task, columns), task.files.fault)
    said = files.read(predicted, task.files.predicted, columns=_given(columns))
    if skip_bad:
        known = {record.id for record in every}
        said = files.good(said, lambda record: _known(record, known, gold))
    labelled = task.files.labelled
    golds = every if labelled is None else [record for record in every if labelled(record)]
    unlabelled: set[str] = set()
    if len(golds) < len(every):
        unlabelled = {record.id for record in every} - {record.id for record in golds}
    answers = [record for record in said if record.id not in unlabelled]  # type: ignore[attr-defined]
    lacking = lacking_in(task, golds, answers)
    files.report(lambda: check_fit(golds, answers, {} if missing else lacking, predicted, gold))
    if missing == "skip":
        there = {record.id for record in answers}  # type: ignore[attr-defined]
        golds = [record for record in golds if record.id in there]
        whole = answers
    else:
        whole = [*answers, *(task.record(key, None, repeat) for key, repeat in lacking)]
    _warn_of_strangers(task, every, answers, predicted, gold, warn)
    options = {**(given or {}), "missing": missing}
    with LazyEmbedder() as embedding:
        document = files.report(lambda: score(golds, answers if task.files.repeats else whole, options, embedding.use))
        means = {name: mean for name, mean in file_means(task, golds, whole).items() if name not in document}
        silent = {name: NO_VALUE for name, mean in means.items() if mean is None}
        notes = {"notes": {**document.get("notes", {}), **silent}} if silent else {}
        document |= means | notes
        if labelled is not None:
            document["unlabelled"] = len(unlabelled)
        if missing:
            document["missing"] = len(lacking)
        if options.get(CALIBRATE) and options.get(AGAINST) != PEOPLE:
            raise BadInput(f"--{CALIBRATE} fits to how people differ: give --{AGAINST} {PEOPLE} too")
        if options.get(AGAINST) == PEOPLE:
            document[PEOPLE] = files.report(lambda: _against_people(task, every, said, options, predicted, gold))
        if baselines and task.files.baselines is not None:
            document["baselines"] = task.files.baselines(golds, options, embedding.use)
    return document


def _check_asked(task: Task, given: Mapping[str, Any], missing: str | None, columns: LabelColumns) -> None:
    """Refuse what no command of a task would take: a misspelt option would change the figures in silence."""
    options = {option.name.replace("-", "_"): option for option in task.files.score_options}
    choices = {"missing": MISSING, **{name: option.choices for name, option in options.items()}}
    if columns != FOUND and not task.files.label_columns:
        raise BadInput(f"score {task.files.kind} reads no columns of labels")
    for name, value in {"missing": missing, **given}.items():
        if name not in choices:
            raise BadInput(f"score {task.files.kind} has no option {name!r} (there: {', '.join(choices)})")
        if value is not None and choices[name] and value not in choices[name]:
            raise BadInput(f"{name} of score {task.files.kind} is {' or '.join(choices[name])}, not {value!r}")


def _against_people(
    task: Task, every: Sequence[Any], said: Sequence[Any], options: Mapping[str, Any], predicted: str, gold: str
) -> Document:
    """The figures against the distribution of annotators, over all records that have several, labelled or not.

    Raises:
        BadInput: there is no such record, or one lacks a prediction and `missing` does not say what it counts as.
    """
    from emotui.metrics.people_spread import LEAST

    annotators, score = task.files.annotators, task.files.score_people
    if annotators is None or score is None:
        raise BadInput(f"files of {task.files.kind} are not scored against people")
    people = {record.id: len(annotators(record)) for record in every}
    judged = [record for record in every if people[record.id] >= LEAST]
    if not judged:
        raise BadInput(
            f"{gold}: no record has `annotators` of which {LEAST} answer: there are no people to score against"
        )
    lacking = lacking_in(task, judged, said)
    missing = options.get("missing")
    check_fit(every, said, {} if missing else lacking, predicted, gold)
    without = {key for key, _ in lacking}
    if missing == "skip":
        judged = [record for record in judged if record.id not in without]
    answers = [*said, *(task.record(key, None, 0) for key in sorted(without))]
    folds = options.get(CALIBRATE) or 0
    if folds > len(judged):
        raise BadInput(f"{gold}: {len(judged)} records with several annotators cannot be dealt into {folds} folds")
    document = score(judged, answers, options)
    if single := sum(n == 1 for n in people.values()):
        document["notes"]["n"] = (
            f"{number_of(single, 'record')} with the answer of one annotator alone "
            f"{'is' if single == 1 else 'are'} left out"
        )
    return document


def score_whole_records(
    kind: str,
    paths: Sequence[str],
    given: Mapping[str, Any] | None = None,
    *,
    skip_bad: bool = False,
    warn: Warn,
) -> Document:
    """The document of `emotui score KIND --records R`, over one or several files.

    Raises:
        BadInput: a file cannot be read, two of them have one record twice, or a record cannot be scored;
            `FILE:LINE: what`.
    """
    task = task_named(kind)
    whole, score = task.files.whole, task.files.score_records
    if whole is None or score is None:
        raise BadInput(f"{kind} is scored from gold and predictions")
    files = _Files(skip_bad=skip_bad, warn=warn)
    records: list[Any] = []
    for path in paths:
        there = set(map(whole.place, records))
        found = files.read(path, whole.record, key=whole.place)
        twice = [f"{whole.place(one)}: stands in another file too" for one in found if whole.place(one) in there]
        if twice:
            raise BadInput(*capped([files.placed(problem) for problem in twice]))
        records += found
    return files.report(lambda: score(records, given or {}))


def _known(record: Any, ids: set[str], gold: str) -> None:
    if record.id not in ids:
        raise ValueError(f"no record of {gold} has this id")


def _given(columns: LabelColumns) -> LabelColumns:
    """How predictions are read: they have the names of the gold file, and are 0 and 1 or probabilities."""
    return LabelColumns(columns.names)


def decode_scenes(
    train: str,
    scores: str,
    *,
    alphas: Sequence[float] | None,
    prior: str,
    smoothing: float,
    couplings_only: bool,
    temperature: float | str,
    objective: "Objective",
    output: Sequence[str],
    skip_bad: bool,
    warn: Warn,
) -> Document:
    """The document of `emotui decode`: a prior from `train`, log-odds and any gold from `scores`."""
    from emotui.metrics.decode_report import decode_report

    files = _Files(skip_bad=skip_bad, warn=warn)
    golds = {record.id: record.labels for record in files.read(train, ScenesGold)}
    pairs, known, without = _scored_scenes(files, scores)
    if not known:  # hard answers have no room for gold beside them
        known = {key: dict(golds[key]) for key, row in pairs.items() if key in golds and not _has_logits(row)}

    def build() -> Document:
        if without:
            raise BadInput(*without)
        chosen = {} if alphas is None else {"alphas": alphas}
        return decode_report(
            golds,
            pairs,
            known,
            prior=prior,
            smoothing=smoothing,
            output=output,
            couplings_only=couplings_only,
            temperature=temperature,
            objective=objective,
            **chosen,
        )

    return files.report(build)


def decode_scenes_in_folds(
    scores: str, gold: str | None, grid: "Grid", folds: int, *, skip_bad: bool, warn: Warn
) -> Document:
    """The document of `emotui decode --folds`: log-odds from `scores`, the rest chosen inside the folds.

    Args:
        gold: gold labels by id; None: they stand beside the scores.
    """
    from emotui.metrics.decode_report import decode_folds_report

    files = _Files(skip_bad=skip_bad, warn=warn)
    golds = {} if gold is None else {record.id: dict(record.labels) for record in files.read(gold, ScenesGold)}
    pairs, known, without = _scored_scenes(files, scores)
    silent = sum(key not in pairs for key in golds)
    if silent:
        warn(f"{gold}: {number_that(silent, 'record', 'has no scores and is', 'have no scores and are')} left out")
    known = {key: vector for key, vector in golds.items() if key in pairs} | known

    def build() -> Document:
        if without:
            raise BadInput(*without)
        return decode_folds_report(pairs, known, grid, folds)

    return files.report(build)


def _has_logits(row: Mapping[str, Any]) -> bool:
    return any(isinstance(value, Sequence) for value in row.values())


def _scored_scenes(files: _Files, path: str) -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, int]], list[str]]:
    """By id what is decoded (logits, or hard answers with None for a label without one), gold labels by id where there
    are some, and a line for each record with neither logits nor hard answers.
    """
    answers = files.read(path, ScenesPrediction)
    said: dict[str, dict[str, Any]] = {}
    for record in answers:
        if record.scores is not None:
            said[record.id] = dict(record.scores)
        elif record.hard and record.labels:
            said[record.id] = {**record.labels, **dict.fromkeys(record.unanswered)}
    known = {record.id: dict(record.labels) for record in answers if record.labels is not None and not record.hard}
    return said, known, [f"{record.id}: {_undecodable(record)}" for record in answers if record.id not in said]


def _undecodable(record: ScenesPrediction) -> str:
    if not record.labels:
        return "no scores to decode"
    return 'labels without scores: "hard": true beside them says that a model answered so in words'


def choose_thresholds(
    gold: str, predicted: str, to: str | None = None, *, columns: LabelColumns = FOUND, skip_bad: bool, warn: Warn
) -> Document:
    """The document of `emotui thresholds`, and its thresholds as a file where `to` names one."""
    files = _Files(skip_bad=skip_bad, warn=warn)
    task = task_named("labels")
    golds, by = files.golds(gold, task, columns), task.files.thresholds
    assert by is not None
    answers = files.read(predicted, LabelsPrediction, columns=_given(columns))
    document = files.report(lambda: by.choose(golds, answers))
    if to is not None:
        by.write(to, document["thresholds"])
    return document


def lexical(records: str, *, inflections: bool = False, skip_bad: bool, warn: Warn) -> Document:
    """The document of `emotui lexical`, by EmoLex."""
    from emotui.lexicons import emolex
    from emotui.metrics.lexical import emotion_of, lexical_report

    files = _Files(skip_bad=skip_bad, warn=warn)
    golds = files.read(records, ClassGold)
    if skip_bad:
        golds = files.good(golds, lambda record: record.label and emotion_of(record.label))
    triples = [(record.id, record.text, record.label) for record in golds if record.label is not None]
    return files.report(lambda: lexical_report(triples, emolex(), inflections=inflections))


def agreement(ratings: str, *, skip_bad: bool, warn: Warn) -> Document:
    """The document of `emotui agreement`."""
    from emotui.metrics.agreement import agreement_report

    files = _Files(skip_bad=skip_bad, warn=warn)
    table = read_ratings(ratings, skip_bad=skip_bad)
    if table is None:
        records = files.read(ratings, Rating, key="item")
        return files.report(lambda: agreement_report((r.item, r.rater, r.label) for r in records))
    warn(f"{ratings}: taken as {table.taken}")
    for problem in table.problems:
        warn(f"skipped {problem}")
    for one in table.ratings:
        files.place(one.item, ratings, one.line)
    return files.report(lambda: agreement_report((r.item, r.rater, r.label) for r in table.ratings))


def scenes_agreement(records: str, *, skip_bad: bool, warn: Warn) -> Document:
    """The document of `emotui agreement --records`: of the annotators' vectors of scenarios."""
    from emotui.metrics.agreement import vectors_agreement_report

    files = _Files(skip_bad=skip_bad, warn=warn)
    said = {record.id: record.annotators for record in files.read(records, ScenesGold) if record.annotators}
    if not said:
        raise BadInput(f"{records}: no record has annotators")
    return files.report(lambda: vectors_agreement_report(said))


def compare(a: str, b: str, *, inner: bool, seed: int, skip_bad: bool, warn: Warn) -> Document:
    """The document of `emotui compare`. Repeats count by their mean; samples of one `group` are drawn together.

    Raises:
        BadInput: as `paired_report`; a sample is of two groups.
    """
    from emotui.metrics.paired import paired_report

    files = _Files(skip_bad=skip_bad, warn=warn)
    sides, groups = [], dict[str, str]()
    for path in (a, b):
        scores: dict[str, list[float]] = {}
        for record in files.read(path, SampleScore):
            scores.setdefault(record.id, []).append(record.score)
            group = record.group
            if group is not None and groups.setdefault(record.id, group) != group:
                raise BadInput(f"{path}: {record.id} is of the group {group!r}, and before of {groups[record.id]!r}")
        sides.append({key: fmean(each) for key, each in scores.items()})
    first, second = sides
    return files.report(lambda: paired_report(first, second, inner, seed, groups=groups))


def known(
    answers: Read[SpanPrediction], ids: set[str], predicted: str, gold: str, *, skip_bad: bool, warn: Warn
) -> list[SpanPrediction]:
    """The predictions whose id stands among the gold ids; the others are bad input, or left out with `skip_bad`."""
    strays = [
        f"{predicted}:{line}: no gold sample has the id {record.id!r} in {gold}"
        for record, line in zip(answers.records, answers.lines, strict=True)
        if record.id not in ids
    ]
    if strays and not skip_bad:
        raise BadInput(*capped(strays))
    for stray in strays:
        warn(stray)
    return [record for record in answers.records if record.id in ids]
