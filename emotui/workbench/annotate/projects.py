"""An annotation project as a folder: texts, scheme, who annotates what, and everybody's log, for several machines.

`project.json` says what the project is, `scheme.json` what is annotated, `texts.jsonl` which texts (without gold),
`assignment.jsonl` a batch a line, and `logs/NAME.jsonl` what each annotator did. Git can merge the logs by itself; of
scheme and assignment together the newest version (`revision`) holds.
"""

import hashlib
import json
import tempfile
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from emotui.bounded import read_bytes
from emotui.errors import BadInput
from emotui.formats.rows import literal, shown
from emotui.formats.written import refusal, write_bytes, write_text
from emotui.records import Sentence, Span, SpanSample, Text
from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.tasks.registry import task_named
from emotui.tasks.texts import SAID, said_of_text, sample_of_text
from emotui.workbench.annotate.desk import Desk
from emotui.workbench.annotate.events import CONSENT
from emotui.workbench.annotate.log_files import (
    LogEntry,
    Taken,
    add_to_log,
    annotator_of,
    kept_log,
    log_name,
    read_log,
    take_in,
)
from emotui.workbench.annotate.others import logs_of
from emotui.workbench.annotate.planning.assignment import (
    TRAINING,
    Assignment,
    Batch,
    LacksGold,
    assign,
    assigned,
    batches,
    keep_assignment,
    roles_of,
)
from emotui.workbench.annotate.scheme import TEXT, Scheme

FORMAT = 1
"""Of the folder; a later one is refused."""

PROJECT, SCHEME, TEXTS, BATCHES, LOGS, PEOPLE = (
    "project.json",
    "scheme.json",
    "texts.jsonl",
    "assignment.jsonl",
    "logs",
    "people",
)
_ATTRIBUTES = ".gitattributes"
_UNION = "logs/*.jsonl merge=union\n"
_NAMESPACE = uuid.UUID("6d0f9c2e-6b53-5a0e-8a53-51a5a3c0f5de")

T = TypeVar("T")


class ProjectText(msgspec.Struct, frozen=True, omit_defaults=True):
    """A text of a project.

    `sentences`: where they stand, if the record says. `said`: what gold says, of a text whose answer is told.
    """

    id: str
    text: str
    subject: str | None = None
    meta: Mapping[str, Any] = {}
    sentences: tuple[Span, ...] = ()
    said: Mapping[str, Any] = {}


class _Batch(msgspec.Struct, frozen=True, omit_defaults=True):
    batch: int
    annotators: tuple[str, ...]
    texts: tuple[str, ...]
    role: str = ""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What `project.json` says.

    Attributes:
        project: a UUID of the texts and their ids.
        revision: counts the changes of scheme and assignment; `mark`: their hash.
        assignment: how the texts are dealt out, without the batches; None: everybody annotates everything.
    """

    format: int
    project: str
    name: str
    task: str
    n: int
    revision: int
    mark: str
    assignment: Assignment | None


class _Known(msgspec.Struct, frozen=True):
    """What a store remembers of the project that a dataset is of."""

    project: str
    revision: int
    mark: str


class Exported(msgspec.Struct, frozen=True):
    """`logs`: the entries that were added to everybody's. `notes`: what else there is to tell."""

    plan: Plan
    logs: Mapping[str, int]
    notes: tuple[str, ...] = ()


class Imported(msgspec.Struct, frozen=True):
    """`added`: the texts were not in the store before."""

    dataset: Dataset
    added: bool
    logs: tuple[Taken, ...]
    notes: tuple[str, ...] = ()


class Collected(msgspec.Struct, frozen=True):
    """`entries` of an annotator were new in a folder that came back."""

    folder: str
    annotator: str
    entries: int


# Out of a store.


