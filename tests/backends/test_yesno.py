"""Yes against no over all their one-token forms, by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emotui.backends.yesno import combine, find_forms, read_logits
from emotui.errors import ModelError

VOCABULARY = [(0, "the"), (1, "Yes"), (2, " yes"), (3, "No"), (4, "yess"), (5, "YES"), (6, " nO"), (7, "\nNo")]


def test_forms_are_yes_and_no_in_three_cases_with_or_without_a_space() -> None:
    forms = find_forms(VOCABULARY)
    assert forms.yes == {1: "Yes", 2: " yes", 5: "YES"}
    assert forms.no == {3: "No"}


@pytest.mark.parametrize("word", ["Yes", "No"])
def test_a_vocabulary_without_a_form_is_refused(word: str) -> None:
    rest = [(number, text) for number, text in VOCABULARY if text.strip().lower() != word.lower()]
    with pytest.raises(ModelError, match=f"its vocabulary has no token for '{word}'"):
        find_forms(rest)


def test_the_probability_of_yes_is_the_sum_over_its_forms() -> None:
    probabilities = np.array([0.1, 0.2, 0.1, 0.3, 0.1, 0.1, 0.05, 0.05])
    answer = read_logits(find_forms(VOCABULARY), np.log(probabilities) + 3)
    assert math.exp(answer.yes) == pytest.approx(0.4)
    assert math.exp(answer.no) == pytest.approx(0.3)
    assert answer.mass == pytest.approx(0.7)
    assert answer.shares == pytest.approx({"Yes": 2 / 7, " yes": 1 / 7, "YES": 1 / 7, "No": 3 / 7})


def test_tokens_that_read_alike_are_one_form() -> None:
    answer = combine([("Yes", math.log(0.25)), ("Yes", math.log(0.25))], [("No", math.log(0.5))])
    assert answer.shares == pytest.approx({"Yes": 0.5, "No": 0.5})
    assert answer.mass == pytest.approx(1)


def test_no_probability_at_all_gives_no_share() -> None:
    answer = combine([("Yes", -math.inf)], [("No", -math.inf)])
    assert (answer.mass, answer.shares) == (0.0, {"Yes": 0.0, "No": 0.0})


@given(st.lists(st.floats(-30, 30), min_size=8, max_size=8))
def test_shares_sum_to_one_and_the_mass_is_a_probability(logits: list[float]) -> None:
    answer = read_logits(find_forms(VOCABULARY), np.array(logits))
    assert 0 < answer.mass <= 1
    assert sum(answer.shares.values()) == pytest.approx(1)
    assert answer.mass == pytest.approx(math.exp(answer.yes) + math.exp(answer.no))
