"""Keys of one's own: a list of all actions, a new key for the one under the cursor, and what else that key means."""

from collections.abc import Callable, Sequence

from msgspec.structs import replace
from textual import events
from textual.binding import Binding
from textual.widget import Widget
from textual.widgets.option_list import Option

from emotui.screens.actions import Action
from emotui.screens.dialogs.dialog import OptionDialog, option
from emotui.screens.dialogs.textual_private_options import PickList
from emotui.screens.keymaps import SETS, SIGNS, Chosen, sign_of

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
