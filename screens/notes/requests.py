"""What is asked of notes, and what is done to them, each in a thread."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from emotui.metrics.saturation import Saturation
    from emotui.workbench.notes import Code, Note, NoteBook


class Wish(msgspec.Struct, frozen=True):
    """What is wanted of a dataset's notes.

    `do`: read, write, rename, undo or export. `sample`: which one is noted. `text` and `codes`: of a note what
    it says; of a new name the two names; of an export the file.
    """

    do: str
    dataset: int
    annotator: str
    sample: int | None = None
    text: str = ""
    codes: Sequence[str] = ()


class Answer(msgspec.Struct, frozen=True):
    """How notes stand after it. `said`: what was done, in words; empty: nothing is worth saying."""

    notes: "Sequence[Note]"
    codes: "Sequence[Code]"
    curve: "Saturation"
    slices: Sequence[str] = ()
    said: str = ""


def ask(book: "NoteBook", wish: Wish) -> Answer:
    """Do it, and read the notes as they stand then.

    Raises:
        EmotuiError: it cannot be done.
    """
    said = ""
    if wish.do == "write" and wish.sample is not None:
        book.write(wish.dataset, wish.sample, wish.annotator, wish.text, wish.codes)
    elif wish.do == "rename":
        old, new = wish.codes
        merged = book.rename(wish.dataset, old, new, wish.annotator)
        said = f"{old} is part of {new} now" if merged else f"{old} is called {new} now"
    elif wish.do == "undo":
        undone = book.undo(wish.dataset, wish.annotator)
        said = "Nothing of yours is left to take back" if undone is None else f"The last {undone.kind} is taken back"
    elif wish.do == "export":
        said = f"{_export(book, wish)} notes written to {wish.text}"
    with book.store.together():
        return Answer(
            book.notes(wish.dataset),
            book.codes(wish.dataset),
            book.saturation(wish.dataset),
            [name for name, _, _ in book.store.slices.all(wish.dataset)],
            said,
        )


def _export(book: "NoteBook", wish: Wish) -> int:
    from emotui.formats import write

    dataset = book.store.dataset(wish.dataset)
    return 0 if dataset is None else write(wish.text, book.records(dataset))
