"""What Rephrase asks for: a new round, the name of a model or a person, and which suggestion to take."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.content import Content
from textual.widget import Widget
from textual.widgets import Label

from emotui.screens.dialogs.dialog import Dialog, OptionDialog
from emotui.screens.dialogs.textual_private_options import PickList
from emotui.screens.widgets.cell_width import shown
from emotui.screens.widgets.number_format import count, share

if TYPE_CHECKING:
    from emotui.workbench.rephrase.views import Progress, Round, Suggestion


class NewRoundDialog(Dialog[bool]):
    """A classifier is frozen for a round: another one begins a new round."""

    DEFAULT_CSS = "NewRoundDialog Label { color: $foreground; }"

    def __init__(self, at_work: "Round", progress: "Progress | None", spec: str) -> None:
        super().__init__("A new round", ("Enter", "begin the new round"))
        self._at_work, self._progress, self._spec = at_work, progress, spec

    def body(self) -> list[Widget]:
        made = f": {count(self._progress.done)} of {count(self._progress.offered)} done" if self._progress else ""
        there = f"Round {self._at_work.number} is against {self._at_work.model}{made}."
        new = (
            f"A round keeps one classifier, so {self._spec} begins a round of its own: it classifies every text, and "
            f"those it gets right are offered. What was rephrased so far is kept, and comes back with "
            f"{self._at_work.model}."
        )
        return [Label(shown(text), markup=False) for text in (there, new)]

    def result(self) -> bool:
        return True


class SuggestionDialog(OptionDialog[int]):
    """Rephrasings that a model wrote, each with the classifier's verdict; the one picked goes into the editor."""

    DEFAULT_CSS = """
    SuggestionDialog > #sheet { width: 92; }
    SuggestionDialog OptionList { max-height: 20; }
    """

    def __init__(self, writer: str, label: str, found: "Sequence[Suggestion]") -> None:
        super().__init__(f"Suggested by {shown(writer)}", ("j k", "move"), ("Enter", "into the editor"))
        self._label, self._found = label, found

    def body(self) -> list[Widget]:
        options = []
        for one in self._found:
            wrong = one.predicted != self._label
            verdict = f"{'✓ ' if wrong else '  '}{one.predicted}   {self._label} {share(one.confidence).strip()}"
            near = f"   similarity {share(one.similarity).strip()}"
            cues = f"   cues left: {', '.join(one.cues)}" if one.cues else "   no cue words"
            options.append(Content.assemble(shown(one.text), (f"\n  {verdict}{near}{shown(cues)}\n", "$text-muted")))
        return [PickList(*options)]

    def on_mount(self) -> None:
        super().on_mount()
        self.options.highlighted = 0

    def result(self) -> int:
        return self.at
