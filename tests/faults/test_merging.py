"""Shards that overlap, and stores that somebody made to do harm: one run, each answer once, or a line and nothing."""

import os
import random
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import duckdb
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emotui.errors import BadInput
from emotui.store.store import Store
from emotui.workbench.shards.merge import Merged, merge
from tests.conftest import Emotui
from tests.effort import times, tried
from tests.paths import CHECKOUT
from tests.templates import copy_of, of_tests
from tests.waiting import wait_until
from tests.workbench.results_store import ERRING, EXACT, Answers, add_run, workspace

pytestmark = pytest.mark.faults

IDS = ("s1", "s2", "p1")
"""The texts of `results_store`, in their order."""


def shard(folder: Path, name: str, answers: Answers, ids: Sequence[str], repeats: int = 1) -> Store:
    """A store with a run over these texts that says that it is this shard (`1/2`) of one over all three."""
    path = folder / f"{name.replace('/', '-')}.duckdb"
    opened, dataset = workspace(path)
    run = add_run(opened, dataset, f"part {path.stem}", "m", "retrieve", {key: answers[key] for key in ids})
    config = {"seed": 0, "repeats": repeats, "way": "retrieve", "shard": name, "whole": len(IDS)}
    with opened.store._turns.writing() as connection:
        connection.execute(
            "update runs set identity = repeat('0f', 32), config = ?", [msgspec.json.encode(config).decode()]
        )
    assert opened.store.runs.get(run).state == "done"
    return opened.store


def said(store: Store, merged: Merged) -> dict[str, list[str]]:
    ids = {number: key for key, number in store.samples.numbers_by_id(merged.run.dataset).items()}
    found: dict[str, list[str]] = {}
    for row in store.results.of_run(merged.run.run):
        found.setdefault(ids[row.sample], []).append(row.raw or "")
    return found


def words(answers: Answers, ids: Sequence[str] = IDS) -> dict[str, list[str]]:
    return {key: [" | ".join(spans) for spans in answers[key]] for key in ids}


def test_shards_of_two_cuts_that_overlap_are_one_run_with_each_answer_once(tmp_path: Path) -> None:
    # Of three texts 1/2 is the first, 2/2 the others, 3/3 the last, and 2/3 the second.
    target = Store.open(tmp_path / "all.duckdb")
    first = merge(target, [shard(tmp_path, "2/2", EXACT, IDS[1:])])[-1]
    assert (first.run.state, first.run.done) == ("stopped", 2)
    more = [shard(tmp_path, "1/3", EXACT, IDS[:1]), shard(tmp_path, "3/3", EXACT, IDS[2:])]
    whole = merge(target, more)[-1]
    assert (whole.run.run, whole.run.state, whole.run.done, whole.run.n) == (first.run.run, "done", 3, 3)
    assert said(target, whole) == words(EXACT)
    assert merge(target, [shard(tmp_path, "2/3", EXACT, IDS[1:2])])[-1].there
    assert said(target, whole) == words(EXACT)


def test_a_shard_in_two_stores_and_one_that_answers_for_others_are_refused_before_anything_is_kept(
    tmp_path: Path,
) -> None:
    target = Store.open(tmp_path / "all.duckdb")
    good = shard(tmp_path, "1/2", EXACT, IDS[:1])
    (tmp_path / "more").mkdir()
    with pytest.raises(BadInput, match=r"shard 1/2 of run .* is in .* too: leave one out"):
        merge(target, [good, shard(tmp_path / "more", "1/2", ERRING, IDS[:1])])
    with pytest.raises(BadInput, match=r"it has answers about texts that are not in its shard 2/2"):
        merge(target, [good, shard(tmp_path, "2/2", EXACT, IDS)])
    assert (target.runs.all(), target.datasets.all()) == ([], [])


def test_a_run_without_the_answers_that_it_says_it_has_is_refused(tmp_path: Path) -> None:
    target = Store.open(tmp_path / "all.duckdb")
    lost = shard(tmp_path, "1/2", EXACT, IDS[:1])
    with lost._turns.writing() as connection:
        connection.execute("update runs set number = 999")
    with pytest.raises(BadInput, match="it counts 1 as answered and holds 0"):
        merge(target, [lost])
    assert (target.runs.all(), target.datasets.all()) == ([], [])


