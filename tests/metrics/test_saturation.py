"""When new samples bring no new codes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emotui.metrics.saturation import saturation


def test_a_run_is_held_against_the_base_and_the_first_poor_one_is_told() -> None:
    curve = saturation([{"a", "b"}, {"a", "c"}, {"d"}, {"a"}, {"c"}, {"e"}], base=2, run=2, threshold=0.34)
    assert curve.new == (2, 1, 1, 0, 0, 1)
    assert curve.known == (2, 3, 4, 4, 4, 5)
    # Of 3 codes of the base: samples 3 and 4 bring 1, samples 4 and 5 none, samples 5 and 6 one.
    assert curve.share == pytest.approx(1 / 3)
    assert curve.reached == 4
    assert saturation([{"a", "b"}, {"a", "c"}, {"d"}, {"a"}, {"c"}], base=2, run=2, threshold=0.0).reached == 5


def test_too_few_samples_and_a_base_without_codes_say_nothing() -> None:
    assert saturation([{"a"}, {"b"}], base=2, run=1).share is None
    assert saturation([set(), {"b"}], base=1, run=1).reached is None
    assert saturation([]).known == ()
    with pytest.raises(ValueError, match="at least 1"):
        saturation([], base=0)


@given(codes=st.lists(st.sets(st.integers(0, 5)), max_size=30))
def test_the_new_ones_add_up_to_all_codes(codes: list[set[int]]) -> None:
    curve = saturation(codes)
    assert sum(curve.new) == len(set().union(*codes)) == (curve.known[-1] if codes else 0)


def test_a_run_ends_at_the_last_sample_and_the_usual_ones_are_ten_of_ten_at_one_in_twenty() -> None:
    assert saturation([{"a"}, {"b"}, set()], base=1, run=2, threshold=0.0).reached is None
    base = [{2 * at, 2 * at + 1} for at in range(10)]
    one_new = saturation([*base, {20}, *[{0}] * 9])
    assert (one_new.share, one_new.reached) == (1 / 20, 20)
    two_new = saturation([*base, {20, 21}, *[{0}] * 9])
    assert (two_new.share, two_new.reached) == (2 / 20, None)
    assert saturation([*base, *[{0}] * 9]).share is None