def export_project(store: Store, dataset: Dataset, folder: Path, columns: Sequence[str] = ()) -> Exported:
    """Write a dataset as a project, or bring the folder of one up to date with what was done in this store.

    Gold and models' answers stay out. Lines of logs are added, and none is changed.

    Args:
        columns: columns beside the texts that go along.

    Raises:
        BadInput: the folder is of other texts, its scheme and assignment were changed here and elsewhere, or it cannot
            be written.
    """
    scheme, assignment, dealt, mark = _own_plan(store, dataset)
    told = {
        number
        for number, role in roles_of(assignment).items()
        if role == TRAINING or (assignment is not None and assignment.checks_shown)
    }
    texts = tuple(_texts(store, dataset, columns, told))
    project = _identity(texts)
    there = read_plan(folder) if (folder / PROJECT).exists() else None
    if there is not None and there.project != project:
        raise BadInput(f"{literal(str(folder))}: a project of other texts ({literal(there.name)}): name another folder")
    logs = _read_logs(folder, texts)
    revision, notes = _revision(folder, there, _known(store, dataset), mark)
    if there is None or revision != there.revision:
        there = Plan(
            format=FORMAT,
            project=project,
            name=dataset.name,
            task=dataset.task,
            n=dataset.n,
            revision=revision,
            mark=mark,
            assignment=None if assignment is None else replace(assignment, dealt=()),
        )
        _write_plan(folder, there, scheme, dealt, texts)
    added = {}
    for name in annotators_of(store, dataset):
        before = logs.get(name, [])
        added[name] = add_to_log(folder / LOGS / log_name(name), kept_log(store, dataset, name, before).entries, before)
    if there.mark == mark:
        _know(store, dataset, there)
    return Exported(there, added, notes)


def _own_plan(store: Store, dataset: Dataset) -> tuple[Scheme, Assignment | None, list[_Batch], str]:
    """The scheme, the assignment and its batches as a store has them, and their hash."""
    scheme, assignment = _portable(Desk(store).scheme(dataset.dataset)), assigned(store, dataset)
    dealt = (
        []
        if assignment is None
        else _by_id(store, dataset, batches(assignment, store.samples.file_order(dataset.dataset)))
    )
    return scheme, assignment, dealt, _mark(scheme, assignment, dealt)


def _revision(folder: Path, there: Plan | None, known: _Known | None, mark: str) -> tuple[int, tuple[str, ...]]:
    """The version that the folder has after an export, and what to tell where it keeps its own."""
    if there is None:
        return (1 if known is None else known.revision + (known.mark != mark)), ()
    if there.mark == mark:
        return there.revision, ()
    if known is not None and known.revision == there.revision and known.mark == there.mark:
        return there.revision + 1, ()
    if known is None or known.mark == mark:
        return there.revision, (
            f"scheme and assignment of the folder are newer (revision {there.revision}): "
            f"emotui project import {literal(str(folder))} takes them over",
        )
    raise BadInput(
        f"{literal(str(folder))}: scheme or assignment were changed here and in the folder, to revision "
        f"{there.revision}: emotui project import takes those of the folder; change them again after that"
    )


def _texts(
    store: Store, dataset: Dataset, columns: Sequence[str] = (), told: Collection[int] = ()
) -> Iterator[ProjectText]:
    kept = task_named(dataset.kept_as)
    decode = msgspec.json.Decoder(dict[str, Any]).decode
    for number, record in store.samples.of_dataset(dataset.dataset):
        said = said_of_text(kept, decode(record))
        meta = said.get("meta") or {}
        yield ProjectText(
            id=said["id"],
            text=said.get("text") or "",
            subject=said.get("subject"),
            meta={name: meta[name] for name in columns if name in meta},
            sentences=tuple((part["start"], part["end"]) for part in said.get("sentences") or ()),
            said={key: said[key] for key in SAID if key in said and key != "annotators"} if number in told else {},
        )


def annotators_of(store: Store, dataset: Dataset) -> list[str]:
    """Everybody with an entry in the log, those among them who have only agreed to the words of consent."""
    agreed = (entry.annotator for entry in store.annotations.entries(kind=CONSENT) if entry.sample is None)
    there = [*logs_of(store, dataset), *agreed]
    names = [name for name in dict.fromkeys(there) if kept_log(store, dataset, name).entries]
    same: dict[str, str] = {}
    for name in names:
        other = same.setdefault(log_name(name).casefold(), name)
        if other != name:
            raise BadInput(f"{shown(other)} and {shown(name)} differ in capitals alone: their logs would be one file")
    return names


def _portable(scheme: Scheme) -> Scheme:
    """A scheme without what belongs to one machine: the file that it came from, and a dataset's own labels."""
    groups = tuple(
        replace(group, own=False, line=0, labels=tuple(replace(label, line=0) for label in group.labels))
        for group in scheme.groups
    )
    return replace(scheme, groups=groups, path="", tasks=())


