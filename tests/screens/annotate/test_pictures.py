"""Pictures of Annotate. After an intended change: pytest FILE --snapshot-update, then look at each."""

from collections.abc import Callable
from pathlib import Path

import pytest

from emotui.screens.app import EmotuiApp
from tests.screens.browse_workspace import workspace
from tests.screens.driving import pressed

Compare = Callable[..., bool]
MARKED = ("2", "l", "v", "l", "l", "H", "h", "v", "l", "S", ">", ">", "F", "escape")


def _app(path: Path) -> EmotuiApp:
    source = workspace(path / "workspace.duckdb")
    source.set_setting("theme", "dark")
    return EmotuiApp(lambda: source, poll=None)


def test_letters_over_the_words(snap_compare: Compare, tmp_path: Path) -> None:
    assert snap_compare(_app(tmp_path), terminal_size=(80, 24), run_before=pressed(*MARKED, "i"))


def test_a_span_is_selected_without_colour(
    snap_compare: Compare, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert snap_compare(_app(tmp_path), terminal_size=(80, 24), run_before=pressed(*MARKED, ">", "v", "l"))


def test_adjudicating(snap_compare: Compare, tmp_path: Path) -> None:
    keys = ("2", "f4", "enter", "2", "tab")
    assert snap_compare(_app(tmp_path), terminal_size=(160, 45), run_before=pressed(*keys))
