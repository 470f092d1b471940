"""Agreement between raters: published worked examples, other implementations, and what is undefined."""

import itertools
import json
import random

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from emotui.errors import BadInput
from emotui.metrics.agreement import (
    agreement_report,
    cohen_kappa,
    fleiss_kappa,
    krippendorff_alpha,
    vectors_agreement_report,
)

Ratings = list[tuple[str, str, str]]


def random_ratings(items: int, raters: int, seed: int, kept: float = 1.0) -> Ratings:
    draw = random.Random(seed)
    return [(f"i{i}", f"r{r}", draw.choice("abc")) for i in range(items) for r in range(raters) if draw.random() < kept]


def test_fleiss_kappa_of_a_table_worked_by_hand() -> None:
    # Three raters, two items: (3, 0) agrees on 1, (1, 2) on 1/3; shares 4/6 and 2/6 give chance 20/36.
    assert fleiss_kappa([[3, 0], [1, 2]]) == pytest.approx((2 / 3 - 20 / 36) / (1 - 20 / 36))


def test_fleiss_kappa_equals_the_agreement_of_all_pairs_of_ratings() -> None:
    draw = np.random.default_rng(2)
    ratings = draw.integers(0, 4, (25, 5))
    pairs = [row[a] == row[b] for row in ratings for a, b in itertools.combinations(range(5), 2)]
    chance = sum(float((ratings == label).mean()) ** 2 for label in range(4))
    expected = (sum(pairs) / len(pairs) - chance) / (1 - chance)
    counts = [[int((row == label).sum()) for label in range(4)] for row in ratings]
    assert fleiss_kappa(counts) == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(4))
def test_cohen_kappa_equals_scikit_learn(seed: int) -> None:
    draw = random.Random(seed)
    first, second = [draw.choice("abc") for _ in range(20)], [draw.choice("bcd") for _ in range(20)]
    assert cohen_kappa(first, second) == pytest.approx(cohen_kappa_score(first, second))


def plain_alpha(ratings: Ratings) -> float:
    """1 - observed / expected disagreement over all pairs of ratings of items that have two or more."""
    by_item: dict[str, list[str]] = {}
    for item, _, label in ratings:
        by_item.setdefault(item, []).append(label)
    units = [labels for labels in by_item.values() if len(labels) > 1]
    values = [label for labels in units for label in labels]
    observed = sum(
        sum(a != b for a, b in itertools.permutations(labels, 2)) / (len(labels) - 1) for labels in units
    ) / len(values)
    expected = sum(a != b for a, b in itertools.permutations(values, 2)) / (len(values) * (len(values) - 1))
    return 1 - observed / expected


@pytest.mark.parametrize("seed", range(4))
def test_krippendorff_alpha_with_missing_ratings_equals_its_definition(seed: int) -> None:
    ratings = random_ratings(15, 4, seed, kept=0.6)
    assert agreement_report(ratings)["krippendorff_alpha"] == pytest.approx(plain_alpha(ratings))


def test_the_report_worked_by_hand() -> None:
    ratings = [("1", "a", "x"), ("1", "b", "x"), ("1", "c", "y"), ("2", "a", "y"), ("2", "b", "y"), ("2", "c", "y")]
    report = agreement_report(ratings)
    assert (report["items"], report["raters"]) == (2, 3)
    assert report["majority_agreement"] == pytest.approx((2 / 3 + 1) / 2)
    assert report["fleiss_kappa"] == pytest.approx((2 / 3 - 20 / 36) / (1 - 20 / 36))
    assert report["pairwise_cohen_kappa"] == [
        {"a": "a", "b": "b", "n": 2, "kappa": 1.0},
        {"a": "a", "b": "c", "n": 2, "kappa": 0.0},
        {"a": "b", "b": "c", "n": 2, "kappa": 0.0},
    ]
    assert report["mean_pairwise_cohen_kappa"] == pytest.approx(1 / 3)
    assert report["notes"] == {}


def test_fleiss_kappa_is_undefined_where_items_have_unequal_numbers_of_ratings() -> None:
    report = agreement_report(random_ratings(10, 3, seed=1)[1:])
    assert report["fleiss_kappa"] is None
    assert "unequal" in report["notes"]["fleiss_kappa"]
    assert report["krippendorff_alpha"] is not None


def test_the_order_of_the_ratings_does_not_matter() -> None:
    ratings = random_ratings(12, 3, seed=5, kept=0.8)
    shuffled = random.Random(0).sample(ratings, len(ratings))
    straight, other = agreement_report(ratings), agreement_report(shuffled)
    for name in ("krippendorff_alpha", "majority_agreement", "mean_pairwise_cohen_kappa"):
        assert other[name] == pytest.approx(straight[name])


@pytest.mark.parametrize(
    "ratings",
    [
        [],
        [("1", "a", "x")],
        [("1", "a", "x"), ("2", "b", "y")],
        [("1", "a", "x"), ("1", "b", "x"), ("2", "a", "x"), ("2", "b", "x")],
    ],
)
def test_what_is_undefined_is_null_with_a_note(ratings: Ratings) -> None:
    report = json.loads(json.dumps(agreement_report(ratings), allow_nan=False))
    undefined = {name for name, value in report.items() if value is None}
    assert {"krippendorff_alpha", "fleiss_kappa", "mean_pairwise_cohen_kappa"} <= undefined
    assert undefined <= set(report["notes"])


def test_full_agreement_on_two_labels_is_one_everywhere() -> None:
    report = agreement_report([(item, rater, item) for item in "xy" for rater in "abc"])
    assert report["krippendorff_alpha"] == report["fleiss_kappa"] == report["majority_agreement"] == 1.0


def test_a_rater_who_rates_an_item_twice_is_refused_by_name() -> None:
    with pytest.raises(BadInput, match="7: ann"):
        agreement_report([("7", "ann", "x"), ("7", "ann", "y")])


def test_unequal_rows_and_lists_are_refused() -> None:
    with pytest.raises(ValueError, match="same number"):
        fleiss_kappa([[2, 0], [1, 0]])
    with pytest.raises(ValueError):
        cohen_kappa(["a"], [])
    assert krippendorff_alpha(np.empty((0, 2))) is None


def test_agreement_on_vectors_asks_about_each_label_of_each_item() -> None:
    # Joy: yes and yes, no and no. Fear: yes and no, no and no. Three of four questions are answered alike.
    said = {
        "1": {"a": {"joy": 1, "fear": 1}, "b": {"joy": 1, "fear": 0}},
        "2": {"a": {"joy": 0, "fear": 0}, "b": {"joy": 0, "fear": 0}},
    }
    report = vectors_agreement_report(said)
    assert (report["items"], report["questions"], report["raters"]) == (2, 4, 2)
    assert report["mean_pairwise_cohen_kappa"] == pytest.approx((3 / 4 - 1 / 2) / (1 - 1 / 2))
    assert report["by_label"]["joy"] == dict.fromkeys(
        ("krippendorff_alpha", "fleiss_kappa", "mean_pairwise_cohen_kappa"), 1.0
    )
    # Fleiss: agreement 1/2, shares 1/4 and 3/4, chance 10/16. Cohen: a says yes 1/2, b never: chance 1/2.
    assert report["by_label"]["fear"]["fleiss_kappa"] == pytest.approx((1 / 2 - 10 / 16) / (1 - 10 / 16))
    assert report["by_label"]["fear"]["mean_pairwise_cohen_kappa"] == 0
