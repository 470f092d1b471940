"""What somebody else says about a dataset, kept beside the runs of models: a person, or a file of predictions.

What is said stands in the outputs by the keys of records in files, so it can be parsed and scored again as a run can.
"""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import msgspec

from emotui import __version__
from emotui.backends.host import IsCancelled
from emotui.controls import as_unicode
from emotui.errors import BadInput
from emotui.formats import capped, read
from emotui.formats.json_document import present
from emotui.formats.layouts.layout import ReadOptions
from emotui.formats.layouts.registry import rows, take
from emotui.formats.reading import Warn, warn_skipped
from emotui.formats.rows import Flaw, literal
from emotui.store.query import Dataset, Run
from emotui.store.rows import ResultRow
from emotui.store.store import Store
from emotui.tasks.registry import task_named
from emotui.tasks.task import Task
from emotui.workbench.files.score import listed, without_prediction, without_text
from emotui.workbench.masked.lexicons import with_lexicon
from emotui.workbench.runs.plan import RunConfig, asked_of
from emotui.workbench.runs.run import by_lexicon, scored_outputs
from emotui.workbench.runs.scores import ELSEWHERE, Embedder
from emotui.workbench.runs.states import signed
from emotui.workbench.texts import runs_of, said_counts, stored_samples

if TYPE_CHECKING:
    from emotui.tasks.parts import Lexicon

# What a file of predictions says about each text, in this project's own records or in any layout.

PROJECT = "project"
"""The name of this project's own records among the formats."""

_KEYS = ("spans", "labels", "label", "values")
"""What a row of a layout may say about its text."""


class OfAnotherKind(BadInput):
    """A file says nothing of what a task asks."""


class Line(msgspec.Struct, frozen=True, gc=False):
    """What a line of a file says about an id; `said`: JSON, by the keys of records."""

    line: int
    id: str
    repeat: int
    said: bytes

    @property
    def keys(self) -> dict[str, Any]:
        """What is said, by the keys of records."""
        return _keys(self.said)


_ALIKE = 4_096
"""Different answers that are remembered while a file is gone through: of labels, most lines say one of a few."""

_decoded = msgspec.json.Decoder(dict[str, Any]).decode
_keys = lru_cache(_ALIKE)(_decoded)
"""The same object for equal answers: nobody changes it."""


def said_lines(
    task: Task, path: str, format_name: str | None, options: ReadOptions, *, skip_bad: bool, warn: Warn
) -> tuple[list[Line], str]:
    """What each line of a file says, and in which format it was read.

    Raises:
        BadInput: the file is bad, an id stands in it twice, or nothing in it says what the task is about.
    """
    if format_name == PROJECT or (format_name is None and options == ReadOptions()):
        try:
            return _own_records(task, path, skip_bad=skip_bad, warn=warn), PROJECT
        except BadInput:
            if format_name == PROJECT or not _recognised(path):
                raise
    taken = take(path, format_name, replace(options, predicted=True))
    found: list[Line] = []
    problems: list[str] = []
    unused: dict[str, None] = {}
    there: set[str] = set()
    for line, row in rows(taken):
        if isinstance(row, Flaw):
            problems.append(f"{taken.place}:{line}: {row.reason}")
        else:
            unused |= dict.fromkeys(row.get("meta", ()))
            said = _what_is_said(row)
            there |= said.keys()
            found.append(Line(line, str(row.get("id", line)), 0, msgspec.json.encode(said)))
    seen: dict[str, int] = {}
    problems += [
        f"{path}:{one.line}: duplicate id {one.id!r}: already on line {first}"
        for one in found
        if (first := seen.setdefault(one.id, one.line)) != one.line
    ]
    wanted = _sayable(task)
    if found and not wanted & there:
        besides = f" (there are {', '.join(map(literal, unused))})" if unused else f" but {', '.join(sorted(there))}"
        named = min(wanted, key=_KEYS.index)
        why = f"nothing in it says {named}{besides}: --map {named}=COLUMN names the column"
        if kind := next((kind for kind, keys in _KINDS.items() if there & set(keys)), ""):
            why += f", and --as {kind} takes it for what it says"
        raise OfAnotherKind(f"{taken.place}: {why}")
    if problems and not skip_bad:
        raise BadInput(*capped(problems))
    for problem in problems:
        warn(f"skipped {problem}")
    return [one for one in found if seen[one.id] == one.line], taken.layout.name


