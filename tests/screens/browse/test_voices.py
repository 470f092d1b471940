"""Everything that is said of a text at once: spans over it, and a row a source for labels and numbers under it."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from textual.widgets import OptionList

from emotui.metrics.metric import Metric
from emotui.screens.browse.said import SaidPane
from emotui.screens.browse.voices import VoicesPane, lines_of, table, telling
from emotui.screens.widgets.cell_width import width
from emotui.screens.widgets.line import Line, Part
from emotui.screens.widgets.page import Page
from emotui.screens.widgets.tiered_text import TieredText
from emotui.workbench.answers import Told, Voice
from emotui.workbench.workspace import Workspace
from tests.conftest import Emotui
from tests.sample_data.mixed_corpus import mixed_workspace
from tests.screens.driving import frame, listed, opened, press, screen_text

JOY = Voice("gold", "gold", told=(Told("label", "joy"),), values={"suddenness": 4.0, "effort": 1.0})
F1 = Metric("f1", (0, 1), True, "of labels", "F1")


@pytest.fixture
def source(emotui: Emotui, tmp_path: Path) -> Workspace:
    return mixed_workspace(emotui, tmp_path)


def _written(line: list[Part]) -> str:
    return "".join(part.text for part in line)


async def test_under_a_text_with_spans_stands_what_gold_people_and_runs_of_other_tasks_say(source: Workspace) -> None:
    async with opened(source) as pilot:
        shown = screen_text(pilot)
        assert "said of the whole text" in shown
        beside = [line.rpartition("│")[2] for line in shown.splitlines()]
        told = beside[next(at for at, line in enumerate(beside) if "said of the whole text" in line) :]
        rows = {line.split()[0]: line for line in told if line.split()}
        assert rows["gold"].split()[1:] == ["joy", "4", "1"]
        assert rows["ann"].split()[1:] == ["fear", "5", "–"]
        assert rows["plain"].split()[1:] == ["fear", "X", "F1", ".00", "MX"]
        assert rows["numbers"].split()[1:4] == ["none", "3.5", "-1"]


async def test_a_run_of_another_task_has_its_own_figure_and_errors_in_the_list(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "r")
        choices = frame(pilot).app.screen.query_one(OptionList)
        prompts = [str(choices.get_option_at_index(at).prompt) for at in range(choices.option_count)]
        assert [next(task for task in ("labels", "values", "spans") if task in one) for one in prompts[:3]] == [
            "labels",
            "values",
            "spans",
        ]
        await press(pilot, "escape")
        session = frame(pilot).session
        (labels,) = [run for run in session.overview.runs if run.task == "labels"]
        session.change(replace(session.state, run=labels.run))
        await press(pilot, "g")
        pane = frame(pilot).pane
        assert pane.metric is not None
        rows = [row for at in range(3) if (row := pane.rows.row(at)) is not None]
        assert (pane.metric.title, [row.marks for row in rows]) == ("F1", ["MX", "", ""])
        assert [row.values.get("f1") for row in rows] == [0.0, 1.0, None]
        said = frame(pilot).query_one(SaidPane)
        assert said.display
        voices = said.query_one(VoicesPane)
        assert voices.display
        assert "said of the whole text" in voices.query_one(Line).text
        assert voices.query_one(Page).text.splitlines()[1].split()[:3] == ["ann", "fear", "5"]
        # Gold's spans stand in the text, those of the others in rows under it.
        score = frame(pilot).query_one("#said-text", TieredText).score
        assert [(tier.name, tier.spans, tier.inline) for tier in score.tiers] == [
            ("gold", ((2, 14),), True),
            ("ann", ((6, 14),), False),
            ("marks", ((0, 5),), False),
        ]
        await press(pilot, "n")
        assert listed(pilot)[frame(pilot).pane.rows.cursor] == "1"


async def test_the_list_opens_with_a_run_of_what_its_texts_came_for(source: Workspace) -> None:
    async with opened(source) as pilot:
        shown = frame(pilot).session.run_shown
        assert shown is not None
        assert (shown.task, [run.task for run in frame(pilot).session.runs_told]) == (
            "spans",
            ["spans", "labels", "values"],
        )


def test_numbers_of_all_sources_stand_under_their_name_and_words_beside_them() -> None:
    numbers = Voice("Qwen", "model", told=(), values={"effort": 2.25}, figure=(F1, 0.5), marks="D")
    heading, gold, qwen = map(_written, table([(JOY, "gold"), (numbers, "Qwen")], 60))
    assert gold.index("1", gold.index("4") + 1) == heading.index("effort") + len("effort") - 1
    assert qwen.split() == ["Qwen", "none", "–", "2.25", "F1", ".50", "D"]


def test_numbers_that_have_no_room_are_counted_and_so_are_sources() -> None:
    many = Voice("gold", "gold", told=None, values={f"appraisal {at}": float(at) for at in range(10)})
    (heading, _) = map(_written, table([(many, "gold")], 40))
    assert heading.rstrip().endswith(f"+{10 - heading.count('app')}")
    heading, *rows = table([(JOY, f"p{at}") for at in range(9)], 60, lines_of([(JOY, "p")] * 9, 12))
    assert _written(heading).startswith("said of it, 3 of 9")
    assert len(rows) == 3


def test_where_nobody_says_anything_of_the_whole_text_nothing_stands_there() -> None:
    assert telling([Voice("gold", "gold", spans=())], {}) == ()
    failed = Voice("Qwen", "model", task="labels", run="7", error="out of memory")
    assert telling([JOY, failed], {"7": "Qwen labels"}) == ((JOY, "gold"), (failed, "Qwen labels"))
    assert "failed: out" in _written(table([(JOY, "gold"), (failed, "Qwen labels")], 100)[2])


@given(
    st.lists(
        st.tuples(
            st.text(min_size=1, max_size=30),
            st.lists(st.text(min_size=1, max_size=12), max_size=4),
            st.dictionaries(st.text(min_size=1, max_size=12), st.floats(-1e6, 1e6), max_size=12),
        ),
        min_size=1,
        max_size=5,
    ),
    st.integers(40, 160),
)
def test_no_row_is_wider_than_the_place(sources: list[tuple[str, list[str], dict[str, float]]], cells: int) -> None:
    told = [
        (Voice(name, "model", tuple(Told(one, "yes", 0.5) for one in labels), values, figure=(F1, 0.5)), name)
        for name, labels, values in sources
    ]
    assert all(width(_written(line)) <= cells for line in table(told, cells))
