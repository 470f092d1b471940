"""The sheet that runs a model: what it offers for which model, what it refuses, and that a run is as it was asked."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace
from textual.widgets import Input, Label

from emotui.backends.base import ModelCard
from emotui.records import Mark, SpanSample
from emotui.screens.dialogs.run_model import ModelDialog, Wish
from emotui.screens.widgets.switches import OneOf
from emotui.store.query import Run
from emotui.workbench.progress import RunOptions
from emotui.workbench.runs.choices import run_choices
from emotui.workbench.runs.plan import RunConfig
from emotui.workbench.runs.states import out_of_sight, signed
from emotui.workbench.workspace import Workspace
from tests.backends.installed_kind import install_kind
from tests.screens.browse_workspace import workspace
from tests.screens.driving import frame, notified, opened, press, screen_text, settle

KIND = "contract"


@pytest.fixture(autouse=True)
def contract(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kind of model that writes, in a process of its own like any other."""
    install_kind(monkeypatch, KIND, "tests.backends.contract_backend:load")
    monkeypatch.setattr("emotui.workbench.runs.run.Embedder", lambda model, cancelled: None)


@pytest.fixture
def source(tmp_path: Path) -> Iterator[Workspace]:
    samples = [
        SpanSample(id=f"w-{n}", text=f"The {word} was late, and I wept softly.", spans=(Mark(21, 34),))
        for n, word in enumerate(["bus", "tram", "ferry"])
    ]
    made = workspace(tmp_path / "w.duckdb", samples=samples, run=False)
    yield made
    made.close()


def sheet(pilot) -> ModelDialog:  # type: ignore[no-untyped-def]
    assert isinstance(pilot.app.screen, ModelDialog)
    return pilot.app.screen


async def named(pilot, spec: str = "contract:") -> None:  # type: ignore[no-untyped-def]
    """Open the sheet and name this model."""
    await press(pilot, "R")
    sheet(pilot).query_one("#spec", Input).value = spec
    await settle(pilot)


def put(pilot, **values: str) -> None:  # type: ignore[no-untyped-def]
    """Type into the fields of these names."""
    for name, value in values.items():
        sheet(pilot).query_one(f"#{name}", Input).value = value


def why(pilot) -> str:  # type: ignore[no-untyped-def]
    return str(sheet(pilot).query_one("#why", Label).content)


async def test_for_the_embedded_model_there_is_nothing_to_choose_but_how_much(source: Workspace) -> None:
    async with opened(source, (80, 24)) as pilot:
        await press(pilot, "R")
        shown = screen_text(pilot)
        assert "asked in one way" in shown
        assert "retrieve" not in shown
        assert "temperature" not in shown
        assert "repeats" in shown
        assert "experiment 0: copy a text" in shown
        assert "SEER's tests of prompts" in shown


async def test_for_a_model_that_is_not_loaded_all_ways_of_the_task_are_offered_at_80_columns(source: Workspace) -> None:
    async with opened(source, (80, 24)) as pilot:
        await named(pilot)
        shown = screen_text(pilot)
        for said in (
            "its own",
            "retrieve-cot",
            "highlight-cot",
            "temperature",
            "top-p",
            "tokens",
            "retries",
            "prompts",
        ):
            assert said in shown
        assert "Which of these ways a model has shows once it is loaded" in " ".join(shown.split())
        assert "Enter start" in shown


async def test_a_run_is_asked_as_the_sheet_says(source: Workspace, tmp_path: Path) -> None:
    prompts = tmp_path / "own.toml"
    prompts.write_text('["highlight-cot"]\nuser = "Mark it.\\n\\nThe text follows.\\n{text}"\n', encoding="utf-8")
    async with opened(source) as pilot:
        await named(pilot)
        sheet(pilot).query_one("#way", OneOf).focus()
        await press(pilot, "right", "right", "right", "right")
        put(pilot, limit="2", repeats="2", seed="7", temperature="0,3", retries="1", prompts=str(prompts))
        await press(pilot, "enter")
        await settle(pilot, work=True)
        (run,) = source.runs(1)
        assert (run.model, run.state, run.n, run.done) == ("contract:", "done", 4, 4)
        assert (run.config["way"], run.config["repeats"], run.config["seed"]) == ("highlight-cot", 2, 7)
        options = run.config["options"]
        assert isinstance(options, dict)
        assert (options["temperature"], options["retries"]) == (0.3, 1)
        assert "max_tokens" not in options
        assert "Mark it." in (source.evidence(1, run.run).repeats[0].prompt or "")
        await press(pilot, "q")


