"""Help: one sheet of all keys and what marks and figures mean; letters find a line, Enter does what it says."""

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby

import msgspec
from msgspec.structs import replace
from textual import events, on
from textual.binding import Binding
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static
from textual.widgets.option_list import Option

from emotui.errors import BadInput
from emotui.screens.actions import Action
from emotui.screens.dialogs.dialog import Dialog, OptionDialog
from emotui.screens.dialogs.glossary import GLOSSARY, Signs
from emotui.screens.dialogs.textual_private_options import CURSOR, PickList
from emotui.screens.keymaps import SETS, SIGNS, Chosen, sign_of
from emotui.screens.widgets.cell_width import width, wrap
from emotui.screens.widgets.line import Line, Part
from emotui.screens.widgets.textual_private_text import Input

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
    wide = True
    DEFAULT_CSS = "KeysDialog PickList { text-wrap: nowrap; text-overflow: ellipsis; }"

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
        return [PickList(*self._options(0))]

    def on_mount(self) -> None:
        super().on_mount()
        self.options.highlighted = 0

    def on_resize(self, event: events.Resize) -> None:
        """Sentences are as long as there is room for."""
        super().on_resize(event)
        self.call_after_refresh(self._draw)

    def _draw(self) -> None:
        at, bar = self.at, self.options.styles.scrollbar_size_vertical
        self.options.set_options(self._options(self.options.size.width - len(CURSOR) - bar))
        self.options.highlighted = at

    def _options(self, room: int) -> list[Option]:
        found = []
        for action in self._actions:
            keys = " ".join(map(sign_of, action.keys)) or "–"
            own = "● " if action.id in self._chosen.keys else "  "
            found.append(_option(Row(f"{own}{keys:.12}", action.label, action.help), 14, room))
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
        name = self.action.id
        self._draw()
        self.refuse(told or "; ".join(self._clash(name)))


HERE, EVERYWHERE, WORDS = "here", "everywhere", "words"
"""The views of the sheet: keys that do something in the open place; all keys; marks, letters and figures."""

_VIEWS = (HERE, EVERYWHERE, WORDS)
_ABOUT_VIEWS = {HERE: "what can be done now", EVERYWHERE: "all keys", WORDS: "marks, letters and figures"}

PLACE, COLOURS = "place:", "colours:"
"""What begins the name of a row that opens a place, or takes other colours; any other is that of an action."""


class Row(msgspec.Struct, frozen=True):
    """A line of the sheet.

    `sign`: a key, a mark or a figure. `label`: what it is called. `about`: a sentence. `where`: to what it belongs.
    `does`: what Enter does (PLACE, COLOURS, or an action); empty: nothing. `lacks`: why that cannot be done now.
    """

    sign: str
    label: str
    about: str
    where: str = ""
    does: str = ""
    lacks: str = ""

    def holds(self, typed: str) -> bool:
        """Whether all words that were typed stand in it, in capitals or not."""
        there = f"{self.sign} {self.label} {self.about} {self.where}".casefold()
        return all(word in there for word in typed.casefold().split())

    def is_same(self, other: "Row") -> bool:
        """Whether it says what another row says, of the same key."""
        return (self.sign, self.label, self.about) == (other.sign, other.label, other.about)

    def is_of(self, sign: str) -> bool:
        """Whether this one character is its key or its letter, or one of several."""
        return sign.casefold() in self.sign.casefold().replace(",", " ").split()

    def rank(self, typed: str) -> int:
        """0 where its key is what was typed or its name begins so, 1 where its name has it, else 2."""
        wanted, label = typed.strip().casefold(), self.label.casefold()
        return 0 if self.sign == typed.strip() or label.startswith(wanted) else 1 if wanted in label else 2


