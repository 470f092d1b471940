"""Numbers in Results as points: gold against given with the line of equals, and valence and arousal in pairs."""

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from emotui.screens.results.grid import Grid
from emotui.screens.results.place import Results
from emotui.screens.results.plot import beside
from emotui.tables import Plot
from emotui.tasks.masked.lexicon import word_vectors
from emotui.workbench.datasets.sets import dataset_named
from emotui.workbench.runs.elsewhere import import_predictions
from emotui.workbench.workspace import FIRST_START, Workspace
from tests.screens.driving import frame, opened, press, screen_text

GOLD = [(1, 4), (2, 2), (4, 1), (5, 3)]
SAID = [(2, 4), (2, 3), (4, 2), (4, 3)]


@pytest.fixture
def source(tmp_path: Path) -> Workspace:
    for name, said in (("gold", GOLD), ("said", SAID)):
        rows = [
            {"id": str(at), "text": f"text {at}", "values": {"valence": valence, "arousal": arousal}}
            for at, (valence, arousal) in enumerate(said)
        ]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    made = Workspace.open(tmp_path / "w.duckdb")
    made.set_setting(FIRST_START, "done")
    made.import_files([str(tmp_path / "gold.jsonl")], "gold", "values")
    import_predictions(
        made.store, dataset_named(made.store, "gold"), str(tmp_path / "said.jsonl"), "said", warn=lambda line: None
    )
    return made


async def points(pilot: Any, n: int = 1) -> None:
    """Go on to the next table that is drawn as points, so often."""
    looked = frame(pilot).query_one(Results).looked
    for _ in range(n):
        await press(pilot, "n")
        for _ in looked.tables or ():
            if looked.plotted is None:
                await press(pilot, "n")
    assert looked.plotted is not None


@pytest.mark.parametrize("size", [(80, 24), (160, 45)], ids=str)
async def test_gold_against_given_is_drawn_with_its_figures_beside(source: Workspace, size: tuple[int, int]) -> None:
    async with opened(source, size) as pilot:
        await press(pilot, "7", "V", "V")
        await points(pilot)
        said = screen_text(pilot)
        assert "said valence: gold a" in said
        # One point stands on the line of equals, and one more does where both are 2.
        assert said.count("●") - said.count("● a text") in (4, 3)
        assert "··· given = gold" in said
        for name in ("r  ", "CCC", "RMSE"):
            assert name in said
        await points(pilot, 2)
        assert "○ gold" in screen_text(pilot)


async def test_from_points_enter_goes_on_to_the_counts_and_their_texts(source: Workspace) -> None:
    async with opened(source, (80, 24)) as pilot:
        await press(pilot, "7", "V", "V")
        await points(pilot, 2)
        place = frame(pilot).query_one(Results)
        assert not place.query_one(Grid).display
        await press(pilot, "enter")
        assert (place.looked.view, place.looked.table.title) == ("table", "said arousal: gold against given")
        assert place.query_one(Grid).display
        assert not place.query_one("#results-points").display
        await press(pilot, "number_sign")
        assert place.query_one("#results-points").display


async def test_points_are_the_numbers_that_both_sides_give(source: Workspace) -> None:
    async with opened(source, (80, 24)) as pilot:
        await press(pilot, "7")
        tables = frame(pilot).query_one(Results).looked.tables or ()
    plots = [table.plot for table in tables if table.plot is not None]
    assert [plot.points for plot in plots if plot][:2] == [
        ((1, 2), (2, 2), (4, 4), (5, 4)),
        ((4, 4), (2, 3), (1, 2), (3, 3)),
    ]
    paired = plots[2]
    assert paired is not None
    assert set(paired.pairs) == {(*gold, *said) for gold, said in zip(GOLD, SAID, strict=True)}
    # On the scale of arousal, 1 to 4, a step is longer than on that of valence, 1 to 5.
    assert [pair[:2] for pair in paired.pairs] == [(2, 2), (4, 1), (1, 4), (5, 3)]
    assert dict(paired.figures)["gold valence"] == 3


def test_what_is_not_drawn_is_told_beside() -> None:
    plot = Plot("gold", "given", (0, 1), (0, 1), points=((0.0, 0.5), (1.0, 0.5)), figures=(("r", None),), n=9)
    said = ["".join(part.text for part in line) for line in beside(plot)]
    assert said[0] == f"{'r':<15}–"
    assert said[-1] == "2 are drawn"


@pytest.mark.parametrize("size", [(80, 24), (160, 45)], ids=str)
async def test_words_and_models_are_named_points_and_printed_ones_come_when_asked(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    gold = [{"id": str(at), "text": "I am <mask>.", "labels": [word]} for at, word in enumerate(("sad", "sad", "glad"))]
    (tmp_path / "gold.jsonl").write_text("\n".join(map(json.dumps, gold)), encoding="utf-8")
    said = [{"id": one["id"], "labels": ["anxious"]} for one in gold]
    (tmp_path / "said.jsonl").write_text("\n".join(map(json.dumps, said)), encoding="utf-8")
    made = Workspace.open(tmp_path / "w.duckdb")
    made.set_setting(FIRST_START, "done")
    made.import_files([str(tmp_path / "gold.jsonl")], "gold", "masked")
    dataset = dataset_named(made.store, "gold")
    authors = replace(word_vectors(), express=True, key="0123456789abcdef")
    said_by = str(tmp_path / "said.jsonl")
    import_predictions(made.store, dataset, said_by, "Mine-4B", lexicon=authors, warn=lambda line: None)
    async with opened(made, size) as pilot:
        await press(pilot, "5", "7", "V", "V")
        await points(pilot)
        shown = screen_text(pilot)
        assert "a point a word" in shown
        assert "● anxious" in shown
        assert "sad ●" in shown
        await points(pilot)
        assert "GPT-4o" not in screen_text(pilot)
        assert "● Mine-4B" in screen_text(pilot)
        await press(pilot, "P")
        shown = screen_text(pilot)
        assert "GPT-4o † ○" in shown
        assert "○ † as printed" in shown
