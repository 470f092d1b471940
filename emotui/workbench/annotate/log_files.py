"""The log of one annotator as a file of JSON Lines, and what several such files come to together.

A line is one entry of the log. Its identity, a UUID of what it says, is the same in every file and store. Lines are
only added, so that any program can put the files of several machines together, in any order.
"""

import uuid
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from heapq import heappop, heappush
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import msgspec

from emotui.bounded import read_bytes
from emotui.errors import BadInput
from emotui.formats.rows import literal, shown
from emotui.formats.written import write_bytes
from emotui.store.query import Dataset
from emotui.store.rows import Annotation
from emotui.store.store import Store
from emotui.workbench.annotate.answers import Answer, SpanMark
from emotui.workbench.annotate.events import CONSENT, KIND, LASTING_KINDS, TOGETHER, UNDO, Kept, kind_of

_NAMESPACE = uuid.UUID("0d4be0a5-5f0e-5c55-9d1f-0a2f5a3a7f10")
_MOST_PROBLEMS = 20


class LogEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line of the file.

    Attributes:
        id: UUID (version 5) of the annotator and of all that follows but `after`.
        text: the id of the text that it is about; None: of none (consent).
        kind: of the event, as `add-span`, `undo` or `consent`; with `&` at its end what undo takes together with the
            entry before it.
        at: UTC, ISO 8601.
        said: what the event says, as JSON.
        undoes: the id of the entry that this one takes back.
        nth: how many entries before it say the very same.
        after: the ids of the entries about this text that were the last ones when this one was made: one, or one for
            each machine where it was worked on apart.
    """

    id: str
    text: str | None
    kind: str
    at: str
    said: msgspec.Raw
    undoes: str | None = None
    nth: int = 0
    after: tuple[str, ...] = ()


_DECODER = msgspec.json.Decoder(LogEntry)
_KEPT = msgspec.json.Decoder(Kept)
_OBJECT = msgspec.json.Decoder(dict[str, Any])


def log_name(annotator: str) -> str:
    """The name of an annotator's log file: the name itself, with what no file system takes written as %XX."""
    return quote(annotator, safe=" @+,()") + ".jsonl"


def annotator_of(path: Path) -> str:
    """Whose log a file is, by its name."""
    return unquote(path.name.removesuffix(".jsonl"))


def _id_of(annotator: str, entry: LogEntry) -> str:
    content = [annotator, entry.text, entry.kind, entry.at, bytes(entry.said).decode(), entry.undoes, entry.nth]
    return str(uuid.uuid5(_NAMESPACE, msgspec.json.encode(content).decode()))


# From a store to entries.


class KeptLog(msgspec.Struct, frozen=True):
    """One annotator's entries about a dataset in a store, and the number of each there, by its id."""

    entries: tuple[LogEntry, ...]
    numbers: Mapping[str, int]


def kept_log(store: Store, dataset: Dataset, annotator: str, known: Iterable[LogEntry] = ()) -> KeptLog:
    """What a store's log holds of one annotator about a dataset, as entries of files.

    Args:
        known: entries of files, whose `after` holds for the same entries in the store: there they may stand in another
            order. An entry that no file has yet came after all that stands before it.
    """
    links = {entry.id: entry.after for entry in known}
    with store.together():
        ids = {number: id for id, number in store.samples.numbers_by_id(dataset.dataset).items()}
        own = [
            entry
            for entry in store.annotations.entries(annotator=annotator, kind=CONSENT)
            if _of(entry) == dataset.dataset
        ]
        rows = store.annotations.entries(
            annotator=annotator, kind=KIND, within=store.samples.file_order(dataset.dataset)
        )
    entries: list[LogEntry] = []
    numbers: dict[str, int] = {}
    id_of: dict[int, str] = {}
    alike: Counter[tuple[object, ...]] = Counter()
    heads: defaultdict[str | None, tuple[str, ...]] = defaultdict(tuple)
    for row in (*own, *rows):
        text = None if row.sample is None else ids[row.sample]
        said = row.payload if text is not None else _words(row.payload)
        undoes = None if row.undoes is None else id_of.get(row.undoes)
        kind = row.kind.removeprefix(f"{KIND}:")
        content = (text, kind, row.at, said, undoes)
        entry = LogEntry("", text, kind, row.at, msgspec.Raw(said), undoes, alike[content], heads[text])
        alike[content] += 1
        id = _id_of(annotator, entry)
        entry = msgspec.structs.replace(entry, id=id, after=links.get(id, entry.after))
        heads[text] = (*(head for head in heads[text] if head not in entry.after), id)
        id_of[row.annotation] = entry.id
        numbers[entry.id] = row.annotation
        entries.append(entry)
    return KeptLog(tuple(entries), numbers)


