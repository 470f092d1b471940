"""What every test of a screen is under."""

import pytest
from textual._compositor import Compositor
from textual.screen import Screen

from tests.screens import driving


@pytest.fixture(autouse=True)
def _cells_once_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells are made when all that a key leads to has happened, not at every step on the way there.

    A test's terminal shows nothing to anybody, and making cells took a third of the time of the tests of screens.
    """

    def render_update(
        compositor: Compositor,
        full: bool = False,
        screen_stack: "list[Screen[object]] | None" = None,
        simplify: bool = False,
    ) -> object:
        if full:
            return driving.render_update(compositor, full, screen_stack, simplify)
        return None

    monkeypatch.setattr(Compositor, "render_update", render_update)