def _by_id(store: Store, dataset: Dataset, dealt: Sequence[Batch]) -> list[_Batch]:
    ids = {number: id for id, number in store.samples.numbers_by_id(dataset.dataset).items()}
    return [_Batch(one.number, one.annotators, tuple(ids[n] for n in one.samples), one.role) for one in dealt]


def _mark(scheme: Scheme, assignment: Assignment | None, dealt: Sequence[_Batch]) -> str:
    plain = None if assignment is None else replace(assignment, dealt=())
    return hashlib.sha256(msgspec.json.encode([scheme, plain, dealt], order="sorted")).hexdigest()


def _identity(texts: Iterable[ProjectText]) -> str:
    digest = hashlib.sha256()
    for text in texts:
        digest.update(msgspec.json.encode([text.id, text.text]) + b"\n")
    return str(uuid.uuid5(_NAMESPACE, digest.hexdigest()))


def _write_plan(
    folder: Path, plan: Plan, scheme: Scheme, dealt: Sequence[_Batch], texts: Sequence[ProjectText]
) -> None:
    """`project.json` comes last: a folder that was not written whole has the version that it had."""
    try:
        (folder / LOGS).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise refusal(str(folder), error) from None
    attributes = folder / _ATTRIBUTES
    if not attributes.exists():
        write_text(attributes, _UNION)
    content = _as_lines(texts)
    if not (folder / TEXTS).exists() or (folder / TEXTS).read_bytes() != content:
        write_bytes(folder / TEXTS, content)
    write_bytes(folder / BATCHES, _as_lines(dealt))
    write_text(folder / SCHEME, _indented(scheme))
    write_text(folder / PROJECT, _indented(plan))


def _as_lines(rows: Iterable[msgspec.Struct]) -> bytes:
    return b"".join(msgspec.json.encode(row) + b"\n" for row in rows)


def _indented(value: object) -> str:
    return json.dumps(msgspec.to_builtins(value), ensure_ascii=False, indent=1) + "\n"


# Into a store.


def import_project(store: Store, folder: Path, name: str | None = None) -> Imported:
    """Bring what a project's folder holds into a store: its texts where they are missing, the newest scheme and
    assignment, and every entry of the logs that is not there yet.

    Args:
        name: of the dataset, where its texts are new; None: the project's.

    Raises:
        BadInput: `FILE:LINE: what`, before anything is kept; or the name is that of another dataset.
    """
    plan = read_plan(folder)
    texts = _read_texts(folder, plan)
    scheme = _document(folder / SCHEME, Scheme)
    dealt = _lines(folder / BATCHES, _Batch)
    logs = _read_logs(folder, texts)
    if plan.mark != _mark(scheme, plan.assignment, dealt):
        raise BadInput(
            f"{literal(str(folder))}: scheme and assignment do not belong together (revision {plan.revision}): "
            "take one version of project.json, scheme.json and assignment.jsonl, not parts of several"
        )
    with store.alone():
        dataset = _dataset(store, plan)
        added = dataset is None
        if dataset is None:
            dataset = _added(store, plan, scheme, texts, name)
        notes = _take_plan(store, dataset, plan, scheme, dealt)
        taken = tuple(take_in(store, dataset, annotator, entries) for annotator, entries in logs.items())
        for each in taken:
            # Also where nothing is new: whoever was killed between the two has the log and not the source.
            Desk(store).begin(dataset.dataset, each.annotator).publish()
        return Imported(store.datasets.get(dataset.dataset) or dataset, added, taken, notes)


def _dataset(store: Store, plan: Plan) -> Dataset | None:
    """The dataset of a project's texts, whether it came by a project or not."""
    for one in store.datasets.all():
        if one.n == plan.n and (known := _known(store, one)) is not None and known.project == plan.project:
            return one
    return dataset_of_texts(store, plan.n, plan.project)


def identity_of_texts(store: Store, dataset: Dataset) -> str:
    """The UUID that a project of a dataset has: of its ids and texts, whatever is said about them."""
    return _identity(_texts(store, dataset))