def _of(entry: Annotation) -> object:
    return _OBJECT.decode(entry.payload).get("dataset")


def _words(payload: bytes) -> bytes:
    return msgspec.json.encode({"words": _OBJECT.decode(payload).get("words", "")})


# Files.


def read_log(path: Path, texts: Mapping[str, str]) -> list[LogEntry]:
    """The entries of an annotator's file, each once.

    Args:
        texts: the text of each sample, by its id.

    Raises:
        BadInput: `FILE:LINE: what` for lines that are no entries, were changed by hand, or are about other texts.
    """
    name, annotator = literal(str(path)), annotator_of(path)
    try:
        content = read_bytes(path, data=True)
    except OSError as error:
        raise BadInput(f"{name}: cannot be read: {error.strerror or error}") from error
    found: dict[str, LogEntry] = {}
    problems: list[str] = []
    for number, line in enumerate(content.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            entry = _DECODER.decode(line)
            _check(annotator, entry, texts)
        except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError, RecursionError) as error:
            problems.append(f"{name}:{number}: no entry of a log: {literal(str(error))}")
        except BadInput as error:
            problems.append(f"{name}:{number}: {error}")
        else:
            there = found.get(entry.id)
            after = entry.after if there is None else tuple(sorted({*there.after, *entry.after}))
            found[entry.id] = msgspec.structs.replace(entry, after=after)
        if len(problems) == _MOST_PROBLEMS:
            break
    if problems:
        raise BadInput(*problems)
    return list(found.values())


def _check(annotator: str, entry: LogEntry, texts: Mapping[str, str]) -> None:
    if entry.id != _id_of(annotator, entry):
        raise BadInput("the entry was changed by hand, or is another annotator's: its id does not fit what it says")
    try:
        datetime.fromisoformat(entry.at)
    except ValueError:
        raise BadInput(f"{shown(entry.at, 40)} is no moment (ISO 8601)") from None
    if entry.kind == CONSENT.removeprefix(f"{KIND}:"):
        if entry.text is not None or not isinstance(_OBJECT.decode(entry.said).get("words"), str):
            raise BadInput("a consent that names a text, or no words")
        return
    if entry.text is None or entry.text not in texts:
        raise BadInput(f"the project has no text {shown(str(entry.text), 60)}")
    if entry.kind == UNDO.removeprefix(f"{KIND}:"):
        if entry.undoes is None:
            raise BadInput("an undo that does not say what it takes back")
        return
    kept = _KEPT.decode(entry.said)
    if f"{KIND}:{entry.kind.removesuffix(TOGETHER)}" != kind_of(kept.event):
        raise BadInput(f"an entry of another kind than {shown(entry.kind, 30)}")
    length = len(texts[entry.text])
    for start, end in _places(kept.event):
        if not 0 <= start < end <= length:
            raise BadInput(f"a span from {start} to {end} in a text of {length} characters")


def _places(event: object) -> Iterator[tuple[int, int]]:
    """Where the spans that an event names stand."""
    start, end = getattr(event, "start", None), getattr(event, "end", None)
    if isinstance(start, int) and isinstance(end, int):
        yield start, end
    span, answer = getattr(event, "span", None), getattr(event, "answer", None)
    marks = (*((span,) if isinstance(span, SpanMark) else ()), *(answer.spans if isinstance(answer, Answer) else ()))
    yield from ((mark.start, mark.end) for mark in marks)


