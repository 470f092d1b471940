"""Figures over repeats: their mean and spread, where some repeats have none."""

from statistics import fmean, stdev
from typing import Any, NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from emotui.metrics.repeats import by_repeat, known_mean, known_sd, over_repeats

SHARES = st.floats(0, 1)


def test_a_repeat_in_which_a_figure_is_undefined_is_left_out() -> None:
    assert known_mean([0.25, None, 0.75]) == 0.5
    assert known_sd([1.0, None, 3.0]) == stdev([1.0, 3.0])


def test_nothing_known_has_no_mean_and_one_value_has_no_spread() -> None:
    assert (known_mean([]), known_mean([None, None])) == (None, None)
    assert (known_sd([]), known_sd([None, 0.5])) == (None, None)


@given(SHARES, st.integers(1, 20))
def test_equal_values_are_their_own_mean_to_the_last_bit(value: float, n: int) -> None:
    assert known_mean([value] * n) == value


@given(st.lists(SHARES, min_size=1))
def test_the_mean_is_that_of_the_known_values(values: list[float]) -> None:
    expected = values[0] if len(set(values)) == 1 else fmean(values)
    assert known_mean([None, *values]) == expected


def test_one_repeat_is_its_own_report_and_of_several_floats_have_means_and_deviations() -> None:
    class One(NamedTuple):
        repeat: int
        hit: float

    def report(details: list[One]) -> dict[str, Any]:
        return {"n": len(details), "rate": fmean(one.hit for one in details), "best": None}

    answers = [One(2, 1.0), One(1, 0.0), One(1, 1.0), One(2, 1.0)]
    assert by_repeat(answers[1:3], report) == {"n": 2, "rate": 0.5, "best": None}
    both = by_repeat(answers, report)
    assert both == {"n": 2, "rate": 0.75, "best": None, "sd": {"rate": stdev([0.5, 1.0])}}


def test_a_figure_that_some_repeat_lacks_stays_the_first_ones_and_so_do_counts() -> None:
    reports: list[dict[str, Any]] = [{"n": 3, "f1": 0.25, "sim": 0.5}, {"n": 4, "f1": 0.75, "sim": None}]
    assert over_repeats(reports) == {"n": 3, "f1": 0.5, "sim": 0.5, "sd": {"f1": stdev([0.25, 0.75])}}
