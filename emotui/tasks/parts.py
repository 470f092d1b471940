"""What a task declares about itself beside what it does: its records in files, its words, and its choices."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from difflib import get_close_matches
from typing import Any, Protocol, TypeVar

import msgspec

from emotui.backends.base import ModelCard
from emotui.errors import BadInput
from emotui.metrics.span_scoring import Embed
from emotui.store.query import Run
from emotui.store.rows import ResultRow
from emotui.tables import ResultsTable
from emotui.tasks.prompting.files import Prompts

# Which of a model's labels is meant by a task's: the same word in another form counts, another word does not.

_FORMS: Mapping[str, tuple[str, ...]] = {
    "joy": ("happiness", "happy", "joyful", "joyous"),
    "trust": ("trusting", "trustful"),
    "fear": ("fearful", "afraid", "scared"),
    "surprise": ("surprised", "surprising"),
    "sadness": ("sad",),
    "disgust": ("disgusted", "disgusting"),
    "anger": ("angry",),
    "anticipation": ("anticipating", "anticipatory"),
}
"""Plutchik's eight, and under what names classifiers have them; happiness is what Ekman calls joy."""

_NUMBERED = re.compile(r"LABEL_\d+")
"""What transformers calls the labels of a model that says no names."""

_NAMED = {form: name for name, forms in _FORMS.items() for form in forms}


def matched(label: str, own: Iterable[str]) -> str | None:
    """The one of a model's own labels that a label is: the same, case and ends apart, else the same in another form.

    None where there is none, or more than one in another form.
    """
    names = list(own)
    name = label.strip().casefold()
    same = next((each for each in names if each.strip().casefold() == name), None)
    if same is not None:
        return same
    alike = [each for each in names if _named(each) == _named(label)]
    return alike[0] if len(alike) == 1 else None


def matched_all(labels: Sequence[str], own: Sequence[str], spec: str) -> dict[str, str]:
    """The model's label for each of these.

    Raises:
        BadInput: the model lacks one, or two of them would be one label of its; one line.
    """
    found = {label: matched(label, own) for label in labels}
    lacking = [label for label, known in found.items() if known is None]
    if lacking:
        first, *more = lacking
        others = f" and {len(more)} more of these {len(labels)} labels" if more else ""
        unnamed = all(map(_NUMBERED.fullmatch, own))
        hint = " (numbers in place of names: id2label in its config.json gives names)" if unnamed else ""
        raise BadInput(f"{spec} has no label {first!r}{others}; it knows: {', '.join(own)}{hint}{to_map(first, own)}")
    whole = {label: known for label, known in found.items() if known is not None}
    taken: dict[str, str] = {}
    for label, known in whole.items():
        if known in taken:
            raise BadInput(f"{spec} has one label, {known!r}, for both {taken[known]!r} and {label!r}")
        taken[known] = label
    return whole


def to_map(label: str, own: Iterable[str]) -> str:
    """How a label that a model does not know is brought together with its own, for the end of a refusal."""
    names = sorted(own)
    theirs = next(iter(get_close_matches(label, names, 1)), "theirs")
    key = theirs if re.fullmatch(r"[A-Za-z0-9_-]+", theirs) else json.dumps(theirs, ensure_ascii=False)
    line = f"{key} = {json.dumps(label, ensure_ascii=False)}"
    return f"; --map-labels FILE names the model's labels anew, with lines such as: {line}"


def _named(label: str) -> str:
    name = label.strip().casefold()
    return _NAMED.get(name, name)


# What samples share with others: a passage, a post, an original. Such samples do not vary apart.

SHARED = ("passage", "post", "original", "document", "thread", "conversation", "dialogue", "dialog")
"""What the columns are called, `_id` behind them or not; where there are several, the first of these."""


def shared_column(columns: Iterable[str]) -> str | None:
    """The column that says what samples share; None where there is none."""
    there = {plain_name(name): name for name in columns}
    return next((there[name] for name in SHARED if name in there), None)


def plain_name(column: str) -> str:
    """A column's name without capitals and without an `id` behind it."""
    return column.lower().removesuffix("id").rstrip("_- ")


