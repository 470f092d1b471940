"""Sentences that name keys, with the keys that this person has: `keyed("{run} chooses a run")`."""

from importlib import import_module

from emotui.screens.keymaps.keymap import Keymap

_held: list[Keymap] = []
"""The keymap that holds, once a frame has told it; one frame runs in a process."""


def hold(keymap: Keymap | None) -> None:
    """From now on sentences name the keys of this keymap; None: those of the registry."""
    _held[:] = [] if keymap is None else [keymap]


def keyed(sentence: str) -> str:
    """The sentence with the key of an action in place of its id in braces."""
    if not _held:
        _held.append(Keymap(import_module("emotui.screens.places").ACTIONS))
    return _held[0].words(sentence)
