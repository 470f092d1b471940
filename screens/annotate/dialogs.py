"""What the Annotate place asks for and shows over the text: a note, the guidelines."""

from collections.abc import Sequence

from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.widget import Widget
from textual.widgets import Input, Label, Markdown

from emotui.errors import BadInput
from emotui.screens.dialogs.dialog import Dialog
from emotui.workbench.annotate.scheme import Scheme


class NoteDialog(Dialog[str]):
    """A line about the text; an empty one takes the note away."""

    def __init__(self, note: str) -> None:
        super().__init__("Note about this text", ("Enter", "keep"))
        self._note = note

    def body(self) -> Sequence[Widget]:
        return [Input(self._note, id="note", compact=True, placeholder="empty: no note")]

    def result(self) -> str:
        return self.text("note")


class WordDialog(Dialog[str]):
    """The word for one mask; an empty one takes it away."""

    def __init__(self, place: int, n: int, word: str) -> None:
        super().__init__(f"Word for mask {place + 1} of {n}", ("Enter", "keep"))
        self._word = word

    def body(self) -> Sequence[Widget]:
        return [Input(self._word, id="word", compact=True)]

    def result(self) -> str:
        return self.text("word")


class AdjudicateDialog(Dialog[tuple[tuple[str, ...], str]]):
    """Whose answers are brought together, and under which name the result is a source."""

    def __init__(self) -> None:
        super().__init__("Adjudicate", ("Enter", "begin"))
        self._sources = ""

    def body(self) -> Sequence[Widget]:
        return [
            Label("Sources: people, runs by id or name, gold; with commas between", markup=False),
            Input(self._sources, id="sources", compact=True, placeholder="empty: everybody but gold"),
            Label("Name of the result", markup=False),
            Input("adjudicated", id="name", compact=True),
        ]

    def name_sources(self, sources: Sequence[str]) -> None:
        """Put these there, where nothing is typed yet; also before the dialog is seen."""
        self._sources = ", ".join(sources)
        for field in self.query("#sources").results(Input):
            field.value = field.value or self._sources

    def result(self) -> tuple[tuple[str, ...], str]:
        name = self.text("name")
        if not name:
            raise BadInput("the result needs a name")
        return tuple(one.strip() for one in self.text("sources").split(",") if one.strip()), name


class GuidelinesDialog(Dialog[None]):
    """The guidelines of the scheme; F2, q and Esc leave."""

    BINDINGS = [
        Binding("f2,q", "leave", show=False),
        Binding("j", "scroll(1)", show=False),
        Binding("k", "scroll(-1)", show=False),
    ]
    DEFAULT_CSS = """
    GuidelinesDialog > #sheet { width: 84; }
    GuidelinesDialog VerticalScroll { height: auto; max-height: 70vh; scrollbar-size-vertical: 1; }
    GuidelinesDialog Markdown { padding: 0; background: $surface; }
    """

    def __init__(self, scheme: Scheme) -> None:
        super().__init__(f"Guidelines: {scheme.name}", ("↑ ↓", "scroll"))
        self._guidelines = scheme.guidelines

    def body(self) -> Sequence[Widget]:
        return [VerticalScroll(Markdown(self._guidelines, open_links=False))]

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one(VerticalScroll).focus()

    def action_scroll(self, step: int) -> None:
        """One line down or up."""
        self.query_one(VerticalScroll).scroll_relative(y=step, animate=False)