def _own_records(task: Task, path: str, *, skip_bad: bool, warn: Warn) -> list[Line]:
    got = read(path, task.files.predicted, skip_bad=skip_bad)
    warn_skipped(got, warn)
    records: list[Any] = got.records
    found, encode = [], msgspec.json.Encoder().encode
    for place, line in enumerate(got.lines):
        keys = present(records[place])
        records[place] = None  # a million records and what they say do not stand in memory together
        found.append(Line(line, keys.pop("id"), keys.pop("repeat", 0), encode(keys)))
    return found


def _recognised(path: str) -> bool:
    """Whether some layout recognises the file."""
    try:
        take(path, None, ReadOptions())
    except BadInput:
        return False
    return True


def _what_is_said(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: row[key] for key in _KEYS if key in row}


def _sayable(task: Task) -> set[str]:
    """Of these what the predictions of a task say; labels may be said as one or several."""
    own = {field.name for field in msgspec.structs.fields(task.files.predicted)} & set(_KEYS)
    return own | ({"label", "labels"} if own & {"label", "labels"} else set())


FILE = "file"

_KINDS: Mapping[str, Sequence[str]] = {"spans": ("spans",), "labels": ("labels", "label"), "values": ("values",)}
"""What a file of predictions may say of texts that came with something else, in the order in which it is looked for,
and under which keys gold says it.
"""


_AT_ONCE = 50_000
"""Answers of one transaction."""


class Said(msgspec.Struct, frozen=True, gc=False):
    """What is said about the sample of this number, by the keys of records in files, or as JSON of these."""

    sample: int
    repeat: int
    keys: Mapping[str, Any] | bytes


@dataclass(frozen=True, slots=True)
class Imported:
    """A source that came from a file; `missing`: how many texts (or repeats of them) it says nothing about."""

    run: Run
    format: str
    missing: int


def import_predictions(
    store: Store,
    dataset: Dataset,
    path: str,
    source: str,
    *,
    kind: str | None = None,
    format_name: str | None = None,
    options: ReadOptions | None = None,
    missing: str | None = None,
    sim: bool = True,
    lexicon: "Lexicon | None" = None,
    skip_bad: bool = False,
    warn: Warn,
    cancelled: IsCancelled | None = None,
) -> Imported:
    """Keep predictions that were made elsewhere as a source of a dataset, scored. The same ones are kept once.

    Args:
        kind: of what they say, as tasks name it; None: the dataset's own where the file says that, else the first
            that the file says of what gold says.
        format_name: `project` or a layout; None: the project's records of the dataset's task where the file is one of
            these, else the layout that recognises it.
        missing: what texts without a prediction count as: `empty`, an answer that says nothing; `skip`, left out.
        lexicon: what masked words are compared by; None: the usual one, or that of the source that is there.

    Raises:
        BadInput: the file is bad, it has ids that the dataset has not, ids are missing, or the dataset has another
            source of this name.
    """
    task, lines, used = _lines_of_kind(
        store, dataset, path, kind, format_name, options or ReadOptions(), skip_bad=skip_bad, warn=warn
    )
    dataset = dataset.read_as(task.name)
    numbers = store.samples.numbers_by_id(dataset.dataset)
    lacking = _lacking(lines, numbers)
    problems = [
        f"{path}:{one.line}: {dataset.name} has no text of the id {one.id!r}" for one in lines if one.id not in numbers
    ]
    if lacking and missing is None:
        problems.append(without_prediction(path, lacking, f"{len(numbers)} texts"))
    lines, wrong, strangers = _fitting(store, dataset, task, path, lines, numbers)
    problems += wrong
    if problems and not (skip_bad and lines):
        raise BadInput(*capped(problems))
    for problem in problems:
        warn(f"skipped {problem}")
    if strangers:
        warn(without_text(path, dataset.name, strangers))
    said = [Said(numbers[one.id], one.repeat, one.said) for one in lines]
    if missing == "empty":
        said += [Said(numbers[key], repeat, b"{}") for key, repeat in lacking]
    del lines, numbers  # a million of them stand in memory no longer than they are asked
    run = keep_said(store, dataset, source, FILE, said, sim=sim, lexicon=lexicon, cancelled=cancelled)
    return Imported(run, used, len(lacking))


