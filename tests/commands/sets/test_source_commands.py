"""Predictions made elsewhere and people's words beside the runs: `import predictions`, `sources`, `make-gold`."""

import json
from pathlib import Path
from typing import Any

import pytest

from emotui.records import ClassGold, LabelsGold, MaskedGold, ScenesGold
from emotui.store.results import ResultTable
from emotui.store.store import Store
from emotui.tasks.registry import task_named
from tests.conftest import Emotui
from tests.templates import copy_of

RECORDS = [
    {"id": "1", "text": "I am glad today", "spans": [[5, 9]], "annotators": {"ada": [[5, 9]], "bob": []}},
    {"id": "2", "text": "He left in tears", "spans": [[11, 16]], "annotators": {"ada": [[8, 16]]}},
]
PREDICTED = [{"id": "2", "spans": ["in tears"]}, {"id": "1", "spans": []}]


def lines(path: Path, records: list[dict[str, Any]]) -> str:
    path.write_text("\n".join(map(json.dumps, records)))
    return path.name


@pytest.fixture
def db(tmp_path: Path, emotui: Emotui) -> Path:
    lines(tmp_path / "mine.jsonl", RECORDS)

    def make(template: Path) -> None:
        assert emotui("import", "spans", "mine.jsonl", "--db", template).status == 0

    copy_of(tmp_path / "w.duckdb", __name__, make)
    return tmp_path / "w.duckdb"


def take_in(emotui: Emotui, db: Path, *more: object) -> Any:
    return emotui("import", "predictions", *more, "--dataset", "mine", "--source", "theirs", "--no-sim", "--db", db)


def test_scores_of_a_pipeline_may_name_labels_that_nobody_else_does(emotui: Emotui, tmp_path: Path) -> None:
    gold = lines(tmp_path / "mine.jsonl", [{"id": "1", "text": "I am glad", "labels": ["joy"]}])
    listed = [{"label": "joy", "score": 0.9}, {"label": "sadness", "score": 0.1}]
    name = lines(tmp_path / "p.jsonl", [{"id": "1", "label": listed}])
    assert emotui("import", "labels", gold, "--db", "w.duckdb").status == 0
    made = take_in(emotui, tmp_path / "w.duckdb", name, "--json").document
    assert made["metrics"]["labels"] == ["joy", "sadness"]
    assert emotui("export", "theirs", "--to", "out.jsonl", "--db", "w.duckdb").status == 0
    scored = emotui("score", "labels", "--gold", gold, "--pred", "out.jsonl", "--json").document
    assert {name: made["metrics"][name] for name in ("macro_f1", "brier")} == {
        name: scored[name] for name in ("macro_f1", "brier")
    }
    assert emotui("report", "theirs", "--to", "r.md", "--db", "w.duckdb").status == 0


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ({"labels": ["3"]}, ": no text of mine has the label '3'"),
        ({"prediction": "joy"}, ""),
        (
            {"values": {"joy": 2.5}},
            ": nothing in it says labels but values: --map labels=COLUMN names the column, and --as values takes it "
            "for what it says",
        ),
        (
            {"prediction": {"labels": ["joy"]}},
            ":1: 'prediction': {'labels': ['joy']} has no number for each label",
        ),
    ],
    ids=["a number", "under another name", "other numbers", "nested"],
)
def test_what_predicted_labels_are_called_is_found_or_said(
    record: dict[str, Any], said: str, emotui: Emotui, tmp_path: Path
) -> None:
    gold = lines(tmp_path / "mine.jsonl", [{"id": "1", "text": "I am glad", "labels": ["joy"]}])
    assert emotui("import", "labels", gold, "--db", "w.duckdb").status == 0
    made = take_in(emotui, tmp_path / "w.duckdb", lines(tmp_path / "p.jsonl", [{"id": "1", **record}]))
    assert made.err.strip().removeprefix("p.jsonl") == said


def test_spans_as_a_model_wrote_them_are_read_from_the_column_that_is_named(
    db: Path, emotui: Emotui, tmp_path: Path
) -> None:
    said = [{"doc": "1", "found": ["glad", "tomorrow"]}, {"doc": "2", "found": []}]
    name = lines(tmp_path / "p.jsonl", said)
    refused = take_in(emotui, db, name)
    assert (refused.status, refused.err.strip()) == (
        2,
        "p.jsonl: nothing in it says spans (there are found): --map spans=COLUMN names the column",
    )
    made = take_in(emotui, db, name, "--map", "spans=found", "--json").document
    assert (made["metrics"]["predicted_spans"], made["metrics"]["hallucinated_spans"]) == (2, 1)


