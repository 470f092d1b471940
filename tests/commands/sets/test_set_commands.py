"""`emotui datasets`, `rename`, `delete`, `restore`, `replace-gold`, `sql` and `snapshot`."""

import json
from pathlib import Path

import msgspec
import pytest

from emotui.records import SpanSample
from emotui.store.rows import ResultRow, SampleRow
from emotui.store.store import Store
from emotui.tasks.spans.task import Spans
from emotui.workbench.runs.scores import metrics
from tests.conftest import Emotui
from tests.store.store_samples import score
from tests.templates import copy_of

RECORDS = [
    {"id": "1", "text": "I am glad\x1b[31m today", "spans": [[5, 9]], "emotion": "happy"},
    {"id": "2", "text": "He left", "spans": []},
]


@pytest.fixture
def db(tmp_path: Path, emotui: Emotui) -> Path:
    (tmp_path / "mine.jsonl").write_text("\n".join(map(json.dumps, RECORDS)))

    def make(template: Path) -> None:
        assert emotui("import", "spans", "mine.jsonl", "--db", template).status == 0
        store = Store.open(template)
        store.runs.start("first", "identity", "spans", "embedded", 1, {}, 2)
        answers = ['[{"start":5,"end":9,"label":"happy","strength":0.5}]', "[]"]
        store.results.commit(
            "first", [ResultRow(n, 0, 0, None, raw, None, 0.1, b"{}", score(0.5)) for n, raw in enumerate(answers, 1)]
        )
        store.runs.set_state("first", "done")

    copy_of(tmp_path / "w.duckdb", __name__, make)
    return tmp_path / "w.duckdb"


def test_datasets_are_listed_with_their_gold_and_sources(db: Path, emotui: Emotui) -> None:
    (found,) = emotui("datasets", "--db", db, "--json").document
    assert (found["dataset"], found["task"], found["n"], found["gold"]) == ("mine", "spans", 2, 1)
    assert "mine.jsonl" in emotui("datasets", "--db", db).out
    assert emotui("datasets", "--db", db, "--trash").out == "The trash is empty.\n"


def test_control_characters_in_names_are_shown_and_not_acted_on(db: Path, emotui: Emotui) -> None:
    assert emotui("rename", "mine", "a\x1b[31mb[red]", "--db", db).out == "dataset mine is now a\\x1b[31mb[red]\n"
    assert "a\\x1b[31mb[red]" in emotui("datasets", "--db", db).out
    found = emotui("sql", "select dataset, text from texts", "--db", db).out
    assert "\x1b" not in found
    assert "glad\\x1b[31m today" in found


def test_control_characters_in_names_are_escaped_in_what_is_refused_too(db: Path, emotui: Emotui) -> None:
    assert emotui("rename", "mine", "a\x1b[31mb", "--db", db).status == 0
    refused = emotui("make-gold", "a\x1b[31mb", "nobody", "--db", db)
    assert (refused.status, refused.err.startswith("a\\x1b[31mb has no source 'nobody'")) == (2, True)
    assert "a\\x1b[31mb" in emotui("sources", "a\x1b[31mb", "--db", db).out + emotui("datasets", "--db", db).out


def test_a_dataset_and_a_run_go_into_the_trash_and_come_back(db: Path, emotui: Emotui) -> None:
    assert emotui("delete", "first", "--db", db, "--json").document == {"run": "first"}
    assert emotui("runs", "--db", db, "--json").document == []
    thrown = emotui("datasets", "--trash", "--db", db, "--json").document
    assert ([run["run"] for run in thrown["runs"]], thrown["datasets"]) == (["first"], [])
    assert emotui("restore", "first", "--db", db).out == "run first is back\n"
    assert emotui("delete", "mine", "--db", db).out == "dataset mine is in the trash: emotui restore mine\n"
    assert emotui("datasets", "--db", db).out.startswith("No datasets yet")
    assert "mine" in emotui("datasets", "--trash", "--db", db).out
    assert emotui("restore", "mine", "--db", db, "--json").document == {"dataset": "mine"}
    assert len(emotui("runs", "--db", db, "--json").document) == 1
    for command in ("delete", "restore"):
        refused = emotui(command, "nothing", "--db", db)
        assert (refused.status, refused.err.count("\n")) == (2, 1)