def _lines_of_kind(
    store: Store,
    dataset: Dataset,
    path: str,
    kind: str | None,
    format_name: str | None,
    options: ReadOptions,
    *,
    skip_bad: bool,
    warn: Warn,
) -> tuple[Task, list[Line], str]:
    """The task that a file answers, what each of its lines says, and in which format it was read."""

    def said(name: str) -> tuple[Task, list[Line], str]:
        task = task_named(name)
        return task, *said_lines(task, path, format_name, options, skip_bad=skip_bad, warn=warn)

    try:
        return said(kind or dataset.task)
    except OfAnotherKind:
        if kind is not None:
            raise
        # What gold says nothing of may be another thing under a wrong name: that has to be called what it is.
        gold = said_counts(store, dataset)
        for name, keys in _KINDS.items():
            if name != dataset.task and any(key in gold for key in keys):
                with suppress(OfAnotherKind):
                    return said(name)
        raise


def keep_said(
    store: Store,
    dataset: Dataset,
    name: str,
    kind: str,
    said: Sequence[Said],
    *,
    sim: bool = True,
    embed: Embedder | None = None,
    lexicon: "Lexicon | None" = None,
    cancelled: IsCancelled | None = None,
) -> Run:
    """Keep what a person or a file says as a source of a dataset, scored; what was cut short goes on.

    Args:
        embed: of the embedded model; None: that is loaded where scores need it.
        lexicon: as of `import_predictions`; a source that is there is scored by it again.

    Raises:
        BadInput: the name is blank, or the dataset has another source of this name.
    """
    if not name.strip():
        raise BadInput("the source needs a name")
    name = as_unicode(name)
    task = with_lexicon(store, task_named(dataset.task), None, lexicon)
    mark = _identity(asked_of(store, dataset), name, kind, said)
    with store.alone():
        known = [run for run in runs_of(store, dataset) if run.source == kind and run.model == name]
        same = [run for run in known if run.identity == mark]
        if known and not same:
            raise BadInput(
                f"{dataset.name} has another source {name!r} (run {known[0].run}): choose another name, "
                f"or throw that one away with emotui delete {known[0].run}"
            )
        if same and same[0].state == "done":
            return by_lexicon(store, same[0], lexicon, cancelled)
        run = same[0].run if same else free_id(name, dataset.name, store.runs.names())
        repeats = 1 + max((one.repeat for one in said), default=0)
        config = signed(RunConfig(repeats=repeats, emotui=__version__, lexicon="" if lexicon is None else lexicon.mark))
        store.runs.start(run, mark, task.name, name, dataset.dataset, msgspec.to_builtins(config), len(said), kind)
        done = store.results.done(run)
        order = sorted(said, key=lambda one: (one.repeat, one.sample))
        still = [one for one in order if (one.sample, one.repeat) not in done] if done else order
        # Sentences are embedded all at once: another batch is another rounding.
        together = len(still) if sim and task.embeds else _AT_ONCE
        for start in range(0, len(still), max(together, 1)):
            outputs = [
                ResultRow(one.sample, one.repeat, 0, None, _as_text(one), None, 0.0)
                for one in still[start : start + together]
            ]
            results = scored_outputs(
                store, task, ELSEWHERE, dataset, outputs, name, sim=sim, embed=embed, cancelled=cancelled
            )
            for first in range(0, len(results), _AT_ONCE):
                store.results.commit(run, results[first : first + _AT_ONCE], gold=dataset.gold)
        store.runs.set_state(run, "done")
        return store.runs.get(run)


def source_run(store: Store, dataset: Dataset, name: str) -> Run | None:
    """What is kept of a dataset under this name: by the id, by the name of a person, file or model, or by the
    beginning of the id; None where there is nothing.

    Raises:
        BadInput: there are several.
    """
    runs = store.runs.all(dataset.dataset)
    for found in (
        [run for run in runs if run.run == name],
        [run for run in runs if run.model == name],
        [run for run in runs if run.run.startswith(name)],
    ):
        if len(found) > 1:
            raise BadInput(f"{name!r} may be any of {len(found)} runs: {', '.join(run.run for run in found)}")
        if found:
            return found[0]
    return None