def merging(folder: Path, room: int | None = None) -> "subprocess.Popen[str]":
    """`emotui merge` of both shards; `room`: bytes up to which it may write a file, as on a full disk."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (room or 0, room or 0))

    return subprocess.Popen(
        [sys.executable, "-m", "emotui", "merge", "1-2.duckdb", "2-2.duckdb", "--db", "all.duckdb"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(CHECKOUT), "XDG_DATA_HOME": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=None if room is None else limit,
    )


def check_merged(folder: Path) -> None:
    """Merged again, it is the whole run, once."""
    again = merging(folder)
    _, problem = again.communicate()
    assert (again.returncode, problem) == (0, "")
    store = Store.open(folder / "all.duckdb")
    (run,) = store.runs.all()
    assert (run.state, run.done, run.n) == ("done", 3, 3)
    assert said(store, Merged(run)) == words(EXACT)


@pytest.mark.parametrize("room", [2**9, 2**11, 2**13])
def test_a_merge_that_finds_no_room_is_a_line_and_is_done_again_once_there_is(tmp_path: Path, room: int) -> None:
    shard(tmp_path, "1/2", EXACT, IDS[:1])
    shard(tmp_path, "2/2", EXACT, IDS[1:])
    Store.open(tmp_path / "all.duckdb")
    full = merging(tmp_path, room)
    _, problem = full.communicate()
    assert (full.returncode, problem.count("\n")) == (1, 1), problem
    assert "the disk is full" in problem
    check_merged(tmp_path)


def test_a_merge_that_is_killed_at_any_moment_is_done_again(tmp_path: Path) -> None:
    shard(tmp_path, "1/2", EXACT, IDS[:1])
    shard(tmp_path, "2/2", EXACT, IDS[1:])
    for _ in range(times(1, 12)):
        (tmp_path / "all.duckdb").unlink(missing_ok=True)
        struck = merging(tmp_path)
        # It is struck when it has begun to write: sooner there is nothing to lose.
        wait_until(lambda struck=struck: struck.poll() is not None or bool([*tmp_path.glob("all.duckdb*")]))  # type: ignore[misc]
        time.sleep(random.random() * 0.5)  # the moment of the kill is drawn; nothing is waited for
        struck.kill()
        struck.communicate()
        tried("kills")
        check_merged(tmp_path)


VALUES: Mapping[str, Sequence[object]] = {
    "VARCHAR": [
        *("", "x" * 5000, "\x1b]52;c;ZXZpbA==\x07", "../../x", "--help", "a\nb", "\u202e", "-", "null", "[]", "{}"),
        *("[" * 9000, '"a"', '{"spans": 1}', '{"seed": "x"}', '{"repeats": 99999999999}', "running", "done", "3/2"),
    ],
    "BIGINT": [-1, 0, 1, 7, 2**40, 2**63 - 1],
    "INTEGER": [-1, 0, 1, 7, 2**31 - 1],
    "DOUBLE": [float("nan"), float("inf"), -1.0, 1e308],
    "BOOLEAN": [True, False],
    "DOUBLE[]": [[], [float("nan")] * 4],
}
"""By the type of a column what is put into it."""

TABLES = ("datasets", "samples", "runs", "outputs", "predictions", "scores", "metric_sets", "gold_versions")


def _template(path: Path) -> None:
    opened, dataset = workspace(path)
    add_run(opened, dataset, "theirs", "m", "retrieve", EXACT)
    with opened.store._turns.writing() as connection:
        connection.execute(
            'update runs set identity = repeat(\'0f\', 32), config = \'{"seed": 0, "repeats": 1, "way": "retrieve"}\''
        )


def damage(path: Path, chance: random.Random) -> list[str]:
    """Put what no run writes into some cells; what was put where."""
    done: list[str] = []
    with duckdb.connect(path) as connection:
        while not done or chance.random() < 0.3:
            table = chance.choice(TABLES)
            columns = connection.execute(f"describe {table}").fetchall()
            name, kind = chance.choice([(row[0], row[1]) for row in columns if row[1] in VALUES])
            value = chance.choice([*VALUES[kind], None])
            rows = chance.choice(["true", "rowid = 0", "rowid = 1"])
            try:
                connection.execute(f"update {table} set {name} = ? where {rows}", [value])
            except duckdb.Error:  # the column may not be so
                continue
            done.append(f"{table}.{name} = {str(value)[:40]!r} where {rows}")
    return done


@pytest.mark.fuzz
@given(seed=st.integers(0, 2**32))
@settings(max_examples=times(8, 400), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_stands_in_a_store_is_merged_or_refused_in_lines_and_shown(
    emotui: Emotui, tmp_path: Path, seed: int
) -> None:
    theirs, ours = tmp_path / "theirs.duckdb", tmp_path / "ours.duckdb"
    for path in (theirs, ours):
        path.unlink(missing_ok=True)
        path.with_name(path.name + ".wal").unlink(missing_ok=True)
    copy_of(theirs, "a run that is merged", _template)
    of_tests.discard(theirs.absolute())
    put = damage(theirs, random.Random(seed))
    tried("hostile calls")
    done = emotui("merge", theirs, "--db", ours)
    assert done.status in (0, 1, 2), put
    assert done.status == 0 or 1 <= len(done.err.splitlines()) <= 21, (put, done.err)
    assert "\x1b" not in done.out + done.err, put
    store = Store.open(ours)
    if done.status:
        assert store.runs.all() == [], put
    for words in (
        ("runs",),
        ("results", "--no-sim"),
        ("datasets",),
        *(("export", run.run) for run in store.runs.all()),
    ):
        shown = emotui(*words, *(("--to", "out.jsonl", "--force") if words[0] == "export" else ()), "--db", ours)
        # A run whose answers are no run's any more was merged without one, and has nothing to show or write.
        empty = words[0] in ("results", "export") and re.fullmatch(
            "(there is no run|run .* has no results) yet.*\n", shown.err
        )
        assert shown.status == 0 or empty, (put, shown.err)