def test_predictions_made_elsewhere_are_scored_as_the_file_is_and_stand_beside_the_runs(
    db: Path, emotui: Emotui, tmp_path: Path
) -> None:
    name = lines(tmp_path / "p.jsonl", PREDICTED)
    made = take_in(emotui, db, name, "--json").document
    assert (made["run"], made["n"], made["missing"], made["format"]) == ("theirs", 2, 0, "project")
    scored = emotui("score", "spans", "--gold", "mine.jsonl", "--pred", name, "--no-sim", "--json").document
    same = ("n", "f1", "hallucinated_spans", "by_emotion", "predicted_spans")
    assert {figure: made["metrics"][figure] for figure in same} == {figure: scored[figure] for figure in same}
    (run,) = emotui("runs", "--db", db, "--json").document
    assert (run["run"], run["source"], run["model"], run["state"], run["done"]) == (
        "theirs",
        "file",
        "theirs",
        "done",
        2,
    )
    assert emotui("export", "theirs", "--to", "out.jsonl", "--db", db).status == 0
    written = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert {one["id"]: one["spans"] for one in written} == {"1": [], "2": ["in tears"]}
    again = emotui("rescore", "theirs", "--no-sim", "--db", db, "--json").document
    assert again["metrics"]["f1"] == made["metrics"]["f1"]
    assert emotui("report", "theirs", "--to", "r.md", "--db", db).status == 0
    assert "theirs" in (tmp_path / "r.md").read_text()
    said = emotui("sql", "select id, words from said where source = 'theirs'", "--db", db, "--json").document
    assert said["rows"] == [["2", "in tears"]]


def test_the_same_predictions_are_kept_once_and_others_need_another_name(
    db: Path, emotui: Emotui, tmp_path: Path
) -> None:
    name = lines(tmp_path / "p.jsonl", PREDICTED)
    take_in(emotui, db, name)
    assert take_in(emotui, db, name, "--json").document["run"] == "theirs"
    assert len(emotui("runs", "--db", db, "--json").document) == 1
    lines(tmp_path / "p.jsonl", [PREDICTED[0], {"id": "1", "spans": ["glad"]}])
    refused = take_in(emotui, db, name)
    assert refused.status == 2
    assert "mine has another source 'theirs'" in refused.err
    assert emotui("delete", "theirs", "--db", db).status == 0
    assert take_in(emotui, db, name, "--json").document["run"] == "theirs on mine"


def test_ids_that_are_missing_or_stray_are_bad_input_unless_one_says_what_they_count_as(
    db: Path, emotui: Emotui, tmp_path: Path
) -> None:
    name = lines(tmp_path / "p.jsonl", [{"id": "2", "spans": ["tears"]}, {"id": "9", "spans": []}])
    refused = take_in(emotui, db, name)
    assert refused.status == 2
    assert refused.err.splitlines() == [
        "p.jsonl:2: mine has no text of the id '9'",
        "p.jsonl: no prediction for 1 of 2 texts ('1'): say what they count as with --missing empty or --missing skip",
    ]
    assert emotui("runs", "--db", db, "--json").document == []
    lines(tmp_path / "p.jsonl", [{"id": "2", "spans": ["tears"]}])
    empty = take_in(emotui, db, name, "--missing", "empty", "--json").document
    assert (empty["n"], empty["missing"], empty["metrics"]["n"], empty["metrics"]["f1"]) == (2, 1, 2, 0.5)
    emotui("delete", "theirs", "--db", db)
    skipped = take_in(emotui, db, name, "--missing", "skip", "--json").document
    assert (skipped["n"], skipped["missing"], skipped["metrics"]["n"], skipped["metrics"]["f1"]) == (1, 1, 1, 1.0)


