"""Any number of values a score, by the names of their metrics; and stores in which every score had `f1` and `sim`."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest

from emotui.store import schema
from emotui.store.query import Bounds, ListQuery
from emotui.store.rows import ScoreRow
from emotui.store.store import Store
from tests.store.store_samples import result, samples

VERSION_3 = Path(__file__).with_name("store_version_3.sql")

DIES_BEFORE_THE_COMMIT = """
import os, signal, sys
from emotui.store import schema
from emotui.store.store import Store
migrate = schema.migrate
def migrate_and_die(connection, version):
    migrate(connection, version)
    os.kill(os.getpid(), signal.SIGKILL)
schema.migrate = migrate_and_die
Store.open(sys.argv[1])
"""


def make_old(file: Path) -> None:
    with duckdb.connect(file) as connection:
        connection.execute(VERSION_3.read_text())


def asked(path: Path, question: str) -> list[Any]:
    with duckdb.connect(path, read_only=True) as connection:
        return list(connection.execute(question).fetchall())


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("old") / "old.duckdb"
    make_old(path)
    return path


@pytest.fixture(scope="module")
def before(path: Path) -> list[Any]:
    return asked(path, "select score, run, f1, sim, current, marks, convention, detail from scores order by score")


@pytest.fixture(scope="module")
def old(path: Path, before: list[Any]) -> Store:
    return Store.open(path)


def test_every_old_figure_is_there_under_the_name_of_the_metric_that_its_task_meant(
    old: Store, before: list[Any]
) -> None:
    names = {1: ("f1", "sim"), 2: ("vector_f1",), 3: ("f1_v",), 4: ("accuracy",)}
    assert len(before) == 100_000
    wanted = [
        (score, name, value)
        for score, run, f1, sim, *_ in before
        for name, value in zip(names[run], (f1, sim), strict=False)
    ]
    assert asked(old.path, "select score, name, value from score_values order by score, name") == wanted


def test_what_else_an_old_score_holds_is_as_it_was(old: Store, before: list[Any]) -> None:
    after = asked(old.path, "select score, run, current, marks, convention, detail from scores order by score")
    assert after == [(score, run, *rest) for score, run, _, _, *rest in before]


def test_an_old_run_is_listed_by_its_metrics(old: Store) -> None:
    (row,) = old.list_rows.page([1], "spans-run")
    assert (row.values, row.marks) == ({"f1": 0.001, "sim": 0.01}, "H")
    assert old.list_rows.page([40_001], "scenes-run")[0].values == {"vector_f1": 0.001}
    assert old.list_rows.page([7], "spans-run")[0].values == {}
    best = old.listing.order(
        ListQuery(3, run="masked-run", sort="f1_v", descending=True, bounds=(Bounds("f1_v", 0.999),))
    )
    assert [number % 1000 for number in best.tolist()] == [999] * len(best)
    assert len(best) == sum(i % 1000 == 999 and i % 7 != 0 and i % 11 != 0 for i in range(60_001, 80_001))


def test_an_old_run_is_read_and_scored_on(old: Store) -> None:
    (kept,) = old.results.of_run("rephrase-run", [80_001])
    assert kept.score == ScoreRow("rule of run 4", {"accuracy": 0.001}, "H", b'{"id":"s80001","f1":0.5}')
    values = {"accuracy": 1.0, "confidence": None}
    old.results.commit("rephrase-run", [result(80_001, scored=ScoreRow("new", values, "", b"{}"))])
    assert old.list_rows.page([80_001, 80_002], "rephrase-run")[0].values == values
    assert old.listing.order(ListQuery(4, run="rephrase-run", sort="confidence")).tolist() == list(
        range(80_001, 100_001)
    )


def test_a_step_to_named_metrics_that_is_killed_leaves_the_old_store_whole(tmp_path: Path) -> None:
    file = tmp_path / "old.duckdb"
    make_old(file)
    died = subprocess.run([sys.executable, "-c", DIES_BEFORE_THE_COMMIT, str(file)], check=False)
    assert died.returncode == -9
    assert asked(file, "select version from workspace") == [(3,)]
    assert asked(file, "select count(*), count(f1), count(sim) from scores") == [(100_000, 90_910, 32_000)]
    Store.open(file)
    assert asked(file, "select version from workspace") == [(schema.VERSION,)]
    assert asked(file, "select count(value) from score_values where name = 'sim'") == [(32_000,)]


def test_scores_of_one_run_may_have_different_metrics(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "new.duckdb")
    store.datasets.add("new", "spans", samples(4), "new", "n")
    store.runs.start("run", "r", "spans", "model", 1, {}, 4)
    kinds: list[dict[str, float | None]] = [{"f1": 0.5, "b": 7.5}, {"b": None, "f1": 0.25}, {}, {"b": -3.0}]
    rows = [result(number, scored=ScoreRow("words", kind, "", b"{}")) for number, kind in enumerate(kinds, 1)]
    store.results.commit("run", rows)
    assert [row.score and row.score.values for row in store.results.of_run("run")] == kinds
    assert [row.values for row in store.list_rows.page([1, 2, 3, 4], "run")] == kinds
    assert store.listing.order(ListQuery(1, run="run", sort="b")).tolist() == [4, 1, 2, 3]
    assert store.listing.order(ListQuery(1, run="run", sort="f1", descending=True)).tolist() == [1, 2, 3, 4]
    assert store.listing.order(ListQuery(1, run="run", bounds=(Bounds("b", high=0), Bounds("b", low=-5)))).tolist() == [
        4
    ]


def test_a_score_may_have_many_metrics(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "new.duckdb")
    store.datasets.add("new", "spans", samples(3), "new", "n")
    store.runs.start("run", "r", "spans", "model", 1, {}, 3)
    kinds: list[dict[str, float | None]] = [
        {f"m{place}": float(place + number) for place in range(13)} | {"last": [2.0, None, 1.0][number]}
        for number in range(3)
    ]
    rows = [result(number, scored=ScoreRow("words", kind, "", b"{}")) for number, kind in enumerate(kinds, 1)]
    store.results.commit("run", rows)
    assert [row.score and row.score.values for row in store.results.of_run("run")] == kinds
    assert [row.values for row in store.list_rows.page([1, 2, 3], "run")] == kinds
    assert store.listing.order(ListQuery(1, run="run", sort="last")).tolist() == [3, 1, 2]
    assert store.listing.order(ListQuery(1, run="run", bounds=(Bounds("m12", 13, 13),))).tolist() == [2]
    said = asked(store.path, "select name, value from score_values where score = 1")
    assert dict(said) == kinds[0]


def test_repeats_are_averaged_over_those_that_have_a_value(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "new.duckdb")
    store.datasets.add("new", "spans", samples(1), "new", "n")
    store.runs.start("run", "r", "spans", "model", 1, {}, 3)
    kinds: list[dict[str, float | None]] = [{"f1": 0.5, "b": None}, {"f1": 1.0}, {"f1": None}]
    store.results.commit(
        "run", [result(1, repeat, 0, ScoreRow("w", kind, "", b"{}")) for repeat, kind in enumerate(kinds)]
    )
    assert store.list_rows.page([1], "run")[0].values == {"f1": 0.75, "b": None}
    assert store.listing.order(ListQuery(1, run="run", bounds=(Bounds("f1", 0.75, 0.75),))).tolist() == [1]
