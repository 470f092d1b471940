"""The interval of human F1 against a bootstrap written out."""

import numpy as np
import pytest

from emotui.metrics.ers import weighted_f1
from emotui.metrics.human_intervals import weighted_f1_interval
from tests.metrics.resampled import interval_by_hand


@pytest.mark.parametrize("n", [12, 60])
def test_the_interval_of_human_f1_is_that_of_f1_computed_anew_of_each_draw(n: int) -> None:
    draw = np.random.default_rng(4)
    targets = [("joy", "fear", "neutral")[at] for at in draw.integers(0, 3, n)]
    found = [one if draw.random() < 0.6 else (None, "joy", "other")[draw.integers(0, 3)] for one in targets]
    by_hand = interval_by_hand(
        lambda rows: weighted_f1([targets[at] for at in rows], [found[at] for at in rows]),
        np.arange(n),
        bounds=(0.0, 1.0),
    )
    got = weighted_f1_interval(targets, found)
    assert got.ends == pytest.approx(by_hand.ends)
    assert got.note == by_hand.note
    whole = weighted_f1(targets, found)
    assert got.ends is not None
    assert whole is not None
    assert got.ends[0] < whole < got.ends[1]


def test_one_text_and_texts_that_are_all_right_have_no_interval_and_a_note_says_why() -> None:
    assert weighted_f1_interval(["joy"], ["joy"]).note == "no interval: it is over one sample alone"
    assert weighted_f1_interval(["joy", "fear", "joy"], ["joy", "fear", "joy"]).ends is None
    assert weighted_f1_interval([], []).ends is None


def test_two_texts_have_an_interval_and_the_same_seed_gives_the_same() -> None:
    four = ["joy", "fear", "anger", "trust"]
    assert weighted_f1_interval(["joy", "fear"], ["joy", None]).ends is not None
    assert weighted_f1_interval(four * 9, four[::-1] + four * 8) == weighted_f1_interval(
        four * 9, four[::-1] + four * 8, seed=0
    )