def shared_of(samples: Iterable[Any]) -> dict[str, str | None]:
    """By the id of each sample what it shares with others; None, or no entry, where it says nothing."""
    if getattr(samples, "alone", False):  # a million need not be read for that
        return {}
    return {sample.id: shared_by(getattr(sample, "meta", {})) for sample in samples}


def shared_by(meta: Mapping[str, Any]) -> str | None:
    """What one record says that it shares with others; None where it says nothing."""
    column = shared_column(meta)
    said = None if column is None else meta[column]
    return str(said) if isinstance(said, str | int) and said != "" else None


# What is to be known of answers that are no plain ones: counted beside a run's figures, and told.

_Prediction = TypeVar("_Prediction")


def predictions_of(rows: Iterable[ResultRow], kind: type[_Prediction]) -> list[_Prediction]:
    """What a task kept as the predictions of these rows, where there are some; equal ones are one object."""
    decode, known = msgspec.json.Decoder(kind).decode, dict[bytes, _Prediction]()
    found = []
    for row in rows:
        if row.prediction is not None:
            if (said := known.get(row.prediction)) is None:
                said = known[row.prediction] = decode(row.prediction)
            found.append(said)
    return found


LITTLE_MASS = 0.5
"""Probability of yes and no together; with less, a model's first token is likelier something else."""


def little_mass(counts: Sequence[int], scores: int) -> dict[str, object]:
    """How often that was so. Args: counts: scores of little mass in each answer. scores: how many there are in all."""
    samples = sum(map(bool, counts))
    return {"scores": sum(counts), "of": scores, "samples": samples, "below": LITTLE_MASS}


def said_of_little_mass(counts: Sequence[int]) -> str:
    """The same in words."""
    samples = sum(map(bool, counts))
    where = f"in {samples} of {len(counts)} answers (marked !) the first word is likelier something else than"
    return f"{where} yes or no: they say little of what it thinks"


def no_answers(lost: Sequence[Mapping[str, str]], scores: int | None) -> dict[str, object]:
    """How often there is none about a label.

    Args:
        lost: why, by label, in each answer.
        scores: how many labels were asked about in all; None where nobody knows.
    """
    return {"scores": sum(map(len, lost)), "of": scores, "samples": sum(map(bool, lost))}


def said_of_no_answers(lost: Sequence[Mapping[str, str]], scores: int | None) -> str:
    """The same in words, with the first reason."""
    why = next(why for each in lost for why in each.values())
    questions = f"{sum(map(len, lost))} questions" if scores is None else f"{sum(map(len, lost))} of {scores} questions"
    where = f"in {sum(map(bool, lost))} of {len(lost)} answers (marked !)"
    return f"{questions} {where} came to no yes or no, and count as no ({why})"


def with_notes(found: dict[str, object], notes: Mapping[str, str]) -> dict[str, object]:
    """The figures with what a reader of them has to know."""
    return found | ({"notes": dict(notes)} if notes else {})


class Labelled(Protocol):
    """An answer by labels: how it was to be read where a model wrote it, and where yes and no had little mass."""

    @property
    def form(self) -> str: ...
    @property
    def probs(self) -> Mapping[str, float]: ...
    @property
    def little_mass(self) -> Sequence[str]: ...


def of_labels(kept: Sequence[Labelled], forms: Sequence[str]) -> dict[str, object]:
    """Under `answers`, of a model that writes: how many were read in which of `forms`. `little_mass`: as above."""
    found: dict[str, object] = {}
    notes: dict[str, str] = {}
    if read := [one.form for one in kept if one.form]:
        found["answers"] = {"n": len(read)} | {form: read.count(form) for form in forms}
    if any(astray := [len(one.little_mass) for one in kept]):
        found["little_mass"] = little_mass(astray, sum(len(one.probs) for one in kept))
        notes["little_mass"] = said_of_little_mass(astray)
    return with_notes(found, notes)


Embedding = Callable[[], AbstractContextManager[Embed]]
"""Loads the embedded model for as long as the context lasts, and embeds sentences with it."""

