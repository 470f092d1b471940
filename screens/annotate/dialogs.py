"""What the Annotate place asks for and shows over the text: a note, a label, consent, the guidelines."""

from collections.abc import Sequence

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.widget import Widget
from textual.widgets import Label, Markdown, OptionList, Static
from textual.widgets.option_list import Option

from emotui.errors import BadInput
from emotui.screens.dialogs.dialog import Dialog, option
from emotui.screens.dialogs.textual_private_options import PickList
from emotui.screens.long_text import Drafts, LongInput
from emotui.screens.widgets.cell_width import shown, width
from emotui.screens.widgets.textual_private_text import Input
from emotui.workbench.annotate.others import names_of
from emotui.workbench.annotate.scheme import Scheme
from emotui.workbench.drafts import Field

_RESULT = "adjudicated"
"""The name that an adjudication has unless another one is typed."""


class NoteDialog(Dialog[str]):
    """A line about the text; an empty one takes the note away."""

    def __init__(self, note: str, drafts: Drafts, field: Field) -> None:
        super().__init__("Note about this text", ("^O", "$EDITOR"), ("Enter", "keep"))
        self._note, self._drafts, self._field = note, drafts, field

    def body(self) -> Sequence[Widget]:
        options = {"id": "note", "select_on_focus": False, "placeholder": "empty: no note", "compact": True}
        return [LongInput(self._note, drafts=self._drafts, field=self._field, **options)]

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


class LabelDialog(Dialog[int]):
    """One of all labels, found by typing some of its name; gives its place among them.

    Args:
        labels: of each its name, and the words behind it.
    """

    BINDINGS = [
        Binding("up", "move(-1)", show=False),
        Binding("down", "move(1)", show=False),
    ]

    def __init__(self, labels: Sequence[tuple[str, str]]) -> None:
        super().__init__("Label", ("↑ ↓", "move"), ("Enter", "choose"))
        self._labels = labels
        self._found = list(range(len(labels)))

    def body(self) -> Sequence[Widget]:
        return [Input(id="name", compact=True, placeholder="some of its name"), PickList(*self._options())]

    def _options(self) -> list[Option]:
        widest = max((width(name) for name, _ in self._labels), default=0)
        return [option(name, f"  {about}", "", widest) for name, about in map(self._labels.__getitem__, self._found)]

    @on(Input.Changed)
    def _narrow(self, event: Input.Changed) -> None:
        event.stop()
        typed = event.value.strip().casefold()
        fitting = [place for place, (name, _) in enumerate(self._labels) if typed in name.casefold()]
        # Names that begin so come first.
        self._found = sorted(fitting, key=lambda place: not self._labels[place][0].casefold().startswith(typed))
        listed = self.query_one(OptionList)
        listed.clear_options()
        listed.add_options(self._options())
        listed.highlighted = 0 if self._found else None

    def action_move(self, step: int) -> None:
        """Move by one label."""
        listed = self.query_one(OptionList)
        if step > 0:
            listed.action_cursor_down()
        else:
            listed.action_cursor_up()

    def result(self) -> int:
        if not self._found:
            raise BadInput("no label has that in its name")
        return self._found[self.query_one(OptionList).highlighted or 0]


class ConsentDialog(Dialog[bool]):
    """What everybody agrees to before the first text."""

    DEFAULT_CSS = """
    ConsentDialog VerticalScroll { height: auto; max-height: 60vh; scrollbar-size-vertical: 1; }
    ConsentDialog Static { height: auto; }
    """

    def __init__(self, words: str) -> None:
        super().__init__("Before the first text", ("Enter", "agree"), ("↑ ↓", "scroll"))
        self._words = words

    def body(self) -> Sequence[Widget]:
        lines = "\n".join(map(shown, self._words.splitlines()))
        return [VerticalScroll(Static(lines, id="consent", markup=False), can_focus=True)]

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one(VerticalScroll).focus()

    def result(self) -> bool:
        return True


class AdjudicateDialog(Dialog[tuple[tuple[str, ...], str]]):
    """Whose answers are brought together, and under which name the result is a source."""

    def __init__(self) -> None:
        super().__init__("Adjudicate", ("Enter", "begin"))
        self._sources = ""

    def body(self) -> Sequence[Widget]:
        return [
            Label("Sources, with commas between; empty: everybody but gold", markup=False),
            Input(self._sources, id="sources", compact=True, placeholder="people, runs by id or name, gold"),
            Label("Name of the result", markup=False),
            Input(_RESULT, id="name", compact=True),
        ]

    def name_sources(self, sources: Sequence[str]) -> None:
        """Put these there, where nothing is typed yet, but for the result itself; also before the dialog is seen."""
        self._sources = ", ".join(one for one in sources if one not in names_of(_RESULT))
        for field in self.query("#sources").results(Input):
            field.value = field.value or self._sources

    def result(self) -> tuple[tuple[str, ...], str]:
        name = self.text("name")
        if not name:
            raise BadInput("the result needs a name")
        return tuple(one.strip() for one in self.text("sources").split(",") if one.strip()), name


class GuidelinesPane(VerticalScroll, can_focus=False):
    """The guidelines of the scheme beside the text, or under it."""

    DEFAULT_CSS = """
    GuidelinesPane { dock: right; width: 40; padding: 1 1 0 2; border-left: solid $rule; scrollbar-size-vertical: 1; }
    GuidelinesPane.-under {
        dock: bottom; width: 100%; height: 12; padding: 0 1; border-left: none; border-top: solid $rule;
    }
    GuidelinesPane Markdown { padding: 0; background: $background; }
    GuidelinesPane MarkdownBullet { color: $primary; }
    GuidelinesPane.-under MarkdownH1 { margin: 0 0 1 0; content-align: left middle; }
    """

    def __init__(self, guidelines: str, *, under: bool = False) -> None:
        super().__init__(classes="guidelines -under" if under else "guidelines")
        self.guidelines = guidelines

    def compose(self) -> ComposeResult:
        yield Markdown(self.guidelines, open_links=False)


class GuidelinesDialog(Dialog[None]):
    """The guidelines of the scheme; F2, q and Esc leave."""

    BINDINGS = [
        Binding("f2,q", "leave", show=False),
        Binding("j", "scroll(1)", show=False),
        Binding("k", "scroll(-1)", show=False),
    ]
    DEFAULT_CSS = """
    GuidelinesDialog VerticalScroll { height: auto; max-height: 70vh; scrollbar-size-vertical: 1; }
    GuidelinesDialog Markdown { padding: 0; background: $surface; }
    GuidelinesDialog MarkdownBullet { color: $primary; }
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
