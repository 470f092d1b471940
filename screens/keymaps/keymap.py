"""Which key does what: the keys of the registry, or those that a person has put in their place."""

import re
import string
import unicodedata
from collections.abc import Iterable, Mapping

from msgspec.structs import replace
from textual.binding import Binding
from textual.keys import KEY_NAME_REPLACEMENTS

from emotui.screens.actions import Action

PANE = frozenset({"up", "down", "left", "right", "pageup", "pagedown", "home", "end", "enter"})
"""Keys that act in the pane that has the focus and nowhere else; letters act from every pane."""

_NAMED = {
    "enter": "Enter",
    "escape": "Esc",
    "tab": "Tab",
    "shift+tab": "⇧Tab",
    "space": "Space",
    "backspace": "⌫",
    "delete": "Del",
    "insert": "Ins",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "ctrl+left": "^←",
    "ctrl+right": "^→",
    "shift+up": "⇧↑",
    "shift+down": "⇧↓",
    "shift+left": "⇧←",
    "shift+right": "⇧→",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "home": "Home",
    "end": "End",
}


def key_of(character: str) -> str:
    """The name of a key by what it types, as Textual has it: `slash` for /."""
    if character.isalnum():
        return character
    name = unicodedata.name(character).lower().replace("-", "_").replace(" ", "_")
    return KEY_NAME_REPLACEMENTS.get(name, name)


SIGNS: dict[str, str] = (
    {key_of(one): one for one in string.ascii_letters + string.digits + string.punctuation}
    | {f"ctrl+{one}": f"^{one.upper()}" for one in string.ascii_lowercase if one != "c"}
    | {f"f{number}": f"F{number}" for number in range(1, 13)}
    | _NAMED
)
"""Every key that can mean something, by its name: how it is shown. Ctrl+C copies, or says how to leave."""


def sign_of(key: str) -> str:
    """How a key is shown, or keys that are pressed one after the other: `gg`."""
    return "".join(SIGNS.get(one, one) for one in key.split())


def typed(key: str) -> bool:
    """Does a field that has the focus take this key as a character?"""
    first = key.split()[0]
    return (len(SIGNS.get(first, "")) == 1 and first not in _NAMED) or first == "space"


_NAMED_KEY = re.compile(r"\{([a-zA-Z_]+)\}")


class Keymap:
    """The actions with the keys that they have for this person.

    Args:
        actions: the registry.
        chosen: by the id of an action the keys that it has instead of the registry's; none: it has no key. Two keys
            with a blank between them are pressed one after the other.
    """

    def __init__(self, actions: Iterable[Action], chosen: Mapping[str, tuple[str, ...]] | None = None) -> None:
        registry = tuple(actions)
        own = [_with_keys(one, (chosen or {}).get(one.id)) for one in registry]
        self._signs = {one.id: sign_of(one.keys[0]) for one in own if one.keys}
        self._labels = {one.id: one.label for one in own}
        self.actions = tuple(map(self._worded, own))
        self._keys = {one.id: one.keys for one in self.actions}
        self._before = {one.id: one.keys for one in registry}
        self._on: dict[str, list[Action]] = {}
        for action in self.actions:
            for key in action.keys:
                self._on.setdefault(key, []).append(action)
        self._begun = frozenset(key.split()[0] for key in self._on if " " in key)

    def changed(self, action: Action) -> list[str]:
        """The keys of an action that it has not in the registry."""
        return [key for key in action.keys if key not in self._before[action.id]]

    def keys_of(self, action: str) -> tuple[str, ...]:
        """The keys of an action, by its id; none: it has none, or there is no such action."""
        return self._keys.get(action, ())

    def begins(self, key: str) -> bool:
        """Is it the first of two keys that mean something together?"""
        return key in self._begun

    def words(self, sentence: str) -> str:
        """The sentence with keys in place of `{id}`; an action without a key is named as the palette has it."""

        def named(found: re.Match[str]) -> str:
            name = found[1]
            return self._signs.get(name) or (f"“{self._labels[name]}”" if name in self._labels else found[0])

        return _NAMED_KEY.sub(named, sentence)

    def _worded(self, action: Action) -> Action:
        """The action with the keys that there are in what is said of it."""
        footer = action.footer
        if footer is not None:
            signs = (self._signs.get(name) for name in _NAMED_KEY.findall(footer[0]))
            footer = " ".join(sign for sign in signs if sign), footer[1]
        if footer is None and "{" not in action.help + action.needs:
            return action
        return replace(action, help=self.words(action.help), needs=self.words(action.needs), footer=footer)

    def on(self, key: str) -> list[Action]:
        """What a key can mean, in the order of the registry."""
        return self._on.get(key, [])


def _with_keys(action: Action, keys: tuple[str, ...] | None) -> Action:
    if keys is None:
        return action
    shown = sign_of(keys[0]) if keys else ""
    return replace(action, keys=keys, shown=shown)


def bindings() -> list[Binding]:
    """A binding for every key that there is: which action it means is known only when it is pressed."""
    return [Binding(key, f"press('{key}')", show=False, id=key) for key in SIGNS]
