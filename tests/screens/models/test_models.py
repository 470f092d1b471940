"""The sheet of models: what is at hand, loaded and unloaded by a key, with its trouble in its own words."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from emotui.screens.models.drawing import ABILITIES, FILES, HELD, about, heading, lines
from emotui.screens.models.sheet import ModelSheet
from emotui.screens.widgets.row_list import PickedRows
from emotui.workbench.files.view import FileView
from emotui.workbench.models.benchmark import Rate
from emotui.workbench.models.discovery import AtHand
from emotui.workbench.models.loaded import OnShelf
from emotui.workbench.workspace import Workspace
from tests.backends.installed_kind import install_kind
from tests.paths import TESTS
from tests.screens.browse_workspace import sample_records, workspace
from tests.screens.driving import frame, notified, opened, press, screen_text, settle, strike, until

TINY = TESTS / "tiny" / "model"


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kind of model that breaks on request, and no models of the person who runs the tests."""
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setenv("EMOTUI_MODELS", str(TINY))
    install_kind(monkeypatch, "breaking", "tests.backends.breaking_backend:load")


@pytest.fixture
def source(tmp_path: Path) -> Iterator[Workspace]:
    made = workspace(tmp_path / "w.duckdb", samples=sample_records(2, 2), run=False)
    yield made
    made.close()


def sheet(pilot: "Pilot[None]") -> ModelSheet:
    assert isinstance(pilot.app.screen, ModelSheet)
    return pilot.app.screen


def rows(pilot: "Pilot[None]") -> PickedRows[OnShelf]:
    return sheet(pilot).rows


def field(pilot: "Pilot[None]") -> Input:
    return sheet(pilot).query_one(Input)


async def type_spec(pilot: "Pilot[None]", spec: str) -> None:
    """Type into the sheet."""
    await press(pilot, *[{":": "colon"}.get(letter, letter) for letter in spec])


async def name(pilot: "Pilot[None]", spec: str) -> None:
    """Name the live model."""
    await press(pilot, "m")
    await type_spec(pilot, spec)
    await press(pilot, "enter")
    await settle(pilot, work=True)


async def load(pilot: "Pilot[None]", spec: str) -> None:
    """Load a model in the sheet that is open."""
    await type_spec(pilot, spec)
    await press(pilot, "ctrl+l")
    await settle(pilot, work=True)


def picked(pilot: "Pilot[None]") -> OnShelf:
    row = rows(pilot).picked
    assert row is not None
    return row


async def test_models_at_hand_are_listed_with_what_is_known_of_them(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "m")
        assert [row.spec for row in rows(pilot).rows] == [
            "embedded",
            f"gguf:{TINY / 'tiny-F16.gguf'}",
            f"gguf:{TINY / 'tiny-Q8_0.gguf'}",
            f"hf:{TINY / 'hf'}",
        ]
        text = screen_text(pilot)
        assert "4 at hand, 0 loaded" in text
        assert "all-MiniLM-L6-v2 with emotui's adapters" in text
        assert "^S measures how fast it is" in text


async def test_a_model_is_loaded_tried_and_unloaded_from_the_sheet(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "m")
        await load(pilot, "breaking:")
        (loaded,) = [row for row in rows(pilot).rows if row.state == "loaded"]
        assert (loaded.spec, loaded.card is not None) == ("breaking:", True)
        assert picked(pilot) is loaded
        assert loaded.memory is not None
        assert loaded.memory > 1_000_000
        assert "5 at hand, 1 loaded" in screen_text(pilot)
        assert "^L unload" in screen_text(pilot)
        assert frame(pilot).session.live == "embedded", "what is loaded is not asked before somebody says so"
        pid = source.model("breaking:").pid
        assert pid is not None
        await press(pilot, "ctrl+t")
        assert frame(pilot).place.entry.title == "Spot check"
        assert (frame(pilot).session.live, source.model("breaking:").pid) == ("breaking:", pid)
        await press(pilot, "escape", "m", "ctrl+l")
        assert (picked(pilot).spec, picked(pilot).state) == ("breaking:", "ended")
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


async def test_the_speed_of_a_model_is_measured_in_the_sheet(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "m", *"embedd", "ctrl+s")
        await settle(pilot, work=True)
        assert "text" in {rate.unit.rstrip("s") for rate in picked(pilot).rates.values()}
        assert "texts/s" in screen_text(pilot)


async def test_a_model_that_cannot_be_loaded_is_told_and_its_words_are_kept(source: Workspace) -> None:
    async with opened(source) as pilot:
        await name(pilot, "breaking:cannot")
        assert any("model.bin is cut short" in told for told in notified(pilot))
        assert frame(pilot).session.live == "embedded", "a model that cannot be loaded takes nobody's place"
        assert source.setting("live model") is None
        await press(pilot, "m")
        await load(pilot, "breaking:cannot")
        assert sum("model.bin is cut short" in told for told in notified(pilot)) == 1, "the sheet tells it itself"
        assert "errors   model.bin is cut short (1 of 2 bytes): download it again" in screen_text(pilot)
        assert picked(pilot).state == "failed"


