"""Pictures of Compare. After a change: pytest FILE --snapshot-update, then look."""

from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from emotui.screens.app import EmotuiApp
from tests.screens.driving import pressed
from tests.screens.results_workspace import make_several_runs

Picture = Callable[..., bool]


@pytest.fixture(autouse=True)
def even_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs begin a minute apart."""
    minutes = count()
    monkeypatch.setattr("emotui.store.runs.now", lambda: f"2026-11-21T06:{next(minutes):02}:00.000+00:00")


@pytest.mark.parametrize(
    ("size", "keys", "colour"),
    [((160, 45), ("0",), True), ((80, 24), ("0",), False), ((80, 24), ("0", "v"), True)],
    ids=["two", "two without colour", "all"],
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
    source = make_several_runs(tmp_path / "workspace.duckdb", annotated=True)
    source.set_setting("theme", "dark")
    assert snap_compare(EmotuiApp(lambda: source, poll=None), terminal_size=size, run_before=pressed(*keys))
