"""Pictures of Scenes. After an intended change: pytest FILE --snapshot-update, then look at each."""

from collections.abc import Callable
from pathlib import Path

import pytest

from emotui.screens.app import EmotuiApp
from tests.screens.driving import pressed
from tests.screens.scenes_workspace import workspace

Compare = Callable[..., bool]
SIZES = [(80, 24), (160, 45)]


def _app(path: Path, *, run: bool = True) -> EmotuiApp:
    source = workspace(path / "workspace.duckdb", run=run)
    source.set_setting("theme", "dark")
    return EmotuiApp(lambda: source, poll=None)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_scenes(snap_compare: Compare, tmp_path: Path, size: tuple[int, int]) -> None:
    assert snap_compare(_app(tmp_path), terminal_size=size, run_before=pressed("4", "n", "right"))


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_scenes_without_colour(
    snap_compare: Compare, tmp_path: Path, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert snap_compare(_app(tmp_path), terminal_size=size, run_before=pressed("4", "n", "v", "v", "v"))


VIEWS = {
    "flips": ("v",),
    "why, clamped": ("c", "w"),
    "couplings in numbers": ("v", "v", "v", "number_sign"),
    "together": ("V", "V", "V", "V"),
    "given": ("V", "V", "V"),
    "expected macro-F1": ("D", "D"),
    "emotions": ("V", "V"),
    "table": ("V",),
    "leaked": ("L",),
    "prior": ("t",),
    "alpha": ("equals_sign",),
}


@pytest.mark.parametrize("keys", VIEWS.values(), ids=VIEWS)
def test_views(snap_compare: Compare, tmp_path: Path, keys: tuple[str, ...]) -> None:
    assert snap_compare(_app(tmp_path), terminal_size=(120, 36), run_before=pressed("4", *keys))


def test_no_run_yet(snap_compare: Compare, tmp_path: Path) -> None:
    assert snap_compare(_app(tmp_path, run=False), terminal_size=(120, 36), run_before=pressed("4"))
