"""The Python interface gives what the commands print, as columns and relations."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import emotui as package
from emotui.errors import BadInput, StoreError
from tests.conftest import Emotui
from tests.templates import copy_of

TEXTS = [
    {"id": "1", "text": "I wept all night.", "spans": [[2, 6, "sad"]], "emotion": "sad"},
    {"id": "2", "text": "What a lovely day!", "spans": [[7, 13, "happy"]], "emotion": "happy"},
    {"id": "3", "text": "It's the 4th.", "spans": []},
]
ANSWERS: list[dict[str, Any]] = [
    {"id": "1", "spans": [[2, 6]]},
    {"id": "2", "spans": [[0, 13]]},
    {"id": "3", "spans": [[0, 4]]},
]


@pytest.fixture
def db(emotui: Emotui, tmp_path: Path) -> Path:
    """A store with a dataset and what two files say of it."""
    gold, first, second, db = (tmp_path / name for name in ("g.jsonl", "a.jsonl", "b.jsonl", "w.duckdb"))
    for path, rows in ((gold, TEXTS), (first, ANSWERS), (second, [{**one, "spans": []} for one in ANSWERS])):
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))

    def make(store: Path) -> None:
        assert emotui("import", "spans", gold, "--name", "it's mine", "--db", store).status == 0
        for path in (first, second):
            into = ("--dataset", "it's mine", "--source", path.stem, "--no-sim", "--db", store)
            done = emotui("import", "predictions", path, *into)
            assert done.status == 0, done.err

    copy_of(db, __name__, make)
    return db


def test_datasets_texts_answers_and_runs_are_columns_and_rows(db: Path) -> None:
    with package.open(db) as study:
        assert study.datasets.rows == [{"dataset": "it's mine", "texts": 3, "tasks": ["spans"]}]
        texts = study.texts("it's mine")
        assert texts.columns["id"].tolist() == ["1", "2", "3"]
        assert texts.columns["length"].dtype.kind == "i"
        assert sorted(study.runs.columns["model"]) == ["a", "b"]
        gold = study.answers("it's mine", "gold")
        assert gold.columns["words"].tolist() == ["wept", "lovely"]
        assert np.isnan(gold.columns["value"]).all() or set(gold.columns["value"]) == {None}
        assert gold.relation.aggregate("count(*)").fetchall() == [(2,)]
        with pytest.raises(BadInput, match="it's mine"):
            study.texts("nothing")
        assert len(study.answers("it's mine", "b")) == 0  # who says that there is nothing is a source
        with pytest.raises(BadInput, match=r"it's mine has no source 'c' \(there: a, b, gold\)"):
            study.answers("it's mine", "c")


def test_figures_scores_and_comparisons_are_those_of_the_commands(db: Path, emotui: Emotui) -> None:
    with package.open(db, read_only=True) as study:
        names = dict(zip(study.runs.columns["model"], study.runs.columns["run"], strict=True))
        a, b = names["a"], names["b"]
        scores = study.scores(a)
        assert scores.columns["f1"].tolist() == pytest.approx([1.0, 2 / 3, 0.0])  # "What lovely" of "lovely"
        assert study.figures(a)["f1"] == pytest.approx(scores.columns["f1"].mean())
        printed = emotui("compare", "--runs", a, b, "--metric", "f1", "--db", db, "--json").document
        assert study.compare(a, b, "f1") == printed
        both = study.compare(a, b, "f1", "f1_gold")["figures"]
        assert [one["metric"] for one in both] == ["f1", "f1_gold"]


def test_a_source_may_have_any_name(db: Path, emotui: Emotui) -> None:
    of = ("--dataset", "it's mine", "--source", 'it\'s "theirs"', "--no-sim", "--db", db)
    assert emotui("import", "predictions", db.parent / "a.jsonl", *of).status == 0
    with package.open(db) as study:
        assert len(study.scores('it\'s "theirs"')) == 3


def test_tables_of_results_have_a_column_a_figure_and_the_ends_of_its_interval(db: Path, tmp_path: Path) -> None:
    with package.open(db) as study:
        run = study.runs.columns["run"][0]
        tables = study.results(dataset="it's mine")
        table = next(iter(tables.values()))
        assert {"label", "kind", "source"} < set(table.columns)
        assert len(table) == len(table.rows)
        assert table.title in repr(table)
        with pytest.raises(BadInput, match="there is no table"):
            study.results(run, keys=("nothing",))
        written = study.report(tmp_path / "r.md", run)
        assert (tmp_path / "r.md").read_text().count("|") > 10
        assert written["runs"] == [run]


def test_questions_are_one_select_and_come_whole(db: Path) -> None:
    with package.open(db) as study:
        assert study.sql("select range as n from range(300)").columns["n"].sum() == 300 * 299 // 2
        assert study.sql("select null::double as x, 'a' as y union all select 2, null order by y").rows == [
            {"x": None, "y": "a"},
            {"x": 2.0, "y": None},
        ]
        with pytest.raises(BadInput, match="SELECT"):
            study.sql("drop table texts")
        at = study.sql("select timestamptz '2020-01-01 12:00:00+00' as at")
        assert str(at.columns["at"][0]).startswith("2020-01-01T12:00")
        with pytest.raises(BadInput, match="cast it, as in now"):
            assert at.rows


def test_files_score_as_the_command_does(db: Path, emotui: Emotui) -> None:
    gold, predicted = db.parent / "g.jsonl", db.parent / "a.jsonl"
    printed = emotui("score", "spans", "--gold", gold, "--pred", predicted, "--no-sim", "--json").document
    assert package.score("spans", gold, predicted, no_sim=True) == printed
    more = emotui("score", "spans", "--gold", gold, "--pred", predicted, "--no-sim", "--baselines", "--json").document
    assert package.score("spans", gold, predicted, no_sim=True, baselines=True) == more
    assert "baselines" in more


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"no_simm": True}, "score spans has no option 'no_simm'"),
        ({"missing": "none"}, "missing of score spans is empty or skip, not 'none'"),
        ({"against": "crowd"}, "against of score spans is people, not 'crowd'"),
        ({"labels": ("joy",)}, "score spans reads no columns of labels"),
    ],
)
def test_options_that_no_command_has_are_refused(db: Path, given: dict[str, Any], why: str) -> None:
    with pytest.raises(BadInput, match=why):
        package.score("spans", db.parent / "g.jsonl", db.parent / "a.jsonl", **given)


def test_columns_of_labels_are_read_as_the_command_reads_them(tmp_path: Path, emotui: Emotui) -> None:
    gold, predicted = tmp_path / "g.csv", tmp_path / "p.csv"
    gold.write_text("id,joy,fear,rater\n1,3,0,7\n2,1,2,7\n")
    predicted.write_text("id,joy,fear\n1,0.9,0.1\n2,0.2,0.4\n")
    columns = ("--labels", "joy,fear", "--label-threshold", 2)
    printed = emotui("score", "labels", "--gold", gold, "--pred", predicted, *columns, "--json").document
    assert package.score("labels", gold, predicted, labels=("joy", "fear"), label_threshold=2) == printed


@pytest.mark.parametrize("kind", ["pairs", "annotators"])
def test_kinds_that_are_no_task_are_scored_too(kind: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"g\.json"):
        package.score(kind, tmp_path / "g.json", tmp_path / "p.json")
    with pytest.raises(BadInput, match=f"score {kind} has no option 'baselines'"):
        package.score(kind, tmp_path / "g.json", tmp_path / "p.json", baselines=True)


def test_a_path_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(StoreError):
        package.open(tmp_path / "none.duckdb")
    assert not (tmp_path / "none.duckdb").exists()


def test_the_package_alone_brings_nothing_in() -> None:
    loaded = "import sys, emotui; print(sorted(name for name in sys.modules if name.startswith(('emotui', 'duckdb'))))"
    done = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['emotui']"
    with pytest.raises(AttributeError, match="nothing_such"):
        package.nothing_such  # noqa: B018
