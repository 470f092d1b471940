"""What Rephrase asks for: a new round, the name of a model or a person, and which suggestion to take."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual import on
from textual.binding import Binding
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Label, OptionList
from textual.widgets.option_list import Option

from emotui.screens.dialogs.dialog import Dialog, OptionDialog
from emotui.screens.widgets.cell_width import shown
from emotui.screens.widgets.number_format import count, share

if TYPE_CHECKING:
    from emotui.workbench.rephrase.views import Progress, Round, Suggestion


class NewRoundDialog(Dialog[bool]):
    """A classifier is frozen for a round: another one begins a new round."""

    BINDINGS = [Binding("enter", "begin", show=False, priority=True)]
    DEFAULT_CSS = "NewRoundDialog Label { width: 1fr; margin: 1 0 0 0; }"

    def __init__(self, at_work: "Round", progress: "Progress | None", spec: str) -> None:
        super().__init__("A new round", (("Enter", "begin the new round"),))
        self._at_work, self._progress, self._spec = at_work, progress, spec

    def body(self) -> list[Widget]:
        """What there is, and what would come."""
        made = f": {count(self._progress.done)} of {count(self._progress.offered)} done" if self._progress else ""
        there = f"Round {self._at_work.number} is against {self._at_work.model}{made}."
        return [
            Label(shown(there), markup=False),
            Label(
                shown(
                    f"A round keeps one classifier, so {self._spec} begins a round of its own: it classifies every "
                    "text, and those it gets right are offered. What was rephrased so far is kept, and comes back with "
                    f"{self._at_work.model}."
                ),
                markup=False,
            ),
        ]

    def action_begin(self) -> None:
        """Begin it."""
        self.dismiss(True)


class SuggestionDialog(OptionDialog[int]):
    """Rephrasings that a model wrote, each with the classifier's verdict; the one picked goes into the editor."""

    DEFAULT_CSS = """
    SuggestionDialog > #sheet { width: 92; }
    SuggestionDialog OptionList, SuggestionDialog OptionList:focus {
        border: none; padding: 0; height: auto; max-height: 20; background: $surface;
    }
    """

    def __init__(self, writer: str, label: str, found: "Sequence[Suggestion]") -> None:
        super().__init__(f"Suggested by {shown(writer)}", (("j k", "move"), ("Enter", "into the editor")))
        self._label, self._found = label, found

    def body(self) -> list[Widget]:
        """Each with what the classifier says to it."""
        options = []
        for one in self._found:
            wrong = one.predicted != self._label
            verdict = f"{'✓ ' if wrong else '  '}{one.predicted}   {self._label} {share(one.confidence).strip()}"
            near = f"   similarity {share(one.similarity).strip()}"
            cues = f"   cues left: {', '.join(one.cues)}" if one.cues else "   no cue words"
            options.append(
                Option(Content.assemble(shown(one.text), (f"\n  {verdict}{near}{shown(cues)}\n", "$text-muted")))
            )
        return [OptionList(*options, id="suggestions")]

    def on_mount(self) -> None:
        """Begin at the first."""
        super().on_mount()
        self.query_one(OptionList).highlighted = 0

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.dismiss(event.option_index)
