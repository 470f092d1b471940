"""Notes on samples, and the codes that grow out of them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import msgspec
from msgspec import Struct

from emotui.errors import BadInput
from emotui.metrics.saturation import BASE, RUN, THRESHOLD, Saturation, saturation
from emotui.records import SampleNote
from emotui.store.beside import NOTE, RENAME, NoteEntry, Wanted
from emotui.store.query import Dataset
from emotui.store.store import Store

# The notes of a dataset: written, coded, taken back, counted, written out and brought in.

# What the log of notes comes to: the notes as they stand, with codes as they are called now.


class Note(msgspec.Struct, frozen=True):
    """What one person notes about one sample. `began`: when the first note of theirs on it was made, UTC, ISO 8601."""

    sample: int
    annotator: str
    text: str
    codes: tuple[str, ...]
    made: str
    began: str


def standing(entries: Sequence[NoteEntry]) -> list[Note]:
    """The notes after all entries that are not taken back, in the order in which their samples were first noted.

    A code that has another name is called by it in all notes that were made before; who uses the old name afterwards
    makes a code anew. A note without text and codes is none.
    """
    undone = {entry.undoes for entry in entries if entry.undoes is not None}
    notes: dict[tuple[int, str], Note] = {}
    for entry in entries:
        if entry.entry in undone:
            continue
        if entry.kind == NOTE and entry.sample is not None:
            key = entry.sample, entry.annotator
            before = notes.get(key)
            if entry.text or entry.codes:
                began = entry.at if before is None else before.began
                notes[key] = Note(entry.sample, entry.annotator, entry.text, entry.codes, entry.at, began)
            elif before is not None:
                del notes[key]
        elif entry.kind == RENAME:
            old, new = entry.codes
            for key, note in notes.items():
                if old in note.codes:
                    notes[key] = msgspec.structs.replace(note, codes=renamed(note.codes, old, new))
    return sorted(notes.values(), key=lambda note: note.began)


def renamed(codes: Iterable[str], old: str, new: str) -> tuple[str, ...]:
    """Codes with another name for one of them, each once."""
    return tuple(dict.fromkeys(new if code == old else code for code in codes))


LONGEST_CODE = 80
"""Letters of a code."""


class Code(Struct, frozen=True):
    """One code: on how many samples it stands, by whom, and the newest note that has it."""

    name: str
    samples: tuple[int, ...]
    annotators: tuple[str, ...]
    example: str


@dataclass
class NoteBook:
    """Made by `Workspace.notes()`. Every method may be called from any thread, and may take a while."""

    store: Store
    _held: dict[int, tuple[int, list[Note]]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def notes(self, dataset: int) -> list[Note]:
        """All notes on a dataset's samples, in the order in which the samples were first noted."""
        last = self.store.notes.last(dataset)
        with self._lock:
            held = self._held.get(dataset)
        if held is not None and held[0] == last:
            return held[1]
        found = standing(self.store.notes.entries(dataset))
        with self._lock:
            self._held[dataset] = last, found
        return found

    def of(self, dataset: int, sample: int) -> list[Note]:
        """The notes on one sample."""
        return [note for note in self.notes(dataset) if note.sample == sample]

    def codes(self, dataset: int) -> list[Code]:
        """All codes, the one on most samples first."""
        notes: dict[str, list[Note]] = {}
        for note in self.notes(dataset):
            for code in note.codes:
                notes.setdefault(code, []).append(note)
        found = [
            Code(
                name,
                tuple(dict.fromkeys(note.sample for note in those)),
                tuple(sorted({note.annotator for note in those})),
                max(those, key=lambda note: note.made).text,
            )
            for name, those in notes.items()
        ]
        return sorted(found, key=lambda code: (-len(code.samples), code.name.lower(), code.name))

    def write(self, dataset: int, sample: int, annotator: str, text: str, codes: Iterable[str] = ()) -> None:
        """Keep a person's note on a sample in place of the one of before; without text and codes: none any more.

        Raises:
            BadInput: a code is too long, or cannot be a name.
        """
        self.store.notes.write(dataset, [(sample, annotator, text.strip(), as_known(codes, self._spelt(dataset)))])

    def _spelt(self, dataset: int) -> dict[str, str]:
        """The codes that there are, by their letters without regard to case."""
        return {code.name.casefold(): code.name for code in self.codes(dataset)}

    def rename(self, dataset: int, old: str, new: str, annotator: str) -> bool:
        """Call a code by another name; says whether there was one of that name, so that both are one now.

        Raises:
            BadInput: there is no such code, or the name cannot be one.
        """
        names = [code.name for code in self.codes(dataset)]
        if old not in names:
            raise BadInput(f"there is no code {old!r}; there are: {', '.join(names) or 'none'}")
        new = code_name(new)
        there = next((name for name in names if name.casefold() == new.casefold() and name != old), None)
        if (there or new) != old:
            self.store.notes.rename(dataset, old, there or new, annotator)
        return there is not None

    def undo(self, dataset: int, annotator: str) -> NoteEntry | None:
        """Take back what a person did last to notes or codes; None where there is nothing left."""
        return self.store.notes.undo(dataset, annotator)

    def saturation(self, dataset: int, *, base: int = BASE, run: int = RUN, threshold: float = THRESHOLD) -> Saturation:
        """How new codes became fewer, over the samples that have codes in the order in which they got the first."""
        codes: dict[int, set[str]] = {}
        for note in self.notes(dataset):
            if note.codes:
                codes.setdefault(note.sample, set()).update(note.codes)
        return saturation(list(codes.values()), base=base, run=run, threshold=threshold)

    def agreement(self, dataset: int) -> dict[str, Any]:
        """How far coders agree, code by code, over the samples that at least two of them coded.

        Each (sample, code) is a question of its own with the answers 0 and 1, as of `vectors_agreement_report`.

        Raises:
            BadInput: no sample is coded by two.
        """
        from emotui.metrics.agreement import vectors_agreement_report

        coded: dict[int, dict[str, tuple[str, ...]]] = {}
        for note in self.notes(dataset):
            if note.codes:
                coded.setdefault(note.sample, {})[note.annotator] = note.codes
        both = {sample: said for sample, said in coded.items() if len(said) > 1}
        if not both:
            raise BadInput("no sample has codes of two people yet")
        names = sorted({code for said in both.values() for codes in said.values() for code in codes})
        vectors: Mapping[str, Mapping[str, Mapping[str, int]]] = {
            str(sample): {who: {name: int(name in codes) for name in names} for who, codes in said.items()}
            for sample, said in both.items()
        }
        return vectors_agreement_report(vectors)

    def records(self, dataset: Dataset) -> list[SampleNote]:
        """All notes as records, in the order of the file."""
        ids = {number: key for key, number in self.store.samples.numbers_by_id(dataset.dataset).items()}
        notes = sorted(self.notes(dataset.dataset), key=lambda note: (note.sample, note.annotator))
        return [
            SampleNote(id=ids[note.sample], annotator=note.annotator, note=note.text, codes=note.codes, made=note.made)
            for note in notes
        ]

    def bring_in(self, dataset: Dataset, records: Sequence[SampleNote], places: Sequence[str], annotator: str) -> int:
        """Keep notes of records, all or none; those that say what is there already change nothing. How many are new.

        Args:
            places: `FILE:LINE` of each.
            annotator: whose they are where the record does not say it.

        Raises:
            BadInput: a line for each record about no sample of the dataset.
        """
        numbers = self.store.samples.numbers_by_id(dataset.dataset)
        there = {(note.sample, note.annotator): note for note in self.notes(dataset.dataset)}
        spelt = self._spelt(dataset.dataset)
        problems: list[str] = []
        wanted: list[Wanted] = []
        for record, place in zip(records, places, strict=True):
            number = numbers.get(record.id)
            try:
                codes = as_known(record.codes, spelt)
            except BadInput as error:
                problems.append(f"{place}: {error}")
                continue
            if number is None:
                problems.append(f"{place}: {dataset.name} has no sample {record.id!r}")
                continue
            who = record.annotator or annotator
            now = there.get((number, who))
            if now is None or (now.text, now.codes) != (record.note.strip(), codes):
                wanted.append((number, who, record.note.strip(), codes))
        if problems:
            raise BadInput(*problems)
        self.store.notes.write(dataset.dataset, wanted)
        return len(wanted)


def code_name(given: str) -> str:
    """A code as it is kept: one line, no spaces around it.

    Raises:
        BadInput: it is empty, too long, or holds a comma, which parts codes.
    """
    name = " ".join(given.split())
    if not name:
        raise BadInput("a code is empty")
    if len(name) > LONGEST_CODE:
        raise BadInput(f"the code {name[:20]!r}… has {len(name)} letters: {LONGEST_CODE} are the most")
    if "," in name:
        raise BadInput(f"the code {name!r} holds a comma, which parts codes")
    return name


def as_known(codes: Iterable[str], spelt: dict[str, str]) -> tuple[str, ...]:
    """Codes as `spelt` has them, each once; what it lacks is added to it.

    Raises:
        BadInput: as of `code_name`.
    """
    return tuple(dict.fromkeys(spelt.setdefault(code.casefold(), code) for code in map(code_name, codes)))


def codes_in(line: str) -> tuple[str, ...]:
    """The codes of a line that was typed, which stand between commas."""
    return tuple(part for part in (" ".join(one.split()) for one in line.split(",")) if part)
