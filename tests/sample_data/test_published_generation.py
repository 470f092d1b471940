"""Tables 4 to 14 of the emotion generation paper hold together, and its correlations come out of them."""

import pytest

from emotui.metrics.ers import class_f1_of_recall
from emotui.workbench.generation.figures import (
    CORRELATION,
    HUMAN,
    TOTAL,
    published_tables,
    table_11,
    table_11_on_all_texts,
)

TABLES = published_tables().tables
MODELS = {"GPT-4.1", "LLaMA-3.3-70B", "LLaMA-3.1-8B", "Mistral-Nemo-12B", "GPT-4o-mini"}
SEVEN = {"confusion", "contentment", "disappointment", "disgust", "joy", "neutral", "surprise"}


def test_there_are_eleven_tables_of_five_models_or_seven_emotions() -> None:
    assert list(TABLES) == list(map(str, range(4, 15)))
    for number in ("4", "6", "7", "9", "12"):
        assert set(TABLES[number]) == MODELS
    assert set(TABLES["11"]) == MODELS | {CORRELATION}
    assert set(TABLES["10"]) == SEVEN | {TOTAL}
    assert set(TABLES["8"]) == SEVEN | {"total"}
    for number in ("13", "14"):
        assert set(TABLES[number]) == SEVEN | {"accuracy", "macro avg", "weighted avg"}
    assert len(TABLES["5"]) == 13


def test_table_7_has_84_texts_a_model_and_the_f1_of_their_neutral_share() -> None:
    for row in TABLES["7"].values():
        assert sum(row[emotion] for emotion in SEVEN) == 84
        assert round(class_f1_of_recall(row["neutral"] / 84), 4) == row["f1"]


@pytest.mark.parametrize("number", ["13", "14"])
def test_f1_and_means_follow_from_precision_recall_and_support(number: str) -> None:
    table = TABLES[number]
    seven = [table[emotion] for emotion in sorted(SEVEN)]
    for row in seven:
        assert row["f1"] == pytest.approx(
            2 * row["precision"] * row["recall"] / (row["precision"] + row["recall"]), abs=2e-3
        )
    assert sum(row["support"] for row in seven) == table["accuracy"]["support"] == 964
    for name in ("precision", "recall", "f1"):
        assert table["macro avg"][name] == pytest.approx(sum(row[name] for row in seven) / 7, abs=1e-3)
        weighted = sum(row[name] * row["support"] for row in seven) / 964
        assert table["weighted avg"][name] == pytest.approx(weighted, abs=1.1e-3)
    assert table["accuracy"]["accuracy"] == pytest.approx(table["weighted avg"]["recall"], abs=1e-3)


def test_table_12_has_the_accuracies_of_tables_13_and_14() -> None:
    assert TABLES["12"]["GPT-4.1"]["ers:GPT-5-nano"] == pytest.approx(TABLES["13"]["accuracy"]["accuracy"], abs=5e-4)
    assert TABLES["12"]["LLaMA-3.3-70B"]["ers:DeepSeek-v3.2"] == pytest.approx(
        TABLES["14"]["accuracy"]["accuracy"], abs=5e-4
    )


def test_the_human_f1_of_tables_10_and_11_is_the_same_but_for_rounding() -> None:
    for model in MODELS:
        assert TABLES["10"][TOTAL][model] == pytest.approx(TABLES["11"][model][HUMAN], abs=0.0051)


def test_table_11_comes_out_oriented_of_its_own_columns_but_for_rounding() -> None:
    found = table_11()
    assert len(found) == 13
    for name, one in found.items():
        assert one["oriented_pearson"] == pytest.approx(TABLES["11"][CORRELATION][name], abs=0.0085)
        assert one["n"] == 5
        assert one["p_holm"] > 0.05
    assert found["eps_emotionless"]["pearson"] == pytest.approx(0.893, abs=5e-4)
    assert found["r3_m"]["pearson"] == pytest.approx(-0.654, abs=5e-4)
    best = found["ers:DeepSeek-v3.2"]
    assert best["pearson"] == pytest.approx(0.976, abs=5e-4)
    assert best["ci"] == pytest.approx([0.677, 0.998], abs=5e-3)


def test_on_all_texts_the_two_judges_go_with_people_less() -> None:
    found = table_11_on_all_texts()
    assert found["ers:GPT-5-nano"]["pearson"] == pytest.approx(0.958, abs=5e-4)
    assert found["ers:DeepSeek-v3.2"]["pearson"] == pytest.approx(0.837, abs=5e-4)
