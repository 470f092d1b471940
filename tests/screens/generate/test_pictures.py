"""Pictures of Generate. After a change: pytest FILE --snapshot-update, then look."""

from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from emotui.screens.app import EmotuiApp
from tests.screens.driving import pressed
from tests.screens.generate.workspace import workspace

Picture = Callable[..., bool]


@pytest.fixture(autouse=True)
def even_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs begin a minute apart."""
    minutes = count()
    monkeypatch.setattr("emotui.store.runs.now", lambda: f"2026-11-21T06:{next(minutes):02}:00.000+00:00")


@pytest.mark.parametrize(
    ("size", "keys", "colour"),
    [
        ((80, 24), ("6",), False),
        ((160, 45), ("6",), True),
        ((80, 24), ("6", "v"), True),
        ((160, 45), ("6", "v", "v"), True),
        ((80, 24), ("6", "V"), True),
        ((80, 24), ("6", "i", "tab", "right", "enter", "2"), True),
    ],
    ids=["text without colour", "text", "models", "trust", "emotions", "rate"],
)
def test_views(
    snap_compare: Picture,
    tmp_path: Path,
    size: tuple[int, int],
    keys: tuple[str, ...],
    colour: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if not colour:
        monkeypatch.setenv("NO_COLOR", "1")
    source = workspace(tmp_path / "workspace.duckdb")
    assert snap_compare(EmotuiApp(lambda: source, poll=None), terminal_size=size, run_before=pressed(*keys))
