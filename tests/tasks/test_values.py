"""The task of numbers about a text: how models are asked, what is read, and what comes of it."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from emotui.backends.base import Generate, Generation, ModelCard, Refused, Regressed
from emotui.backends.grammars import numbers_of
from emotui.commands.models import print_probe
from emotui.errors import BadInput, ModelError
from emotui.formats import read
from emotui.records import Text, ValuesGold, ValuesPrediction
from emotui.screens.browse.said import MISSED, NEITHER, sign
from emotui.store.query import Run
from emotui.tables import ResultsTable
from emotui.tasks.parts import ScoredRun
from emotui.tasks.task import Parsed
from emotui.tasks.values.tables import Detail, value_tables
from emotui.tasks.values.task import Prediction, Scales, Settings, Values, read_numbers
from emotui.workbench.models.probe import Probe
from tests.backends.hf import models as hf_models
from tests.conftest import Emotui

NAMES = ("valence", "arousal")
GOLD = ValuesGold(id="1", text="I am glad.", values={"valence": 4.5, "arousal": 3.0})
RECORDS: list[dict[str, Any]] = [
    {"id": "1", "text": "I am so glad.", "values": {"valence": 4.5, "arousal": 3.5}},
    {"id": "2", "text": "The dog ran home.", "values": {"valence": 3.0, "arousal": 2.0}},
    {"id": "3", "text": "We felt fear.", "values": {"valence": 1.5, "arousal": 4.0}},
    {"id": "4", "text": "Nobody rated this."},
]
POINTS = ((1, 1.0, 4.0), (2, 2.5, 2.5), (3, 4.0, 1.0))
SAID = [
    {"id": "1", "values": {"valence": 4.0, "arousal": 3.0}},
    {"id": "2", "values": {"valence": 3.0, "arousal": 2.5}},
    {"id": "3", "values": {"valence": 2.0, "arousal": 4.0}},
]


def _card(*capabilities: str, **others: Any) -> ModelCard:
    return ModelCard("m", "m", capabilities, {}, **others)


def _write(path: Path, records: Sequence[object]) -> str:
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return str(path)


def test_the_ways_go_by_what_the_model_can_do_and_one_that_cannot_names_kinds_that_can() -> None:
    assert Values().ways(_card("regress")) == ("regress",)
    assert Values().ways(_card("score", "generate")) == ("zero-shot", "cot")
    with pytest.raises(ModelError, match=r"hf: with a regression head; any model that writes"):
        Values().ways(_card("score", "classify"))


def test_a_head_gives_the_names_that_data_and_model_share() -> None:
    card = _card("regress", labels={"values": ("Valence", "Arousal", "Dominance")})
    found = Scales().settled(card, lambda: [GOLD], "regress", {}, 0)
    assert found == {"labels": ["valence", "arousal"]}
    task = Values().with_options(found, 1)
    answer = Regressed({"Valence": 4.0, "Arousal": 2.5, "Dominance": 3.0})
    (asked,) = task.ask([GOLD], lambda requests: [answer for _ in requests], "regress", [0])
    assert task.parse(GOLD, asked.raw or "", "regress").values == {"valence": 4.0, "arousal": 2.5}
    with pytest.raises(BadInput, match="gives none of these numbers: mood; it gives: Valence"):
        Scales().settled(card, lambda: [ValuesGold(id="1", values={"mood": 1.0})], "regress", {}, 0)
    with pytest.raises(BadInput, match="gives no number 'mood'"):
        Scales().of_file(card, ["mood"])


def test_a_number_that_is_not_finite_or_lacks_is_no_answer() -> None:
    task = Values().with_options({"labels": ["valence"]}, 1)
    (asked,) = task.ask([GOLD], lambda requests: [Regressed({"valence": float("nan")})], "regress", [0])
    with pytest.raises(ValueError, match="valence"):
        task.parse(GOLD, asked.raw or "", "regress")
    (asked,) = task.ask([GOLD], lambda requests: [Refused("too long")], "regress", [0])
    assert (asked.raw, asked.why) == (None, "too long")


def test_scales_are_those_of_a_list_else_of_the_data_outward_to_whole_numbers_else_the_usual() -> None:
    card = _card("generate")
    golds = [ValuesGold(id="1", values={"valence": 1.3}), ValuesGold(id="2", values={"valence": 4.2, "mood": -0.5})]
    found = Scales().settled(card, lambda: golds, "zero-shot", {}, 0)
    assert found["scales"] == {"valence": [1.0, 5.0], "mood": [-1.0, 0.0]}
    assert Scales().settled(card, lambda: golds, "zero-shot", found, 0) == found
    own = Scales().settled(card, lambda: golds, "zero-shot", {"labels": ["valence 1..9", "mood"]}, 0)
    assert own == {"labels": ["valence", "mood"], "scales": {"valence": [1.0, 9.0], "mood": [-1.0, 0.0]}}
    usual = Scales().settled(card, list, "zero-shot", {}, 0)
    assert usual["labels"] == ["valence", "arousal", "dominance"]
    with pytest.raises(BadInput, match="from a lower number to a higher one"):
        Scales().settled(card, list, "zero-shot", {"labels": ["valence 9..1"]}, 0)


def test_a_model_that_writes_is_shown_text_and_scales_and_may_be_held_to_an_object() -> None:
    asked: list[Generate] = []

    def model(requests: Sequence[Generate]) -> list[Generation]:
        asked.extend(requests)
        return [Generation('{"valence": 4, "mood": -0.5}', 1, 1, "stop") for _ in requests]

    scales = {"valence": [1, 9], "mood": [-1, 1]}
    task = Values().with_options({"labels": list(scales), "scales": scales, "constrain": True}, 1)
    (answer,) = task.ask([GOLD], model, "zero-shot", [0])
    assert task.parse(GOLD, answer.raw or "", "zero-shot") == Prediction({"valence": 4, "mood": -0.5}, "json")
    prompt = asked[0].messages[-1].content
    assert "I am glad." in prompt
    assert "valence from 1 (very unpleasant) to 9 (very pleasant); mood from -1 to 1" in prompt
    assert asked[0].grammar == numbers_of(("valence", "mood"))
    with pytest.raises(BadInput, match="no grammar"):
        task.settings("cot")


@pytest.mark.parametrize(
    ("output", "way", "values", "form"),
    [
        ('{"valence": 4, "arousal": 2.5}', "zero-shot", (4, 2.5), "json"),
        ('{"Arousal": 2.5, "Valence": 4}', "zero-shot", (4, 2.5), "json"),
        ('```json\n{"valence": 4, "arousal": 2.5}\n```', "zero-shot", (4, 2.5), "lenient"),
        ('Sure: {"valence": "4", "arousal": 2,5}', "zero-shot", (4, 2.5), "lenient"),
        ("**Valence**: 4/5\n**Arousal**: 2.5 out of 5", "zero-shot", (4, 2.5), "lenient"),
        ("valence 1? No: valence is 4, arousal = -2.", "zero-shot", (4, -2), "lenient"),
        ('{"valence": 4}', "zero-shot", (4, None), "lenient"),
        ('{"valence": NaN, "arousal": 2}', "zero-shot", (None, 2), "lenient"),
        ("Prevalence: 4", "zero-shot", (None, None), "unread"),
        ("What a text!", "zero-shot", (None, None), "unread"),
        ('valence: 1 at first.\nAnswer: {"valence": 4, "arousal": 2.5}', "cot", (4, 2.5), "json"),
    ],
)
def test_written_numbers_are_read_however_they_are_written(
    output: str, way: str, values: tuple[float | None, ...], form: str
) -> None:
    wanted = {name: value for name, value in zip(NAMES, values, strict=True) if value is not None}
    assert read_numbers(output, way, NAMES) == (wanted, form)


def test_of_one_name_a_bare_number_will_do() -> None:
    assert read_numbers("3.5 of 5", "zero-shot", ("valence",)) == ({"valence": 3.5}, "lenient")


def test_gold_and_given_numbers_stand_side_by_side_with_their_difference() -> None:
    lines = Values().said(GOLD, Prediction({"valence": 4.0}))
    assert [(one.name, one.gold, one.predicted, one.mark) for one in lines] == [
        ("valence", "4.5", "4 (-0.5)", ""),
        ("arousal", "3", "", "M"),
    ]
    assert [sign(one) for one in lines] == [NEITHER, MISSED]  # a number is near another one, not right or wrong


def test_a_number_off_by_more_than_a_quarter_of_its_scale_is_an_error() -> None:
    golds = [ValuesGold(id=str(at), text="t", values={"valence": at}) for at in (1.2, 3.0, 4.9)]
    task = Values().with_golds(lambda: golds)
    # From 1 to 5 outward to whole numbers: a step of five is 1.
    said = [(4.0, ""), (4.01, "D"), (1.99, "D"), (3.0, "")]
    answers = [Parsed(golds[1], 0, Prediction({"valence": value})) for value, _ in said]
    assert [row.marks for row in task.score(answers, None)] == [marks for _, marks in said]
    asked = Values(Settings(labels=("valence",), scales={"valence": (1.0, 9.0)})).with_golds(lambda: golds)
    assert [row.marks for row in asked.score(answers, None)] == [""] * 4
    none = [Parsed(ValuesGold(id="u", text="t"), 0, Prediction({"valence": 9.0}))]
    assert [row.marks for row in task.score(none, None)] == [""]


def test_a_probe_shows_the_numbers_of_a_regression_head(capsys: pytest.CaptureFixture[str]) -> None:
    said = Regressed({"valence": 4.123456, "arousal": 2.0})
    print_probe(Probe(_card("regress"), "I laughed", "", numbers=said))
    shown = capsys.readouterr().out
    assert "numbers" in shown
    assert re.search(r"valence +4\.123\b", shown)
    assert re.search(r"arousal +2\b", shown)


def test_an_unlabelled_text_has_no_score_and_is_left_out_of_figures() -> None:
    task = Values()
    blank = task.blank(Text(id="2", text="Anything."))
    answers = [Parsed(GOLD, 0, Prediction({"valence": 4.0})), Parsed(blank, 0, Prediction({"valence": 1.0}))]
    rows = task.score(answers, None)
    assert [row.values["mae"] for row in rows] == [0.5, None]
    report = task.report([GOLD, blank], rows)
    assert (report["n"], report["unlabelled"]) == (1, 1)
    assert task.as_gold(blank, Prediction({"valence": 1.0})).values == {"valence": 1.0}
    assert task.record("2", None) == ValuesPrediction(id="2", values={})


def test_files_are_scored_by_name_with_a_mean_to_beat(emotui: Emotui, tmp_path: Path) -> None:
    gold, pred = _write(tmp_path / "gold.jsonl", RECORDS), _write(tmp_path / "pred.jsonl", SAID)
    document = emotui("score", "values", "--gold", gold, "--pred", pred, "--baselines", "--json").document
    assert (document["n"], document["unlabelled"]) == (3, 1)
    valence = document["by_name"]["valence"]
    assert (valence["n"], valence["mae"], valence["pearson"]) == (3, pytest.approx(1 / 3), pytest.approx(1))
    mean = document["baselines"]["mean"]
    assert mean["by_name"]["valence"]["pearson"] is None
    assert "no variance" in mean["notes"]["by_name.valence.pearson"]


def test_missing_answers_are_refused_unless_one_says_what_they_count_as(emotui: Emotui, tmp_path: Path) -> None:
    gold, pred = _write(tmp_path / "gold.jsonl", RECORDS), _write(tmp_path / "pred.jsonl", SAID[:2])
    asked = ("score", "values", "--gold", gold, "--pred", pred)
    assert emotui(*asked).status == 2
    empty = emotui(*asked, "--missing", "empty", "--json").document
    assert (empty["missing"], empty["by_name"]["valence"]["n"], empty["by_name"]["valence"]["without"]) == (1, 2, 1)
    assert emotui(*asked, "--missing", "skip", "--json").document["n"] == 2


def test_a_dataset_goes_all_the_way_with_a_regression_head(emotui: Emotui, tmp_path: Path) -> None:
    folder = hf_models.bert(tmp_path / "vad", head="classes", labels=("valence", "arousal", "mood"), numbers=True)
    gold, pred, db = _write(tmp_path / "g.jsonl", RECORDS), tmp_path / "p.jsonl", tmp_path / "w.duckdb"
    assert emotui("import", "values", gold, "--db", db, "--json").document["n"] == 4
    run = emotui("run", "values", "--dataset", "g", "--model", f"hf:{folder}", "--db", db, "--json").document
    assert (run["n"], run["failed"], run["metrics"]["unlabelled"]) == (4, 0, 1)
    assert list(run["metrics"]["by_name"]) == ["valence", "arousal"]
    assert emotui("export", run["run"], "--to", pred, "--db", db).status == 0
    scored = emotui("score", "values", "--gold", gold, "--pred", pred, "--json").document
    again = emotui("rescore", run["run"], "--db", db, "--json").document["metrics"]
    assert scored["by_name"] == run["metrics"]["by_name"] == again["by_name"]
    table, *drawn = emotui("results", run["run"], "--db", db, "--json").document["tables"]
    assert [column["key"] for column in table["columns"]] == ["pearson", "spearman", "ccc", "rmse", "mae", "n"]
    assert len(table["rows"]) == 2
    kinds = ("scatter-valence", "scatter-arousal", "circumplex-gold", "circumplex-given")
    assert [one["key"] for one in drawn] == [f"{kind}-{run['run']}" for kind in kinds]
    asked = ("predict", "values", "--model", f"hf:{folder}", "--records", gold, "--json")
    assert emotui(*asked).document["labels"] == ["valence", "arousal", "mood"]
    no = emotui("run", "values", "--dataset", "g", "--model", "embedded", "--db", db)
    assert (no.status, "hf: with a regression head" in no.err) == (1, True)


def test_columns_of_numbers_and_a_corpus_of_them_become_numbers(emotui: Emotui, tmp_path: Path) -> None:
    db, wide, emobank = tmp_path / "w.duckdb", tmp_path / "wide.csv", tmp_path / "bank.csv"
    wide.write_text("id,text,valence,mood\n1,Hi,3.5,-2\n2,Ho,1,\n")
    emobank.write_text("id,split,V,A,D,text\ne1,train,3.0,2.5,3.1,Hello there\n")
    assert emotui("import", "values", wide, "--db", db).status == 0
    assert emotui("import", emobank, "--db", db).status == 0
    found = read(wide, ValuesGold).records
    assert [one.values for one in found] == [{"valence": 3.5, "mood": -2}, {"valence": 1}]
    kept = {one["dataset"]: one["task"] for one in emotui("datasets", "--db", db, "--json").document}
    assert kept == {"wide": "values", "bank": "values"}


def test_what_a_person_said_in_gold_is_a_source_that_can_be_made_gold(emotui: Emotui, tmp_path: Path) -> None:
    db = tmp_path / "w.duckdb"
    record = {**RECORDS[0], "annotators": {"ann": {"values": {"valence": 2.0}}}}
    gold, out = _write(tmp_path / "g.jsonl", [record]), tmp_path / "out.jsonl"
    assert emotui("import", "values", gold, "--db", db).status == 0
    done = emotui("make-gold", "g", "ann", "--db", db)
    assert done.status == 0, done.err
    assert emotui("export", "g", "--to", out, "--db", db).status == 0
    assert read(out, ValuesGold).records[0].values == {"valence": 2.0}
    bad = _write(tmp_path / "bad.jsonl", [{**RECORDS[0], "annotators": {"ann": {"valence": {"x": 1}}}}])
    assert "annotator 'ann'" in emotui("import", "values", bad, "--db", db).err


def test_planes_hold_each_text_once_and_what_agrees_lies_from_bottom_left_to_top_right() -> None:
    run = Run("1-1", "values", "m", 1, "", {}, "done", "", None, 3, 3, 0, None)
    details = [Detail(str(n), 0, {"valence": v, "arousal": a}, {"valence": v, "arousal": 5 - a}) for n, v, a in POINTS]
    scored = ScoredRun(run, "d", [(int(one.id), msgspec.json.encode(one).decode()) for one in details])
    _, valence, arousal, gold, given = value_tables([scored])
    assert [_places(table) for table in (valence, arousal)] == [
        {(8, 0): (1,), (4, 4): (2,), (0, 8): (3,)},
        {(0, 0): (1,), (4, 4): (2,), (8, 8): (3,)},
    ]
    assert _places(gold) == {(0, 0): (1,), (4, 4): (2,), (8, 8): (3,)}
    assert _places(given) == {(8, 0): (1,), (4, 4): (2,), (0, 8): (3,)}


def _places(table: ResultsTable) -> dict[tuple[int, int], tuple[int, ...]]:
    return {
        (at, to): cell.samples for at, row in enumerate(table.rows) for to, cell in enumerate(row.cells) if cell.value
    }
