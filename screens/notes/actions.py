"""Notes of a dataset: what is asked of them, and what keys do with them in every place with a list."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from emotui.screens.actions import Acting
from emotui.screens.requests import LatestRequest
from emotui.screens.samples.pane import ListPane
from emotui.screens.session import Session
from emotui.screens.widgets.cell_width import shown
from emotui.screens.widgets.line import Line, Part
from emotui.screens.widgets.number_format import so_many

if TYPE_CHECKING:
    from emotui.metrics.saturation import Saturation
    from emotui.screens.notes.sheets import Codebook, Written
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
        said = f"{so_many(_export(book, wish), 'note')} written to {wish.text}"
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

    dataset = book.store.datasets.get(wish.dataset)
    return 0 if dataset is None else write(wish.text, book.records(dataset))


NOTE, CODES = "note", "codes of a note"
"""The fields of the sheet, as drafts name them."""


def in_words(note: "Note") -> str:
    """A note in one line: its text, and its codes in brackets."""
    codes = f"[{', '.join(note.codes)}]" if note.codes else ""
    return shown(" ".join(part for part in (note.text, codes) if part))


class NoteLine(Line):
    """What people noted about the selected sample; there is no line where nobody did."""

    DEFAULT_CSS = """
    NoteLine { dock: bottom; margin: 0 0 1 0; padding: 0 1; background: $panel; display: none; }
    """


class NoteActions(Acting):
    """Holds the notes of the dataset in sight; dialogs are imported when they are asked for.

    Args:
        tell: told whether there is a note on the selected sample.
    """

    def __init__(self, session: Session, pane: ListPane, line: NoteLine, tell: Callable[[bool], None]) -> None:
        self._session, self._pane, self._line, self._tell = session, pane, line, tell
        self.answer: Answer | None = None
        self._dataset: int | None = None
        self._then: Callable[[], None] | None = None
        self._codebook: Codebook | None = None
        self._steps = 0
        self._asked: LatestRequest[Wish, Answer] = LatestRequest(
            "notes", pane, lambda wish: ask(self._book(), wish), self._show, older=True
        )
        self._kept: LatestRequest[Wish, Answer] = LatestRequest(
            "keep notes", pane, lambda wish: ask(self._book(), wish), self._show, each=True
        )

    def _book(self) -> "NoteBook":
        made = self._session.bound.notes
        assert made is not None
        return made()

    @property
    def busy(self) -> bool:
        """Whether an answer is on its way."""
        return self._asked.busy or self._kept.busy

    def _wish(self, do: str) -> Wish:
        dataset = self._session.overview.dataset
        assert dataset is not None
        return Wish(do, dataset.dataset, self._session.annotator)

    def read(self) -> None:
        """Read the notes of the dataset in sight anew."""
        source, dataset = self._session.source, self._session.overview.dataset
        if source is not None and source.notes is not None and dataset is not None:
            self._asked.ask_painted(self._wish("read"))

    def _show(self, wish: Wish, answer: Answer) -> None:
        self.answer, self._dataset = answer, wish.dataset
        self._session.slices = tuple(answer.slices)
        if answer.said:
            self._pane.notify(answer.said, markup=False)
        if wish.do == "write":
            self._forget_drafts(wish)
        if wish.do in ("write", "rename", "undo"):
            self._steps += 1
            self._session.follow()
            if wish.do != "undo":
                self._session.steps.append(None)
            elif self._session.steps and self._session.steps[-1] is None:
                self._session.steps.pop()
        self.draw()
        if self._codebook is not None and self._pane.app.screen is self._codebook:
            self._codebook.show_codes(answer.codes, answer.curve)
        then, self._then = self._then, None
        if then is not None:
            then()

    def _forget_drafts(self, wish: Wish) -> None:
        session = self._session
        note, codes = (session.field(name, sample=wish.sample, dataset=wish.dataset) for name in (NOTE, CODES))
        session.drafts.kept(note, wish.text)
        session.drafts.drop(codes)

    def draw(self) -> None:
        """Show which samples are noted, and what about the selected one."""
        sample, answer = self._pane.sample, self.answer
        dataset = self._session.overview.dataset
        here = dataset is not None and dataset.dataset == self._dataset
        known = answer.notes if answer is not None and here else ()
        own = self._session.annotator if self._pane.blind else None
        seen = [note for note in known if own in (None, note.annotator)]
        self._pane.rows.show_noted(frozenset(note.sample for note in seen))
        notes = [note for note in seen if note.sample == sample]
        self._tell(bool(notes))
        if self._line.display != bool(notes):
            self._line.display = bool(notes)
        if notes:
            parts = [Part("note  ", "dim")]
            for note in notes:
                parts += [Part(f"{note.annotator}: ", "key"), Part(f"{in_words(note)}   ")]
            self._line.show(parts)

    # Keys.

    def can_sample_note(self) -> bool:
        source = self._session.source
        return source is not None and source.notes is not None and self._pane.sample is not None

    can_note_here = can_sample_note

    def do_sample_note(self) -> None:
        """Write a note on the selected sample."""
        self._open(self._open_note)

    def _open(self, sheet: Callable[[], None]) -> None:
        """At once where the notes are known, so that what is typed next goes into the sheet."""
        dataset = self._session.overview.dataset
        if self.answer is not None and dataset is not None and dataset.dataset == self._dataset:
            sheet()
        else:
            self._then = sheet
            self.read()

    do_note_here = do_sample_note

    def _open_note(self) -> None:
        sample, answer = self._pane.sample, self.answer
        if sample is None or answer is None:
            return
        notes = [note for note in answer.notes if note.sample == sample]
        wish = replace(self._wish("write"), sample=sample)

        def written(note: "Written") -> None:
            self._kept.ask(replace(wish, text=note.text, codes=note.codes))

        row = self._pane.rows.row(self._pane.rows.cursor)
        session = self._session
        fields = session.field(NOTE, sample=sample), session.field(CODES, sample=sample)
        own = next((note for note in notes if note.annotator == session.annotator), None)
        others = [f"{shown(note.annotator)}: {in_words(note)}" for note in notes if note.annotator != session.annotator]
        name = "this sample" if row is None else row.id
        from emotui.screens.notes.sheets import NoteDialog

        dialog = NoteDialog(name, session.annotator, own, others, answer.codes, session.drafts, fields)
        dialog.ask(self._pane.app, written)

    def can_codes(self) -> bool:
        source = self._session.source
        return source is not None and source.notes is not None and self._session.overview.dataset is not None

    def do_codes(self) -> None:
        """Show the codebook."""
        self._open(self._open_codes)

    def _open_codes(self) -> None:
        from emotui.screens.notes.sheets import Codebook
        from emotui.workbench.slices.conditions import Condition, written

        dataset, answer = self._session.overview.dataset, self.answer
        if dataset is None or answer is None:
            return

        def chosen(code: str) -> None:
            state = self._session.state.unfiltered()
            self._session.change(replace(state, column=written((Condition("code", "=", (code,)),))))

        def do(what: str, text: str, codes: Sequence[str]) -> None:
            self._kept.ask(replace(self._wish(what), text=text, codes=codes))

        self._codebook = Codebook(answer.codes, answer.curve, dataset.name, do)
        self._codebook.ask(self._pane.app, chosen)

    def can_undo(self) -> bool:
        return self._steps > 0 and self.can_codes()

    def do_undo(self) -> None:
        """Take back the last step of one's own, of notes or codes."""
        self._kept.ask(self._wish("undo"))
