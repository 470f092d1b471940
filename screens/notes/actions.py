"""Notes of a dataset: what is asked of them, the sheet in which one is written, and what keys do with them."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace
from textual import on
from textual.binding import Binding
from textual.suggester import Suggester
from textual.widget import Widget
from textual.widgets import Label

from emotui.screens.actions import Acting
from emotui.screens.dialogs.dialog import Dialog, OptionDialog, option
from emotui.screens.dialogs.textual_private_options import PickList
from emotui.screens.long_text import Drafts, LongInput
from emotui.screens.requests import LatestRequest
from emotui.screens.samples.pane import ListPane
from emotui.screens.session import Session
from emotui.screens.widgets.cell_width import shown, width
from emotui.screens.widgets.line import Line, Part
from emotui.screens.widgets.number_format import bars, count, so_many
from emotui.screens.widgets.textual_private_text import Input

if TYPE_CHECKING:
    from emotui.metrics.saturation import Saturation
    from emotui.workbench.drafts import Field
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


# The codebook: all codes of a dataset, and whether new samples still bring new ones.

_CURVE = 60
"""Cells that the curve takes at most."""

Do = Callable[[str, str, Sequence[str]], None]
"""Told what to do (rename, undo, export), with a text and codes."""


class Codebook(OptionDialog[str]):
    """Enter gives back the code whose samples are to be listed; `r`, `u` and `e` change or write notes from here."""

    BINDINGS = [
        Binding("r", "rename", show=False),
        Binding("u", "undo", show=False),
        Binding("e", "export", show=False),
    ]
    DEFAULT_CSS = """
    Codebook #curve { height: auto; }
    Codebook > #sheet { height: auto; }
    """

    def __init__(self, answer: "Answer", dataset: str, do: Do) -> None:
        of_codes = ("j k", "move"), ("Enter", "samples"), ("r", "rename"), ("e", "export")
        super().__init__(f"Codes of {shown(dataset)}", *(of_codes if answer.codes else ()), ("u", "undo"))
        self.answer, self._dataset, self._do = answer, dataset, do

    def body(self) -> list[Widget]:
        return [PickList(), Label("", id="curve", markup=False)]

    def on_mount(self) -> None:
        super().on_mount()
        self.show_answer(self.answer)

    def show_answer(self, answer: "Answer") -> None:
        """Show how the codes stand now."""
        here = self.name_here
        self.answer = answer
        names = [code.name for code in answer.codes]
        widest = min(max((width(shown(name)) for name in names), default=0), 30)
        self.options.clear_options()
        self.options.add_options(
            [
                option(
                    code.name,
                    f"  {count(len(code.samples)):>5}  {', '.join(code.annotators)}   {code.example}",
                    cells=widest,
                )
                for code in answer.codes
            ]
        )
        if names:
            self.options.highlighted = names.index(here) if here in names else 0
        self.query_one("#curve", Label).update("\n".join(curve(answer.curve)) if names else _EMPTY)

    @property
    def name_here(self) -> str:
        """The code under the cursor; empty where there is none."""
        at = self.options.highlighted
        return self.answer.codes[at].name if at is not None and at < len(self.answer.codes) else ""

    def result(self) -> str | None:
        return self.name_here or None

    def action_rename(self) -> None:
        """Ask for another name; one that is there already makes both one."""
        from emotui.screens.dialogs.choices import NameDialog

        old = self.name_here
        if old:
            about = (f"another name for {old}; the name of another code makes both one",)
            NameDialog("Code", about, old).ask(self.app, lambda new: self._do("rename", "", (old, new)))

    def action_undo(self) -> None:
        """Take back what one did last."""
        self._do("undo", "", ())

    def action_export(self) -> None:
        """Write all notes to a file."""
        from emotui.formats import ENDINGS
        from emotui.screens.dialogs.file import FileDialog

        dialog = FileDialog("Notes and codes", f"{self._dataset}-notes.csv", ENDINGS)
        dialog.ask(self.app, lambda path: self._do("export", path, ()))


_EMPTY = "No codes yet: ; writes a note on a sample, and codes under it."


def curve(found: "Saturation") -> list[str]:
    """How codes became more over the samples that have some, and what the last ones brought."""
    n = len(found.known)
    if not n:
        return []
    cells = min(n, _CURVE)
    known = [found.known[(at + 1) * n // cells - 1] for at in range(cells)]
    lines = [f"{bars(known)}  {so_many(found.known[-1], 'code')} in {so_many(n, 'sample')}"]
    if found.share is None:
        return [*lines, "whether new samples still bring new codes is told from 20 samples on"]
    reached = "not saturated yet" if found.reached is None else f"saturated after {found.reached} samples"
    return [*lines, f"the last 10 brought {100 * found.share:.0f}% of the codes of the first 10: {reached}"]


_SHOWN = 8
"""Codes that are offered at a time."""


NOTE, CODES = "note", "codes of a note"
"""The fields of the sheet, as drafts name them."""


class Written(msgspec.Struct, frozen=True):
    """What was typed."""

    text: str
    codes: tuple[str, ...]


class CodeSuggester(Suggester):
    """Completes the code that is typed, which is what stands after the last comma."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._names = list(names)

    async def get_suggestion(self, value: str) -> str | None:
        """The line with its last code completed; None where no code begins so."""
        before, comma, typed = value.rpartition(",")
        wanted = typed.strip().casefold()
        found = [name for name in fitting(self._names, value) if wanted and name.casefold().startswith(wanted)]
        if not found:
            return None
        space = typed[: len(typed) - len(typed.lstrip())]
        return f"{before}{comma}{space}{typed.strip()}{found[0][len(typed.strip()) :]}"