async def test_a_model_that_is_loading_is_stopped(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "m")
        await type_spec(pilot, "breaking:slow")
        await strike(pilot, "enter")
        await until(pilot, "thinking about it")
        assert frame(pilot).session.job is not None
        assert frame(pilot).session.live == "embedded"
        await strike(pilot, "ctrl+x")
        await settle(pilot, work=True)
        assert source.model("breaking:slow").pid is None
        assert frame(pilot).session.live == "embedded"


async def test_what_was_begun_in_the_sheet_is_stopped_there(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "m")
        await type_spec(pilot, "breaking:slow")
        await strike(pilot, "ctrl+l")
        await until(pilot, "thinking about it", "^L stop")
        await strike(pilot, "enter")
        await until(pilot, "One thing at a time: loading breaking:slow goes on")
        await strike(pilot, "ctrl+l")
        await settle(pilot, work=True)
        assert source.model("breaking:slow").pid is None
        assert [row.state for row in rows(pilot).rows if row.spec == "breaking:slow"] == [""]


async def test_what_is_typed_finds_a_model_or_is_a_spec_of_its_own(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "m")
        await type_spec(pilot, "q8")
        assert picked(pilot).spec.endswith("tiny-Q8_0.gguf")
        await press(pilot, "down")
        assert picked(pilot).spec == f"hf:{TINY / 'hf'}"
        field(pilot).value = ""
        await pilot.pause()
        assert "letters find a model by its name, ↑ ↓ move" in screen_text(pilot), "so j is a letter here"
        await press(pilot, "j")
        assert screen_text(pilot).count("no model at hand has “j” in its name: ↑ ↓ go back to the list") == 1
        assert "▸" not in rows(pilot).text, "Enter would take none"
        await press(pilot, "enter")
        assert "another model is named hf:NAME_OR_DIR" in screen_text(pilot)
        assert "tiny Llama" not in screen_text(pilot), "nor is any of them told about"
        before = rows(pilot).cursor
        await press(pilot, "down")
        assert (field(pilot).value, rows(pilot).cursor) == ("", before)
        await type_spec(pilot, "gguf:/a/b.gguf")
        assert "▸" not in rows(pilot).text, "the cursor of the list says what Enter takes"
        await press(pilot, "up")
        assert field(pilot).value == ""
        assert "▸" in rows(pilot).text


async def test_arrow_keys_move_among_models_and_the_pane_below_follows(source: Workspace) -> None:
    async with opened(source, size=(80, 24)) as pilot:
        await press(pilot, "m", "down", "down")
        assert rows(pilot).cursor == 2
        assert "Q8_0" in screen_text(pilot)
        assert "emotui tests' tiny Llama" in screen_text(pilot)
        await press(pilot, "pagedown", "down")
        assert rows(pilot).cursor == 3


