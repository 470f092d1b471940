"""Changes from text to text by hand, and what decoding over turns gains where moods last."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emotui.metrics.over_time import decoded_over_turns, label_changes, number_changes

LABELS = ("joy", "anger")


def test_a_change_that_is_told_missed_and_invented_is_counted_by_hand() -> None:
    gold = [np.array([[1, 0], [1, 0], [0, 1], [0, 1], [1, 1]])]
    said = [np.array([[1, 0], [0, 0], [0, 1], [0, 1], [0, 1]])]
    found = label_changes(gold, said, LABELS)
    # Steps: gold changes at the second and fourth, the model at the first and second.
    assert (found["steps"], found["gold"], found["predicted"]) == (4, 2, 2)
    assert (found["precision"], found["recall"], found["f1"]) == (0.5, 0.5, 0.5)
    assert found["same"] == 0  # at the second step gold's joy goes and anger comes; the model's anger alone comes
    assert found["steady"] == 0.5
    assert found["by_label"]["anger"]["comes"] == {"gold": 1, "predicted": 1, "precision": 1, "recall": 1, "f1": 1}
    assert found["by_label"]["joy"]["goes"]["recall"] == 0


def test_nothing_changes_across_the_border_of_two_conversations() -> None:
    gold = [np.array([[1, 0], [1, 0]]), np.array([[0, 1], [0, 1]])]
    found = label_changes(gold, gold, LABELS)
    assert (found["steps"], found["gold"], found["steady"]) == (2, 0, 1)
    assert found["f1"] is None
    assert found["notes"]["f1"] == "nothing to count"


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(1, 6), min_size=1, max_size=6), st.integers(0, 99))
def test_a_model_that_is_gold_sees_every_change_whatever_the_order_of_conversations(
    lengths: list[int], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    gold = [rng.integers(0, 2, (n, 2)) for n in lengths]
    said = [rng.integers(0, 2, (n, 2)) for n in lengths]
    own = label_changes(gold, gold, LABELS)
    assert own["f1"] in (None, 1.0)
    assert own["same"] in (None, 1.0)
    names = ("steps", "gold", "predicted", "precision", "recall", "f1", "same", "steady")
    there, back = label_changes(gold, said, LABELS), label_changes(gold[::-1], said[::-1], LABELS)
    assert [there[name] for name in names] == [back[name] for name in names]


def test_changes_of_a_number_by_hand() -> None:
    gold = [np.array([1.0, 2.0, 2.0, 0.0]), np.array([5.0]), np.array([1.0, np.nan, 3.0])]
    said = [np.array([1.0, 3.0, 3.0, 2.0]), np.array([4.0]), np.array([1.0, 2.0, 3.0])]
    found = number_changes(gold, said)
    assert (found["steps"], found["sequences"]) == (3, 3)
    assert found["mae"] == pytest.approx((1 + 0 + 1) / 3)
    assert found["mae_of_no_change"] == pytest.approx((1 + 0 + 2) / 3)
    assert found["direction"] == 1
    assert found["correlation"] == pytest.approx(np.corrcoef([1, 0, -2], [2, 0, -1])[0, 1])


def test_sequences_of_other_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="differ in shape"):
        number_changes([np.zeros(3)], [np.zeros(2)])


def moods(n: int, turns: int, seed: int, stays: float) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Conversations in which each label stays as it was with this probability, and noisy evidence about them."""
    rng = np.random.default_rng(seed)
    gold, odds = [], []
    for _ in range(n):
        path = np.empty((turns, 2))
        path[0] = rng.integers(0, 2, 2)
        for t in range(1, turns):
            kept = rng.random(2) < stays
            path[t] = np.where(kept, path[t - 1], rng.integers(0, 2, 2))
        gold.append(path)
        odds.append(rng.normal(2 * path - 1, 1.5))
    return gold, odds


def test_where_moods_last_decoding_over_turns_gains_and_says_so_honestly() -> None:
    gold, odds = moods(40, 12, 1, 0.9)
    keys = [str(at) for at in range(40)]
    found = decoded_over_turns(keys, odds, gold, LABELS, folds=4)
    gain = found["gain"]["over alone"]["macro_f1"]
    assert gain["difference"] > 0.05
    assert gain["ci95"][0] > 0
    assert found["over_turns"]["macro_f1"] > found["within"]["macro_f1"]
    assert all(line["over_turns"]["turns"] > 0 for line in found["chosen"])
    assert found["prior"]["turns"]["joy"]["joy"] > 1
    again = decoded_over_turns(keys[::-1], odds[::-1], gold[::-1], LABELS, folds=4)
    assert again["over_turns"] == pytest.approx(found["over_turns"])


def test_where_every_turn_is_drawn_anew_there_is_no_gain_to_tell() -> None:
    gold, odds = moods(40, 12, 2, 0.0)
    found = decoded_over_turns([str(at) for at in range(40)], odds, gold, LABELS, folds=4, objective="hamming")
    ends = found["gain"]["over alone"]["macro_f1"]["ci95"]
    assert ends is None or ends[0] <= 0.02
    assert abs(found["gain"]["over alone"]["macro_f1"]["difference"]) < 0.03


def test_a_fold_is_decoded_without_its_own_gold() -> None:
    gold, odds = moods(8, 6, 3, 0.9)
    keys = [str(at) for at in range(8)]
    one = decoded_over_turns(keys, odds, gold, LABELS, folds=3)
    other = [*gold[:-1], 1 - gold[-1]]
    two = decoded_over_turns(keys, odds, other, LABELS, folds=3)
    assert one["predictions"]["7"] == two["predictions"]["7"]


def test_too_few_conversations_are_refused() -> None:
    gold, odds = moods(3, 4, 1, 0.5)
    with pytest.raises(ValueError, match="at least four"):
        decoded_over_turns(["a", "b", "c"], odds, gold, LABELS)


def test_the_model_alone_is_what_it_gives_by_its_own_thresholds_and_each_fold_is_told() -> None:
    gold, odds = moods(8, 6, 4, 0.9)
    keys, told = [str(at) for at in range(8)], list[tuple[int, int]]()
    given = [(one > 0.7).astype(int) for one in odds]
    own = decoded_over_turns(
        keys, odds, gold, LABELS, folds=3, given=given, on_fold=lambda done, n: told.append((done, n))
    )
    usual = decoded_over_turns(keys, odds, gold, LABELS, folds=3)
    assert told == [(at, 4) for at in range(5)]
    assert own["predictions"] == usual["predictions"]
    changes = label_changes(gold, given, LABELS)
    assert own["alone"]["changes"] == changes["f1"] != usual["alone"]["changes"]