def test_raw_outputs_and_repeats_come_in_as_they_are_scored_from_files(
    db: Path, emotui: Emotui, tmp_path: Path
) -> None:
    records = [
        {"id": key, "output": output, "style": "retrieve", "repeat": repeat}
        for repeat in (0, 1)
        for key, output in (("1", "glad | today"), ("2", "tears" if repeat else "nowhere"))
    ]
    name = lines(tmp_path / "p.jsonl", records)
    made = take_in(emotui, db, name, "--json").document
    scored = emotui("score", "spans", "--gold", "mine.jsonl", "--pred", name, "--no-sim", "--json").document
    assert made["n"] == 4
    assert (made["metrics"]["f1"], made["metrics"]["sd"]["f1"]) == (scored["f1"], scored["sd"]["f1"])


def test_files_of_other_programs_come_in_with_offsets_and_labels(db: Path, emotui: Emotui, tmp_path: Path) -> None:
    doccano = [
        {"id": int(one["id"]), "text": one["text"], "label": [[start, end, "SAD"] for start, end in one["spans"]]}
        for one in RECORDS
    ]
    made = take_in(emotui, db, lines(tmp_path / "d.jsonl", doccano), "--format", "doccano", "--json").document
    assert (made["format"], made["n"], made["metrics"]["f1"]) == ("doccano", 2, 1.0)
    rows = emotui(
        "sql", "select id, start, stop, label from said where source = 'theirs' order by id", "--db", db, "--json"
    )
    assert rows.document["rows"] == [["1", 5, 9, "SAD"], ["2", 11, 16, "SAD"]]
    unknown = take_in(emotui, db, "d.jsonl", "--format", "excel")
    assert (unknown.status, "there is no format 'excel'" in unknown.err) == (2, True)


def test_people_inside_gold_are_sources_and_are_kept_apart_on_demand(db: Path, emotui: Emotui) -> None:
    found = emotui("sources", "mine", "--db", db, "--json").document
    assert [(one["name"], one["kind"], one["n"], one["run"]) for one in found["sources"]] == [
        ("gold", "gold", 2, None),
        ("ada", "person", 2, None),
        ("bob", "person", 1, None),
    ]
    taken = emotui("sources", "mine", "--take", "ada", "--no-sim", "--db", db, "--json").document
    assert [(one["name"], one["kind"], one["run"]) for one in taken["sources"]] == [
        ("gold", "gold", None),
        ("bob", "person", None),
        ("ada", "person", "ada"),
    ]
    assert "ada" in emotui("sources", "mine", "--db", db).out
    refused = emotui("sources", "mine", "--take", "eve", "--db", db)
    assert (refused.status, "ada, bob" in refused.err) == (2, True)


def test_any_source_can_be_made_gold_and_earlier_scores_keep_their_version(
    db: Path, emotui: Emotui, tmp_path: Path
) -> None:
    take_in(emotui, db, lines(tmp_path / "p.jsonl", PREDICTED))
    made = emotui("make-gold", "mine", "ada", "--db", db, "--json").document
    assert (made["gold"], made["source"]) == (2, "mine.jsonl")
    gold = emotui("sql", "select id, start, stop from gold order by id", "--db", db, "--json").document
    assert gold["rows"] == [["1", 5, 9], ["2", 8, 16]]
    (run,) = [one for one in emotui("sources", "mine", "--db", db, "--json").document["sources"] if one["run"]]
    assert run["gold"] == 1
    assert emotui("report", "theirs", "--to", "r.md", "--db", db).status == 0
    assert "scored against version 1 of gold, and today's is 2" in (tmp_path / "r.md").read_text()
    assert emotui("rescore", "theirs", "--no-sim", "--db", db, "--json").document["metrics"]["f1"] == 0.5
    refused = emotui("make-gold", "mine", "bob", "--db", db)
    assert (refused.status, "bob says nothing about 1 of 2 texts ('2')" in refused.err) == (2, True)
    assert emotui("make-gold", "mine", "bob", "--keep-missing", "--db", db).out == "mine: gold version 3, from bob\n"
    assert emotui("make-gold", "mine", "theirs", "--db", db).status == 0
    gold = emotui("sql", "select id, words from gold", "--db", db, "--json").document
    assert gold["rows"] == [["2", "in tears"]]
    versions = emotui("sources", "mine", "--db", db, "--json").document["gold_versions"]
    assert [one["from"] for one in versions] == ["mine.jsonl", "source ada", "source bob", "source theirs"]
    assert [one.gold for one in Store.open(db).datasets.all()] == [4]