def add_to_log(path: Path, entries: Sequence[LogEntry], there: Iterable[LogEntry]) -> int:
    """Add those entries to an annotator's file that it does not hold (`there`); how many. The file is written whole or
    not at all, and its lines stay as they are.
    """
    held = {entry.id for entry in there}
    new = [entry for entry in entries if entry.id not in held]
    if new:
        before = path.read_bytes() if path.exists() else b""
        gap = b"" if not before or before.endswith(b"\n") else b"\n"
        write_bytes(path, before + gap + b"".join(msgspec.json.encode(entry) + b"\n" for entry in new))
    return len(new)


# Entries that came from elsewhere.


class Contradiction(msgspec.Struct, frozen=True):
    """One annotator worked on one text in two places, neither knowing of the other: `kept` counts (an answer that is
    given before one that is not, then the later one), `undone` is taken back in the log. Both are moments, UTC.
    """

    annotator: str
    text: str
    kept: str
    undone: str


class Taken(msgspec.Struct, frozen=True):
    """`entries` of an annotator's log were new; `contradictions`: what they disagreed about with what was there."""

    annotator: str
    entries: int
    contradictions: tuple[Contradiction, ...] = ()


def take_in(store: Store, dataset: Dataset, annotator: str, coming: Sequence[LogEntry]) -> Taken:
    """Keep the entries of an annotator that a store's log lacks, with their moments, in one transaction.

    It comes to the same in whichever order files are taken in, and however often.
    """
    kept = kept_log(store, dataset, annotator, coming)
    held = kept.numbers.keys()
    new = _in_order([entry for entry in coming if entry.id not in held])
    undone_by = {entry.undoes: entry.id for entry in kept.entries if entry.undoes is not None}
    same: dict[str, str] = {}  # undos of what is taken back already, to the undo that did it
    added: list[LogEntry] = []
    there = set(held)
    for entry in new:
        undoes = None if entry.undoes is None else same.get(entry.undoes, entry.undoes)
        if undoes is not None:
            if undoes not in there:
                continue  # its file lost what it is about
            if undoes in undone_by:
                same[entry.id] = undone_by[undoes]
                continue
            undone_by[undoes] = entry.id
        there.add(entry.id)
        added.append(msgspec.structs.replace(entry, undoes=undoes))
    if not added:
        return Taken(annotator, 0)
    n = len(added)
    contradictions: list[Contradiction] = []
    of_text: defaultdict[str, list[LogEntry]] = defaultdict(list)
    touched = {entry.text for entry in added if entry.text is not None}
    for entry in (*kept.entries, *added):
        if entry.text in touched:
            of_text[entry.text].append(entry)
    for text, entries in of_text.items():
        undos, told = _settled(annotator, text, entries)
        added += undos
        contradictions += told
    samples = store.samples.numbers_by_id(dataset.dataset)

    def numbered(numbers: Sequence[int]) -> list[Annotation]:
        number_of = dict(kept.numbers) | {entry.id: number for entry, number in zip(added, numbers, strict=True)}
        return [_row(annotator, dataset, entry, samples, number_of) for entry in added]

    store.annotations.take_over(len(added), numbered)
    return Taken(annotator, n, tuple(contradictions))


def _row(
    annotator: str, dataset: Dataset, entry: LogEntry, samples: Mapping[str, int], number_of: Mapping[str, int]
) -> Annotation:
    said = bytes(entry.said)
    if entry.text is None:
        said = msgspec.json.encode({"dataset": dataset.dataset, "words": _OBJECT.decode(said)["words"]})
    return Annotation(
        number_of[entry.id],
        f"{KIND}:{entry.kind}",
        None if entry.text is None else samples[entry.text],
        annotator,
        said,
        None if entry.undoes is None else number_of[entry.undoes],
        entry.at,
    )