ScoreFiles = Callable[[Sequence[Any], Sequence[Any], Mapping[str, Any], Embedding], dict[str, Any]]
"""(gold records, predicted records, values of the score options by name, the embedded model) to a document.

Every gold record is labelled and every predicted one is about one of them; each gold record has a prediction, but where
predictions have repeats: there one may lack in some or all, and counts as empty, or as left out where the value of
`missing` is "skip". Raises BadInput for records that cannot be scored, one line each that begins with the record's id.
"""

AGAINST, PEOPLE = "against", "people"
"""`--against people`: the option, and where the figures stand in the document."""

AnnotatorsOf = Callable[[Any], Mapping[str, Any]]
"""(gold record) to what its annotators answer, by name; empty where nobody does."""

ScorePeople = Callable[[Sequence[Any], Sequence[Any], Mapping[str, Any]], dict[str, Any]]
"""(gold records that several people answered, predicted records about all of them, values of the score options by name)
to the figures against the distribution of these people's answers.
"""

Baselines = Callable[[Sequence[Any], Mapping[str, Any], Embedding], dict[str, dict[str, Any]]]
"""(gold records, values of the score options by name, the embedded model) to the baselines: documents by name."""


class ScoreOption(msgspec.Struct, frozen=True):
    """An option of `emotui score KIND`: `name` as the flag without dashes, `help`; the path of a file unless told.

    `switch`: it has no value. `several`: it may be given again and again. `choices`, `least`: its values, or a whole
    number from there on. `metavar`: what stands for the value in the help.
    """

    name: str
    help: str
    switch: bool = False
    several: bool = False
    choices: tuple[str, ...] = ()
    least: int | None = None
    metavar: str | None = None


AGAINST_PEOPLE = ScoreOption(
    AGAINST,
    "Beside gold, score against the distribution of the `annotators` of the gold records, by LeWiDi's measures.",
    choices=(PEOPLE,),
)

CALIBRATE, CALIBRATED = "calibrate", "calibration"
"""`--calibrate`: the option, and where the figures stand among those against people."""

CALIBRATE_ON_PEOPLE = ScoreOption(
    CALIBRATE,
    "With --against people: temperature, vector scaling and thresholds, fitted on people's answers to the other folds.",
    least=2,
    metavar="FOLDS",
)

ILLUSTRATION = "written for emotui; illustration, not benchmark"


class OwnSamples(msgspec.Struct, frozen=True):
    """Samples that come with the task, for a run without a dataset.

    `dataset`: their name in the store. `files`: in `package`. `source`: what the store says of where they are from.
    `at_first`: whether a new workspace has them; else they come with the first run.
    """

    dataset: str
    files: tuple[str, ...]
    package: str = "emotui.sample_data"
    source: str = ILLUSTRATION
    at_first: bool = True


class TaskFiles(msgspec.Struct, frozen=True):
    """The task's records in files.

    Attributes:
        kind: as `emotui predict` and `emotui score` name them.
        predicted: the record of a prediction.
        score: the document of `emotui score KIND`; None: files are not scored.
        about: one line of help.
        score_options: beside `--gold` and `--pred`.
        repeats: whether a predicted record has a field `repeat`; if not, the first of several repeats is exported.
        label_columns: whether a file may be a table with a column a label.
        own: samples that come with the task.
        labelled: whether gold says anything about a record; None: it always does.
        baselines: what is scored beside the predictions by `--baselines`; None: nothing is.
        annotators: what people answer, inside a gold record; None: nothing is scored against them.
        score_people: the figures of `--against people`, where there is `annotators`.
        fault: why a gold record cannot be scored; None where it can. None: nothing but its form can be wrong.
        whole: records that hold samples with what sources say of them; None: there are none.
        score_records: the document of `emotui score KIND --records R`, over whole records and with the models that the
            options name; None: KIND is scored from gold and predictions.
        tables_of: such a document as a person reads it.
        thresholds: from which probabilities on its answers give a label; None: they go by no threshold.
    """

    kind: str
    predicted: type[msgspec.Struct]
    score: ScoreFiles | None = None
    about: str = ""
    score_options: tuple[ScoreOption, ...] = ()
    repeats: bool = False
    label_columns: bool = False
    own: OwnSamples | None = None
    labelled: Callable[[Any], bool] | None = None
    baselines: Baselines | None = None
    annotators: AnnotatorsOf | None = None
    score_people: ScorePeople | None = None
    fault: Callable[[Any], str | None] | None = None
    whole: "WholeRecords | None" = None
    score_records: "ScoreRecords | None" = None
    tables_of: Callable[[Mapping[str, Any]], tuple[ResultsTable, ...]] | None = None
    thresholds: "Thresholds | None" = None


