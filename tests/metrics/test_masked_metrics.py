"""Masked words against words and vectors, worked by hand, and against scikit-learn's F1 of a pair."""

import itertools
import json

import numpy as np
import pytest
from sklearn.metrics import f1_score

from emotui.errors import BadInput
from emotui.metrics.masked import DIMENSIONS, _parts, masked_report, score_mask, vector_f1


def vector(*names: str) -> tuple[int, ...]:
    return tuple(int(name in names) for name in DIMENSIONS)


LEXICON = {
    "angry": vector("anger", "disgust", "negative"),
    "furious": vector("anger", "disgust", "negative"),
    "afraid": vector("fear", "negative"),
    "happy": vector("joy", "trust", "anticipation", "positive"),
    "meh": vector(),
    "blank": vector(),
}


def test_equal_vectors_of_different_words_count_for_vectors_and_not_for_words() -> None:
    mask = score_mask("Angry ", " FURIOUS", LEXICON)
    assert (mask.same_word, mask.same_vector, mask.f1) == (False, True, 1.0)


def test_vector_f1_worked_by_hand() -> None:
    # afraid against angry: 1 shared of 2 and of 3: P 1/3, R 1/2, F1 2/5.
    assert vector_f1(LEXICON["afraid"], LEXICON["angry"]) == pytest.approx(0.4)


def test_two_all_zero_vectors_match_but_have_f1_zero() -> None:
    for word in ("meh", "blank"):
        mask = score_mask("meh", word, LEXICON)
        assert mask.same_vector
        assert mask.f1 == 0.0


def test_a_word_outside_the_lexicon_is_right_only_against_itself() -> None:
    assert score_mask("gutted", "Gutted", LEXICON).f1 == 1.0
    assert score_mask("gutted", "gutted", LEXICON).same_vector
    for pair in (("gutted", "angry"), ("angry", "gutted"), ("gutted", "floored")):
        mask = score_mask(*pair, LEXICON)
        assert (mask.same_word, mask.same_vector, mask.f1) == (False, False, 0.0)


def test_vector_f1_equals_scikit_learn_for_all_pairs_of_five_dimensions() -> None:
    pairs = list(itertools.product(itertools.product((0, 1), repeat=5), repeat=2))
    # Each pair is a column: scikit-learn gives the F1 of each label of several.
    gold, predicted = (np.array(side).T for side in zip(*pairs, strict=True))
    expected = f1_score(gold, predicted, average=None, zero_division=0)
    assert [vector_f1(*pair) for pair in pairs] == pytest.approx(expected)


def test_the_report_worked_by_hand() -> None:
    gold = {"a": ["angry", "happy", "gutted"], "b": ["angry", "afraid"], "c": []}
    predicted = {"a": ["furious", "afraid", "gutted", "extra"], "b": ["afraid"], "c": []}
    report = masked_report(gold, predicted, LEXICON)
    assert report["n"] == 3
    assert report["masks"] == 5
    assert report["acc_l"] == pytest.approx(1 / 5)
    assert report["acc_v"] == pytest.approx(2 / 5)
    assert report["f1_v"] == pytest.approx((1 + 0 + 1 + 0.4 + 0) / 5)
    assert report["valid_answers"] == pytest.approx(1 / 3)  # only the empty one is as long as it should be
    assert report["gold_in_lexicon"] == pytest.approx(4 / 5)
    assert report["pred_in_lexicon"] == pytest.approx(3 / 4)
    assert report["top_mispredictions"] == [
        {"label": "happy", "predicted": "afraid", "count": 1, "share": 1.0},
        {"label": "angry", "predicted": "afraid", "count": 1, "share": 0.5},
    ]


def test_mispredictions_are_counted_over_records_and_the_commonest_comes_first() -> None:
    gold = {str(i): ["angry"] for i in range(4)} | {"h": ["happy"]}
    predicted = {"0": ["afraid"], "1": ["Afraid"], "2": ["angry"], "3": ["happy"], "h": ["meh"]}
    top = masked_report(gold, predicted, LEXICON, top=2)["top_mispredictions"]
    assert top == [
        {"label": "angry", "predicted": "afraid", "count": 2, "share": 0.5},
        {"label": "happy", "predicted": "meh", "count": 1, "share": 1.0},
    ]


@pytest.mark.parametrize("answer", [[], [""], ["  "]])
def test_a_missing_or_empty_answer_is_wrong_and_no_word(answer: list[str]) -> None:
    report = masked_report({"a": ["meh"]}, {"a": answer}, LEXICON)
    assert (report["acc_l"], report["acc_v"], report["f1_v"]) == (0, 0, 0)
    assert report["pred_in_lexicon"] is None
    assert "pred_in_lexicon" in report["notes"]
    assert report["top_mispredictions"] == []


def test_over_no_mask_every_rate_is_undefined_and_says_why() -> None:
    report = json.loads(json.dumps(masked_report({}, {}, LEXICON), allow_nan=False))
    for name in ("acc_l", "acc_v", "f1_v", "gold_in_lexicon", "pred_in_lexicon"):
        assert report[name] is None
        assert report["notes"][name]


def test_ids_in_one_file_only_are_refused_by_name() -> None:
    with pytest.raises(BadInput) as refusal:
        masked_report({"a": ["angry"]}, {"b": ["angry"]}, LEXICON)
    assert [line.split(":")[0] for line in refusal.value.problems] == ["a", "b"]


def test_words_stand_in_the_lexicon_with_a_vector_of_ones_or_of_zeros_or_not_at_all() -> None:
    gold = {"a": ["angry", "meh", "gutted"], "b": ["angry"]}
    predicted: dict[str, list[str]] = {"a": ["angry", "meh", "floored"], "b": []}
    report = masked_report(gold, predicted, LEXICON)
    assert report["gold_words"].items() >= {"known": 2, "zero": 1, "unknown": 1}.items()
    assert (report["gold_in_lexicon"], report["valid_answers"]) == (0.75, 0.5)
    scored = [score_mask("angry", "angry", LEXICON)] * 3 + [score_mask("angry", None, LEXICON)]
    parts = _parts(gold, predicted, scored)
    assert parts["acc_l"] == parts["f1_v"] == ([3.0, 0.0], [3, 1])
    assert parts["valid_answers"] == ([1.0, 0.0], [1, 1])
