"""Help: every key with what it does, those of the open place first, and what marks and figures mean; in columns.

Letters that are typed find the lines that have them.
"""

import textwrap
from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace
from textual import events
from textual.binding import Binding
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static
from textual.widgets.option_list import Option

from emotui.screens.actions import Action
from emotui.screens.dialogs.dialog import Dialog, OptionDialog, option
from emotui.screens.dialogs.textual_private_options import PickList
from emotui.screens.keymaps import SETS, SIGNS, Chosen, sign_of
from emotui.screens.widgets.cell_width import width
from emotui.store.query import MARKS

# Keys of one's own: a list of all actions, a new key for the one under the cursor, and what else that key means.

_NEVER = frozenset({"enter", "escape", "tab", "shift+tab"})
"""Keys that sheets and panes themselves live on."""


class KeysDialog(OptionDialog[Chosen]):
    """Each change holds and is kept at once.

    Args:
        actions: with the keys of the registry.
        chosen: what a person has put in their place.
        change: makes other keys hold, and keeps them; gives back the actions with their keys.
        clash: what else the keys of an action mean, by its id.
    """

    BINDINGS = [
        Binding("backspace", "reset", show=False),
        Binding("s", "next_set", show=False),
    ]
    DEFAULT_CSS = "KeysDialog > #sheet { width: 96; }"

    def __init__(
        self,
        actions: Sequence[Action],
        chosen: Chosen,
        change: Callable[[Chosen], Sequence[Action]],
        clash: Callable[[str], Sequence[str]],
    ) -> None:
        keys = ("j k", "move"), ("Enter", "another key"), ("⌫", "as it was"), ("s", "set: emotui, vim")
        super().__init__("Keys", *keys)
        self._actions, self._chosen, self._change, self._clash = tuple(actions), chosen, change, clash
        self._waits = False

    def body(self) -> list[Widget]:
        return [PickList(*self._options())]

    def on_mount(self) -> None:
        super().on_mount()
        self.options.highlighted = 0

    def _options(self) -> list[Option]:
        found = []
        for action in self._actions:
            keys = " ".join(map(sign_of, action.keys)) or "–"
            own = "● " if action.id in self._chosen.keys else "  "
            found.append(option(f"{keys:<12.12}{action.label:<20.20}", action.help, own))
        return found

    @property
    def action(self) -> Action:
        """The one under the cursor."""
        return self._actions[self.at]

    def result(self) -> None:
        """Enter waits for a key."""
        self._waits = True
        self.refuse(f"{self.action.label}: press its new key; Esc leaves it as it is")

    def on_key(self, event: events.Key) -> None:
        """Take the next key as that of the action."""
        if not self._waits:
            super().on_key(event)
            return
        event.stop()
        event.prevent_default()
        self._waits = False
        if event.key == "escape":
            self.refuse("")
        elif event.key in _NEVER or event.key not in SIGNS or event.key.isdigit():
            self.refuse(f"{SIGNS.get(event.key, event.key)} stays what it is everywhere")
        else:
            others = (key for key in self.action.keys[1:] if key != event.key)
            self._put({**self._chosen.keys, self.action.id: (event.key, *others)})

    def action_reset(self) -> None:
        """The key that it had."""
        self._put({name: keys for name, keys in self._chosen.keys.items() if name != self.action.id})

    def action_next_set(self) -> None:
        """Another set of keys to begin with."""
        names = list(SETS)
        self._chosen = replace(self._chosen, base=names[(names.index(self._chosen.base) + 1) % len(names)])
        self._put(self._chosen.keys, f"keys of the set {self._chosen.base}")

    def _put(self, keys: dict[str, tuple[str, ...]], told: str = "") -> None:
        self._chosen = replace(self._chosen, keys=keys)
        self._actions = tuple(self._change(self._chosen))
        at, name = self.at, self.action.id
        self.options.set_options(self._options())
        self.options.highlighted = at
        self.refuse(told or "; ".join(self._clash(name)))


Signs = tuple[str, tuple[tuple[str, str], ...]]
Block = tuple[str, tuple[tuple[str, str], ...]]
"""A heading, and under it keys or signs with what each does or means."""

_SIGNS = (
    ("underlined", "gold span"),
    ("on a ground, or reversed", "predicted span"),
    ("both at once", "where they meet"),
    ("dotted bar", "predicted, but nothing except a keyword"),
    ("struck through", "predicted, but not in the text"),
    ("◦ ▸ ◂ ␛", "stand for characters that cannot be seen"),
    ("–", "no figure is defined"),
)

_FIGURES = (
    ("[low, high]", "95% interval: other texts of this kind would give a figure within it in 95 of 100 cases"),
    ("p", "how often chance alone gives a difference as great, corrected for all that were tested"),
    ("n", "over how many texts"),
)

_COLUMN = 52
"""Cells that a column has at least."""

_KEY, _LONG_KEY = 7, 25


