"""Metrics that another package adds by the entry point `emotui.metrics`."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from emotui.metrics.metric import Metric
from emotui.store.query import Bounds, ListQuery
from emotui.tasks import added_metrics as added
from emotui.tasks.registry import task_named
from emotui.workbench.files.score import score_files
from emotui.workbench.runs.run import rescore
from emotui.workbench.runs.scores import metrics
from tests.workbench.results_store import add_run, workspace

MODULE = '''
class Length:
    """How many characters were marked; undefined where nothing was."""
    task = "spans"
    range = (0, None)
    higher_is_better = False
    help = "characters of the predicted spans"
    heading = "chars"

    def value(self, sample, prediction):
        return sum(map(len, prediction.spans)) if prediction.spans else None

class Odd:
    tasks = ("spans", "scenes")
    range, higher_is_better, help = (0, 1), True, "fails where nothing was marked"

    def value(self, sample, prediction):
        return 1 / len(prediction.spans)

class Shapeless:
    task = "spans"
'''
POINTS = """[emotui.metrics]
marked = tiny_metrics:Length
odd = tiny_metrics:Odd
shapeless = tiny_metrics:Shapeless
gone = tiny_metrics:Nowhere
f1 = tiny_metrics:Length
file = tiny_metrics:Length
"""


@pytest.fixture
def _installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    folder = tmp_path / "site"
    (folder / "tiny_metrics-1.0.dist-info").mkdir(parents=True)
    (folder / "tiny_metrics.py").write_text(MODULE)
    (folder / "tiny_metrics-1.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: tiny-metrics\nVersion: 1.0\n"
    )
    (folder / "tiny_metrics-1.0.dist-info" / "entry_points.txt").write_text(POINTS)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setattr(added, "_troubles", {})
    added._all.cache_clear()
    yield
    added._all.cache_clear()


@pytest.mark.usefixtures("_installed")
def test_an_added_metric_is_loaded_with_what_it_says_of_itself() -> None:
    found = added.added_metrics(task_named("spans"))
    assert [one.metric for one in found] == [
        Metric("marked", (0, None), False, "characters of the predicted spans", "chars"),
        Metric("odd", (0, 1), True, "fails where nothing was marked"),
    ]
    assert [one.metric.name for one in added.added_metrics(task_named("scenes"))] == ["odd"]
    assert added.added_metrics(task_named("masked")) == ()


@pytest.mark.usefixtures("_installed")
def test_a_broken_one_costs_a_line_and_the_others_stay() -> None:
    added.added_metrics(task_named("spans"))
    lines = added.metric_troubles()
    assert [line.split(" is left out: ")[0] for line in sorted(lines)] == [
        f"the metric {name!r} of tiny-metrics" for name in ("file", "gone", "shapeless")
    ]
    assert not any("\n" in line for line in lines)


@pytest.mark.usefixtures("_installed")
def test_it_is_computed_when_a_run_is_scored_and_stands_in_list_figures_and_results(tmp_path: Path) -> None:
    opened, dataset = workspace(tmp_path / "w.duckdb")
    add_run(opened, dataset, "r1", "m", "retrieve", {"s1": [["joy", "happy"]], "s2": [[]]})
    assert [metric.name for metric in opened.metrics(dataset.dataset)] == ["f1", "sim", "precision", "recall"]
    rescore(opened.store, "r1", sim=False)
    assert [metric.name for metric in opened.metrics(dataset.dataset)][4:] == ["marked", "odd"]
    order = opened.order(ListQuery(dataset.dataset, "r1", sort="marked", bounds=(Bounds("marked", 5),)))
    (row,) = opened.page(order.tolist(), "r1")
    assert (row.id, row.values["marked"], row.values["odd"]) == ("s1", 8.0, 0.5)
    figures = metrics(opened.store, opened.store.runs.get("r1"))
    assert (figures["marked"], figures["odd"]) == (8.0, 0.5)
    assert [line for line in added.metric_troubles() if "'odd'" in line] == [
        "the metric 'odd' has no value for s2: division by zero"
    ]
    (table,) = [one for one in opened.results().tables("three", sim=False) if one.key == "metrics-task-1"]
    assert [column.title for column in table.columns] == ["Setting", "chars", "odd"]
    assert [cell.value for cell in table.rows[0].cells][1:] == [8.0, 0.5]
    assert opened.results().bars("three", figure="marked").title.endswith("chars by emotion")


@pytest.mark.usefixtures("_installed")
def test_files_are_scored_by_it_too_and_it_is_null_where_no_sample_has_a_value(tmp_path: Path) -> None:
    gold, said = tmp_path / "gold.jsonl", tmp_path / "said.jsonl"
    gold.write_text('{"id": "a", "text": "I was happy.", "spans": [[6, 11]]}\n')
    said.write_text('{"id": "a", "output": "happy | I was", "style": "retrieve"}\n')
    options = {"no_sim": True}
    assert score_files("spans", str(gold), str(said), options, warn=print)["marked"] == 10.0
    said.write_text('{"id": "a", "spans": []}\n')
    found = score_files("spans", str(gold), str(said), options, warn=print)
    assert found["marked"] is None
    assert found["notes"]["marked"]


def test_what_a_store_keeps_of_a_metric_that_is_not_installed_is_still_listed(tmp_path: Path) -> None:
    from emotui.store.rows import ScoreRow
    from tests.store.store_samples import result

    opened, dataset = workspace(tmp_path / "w.duckdb")
    opened.store.runs.start("r1", "r", "spans", "m", dataset.dataset, {"seed": 0}, 1)
    opened.store.results.commit("r1", [result(1, scored=ScoreRow("words", {"f1": 0.5, "elsewhere": 3.0}, "", b"{}"))])
    assert [metric.name for metric in opened.metrics(dataset.dataset)][4:] == ["elsewhere"]
