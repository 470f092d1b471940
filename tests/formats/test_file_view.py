"""Browsing files: the same list, order and evidence as in a store, and nothing imported."""

import json
import threading
from pathlib import Path

import pytest

from emotui.backends.base import ModelCard
from emotui.errors import BadInput
from emotui.store.query import Bounds, ListQuery
from emotui.store.store import Store
from emotui.workbench.datasets.whole_records import import_files
from emotui.workbench.files.view import FileView
from emotui.workbench.source import BrowseSource
from emotui.workbench.workspace import Workspace
from tests.paths import CHECKOUT
from tests.waiting import LONGEST

GOLD = [
    {"id": "p", "text": "I cried. The bus came. I laughed!", "spans": [[0, 7], [23, 32]], "sentences": [
        {"start": 0, "end": 8, "emotion": "sad", "valence": "negative"},
        {"start": 9, "end": 22, "emotion": "neutral", "valence": "neutral"},
        {"start": 23, "end": 33, "emotion": "happy", "valence": "positive"},
    ]},
    {"id": "a", "text": "It made my skin crawl.", "spans": [[8, 21]], "emotion": "disgust", "valence": "negative"},
    {"id": "c", "text": "Fine.", "spans": [], "emotion": "happy", "valence": "positive"},
]  # fmt: skip
PREDICTED = [
    {"id": "p", "spans": ["I cried", "bus came", "I felt lost"]},
    {"id": "a", "spans": ["my skin crawl"]},
    {"id": "c", "output": "**Fine!**", "style": "highlight"},
]


def _quiet(line: str) -> None:
    raise AssertionError(line)


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    paths = []
    for name, records in (("gold.jsonl", GOLD), ("model.jsonl", PREDICTED)):
        (tmp_path / name).write_text("".join(json.dumps(record) + "\n" for record in records))
        paths.append(str(tmp_path / name))
    return paths[0], paths[1]


@pytest.fixture
def view(files: tuple[str, str]) -> FileView:
    return FileView(files[0], [files[1]], warn=_quiet)


def _ids(view: FileView, **query: object) -> list[str]:
    numbers = view.order(ListQuery(dataset=1, run="model.jsonl", **query))  # type: ignore[arg-type]
    return [row.id for row in view.page(numbers, "model.jsonl")]


def test_the_list_has_scores_and_marks_of_the_run(view: FileView) -> None:
    rows = {row.id: row for row in view.page(view.order(ListQuery(dataset=1)), "model.jsonl")}
    assert rows["a"].values["f1"] == 1
    assert rows["p"].values["f1"] == pytest.approx(
        (1 + 2 * 1 / (2 + 3)) / 3
    )  # "I laughed" meets "I felt lost" in one word
    assert set(rows["p"].marks) == {"H", "N", "X"}
    assert "!" in rows["c"].marks


def test_filters_and_sorting(view: FileView) -> None:
    assert _ids(view) == ["p", "a", "c"]
    assert _ids(view, emotions=("happy",)) == ["p", "c"]
    assert _ids(view, valences=("neutral",)) == ["p"]
    assert _ids(view, text="SKIN") == ["a"]
    assert _ids(view, marks="H") == ["p"]
    assert _ids(view, marks="!H") == ["p", "c"]
    assert _ids(view, bounds=(Bounds("f1", low=0.9),)) == ["a"]
    assert _ids(view, bounds=(Bounds("f1", high=0.5),)) == ["p", "c"]
    assert _ids(view, sort="id") == ["a", "c", "p"]
    assert _ids(view, sort="length") == ["c", "a", "p"]
    assert _ids(view, sort="f1", descending=True)[0] == "a"