class HelpDialog(Dialog[str]):
    """Scrolls with the arrow keys; letters find lines; ? and Esc leave. The key of the tour leaves with `tour`.

    Args:
        here: the name of the open place.
        own: what keys do in it.
        rest: what they do besides.
        places: the places by their numbers.
        signs: what the marks of the places mean, under a heading each.
        figures: what the figures on the screen are, each under its name.
    """

    BINDINGS = [Binding("question_mark,f1", "leave", show=False)]
    DEFAULT_CSS = """
    HelpDialog > #sheet { width: 96%; max-width: 176; }
    HelpDialog VerticalScroll { height: 80vh; scrollbar-size-vertical: 1; }
    HelpDialog Horizontal { height: auto; }
    HelpDialog .help-column { width: 1fr; height: auto; }
    """

    def __init__(
        self,
        here: str,
        own: Sequence[Action],
        rest: Sequence[Action],
        places: Mapping[int, str],
        signs: Sequence[Signs],
        figures: Sequence[tuple[str, str]] = (),
    ) -> None:
        super().__init__(f"Help: {here}", ("↑ ↓", "scroll"), ("a … z", "find"))
        self._blocks = blocks(here, own, rest, places, signs, figures)
        self._here, self._typed = here, ""
        self._tour = {key for one in rest if one.id == "tour" for key in one.keys}

    def body(self) -> list[Widget]:
        return [VerticalScroll(Horizontal(id="help-page"))]

    def on_mount(self) -> None:
        """Scroll with the arrow keys at once."""
        super().on_mount()
        self.query_one(VerticalScroll).focus()

    def on_key(self, event: events.Key) -> None:
        if event.key in self._tour:
            event.stop()
            self.dismiss("tour")
        elif event.key == "backspace":
            self._find(self._typed[:-1])
        elif event.is_printable and event.character is not None:
            self._find(self._typed + event.character)

    def action_leave(self) -> None:
        """Back to every line, or leave."""
        if self._typed:
            self._find("")
        else:
            super().action_leave()

    def on_resize(self, event: events.Resize) -> None:
        super().on_resize(event)
        self._draw()

    def _find(self, typed: str) -> None:
        """Show the lines that have what was typed."""
        self._typed = typed.lstrip()
        title = f"Help: {self._here}" + (f"   find {self._typed}" if self._typed else "")
        self.query_one("#sheet").border_title = Content(title)
        self._draw()
        self.query_one(VerticalScroll).scroll_home(animate=False)

    def _draw(self) -> None:
        """As many columns as fit."""
        cells = min(int(self.app.size.width * 0.96), 176) - 5
        n = max(cells // _COLUMN, 1)
        there = with_words(self._blocks, self._typed) or [("Nothing here has these letters", ())]
        page = self.query_one("#help-page", Horizontal)
        page.remove_children()
        page.mount_all(Static(_drawn(column, cells // n - 2), classes="help-column") for column in in_columns(there, n))


def with_words(found: Sequence[Block], typed: str) -> list[Block]:
    """The lines that have what was typed, in capitals or not, under their headings."""
    wanted = typed.casefold().strip()
    kept = (
        (heading, tuple(row for row in rows if wanted in f"{row[0]} {row[1]}".casefold())) for heading, rows in found
    )
    return [block for block in kept if block[1]]


def blocks(
    here: str,
    own: Sequence[Action],
    rest: Sequence[Action],
    places: Mapping[int, str],
    signs: Sequence[Signs],
    figures: Sequence[tuple[str, str]],
) -> list[Block]:
    """Everything that the help says, in the order in which it is looked for."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for action in rest:
        if action.shown:
            groups.setdefault(action.group, []).append((action.shown, action.help))
    general = ("Move", "List", "Runs", "Sample", "Views", "Writing", "Tool")
    return [
        (here, tuple((action.shown, action.help) for action in own if action.shown)),
        ("Places", (("1 … 0", "   ".join(f"{number}\N{NO-BREAK SPACE}{title}" for number, title in places.items())),)),
        *((name, tuple(groups[name])) for name in general if name in groups),
        ("Marks in the list", tuple(MARKS.items())),
        ("In the text", _SIGNS),
        *([("Figures", (*figures, *_FIGURES))] if figures else ()),
        *signs,
        *((name, tuple(rows)) for name, rows in groups.items() if name not in general),
    ]


def in_columns(found: Sequence[Block], n: int) -> list[list[Block]]:
    """The blocks in so many columns, in order from the top of the first to the end of the last, none of them parted."""
    most = -(-sum(len(rows) + 2 for _, rows in found) // n)
    columns: list[list[Block]] = [[]]
    used = 0
    for block in found:
        if used and used + len(block[1]) / 2 > most and len(columns) < n:
            columns.append([])
            used = 0
        columns[-1].append(block)
        used += len(block[1]) + 2
    return columns


def _drawn(column: Sequence[Block], cells: int) -> Content:
    lines: list[Content] = []
    for heading, rows in column:
        lines.append(Content.assemble((heading, "bold $primary")))
        widest = max((width(sign) for sign, _ in rows), default=0)
        room = _KEY if widest <= _KEY else min(widest + 1, _LONG_KEY)
        for sign, words in rows:
            first, *more = textwrap.wrap(words, max(cells - room - 3, 20)) or [""]
            lines.append(Content.assemble((f"  {sign:<{room}} ", "bold"), (first, "$text-muted")))
            lines += [Content.assemble((" " * (room + 3) + line, "$text-muted")) for line in more]
        lines.append(Content(""))
    return Content("\n").join(lines)