def dataset_of_texts(store: Store, n: int, identity: str) -> Dataset | None:
    """The dataset of these texts, whatever its name and its gold are."""
    there = (one for one in store.datasets.all() if one.n == n)
    return next((one for one in there if identity_of_texts(store, one) == identity), None)


def _added(store: Store, plan: Plan, scheme: Scheme, texts: Sequence[ProjectText], name: str | None) -> Dataset:
    wanted = name or plan.name
    if store.datasets.get(wanted) is not None:
        raise BadInput(f"the store has another dataset {shown(wanted)}: name this one with --name")
    task = task_named(plan.task)
    labels = tuple(dict.fromkeys(label for group in scheme.of(TEXT) for label in group.names))
    rows = []
    for text in texts:
        if text.said:
            said = {"id": text.id, "text": text.text, "meta": dict(text.meta), **text.said}
            sample: Any = sample_of_text(task, said | ({"subject": text.subject} if text.subject else {}), labels)
        elif task.sample is SpanSample:
            parts = tuple(Sentence(start=start, end=end) for start, end in text.sentences)
            sample = SpanSample(id=text.id, text=text.text, subject=text.subject, meta=text.meta, sentences=parts)
        else:
            sample = task.blank(Text(id=text.id, text=text.text, subject=text.subject, meta=text.meta), labels)
        rows.append(task.row(sample))
    return store.datasets.add(wanted, plan.task, rows, f"project {plan.name}", f"project {plan.project}")


def _take_plan(store: Store, dataset: Dataset, plan: Plan, scheme: Scheme, dealt: Sequence[_Batch]) -> tuple[str, ...]:
    """Keep the scheme and the assignment of a folder, unless the store's own are newer; what there is to tell."""
    known = _known(store, dataset)
    *_, own = _own_plan(store, dataset)
    if own == plan.mark:
        _know(store, dataset, plan)
        return ()
    changed = known is not None and known.mark != own
    if known is not None and plan.revision <= known.revision and plan.mark == known.mark:
        return ("scheme or assignment were changed here: emotui project export writes them into the folder",)
    if known is not None and plan.revision < known.revision:
        return (f"the folder's scheme and assignment (revision {plan.revision}) are older than those here",)
    numbers = store.samples.numbers_by_id(dataset.dataset)
    Desk(store).use_scheme(dataset, scheme)
    if plan.assignment is None:
        keep_assignment(store, dataset, None)
    else:
        made = tuple(
            Batch(one.batch, tuple(numbers[id] for id in one.texts), one.annotators, one.role) for one in dealt
        )
        keep_assignment(store, dataset, replace(plan.assignment, dealt=made))
    _know(store, dataset, plan)
    if changed:
        return ("scheme and assignment are the folder's now: what was changed here is gone",)
    return ()


def _setting(dataset: Dataset) -> str:
    return f"annotate project of {dataset.dataset}"


def _known(store: Store, dataset: Dataset) -> _Known | None:
    kept = store.settings.get(_setting(dataset))
    return None if kept is None else msgspec.convert(kept, _Known)


def _know(store: Store, dataset: Dataset, plan: Plan) -> None:
    known = _Known(plan.project, plan.revision, plan.mark)
    if _known(store, dataset) != known:
        store.settings.set(_setting(dataset), msgspec.to_builtins(known))


# Folders.


def read_plan(folder: Path) -> Plan:
    """What a project is.

    Raises:
        BadInput: there is none in the folder, it cannot be read, or a later emotui made it.
    """
    if not (folder / PROJECT).exists():
        raise BadInput(
            f"{literal(str(folder))}: no annotation project (it has no {PROJECT}): see emotui project export"
        )
    plan = _document(folder / PROJECT, Plan)
    if plan.format > FORMAT:
        raise BadInput(
            f"{literal(str(folder))}: made by a later emotui (format {plan.format}): bring this one up to date"
        )
    if plan.assignment is not None and (faults := plan.assignment.faults()):
        raise BadInput(*(f"{literal(str(folder / PROJECT))}: {fault}" for fault in faults))
    return plan


def _document(path: Path, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(read_bytes(path), type=kind)
    except OSError as error:
        raise BadInput(f"{literal(str(path))}: cannot be read: {error.strerror or error}") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"{literal(str(path))}: {literal(str(error))}") from None


