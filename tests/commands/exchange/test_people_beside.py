"""What a person said of a whole text beside spans comes in with the file and goes out again."""

import json
from pathlib import Path

import pytest

from emotui.store.store import Store
from emotui.workbench.annotate.answers import SpanMark
from emotui.workbench.annotate.desk import Desk
from emotui.workbench.annotate.events import Accept, AddSpan, SetLabels, SetNote
from emotui.workbench.annotate.scheme import Group, Label, Scheme
from emotui.workbench.workspace import Workspace
from tests.conftest import Emotui
from tests.workbench.results_store import EXACT, add_run, workspace

TEXTS = [
    {
        "id": "1",
        "text": "I wept.",
        "spans": [[0, 6, "sad"]],
        "label": "sad",
        "annotators": {
            "ann": {"spans": [[0, 6, "sad"]], "label": "sad", "note": "hard"},
            "ben": {"labels": ["joy", "fear"], "values": {"arousal": 3}},
            "cem": {"skipped": True},
        },
    },
    {"id": "2", "text": "I laughed.", "spans": [], "label": "joy", "annotators": {"ann": [[2, 9, "joy"]]}},
]


def _people(file: Path) -> list[dict[str, dict[str, object]]]:
    """What people say in a file of records, a bare list of spans under its key, spans as lists."""
    found = []
    for line in file.read_text(encoding="utf-8").splitlines():
        people = json.loads(line).get("annotators", {})
        named = {name: {"spans": said} if isinstance(said, list) else said for name, said in people.items()}
        for said in named.values():
            if "spans" in said:
                marks = said["spans"]
                said["spans"] = [list(one.values()) if isinstance(one, dict) else one for one in marks]
            if isinstance(said.get("labels"), list) and len(said["labels"]) == 1:
                said["label"] = said.pop("labels")[0]
        found.append(named)
    return found


@pytest.mark.parametrize("kind", [(), ("spans",), ("labels",), ("class",)], ids=lambda kind: " ".join(kind) or "any")
def test_all_that_annotators_say_is_imported_and_exported_whatever_the_records_are_of(
    emotui: Emotui, tmp_path: Path, kind: tuple[str, ...]
) -> None:
    file, db, back = tmp_path / "in.jsonl", tmp_path / "w.duckdb", tmp_path / "out.jsonl"
    file.write_text("".join(f"{json.dumps(one)}\n" for one in TEXTS), encoding="utf-8")
    assert emotui("import", *kind, file, "--name", "d", "--db", db).status == 0
    assert emotui("export", "d", "--to", back, "--db", db).status == 0
    first, second = _people(back)
    assert first["ann"] == {"spans": [[0, 6, "sad"]], "label": "sad", "note": "hard"}
    assert first["ben"] == {"labels": ["joy", "fear"], "values": {"arousal": 3}}
    assert (first["cem"], second) == ({"skipped": True}, {"ann": {"spans": [[2, 9, "joy"]]}})
    again = tmp_path / "again.jsonl"
    assert emotui("import", *kind, back, "--name", "e", "--db", db).status == 0
    assert emotui("export", "e", "--to", again, "--db", db).status == 0
    assert _people(again) == [first, second]


def test_what_a_person_says_here_of_the_text_beside_spans_is_exported_with_the_note(
    emotui: Emotui, tmp_path: Path
) -> None:
    file, db, back = tmp_path / "in.jsonl", tmp_path / "w.duckdb", tmp_path / "out.jsonl"
    file.write_text('{"id": "1", "text": "I wept.", "spans": []}\n', encoding="utf-8")
    assert emotui("import", "spans", file, "--name", "d", "--db", db).status == 0
    cue = Group(name="cue", labels=(Label(name="sad", key="S"),))
    whole = Group(name="whole", of="text", labels=(Label(name="grief", key="G"),))
    store = Store.open(db)
    work = Desk(store).begin("d", "ann", scheme=Scheme(name="s", spans=True, groups=(cue, whole)))
    span = SpanMark(id="a", start=2, end=6, label="sad")
    work.do(work.order[0], AddSpan(span), SetLabels(("grief",)), SetNote("hard"), Accept(), seconds=1.0)
    work.publish()
    assert emotui("export", "d", "ann", "--to", back, "--db", db).status == 0
    assert _people(back) == [{"ann": {"spans": [[2, 6, "sad"]], "label": "grief", "note": "hard"}}]


def test_beside_a_dataset_a_run_is_exported_by_the_name_of_its_model_where_it_is_the_only_one(
    tmp_path: Path, emotui: Emotui
) -> None:
    opened, dataset = workspace(tmp_path / "w.duckdb")
    add_run(opened, dataset, "mine-1", "m", "retrieve", EXACT)
    opened.close()
    out = tmp_path / "out.jsonl"
    assert emotui("export", "three", "m", "--to", out, "--db", tmp_path / "w.duckdb").status == 0
    assert all("m" in one for one in _people(out))
    opened = Workspace.open(tmp_path / "w.duckdb")
    add_run(opened, dataset, "mine-2", "m", "retrieve", EXACT)
    opened.close()
    refused = emotui("export", "three", "m", "--to", tmp_path / "more.jsonl", "--db", tmp_path / "w.duckdb")
    assert (refused.status, refused.err) == (2, "m may be any of mine-2, mine-1\n")
