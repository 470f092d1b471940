"""Pictures of Masked. After an intended change: pytest FILE --snapshot-update, then look at each."""

from pathlib import Path

import pytest

from emotui.screens.app import EmotuiApp
from emotui.workbench.masked.building import Building
from emotui.workbench.masked.review import begin_review
from emotui.workbench.masked.study import begin_study
from tests.screens.album import Album, at_rest
from tests.screens.browse_workspace import SAMPLE_DATA
from tests.screens.driving import press
from tests.screens.masked.workspace import WRITES, masked_workspace

STEPS = {
    "gold": ("5", "k", "o", "o", "j", "j"),
    "run and examples": ("o", "o"),
    "(the list": ("o",),
    "guess": ("i", *"sad", "enter"),
    "study": ("escape", "f4", "enter", "left"),
    "review": ("escape", "Y", "enter", "x"),
}


def _app(folder: Path) -> EmotuiApp:
    source = masked_workspace(folder)
    source.set_setting("theme", "dark")
    dataset = source.store.datasets.get("masked")
    assert dataset is not None
    begin_study(source.store, dataset, "fit", "gold", WRITES)
    posts = folder / "raw.jsonl"
    posts.write_bytes(b"".join((SAMPLE_DATA / "masked_raw.jsonl").read_bytes().splitlines(keepends=True)[:4]))
    begin_review(source.store, "raw.jsonl", str(posts), Building(segmented=False), every=True, warn=lambda line: None)
    return EmotuiApp(lambda: source, poll=None)


async def test_masked(album: Album, tmp_path: Path) -> None:
    async with at_rest(_app(tmp_path)) as pilot:
        await album.walk(pilot, STEPS)


async def test_masked_without_colour(album: Album, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with at_rest(_app(tmp_path)) as pilot:
        await press(pilot, "5", "k", "o", "o", "j", "o")
        await album.take(pilot)
