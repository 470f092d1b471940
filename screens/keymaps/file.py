"""A person's own keys: a file in TOML, the sets to begin with, and what two actions on one key would mean.

set = "vim"

[keys]
search = "ctrl+f"
next_error = ["n", "]"]
"""

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from emotui.bounded import read_text
from emotui.errors import BadInput
from emotui.screens.actions import Action
from emotui.screens.keymaps.keymap import SIGNS, Keymap, key_of, sign_of

Keys = Mapping[str, tuple[str, ...]]

SETS: dict[str, dict[str, tuple[str, ...]]] = {
    "emotui": {},
    "vim": {
        "page_down": ("ctrl+f", "pagedown"),
        "page_up": ("ctrl+b", "pageup"),
        "first": ("g g", "home"),
        "alpha_less": ("h", "left"),
        "alpha_more": ("l", "right"),
        "figure_back": ("h", "left"),
        "figure": ("l", "right"),
        "mask_back": ("h", "left"),
        "mask_on": ("l", "right"),
        "list": ("ctrl+l",),
        "palette": ("colon", "ctrl+p"),
        "codes": ("quotation_mark",),
        "pane": ("ctrl+w", "tab"),
    },
}
"""By name, which keys a set has that are not the registry's."""


_MOST = 2
"""Keys that are pressed one after the other."""


class Chosen(msgspec.Struct, frozen=True):
    """The set that a person begins with, and the keys that they have changed, by the id of the action."""

    base: str = "emotui"
    keys: dict[str, tuple[str, ...]] = {}

    @property
    def all(self) -> Keys:
        """The keys of the set with the changes over them."""
        return SETS[self.base] | self.keys


def where() -> Path:
    """Where the file is: in the folder for settings of this user."""
    import platformdirs

    return Path(platformdirs.user_config_dir("emotui")) / "keys.toml"


def read(path: Path, actions: Sequence[Action]) -> Chosen:
    """What a file says; where there is none, the registry's own keys.

    Raises:
        BadInput: `PATH: what`: an action or key of that name does not exist, or the file is no TOML.
    """
    try:
        text = read_text(path)
    except FileNotFoundError:
        return Chosen()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: it cannot be read: {error}") from None
    from emotui.toml_text import parse_toml

    content = parse_toml(str(path), text)
    base, table = content.get("set", "emotui"), content.get("keys", {})
    if base not in SETS:
        raise BadInput(f"{path}: set is one of {', '.join(SETS)}, not {base!r}")
    if not isinstance(table, dict) or set(content) - {"set", "keys"}:
        raise BadInput(f"{path}: it has a set and a table [keys], and nothing else")
    names = {action.id for action in actions}
    keys = {}
    for name, given in table.items():
        if name not in names:
            raise BadInput(f"{path}: there is no action {name!r}: emotui keys --json names them")
        keys[name] = tuple(_key(str(path), name, one) for one in (given if isinstance(given, list) else [given]))
    return Chosen(base, keys)


def _key(path: str, action: str, given: object) -> str:
    """The name of a key as a person writes it: a character, ctrl+x, f5, pageup; or of two, one after the other: g g.

    Raises:
        BadInput: there is no such key.
    """
    written = given.split(" ") if isinstance(given, str) and len(given) > 1 else [given]
    names = [_named(one) for one in written]
    if not all(names) or len(names) > _MOST:
        raise BadInput(f"{path}: {action}: there is no key {given!r}")
    return " ".join(names)


def _named(given: object) -> str:
    """The name of one key; empty: there is none."""
    name = ""
    if isinstance(given, str) and given:
        with contextlib.suppress(ValueError):
            name = key_of(given) if len(given) == 1 else given.lower()
    return name if name in SIGNS else ""


def write(path: Path, chosen: Chosen) -> None:
    """Keep what was chosen, whole or not at all."""
    import json

    from emotui.formats.written import write_text

    lines = [f"set = {json.dumps(chosen.base)}", "", "[keys]"]
    for name, keys in sorted(chosen.keys.items()):
        lines.append(f"{name} = {json.dumps([_as_typed(key) for key in keys], ensure_ascii=False)}")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, "\n".join([*lines, ""]))


def _as_typed(key: str) -> str:
    if " " in key:
        return " ".join(map(_as_typed, key.split()))
    sign = SIGNS[key]
    return sign if len(sign) == 1 and key_of(sign) == key else key


def clashes(keymap: Keymap, scopes: Mapping[str, str], changed: str) -> list[str]:
    """What else the new keys of an action mean where it can be done, in words.

    Args:
        scopes: by the id of an action the place that alone does it; none: it is everywhere.
        changed: the id of the action.
    """
    action = next(one for one in keymap.actions if one.id == changed)
    here = scopes.get(changed)
    found = []
    for key in keymap.changed(action):
        for other in keymap.on(key):
            there = scopes.get(other.id)
            if other.id != changed and (here is None or there is None or here == there):
                found.append(f"{sign_of(key)} is also “{other.label}”" + (f" in {there}" if there else ""))
    return found