class HelpDialog(Dialog[str]):
    """Every key with what it does, and what marks and figures mean: letters find lines, Enter does what a line says.

    The key of the tour leaves with `tour`, that of the list of keys with `own_keys`.

    Args:
        here: the name of the open place.
        rows: the lines of each view.
    """

    BINDINGS = [
        Binding("f1,ctrl+p", "leave", show=False, priority=True),
        Binding("up", "move('cursor_up')", show=False),
        Binding("down", "move('cursor_down')", show=False),
        Binding("pageup", "move('page_up')", show=False),
        Binding("pagedown", "move('page_down')", show=False),
    ]
    wide = True
    DEFAULT_CSS = """
    HelpDialog #help-views { margin: 0; color: $text-muted; }
    HelpDialog > #sheet { height: 96%; }
    HelpDialog PickList, HelpDialog PickList:focus {
        height: 1fr; max-height: 100%; text-wrap: nowrap; text-overflow: ellipsis;
    }
    HelpDialog #help-about { height: 1; margin: 0; color: $foreground; text-wrap: nowrap; text-overflow: ellipsis; }
    """

    def __init__(self, here: str, rows: Mapping[str, Sequence[Row]]) -> None:
        others = any(row.does == "own_keys" and not row.lacks for row in rows[EVERYWHERE])
        super().__init__("")
        self._others = (("F10", "change keys"),) if others else ()
        self._here, self._rows = here, rows
        self._view, self._typed = HERE, ""
        self._leaves = {row.sign: row.does for row in rows[EVERYWHERE] if row.does in ("tour", "own_keys")}
        self.shown: tuple[Row, ...] = ()
        self._places: list[Row | None] = []

    def body(self) -> list[Widget]:
        return [
            Input(placeholder="type to find: a name, a key, what it does", id="find", compact=True),
            Line(id="help-views"),
            PickList(id="found"),
            Static(id="help-about", markup=False),
        ]

    def on_mount(self) -> None:
        """Letters find lines at once."""
        super().on_mount()
        self.query_one(PickList).can_focus = False
        self.query_one(Input).focus()
        self._draw()

    def on_key(self, event: events.Key) -> None:
        if (what := self._leaves.get(sign_of(event.key))) is not None:
            event.stop()
            self.dismiss(what)
        else:
            super().on_key(event)

    def on_resize(self, event: events.Resize) -> None:
        """Sentences are as long as there is room for."""
        super().on_resize(event)
        self.call_after_refresh(self._draw)

    @on(Input.Changed)
    def _find(self, event: Input.Changed) -> None:
        event.stop()
        # The key that opened the sheet, pressed again, closes it.
        if event.value == "?":
            self.dismiss(None)
            return
        self._typed = event.value
        self._draw()

    def action_leave(self) -> None:
        """Back to every line, or leave."""
        if self._typed:
            self.query_one(Input).value = ""
        else:
            super().action_leave()

    def action_move(self, step: str) -> None:
        """The cursor goes on in the list."""
        getattr(self.query_one(PickList), f"action_{step}")()

    def action_field(self, step: int) -> None:
        """The next view."""
        self._turn(step)

    def _turn(self, step: int) -> None:
        self._view = _VIEWS[(_VIEWS.index(self._view) + step) % len(_VIEWS)]
        self._draw()

    def _draw(self) -> None:
        parted = self._found()
        self.shown = tuple(row for _, rows in parted for row in rows)
        here = self._rows[self._view]
        n = sum(row in here for row in self.shown)
        beyond = len(self.shown) - n
        title = f"Keys and commands: {self._here}   {n} of {len(here)}" + (f", {beyond} elsewhere" if beyond else "")
        self.query_one("#sheet").border_title = Content(title)
        self.query_one("#help-views", Line).show(
            [Part(f"[{view}] ", "strong") if view == self._view else Part(f" {view}  ", "dim") for view in _VIEWS]
        )
        found = self.query_one(PickList)
        found.clear_options()
        self._places = []
        # Beside the sign, and the scroll bar that comes once there are more lines than rows.
        region, bar = found.scrollable_content_region.width, found.styles.scrollbar_size_vertical
        room = max(region - 2 - (0 if found.show_vertical_scrollbar else bar), 0)
        widest = {
            view: min(max(width(row.sign) for there, rows in parted if there == view for row in rows), _WIDEST[view])
            for view, rows in parted
            if rows
        }
        for view, rows in parted:
            if view != self._view:
                self._head(f"{view}: {_ABOUT_VIEWS[view]}")
            for where, group in groupby(rows, key=lambda row: _heading(row, view)):
                if not self._typed:
                    self._head(where)
                lines = list(group)
                self._places += lines
                found.add_options([_option(row, widest[view], room) for row in lines])
        found.highlighted = next((at for at, row in enumerate(self._places) if row is not None), None)
        self._tell()

    def _head(self, words: str) -> None:
        """A heading, on which the cursor never stands."""
        self._places.append(None)
        heading = Content.assemble((f"── {words}", "$text-muted"))
        self.query_one("#found", PickList).add_option(Option(heading, disabled=True))

    def _found(self) -> list[tuple[str, tuple[Row, ...]]]:
        """What has the letters that were typed, by view: the open one first, of the others what it has not itself.

        A key or a letter that was typed comes first of all, then in each what is called so, then what says so.
        """
        if not self._typed:
            return [(self._view, tuple(self._rows[self._view]))]
        views = dict.fromkeys((self._view, *_VIEWS))
        parted, known = list[tuple[str, tuple[Row, ...]]](), list[Row]()
        if len(typed := self._typed.strip()) == 1:
            for row in (row for view in views for row in self._rows[view] if row.is_of(typed)):
                known += [] if any(map(row.is_same, known)) else [row]
            first = sorted(known, key=lambda row: (row.sign != typed, typed not in row.sign))
            parted = [(self._view, tuple(first))] if known else []
        for view in views:
            rows = [row for row in self._rows[view] if row.holds(self._typed) and not any(map(row.is_same, known))]
            known += rows
            if rows:
                parted.append((view, tuple(sorted(rows, key=lambda row: row.rank(self._typed)))))
        return parted

    @on(PickList.OptionHighlighted)
    def _highlighted(self, event: PickList.OptionHighlighted) -> None:
        event.stop()
        self._tell()

    def _tell(self) -> None:
        """What the line under the cursor does not say itself: why not now, or what it belongs to."""
        row = self._row
        if row is None:
            said = "No key, mark or figure has these letters"
        else:
            said = f"Not now: {row.lacks}." if row.lacks else f"under “{row.where}”" if self._typed else ""
        self.query_one("#help-about", Static).update(said)
        does = (("Enter", "do it"),) if row is not None and row.does else ()
        self.tell_keys(*does, ("Tab", "more"), *(self._others if self._view != WORDS else ()), *self._keys)

    @property
    def _row(self) -> Row | None:
        at = self.query_one(PickList).highlighted
        return None if at is None or at >= len(self._places) else self._places[at]

    def result(self) -> str | None:
        """What the line under the cursor does; None where it explains.

        Raises:
            BadInput: it cannot be done now.
        """
        row = self._row
        if row is None or not row.does:
            return None
        if row.lacks:
            raise BadInput(f"not now: {row.lacks}")
        return row.does


