"""Models that mark spans, as a person asks them: `predict spans`, `run spans`, and what the run is scored as."""

import json
from pathlib import Path

import pytest

from tests.backends.hf import span_models
from tests.conftest import Emotui

TEXTS = {"a": "so Happy 😀 glad today", "b": "the fear ran home", "c": "no dog"}
GOLD = {"a": [[3, 15, "joy"]], "b": [[4, 8, "sadness"]], "c": []}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    told = {"happy": "B-joy", "😀": "I-joy", "glad": "I-joy", "fear": "B-fear"}
    span_models.telling_tagger(tmp_path / "tags", ("O", "B-joy", "I-joy", "B-fear", "I-fear"), told)
    rows = [{"id": key, "text": text, "spans": GOLD[key]} for key, text in TEXTS.items()]
    (tmp_path / "gold.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return tmp_path


def test_a_token_classifiers_spans_are_written_with_labels_and_strengths(emotui: Emotui, files: Path) -> None:
    asked = ("predict", "spans", "--model", f"hf:{files / 'tags'}", "--records", "gold.jsonl", "--to", "p.jsonl")
    assert emotui(*asked).status == 0
    found = {row["id"]: row["spans"] for row in map(json.loads, (files / "p.jsonl").read_text().splitlines())}
    assert [[span["start"], span["end"], span["label"]] for span in found["a"]] == [[3, 15, "joy"]]
    assert [[span["start"], span["end"], span["label"]] for span in found["b"]] == [[4, 8, "fear"]]
    assert found["c"] == []
    assert 0 < found["a"][0]["score"] <= 1


def test_spans_on_standard_output_are_those_of_a_file(emotui: Emotui, files: Path) -> None:
    asked = ("predict", "spans", "--model", f"hf:{files / 'tags'}", "--records", "gold.jsonl")
    lines = [json.loads(line)["spans"] for line in emotui(*asked).out.splitlines()]
    document = emotui(*asked, "--to", "p.jsonl", "--json").document
    written = [json.loads(line)["spans"] for line in (files / "p.jsonl").read_text().splitlines()]
    assert lines == written == [record["spans"] for record in document["records"]]
    assert set(lines[0][0]) == {"start", "end", "label", "score"}


def test_a_run_of_a_token_classifier_is_scored_with_its_labels(emotui: Emotui, files: Path) -> None:
    done = emotui("run", "spans", "--model", f"hf:{files / 'tags'}", "--dataset", "gold.jsonl", "--json").document
    assert (done["n"], done["done"], done["failed"]) == (3, 3, 0)
    assert done["metrics"]["f1"] == 1
    assert done["metrics"]["labels"]["confusion"] == {"joy": {"joy": 1}, "sadness": {"fear": 1}}


def test_a_run_of_a_question_answering_model(emotui: Emotui, files: Path) -> None:
    folder = span_models.telling_reader(
        files / "reads", {"happy": 2.0, "fear": 2.0, "[CLS]": 1.0}, {"glad": 2.0, "fear": 2.0, "[CLS]": 1.0}
    )
    spec = f"hf:{folder}#question=Which words show fear?"
    done = emotui("run", "spans", "--model", spec, "--dataset", "gold.jsonl", "--json").document
    assert done["metrics"]["f1"] == 1
    assert "labels" not in done["metrics"]