def test_what_has_no_value_stands_last_both_ways(files: tuple[str, str], tmp_path: Path) -> None:
    only = tmp_path / "only.jsonl"
    only.write_text('{"id": "a", "spans": ["my skin crawl"]}\n')
    view = FileView(files[0], [str(only)], warn=_quiet)
    for descending in (False, True):
        query = ListQuery(dataset=1, run=None, sort="f1", descending=descending)
        assert [row.values.get("f1") for row in view.page(view.order(query), None)] == [None, None, None]
    query = ListQuery(dataset=1, sort="emotion", descending=True)
    # What is felt in its parts is shown; of its own it has none.
    assert view.page(view.order(query), None)[-1].id == "p"


def test_evidence_has_the_raw_output_and_sim_from_the_real_model(
    view: FileView, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked, load = threading.Event(), view._embedded.load

    def load_later() -> ModelCard:
        looked.wait()
        return load()

    monkeypatch.setattr(view._embedded, "load", load_later)
    try:
        at_once = view.evidence(0, "model.jsonl").repeats[0].detail
        assert at_once is not None
        assert at_once.sim is None
        before = view.marker()
        looked.set()
        assert view._loading is not None
        view._loading.join(timeout=LONGEST)
        assert view.marker() != before
        seen = view.evidence(0, "model.jsonl")
        assert seen.sample.id == "p"
        (repeat,) = seen.repeats
        assert repeat.detail is not None
        assert repeat.detail.hallucinated == (2,)
        assert repeat.detail.sim is not None
        assert 0 < repeat.detail.sim < 1
        assert view.evidence(2, "model.jsonl").repeats[0].raw == "**Fine!**"
        assert view.evidence(1, None).repeats == ()
    finally:
        view.close()


def test_the_summary_is_the_report_of_score_spans(view: FileView) -> None:
    summary = view.summary("model.jsonl")
    assert summary["n"] == 3
    assert summary["invalid_outputs"] == 1


def test_a_prediction_about_no_sample_is_bad_input_unless_skipped(files: tuple[str, str], tmp_path: Path) -> None:
    stray = tmp_path / "stray.jsonl"
    stray.write_text('{"id": "a", "spans": []}\n{"id": "nobody", "spans": []}\n')
    with pytest.raises(BadInput, match=r"stray.jsonl:2: no gold sample has the id 'nobody'"):
        FileView(files[0], [str(stray)], warn=_quiet)
    told: list[str] = []
    FileView(files[0], [str(stray)], skip_bad=True, warn=told.append)
    assert len(told) == 1


def test_files_and_store_give_the_same_order(tmp_path: Path) -> None:
    path = str(CHECKOUT / "sample_data" / "spans_passages.jsonl")
    store = Store.open(tmp_path / "w.duckdb")
    dataset = import_files(store, "spans", [path], warn=_quiet)
    workspace, view = Workspace(store), FileView(path, warn=_quiet)
    assert set(workspace.emotions(dataset.dataset)) == set(view.emotions(1))
    for query in (
        {"sort": "id", "descending": True},
        {"sort": "length"},
        {"emotions": ("sad", "fear")},
        {"valences": ("neutral",)},
        {"text": "the "},
        {"sort": "length", "descending": True, "text": "my"},
    ):
        ours = view.page(view.order(ListQuery(dataset=1, **query)), None)  # type: ignore[arg-type]
        theirs = workspace.page(workspace.order(ListQuery(dataset=dataset.dataset, **query)), None)  # type: ignore[arg-type]
        assert [row.id for row in ours] == [row.id for row in theirs], query
    workspace.close()


def test_files_are_browsed_without_what_only_a_workspace_has(files: tuple[str, str], tmp_path: Path) -> None:
    view: BrowseSource = FileView(files[0], warn=_quiet)
    workspace: BrowseSource = Workspace(Store.open(tmp_path / "w.duckdb"))
    for source, there in ((view, False), (workspace, True)):
        services = (source.models, source.scenes, source.rephrasing, source.results, source.spot_checks, source.ask_sql)
        assert [service is not None for service in (*services, source.annotating)] == [there] * 7
        source.close()