def fitting(names: Sequence[str], line: str) -> list[str]:
    """The codes that hold what is typed after the last comma, those that begin so first; none that stand already."""
    from emotui.workbench.notes import codes_in

    before, _, typed = line.rpartition(",")
    wanted, taken = typed.strip().casefold(), {code.casefold() for code in codes_in(before)}
    left = [name for name in names if wanted in name.casefold() and name.casefold() not in taken]
    return sorted(left, key=lambda name: not name.casefold().startswith(wanted))


class NoteDialog(Dialog[Written]):
    """Gives back the note as it was typed; empty: there is to be none any more.

    Args:
        fields: whose drafts its fields have, by `NOTE` and `CODES`.
    """

    BINDINGS = [
        Binding("down", "app.focus_next", show=False),
        Binding("up", "app.focus_previous", show=False),
    ]
    DEFAULT_CSS = """
    NoteDialog #others, NoteDialog #offered { color: $text-muted; height: auto; max-height: 2; margin: 0; }
    """

    def __init__(
        self,
        sample: str,
        notes: "Sequence[Note]",
        codes: "Sequence[Code]",
        annotator: str,
        drafts: Drafts,
        fields: "Mapping[str, Field]",
    ) -> None:
        keys = ("Tab", "field"), ("→", "take what is offered"), ("^O", "$EDITOR"), ("Enter", "keep")
        super().__init__(f"Note on {shown(sample)}", *keys)
        self._own = next((note for note in notes if note.annotator == annotator), None)
        self._others = [note for note in notes if note.annotator != annotator]
        self._names = [code.name for code in codes]
        self._annotator, self._drafts, self._fields = annotator, drafts, fields

    def body(self) -> list[Widget]:
        own, drafts, fields = self._own, self._drafts, self._fields
        others = "\n".join(f"{shown(note.annotator)}: {in_words(note)}" for note in self._others)
        return [
            Label(f"note of {shown(self._annotator)}", markup=False),
            LongInput(
                own.text if own else "",
                drafts=drafts,
                field=fields[NOTE],
                id="text",
                compact=True,
                select_on_focus=False,
            ),
            Label("codes, with commas between them; new ones are made", markup=False),
            LongInput(
                ", ".join(own.codes) if own else "",
                drafts=drafts,
                field=fields[CODES],
                id="codes",
                compact=True,
                suggester=CodeSuggester(self._names),
            ),
            Label("", id="offered", markup=False),
            *([Label(others, id="others", markup=False)] if others else []),
        ]

    def on_mount(self) -> None:
        """Type at once."""
        super().on_mount()
        self._offer()
        self.query_one("#text", Input).focus()

    @on(Input.Changed, "#codes")
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self.refuse("")
        self._offer()

    def _offer(self) -> None:
        found = fitting(self._names, self.query_one("#codes", Input).value)
        more = f"   … {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        told = "   ".join(found[:_SHOWN]) + more
        if not self._names:
            told = "no code is there yet"
        elif not self.query_one("#codes", Input).value.strip():
            told = f"there are: {told}"
        self.query_one("#offered", Label).update(shown(told))

    def result(self) -> Written:
        """What was typed.

        Raises:
            BadInput: a code cannot be one.
        """
        from emotui.workbench.notes import as_known, codes_in

        codes = as_known(codes_in(self.query_one("#codes", Input).value), {n.casefold(): n for n in self._names})
        return Written(self.text("text"), codes)


def in_words(note: "Note") -> str:
    """A note in one line: its text, and its codes in brackets."""
    codes = f"[{', '.join(note.codes)}]" if note.codes else ""
    return shown(" ".join(part for part in (note.text, codes) if part))


# What keys do with notes and codes, in every place with a list; and the line that shows what is noted.


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
        if isinstance(self._pane.app.screen, Codebook):
            self._pane.app.screen.show_answer(answer)
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