def _lines(path: Path, kind: type[T]) -> list[T]:
    try:
        content = read_bytes(path, data=True)
    except OSError as error:
        raise BadInput(f"{literal(str(path))}: cannot be read: {error.strerror or error}") from error
    decoder = msgspec.json.Decoder(kind)
    found = []
    for number, line in enumerate(content.split(b"\n"), 1):
        try:
            found += [decoder.decode(line)] if line.strip() else []
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise BadInput(f"{literal(str(path))}:{number}: {literal(str(error))}") from None
    return found


def _read_texts(folder: Path, plan: Plan) -> list[ProjectText]:
    texts = _lines(folder / TEXTS, ProjectText)
    if _identity(texts) != plan.project or len(texts) != plan.n:
        raise BadInput(f"{literal(str(folder / TEXTS))}: the texts are not those that the project was made of")
    return texts


def _read_logs(folder: Path, texts: Iterable[ProjectText]) -> dict[str, list[LogEntry]]:
    """Everybody's entries by name."""
    known = {text.id: text.text for text in texts}
    paths = sorted((folder / LOGS).glob("*.jsonl"))
    return {annotator_of(path): read_log(path, known) for path in paths}


@contextmanager
def _aside(folder: Path) -> Iterator[tuple[Store, Dataset]]:
    """A project in a store of its own, which is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="emotui-") as place:
        store = Store.open(Path(place) / "project.duckdb")
        yield store, import_project(store, folder).dataset


# Dealing out and collecting, without a store.


def deal_project(folder: Path, wanted: Assignment | None = None) -> tuple[Plan, dict[str, Path]]:
    """Deal a project's texts out and give everybody a folder of their own, `people/NAME`, with their own log alone.

    Given answers stand, and begun ones too: only open texts are dealt again. Lines that are in somebody's folder and
    were not collected yet stay in it.

    Args:
        wanted: None: as they are dealt out already.

    Raises:
        BadInput: it cannot be so, or the folder is no project.
    """
    if wanted is not None:
        with _aside(folder) as (store, dataset):
            try:
                assign(store, dataset, wanted)
            except LacksGold as error:
                raise BadInput(
                    f"{literal(str(folder))}: a project's texts come without gold, so training and checks are dealt"
                    " where the gold is: emotui annotate assign, emotui project export, then deal without --annotators"
                ) from error
            export_project(store, dataset, folder)
    plan = read_plan(folder)
    if plan.assignment is None:
        raise BadInput(f"{literal(str(folder))}: nothing is dealt out: say to whom with --annotators A,B,...")
    texts = _read_texts(folder, plan)
    logs = _read_logs(folder, texts)
    made = {}
    for name in plan.assignment.annotators:
        own = folder / PEOPLE / log_name(name).removesuffix(".jsonl")
        if (own / PROJECT).exists() and read_plan(own).project != plan.project:
            raise BadInput(f"{literal(str(own))}: a folder of another project")
        there = _read_logs(own, texts) if own.exists() else {}
        _write_plan(own, plan, _document(folder / SCHEME, Scheme), _lines(folder / BATCHES, _Batch), texts)
        add_to_log(own / LOGS / log_name(name), logs.get(name, []), there.get(name, []))
        made[name] = own
    return plan, made


def collect(folder: Path, folders: Sequence[Path] = ()) -> list[Collected]:
    """Take the logs of the folders that were given out back into the project's own.

    Args:
        folders: empty: all those under `people`.

    Raises:
        BadInput: one of them is of another project, or a line of a log is wrong; nothing is written then.
    """
    plan = read_plan(folder)
    texts = _read_texts(folder, plan)
    logs = _read_logs(folder, texts)
    back = []
    for own in folders or sorted(path.parent for path in (folder / PEOPLE).glob(f"*/{PROJECT}")):
        if read_plan(own).project != plan.project:
            raise BadInput(f"{literal(str(own))}: a folder of another project")
        back.append((own, _read_logs(own, texts)))
    found = []
    for own, theirs in back:
        for name, entries in theirs.items():
            there = logs.setdefault(name, [])
            n = add_to_log(folder / LOGS / log_name(name), entries, there)
            held = {entry.id for entry in there}
            there += [entry for entry in entries if entry.id not in held]
            found.append(Collected(str(own), name, n))
    return found