@pytest.mark.parametrize(
    ("task", "sample", "said", "gold"),
    [
        ("labels", LabelsGold(id="1", text="a"), {"labels": {"joy": 0.75, "fear": 0.25}}, ("joy",)),
        ("labels", LabelsGold(id="1", text="a"), {"labels": ["joy", "fear"]}, ("joy", "fear")),
        ("labels", LabelsGold(id="1", text="a"), {"labels": {"joy": 1, "fear": 0}}, ("joy",)),
        ("labels", LabelsGold(id="1", text="a"), {"label": "joy"}, ("joy",)),
        ("labels", LabelsGold(id="1", text="a"), {}, ()),
        (
            "scenes",
            ScenesGold(id="1", labels={"joy": 0, "fear": 1}),
            {"labels": {"fear": 0, "joy": 1}},
            {"joy": 1, "fear": 0},
        ),
        ("scenes", ScenesGold(id="1", labels={"joy": 0, "fear": 1}), {"labels": ["joy"]}, {"joy": 1, "fear": 0}),
        ("scenes", ScenesGold(id="1", labels={"joy": 0}), {"scores": {"joy": [1.0, 0.5]}}, {"joy": 1}),
        ("scenes", ScenesGold(id="1", labels={"joy": 1}), {}, {"joy": 0}),
        ("masked", MaskedGold(id="1", labels=("sad",), text="<mask>"), {"labels": ["glad"]}, ("glad",)),
    ],
)
def test_what_others_say_is_read_whatever_its_form_and_can_be_made_gold(
    task: str, sample: Any, said: dict[str, Any], gold: object
) -> None:
    found = task_named(task)
    assert found.as_gold(sample, found.taken(sample, said)).labels == gold


@pytest.mark.parametrize(
    ("said", "label"),
    [
        ({"label": "JOY"}, "joy"),
        ({"probs": {"fear": 0.2, "joy": 0.8}}, "joy"),
        ({"labels": {"fear": 0.2, "joy": 0.8}}, "joy"),
        ({"labels": ["joy"]}, "joy"),
        ({}, ""),
    ],
)
def test_one_label_is_read_whatever_its_form(said: dict[str, Any], label: str) -> None:
    assert task_named("rephrase").taken(ClassGold(id="1", text="a", label="joy"), said).label == label


def test_what_does_not_fit_the_text_is_told_with_its_line(db: Path, emotui: Emotui, tmp_path: Path) -> None:
    lines(
        tmp_path / "s.jsonl",
        [{"id": "1", "text": "a", "labels": {"joy": 1}}, {"id": "2", "text": "b", "labels": {"joy": 0}}],
    )
    emotui("import", "scenes", "s.jsonl", "--db", db)
    lines(tmp_path / "p.jsonl", [{"id": "1", "labels": {"joy": 1}}, {"id": "2", "labels": {"joy": 1}}])
    how = ("--dataset", "s", "--source", "theirs", "--db", db)
    assert emotui("import", "predictions", "p.jsonl", *how, "--json").document["metrics"]["vector_accuracy"] == 0.5
    lines(tmp_path / "q.jsonl", [{"id": "1", "labels": {"fear": 1}}, {"id": "2", "labels": {"fear": 1}}])
    refused = emotui("import", "predictions", "q.jsonl", *how[:2], "--source", "others", "--db", db)
    assert refused.status == 2
    assert refused.err.splitlines()[0] == "q.jsonl:1: 'fear' is not among the labels of this text"


def test_an_import_that_was_cut_short_goes_on_where_it_was(
    db: Path, emotui: Emotui, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = lines(tmp_path / "p.jsonl", PREDICTED)
    commit = ResultTable.commit

    def dies(results: ResultTable, run: str, rows: Any, **how: Any) -> None:
        commit(results, run, rows[:1], **how)
        raise KeyboardInterrupt

    with monkeypatch.context() as dying:
        dying.setattr(ResultTable, "commit", dies)
        assert take_in(emotui, db, name).status == 1
    (run,) = Store.open(db).runs.all()
    assert (run.state, run.done) == ("running", 1)
    whole = take_in(emotui, db, name, "--json").document
    assert (whole["run"], whole["n"], whole["metrics"]["n"]) == ("theirs", 2, 2)
    (run,) = Store.open(db).runs.all()
    assert (run.state, run.done) == ("done", 2)
