"""An NLI model judges any labels that a person names, by a hypothesis that they may word themselves."""

import json
from pathlib import Path

import pytest

from emotui.backends.host import ModelProcess
from emotui.workbench.models.probe import probe
from tests.backends.hf import models as hf_models
from tests.backends.hf.test_kinds import naive_classes
from tests.conftest import Emotui

TEXTS = {"a": "we felt joy", "b": "i am very sad"}
LABELS = ("joy", "fear", "very sad")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "labels.txt").write_text("\n".join(LABELS) + "\n")
    lines = [json.dumps({"id": key, "text": text, "label": "joy"}) for key, text in TEXTS.items()]
    (tmp_path / "texts.jsonl").write_text("\n".join(lines))
    return hf_models.bert(tmp_path / "nli", head="classes", labels=("contradiction", "neutral", "entailment"))


@pytest.mark.parametrize("wording", [None, "The writer feels {}."])
def test_predict_class_judges_the_given_labels(emotui: Emotui, folder: Path, wording: str | None) -> None:
    spec = f"hf:{folder}" + (f"#hypothesis={wording}" if wording else "")
    asked = ("predict", "class", "--model", spec, "--records", "texts.jsonl", "--labels", "labels.txt")
    got = emotui(*asked, "--to", "said.jsonl", "--json").document
    assert (got["n"], got["failed"], got["labels"]) == (2, 0, list(LABELS))
    for record in got["records"]:
        hypotheses = [(wording or "This text expresses {}.").replace("{}", label) for label in LABELS]
        entailed = [naive_classes(folder, TEXTS[record["id"]], each)[2] for each in hypotheses]
        import torch

        expected = torch.stack(entailed).softmax(0).tolist()
        assert list(record["probs"].values()) == pytest.approx(expected, abs=1e-5)
        assert record["label"] == max(record["probs"], key=record["probs"].get)
    scored = emotui("score", "class", "--gold", "texts.jsonl", "--pred", "said.jsonl", "--json").document
    assert scored["n"] == 2


def test_without_labels_it_is_told_how_to_give_them(emotui: Emotui, folder: Path) -> None:
    got = emotui("predict", "class", "--model", f"hf:{folder}", "--records", "texts.jsonl")
    assert (got.status, got.err.count("\n")) == (2, 1)
    assert "has no labels of its own" in got.err
    assert "--labels FILE" in got.err


def test_a_probe_judges_the_given_labels_and_says_which_words_carry_the_likeliest(emotui: Emotui, folder: Path) -> None:
    asked = ("probe", TEXTS["a"], "--model", f"hf:{folder}", "--json")
    given = emotui(*asked, "--labels", "labels.txt").document
    assert set(given["classes"]) == {"given"}
    assert tuple(given["classes"]["given"]["probs"]) == LABELS
    assert given["words"]["label"] == given["classes"]["given"]["label"]
    assert [word["word"] for word in given["words"]["words"]] == TEXTS["a"].split()
    eight = emotui(*asked).document
    assert len(eight["classes"]["plutchik"]["probs"]) == 8
    assert len(eight["emotions"]) == 8


def test_a_hypothesis_without_a_place_for_the_label_is_one_line(emotui: Emotui, folder: Path) -> None:
    got = emotui("probe", "x", "--model", f"hf:{folder}#hypothesis=It is so.")
    assert (got.status, got.err) == (2, "hf: option hypothesis needs one {} where the label goes\n")


def test_words_that_are_asked_for_alone_carry_the_likeliest_of_plutchiks_emotions(folder: Path) -> None:
    """As in Spot check, which asks for what takes longer when typing has rested."""
    with ModelProcess(f"hf:{folder}") as model:
        alone = probe(model, TEXTS["a"], parts=("words",))
        classes = probe(model, TEXTS["a"], parts=("classes",)).classes
    assert alone.words is not None
    assert classes is not None
    assert alone.words.label == classes["plutchik"].label
    assert alone.notes.keys().isdisjoint({"words"})
