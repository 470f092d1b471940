"""Words by gradients beside gold's spans, removal and a run over the evidence, of a model that reads one word."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from emotui.backends.base import Attribution
from emotui.records import Mark, SpanSample
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.why.gradients import Read, gradients_of
from emotui.workbench.workspace import Workspace
from tests.backends.hf import models as hf_models
from tests.conftest import Emotui
from tests.paths import TESTS

pytest.importorskip("captum")

TEXTS = ("today i am so happy", "happy dog ran home", "we felt so happy today", "the dog ran", "happy happy dog ran so")


@pytest.fixture(scope="module")
def spec(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"hf:{hf_models.one_word(tmp_path_factory.mktemp('models') / 'one')}#threads=1"


@pytest.fixture
def db(tmp_path: Path) -> str:
    opened = Workspace.open(tmp_path / "w.duckdb")
    samples = []
    for at, text in enumerate(TEXTS):
        places = [start for start in range(len(text)) if text.startswith("happy", start)]
        samples.append(SpanSample(id=f"t{at}", text=text, spans=tuple(Mark(one, one + 5, "glad") for one in places)))
    add_samples(opened.store, "spans", "mine", samples, "test")
    opened.close()
    return str(tmp_path / "w.duckdb")


def test_the_one_word_that_a_model_reads_is_that_which_gold_marks(emotui: Emotui, spec: str, db: str) -> None:
    asked = ("lens", "gradients", "--model", spec, "--dataset", "mine", "--db", db)
    found = json.loads(emotui(*asked, "--label", "glad", "--json").out)
    assert (found["n"], found["with_gold"], found["explained"]) == (5, 4, "glad")
    for method in ("removal", "gradient", "integrated"):
        row = found["by_method"][method]
        assert row["auc"] == 1
        assert row["f1"] > 0.85
    assert found["chance"]["f1"] < 0.5
    integrated = found["by_method"]["integrated"]
    assert integrated["most_off"] < 1e-3
    assert integrated["with_removal"] > 0
    assert "ci95" in found
    words = {word["word"]: word for word in found["texts"]["t0"]["words"]}
    assert [word["gold"] for word in words.values()] == [False, False, False, False, True]
    assert words["happy"]["integrated"] > 0.5 > words["so"]["integrated"]
    sums = found["texts"]["t0"]["sums"]["integrated"]
    parts = math.fsum(word["integrated"] for word in words.values())
    assert sums["parts"] == pytest.approx(parts + sums["rest"])
    assert sums["parts"] == pytest.approx(sums["whole"] - sums["without"], abs=1e-3)


def test_a_text_is_printed_with_its_completeness_and_figures_with_theirs(emotui: Emotui, spec: str, db: str) -> None:
    asked = ("lens", "gradients", "--model", spec, "--dataset", "mine", "--db", db, "--explain", "gold")
    text = emotui(*asked, "--text", "t1").out
    assert "t1: log-odds of glad, by word" in text
    assert "integrated: parts come to" in text
    assert ": off by 0.0%" in text
    figures = emotui(*asked).out
    assert "sum_off" in figures
    assert "without a label to explain" in figures  # gold marks nothing in one text
    assert "there is no text 'x'" in emotui(*asked, "--text", "x").err
    assert "both say which label" in emotui(*asked, "--label", "glad").err


def test_parts_of_spans_are_set_beside_the_drops_of_a_run_over_the_evidence(emotui: Emotui, spec: str, db: str) -> None:
    ran = json.loads(emotui("run", "evidence", "--model", spec, "--dataset", "mine", "--db", db, "--json").out)
    asked = ("lens", "gradients", "--model", spec, "--dataset", "mine", "--db", db, "--json")
    found = json.loads(emotui(*asked, "--evidence", ran["run"]).out)
    assert found["spans"] >= 2
    assert -1 <= found["by_method"]["integrated"]["with_evidence"] <= 1


@pytest.mark.parametrize("kind", ["causal", "seq2seq"])
def test_a_model_that_writes_is_followed_where_it_is_asked_about_a_label_yes_or_no(
    emotui: Emotui, db: str, tmp_path: Path, kind: str
) -> None:
    folder = hf_models.TINY if kind == "causal" else hf_models.one_word_t5(tmp_path / "t5", steps=40)
    spec = f"hf:{folder}#threads=1"
    asked = ("lens", "gradients", "--model", spec, "--dataset", "mine", "--db", db, "--limit", "2", "--steps", "200")
    found = json.loads(emotui(*asked, "--json").out)
    assert (found["n"], found["explained"]) == (2, "own")
    words = [word["word"] for word in found["texts"]["t1"]["words"]]
    assert words == TEXTS[1].split()
    assert found["by_method"]["integrated"]["sum_off"] < 0.2
    assert "asked whether the writer shows" in found["conventions"]["parts"]


def test_figures_by_hand() -> None:
    text = "a b c d"
    words = ((0, 1), (2, 3), (4, 5), (6, 7))
    parts = {"removal": (4.0, 3.0, 2.0, 1.0), "gradient": (1.0, 2.0, 3.0, 4.0), "integrated": (4.0, 1.0, 3.0, math.nan)}
    found = {
        method: Attribution("joy", tuple((*word, part) for word, part in zip(words, values, strict=True)), 12.0, 2.0)
        for method, values in parts.items()
    }
    sample = SpanSample(id="t", text=text, spans=(Mark(0, 3, "joy"),))
    document: dict[str, Any] = gradients_of([Read(sample, "joy", words, parts, found)], 50)
    rows = document["by_method"]
    assert [rows[method]["auc"] for method in parts] == [1.0, 0.0, 0.75]
    assert [rows[method]["f1"] for method in parts] == [1.0, 0.0, 0.5]
    assert [rows[method].get("with_removal") for method in parts] == [None, -1.0, 0.5]
    assert rows["gradient"]["sum_off"] == 0.0  # 10 of 12 - 2
    assert document["chance"]["f1"] == 0.5


@pytest.mark.parametrize("spec", ["embedded", f"gguf:{TESTS / 'tiny' / 'model' / 'tiny-F16.gguf'}"])
def test_a_model_without_gradients_says_in_a_line_what_works_instead(emotui: Emotui, db: str, spec: str) -> None:
    if spec.startswith("gguf:"):
        pytest.importorskip("llama_cpp")
    ran = emotui("lens", "gradients", "--model", spec, "--dataset", "mine", "--limit", "1", "--db", db)
    assert ran.status != 0
    (line,) = ran.err.splitlines()
    assert f"{spec} gives no gradients: hf: classifiers, NLI models and models that write do" in line
    assert "emotui words, emotui run evidence" in line


def test_a_model_that_answers_nothing_is_sent_nowhere(emotui: Emotui, db: str, tmp_path: Path) -> None:
    masked = f"hf:{hf_models.bert(tmp_path / 'masked')}"
    said = emotui("lens", "gradients", "--model", masked, "--dataset", "mine", "--limit", "1", "--db", db).err
    assert "gives no gradients" in said
    assert "run evidence" not in said
