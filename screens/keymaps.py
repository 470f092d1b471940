"""Which key does what: the keys of the registry, a person's own, and sentences that name them."""

import contextlib
import re
import string
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace
from textual.binding import Binding
from textual.keys import KEY_NAME_REPLACEMENTS

from emotui.bounded import read_text
from emotui.errors import BadInput
from emotui.screens.actions import Action

# Which key does what: the keys of the registry, or those that a person has put in their place.

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


# Sentences that name keys, with the keys that this person has: `keyed("{run} chooses a run")`.

_held: list[Keymap] = []
"""The keymap that holds, once the frame has told it; one frame runs in a process."""


def hold(keymap: Keymap) -> None:
    """From now on sentences name the keys of this keymap."""
    _held[:] = [keymap]


def keyed(sentence: str) -> str:
    """The sentence with the key of an action in place of its id in braces; as it is, until a keymap holds."""
    return _held[0].words(sentence) if _held else sentence


# The grammar: a key means one thing over all places.


class Family(msgspec.Struct, frozen=True):
    """Actions that are the same thing done in different places.

    Attributes:
        meaning: what their keys mean everywhere.
        keys: the keys that mean it.
        actions: their ids.
    """

    meaning: str
    keys: tuple[str, ...]
    actions: tuple[str, ...]


FAMILIES = (
    Family("one step back", ("escape",), ("end_tour", "leave", "back", "drop")),
    Family("end the work in progress", ("ctrl+x",), ("stop", "halt")),
    Family("leave what is open", ("q",), ("close_view", "quit")),
    Family(
        "the obvious thing",
        ("enter",),
        ("open", "write", "close", "take_span", "stay", "submit", "judge", "go_on", "samples"),
    ),
    Family("the next part, at its end the next pane", ("tab",), ("pane", "walk")),
    Family("the part before, at its start the pane before", ("shift+tab",), ("pane_back", "walk_back")),
    Family("the panes", ("f6",), ("unfold", "panes")),
    Family(
        "the next thing of interest",
        ("n",),
        ("next_error", "next_open_text", "next_open", "next_flip", "next_mismatch", "open_on"),
    ),
    Family(
        "the thing of interest before",
        ("p",),
        (
            "previous_error",
            "previous_open_text",
            "previous_open",
            "previous_flip",
            "previous_mismatch",
            "open_back",
        ),
    ),
    Family("the next label", ("J",), ("next_label", "emotion")),
    Family("up", ("up",), ("previous", "line_up")),
    Family("down", ("down",), ("next", "line_down")),
    Family("a screenful up", ("pageup",), ("page_up", "text_up")),
    Family("a screenful down", ("pagedown",), ("page_down", "text_down")),
    Family(
        "what is to the left",
        ("left",),
        ("word_left", "alpha_less", "mask_back", "judge_first", "figure_back", "push_less"),
    ),
    Family(
        "what is to the right",
        ("right",),
        ("word_right", "alpha_more", "mask_on", "judge_second", "figure", "push_more"),
    ),
    Family(
        "a step back that is larger than that of ←",
        ("less_than_sign",),
        ("sentence_left", "previous_table", "part_back"),
    ),
    Family("a step on that is larger than that of →", ("greater_than_sign",), ("sentence_right", "next_table", "part")),
    Family("the start a word back", ("left_square_bracket",), ("start_left", "mask_start_back")),
    Family("the start a word on", ("right_square_bracket",), ("start_right", "mask_start_on")),
    Family("the end a word back", ("left_curly_bracket",), ("end_left", "mask_end_back")),
    Family("the end a word on", ("right_curly_bracket",), ("end_right", "mask_end_on")),
    Family(
        "write: into the text, a guess, a reason, texts anew", ("i",), ("write", "guess", "rationale", "counter_test")
    ),
    Family("a note", ("semicolon",), ("sample_note", "note")),
    Family("by name: a label, a code", ("comma",), ("labels", "own_codes")),
    Family("say what it is to be: alpha, what gold calls a label", ("equals_sign",), ("map_labels", "alpha")),
    Family("take it and go on; tick", ("space",), ("accept", "choose", "keep_mask")),
    Family("drop", ("x",), ("clear", "remove", "drop_mask")),
    Family("what is drawn over the text, or beside it", ("o",), ("overlay", "fill", "against")),
    Family("why", ("w",), ("take_away", "why")),
    Family("write to a file", ("e",), ("export", "write_set")),
    Family("what papers printed", ("P",), ("papers", "published")),
    Family("the other one to compare with", ("B",), ("compare_with", "second")),
    Family("how it is done", ("f2",), ("guidelines", "method")),
    Family("what it came to", ("f3",), ("figures", "study_results", "agreement")),
    Family("judge others", ("f4",), ("adjudicate", "review", "study", "rate")),
)
"""Of every key on which more than one action is: what it means. A key that is in none has one action alone."""

EXCEPTIONS: Mapping[tuple[str, str], str] = {
    ("i", "hints"): "nothing is written in Annotate's passage: letters over the words say where a span begins and ends",
    ("v", "begin"): "the passage has one view, and its caret goes as in vim, where v is for a selection",
    ("l", "word_right"): "the passage's caret goes by h and l as in vim; {panes} is the way to the list",
    ("w", "unsure"): "nothing is asked why before an answer is given, and labels have nearly every other letter",
    ("equals_sign", "judge_both"): "between ← and → of a comparison = says that both fit equally",
    ("minus", "judge_neither"): "beside = of a comparison - says that neither fits",
    ("n", "next_table"): "Results has no list: n is the next of what it shows, a table or a text where two differ",
    ("p", "previous_table"): "as n",
}
"""By key and action: why the action has a key that means something else."""