def _in_order(entries: Sequence[LogEntry]) -> list[LogEntry]:
    """By their moments, then as they stand; each behind those that it comes after and what it takes back."""
    place = {entry.id: number for number, entry in enumerate(entries)}
    waits = {
        entry.id: {id for id in (*entry.after, *((entry.undoes,) if entry.undoes else ())) if id in place}
        for entry in entries
    }
    following: defaultdict[str, list[str]] = defaultdict(list)
    for id, before in waits.items():
        for other in before:
            following[other].append(id)
    ready: list[tuple[str, int]] = []
    for number, entry in enumerate(entries):
        if not waits[entry.id]:
            heappush(ready, (entry.at, number))
    found: list[LogEntry] = []
    while ready:
        entry = entries[heappop(ready)[1]]
        found.append(entry)
        for id in following[entry.id]:
            waits[id].discard(entry.id)
            if not waits[id]:
                heappush(ready, (entries[place[id]].at, place[id]))
    # What waits for itself, in a file that somebody wrote by hand, stands at the end.
    return [*found, *(entry for entry in entries if waits[entry.id])]


def _settled(annotator: str, text: str, entries: Sequence[LogEntry]) -> tuple[list[LogEntry], list[Contradiction]]:
    """Undos of what was done to a text apart from what counts, and what there is to tell of it."""
    branches = _branches(entries)
    if len(branches) < 2:
        return [], []
    standing = _standing(entries)
    rivals = [[entry for entry in branch if entry.id in standing and not _lasts(entry)] for branch in branches]
    rivals = sorted((branch for branch in rivals if branch), key=_weight)
    if len(rivals) < 2:
        return [], []
    kept = rivals.pop()
    undos = [_undo(annotator, entry, standing[entry.id]) for branch in rivals for entry in reversed(branch)]
    told = [Contradiction(annotator, text, kept[-1].at, branch[-1].at) for branch in rivals]
    return undos, told


def _lasts(entry: LogEntry) -> bool:
    return f"{KIND}:{entry.kind.removesuffix(TOGETHER)}" in LASTING_KINDS


def _weight(branch: Sequence[LogEntry]) -> tuple[bool, str, str]:
    """What decides which of two counts: an answer that is given, then the later one."""
    switches = [entry.kind for entry in branch if entry.kind in ("accept", "reopen")]
    return bool(switches) and switches[-1] == "accept", branch[-1].at, branch[-1].id


def _branches(entries: Sequence[LogEntry]) -> list[list[LogEntry]]:
    """What belongs to each last entry alone; one branch where everything was done knowing of what came before."""
    by_id = {entry.id: entry for entry in entries}
    ancestors: dict[str, frozenset[str]] = {}
    for entry in _in_order(entries):
        before = [id for id in entry.after if id in by_id]
        ancestors[entry.id] = frozenset({entry.id}).union(*(ancestors.get(id, ()) for id in before))
    inner = {id for entry in entries for id in entry.after}
    heads = [entry.id for entry in entries if entry.id not in inner]
    return [
        [
            entry
            for entry in entries
            if entry.id in ancestors[head].difference(*(ancestors[o] for o in heads if o != head))
        ]
        for head in heads
    ]


def _standing(entries: Sequence[LogEntry]) -> dict[str, str]:
    """The events that are not taken back, by their ids: the entry that an undo of each has to name."""
    first: dict[str, str] = {}
    last: dict[str, str] = {}
    for entry in entries:
        if entry.undoes is None:
            last[entry.id] = entry.id
            continue
        of = first.get(entry.undoes, entry.undoes)
        first[entry.id] = of
        last[of] = entry.id
    off = Counter(first.values())
    return {entry.id: last[entry.id] for entry in entries if entry.undoes is None and off[entry.id] % 2 == 0}


def _undo(annotator: str, entry: LogEntry, tip: str) -> LogEntry:
    """The undo of an entry that does not count: the same one on every machine that finds so."""
    made = LogEntry("", entry.text, "undo", entry.at, msgspec.Raw(b"{}"), tip)
    return msgspec.structs.replace(made, id=_id_of(annotator, made))