def test_gold_is_replaced_the_answers_stay_and_are_scored_anew(db: Path, emotui: Emotui, tmp_path: Path) -> None:
    new = [{**RECORDS[1], "spans": [[3, 7]]}, RECORDS[0]]
    (tmp_path / "new.jsonl").write_text("\n".join(map(json.dumps, new)))
    done = emotui("replace-gold", "mine", "new.jsonl", "--no-sim", "--db", db, "--json").document
    assert (done["gold"], done["rescored"], done["n"]) == (2, ["first"], 2)
    values = emotui(
        "sql",
        "select v.id, gold_version, value from score_values v join scores using (score) where name = 'f1' order by 1",
        "--db",
        db,
        "--json",
    ).document
    assert [(row[0], row[1], row[2]) for row in values["rows"]] == [("1", 2, 1.0), ("2", 2, 0.0)]
    (tmp_path / "bad.jsonl").write_text(json.dumps(RECORDS[0] | {"text": "Other words, to be sure"}))
    refused = emotui("replace-gold", "mine", "bad.jsonl", "--db", db)
    assert refused.status == 2
    assert refused.err.splitlines() == [
        "mine: samples without a new record: 1 (2)",
        "mine: records with another text than it has under their id: 1 (1)",
    ]


def test_figures_of_scores_under_a_former_gold_say_so(db: Path, emotui: Emotui, tmp_path: Path) -> None:
    store = Store.open(db)
    store.results.replace_scores("first", [])
    assert emotui("rescore", "first", "--no-sim", "--db", db).status == 0
    dataset = store.datasets.all()[0]
    store.gold.replace(dataset, _rows(RECORDS[0] | {"spans": []}, RECORDS[1]), "new", "new")
    (run,) = emotui("runs", "--db", db, "--json").document
    assert run["gold_version"] == 1
    assert "emotui rescore first" in str(store_figures(db)["notes"])
    assert store_figures(db)["f1"] == 1.0
    assert emotui("rescore", "first", "--no-sim", "--db", db).status == 0
    assert store_figures(db)["f1"] == 0.5
    assert "emotui rescore" not in str(store_figures(db)["notes"])


def store_figures(db: Path) -> dict[str, object]:
    store = Store.open(db)
    return metrics(store, store.runs.get("first"))


def _rows(*records: dict[str, object]) -> list[SampleRow]:
    return [Spans().row(msgspec.convert(record, SpanSample)) for record in records]


def test_a_question_is_answered_on_the_terminal_as_json_and_in_files(db: Path, emotui: Emotui, tmp_path: Path) -> None:
    question = "select id, length, null as nothing, 1.5::decimal(3, 1) as d, [1, null] as l from texts order by id"
    found = emotui("sql", question, "--db", db, "--json").document
    assert found["columns"] == ["id", "length", "nothing", "d", "l"]
    assert found["rows"][1] == ["2", 7, None, "1.5", [1, None]]
    assert (found["n"], found["more"]) == (2, False)
    assert emotui("sql", question, "--db", db).out.splitlines()[2].split() == ["2", "7", "–", "1.5", "[1,null]"]
    assert emotui("sql", question, "--db", db, "--to", "a.csv", "--json").document == {"to": "a.csv", "n": 2}
    assert (tmp_path / "a.csv").read_text().startswith("id,length")
    few = emotui("sql", "from range(300)", "--db", db)
    assert few.err == "the first 200 rows; all of them: --to FILE.csv\n"
    wide = emotui("sql", "select *, text as again, text as more, text as last from texts limit 1", "--db", db).out
    assert wide.startswith("row 1\n")
    refused = emotui("sql", "drop table x", "--db", db)
    assert (refused.status, refused.err.count("\n")) == (2, 1)


def test_a_snapshot_is_made_from_the_command_line(db: Path, emotui: Emotui) -> None:
    made = emotui("snapshot", "--to", "copy.duckdb", "--db", db, "--json").document
    assert (made["to"], made["bytes"] > 0) == ("copy.duckdb", True)
    assert emotui("snapshot", "--to", "copy.duckdb", "--db", db).status == 2
    assert emotui("datasets", "--db", "copy.duckdb", "--read-only", "--json").document[0]["dataset"] == "mine"


def test_gold_is_replaced_from_a_table_of_ones_own_too(emotui: Emotui, tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text("Tweet;Feeling\nso glad;joy\nhe left;sad\n")
    assert emotui("import", "own.csv", "--as", "labels", "--db", "o.duckdb").status == 0
    (tmp_path / "better.csv").write_text("Tweet;Feeling\nso glad;joy\nhe left;fear\n")
    assert emotui("replace-gold", "own", "better.csv", "--db", "o.duckdb", "--json").document["gold"] == 2
    gold = emotui("sql", "select label from gold order by id", "--db", "o.duckdb", "--json").document
    assert gold["rows"] == [["joy"], ["fear"]]
    (tmp_path / "broken.jsonl").write_text("{")
    refused = emotui("replace-gold", "own", "broken.jsonl", "--db", "o.duckdb")
    assert (refused.status, refused.err.startswith("broken.jsonl:1: ")) == (2, True)
