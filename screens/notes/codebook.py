"""The codebook: all codes of a dataset, and whether new samples still bring new ones."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual.binding import Binding
from textual.widget import Widget
from textual.widgets import Label

from emotui.screens.dialogs.dialog import OptionDialog, option
from emotui.screens.dialogs.textual_private_options import PickList
from emotui.screens.widgets.cell_width import shown, width
from emotui.screens.widgets.number_format import bars, count

if TYPE_CHECKING:
    from emotui.metrics.saturation import Saturation
    from emotui.screens.notes.requests import Answer

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
        from emotui.screens.dialogs.name import NameDialog

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
    lines = [f"{bars(known)}  {found.known[-1]} codes in {n} samples"]
    if found.share is None:
        return [*lines, "whether new samples still bring new codes is told from 20 samples on"]
    reached = "not saturated yet" if found.reached is None else f"saturated after {found.reached} samples"
    return [*lines, f"the last 10 brought {100 * found.share:.0f}% of the codes of the first 10: {reached}"]
