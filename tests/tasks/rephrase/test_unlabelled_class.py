"""A text of one label that nobody has labelled yet: browsed, scored by nobody, counted apart, made gold later."""

import json
from pathlib import Path

import pytest

from emotui.records import ClassGold
from emotui.tasks.rephrase.task import Prediction, Rephrase
from emotui.tasks.task import Parsed
from emotui.workbench.rephrase.chains import stored_texts
from emotui.workbench.said import said_of
from emotui.workbench.workspace import Workspace
from tests.conftest import Emotui

GOLD = [
    {"id": "a", "text": "I won.", "label": "joy"},
    {"id": "b", "text": "They left.", "label": "sadness"},
    {"id": "c", "text": "Nobody labelled this."},
]
SAID = [{"id": "a", "label": "joy"}, {"id": "b", "label": "joy"}, {"id": "c", "label": "fear"}]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for name, rows in (("gold", GOLD), ("said", SAID)):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return tmp_path


def test_an_unlabelled_text_is_left_out_of_scores_which_say_so(emotui: Emotui, files: Path) -> None:
    scored = emotui("score", "class", "--gold", "gold.jsonl", "--pred", "said.jsonl", "--json").document
    assert (scored["n"], scored["unlabelled"], scored["accuracy"]) == (2, 1, 0.5)
    assert emotui("import", "class", "gold.jsonl", "--name", "mine").status == 0
    kept = emotui("import", "predictions", "said.jsonl", "--dataset", "mine", "--source", "x", "--json").document
    assert {key: kept["metrics"][key] for key in ("n", "unlabelled", "accuracy")} == {
        "n": 2,
        "unlabelled": 1,
        "accuracy": 0.5,
    }


def test_it_is_browsed_and_kept_out_of_rephrasing_until_somebody_s_word_is_made_gold(
    emotui: Emotui, files: Path
) -> None:
    emotui("import", "class", "gold.jsonl", "--name", "mine", "--db", "w.duckdb")
    said = ("import", "predictions", "said.jsonl", "--dataset", "mine", "--source", "x", "--db", "w.duckdb")
    assert emotui(*said).status == 0
    store = Workspace.open(files / "w.duckdb").store
    (line,) = said_of(store, "mine", 3, "x").answers[0].lines
    assert (line.gold, line.predicted, line.mark) == ("", "fear", "")
    assert [row.emotion for row in store.list_rows.page([1, 2, 3], "x")] == ["joy", "sadness", None]
    assert [row.marks for row in store.list_rows.page([1, 2, 3], "x")] == ["", "M", ""]
    dataset = store.datasets.get("mine")
    assert dataset is not None
    assert list(stored_texts(store, dataset)) == [1, 2]
    assert emotui("make-gold", "mine", "x", "--db", "w.duckdb").status == 0
    assert list(stored_texts(store, dataset)) == [1, 2, 3]


def test_of_unlabelled_texts_alone_there_is_no_figure() -> None:
    sample = ClassGold(id="c", text="t")
    (row,) = Rephrase().score([Parsed(sample, 0, Prediction("fear", {"fear": 1.0}))], None)
    assert row.values == {"accuracy": None, "confidence": None}
    assert Rephrase().report([sample], [row]) == {"n": 0, "unlabelled": 1}
    assert Rephrase().as_gold(sample, Prediction("")).label is None