# A person's own keys: a file in TOML, the sets to begin with, and what two actions on one key would mean.

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
        "push_less": ("h", "left"),
        "push_more": ("l", "right"),
        "mask_back": ("h", "left"),
        "mask_on": ("l", "right"),
        "list": ("ctrl+l",),
        "palette": ("colon", "ctrl+p"),
        "codes": ("quotation_mark",),
        "pane": ("ctrl+w", "tab"),
    },
}
"""By name, which keys a set has that are not the registry's."""


_IN_SHEETS = ("load", "end", "measure")
"""Actions that a sheet does with keys of its own: a file that gives them others still holds."""

_NOW = {
    "compare_open": "samples",
    "changed_on": "next_table",
    "changed_back": "previous_table",
    "as_printed": "published",
}
"""Actions of before, by what does the same now: a file that gives them keys gives them to that."""

EDITION = 3
"""Of the key grammar. A file that names none is of before: what it says of keys that moved is brought over."""

MOVED: Mapping[str, Mapping[str, str]] = {
    "halt": {"escape": "ctrl+x"},
    "stop": {"escape": "ctrl+x"},
    "labels": {"semicolon": "comma"},
    "note": {"c": "semicolon"},
    "majority": {"equals_sign": "at"},
    "settle": {"f8": "dollar_sign"},
    "agreement": {"f7": "f3"},
    "words": {"f2": "ctrl+t"},
    "other_draft": {"f5": "ctrl+n"},
    "leaked": {"L": "Z"},
    "study": {"f5": "f4"},
    "own_codes": {"semicolon": "comma"},
    "review_masks": {"f4": "Y"},
    "rate": {"i": "f4"},
    "correction": {"C": "E"},
    "second": {"M": "B"},
    "keep": {"K": "f8"},
}
"""By action, its keys of before the third edition with those that it has instead."""

_NEW = ("next_M", "next_X", "next_L", "panes", *MOVED)
"""Actions that have keys which they did not have before."""

_MOST = 2
"""Keys that are pressed one after the other."""


class Chosen(msgspec.Struct, frozen=True):
    """The set that a person begins with, and the keys that they have changed, by the id of the action.

    `moved`: what of a file of before was brought over to the keys of now, in words.
    """

    base: str = "emotui"
    keys: dict[str, tuple[str, ...]] = {}
    moved: tuple[str, ...] = ()

    @property
    def all(self) -> Keys:
        """The keys of the set with the changes over them."""
        return SETS[self.base] | self.keys


def where() -> Path:
    """Where the file is: in the folder for settings of this user."""
    import platformdirs

    return Path(platformdirs.user_config_dir("emotui")) / "keys.toml"


def read(path: Path, actions: Sequence[Action], scopes: Mapping[str, str] | None = None) -> Chosen:
    """What a file says; where there is none, the registry's own keys. A file of before is brought over to the keys of
    now.

    Args:
        scopes: by the id of an action the place that alone does it; none: it is everywhere.

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
    if not isinstance(table, dict) or set(content) - {"set", "edition", "keys"}:
        raise BadInput(f"{path}: it has a set, an edition and a table [keys], and nothing else")
    names, keys = {action.id for action in actions}, {}
    moved: list[str] = []
    for written, given in table.items():
        name = _NOW.get(written, written)
        if name in _IN_SHEETS:
            moved.append(f"{written} has a key of its own in the sheet that does it")
            continue
        if name not in names:
            raise BadInput(f"{path}: there is no action {name!r}: emotui keys --json names them")
        if name != written:
            moved.append(f"{written} is {name}")
            if name in table:
                continue
        keys[name] = tuple(_key(str(path), name, one) for one in (given if isinstance(given, list) else [given]))
    if content.get("edition") != EDITION:
        keys, told = _brought_over(keys, actions, scopes or {})
        moved += told
    return Chosen(base, keys, tuple(moved))


def _brought_over(
    keys: Keys, actions: Sequence[Action], scopes: Mapping[str, str]
) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """Keys of before as they are now, with what has moved, in words.

    An action that a person left on its key of before gets its new one. Where a key that a person gave to something is
    by now that of another action, it stays with what the person gave it to, and the other action has none.
    """
    by_id = {action.id: action for action in actions}
    now, told = dict(keys), []
    for name, own in keys.items():
        there = MOVED.get(name, {})
        now[name] = tuple(dict.fromkeys(there.get(key, key) for key in own))
        told += [f"{sign_of(key)} is {sign_of(there[key])} for “{by_id[name].label}”" for key in own if key in there]
    for name in _NEW:
        taken = [
            other
            for other, own in now.items()
            if name in by_id and name not in keys and not {*by_id[name].keys}.isdisjoint(own)
            if scopes.get(name) is None or scopes.get(other) in (None, scopes[name])
        ]
        if taken:
            lost = {*now[taken[0]]}
            now[name] = tuple(key for key in by_id[name].keys if key not in lost)
            said = " ".join(sign_of(key) for key in by_id[name].keys if key in lost)
            told.append(f"{said} stays with “{by_id[taken[0]].label}”, not “{by_id[name].label}”")
    return now, told


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

    lines = [f"set = {json.dumps(chosen.base)}", f"edition = {EDITION}", "", "[keys]"]
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