async def test_where_models_cannot_be_listed_the_live_one_stands_there_and_why(
    source: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        raise OSError("the folder is away")

    async with opened(source, size=(80, 24)) as pilot:
        with monkeypatch.context() as broken:
            broken.setattr(source, "shelf", refuse)
            await press(pilot, "m")
            assert "the folder is away" in screen_text(pilot)
            assert [row.spec for row in rows(pilot).rows] == ["embedded"]
        await press(pilot, "escape", "m")
        assert "the folder is away" not in screen_text(pilot)
        assert "4 at hand" in screen_text(pilot)


async def test_files_are_browsed_without_models(tmp_path: Path) -> None:
    file = tmp_path / "g.jsonl"
    file.write_text('{"id": "a", "text": "a fine day", "spans": [[2, 6]]}\n')
    async with opened(FileView(str(file), (), warn=lambda line: None)) as pilot:
        await press(pilot, "m")
        assert "m models: models answer in a workspace" in screen_text(pilot)


def test_a_long_spec_keeps_its_kind_and_its_end() -> None:
    row = OnShelf("gguf:/a/very/long/folder/that/does/not/fit/model-Q4.gguf", "")
    text = "".join(part.text for part in lines([row], 0, 72)[1])
    assert "gguf:…" in text
    assert "model-Q4.gguf" in text
    assert len(text) <= 72


@pytest.mark.parametrize("cells", [58, 78, 98, 118, 134, 158])
def test_memory_and_speed_are_bars_on_one_scale_each_and_nothing_draws_nothing(cells: int) -> None:
    big = OnShelf("hf:big", "loaded", memory=4_000_000_000, rates={"tokens out": Rate("tokens", 40.0, 100, 2.0)})
    small = OnShelf("hf:small", "ended", memory=1_000_000_000, rates={"tokens out": Rate("tokens", 80.0, 100, 2.0)})
    unknown = OnShelf("hf:x", "", AtHand("hf:x", "hf", "x", None, None, None, ("embed",)))
    head, *drawn = ("".join(part.text for part in line) for line in lines([big, small, unknown], 0, cells)[:4])
    assert all(len(line) <= cells for line in (head, *drawn))
    assert "4.0 GB" in drawn[0]
    assert ("not loaded" in drawn[2]) == ("state" in head)
    assert not set(drawn[2]) & set("■□▬")
    bars = [[len(one) for one in re.findall("■+|▬+", line)] for line in drawn[:2]]
    assert not any("▬■" in line for line in drawn), "memory and speed have a sign each"
    legend = "".join(part.text for part in heading([big, small, unknown], None, cells)[1])
    assert ("■ memory held" in legend) == bool(bars[0]), "what is not drawn is not explained"
    if bars[0]:
        assert abs(bars[0][0] - 4 * bars[1][0]) <= 2
    assert ("speed" in head) == ("40 tokens/s" in drawn[0])
    if len(bars[0]) > 1:
        assert bars[1][1] > bars[0][1]
    assert drawn[2][head.index("  embed") + 4] == "✓" if "embed" in head else " embed " in drawn[2]


@pytest.mark.parametrize("cells", [58, 78, 98, 118])
def test_what_models_can_do_is_told_in_words_at_every_width(cells: int) -> None:
    row = OnShelf("hf:x", "", AtHand("hf:x", "hf", "x", None, None, None, ("generate", "embed")))
    other = OnShelf("hf:y", "")
    head, drawn, unknown = ("".join(part.text for part in line) for line in lines([row, other], 0, cells))
    assert "speed" not in head
    names = ("write", "embed", "score")
    if "write" in head:
        assert ["✓" in drawn[head.index(one) : head.index(one) + len(one)] for one in names] == [True, True, False]
    else:
        assert [one in drawn for one in names] == [True, True, False]
        assert "told when loaded" in unknown
    assert all(len(line) <= cells for line in (head, drawn, unknown))


def test_everything_known_of_a_model_is_said() -> None:
    row = OnShelf(
        "hf:x",
        "loaded",
        AtHand("hf:x", "hf", "x", 2_000_000_000, "bfloat16", 4096, ("generate", "score")),
        memory=3_000_000_000,
        load_seconds=4.25,
        rates={"tokens out": Rate("tokens", 51.3, 100, 2.0)},
        errors=("it died",),
    )
    text = "\n".join("".join(part.text for part in line) for line in about(row, 90))
    for said in (
        "✓ write",
        "✓ score",
        "· ranks  cannot: which label",
        "context 4,096 tokens",
        "51 tokens out/s",
        "it died",
    ):
        assert said in text
    assert "2.0 GB of files, bfloat16" in text
    assert all(f" {name} " in text for name in ABILITIES.values()), "what a word over a column means stands there"
    assert all(form in text for form in ("hf:NAME_OR_DIR", "gguf:FILE", "openai:MODEL@URL")), "and how to get another"
    assert "3.0 GB" in "".join(part.text for part in lines([row], 0, 90)[1])


async def test_every_place_says_which_model_is_live_and_swaps_it_with_one_key(source: Workspace) -> None:
    async with opened(source) as pilot:
        await settle(pilot)
        assert frame(pilot).session.live == "embedded"
        for place in ("1", "4", "8"):
            await press(pilot, place)
            assert "embedded" in screen_text(pilot).splitlines()[0]
        await press(pilot, "escape", "1")
        await name(pilot, "breaking:")
        assert frame(pilot).session.live == "breaking:"
        assert "breaking: ready" in screen_text(pilot).splitlines()[0]
        assert source.setting("live model") == "breaking:"


async def test_the_live_model_is_picked_from_those_at_hand(source: Workspace) -> None:
    source.model("breaking:").load()
    source.set_setting("live model", "breaking:")
    async with opened(source) as pilot:
        await settle(pilot)
        assert frame(pilot).session.live == "breaking:"
        await press(pilot, "m")
        await settle(pilot)
        assert picked(pilot).spec == "breaking:"
        assert "▸ ● breaking:" in screen_text(pilot)
        await press(pilot, "escape")
        assert frame(pilot).session.live == "breaking:"


def test_one_model_has_no_bar_to_be_compared_with() -> None:
    row = OnShelf("embedded", "", AtHand("embedded", "embedded", "x", 96_000_000, None, None, ("embed",)))
    drawn = "".join(part.text for line in lines([row], 0, 120) for part in line)
    assert not set(drawn) & {HELD, FILES}
    assert "96 MB" in drawn
    assert not heading([row], None, 120)[1]
