"""`emotui notes`: what a person writes, codes, renames, takes back, counts, and moves through files."""

import json
from pathlib import Path

from tests.conftest import Emotui

TEXTS = "".join(json.dumps({"id": name, "text": f"text {name}", "spans": []}) + "\n" for name in "abc")


def test_notes_are_written_coded_and_moved_through_a_file(emotui: Emotui, tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text(TEXTS)

    def asked(*words: str) -> object:
        done = emotui("notes", *words, "--db", "w.duckdb", "--json")
        assert (done.status, done.err) == (0, "")
        return done.document

    assert emotui("import", "t.jsonl", "--name", "t", "--db", "w.duckdb").status == 0
    asked("add", "t", "a", "why", "--codes", "irony, short", "--annotator", "ada")
    assert asked("add", "t", "a", "--codes", "Irony", "--annotator", "ada") == (
        {"dataset": "t", "id": "a", "annotator": "ada", "note": "why", "codes": ["irony"]}
    )
    asked("add", "t", "b", "--codes", "irony", "--annotator", "ben")
    assert asked("codes", "t") == {
        "dataset": "t",
        "codes": [{"code": "irony", "samples": 2, "annotators": ["ada", "ben"], "example": ""}],
    }
    assert asked("rename", "t", "irony", "sarcasm", "--annotator", "ada") == (
        {"dataset": "t", "old": "irony", "new": "sarcasm", "merged": False}
    )
    assert emotui("notes", "export", "t", "--to", "notes.csv", "--db", "w.duckdb").status == 0
    asked("remove", "t", "a", "--annotator", "ada")
    asked("undo", "t", "--annotator", "ada")
    assert asked("import", "t", "notes.csv") == {"dataset": "t", "notes": 2, "new": 0}
    printed = emotui("notes", "list", "t", "--code", "sarcasm", "--db", "w.duckdb", "--json").document
    assert [(one["id"], one["annotator"]) for one in printed["notes"]] == [("a", "ada"), ("b", "ben")]
    assert emotui("notes", "saturation", "t", "--db", "w.duckdb", "--json").document["notes"]["share"]


def test_a_note_on_no_sample_is_refused_and_nothing_changes(emotui: Emotui, tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text(TEXTS)
    (tmp_path / "bad.jsonl").write_text('{"id": "a", "note": "x"}\n{"id": "z", "note": "x"}\n')
    assert emotui("import", "t.jsonl", "--name", "t", "--db", "w.duckdb").status == 0
    refused = emotui("notes", "import", "t", "bad.jsonl", "--db", "w.duckdb")
    assert (refused.status, refused.err) == (2, "bad.jsonl:2: t has no sample 'z'\n")
    assert emotui("notes", "list", "t", "--db", "w.duckdb", "--json").document["notes"] == []
    assert emotui("notes", "add", "t", "z", "x", "--db", "w.duckdb").status == 2
    assert emotui("notes", "add", "t", "a", "--db", "w.duckdb").status == 2
    assert emotui("notes", "undo", "t", "--annotator", "new", "--db", "w.duckdb").status == 2
