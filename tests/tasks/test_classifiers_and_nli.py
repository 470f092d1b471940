"""Classifiers and NLI models asked about scenes and labels: which of their labels is meant, and what they judge."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from emotui.errors import BadInput
from emotui.records import PLUTCHIK
from emotui.tasks.labels.task import read_labels_prompts
from emotui.tasks.parts import matched, matched_all
from emotui.tasks.scenes.asking import read_scenes_prompts
from tests.backends.hf import models as hf_models
from tests.backends.hf.test_kinds import naive_classes
from tests.conftest import Emotui

TEXT = "we felt joy today"


def test_a_label_is_the_same_word_in_any_case_or_form_and_no_other_word() -> None:
    own = ("Joy", "sad", "love", "happy")
    assert matched("joy ", own) == "Joy"
    assert matched("sadness", own) == "sad"
    assert matched("happiness", own) is None  # joy or happy?
    assert matched("anger", own) is None
    assert matched("love", own) == "love"


def test_labels_without_a_partner_or_with_one_in_common_are_named() -> None:
    assert matched_all(("joy", "fear"), ("scared", "happiness"), "m") == {"joy": "happiness", "fear": "scared"}
    with pytest.raises(BadInput, match="m has no label 'trust' and 1 more of these 3 labels; it knows: joy"):
        matched_all(("joy", "trust", "fear"), ("joy",), "m")
    with pytest.raises(
        BadInput, match=r"it knows: LABEL_0, LABEL_1 \(numbers in place of names: id2label in its config"
    ):
        matched_all(("joy",), ("LABEL_0", "LABEL_1"), "m")
    with pytest.raises(BadInput, match="m has one label, 'joy', for both 'joy' and 'happiness'"):
        matched_all(("joy", "happiness"), ("joy", "fear"), "m")


@pytest.fixture
def scenes(tmp_path: Path) -> Path:
    path = tmp_path / "scenes.jsonl"
    labels = dict.fromkeys(PLUTCHIK, 0) | {"joy": 1}
    path.write_text(json.dumps({"id": "a", "text": TEXT, "subject": "the dog", "labels": labels}) + "\n")
    return path


def _odds(record: dict[str, Any]) -> list[float]:
    return [yes - no for yes, no in (record["scores"][name] for name in PLUTCHIK)]


def test_scenes_of_a_classifier_are_the_log_odds_of_its_own_labels(
    emotui: Emotui, tmp_path: Path, scenes: Path
) -> None:
    own = ("neutral", "Anger", "happiness", "sad", "scared", "disgust", "surprise", "trust", "anticipation")
    folder = hf_models.bert(tmp_path / "classifier", head="classes", labels=own)
    got = emotui("predict", "scenes", "--model", f"hf:{folder}", "--records", str(scenes), "--json").document
    assert got["failed"] == 0
    logits = naive_classes(folder, TEXT)
    names = ("happiness", "trust", "scared", "surprise", "sad", "disgust", "Anger", "anticipation")
    p = torch.softmax(logits, 0)
    expected = [float(torch.logit(p[own.index(name)])) for name in names]
    assert _odds(got["records"][0]) == pytest.approx(expected, abs=1e-4)
    run = emotui("run", "scenes", "--model", f"hf:{folder}", "--dataset", str(scenes), "--json").document
    assert (run["done"], run["failed"]) == (1, 0)
    # Where nothing was run over spans, tables are of what there is.
    assert emotui("results", "--no-sim", "--json").document["dataset"] == "scenes"


def test_a_classifier_that_lacks_emotions_is_refused_before_it_is_asked(
    emotui: Emotui, tmp_path: Path, scenes: Path
) -> None:
    folder = hf_models.bert(tmp_path / "ekman", head="classes", labels=("joy", "fear", "sadness"))
    got = emotui("predict", "scenes", "--model", f"hf:{folder}", "--records", str(scenes))
    assert got.status == 2
    assert "has no label 'trust' and 4 more of these 8 labels; it knows: joy, fear, sadness" in got.err


@pytest.mark.parametrize("wording", [None, "{subject} is full of {emotion}."])
def test_scenes_of_an_nli_model_are_entailment_against_contradiction_of_a_statement(
    emotui: Emotui, tmp_path: Path, scenes: Path, wording: str | None
) -> None:
    folder = hf_models.bert(tmp_path / "nli", head="classes", labels=("contradiction", "neutral", "entailment"))
    more = []
    if wording:
        (tmp_path / "own.toml").write_text(f'[nli]\nuser = "{wording}"\n')
        more = ["--prompts", str(tmp_path / "own.toml")]
    asked = ("predict", "scenes", "--model", f"hf:{folder}", "--records", str(scenes), "--json")
    (tmp_path / "blank.jsonl").write_text(json.dumps({"id": "a", "text": TEXT, "subject": "the dog"}) + "\n")
    (record,) = emotui(*asked, *more).document["records"]
    statements = [(wording or "{subject} feels {emotion}.").format(subject="The dog", emotion=e) for e in PLUTCHIK]
    rows = [naive_classes(folder, TEXT, statement) for statement in statements]
    assert _odds(record) == pytest.approx([float(row[2] - row[0]) for row in rows], abs=1e-4)


@pytest.mark.parametrize("against", ["not_entailment", "NOT-ENTAILMENT", "non entailment"])
def test_an_nli_model_of_two_labels_weighs_entailment_against_all_else(
    emotui: Emotui, tmp_path: Path, scenes: Path, against: str
) -> None:
    folder = hf_models.bert(tmp_path / "nli", head="classes", labels=("entailment", against))
    asked = ("predict", "scenes", "--model", f"hf:{folder}", "--records", str(scenes), "--json")
    (record,) = emotui(*asked).document["records"]
    rows = [naive_classes(folder, TEXT, f"The dog feels {emotion}.") for emotion in PLUTCHIK]
    assert _odds(record) == pytest.approx([float(row[0] - row[1]) for row in rows], abs=1e-4)


def test_labels_of_an_nli_model_are_judged_each_for_itself(emotui: Emotui, tmp_path: Path) -> None:
    folder = hf_models.bert(tmp_path / "nli", head="classes", labels=("contradiction", "neutral", "entailment"))
    (tmp_path / "texts.jsonl").write_text(json.dumps({"id": "a", "text": TEXT, "labels": ["joy", "fear"]}) + "\n")
    (tmp_path / "labels.txt").write_text("joy\nfear\n")
    asked = ("predict", "labels", "--model", f"hf:{folder}", "--records", "texts.jsonl", "--labels", "labels.txt")
    (record,) = emotui(*asked, "--json").document["records"]
    rows = [naive_classes(folder, TEXT, f"The writer of this text feels {label}.") for label in ("joy", "fear")]
    expected = {label: float(torch.sigmoid(row[2] - row[0])) for label, row in zip(("joy", "fear"), rows, strict=True)}
    assert record["labels"] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("read", [read_scenes_prompts, read_labels_prompts])
def test_a_statement_that_holds_the_text_or_a_system_message_is_refused(tmp_path: Path, read: Any) -> None:
    path = tmp_path / "own.toml"
    for wrong, why in [
        ('user = "So {text}: {emotion} {label}."', r"nli.user: \{text\}"),
        ('user = "{emotion} {label}."\nsystem = "x"', "nli.system"),
        ('user = "Nothing."', "should stand in it at least once"),
    ]:
        path.write_text(f"[nli]\n{wrong}\n")
        with pytest.raises(BadInput, match=why):
            read(str(path))
