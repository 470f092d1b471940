"""Driving Spot check in tests: its workspace, its parts, and typing without waiting for any model."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from emotui.backends.base import Request, Score
from emotui.records import SpanSample
from emotui.screens.spot.place import Spot
from emotui.screens.spot.view import SpotEditor
from emotui.screens.widgets.page import Page
from emotui.workbench.workspace import Workspace
from tests.backends.installed_kind import install_kind
from tests.paths import TESTS
from tests.screens.browse_workspace import sample_records, workspace
from tests.screens.driving import frame, settle, strike

TINY = TESTS / "tiny" / "model"


def the_breaking_kind(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kind of model that does what its text says, and no models of the person who runs the tests."""
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(folder / "hub"))
    monkeypatch.setenv("EMOTUI_MODELS", str(TINY))
    install_kind(monkeypatch, "breaking", "tests.backends.breaking_backend:load")


@contextmanager
def workspace_asking(spec: str, folder: Path, samples: Sequence[SpanSample]) -> Iterator[Workspace]:
    """A workspace with these samples and this live model."""
    made = workspace(folder / "w.duckdb", samples=samples, run=False)
    made.set_setting("live model", spec)
    yield made
    made.close()


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What every test of Spot check begins with."""
    the_breaking_kind(tmp_path, monkeypatch)


@pytest.fixture
def source(tmp_path: Path) -> Iterator[Workspace]:
    """Four samples, and as live model one that breaks on request."""
    with workspace_asking("breaking:", tmp_path, sample_records(2, 2)) as made:
        yield made


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Workspace]:
    """No samples; the model is loaded."""
    with workspace_asking("breaking:", tmp_path, []) as made:
        made.model("breaking:").load()
        yield made


def spot(pilot: "Pilot[None]") -> Spot:
    """The place."""
    return frame(pilot).query_one(Spot)


def editor(pilot: "Pilot[None]") -> SpotEditor:
    """Where the text stands."""
    return frame(pilot).query_one(SpotEditor)


def page(pilot: "Pilot[None]") -> str:
    """What is said of the text."""
    return frame(pilot).query_one("#spot-page", Page).text


async def keys(pilot: "Pilot[None]", text: str) -> None:
    """Press the keys of a text without waiting for any model."""
    await strike(pilot, *text)


async def write(pilot: "Pilot[None]", text: str) -> None:
    """Type, and wait for all that is asked then."""
    await keys(pilot, text)
    await settle(pilot)


def asked_texts(source: Workspace, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that the model is asked to score, as they come; its answers are its own."""
    found: list[str] = []
    model = source.model("breaking:")
    ask = model.ask

    def heard(requests: Sequence[Request], **how: Any) -> Any:
        found.extend(one.text for one in requests if isinstance(one, Score))
        return ask(requests, **how)

    monkeypatch.setattr(model, "ask", heard)
    return found
