"""The keys of one's own, from their file to what holds now."""

from collections.abc import Callable, Sequence
from pathlib import Path

from textual.screen import Screen

from emotui.errors import BadInput
from emotui.screens.actions import Action
from emotui.screens.keymaps.file import Chosen, clashes, read, write
from emotui.screens.keymaps.keymap import Keymap
from emotui.screens.keymaps.words import hold
from emotui.screens.places import ACTIONS, PLACES
from emotui.screens.session import Session

SCOPES = {action.id: entry.title for entry in PLACES.values() for action in entry.actions}
"""By the id of an action, the place that alone does it."""


class OwnKeys:
    """Reads and keeps them.

    Args:
        where: says where their file is; None: they hold for this session.
    """

    def __init__(self, session: Session, screen: Screen[None], where: Callable[[], Path] | None) -> None:
        self._session, self._screen, self._where = session, screen, where
        self._path: Path | None = None
        self._chosen = Chosen()

    def read(self) -> None:
        """Use what the file says; where it says nothing that holds, say so."""
        self._path = None if self._where is None else self._where()
        if self._path is None or not self._path.exists():
            return
        try:
            self._use(read(self._path, ACTIONS))
        except BadInput as problem:
            self._screen.notify(str(problem), title="Keys of your own", severity="warning", timeout=15, markup=False)
            return
        told = [f"{clash}" for name in self._chosen.keys for clash in self._clash(name)]
        if told:
            self._screen.notify("; ".join(told[:3]), title="Keys of your own", severity="warning", markup=False)

    def _use(self, chosen: Chosen) -> None:
        self._chosen = chosen
        self._session.keymap = Keymap(ACTIONS, chosen.all)
        hold(self._session.keymap)
        self._screen.refresh_bindings()

    def _clash(self, name: str) -> Sequence[str]:
        return clashes(self._session.keymap, SCOPES, name)

    def _change(self, chosen: Chosen) -> Sequence[Action]:
        self._use(chosen)
        if self._path is not None:
            write(self._path, chosen)
        if self._session.source is not None:
            self._session.look_again()  # what stands in the panes names keys too
        return self._listed()

    def _listed(self) -> list[Action]:
        return list(self._session.keymap.actions)

    def show(self) -> None:
        """Open the sheet."""
        from emotui.screens.dialogs.keys import KeysDialog

        self._screen.app.push_screen(KeysDialog(self._listed(), self._chosen, self._change, self._clash))
