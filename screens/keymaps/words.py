"""Sentences that name keys, with the keys that this person has: `keyed("{run} chooses a run")`."""

from emotui.screens.keymaps.keymap import Keymap

_held: list[Keymap] = []
"""The keymap that holds, once the frame has told it; one frame runs in a process."""


def hold(keymap: Keymap) -> None:
    """From now on sentences name the keys of this keymap."""
    _held[:] = [keymap]


def keyed(sentence: str) -> str:
    """The sentence with the key of an action in place of its id in braces; as it is, until a keymap holds."""
    return _held[0].words(sentence) if _held else sentence
