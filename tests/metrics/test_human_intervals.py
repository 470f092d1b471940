"""The interval of human F1 against a bootstrap written out."""

import numpy as np
import pytest

from emotui.metrics.ers import weighted_f1
from emotui.metrics.human_intervals import weighted_f1_interval


def test_the_interval_of_human_f1_is_that_of_a_bootstrap_that_computes_f1_of_each_draw() -> None:
    draw = np.random.default_rng(4)
    targets = [("joy", "fear", "neutral")[at] for at in draw.integers(0, 3, 60)]
    found = [one if draw.random() < 0.6 else (None, "joy", "other")[draw.integers(0, 3)] for one in targets]
    values = []
    for _ in range(800):
        places = draw.integers(0, 60, 60)
        values.append(weighted_f1([targets[at] for at in places], [found[at] for at in places]))
    low, high = np.quantile(np.array(values, dtype=float), [0.025, 0.975])
    got = weighted_f1_interval(targets, found)
    assert got is not None
    assert got == pytest.approx((low, high), abs=0.03)
    whole = weighted_f1(targets, found)
    assert whole is not None
    assert got[0] < whole < got[1]


def test_one_text_has_no_interval_and_texts_that_are_all_right_have_one_of_no_width() -> None:
    assert weighted_f1_interval(["joy"], ["joy"]) is None
    assert weighted_f1_interval(["joy", "fear", "joy"], ["joy", "fear", "joy"]) == (1.0, 1.0)


def test_two_texts_have_an_interval_and_emotions_that_are_not_drawn_do_not_count() -> None:
    four = ["joy", "fear", "anger", "trust"]
    assert weighted_f1_interval(four, four) == (1.0, 1.0)
    assert weighted_f1_interval(["joy", "fear"], ["joy", None]) is not None
    assert weighted_f1_interval(four * 3, four[::-1] + four * 2) == weighted_f1_interval(
        four * 3, four[::-1] + four * 2, seed=0
    )
