"""Which run stands over the list, and which beside it."""

import re
from pathlib import Path

import pytest
from msgspec.structs import replace
from textual.pilot import Pilot

from emotui.screens.samples.table import SampleList
from emotui.screens.widgets.number_format import share
from emotui.workbench.datasets.sources import sources
from emotui.workbench.files.view import FileView
from emotui.workbench.workspace import Workspace
from tests.screens.browse_workspace import add_run, sample_records, workspace
from tests.screens.driving import frame, notified, opened, press, screen_text, settle, shown_id, stave


@pytest.fixture
def source(tmp_path: Path) -> Workspace:
    return workspace(tmp_path / "workspace.duckdb")


@pytest.fixture
def three_runs(source: Workspace) -> Workspace:
    samples, dataset = sample_records(), source.datasets()[0]
    add_run(source.store, dataset, samples, name="quiet-1", model="hf:org/quiet", way="retrieve", shift=4)
    add_run(source.store, dataset, samples, name="quiet-2", model="hf:org/quiet", way="highlight", shift=1)
    return source


async def _show_rule_beside_quiet(pilot: "Pilot[None]") -> None:
    """The run `rule` over the list, the two others ticked."""
    names = [run.run for run in frame(pilot).session.overview.runs]
    down = ["j"] * names.index("rule-1") if frame(pilot).session.run_shown.run == names[0] else []
    await press(pilot, "r", *down, "enter")
    assert frame(pilot).session.run_shown.run == "rule-1"
    await press(pilot, "r", *["k"] * len(down), "space", "j", "space", "enter")


async def test_ticked_runs_stand_beside_the_one_over_the_list_with_a_row_each(three_runs: Workspace) -> None:
    async with opened(three_runs) as pilot:
        await _show_rule_beside_quiet(pilot)
        assert frame(pilot).session.run_shown.run == "rule-1"
        assert frame(pilot).session.state.beside == ("quiet-2", "quiet-1")
        tiers = stave(pilot).score.tiers
        assert stave(pilot).score.rows
        assert [voice.name for voice in tiers][:4] == ["gold", "rule", "quiet high", "quiet ret"]
        assert [voice.name for voice in tiers][4:] == list(sample_records()[0].annotators)
        assert [voice.inline for voice in tiers[:4]] == [True, True, False, False]
        for name, voice in zip(("quiet-2", "quiet-1"), tiers[2:4], strict=True):
            detail = three_runs.evidence(1, name).repeats[0].detail
            assert detail is not None
            assert voice.spans == tuple(span for span in detail.located if span)
        figures = [three_runs.evidence(1, name).repeats[0].detail for name in ("quiet-2", "quiet-1")]
        said = [share(detail.f1 if detail else None).strip() for detail in figures]
        assert re.search(rf"beside it   . quiet high {said[0]}   . quiet ret {said[1]}", screen_text(pilot))


async def test_every_column_of_the_runs_is_headed_and_who_took_all_answers_back_is_none_of_them(
    three_runs: Workspace,
) -> None:
    dataset = three_runs.datasets()[0].dataset
    three_runs.store.runs.start(
        "ann-1", "ann-1", "spans", "ann", dataset, {"seed": 0, "repeats": 1}, 4, source="person"
    )
    async with opened(three_runs) as pilot:
        await press(pilot, "r")
        lines = screen_text(pilot).splitlines()
        at, heads = next((at, line) for at, line in enumerate(lines) if "texts  began" in line)
        assert "  source" in heads
        for run, line in zip(frame(pilot).session.overview.runs, lines[at + 1 :], strict=False):
            assert line[heads.index("run  ") :].startswith(run.run)
            assert line[heads.index("asked") :].startswith(str(run.config["way"]))
        assert "ann" not in "".join(lines[at : at + 4])
        assert all(one.name != "ann" for one in sources(three_runs.store, three_runs.datasets()[0].name))


async def test_runs_can_be_compared_without_one_over_the_list(three_runs: Workspace) -> None:
    async with opened(three_runs) as pilot:
        await press(pilot, "r", "j", "space", "j", "j", "enter")
        assert frame(pilot).session.run_shown is None
        assert [voice.name for voice in stave(pilot).score.tiers][:2] == ["gold", "quiet"]
        await press(pilot, "a")
        assert [voice.name for voice in stave(pilot).score.tiers] == ["gold"]
        await press(pilot, "a")
        assert stave(pilot).score.rows


async def test_what_is_compared_is_remembered_and_can_be_unticked(tmp_path: Path, three_runs: Workspace) -> None:
    async with opened(three_runs) as pilot:
        await _show_rule_beside_quiet(pilot)
        await press(pilot, "q")
    again = Workspace.open(tmp_path / "workspace.duckdb")
    async with opened(again) as pilot:
        assert [voice.name for voice in stave(pilot).score.tiers][1:4] == ["rule", "quiet high", "quiet ret"]
        await press(pilot, "r", "k", "space", "k", "space", "j", "j", "enter")
        assert frame(pilot).session.state.beside == ()
        assert [voice.name for voice in stave(pilot).score.tiers][:2] == ["gold", "rule"]
        assert "beside it" not in screen_text(pilot)


async def test_runs_of_files_can_be_compared_too(tmp_path: Path) -> None:
    gold, one, other = tmp_path / "gold.jsonl", tmp_path / "one.jsonl", tmp_path / "other.jsonl"
    gold.write_text('{"id": "a", "text": "I wept and laughed", "spans": [[2, 6]]}\n', encoding="utf-8")
    one.write_text('{"id": "a", "spans": ["wept"]}\n', encoding="utf-8")
    other.write_text('{"id": "a", "spans": ["laughed"]}\n', encoding="utf-8")
    async with opened(FileView(str(gold), [str(one), str(other)], warn=lambda line: None)) as pilot:
        await press(pilot, "r", "j", "space", "enter")
        assert {voice.name: voice.spans for voice in stave(pilot).score.tiers} == {
            "gold": ((2, 6),),
            "one.jsonl": ((2, 6),),
            "other.jsonl": ((11, 18),),
        }
        await press(pilot, "q")


async def test_the_run_can_be_none_and_then_gold_stands_alone(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "r", "j", "enter")
        assert frame(pilot).session.run_shown is None
        assert [voice.role for voice in stave(pilot).score.tiers] == ["gold"]
        await press(pilot, "n")
        assert shown_id(pilot) == sample_records()[0].id


async def test_rows_of_a_run_that_was_chosen_appear_as_they_come(tmp_path: Path) -> None:
    samples = sample_records()
    source = workspace(tmp_path / "w.duckdb", run=False)
    async with opened(source) as pilot:
        assert frame(pilot).session.run_shown is None
        frame(pilot).session.follow()
        await settle(pilot)
        add_run(source.store, source.datasets()[0], samples, done=10)
        frame(pilot).session.follow()
        await settle(pilot)
        assert frame(pilot).session.run_shown is None
        assert any(told.endswith("r shows them beside the texts") for told in notified(pilot))
        session = frame(pilot).session
        session.change(replace(session.state, run=session.overview.runs[0].run))
        await settle(pilot)
        scored = [
            row.values.get("f1") is not None
            for place in range(len(samples))
            if (row := frame(pilot).query_one(SampleList).row(place)) is not None
        ]
        assert scored == [True] * 10 + [False] * (len(samples) - 10)
        assert [voice.role for voice in stave(pilot).score.tiers] == ["gold", "predicted"]
