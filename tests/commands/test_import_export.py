"""`emotui import FILE` and `emotui export` in any layout, as a person uses them."""

import json
from pathlib import Path

import msgspec
import pytest

from emotui.formats import read
from emotui.store.store import Store
from emotui.tasks.registry import task_named
from emotui.workbench.datasets.foreign import Wish, read_foreign
from tests.conftest import Emotui
from tests.paths import CHECKOUT

CSV = 'Tweet;Emotion;user\nSo glad you came!;joy;a\n"He said ""no"".";sadness;b\nNothing much;;c\n'
SPANS = (
    '{"id": "a", "text": "I fear and hope", "spans": [[2, 6, "fear"], [11, 15, "joy"]], "meta": {"page": 3}}\n'
    '{"id": "b", "text": "Nothing here", "spans": []}\n'
    '{"id": "c", "text": "Not looked at"}\n'
)


def test_a_dry_run_says_what_it_is_taken_for_and_writes_nothing(emotui: Emotui, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text(CSV)
    done = emotui("import", "mine.csv", "--dry-run", "--db", "w.duckdb")
    assert done.status == 0
    assert "taken for table, because it has cells between semicolons in UTF-8" in done.out
    assert '"text":"So glad you came!","label":"joy","meta":{"user":"a"}' in done.out
    assert "3 samples of labels; nothing was written" in done.out
    assert not (tmp_path / "w.duckdb").exists()
    document = emotui("import", "mine.csv", "--dry-run", "--json").document
    assert document["files"][0]["columns"] == {"label": "Emotion", "text": "Tweet"}
    assert (document["kind"], document["n"], document["dataset"]) == ("labels", 3, None)


def test_a_file_comes_in_by_its_name_alone(emotui: Emotui, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text(CSV)
    done = emotui("import", "mine.csv", "--db", "w.duckdb", "--json").document
    assert (done["dataset"], done["task"], done["n"]) == ("mine", "labels", 3)
    again = emotui("import", "mine.csv", "--db", "w.duckdb")
    assert again.out.endswith("mine: 3 samples\n")


def test_a_mapping_is_kept_and_used_again(emotui: Emotui, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("note,other\nso it was,x y\n")
    emotui("import", "mine.csv", "--map", "text=other,id=note", "--save-map", "mine.toml", "--dry-run")
    kept = emotui("import", "mine.csv", "--map-file", "mine.toml", "--dry-run", "--json").document
    assert kept["first"] == [{"id": "so it was", "text": "x y"}]
    (tmp_path / "mine.toml").write_text("columns = 3")
    assert emotui("import", "mine.csv", "--map-file", "mine.toml").status == 2


def test_bad_rows_are_told_by_their_lines_and_nothing_comes_in(emotui: Emotui, tmp_path: Path) -> None:
    lines = [f"{n},text {n},joy\n" for n in range(30)]
    (tmp_path / "mine.csv").write_text("id,text,label\n" + "".join(lines[:5]) + "x,y\n" * 25)
    done = emotui("import", "mine.csv", "--db", "w.duckdb")
    assert done.status == 2
    assert done.err.splitlines()[0] == "mine.csv:7: has 2 cells where the header has 3"
    assert done.err.splitlines()[-1] == "... and 5 more problems"
    assert not (tmp_path / "w.duckdb").exists()
    taken = emotui("import", "mine.csv", "--db", "w.duckdb", "--skip-bad", "--json")
    assert taken.document["n"] == 5
    assert len(taken.document["skipped"]) == 25


@pytest.mark.parametrize(
    "words", [("import", "bad.jsonl"), ("import", "no.jsonl"), ("run", "spans", "--dataset", "no")]
)
def test_a_command_that_keeps_nothing_leaves_no_new_store(
    emotui: Emotui, tmp_path: Path, words: tuple[str, ...]
) -> None:
    (tmp_path / "bad.jsonl").write_text('{"id": "1", "text"\n')
    assert emotui(*words, "--db", "new.duckdb").status == 2
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith("new")] == []


def test_a_store_that_was_there_stays_though_nothing_is_in_it(emotui: Emotui, tmp_path: Path) -> None:
    Store.open(tmp_path / "w.duckdb")
    assert emotui("import", "no.jsonl", "--db", "w.duckdb").status == 2
    assert (tmp_path / "w.duckdb").exists()


def test_several_files_become_one_dataset_with_ids_of_their_own(emotui: Emotui, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.txt").write_text(f"The first of {name}.\nThe second of {name}.\n")
    done = emotui("import", "one.txt", "two.txt", "--dry-run", "--json").document
    assert done["n"] == 4
    assert [record["id"] for record in done["first"]] == ["one-1", "one-2", "two-1"]
    assert done["kind"] == "spans"


def test_a_kind_may_be_asked_for(emotui: Emotui, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text(CSV)
    spans = emotui("import", "mine.csv", "--as", "spans", "--dry-run", "--json").document
    assert spans["first"][0] == {
        "id": "2",
        "text": "So glad you came!",
        "emotion": "joy",
        "label": "joy",
        "meta": {"user": "a"},
    }
    scenes = emotui("import", "mine.csv", "--as", "scenes", "--dry-run", "--skip-bad", "--json").document
    assert scenes["first"][0]["labels"] == {"joy": 1, "sadness": 0}


def test_what_is_neither_a_file_nor_a_kind_is_told(emotui: Emotui) -> None:
    assert "there is no such file" in emotui("import", "nothing.csv").err
    assert "is neither a file nor a kind of record" in emotui("import", "span", "mine.csv").err


def test_a_dataset_goes_out_in_any_layout_and_comes_back(emotui: Emotui, tmp_path: Path) -> None:
    (tmp_path / "mine.jsonl").write_text(SPANS)
    emotui("import", "mine.jsonl", "--db", "w.duckdb")
    read = emotui("import", "mine.jsonl", "--dry-run", "--json").document["first"]
    for name in ("out.jsonl", "out.json", "out.csv", "out.tsv", "out.xlsx", "out.parquet"):
        done = emotui("export", "mine", "--to", name, "--db", "w.duckdb", "--json").document
        assert (done["n"], done["lost"]) == (3, []), name
        assert emotui("import", name, "--dry-run", "--json").document["first"] == read, name
    long = emotui("export", "mine", "--to", "long.csv", "--format", "long", "--db", "w.duckdb")
    assert long.err == "long.csv: long cannot hold texts of which nothing is said (1: read as texts without spans)\n"
    assert not list(tmp_path.glob(".*.part"))


def test_a_run_stands_beside_gold_with_its_scores_and_marks(emotui: Emotui, tmp_path: Path) -> None:
    (tmp_path / "mine.jsonl").write_text(SPANS)
    emotui("import", "mine.jsonl", "--db", "w.duckdb")
    run = emotui("run", "spans", "--model", "embedded", "--dataset", "mine", "--db", "w.duckdb", "--json").document[
        "run"
    ]
    emotui("export", "mine", run, "--to", "all.jsonl", "--with", "text,gold,scores,marks", "--db", "w.duckdb")
    first = json.loads((tmp_path / "all.jsonl").read_text().splitlines()[0])
    assert first["spans"][0] == {"start": 2, "end": 6, "label": "fear"}
    assert set(first["annotators"]) == {"embedded"}
    assert {"embedded: f1", "embedded: marks", "page"} <= first["meta"].keys()
    alone = emotui("export", run, "--to", "alone.jsonl", "--with", "text", "--db", "w.duckdb")
    assert alone.status == 0
    assert "annotators" not in json.loads((tmp_path / "alone.jsonl").read_text().splitlines()[0])
    assert emotui("export", run, "--to", "predicted.jsonl", "--db", "w.duckdb").status == 0
    wrong = emotui("export", "mine", "--to", "x.csv", "--with", "texts", "--db", "w.duckdb")
    assert (wrong.status, "name some of text, gold, scores, marks" in wrong.err) == (2, True)
    nobody = emotui("export", "nobody", "--to", "x.csv", "--with", "text", "--db", "w.duckdb")
    assert (nobody.status, "there is no dataset, run or annotator 'nobody'" in nobody.err) == (2, True)


def test_what_several_raters_say_of_labels_is_kept_and_is_no_gold(emotui: Emotui, tmp_path: Path) -> None:
    (tmp_path / "raters.csv").write_text(
        'id,text,rater,labels\n1,That hurt,ann,"sadness,anger"\n1,That hurt,bob,sadness\n2,Thanks,ann,joy\n'
    )
    first = emotui("import", "raters.csv", "--db", "w.duckdb", "--json").document["first"]
    assert first == [
        {"id": "1", "text": "That hurt", "annotators": {"ann": ["sadness", "anger"], "bob": ["sadness"]}},
        {"id": "2", "text": "Thanks", "annotators": {"ann": ["joy"]}},
    ]
    said = emotui("sql", "SELECT source, label FROM said ORDER BY ALL", "--db", "w.duckdb", "--json").document["rows"]
    assert [tuple(row.values()) if isinstance(row, dict) else tuple(row) for row in said] == [
        ("ann", "anger"),
        ("ann", "joy"),
        ("ann", "sadness"),
        ("bob", "sadness"),
    ]
    emotui("export", "raters", "--to", "back.parquet", "--db", "w.duckdb")
    assert emotui("import", "back.parquet", "--dry-run", "--json").document["first"] == first
    (tmp_path / "own.jsonl").write_text('{"id": "1", "text": "x", "annotators": {"ann": ["joy", "joy"]}}\n')
    wrong = emotui("import", "labels", "own.jsonl", "--db", "w.duckdb")
    assert wrong.err == "own.jsonl:1: annotator 'ann': `labels`: 'joy' stands twice\n"


def test_standard_input_is_json_lines(emotui: Emotui) -> None:
    done = emotui("import", "-", "--dry-run", "--json", stdin='{"tweet": "so glad", "emotion": "joy"}\n').document
    assert (done["files"][0]["file"], done["first"][0]["label"]) == ("-", "joy")
    wrong = emotui("import", "-", "--dry-run", stdin='{"tweet": "so glad"}\n[3]\n')
    assert wrong.err == "-:2: a record must be an object in braces, not [3]\n"


def test_a_table_without_a_column_of_texts_says_how_to_name_it(emotui: Emotui, tmp_path: Path) -> None:
    (tmp_path / "numbers.csv").write_text("a,b\n1,2\n3,4\n")
    done = emotui("import", "numbers.csv")
    assert done.err == "numbers.csv: no column was found for the texts: name it by --map text=COLUMN\n"


@pytest.mark.parametrize(
    ("file", "kind"),
    [("spans_passages", "spans"), ("spans_sentences", "spans"), ("scenes", "scenes"), ("masked", "masked")],
)
def test_a_file_of_ones_own_records_is_read_as_they_are(file: str, kind: str) -> None:
    task = task_named(kind)
    path = str(CHECKOUT / "sample_data" / f"{file}.jsonl")
    own = read(path, task.sample).records
    found = read_foreign([path], Wish(kind=kind)).samples
    # What such records have no field for is kept here, and passed over there.
    assert [msgspec.structs.replace(one, meta={}) for one in found] == own


def test_a_span_given_twice_is_kept_once_and_told_and_relations_go_along(tmp_path: Path) -> None:
    row = {
        "id": "1",
        "text": "I won today",
        "spans": [[2, 5, "joy"], {"start": 2, "end": 5, "label": "joy"}, [2, 5, "fear"], [6, 11, "joy"]],
        "relations": [{"from": 1, "to": 3, "label": "cause"}],
        "annotators": {"A1": [[0, 1], [0, 1]], "A2": [[0, 1]]},
    }
    (tmp_path / "t.jsonl").write_text(json.dumps(row), encoding="utf-8")
    found = read_foreign([str(tmp_path / "t.jsonl")], Wish())
    (sample,) = found.samples
    assert [(mark.start, mark.end, mark.label) for mark in sample.spans] == [
        (2, 5, "joy"),
        (2, 5, "fear"),
        (6, 11, "joy"),
    ]
    assert {name: len(marks) for name, marks in sample.annotators.items()} == {"A1": 1, "A2": 1}
    assert "2 spans given twice with the same label: kept once" in found.notes
    ties = [(mark.start, mark.attributes.get("relations")) for mark in sample.spans if "relations" in mark.attributes]
    assert [start for start, _ in ties] == [2]