_WIDEST = {HERE: 9, EVERYWHERE: 9, WORDS: 18}
"""Cells that keys, or marks and figures, have at most before what they are."""


def _heading(row: Row, view: str) -> str:
    """Under what a line stands while nothing is typed."""
    return f"{row.where}, not now" if view == HERE and row.lacks else row.where


def grouped(rows: Sequence[Row]) -> list[Row]:
    """Those that belong together one after the other, in the order in which what they belong to first comes."""
    order = list(dict.fromkeys(row.where for row in rows))
    return sorted(rows, key=lambda row: order.index(row.where))


def _option(row: Row, cells: int, room: int) -> Option:
    """A line of the list, on as many lines as what it says takes; what is longer than its column has one of its own."""
    label = f"{row.label:<18} " if row.label else ""
    style = "$text-muted" if row.lacks else ""
    indent = " " * (cells + 2 + width(label))
    head = row.sign + " " * max(cells - width(row.sign), 0) + f"  {label}"
    if width(row.sign) > cells:
        head = f"{row.sign}  {label}\n{indent}"
    places = wrap(row.about, max(room - width(indent), _LEAST)) if room else [(0, len(row.about))]
    about = f"\n{indent}".join(row.about[start:end].rstrip() for start, end in places)
    return Option(Content.assemble((head, style or "bold"), (about, "$text-muted")))


_LEAST = 20
"""Cells of a line of a sentence, at least."""


def rows_of_words(figures: Sequence[tuple[str, str]], signs: Sequence[Signs]) -> list[Row]:
    """What figures, letters and marks on the screens mean.

    Args:
        figures: of the list that is open, with what they measure: these stand first.
        signs: what marks mean that a place or a sheet has for itself, under a heading each.
    """
    blocks: list[Signs] = [("Figures of this list", tuple(figures)), *GLOSSARY, *signs]
    return [Row(sign, "", words, heading) for heading, rows in blocks for sign, words in rows]
