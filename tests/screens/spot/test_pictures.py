"""Pictures of Spot check. After an intended change: pytest FILE --snapshot-update, then look at each."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from textual.pilot import Pilot

from emotui.backends.host import ModelProcess
from emotui.records import SpanSample
from emotui.screens.app import EmotuiApp
from emotui.screens.spot.editor import SpotEditor
from emotui.workbench.models import probe
from emotui.workbench.workspace import Workspace
from tests.backends.installed_kind import install_kind
from tests.screens.browse_workspace import workspace
from tests.screens.driving import drawn, frame, press, settle, strike
from tests.waiting import awaited

Compare = Callable[..., bool]
Drive = Callable[["Pilot[None]"], object]
SIZES = [(80, 24), (160, 45)]
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


def pressed(*keys: str, text: str | None = None) -> Drive:
    """Open the place, press keys, put a text in."""

    async def drive(pilot: "Pilot[None]") -> None:
        await settle(pilot)
        await press(pilot, "9")
        if text is not None:
            frame(pilot).query_one(SpotEditor).load_text(text)
        await settle(pilot, work=True)
        for key in keys:
            await press(pilot, key)
            await settle(pilot, work=True)

    return drive


SECOND = ("M", *"breaking", "colon", "enter")


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_answers(snap_compare: Compare, source: Workspace, size: tuple[int, int]) -> None:
    assert snap_compare(app(source), terminal_size=size, run_before=pressed("i"))


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_answers_without_colour(
    snap_compare: Compare, source: Workspace, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    drive = pressed(text=TEXTS[1] + " I felt <mask>.")
    assert snap_compare(app(source), terminal_size=size, run_before=drive)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_two_models(snap_compare: Compare, source: Workspace, size: tuple[int, int]) -> None:
    assert snap_compare(app(source), terminal_size=size, run_before=pressed(*SECOND))


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_who_marked_what(snap_compare: Compare, source: Workspace, size: tuple[int, int]) -> None:
    assert snap_compare(app(source), terminal_size=size, run_before=pressed(*SECOND, "a"))


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_a_task(snap_compare: Compare, source: Workspace, size: tuple[int, int]) -> None:
    assert snap_compare(app(source), terminal_size=size, run_before=pressed("O"))


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_no_text(snap_compare: Compare, source: Workspace, size: tuple[int, int]) -> None:
    assert snap_compare(app(source), terminal_size=size, run_before=pressed(text=""))


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_a_model_that_died(snap_compare: Compare, source: Workspace, size: tuple[int, int]) -> None:
    drive = pressed(text="SEGFAULT please")
    assert snap_compare(app(source, live="breaking:"), terminal_size=size, run_before=drive)


def test_loading(snap_compare: Compare, source: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    loading = app(source, live="breaking:slow")
    shut_down = loading._shutdown

    async def without_the_model() -> None:
        # As `q` does: the thread that waits for the model would keep the app for as long as the model takes.
        source.model("breaking:slow").close()
        await shut_down()

    monkeypatch.setattr(loading, "_shutdown", without_the_model)

    async def drive(pilot: "Pilot[None]") -> None:
        await settle(pilot)
        await strike(pilot, "9")
        await awaited(
            lambda: "thinking about it" in str(frame(pilot).session.job and frame(pilot).session.job.progress)
        )  # type: ignore[union-attr]
        await drawn(pilot)

    assert snap_compare(loading, terminal_size=(120, 30), run_before=drive)
