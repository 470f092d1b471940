"""`emotui import FILE --into DATASET` and `emotui datasets join`: more about texts that are there."""

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from emotui.records import ClassGold
from emotui.store.by_name import ByName
from emotui.store.gold import GoldTable
from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.workbench.drafts import Draft, DraftBook, Field
from emotui.workbench.rephrase.originals import keep_labels, keep_variants, kept_variants, verdicts_kept
from tests.conftest import Emotui
from tests.templates import copy_of

ROWS = [
    {"id": "1", "text": "I was so happy that I danced.", "spans": [[2, 14]]},
    {"id": "2", "text": "The dog died and I cried.", "spans": [[4, 12]]},
    {"id": "3", "text": "The shop opens at nine.", "spans": []},
]


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture
def mine(tmp_path: Path, emotui: Emotui) -> Emotui:
    _write(tmp_path / "mine.jsonl", ROWS)
    assert emotui("import", "mine.jsonl").status == 0
    return emotui


def _said(emotui: Emotui, name: str = "mine") -> dict[str, int]:
    (found,) = [one for one in json.loads(emotui("datasets", "--json").out) if one["dataset"] == name]
    said: dict[str, int] = found["said"]
    return said


def test_another_file_adds_what_it_says_by_id_and_counts_what_does_not_match(mine: Emotui, tmp_path: Path) -> None:
    (tmp_path / "more.csv").write_text("id,text,label\n1,,joy\n2,,sadness\n8,,fear\n9,,fear\n", encoding="utf-8")
    added = mine("import", "more.csv", "--into", "mine", "--json")
    assert added.status == 0, added.err
    document = json.loads(added.out)
    assert (document["by"], document["matched"], document["keys"]) == ("id", 2, {"label": 2})
    assert document["strangers"] == ["8", "9"]
    assert "2 of 4 records match no text of mine: 8, 9" in added.err
    assert _said(mine) == {"spans": 3, "label": 2}


def test_a_file_without_ids_is_matched_by_the_text(mine: Emotui, tmp_path: Path) -> None:
    rows = "text,label\nThe dog died and I cried.,sadness\nThe shop opens at nine.,neutral\n"
    (tmp_path / "more.csv").write_text(rows, encoding="utf-8")
    assert json.loads(mine("import", "more.csv", "--into", "mine", "--json").out)["by"] == "text"
    assert _said(mine) == {"spans": 3, "label": 2}


def test_a_run_without_gold_is_scored_the_moment_gold_arrives(mine: Emotui, tmp_path: Path) -> None:
    run = json.loads(mine("run", "labels", "--model", "embedded", "--dataset", "mine", "--json").out)
    assert run["metrics"]["n"] == 0
    _write(tmp_path / "more.jsonl", [{"id": "1", "text": ROWS[0]["text"], "label": "joy"}])
    added = json.loads(mine("import", "more.jsonl", "--into", "mine", "--json").out)
    assert added["rescored"] == [run["run"]]
    assert json.loads(mine("rescore", run["run"], "--json").out)["metrics"]["n"] == 1


def test_what_contradicts_gold_is_refused_whole(mine: Emotui, tmp_path: Path) -> None:
    _write(tmp_path / "more.jsonl", [{"id": "1", "text": ROWS[0]["text"], "spans": [[0, 4]]}])
    refused = mine("import", "more.jsonl", "--into", "mine")
    assert refused.status == 2
    assert refused.err.startswith("more.jsonl:1: the text has `spans` [[2,14]] already")
    assert "replace-gold" in refused.err
    assert _said(mine) == {"spans": 3}


def test_a_file_of_other_texts_is_refused_and_says_how_it_was_matched(mine: Emotui, tmp_path: Path) -> None:
    _write(tmp_path / "more.jsonl", [{"id": "x", "text": "Another text.", "label": "joy"}])
    refused = mine("import", "more.jsonl", "--into", "mine")
    assert refused.status == 2
    assert "none of its 1 records has the text of a text of mine" in refused.err


