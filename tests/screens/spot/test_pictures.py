"""Pictures of Spot check. After an intended change: pytest FILE --snapshot-update, then look at each."""

import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from textual.pilot import Pilot

from emotui.backends.host import ModelProcess
from emotui.records import SpanSample
from emotui.screens.app import EmotuiApp
from emotui.screens.spot.view import SpotEditor
from emotui.workbench.models import probe
from emotui.workbench.workspace import Workspace
from tests.backends.installed_kind import install_kind
from tests.screens.album import Album, at_rest
from tests.screens.browse_workspace import workspace
from tests.screens.driving import frame, press, settle, strike
from tests.waiting import awaited

TEXT = (
    "My sister moved out last spring and the house has been unbearable since. I set the table for two, and then I put "
    "one plate back."
)
TEXTS = (TEXT, "The bus let me off at the corner a little before six. Nobody had noticed that I was gone.")


@pytest.fixture(scope="module")
def embedded() -> Iterator[ModelProcess]:
    """One for all pictures."""
    with ModelProcess("embedded") as model:
        model.load()
        yield model


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock on which every part takes 0.05 s, a kind of model that does what its text says, and no others."""
    import huggingface_hub.constants

    own = threading.local()

    def monotonic() -> float:
        own.now = getattr(own, "now", 0.0) + 0.05
        return float(own.now)

    monkeypatch.setattr(probe, "time", SimpleNamespace(monotonic=monotonic))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    install_kind(monkeypatch, "breaking", "tests.backends.breaking_backend:load")


@pytest.fixture
def source(tmp_path: Path, embedded: ModelProcess) -> Iterator[Workspace]:
    samples = [SpanSample(id=f"p-{place:03}", text=text, spans=()) for place, text in enumerate(TEXTS, 1)]
    made = workspace(tmp_path / "workspace.duckdb", samples=samples, run=False)
    made._models["embedded"] = embedded
    yield made
    for spec, model in made._models.items():
        if spec != "embedded":
            model.close()


def app(source: Workspace, live: str = "embedded") -> EmotuiApp:
    source.set_setting("theme", "dark")
    source.set_setting("live model", live)
    return EmotuiApp(lambda: source, poll=None)


async def open_place(pilot: "Pilot[None]", text: str | None = None) -> None:
    """Open the place and put a text in."""
    await press(pilot, "8", *(["i", "ctrl+u"] if text == "" else []))
    if text is not None:
        frame(pilot).query_one(SpotEditor).load_text(text)
    await settle(pilot, work=True)


async def press_and_wait(pilot: "Pilot[None]", *keys: str) -> None:
    """Press keys, each once the models have answered to the one before."""
    for key in keys:
        await press(pilot, key)
        await settle(pilot, work=True)


SECOND = ("B", *"breaking", "colon", "enter")


async def test_answers(album: Album, source: Workspace) -> None:
    async with at_rest(app(source)) as pilot:
        await open_place(pilot)
        await press_and_wait(pilot, "i")
        await album.take_at_sizes(pilot, "one model")
        await press_and_wait(pilot, "escape", *SECOND)
        await album.take_at_sizes(pilot, "two models")
        await press_and_wait(pilot, "a")
        await album.take_at_sizes(pilot, "who marked what")


async def test_a_task_and_no_text(album: Album, source: Workspace) -> None:
    async with at_rest(app(source)) as pilot:
        await open_place(pilot)
        await press_and_wait(pilot, "O")
        await album.take_at_sizes(pilot, "a task")
    async with at_rest(app(source)) as pilot:
        await open_place(pilot, "")
        await album.take_at_sizes(pilot, "no text")


async def test_answers_without_colour(album: Album, source: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with at_rest(app(source)) as pilot:
        await open_place(pilot, TEXTS[1] + " I felt <mask>.")
        await album.take_at_sizes(pilot, "")


async def test_a_model_that_died(album: Album, source: Workspace) -> None:
    async with at_rest(app(source, live="breaking:")) as pilot:
        await open_place(pilot, "SEGFAULT please")
        await album.take_at_sizes(pilot, "")


async def test_loading(album: Album, source: Workspace) -> None:
    async with at_rest(app(source, live="breaking:slow"), (120, 30)) as pilot:
        await strike(pilot, "8")
        await awaited(
            lambda: "thinking about it" in str(frame(pilot).session.job and frame(pilot).session.job.progress)
        )  # type: ignore[union-attr]
        await album.take(pilot)
        # As `q` does: the thread that waits for the model would keep the app for as long as the model takes.
        source.model("breaking:slow").close()
