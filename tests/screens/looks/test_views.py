"""Views: the same strip at the right end of its line in every place, the open one marked, and never many of them."""

from collections.abc import Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from emotui.screens.places import PLACES
from emotui.screens.widgets.line import Line, Part, tabs, taken
from emotui.workbench.source import BrowseSource
from tests.screens import rephrase_workspace, results_workspace, scenes_workspace
from tests.screens.driving import frame, opened, press, settle
from tests.screens.generate import workspace as generate_workspace
from tests.screens.masked.workspace import masked_workspace

MOST, MOST_IN_RESULTS = 6, 7

MADE: "dict[int, Callable[[Path], BrowseSource]]" = {
    1: lambda folder: results_workspace.several_runs(folder / "w.duckdb"),
    2: lambda folder: results_workspace.several_runs(folder / "w.duckdb"),
    3: rephrase_workspace.scripted,
    4: lambda folder: scenes_workspace.workspace(folder / "w.duckdb"),
    5: masked_workspace,
    6: lambda folder: generate_workspace.workspace(folder / "w.duckdb"),
    7: lambda folder: results_workspace.several_runs(folder / "w.duckdb"),
    8: rephrase_workspace.scripted,
}
"""By the number of a place, a workspace in which it has something to show."""

SEVERAL = {3, 4, 6, 7, 8}
"""Places with more than one view."""


def strips(pilot: "Pilot[None]") -> list[list[Part]]:
    """The names of views on lines of the open place, as they are drawn."""
    found = []
    for line in frame(pilot).place.query(Line):
        named = [part for part in line._right if part.press.startswith("tell('view'")]
        assert not any(part.press.startswith("tell('view'") for part in line._left), "views stand at the right"
        if named and line.display and line.region:
            assert line._right[0].press == "do('view')", "before them is the key that turns them"
            found.append(named)
    return found


def test_a_workspace_is_made_for_every_place() -> None:
    assert set(MADE) == set(PLACES)


@pytest.mark.parametrize("number", MADE)
async def test_the_strip_of_views_is_the_same_everywhere_and_no_place_has_many(number: int, tmp_path: Path) -> None:
    async with opened(MADE[number](tmp_path), (160, 45)) as pilot:
        await press(pilot, str(number), *(["escape"] if number == 8 else []))
        await settle(pilot, work=True)
        seen = set()
        for _ in range(MOST_IN_RESULTS + 1):
            drawn = strips(pilot)
            assert len(drawn) == (number in SEVERAL)
            for named in drawn:
                assert 1 < len(named) <= (MOST_IN_RESULTS if number == 7 else MOST)
                (here,) = [part.text for part in named if part.kind == "here"]
                assert here.startswith("[")
                seen.add(here)
            await press(pilot, "v")
        assert len(seen) == (len(strips(pilot)[0]) if number in SEVERAL else 0), "v goes through all of them"


def test_where_views_do_not_fit_the_open_one_stands_with_its_number() -> None:
    whole = tabs("v", ("one", "two", "three"), "two")
    assert "".join(part.text for part in whole) == "v  one [two] three  "
    assert tabs("v", ("one", "two", "three"), "two", taken(whole)) == whole
    short = tabs("v", ("one", "two", "three"), "two", taken(whole) - 1)
    assert "".join(part.text for part in short) == "v [two] view 2 of 3 "
