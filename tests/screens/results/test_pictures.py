"""Pictures of Results and of several runs over one text. After a change: pytest FILE --snapshot-update, then look."""

from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from emotui.screens.app import EmotuiApp
from emotui.workbench.workspace import Workspace
from tests.screens.browse_workspace import embed
from tests.screens.driving import pressed
from tests.screens.results_workspace import make_several_runs
from tests.templates import copy_of

Compare = Callable[..., bool]
SIZES = [(80, 24), (160, 45)]


@pytest.fixture(autouse=True)
def quick_embedding(monkeypatch: pytest.MonkeyPatch) -> None:
    """Annotators get their Sim without a model being loaded."""
    monkeypatch.setattr("emotui.workbench.results.service.Embedder", lambda model, cancelled: embed)
    minutes = count()
    monkeypatch.setattr("emotui.store.runs.now", lambda: f"2026-11-21T06:{next(minutes):02}:00.000+00:00")


def _app(path: Path) -> EmotuiApp:
    def make(template: Path) -> None:
        make_several_runs(template, annotated=True).set_setting("theme", "dark")

    copy_of(path / "workspace.duckdb", "several runs, one a minute", make)
    source = Workspace.open(path / "workspace.duckdb")
    return EmotuiApp(lambda: source, poll=None)


VIEWS = {
    "table": ("7",),
    "published": ("7", "P"),
    "errors": ("7", "n"),
    "bars": ("7", "v"),
    "transitions": ("7", "v", "v"),
    "counts": ("7", "v", "v", "n", "number_sign"),
    "agreement": ("7", "V"),
    "jumped": ("7", "n", "enter"),
}


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("keys", VIEWS.values(), ids=VIEWS)
def test_views(snap_compare: Compare, tmp_path: Path, size: tuple[int, int], keys: tuple[str, ...]) -> None:
    assert snap_compare(_app(tmp_path), terminal_size=size, run_before=pressed(*keys))


@pytest.mark.parametrize("keys", [("7",), ("7", "v"), ("7", "v", "v")], ids=["table", "bars", "transitions"])
def test_without_colour(
    snap_compare: Compare, tmp_path: Path, keys: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert snap_compare(_app(tmp_path), terminal_size=(80, 24), run_before=pressed(*keys))


COMPARED = {
    "runs sheet": ("r", "j", "space"),
    "stave": ("n", "r", "j", "space", "j", "space", "k", "enter"),
    "run a model": ("R", *["backspace"] * 8, "h", "f", "colon", "x"),
}


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("keys", COMPARED.values(), ids=COMPARED)
def test_several_runs(snap_compare: Compare, tmp_path: Path, size: tuple[int, int], keys: tuple[str, ...]) -> None:
    assert snap_compare(_app(tmp_path), terminal_size=size, run_before=pressed(*keys))