def test_what_two_people_say_comes_together(mine: Emotui, tmp_path: Path) -> None:
    _write(tmp_path / "a.jsonl", [{"id": "1", "text": ROWS[0]["text"], "annotators": {"A1": {"labels": ["joy"]}}}])
    _write(tmp_path / "b.jsonl", [{"id": "1", "text": ROWS[0]["text"], "annotators": {"A1": [[2, 8]], "A2": [[0, 3]]}}])
    for file in ("a.jsonl", "b.jsonl"):
        assert mine("import", file, "--into", "mine").status == 0
    mine("export", "mine", "--to", "out.jsonl", "--with", "text,gold")
    first = json.loads((tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert first["annotators"]["A1"]["labels"] == ["joy"]
    assert [(span["start"], span["end"]) for span in first["annotators"]["A1"]["spans"]] == [(2, 8)]


def test_datasets_with_the_same_texts_become_one_with_what_was_said_of_both(mine: Emotui, tmp_path: Path) -> None:
    labels = [
        {"id": f"l{row['id']}", "text": row["text"], "label": label}
        for row, label in zip(reversed(ROWS), ("neutral", "sadness", "joy"), strict=True)
    ]
    _write(tmp_path / "labels.jsonl", labels)
    mine("import", "labels", "labels.jsonl")
    first = json.loads(mine("run", "spans", "--model", "embedded", "--dataset", "mine", "--json").out)
    second = json.loads(mine("run", "labels", "--model", "embedded", "--dataset", "labels", "--json").out)
    mine("notes", "add", "labels", "l2", "sad indeed")
    before = json.loads(mine("sql", "SELECT run, id, name, value FROM score_values ORDER BY ALL", "--json").out)
    joined = mine("datasets", "join", "mine", "labels", "--json")
    assert joined.status == 0, joined.err
    assert _said(mine) == {"spans": 3, "label": 3}
    runs = {run["run"]: run["dataset"] for run in json.loads(mine("runs", "--json").out)}
    assert runs == {first["run"]: "mine", second["run"]: "mine"}
    after = json.loads(mine("sql", "SELECT run, id, name, value FROM score_values ORDER BY ALL", "--json").out)
    rows = [[row[0], row[1].removeprefix("l"), *row[2:]] for row in before["rows"]]
    assert sorted(rows) == sorted(after["rows"])
    notes = json.loads(mine("sql", "SELECT dataset, id, note FROM notes", "--json").out)
    assert notes["rows"] == [["mine", "2", "sad indeed"]]


def test_datasets_with_other_texts_are_not_joined(mine: Emotui, tmp_path: Path) -> None:
    _write(tmp_path / "other.jsonl", [{"id": "1", "text": "Another text.", "label": "joy"}])
    mine("import", "labels", "other.jsonl")
    refused = mine("datasets", "join", "mine", "other")
    assert refused.status == 2
    assert "mine has 3 texts and other 1" in refused.err
    assert len(json.loads(mine("datasets", "--json").out)) == 2


@pytest.fixture
def two(tmp_path: Path, emotui: Emotui) -> Store:
    """A dataset of labels beside the one of spans, whose texts stand in another order under other ids."""
    _write(tmp_path / "mine.jsonl", ROWS)
    labels = [{"id": f"l{row['id']}", "text": row["text"], "label": "joy"} for row in reversed(ROWS)]
    _write(tmp_path / "labels.jsonl", labels)

    def make(template: Path) -> None:
        for command in (("import", "mine.jsonl"), ("import", "labels", "labels.jsonl")):
            assert emotui(*command, "--db", template).status == 0

    copy_of(tmp_path / "w.duckdb", __name__, make)
    return Store.open(tmp_path / "w.duckdb")


def _dataset(store: Store, name: str) -> Dataset:
    found = store.datasets.get(name)
    assert found is not None
    return found


def test_what_was_being_written_about_texts_is_about_those_of_the_joined_dataset(two: Store, emotui: Emotui) -> None:
    mine, labels = _dataset(two, "mine"), _dataset(two, "labels")
    ours, theirs = (two.samples.numbers_by_id(one.dataset) for one in (mine, labels))
    book = DraftBook(two)
    about = Field("note", "ann", labels.dataset, theirs["l2"])
    both = Field("note", "ann", labels.dataset, theirs["l1"])
    query, whole = Field("sql", "ann"), Field("filter", "ann", labels.dataset)
    held = replace(both, dataset=mine.dataset, sample=ours["1"])
    book.keep({one: Draft(text=one.name) for one in (about, both, query, whole)} | {held: Draft(text="ours")})
    two.settings.set(f"rephrasing-drafts/{'0' * 16}/id/ann", {str(theirs["l3"]): {"text": "older"}})
    keep_variants(
        two,
        labels,
        {theirs["l3"]: ClassGold(id="l3", label="joy", text=ROWS[2]["text"])},
        {"BT-1": {"l3": "otherwise"}},
    )
    keep_labels(two, labels, "file:x", {theirs["l1"]: "joy"})
    assert emotui("datasets", "join", "mine", "labels", "--no-sim", "--db", two.path).status == 0
    assert {field: draft.text for field, draft in book.of("ann").items()} == {
        replace(about, dataset=mine.dataset, sample=ours["2"]): "note",
        held: "ours",
        query: "sql",
        replace(whole, dataset=mine.dataset): "filter",
        Field("rephrasing", "ann", mine.dataset, ours["3"], "id"): "older",
    }
    assert kept_variants(two, mine) == {"BT-1": {"3": "otherwise"}}
    assert verdicts_kept(two, mine, "file:x", {}) == {ours["1"]: ("joy", None)}


@pytest.mark.parametrize(
    ("part", "step"), [(GoldTable, "replace"), (GoldTable, "move_what_is_said"), (ByName, "delete")]
)
def test_a_join_that_is_cut_short_goes_on_where_it_was(
    two: Store, emotui: Emotui, part: type, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    emotui("notes", "add", "labels", "l2", "sad indeed", "--db", two.path)
    before = getattr(part, step)

    def cut(*given: object, **named: object) -> None:
        before(*given, **named)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(part, step, cut)
        assert emotui("datasets", "join", "mine", "labels", "--no-sim", "--db", two.path).status == 1
    if step != "delete":
        assert emotui("datasets", "join", "mine", "labels", "--no-sim", "--db", two.path).status == 0
    listed = emotui("datasets", "--json", "--db", two.path).document
    assert [(one["dataset"], one["said"]) for one in listed] == [("mine", {"spans": 3, "label": 3})]
    notes = emotui("sql", "SELECT dataset, id, note FROM notes", "--json", "--db", two.path).document
    assert notes["rows"] == [["mine", "2", "sad indeed"]]


def test_ratings_several_a_text_are_what_each_person_says(mine: Emotui, tmp_path: Path) -> None:
    """Readers of crowd-enVENT: a row a text and reader, by the texts' ids, without the texts."""
    rows = [
        "text_id\tprolific_id\temotion\tsuddenness\tfamiliarity",
        "1\tr1\tjoy\t3\t2",
        "1\tr2\trelief\t4\t1",
        "3\tr1\tnone\t1\t5",
    ]
    (tmp_path / "readers.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    added = mine("import", "readers.tsv", "--into", "mine", "--json")
    assert added.status == 0, added.err
    assert "text_id is taken for the ids of texts, prolific_id for who says it" in added.err
    assert json.loads(added.out)["matched"] == 2
    mine("export", "mine", "--to", "out.jsonl", "--with", "text,gold")
    first, second, third = map(json.loads, (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines())
    assert first["annotators"]["r2"] == {"label": "relief", "values": {"suddenness": 4.0, "familiarity": 1.0}}
    assert set(third["annotators"]) == {"r1"}
    assert "annotators" not in second
    assert "label" not in first, "what readers say is not gold"


def test_a_row_is_never_matched_by_the_number_of_its_line(mine: Emotui, tmp_path: Path) -> None:
    (tmp_path / "more.csv").write_text("label,note\njoy,a\nfear,b\n", encoding="utf-8")
    refused = mine("import", "more.csv", "--into", "mine")
    assert refused.status == 2
    assert _said(mine) == {"spans": 3}
    _write(tmp_path / "more.jsonl", [{"id": "1", "label": "joy"}, {"id": "2", "label": "sadness"}])
    assert json.loads(mine("import", "more.jsonl", "--into", "mine", "--json").out)["matched"] == 2


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({"id": "1", "annotators": {"ann": {"spans": [[0, 999]]}}}, "span [0, 999] ends past the text"),
        ({"id": "1", "annotators": {"ann": {"values": {"valence": "high"}}}}, "must be a number"),
        ({"id": "1", "values": {"valence": "high"}}, "must be a number"),
    ],
)
def test_what_cannot_be_said_of_a_text_is_refused_whole(mine: Emotui, tmp_path: Path, row: Any, why: str) -> None:
    _write(tmp_path / "more.jsonl", [{"id": "2", "values": {"valence": 0.1}}, row])
    refused = mine("import", "more.jsonl", "--into", "mine")
    assert (refused.status, refused.err.count("\n")) == (2, 1), refused.err
    assert refused.err.startswith("more.jsonl:2: ")
    assert why in refused.err
    assert _said(mine) == {"spans": 3}


def test_spans_of_other_texts_are_checked_and_one_given_twice_is_kept_once(emotui: Emotui, tmp_path: Path) -> None:
    _write(tmp_path / "mine.jsonl", [{"id": "1", "text": "so glad", "labels": ["joy"]}])
    assert emotui("import", "mine.jsonl").status == 0
    _write(tmp_path / "far.jsonl", [{"id": "1", "spans": [[0, 99]]}])
    assert "far.jsonl:1: span [0, 99] ends past the text" in emotui("import", "far.jsonl", "--into", "mine").err
    _write(tmp_path / "twice.jsonl", [{"id": "1", "spans": [[0, 2], [0, 2]]}])
    taken = emotui("import", "twice.jsonl", "--into", "mine")
    assert (taken.status, taken.err) == (0, "twice.jsonl: 1 span given twice with the same label: kept once\n")
    assert emotui("export", "mine", "--to", "out.jsonl", "--with", "gold").status == 0
    assert json.loads((tmp_path / "out.jsonl").read_text())["spans"] == [{"start": 0, "end": 2}]
    again = emotui("import", "twice.jsonl", "--into", "mine", "--json")
    assert (again.document["keys"], again.document["gold"]) == ({}, 2)