class Thresholds(msgspec.Struct, frozen=True):
    """Thresholds of labels that fit gold best.

    `choose`: (gold records, predicted records) to the document of `emotui thresholds`, those chosen by label under
    `thresholds`. `write`: (path, thresholds by label), by the file's ending.
    """

    choose: Callable[[Sequence[Any], Sequence[Any]], dict[str, Any]]
    write: Callable[[str, Mapping[str, float]], None]


class Parted(msgspec.Struct, frozen=True):
    """What records hold that have a sample together with what somebody says of it.

    `samples`: each once. `said`: by the name of the source and the id of the sample, by the keys of records in files.
    """

    samples: Sequence[Any]
    said: Mapping[str, Mapping[str, Mapping[str, Any]]]


class WholeRecords(msgspec.Struct, frozen=True):
    """Records in files that hold a sample together with what one source says of it, a record a sample and source.

    Attributes:
        record: their type.
        marks: fields that tell such a record from a sample alone.
        parted: takes them apart. Raises BadInput, a line a problem that begins with `place` of its record.
        place: how a problem names a record.
        joined: the record of a sample, a prediction (None: it failed) and the name of its source.
    """

    record: type[msgspec.Struct]
    marks: tuple[str, ...]
    parted: Callable[[Sequence[Any]], Parted]
    place: Callable[[Any], str]
    joined: Callable[[Any, Any, str], msgspec.Struct]


ScoreRecords = Callable[[Sequence[Any], Mapping[str, Any]], dict[str, Any]]
"""(whole records, values of the score options by name) to a document; raises BadInput as `WholeRecords.parted` does."""


class Measure(msgspec.Struct, frozen=True):
    """A sentence of a paper about the figures of a table.

    Attributes:
        titles: of the figures that it is about; it is left out where none of them stands in the table.
        sentence: what they measure, in the field's words.
        in_words: the same where some models answer in words, without scores; empty where that makes no difference.
    """

    titles: tuple[str, ...]
    sentence: str
    in_words: str = ""


class TaskWords(msgspec.Struct, frozen=True):
    """What people read about the task.

    Attributes:
        title: over its tables, in a report.
        progress: a verb for its progress, before the dataset's name.
        runs: what choosing a run is for.
        without_run: what is shown where none is chosen.
        compares: whether further runs can stand beside the one that is shown.
        marks_errors: whether scores mark errors of several kinds, which can be gone through.
        asks: what a paper calls the task, behind "for"; the title where this is empty.
        measures: what a paper says of its first table, in this order; the table's notes where there is nothing.
    """

    title: str
    progress: str = "asking"
    runs: str = "Run"
    without_run: str = "no run"
    compares: bool = False
    marks_errors: bool = False
    asks: str = ""
    measures: tuple[Measure, ...] = ()


class Asking(msgspec.Struct, frozen=True):
    """How a person chooses the way in which a model is asked.

    Attributes:
        ways: all that the task has by name; `Task.ways` has those of one model.
        offered: those to choose among before the model is loaded.
        named: a word that all tasks share (`emotui.tasks.prompting.settings`) to this task's own name of the way.
        styles: values of `--style`: ways, and with `-cot` behind them ways with reasoning.
        prompts: reads a prompt file of the person's own; None: no way is asked in words that a person could change.
        examples: reads a file of examples into the option `examples`; None: chains or labelled texts.
    """

    ways: tuple[str, ...] = ()
    offered: tuple[str, ...] = ()
    named: Mapping[str, str] = msgspec.field(default_factory=dict)
    styles: tuple[str, ...] = ()
    prompts: Callable[[str], Prompts] | None = None
    examples: Callable[[str], msgspec.Struct] | None = None


