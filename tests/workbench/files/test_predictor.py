"""`emotui.Predictor`, which engines call with batches, says what `emotui predict` says."""

import json
import os
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import emotui as package
from emotui.errors import BadInput, ModelError
from emotui.workbench.files.predict import BATCH
from tests.backends.installed_kind import install_kind
from tests.conftest import Emotui

WORDS = ("sad", "glad", "afraid", "calm")
TEXTS = [f"I was {word} {'so ' * (n % 13)}today ({n})." for n in range(25) for word in WORDS]
BATCHES = (slice(0, BATCH), slice(BATCH, None))


@pytest.fixture
def records(tmp_path: Path) -> Path:
    path = tmp_path / "texts.jsonl"
    path.write_text("".join(json.dumps({"id": f"t{n}", "text": text}) + "\n" for n, text in enumerate(TEXTS)))
    return path


@pytest.fixture
def predictor() -> Iterator[package.Predictor]:
    with package.Predictor("labels") as made:
        yield made


@pytest.mark.parametrize("kind", ["labels", "class", "spans", "scenes"])
def test_its_records_are_the_lines_that_predict_writes(emotui: Emotui, records: Path, kind: str) -> None:
    assert emotui("predict", kind, "--records", records, "--to", "whole.jsonl").status == 0
    whole = (records.parent / "whole.jsonl").read_text("utf-8").splitlines()
    ids = [f"t{n}" for n in range(len(TEXTS))]
    with package.Predictor(kind) as predictor:
        lines = [predictor({"id": ids[part], "text": TEXTS[part]}) for part in BATCHES]
    assert [line for batch in lines for line in batch["record"]] == whole
    assert {why for batch in lines for why in batch["why"]} == {""}
    first, said = json.loads(whole[0]), lines[0]
    for name in {"labels", "label", "probs", "scores"} & first.keys():
        assert said[name][0] == first[name]
    if kind == "spans":
        for text, line, spans in zip(TEXTS[:BATCH], whole, said["spans"], strict=False):
            assert [span["text"] for span in spans] == [text[span["start"] : span["end"]] for span in spans]
            assert [
                {name: value for name, value in span.items() if name != "text" and value is not None} for span in spans
            ] == json.loads(line)["spans"]


def test_columns_are_taken_as_lists_arrays_and_of_a_data_frame(predictor: package.Predictor) -> None:
    lists = predictor({"id": [1, 2], "text": TEXTS[:2], "more": [[1], None]})
    assert lists["more"] == [[1], None]
    assert [json.loads(line)["id"] for line in lists["record"]] == ["1", "2"]
    for text in (np.array(TEXTS[:2]), np.array(TEXTS[:2], dtype=object)):
        arrays = predictor({"id": np.array([1, 2]), "text": text})
        assert arrays["record"] == lists["record"]
        assert arrays["text"] is text
    frame = predictor(pd.DataFrame({"id": ["1", "2"], "text": TEXTS[:2]}))  # type: ignore[arg-type]
    assert frame["record"] == lists["record"]
    assert {len(column) for column in predictor({"text": []}).values()} == {0}


def test_a_row_that_is_no_text_costs_itself(predictor: package.Predictor) -> None:
    said = predictor({"text": [TEXTS[0], None, float("nan"), 5, "\ud800"], "id": ["a", "b", "c", "d", "e"]})
    assert said["why"][0] == ""
    assert all(said["why"][1:])
    assert "5" in said["why"][3]
    assert said["labels"][0]
    assert said["labels"][1:] == [None] * 4
    assert json.loads(said["record"][1])["labels"] == {}


def test_what_the_model_refuses_costs_itself_and_its_death_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    install_kind(monkeypatch, "killing", "tests.backends.killing_backend:load")
    with package.Predictor("spans", "killing:") as predictor:
        said = predictor({"text": ["I wept", "I laughed"]})
        assert [[span["text"] for span in spans] for spans in said["spans"]] == [["I"], ["I"]]
        assert said["spans"][0][0]["score"] == len("I wept") / 1000
        predictor.close()
        assert predictor({"text": ["I wept"]})["spans"] == said["spans"][:1]  # asked again, it is loaded again
    with pytest.raises(ModelError, match="embedded cannot"), package.Predictor("values") as predictor:
        predictor({"text": ["I wept"]})


def test_it_travels_without_its_model(predictor: package.Predictor) -> None:
    fresh = pickle.dumps(predictor)
    said = predictor({"text": TEXTS[:3]})
    assert pickle.dumps(predictor) == fresh  # `datasets` names what it keeps by these bytes
    with pickle.loads(fresh) as other:
        assert other({"text": TEXTS[:3]}) == said


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks on this system")
def test_a_fork_loads_its_own_and_leaves_its_parents_alone(predictor: package.Predictor, tmp_path: Path) -> None:
    said = predictor({"text": TEXTS[:3]})
    if (child := os.fork()) == 0:
        status = 1
        try:
            predictor_here: Any = predictor
            (tmp_path / "said").write_text(json.dumps(predictor_here({"text": TEXTS[:3]})["record"]))
            predictor.close()
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    assert json.loads((tmp_path / "said").read_text()) == said["record"]
    assert predictor({"text": TEXTS[:3]}) == said


def test_what_cannot_be_asked_is_told_in_a_line() -> None:
    with pytest.raises(BadInput, match="nope"):
        package.Predictor("nope")
    with pytest.raises(BadInput, match="no backend of kind 'hx'"):
        package.Predictor("labels", "hx:1")
    predictor = package.Predictor("labels", text="body")
    with pytest.raises(BadInput, match=r"no column 'body' \(there: text\)"):
        predictor({"text": ["a"]})
    with pytest.raises(BadInput, match="has a column 'labels' already"):
        predictor({"body": ["a"], "labels": [["joy"]]})
    with package.Predictor("labels", text="body", prefix="said_") as other:
        assert set(other({"body": ["a"], "labels": [["joy"]]})) == {
            "body",
            "labels",
            "said_record",
            "said_why",
            "said_labels",
        }