async def test_a_prompting_experiment_is_run_over_a_dataset_of_its_own_which_is_then_shown(source: Workspace) -> None:
    async with opened(source) as pilot:
        await named(pilot)
        sheet(pilot).query_one("#over", OneOf).focus()
        await press(pilot, "right", "right")
        assert sheet(pilot).query_one("#way", OneOf).now == "experiment-1-retrieve"
        put(pilot, limit="3")
        await press(pilot, "enter")
        await settle(pilot, work=True)
        dataset = frame(pilot).session.overview.dataset
        assert dataset is not None
        assert (dataset.name, dataset.n) == ("experiment-1", 90)
        (run,) = source.runs(dataset.dataset)
        assert (run.config["way"], run.done) == ("experiment-1-retrieve", 3)
        await named(pilot)
        assert not sheet(pilot).query("#over")
        assert sheet(pilot).query_one("#way", OneOf).now == "experiment-1-retrieve"
        await press(pilot, "escape", "q")


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"spec": " "}, "Name a model."),
        ({"limit": "0"}, "A run needs at least one sample."),
        ({"repeats": "0"}, "A run has at least one repeat."),
        ({"temperature": "9"}, "temperature"),
        ({"top_p": "0"}, "--top-p must be a number above 0, up to 1"),
        ({"retries": "1.5"}, "retries are a whole number from 0 to 20"),
        ({"prompts": "nowhere.toml"}, "nowhere.toml"),
    ],
)
async def test_what_makes_no_sense_is_refused_in_words_and_the_sheet_stays(
    source: Workspace, values: dict[str, str], said: str
) -> None:
    async with opened(source, (80, 24)) as pilot:
        await named(pilot)
        put(pilot, **values)
        await press(pilot, "enter")
        assert said in why(pilot)
        assert source.runs(1) == []
        assert notified(pilot) == []


async def test_a_grammar_is_asked_for_where_the_way_has_a_form_and_refused_where_it_has_none(source: Workspace) -> None:
    async with opened(source, (80, 24)) as pilot:
        await named(pilot)
        sheet(pilot).query_one("#constrain").focus()
        await press(pilot, "space")
        sheet(pilot).query_one("#way", OneOf).focus()
        await press(pilot, "right", "right", "enter")
        assert "no grammar holds that" in why(pilot)
        await press(pilot, "left", "enter")
        await settle(pilot, work=True)
        (run,) = source.runs(1)
        assert run.config["options"] == {"constrain": True}
        assert run.config["way"] == "retrieve"
        await press(pilot, "q")


def test_what_a_loaded_model_cannot_do_is_not_offered() -> None:
    writes = ModelCard("m", "m", ("generate",), {})
    marks = ModelCard("m", "m", ("extract",), {})
    embeds = ModelCard("m", "m", ("embed",), {})
    assert run_choices("spans", None, "m", writes).ways == ("retrieve", "highlight", "retrieve-cot", "highlight-cot")
    assert run_choices("spans", 3, "m", writes).ways == ("retrieve", "highlight", "retrieve-cot", "highlight-cot")
    assert run_choices("spans", 0, "m", writes).ways == ("experiment-0",)
    assert run_choices("spans", 2, "m", writes).ways == ("experiment-2-retrieve", "experiment-2-highlight")
    assert run_choices("spans", None, "m", marks).ways == ()
    assert run_choices("spans", None, "m", marks).possible
    assert not run_choices("spans", None, "m", embeds).possible
    scores = ModelCard("m", "m", ("score",), {})
    assert run_choices("scenes", None, "m", scores).ways == ("first-token",)
    assert run_choices("scenes", None, "m", scores).settings == ()
    reasons = ModelCard("m", "m", ("score", "generate"), {})
    assert run_choices("scenes", None, "m", reasons).settings == ("max_tokens", "constrain", "retries")


def test_every_task_has_its_ways_before_a_model_is_loaded() -> None:
    for task, first in (
        ("spans", "retrieve"),
        ("scenes", "first-token"),
        ("masked", "zero-shot"),
        ("rephrase", "classify"),
    ):
        found = run_choices(task, None, "hf:somewhere", None)
        assert found.ways[0] == first
        assert found.prompts


async def test_a_run_of_a_process_out_of_sight_is_taken_over_on_the_second_enter(source: Workspace) -> None:
    gone = {"pid": 7, "host": "elsewhere", "boot": "another start"}
    (dataset,) = source.datasets()
    source.store.runs.start("far", "far", "spans", KIND + ":", dataset.dataset, gone, 3)
    async with opened(source, (80, 24)) as pilot:
        await press(pilot, "R")
        assert "take over contract:   0 of 3 done, process 7 of elsewhere" in screen_text(pilot)
        given: list[object] = []
        sheet(pilot).dismiss = given.append  # type: ignore[assignment, method-assign]
        await press(pilot, "down", "down", "enter")
        assert given == []
        assert "may be running in process 7 of elsewhere" in why(pilot)
        await press(pilot, "enter")
        assert given == [Wish(KIND + ":", RunOptions(resume="far", take_over=True))]


def test_a_run_whose_process_can_be_seen_is_not_taken_over() -> None:
    config = msgspec.to_builtins(signed(RunConfig()))
    run = Run("r", "spans", "embedded", 1, "i", config, "running", "now", None, 3, 1, 0, None)
    assert out_of_sight(run) == ""
    assert out_of_sight(replace(run, state="stopped")) == ""
    assert (
        out_of_sight(replace(run, config={**config, "boot": "another", "host": "far", "pid": 7})) == "process 7 of far"
    )