class Experiments(msgspec.Struct, frozen=True):
    """Prompting experiments: samples that are made for them, and ways of their own.

    Attributes:
        way: (number, style, cot) to the way that an experiment is asked by.
        ways: all ways of an experiment.
        style_of: a way's style, and whether the model reasons first.
        prefix: begins the id of every sample of an experiment.
        figures: (samples, what is kept of their scores) to the experiment's own figures, under `experiment`.
        half_of: in which half of its experiment a sample is, by the keys of `figures`; None: in none.
        goes_on: whether the F1 of the two halves lead on to the main tasks.
    """

    numbers: tuple[int, ...]
    source: str
    samples: Callable[[int], Sequence[Any]]
    ways: Callable[[int], tuple[str, ...]]
    way: Callable[[int, str | None, bool], str | None]
    style_of: Callable[[str], tuple[str, bool]] = lambda way: (way, False)
    prefix: str = ""
    figures: Callable[[Sequence[Any], Sequence[Any]], Mapping[str, object]] = lambda samples, details: {}
    half_of: Callable[[Any], str | None] = lambda sample: None
    goes_on: Callable[[float, float], bool] = lambda first, second: False


class Lexicon(Protocol):
    """What words are compared by, where a task compares words (`Task.with_lexicon`)."""

    @property
    def mark(self) -> str:
        """What tells two lexicons with their rules apart."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What there is to tell of its files."""


class TaskLabels(Protocol):
    """Of a task that chooses among labels: which they are.

    `always`: a label set is settled for every question, about files too; else only where a person gives one.
    A class may have `of_texts`: where it is true, the samples of `settled` are followed by those of the labels task.
    """

    always: bool

    def of_file(self, card: ModelCard, given: Sequence[str] | None) -> tuple[str, ...]:
        """The labels that answers about a file are over. `given`: the person's own.

        Raises:
            BadInput: the model does not know a given label, or has none of its own and none is given.
        """

    def settled(
        self,
        card: ModelCard,
        samples: Callable[[], Iterable[Any]],
        way: str,
        options: Mapping[str, object],
        seed: int,
    ) -> Mapping[str, object]:
        """A run's options with what only model and samples together decide.

        Raises:
            BadInput: samples have labels that the model does not know.
        """


class ScoredRun(msgspec.Struct, frozen=True):
    """A run with what its answers came to, for a task's own tables.

    `dataset`: the name of its dataset. `scores`: of every answer that is scored the number of its sample and the
    `detail` of its score, by repeat and then by sample. `groups`: by the number of a sample that of what it shares with
    others; empty where samples share nothing. `conventions`: those of its kept scores. `rated`: by the number of
    a sample what raters have said since of the answer: the labels of its emotional and of its neutral version.
    """

    run: Run
    dataset: str
    scores: Sequence[tuple[int, str]]
    groups: Mapping[int, int] = {}
    conventions: frozenset[str] = frozenset()
    rated: Mapping[int, tuple[tuple[str, ...], tuple[str, ...]]] = {}

    def shared(self, ids: Iterable[tuple[int, str]]) -> dict[str, str | None]:
        """By the id of each sample, of (number, id), what it shares with others; None: nothing."""
        return {key: str(self.groups[number]) if number in self.groups else None for number, key in ids}


class SaidLine(msgspec.Struct, frozen=True):
    """What gold and a prediction say to one thing of a sample: a label, a mask, a span.

    `mark`: `M` for what the prediction misses, `X` for what it says too much, empty where both agree or only one side
    is known. `p`: the probability that the model gives, where it gives one; `cut`: from which on the thing is said.
    `measured`: both sides are numbers, of which neither is right or wrong.
    """

    name: str
    gold: str
    predicted: str
    mark: str = ""
    p: float | None = None
    cut: float | None = None
    measured: bool = False