def _identity(asked: str, name: str, kind: str, said: Sequence[Said]) -> str:
    digest = hashlib.sha256(msgspec.json.encode([asked, name, kind]))
    for one in said:
        keys = _sorted(one.keys) if isinstance(one.keys, bytes) else msgspec.json.encode(one.keys, order="sorted")
        digest.update(b"[%d,%d,%b]" % (one.sample, one.repeat, keys))
    return digest.hexdigest()


@lru_cache(_ALIKE)
def _sorted(keys: bytes) -> bytes:
    """The same JSON with its keys in order."""
    return msgspec.json.encode(_decoded(keys), order="sorted")


def _as_text(said: Said) -> str:
    return _text(said.keys if isinstance(said.keys, bytes) else msgspec.json.encode(said.keys))


@lru_cache(_ALIKE)
def _text(said: bytes) -> str:
    return said.decode()


def free_id(name: str, dataset: str, taken: Collection[str]) -> str:
    """The name itself as the id; where that is taken, with the dataset's name or a number behind it."""
    wanted = [name, f"{name} on {dataset}", *(f"{name} on {dataset} {number}" for number in range(2, len(taken) + 3))]
    return next(one for one in wanted if one not in taken)


def _lacking(lines: Sequence[Line], numbers: Mapping[str, int]) -> list[tuple[str, int]]:
    """(id, repeat) of each text without a line, for each repeat that there is."""
    first = min(numbers.values(), default=0)
    seen = {repeat: bytearray(len(numbers)) for repeat in sorted({line.repeat for line in lines}) or [0]}
    for line in lines:
        if line.id in numbers:
            seen[line.repeat][numbers[line.id] - first] = 1
    return [
        (key, repeat)
        for repeat, there in seen.items()
        if not all(there)
        for key, number in numbers.items()
        if not there[number - first]
    ]


def _labels_of(sample: Any) -> tuple[str, ...]:
    """The labels of a whole text that gold has of a sample, those that are said to be absent among them."""
    label, several = getattr(sample, "label", None), getattr(sample, "labels", None) or ()
    if label is None and type(several) is tuple:  # the usual case first
        return several
    return tuple(listed({"label": label, "labels": several}, also_absent=True))


def _fitting(
    store: Store, dataset: Dataset, task: Task, path: str, lines: Sequence[Line], numbers: Mapping[str, int]
) -> tuple[list[Line], list[str], list[str]]:
    """The lines that say something that can be said of their texts, what is wrong with the others, and the labels of
    whole texts that are said and that gold has nowhere, such as numbers in place of names.

    Of masks, whose words may be any, and where gold has no labels, no label is strange.
    """
    known: set[str] = set()
    wrong: dict[tuple[str, int], str] = {}
    compared = dataset.task != "masked"
    looked_at: set[object] = set()
    of = [numbers.get(one.id, -1) for one in lines]
    waiting = sorted((place for place, number in enumerate(of) if number >= 0), key=of.__getitem__)
    at = 0
    for number, sample in stored_samples(store, dataset, dataset.n):
        if compared and (own := _labels_of(sample)) not in looked_at:
            looked_at.add(own)
            known.update(own)
        while at < len(waiting) and of[waiting[at]] == number:
            one = lines[waiting[at]]
            at += 1
            try:
                task.taken(sample, one.keys)
            except (ValueError, TypeError) as error:
                wrong[one.id, one.repeat] = f"{path}:{one.line}: {error}"
    good = [one for one in lines if one.id in numbers and (one.id, one.repeat) not in wrong]
    each = dict.fromkeys(one.said for one in good) if known else ()  # many say alike
    said = dict.fromkeys(name for one in each for name in listed(_decoded(one)))
    problems = [wrong[one.id, one.repeat] for one in lines if (one.id, one.repeat) in wrong]
    return good, problems, [name for name in said if name not in known]
