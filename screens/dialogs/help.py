"""Help: every key of the registry with what it does, and what the marks mean."""

from collections.abc import Sequence

from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from emotui.screens.actions import Action
from emotui.screens.dialogs.dialog import Dialog
from emotui.store.query import MARKS

Signs = tuple[str, tuple[tuple[str, str], ...]]

_SIGNS = (
    ("underlined", "gold span"),
    ("on a ground, or reversed", "predicted span"),
    ("both at once", "where they meet"),
    ("dotted bar", "predicted, but nothing except a keyword"),
    ("struck through", "predicted, but not in the text"),
    ("◦ ▸ ◂ ␛", "stand for characters that cannot be seen"),
    ("–", "no figure is defined"),
)


class HelpDialog(Dialog[None]):
    """Scrolls with the arrow keys; any of ?, Esc, q leaves.

    Args:
        actions: everything that a key can do.
        signs: what the marks of the places mean, under a heading each.
    """

    BINDINGS = [
        Binding("question_mark,f1,q", "leave", show=False),
        Binding("j", "scroll(1)", show=False),
        Binding("k", "scroll(-1)", show=False),
    ]
    DEFAULT_CSS = """
    HelpDialog > #sheet { width: 84; }
    HelpDialog VerticalScroll { height: 72vh; scrollbar-size-vertical: 1; }
    HelpDialog Static { height: auto; }
    """

    def __init__(self, actions: Sequence[Action], signs: Sequence[Signs]) -> None:
        super().__init__("Help", ("↑ ↓", "scroll"))
        self._text = _page(actions, signs)

    def body(self) -> list[Widget]:
        return [VerticalScroll(Static(self._text, id="help-page"))]

    def on_mount(self) -> None:
        """Scroll with the arrow keys at once."""
        super().on_mount()
        self.query_one(VerticalScroll).focus()

    def action_scroll(self, step: int) -> None:
        """One line down or up."""
        self.query_one(VerticalScroll).scroll_relative(y=step, animate=False)


def _page(actions: Sequence[Action], signs: Sequence[Signs]) -> Content:
    lines: list[Content] = []
    groups: dict[str, list[Action]] = {}
    for action in actions:
        if action.shown:
            groups.setdefault(action.group, []).append(action)
    for group, members in groups.items():
        lines.append(Content.assemble((f"{group}", "bold $primary")))
        lines += [_line(action.shown, action.help) for action in members]
        lines.append(Content(""))
    lines.append(Content.assemble(("Marks in the list", "bold $primary")))
    lines += [_line(mark, words) for mark, words in MARKS.items()]
    lines.append(Content(""))
    lines.append(Content.assemble(("In the text", "bold $primary")))
    lines += [_line(sign, words, 26) for sign, words in _SIGNS]
    for heading, rows in signs:
        lines.append(Content(""))
        lines.append(Content.assemble((heading, "bold $primary")))
        lines += [_line(sign, words) for sign, words in rows]
    return Content("\n").join(lines)


def _line(key: str, words: str, cells: int = 8) -> Content:
    return Content.assemble((f"  {key:<{cells}}", "bold"), (words, "$text-muted"))
