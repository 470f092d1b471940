"""The published Table 1 of EmoScene, as it stands in the package, holds together."""

import json
from importlib.resources import files

import pytest

TABLE = json.loads((files("emotui.sample_data") / "published" / "emoscene_table1.json").read_text(encoding="utf-8"))
Row = dict[str, dict[str, float]]
METRICS = ("lexical_accuracy", "vector_accuracy", "hamming_loss", "macro_f1")
HALF_A_LAST_DIGIT = {"lexical_accuracy": 0.005, "vector_accuracy": 0.005, "hamming_loss": 0.005, "macro_f1": 0.0005}


def test_there_are_six_models_with_four_metrics_and_every_row_cites_its_table() -> None:
    assert len({row["model"] for row in TABLE["rows"]}) == 6
    for row in TABLE["rows"]:
        assert (row["paper"], row["table"]) == ("EmoScene", "Table 1")
        assert all(set(row[name]) == {"baseline", "bayesian", "printed_change"} for name in METRICS)


@pytest.mark.parametrize("row", TABLE["rows"], ids=lambda row: row["model"])
def test_each_printed_change_is_the_difference_of_its_figures_but_for_rounding(row: Row) -> None:
    for name in METRICS:
        cell = row[name]
        sign = -1 if name == "hamming_loss" else 1  # the paper prints the improvement
        change = sign * (cell["bayesian"] - cell["baseline"])
        assert cell["printed_change"] == pytest.approx(change, abs=2 * HALF_A_LAST_DIGIT[name] + 1e-9)


@pytest.mark.parametrize("row", TABLE["rows"], ids=lambda row: row["model"])
def test_hamming_loss_is_what_lexical_accuracy_leaves_of_a_hundred(row: Row) -> None:
    for when in ("baseline", "bayesian"):
        assert row["lexical_accuracy"][when] + row["hamming_loss"][when] == pytest.approx(100.0)


def test_the_two_models_that_over_predict_are_those_that_gain() -> None:
    gains = {row["model"] for row in TABLE["rows"] if row["macro_f1"]["printed_change"] > 0.01}
    assert gains == {"Qwen2.5-7B-Instruct", "Gemma-2-2b-it"}


def test_the_figures_named_in_the_text_are_those_of_the_table() -> None:
    """Abstract and section 6: best macro F1 0.501, Qwen2.5-7B gains 0.051 and 6.275 points, Gemma-2-2b 7.858."""
    rows = {row["model"]: row for row in TABLE["rows"]}
    best = max(TABLE["rows"], key=lambda row: row["macro_f1"]["bayesian"])
    assert (best["model"], best["macro_f1"]["bayesian"]) == ("Gemma-2-9b-it", 0.501)
    assert rows["Qwen2.5-7B-Instruct"]["macro_f1"]["printed_change"] == 0.051
    assert rows["Qwen2.5-7B-Instruct"]["hamming_loss"]["printed_change"] == 6.275
    assert rows["Gemma-2-2b-it"]["lexical_accuracy"]["printed_change"] == 7.858
