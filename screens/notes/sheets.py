"""The sheets of notes: one in which a note is written, and the codebook. They are imported when they are asked for."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import msgspec
from textual import on
from textual.binding import Binding
from textual.suggester import Suggester
from textual.widget import Widget
from textual.widgets import Label

from emotui.screens.dialogs.dialog import Dialog, OptionDialog, option
from emotui.screens.dialogs.textual_private_options import PickList
from emotui.screens.long_text import Drafts, LongInput
from emotui.screens.widgets.cell_width import shown, width
from emotui.screens.widgets.number_format import bars, count, so_many
from emotui.screens.widgets.textual_private_text import Input

if TYPE_CHECKING:
    from emotui.metrics.saturation import Saturation
    from emotui.workbench.drafts import Field
    from emotui.workbench.notes import Code, Note

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

    def __init__(self, codes: "Sequence[Code]", saturation: "Saturation", dataset: str, do: Do) -> None:
        of_codes = ("j k", "move"), ("Enter", "samples"), ("r", "rename"), ("e", "export")
        super().__init__(f"Codes of {shown(dataset)}", *(of_codes if codes else ()), ("u", "undo"))
        self._codes, self._saturation, self._dataset, self._do = codes, saturation, dataset, do

    def body(self) -> list[Widget]:
        return [PickList(), Label("", id="curve", markup=False)]

    def on_mount(self) -> None:
        super().on_mount()
        self.show_codes(self._codes, self._saturation)

    def show_codes(self, codes: "Sequence[Code]", saturation: "Saturation") -> None:
        """Show how the codes stand now."""
        here = self.name_here
        self._codes = codes
        names = [code.name for code in codes]
        widest = min(max((width(shown(name)) for name in names), default=0), 30)
        self.options.clear_options()
        self.options.add_options(
            [
                option(
                    code.name,
                    f"  {count(len(code.samples)):>5}  {', '.join(code.annotators)}   {code.example}",
                    cells=widest,
                )
                for code in codes
            ]
        )
        if names:
            self.options.highlighted = names.index(here) if here in names else 0
        self.query_one("#curve", Label).update("\n".join(curve(saturation)) if names else _EMPTY)

    @property
    def name_here(self) -> str:
        """The code under the cursor; empty where there is none."""
        at = self.options.highlighted
        return self._codes[at].name if at is not None and at < len(self._codes) else ""

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
        own: what stands there now; others: what others noted, a line each.
        fields: whose drafts its fields have, that of the text and that of the codes.
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
        annotator: str,
        own: "Note | None",
        others: Sequence[str],
        codes: "Sequence[Code]",
        drafts: Drafts,
        fields: "tuple[Field, Field]",
    ) -> None:
        keys = ("Tab", "field"), ("→", "take what is offered"), ("^O", "$EDITOR"), ("Enter", "keep")
        super().__init__(f"Note on {shown(sample)}", *keys)
        self._own, self._others = own, others
        self._names = [code.name for code in codes]
        self._annotator, self._drafts, self._fields = annotator, drafts, fields

    def body(self) -> list[Widget]:
        own, drafts, (of_text, of_codes) = self._own, self._drafts, self._fields
        return [
            Label(f"note of {shown(self._annotator)}", markup=False),
            LongInput(
                own.text if own else "",
                drafts=drafts,
                field=of_text,
                id="text",
                compact=True,
                select_on_focus=False,
            ),
            Label("codes, with commas between them; new ones are made", markup=False),
            LongInput(
                ", ".join(own.codes) if own else "",
                drafts=drafts,
                field=of_codes,
                id="codes",
                compact=True,
                suggester=CodeSuggester(self._names),
            ),
            Label("", id="offered", markup=False),
            *([Label("\n".join(self._others), id="others", markup=False)] if self._others else []),
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
