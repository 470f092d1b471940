"""What keys do with notes and codes, in every place with a list; and the line that shows what is noted."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from emotui.screens.actions import Acting
from emotui.screens.notes.sheets import Answer, Wish, ask
from emotui.screens.requests import LatestRequest
from emotui.screens.samples.pane import ListPane
from emotui.screens.session import Session
from emotui.screens.widgets.line import Line, Part

if TYPE_CHECKING:
    from emotui.screens.notes.sheets import Written
    from emotui.workbench.notes import NoteBook


class NoteLine(Line):
    """What people noted about the selected sample; there is no line where nobody did."""

    DEFAULT_CSS = """
    NoteLine { dock: bottom; margin: 0 0 1 0; padding: 0 1; background: $panel; display: none; }
    """


class NoteActions(Acting):
    """Holds the notes of the dataset in sight; dialogs are imported when they are asked for."""

    def __init__(self, session: Session, pane: ListPane, line: NoteLine) -> None:
        self._session, self._pane, self._line = session, pane, line
        self.answer: Answer | None = None
        self._dataset: int | None = None
        self._then: Callable[[], None] | None = None
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
        from emotui.screens.notes.sheets import Codebook

        if isinstance(self._pane.app.screen, Codebook):
            self._pane.app.screen.show_answer(answer)
        then, self._then = self._then, None
        if then is not None:
            then()

    def _forget_drafts(self, wish: Wish) -> None:
        from emotui.screens.notes.sheets import CODES, NOTE

        session = self._session
        note, codes = (session.field(name, sample=wish.sample, dataset=wish.dataset) for name in (NOTE, CODES))
        session.drafts.kept(note, wish.text)
        session.drafts.drop(codes)

    def draw(self) -> None:
        """Show what is noted about the selected sample."""
        sample, answer = self._pane.sample, self.answer
        dataset = self._session.overview.dataset
        here = dataset is not None and dataset.dataset == self._dataset
        notes = [note for note in answer.notes if note.sample == sample] if answer is not None and here else []
        if self._pane.blind:
            notes = [note for note in notes if note.annotator == self._session.annotator]
        if self._line.display != bool(notes):
            self._line.display = bool(notes)
        if notes:
            from emotui.screens.notes.sheets import in_words

            parts = []
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
        from emotui.screens.notes.sheets import CODES, NOTE, NoteDialog

        sample, answer = self._pane.sample, self.answer
        if sample is None or answer is None:
            return
        notes = [note for note in answer.notes if note.sample == sample]
        wish = replace(self._wish("write"), sample=sample)

        def written(note: "Written") -> None:
            self._kept.ask(replace(wish, text=note.text, codes=note.codes))

        row = self._pane.rows.row(self._pane.rows.cursor)
        session = self._session
        fields = {name: session.field(name, sample=sample) for name in (NOTE, CODES)}
        name = "this sample" if row is None else row.id
        dialog = NoteDialog(name, notes, answer.codes, session.annotator, session.drafts, fields)
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

        Codebook(answer, dataset.name, do).ask(self._pane.app, chosen)

    def can_undo(self) -> bool:
        return self._steps > 0 and self.can_codes()

    def do_undo(self) -> None:
        """Take back the last step of one's own, of notes or codes."""
        self._kept.ask(self._wish("undo"))
