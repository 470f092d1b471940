"""`--map-labels`: a model under other names for its labels, each figure that of its own labels."""

import json
from pathlib import Path

import pytest

from emotui.backends.base import Attribute, Classify, Refused, Score
from emotui.backends.host import ModelProcess
from emotui.backends.relabelled import split_label_map, with_label_map
from emotui.errors import BadModel
from tests.backends.hf import models as hf_models
from tests.backends.hf.test_kinds import naive_classes
from tests.conftest import Emotui

OWN = ("joy", "sadness", "fear", "anger")
TEXT = "we felt joy"


def _folder(tmp_path: Path, *, multi: bool = False) -> Path:
    return hf_models.bert(tmp_path / "own", head="classes", labels=OWN, multi=multi)


def _mapped(tmp_path: Path, lines: str, *, multi: bool = False) -> ModelProcess:
    (tmp_path / "m.toml").write_text(lines, encoding="utf-8")
    return ModelProcess(with_label_map(f"hf:{_folder(tmp_path, multi=multi)}", str(tmp_path / "m.toml")))


def test_a_spec_holds_the_file_beside_its_other_options() -> None:
    for spec in ("embedded", "hf:x#device=cpu", "hf:x#hypothesis=a b"):
        assert split_label_map(with_label_map(spec, "a & b#/ü.toml")) == (spec, "a & b#/ü.toml")
    assert split_label_map("hf:x#device=cpu") == ("hf:x#device=cpu", None)


@pytest.mark.parametrize("multi", [False, True])
def test_a_label_under_a_new_name_has_the_probability_of_its_own(tmp_path: Path, multi: bool) -> None:
    logits = naive_classes(_folder(tmp_path, multi=multi), TEXT).double()
    own = (logits.sigmoid() if multi else logits.softmax(0)).tolist()
    with _mapped(tmp_path, 'joy = "Freude"\nfear = "Negativ"\nanger = "Negativ"\n', multi=multi) as model:
        card = model.load()
        [whole, chosen, strange] = model.ask(
            [Classify(TEXT), Classify(TEXT, labels=("Negativ",)), Classify(TEXT, labels=("joy",))]
        )
    assert card.labels == {"labels": ("Freude", "sadness", "Negativ")}
    together = 1 - (1 - own[2]) * (1 - own[3]) if multi else own[2] + own[3]
    expected = {"Freude": own[0], "sadness": own[1], "Negativ": together}
    assert dict(whole.probs) == pytest.approx(expected, abs=1e-6)
    assert list(whole.probs) == list(expected)
    assert whole.label == max(expected, key=lambda name: expected[name])
    assert dict(chosen.probs) == pytest.approx({"Negativ": together}, abs=1e-6)
    assert isinstance(strange, Refused)


def test_heads_and_words_are_asked_about_by_the_models_own_name_and_of_one_label_at_a_time(tmp_path: Path) -> None:
    with ModelProcess(f"hf:{_folder(tmp_path)}") as plain:
        [scores, words] = plain.ask([Score(TEXT, ("sadness", "joy")), Attribute(TEXT, "joy")])
    with _mapped(tmp_path, 'joy = "Freude"\nfear = "Negativ"\nanger = "Negativ"\n') as model:
        [renamed, carried] = model.ask([Score(TEXT, ("sadness", "Freude")), Attribute(TEXT, "Freude")])
        refused = model.ask([Score(TEXT, ("Negativ",)), Attribute(TEXT, "Negativ")])
    assert (renamed.yes, renamed.no) == (scores.yes, scores.no)
    assert (carried.label, carried.words) == ("Freude", words.words)
    assert all("several labels of the model (fear, anger)" in answer.why for answer in refused)


def test_names_change_who_the_model_is_and_wrong_ones_are_one_line(tmp_path: Path) -> None:
    with ModelProcess(f"hf:{_folder(tmp_path)}") as plain, _mapped(tmp_path, 'joy = "Freude"') as model:
        own, other = plain.load().identity, model.load().identity
    assert {key for key in other if own.get(key) != other[key]} == {"map_labels"}
    with (
        _mapped(tmp_path, 'glee = "Freude"') as model,
        pytest.raises(BadModel, match="has no label 'glee'; it has: joy"),
    ):
        model.load()


def test_a_dataset_whose_labels_have_other_names_runs_once_the_file_says_which_is_which(
    emotui: Emotui, tmp_path: Path
) -> None:
    rows = [("a", TEXT, "Freude"), ("b", "i am very sad", "Trauer")]
    lines = [json.dumps({"id": key, "text": text, "labels": [label]}) for key, text, label in rows]
    (tmp_path / "t.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    folder = _folder(tmp_path)
    run = ("run", "labels", "--model", f"hf:{folder}", "--dataset", "t.jsonl", "--db", "w.duckdb")
    refused = emotui(*run)
    assert refused.status == 2
    assert "--map-labels FILE names the model's labels anew, with lines such as: " in refused.err
    (tmp_path / "m.toml").write_text('joy = "Freude"\nsadness = "Trauer"\n', encoding="utf-8")
    done = emotui(*run, "--map-labels", "m.toml", "--json").document
    assert (done["done"], done["failed"]) == (2, 0)
    asked = ("predict", "labels", "--model", f"hf:{folder}", "--records", "t.jsonl", "--map-labels", "m.toml", "--json")
    [first, _] = emotui(*asked).document["records"]
    own = naive_classes(folder, TEXT).double().softmax(0)
    assert first["labels"]["Freude"] == pytest.approx(float(own[0]), abs=1e-6)
    resumed = emotui("run", "labels", "--resume", done["run"], "--map-labels", "m.toml", "--db", "w.duckdb")
    assert (resumed.status, resumed.err.count("\n")) == (2, 1)
