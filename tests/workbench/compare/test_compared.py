"""`emotui compare --runs`: two sources of one dataset, paired by the sample."""

from pathlib import Path

import pytest

from emotui.errors import BadInput
from emotui.metrics.paired import paired_report
from emotui.records import Mark, SpanSample
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.datasets.sources import take_person
from emotui.workbench.runs.compared import compare_runs
from tests.conftest import Emotui
from tests.workbench.results_store import ERRING, EXACT, add_run, workspace


def test_runs_and_people_are_compared_over_the_samples_of_their_dataset(tmp_path: Path, emotui: Emotui) -> None:
    opened, dataset = workspace(tmp_path / "w.duckdb")
    add_run(opened, dataset, "r1", "right", "retrieve", EXACT)
    add_run(opened, dataset, "r2", "wrong", "retrieve", ERRING)
    store = opened.store
    rows = {name: store.list_rows.page(list(store.samples.file_order(dataset.dataset)), name) for name in ("r1", "r2")}
    scores = {name: {row.id: row.values["f1"] for row in found} for name, found in rows.items()}
    found = compare_runs(store, "r1", "r2", seed=3)
    assert (found["dataset"], found["metric"], found["runs"]) == ("three", "f1", ["r1", "r2"])
    by_hand = paired_report(
        {key: value for key, value in scores["r1"].items() if value is not None},
        {key: value for key, value in scores["r2"].items() if value is not None},
        seed=3,
    )
    assert found.items() >= by_hand.items()
    assert found["mean_difference"] > 0
    assert compare_runs(store, "r2", "r1", seed=3)["mean_difference"] == pytest.approx(-found["mean_difference"])
    take_person(store, "three", "bob", sim=False)
    beside = compare_runs(store, "r1", "bob", inner=True)
    assert 0 < beside["n"] <= found["n"]
    printed = emotui("compare", "--runs", "r1", "wrong", "--db", store.path, "--json").document
    assert printed["runs"] == ["r1", "r2"]
    opened.close()


def test_what_cannot_be_compared_is_one_line(tmp_path: Path, emotui: Emotui) -> None:
    opened, dataset = workspace(tmp_path / "w.duckdb")
    add_run(opened, dataset, "r1", "right", "retrieve", EXACT)
    add_run(opened, dataset, "r2", "part", "retrieve", EXACT, n=2)
    other = add_samples(opened.store, "spans", "other", [SpanSample(id="a", text="t", spans=())], "x")
    add_run(opened, other, "o1", "right", "retrieve", {"a": [[]]})
    people = {"ann": (Mark(0, 1),), "bea": ()}
    add_samples(opened.store, "spans", "bare", [SpanSample(id="a", text="t", annotators=people)], "x")
    add_run(opened, dataset, "r3", "far", "retrieve", EXACT)
    add_run(opened, other, "o2", "far", "retrieve", {"a": [[]]})
    add_run(opened, dataset, "r4", "right", "retrieve", EXACT)
    add_run(opened, dataset, "r5", "wrong", "retrieve", EXACT)
    for names, why in (
        (("r1", "nobody"), "no run or source 'nobody'"),
        (("ann", "bea"), "without gold, emotui agreement compares people"),
        (("r1", "o1"), "over two datasets"),
        (("right", "nobody"), "no run or source 'right'"),
        (("right", "far"), "both are sources of three, other: --dataset names one"),
        (("wrong", "right"), "'right' may be any of r4, r1"),
        (("r1", "r2", "joyfulness"), "no metric 'joyfulness' here; there are: f1, "),
    ):
        with pytest.raises(BadInput, match=why):
            compare_runs(opened.store, *names)
    assert compare_runs(opened.store, "far", "wrong", of="three")["runs"] == ["r3", "r5"]
    assert compare_runs(opened.store, "right", "far", of="other")["runs"] == ["o1", "o2"]
    opened.close()
    for words, why in (
        ((), "compare needs --a and --b, two files of scores, or --runs A B\n"),
        (("--a", "x", "--runs", "r1", "r2"), "--a, --b and --skip-bad are for files of scores"),
        (
            ("--a", "x", "--b", "y", "--metric", "f1"),
            "--metric, --metrics, --by, --dataset, --db and --read-only are for --runs",
        ),
    ):
        done = emotui("compare", *words)
        assert (done.status, done.out) == (2, "")
        assert why in done.err
