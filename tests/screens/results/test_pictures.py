"""Pictures of Results and of several runs over one text. After a change: pytest FILE --snapshot-update, then look."""

from itertools import count
from pathlib import Path

import pytest

from emotui.screens.app import EmotuiApp
from emotui.workbench.workspace import Workspace
from tests.screens.album import Album, at_rest
from tests.screens.browse_workspace import embed
from tests.screens.results_workspace import make_several_runs
from tests.templates import copy_of


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
    "all": ("7",),
    "all published": ("P",),
    "sources": ("P", "n"),
    "groups": ("v", "v"),
    "bars": ("n",),
    "found": ("v",),
    "table": ("v",),
    "published": ("P",),
    "transitions": ("P", "v"),
    "shades": ("n", "number_sign"),
    "agreement": ("v",),
    "errors": ("V", "V", "n"),
    "jumped": ("enter",),
}

WITHOUT_COLOUR = {"all": ("7",), "sources": ("n",), "bars": ("v", "v", "n"), "transitions": ("v", "v", "v")}

COMPARED = {
    "runs sheet": ("r", "j", "space"),
    "(closed": ("escape",),
    "run a model": ("R", *["backspace"] * 8, "h", "f", "colon", "x"),
    "(stopped": ("escape",),
    "stave": ("n", "r", "j", "space", "j", "space", "k", "enter"),
}


async def test_views(album: Album, tmp_path: Path) -> None:
    async with at_rest(_app(tmp_path)) as pilot:
        await album.walk(pilot, VIEWS)


async def test_without_colour(album: Album, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with at_rest(_app(tmp_path)) as pilot:
        await album.walk(pilot, WITHOUT_COLOUR, sizes=False)


async def test_several_runs(album: Album, tmp_path: Path) -> None:
    async with at_rest(_app(tmp_path)) as pilot:
        await album.walk(pilot, COMPARED)
