"""Errors and differences of masked predictions, by hand and against scipy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import wilcoxon

from emotui.metrics.masked import MaskScore, scored_masks
from emotui.metrics.masked_errors import normalised_mispredictions, word_counts
from emotui.metrics.masked_pairs import compare_masks

LEXICON = {"sad": (1, 0), "low": (1, 0), "glad": (0, 1), "odd": (0, 0)}


def worth(*values: float) -> list[MaskScore]:
    return [MaskScore("sad", "low", value == 1, value == 1, value) for value in values]


def test_mispredictions_are_by_share_of_the_label_over_all_models_and_rare_labels_are_left_out() -> None:
    gold = {"a": ["sad", "sad"], "b": ["glad"], "c": ["sad"]}
    one = {"a": ["glad", "low"], "b": ["sad"], "c": ["sad"]}
    two = {"a": ["glad"], "b": ["glad"], "c": ["odd"]}
    models = [scored_masks(gold, said, LEXICON) for said in (one, two)]
    found = normalised_mispredictions(models, supplement={"odd"})
    assert found == [
        {"label": "glad", "predicted": "sad", "count": 1, "masks": 2, "share": 1 / 2},
        {"label": "sad", "predicted": "glad", "count": 2, "masks": 6, "share": 1 / 3},
        {"label": "sad", "predicted": "odd", "count": 1, "masks": 6, "share": 1 / 6, "supplement": ["odd"]},
    ]
    assert {row["label"] for row in normalised_mispredictions(models, least=2)} == {"sad"}


def test_words_are_counted_as_people_and_models_use_them_without_what_is_beyond_the_last_mask() -> None:
    gold = {"a": ["sad", "Sad "], "b": ["glad"]}
    said = {"m": {"a": ["low", "sad", "extra"], "b": ["low"]}, "n": {"a": ["low"], "b": [""]}}
    assert word_counts(gold, said) == [
        {"word": "sad", "gold": 2, "models": {"m": 1, "n": 0}, "difference": -1.5},
        {"word": "glad", "gold": 1, "models": {"m": 0, "n": 0}, "difference": -1.0},
        {"word": "low", "gold": 0, "models": {"m": 2, "n": 1}, "difference": 1.5},
    ]
    assert len(word_counts(gold, said, top=1)) == 1


SCORES = st.tuples(st.sampled_from((0.0, 0.4, 1.0)), st.sampled_from((0.0, 0.4, 1.0)))


# scipy is exact with ties up to 13 differences, for which it tries all 2**n signs one by one.
@given(st.lists(SCORES, min_size=1, max_size=7))
def test_the_test_is_scipys_and_turning_the_two_round_turns_the_alternative_and_the_signs(
    pairs: list[tuple[float, float]],
) -> None:
    first, second = (worth(*column) for column in zip(*pairs, strict=True))
    there = compare_masks(first, second, "f1_v", "greater")
    back = compare_masks(second, first, "f1_v", "less")
    assert there["wilcoxon_p"] == back["wilcoxon_p"]
    assert (there["better"], there["worse"], there["tied"]) == (back["worse"], back["better"], back["tied"])
    differences = np.array([a - b for a, b in pairs])
    if differences.any():
        assert there["wilcoxon_p"] == pytest.approx(wilcoxon(differences, alternative="greater").pvalue)
    else:
        assert (there["wilcoxon_p"], set(there["notes"]) >= {"wilcoxon_p"}) == (None, True)


def test_masks_whose_scores_are_equal_but_for_rounding_are_tied() -> None:
    found = compare_masks(worth(*[0.1 + 0.2] * 12), worth(*[0.3] * 12))
    assert (found["better"], found["worse"], found["tied"], found["wilcoxon_p"]) == (0, 0, 12, None)
    # .3 - .2 and .2 - .1 have one rank; apart by rounding alone they would have two.
    mixed = compare_masks(worth(0.3, 0.2, 0.9, 0.1), worth(0.2, 0.3, 0.1, 0.2))
    assert mixed["wilcoxon_p"] == pytest.approx(wilcoxon([1, -1, 8, -1]).pvalue)


def test_cohens_d_is_told_by_both_conventions() -> None:
    # Differences 1, 0, 0, 1: mean 1/2, deviation sqrt(1/3). Variances 0 and 1/3: their mean 1/6.
    told = compare_masks(worth(1, 1, 1, 1), worth(0, 1, 1, 0), "acc_v")
    assert told["cohens_d"] == pytest.approx(0.5 * 3**0.5)
    assert told["cohens_d_pooled"] == pytest.approx(0.5 * 6**0.5)
    assert (told["mean_a"], told["mean_b"], told["mean_difference"]) == (1, 0.5, 0.5)
    with pytest.raises(ValueError, match="1 and 0 masks"):
        compare_masks(worth(1), [])


def test_what_is_undefined_of_two_models_says_why() -> None:
    assert compare_masks(worth(1, 1, 1, 1), worth(0, 1, 1, 0), "acc_v")["notes"] == {}
    assert compare_masks(worth(1, 1), worth(0, 1), "acc_v")["cohens_d_pooled"] == pytest.approx(1.0)
    one = compare_masks(worth(1), worth(0), "acc_v")
    assert (one["mean_a"], one["cohens_d"], one["cohens_d_pooled"]) == (1.0, None, None)
    assert set(one["notes"]) == {"cohens_d", "cohens_d_pooled"}
    nothing = compare_masks([], [], "acc_v")
    assert (nothing["mean_a"], nothing["mean_b"], nothing["mean_difference"]) == (None, None, None)


def test_equal_shares_stand_by_count_and_words_by_what_people_and_then_models_say() -> None:
    gold = {"a": ["sad", "sad", "glad"]}
    models = [scored_masks(gold, {"a": ["glad", "glad", "sad"]}, LEXICON)]
    assert [row["label"] for row in normalised_mispredictions(models)] == ["sad", "glad"]
    said = {"m": {"a": ["low", "odd", "odd"]}}
    assert [row["word"] for row in word_counts(gold, said)] == ["sad", "glad", "odd", "low"]
    assert word_counts(gold, {})[0] == {"word": "sad", "gold": 2, "models": {}, "difference": None}
    assert len(word_counts({"a": [f"word{at}" for at in range(80)]}, {})) == 75
