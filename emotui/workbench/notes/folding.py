"""What the log of notes comes to: the notes as they stand, with codes as they are called now."""

from collections.abc import Iterable, Sequence

import msgspec

from emotui.store.beside.notes import NOTE, RENAME, NoteEntry


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
