"""`emotui run`, `runs`, `rescore`, `export`: what is done is kept, and finished later to the same result."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from emotui.store.store import Store
from tests.conftest import Emotui
from tests.paths import CHECKOUT
from tests.waiting import LONGEST, wait_until

SLICE = 80
"""Sentences of a run that is interrupted, 16 at a time: it still goes on when its first rows are seen."""


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "w.duckdb"


def _start(db: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "emotui", "run", "spans", "--db", str(db), "--json", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=db.parent,
        env=os.environ | {"PYTHONPATH": str(CHECKOUT)},
    )


def _wait_for_rows(db: Path) -> tuple[Store, str]:
    """The store and the id of a run, once that has some rows. The other process goes on writing meanwhile."""
    wait_until(db.exists, lambda: "no store came")
    store = Store.open(db)
    found: list[str] = []

    def come() -> bool:
        found.extend(run.run for run in store.runs.all()[:1] if run.done)
        return bool(found)

    wait_until(come, lambda: "no row came")
    return store, found[0]


def _spans(store: Store, run: str) -> dict[int, bytes | None]:
    return {row.sample: row.prediction for row in store.results.of_run(run)}


def test_a_run_prints_one_document_with_the_figures_of_score_spans(emotui: Emotui, db: Path) -> None:
    got = emotui("run", "spans", "--db", db, "--limit", 12, "--json").document
    assert {"run", "task", "model", "n", "done", "failed", "seconds", "metrics"} <= set(got)
    assert (got["task"], got["model"], got["n"], got["done"], got["failed"]) == ("spans", "embedded", 12, 12, 0)
    assert 0 < got["metrics"]["f1"] <= 1
    assert 0 < got["metrics"]["sim"] <= 1
    assert "was fitted on these samples" in got["metrics"]["notes"]["run"]


def test_stored_figures_equal_those_of_the_exported_file(emotui: Emotui, db: Path, tmp_path: Path) -> None:
    n = 8
    got = emotui("run", "spans", "--db", db, "--limit", n, "--json").document
    assert got["done"] == got["n"] == n
    predicted = tmp_path / "predicted.jsonl"
    assert emotui("export", got["run"], "--to", predicted, "--db", db).status == 0
    gold = tmp_path / "gold.jsonl"
    parts = ("spans_passages.jsonl", "spans_sentences.jsonl")
    lines = [line for part in parts for line in (CHECKOUT / "sample_data" / part).open(encoding="utf-8")]
    gold.write_text("".join(lines[:n]), encoding="utf-8")
    again = emotui("score", "spans", "--gold", gold, "--pred", predicted, "--json").document
    for figure in ("n", "f1", "sim", "hallucination_rate", "fixation_rate", "neutral_sentence_fpr"):
        assert again[figure] == pytest.approx(got["metrics"][figure], abs=1e-6), figure


def test_the_same_run_is_not_computed_twice_unless_fresh(emotui: Emotui, db: Path) -> None:
    first = emotui("run", "spans", "--db", db, "--limit", 3, "--json").document
    second = emotui("run", "spans", "--db", db, "--limit", 3, "--json").document
    assert second["run"] == first["run"]
    assert second["metrics"] == first["metrics"]
    third = emotui("run", "spans", "--db", db, "--limit", 3, "--fresh", "--json").document
    assert third["run"] != first["run"]
    assert third["metrics"] == first["metrics"]


def test_a_run_can_be_read_while_it_is_written_and_however_it_is_cut_short_ends_with_the_same_result(
    emotui: Emotui, db: Path
) -> None:
    lines = (CHECKOUT / "sample_data" / "spans_sentences.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (db.parent / "sentences.jsonl").write_text("".join(lines[:SLICE]), encoding="utf-8")
    process = _start(db, "--dataset", "sentences.jsonl")
    store, run = _wait_for_rows(db)
    seen = [store.runs.get(run).done]
    assert "is going on in process" in emotui("run", "spans", "--db", db, "--resume", run).err or process.poll() == 0

    def grows() -> bool:
        seen.append(store.runs.get(run).done)
        return seen[-1] > seen[0] or process.poll() is not None

    wait_until(grows)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=LONGEST)
    seen.append(store.runs.get(run).done)
    assert seen == sorted(seen)
    assert len(set(seen)) > 1
    if process.returncode == 0:
        pytest.skip("the run was quicker than the signal")
    assert process.returncode == 1, err
    stopped = json.loads(out)
    assert stopped["run"] == run
    assert f"--resume {run}" in err

    process = _start(db, "--resume", run)
    wait_until(lambda: store.runs.get(run).done > seen[-1] or process.poll() is not None)
    process.kill()
    process.communicate()
    kept = _spans(store, run)
    assert len(kept) > seen[-1]
    (listed,) = emotui("runs", "--db", db, "--json").document
    assert listed["state"] in ("stopped", "done")

    finished = emotui("run", "spans", "--db", db, "--resume", run, "--json").document
    assert finished["done"] == finished["n"]
    whole = emotui("run", "spans", "--db", db, "--dataset", "sentences", "--fresh", "--json").document
    assert whole["run"] != run
    assert _spans(store, run) == _spans(store, whole["run"])
    assert {sample: spans for sample, spans in _spans(store, run).items() if sample in kept} == kept


def test_rescoring_needs_no_model_and_gives_the_same_figures(emotui: Emotui, db: Path) -> None:
    first = emotui("run", "spans", "--db", db, "--limit", 5, "--json").document
    again = emotui("rescore", first["run"], "--no-sim", "--db", db, "--json").document
    assert again["metrics"]["f1"] == pytest.approx(first["metrics"]["f1"])
    assert again["metrics"]["sim"] is None
    assert emotui("rescore", first["run"], "--db", db, "--json").document["metrics"] == first["metrics"]


def test_repeats_give_means_and_standard_deviations(emotui: Emotui, db: Path) -> None:
    got = emotui("run", "spans", "--db", db, "--limit", 2, "--repeats", 3, "--json").document
    assert (got["n"], got["done"]) == (6, 6)
    assert got["metrics"]["sd"]["f1"] == 0


def test_a_file_can_be_run_as_a_dataset(emotui: Emotui, db: Path, tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text('{"id": 1, "text": "I cried all night.", "spans": [[0, 17]], "emotion": "sad"}\n')
    got = emotui("run", "spans", "--db", db, "--dataset", file, "--json").document
    assert (got["n"], got["done"]) == (1, 1)
    again = emotui("run", "spans", "--db", db, "--dataset", "mine", "--json").document
    assert again["run"] == got["run"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--dataset", "nowhere.jsonl"), "no such file, and no dataset of this name"),
        (("--model", "magic:x"), "is not a model"),
        (("--resume", "ffff"), "ffff"),
        (("--limit", "0"), "0 is not in the range"),
    ],
)
def test_bad_usage_is_told_in_words_and_ends_with_2(
    emotui: Emotui, db: Path, arguments: tuple[str, ...], words: str
) -> None:
    done = emotui("run", "spans", "--db", db, "--json", *arguments)
    assert done.status == 2
    assert words in done.err
    assert done.out == ""


def test_runs_of_an_empty_store_say_how_to_make_one(emotui: Emotui, db: Path) -> None:
    Store.open(db)
    assert "emotui run spans" in emotui("runs", "--db", db).out
    assert emotui("runs", "--db", db, "--json").document == []


def test_runs_of_a_store_that_is_not_there_are_none_and_no_store_is_made(emotui: Emotui, db: Path) -> None:
    said = emotui("runs", "--db", db, "--json")
    assert (said.status, said.document) == (0, [])
    assert said.err == f"{db} does not exist yet\n"
    assert not db.exists()


@pytest.mark.parametrize(
    "command",
    [
        ("export", "a-run", "--to", "x.jsonl"),
        ("rescore", "a-run"),
        ("results",),
        ("report", "a-run", "--to", "x.md"),
        ("rephrasings", "agreement", "--dataset", "d"),
    ],
    ids=lambda command: command[0],
)
def test_what_needs_a_store_makes_none_where_the_path_is_mistyped(
    emotui: Emotui, db: Path, command: tuple[str, ...]
) -> None:
    said = emotui(*command, "--db", db)
    assert (said.status, said.err) == (2, f"{db} does not exist: check its path\n")
    assert list(db.parent.glob("w.duckdb*")) == []


def test_import_is_all_or_nothing_and_says_which_lines_are_wrong(emotui: Emotui, db: Path, tmp_path: Path) -> None:
    file = tmp_path / "mixed.jsonl"
    file.write_text(
        '{"id": "a", "text": "fine day", "spans": [[0, 4]]}\n{"id": "b", "text": "short", "spans": [[2, 99]]}\n'
    )
    refused = emotui("import", "spans", file, "--db", db)
    assert refused.status == 2
    assert f"{file}:2: " in refused.err
    assert Store.open(db).datasets.all() == []
    taken = emotui("import", "spans", file, "--db", db, "--skip-bad", "--json")
    assert taken.document["n"] == 1
    assert f"skipped {file}:2: " in taken.err


def test_a_name_that_belongs_to_other_samples_is_refused(emotui: Emotui, db: Path, tmp_path: Path) -> None:
    for number, folder in enumerate(("one", "two")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.jsonl").write_text(f'{{"id": "{number}", "text": "a b", "spans": []}}\n')
    assert emotui("import", "spans", tmp_path / "one" / "x.jsonl", "--db", db).status == 0
    refused = emotui("import", "spans", tmp_path / "two" / "x.jsonl", "--db", db)
    assert refused.status == 2
    assert "--name" in refused.err
