from itertools import product

import pytest

from emotui.metrics.masked import DIMENSIONS
from emotui.metrics.word_associations import LEVELS, associations


def rating(**levels: int) -> dict[str, int]:
    return dict.fromkeys(DIMENSIONS, 0) | levels


def test_a_word_is_tied_to_what_most_people_call_moderate_or_strong() -> None:
    found = associations([rating(joy=3, trust=2, fear=1), rating(joy=2, trust=1, fear=1), rating(joy=0, fear=1)])
    assert [name for name, on in zip(DIMENSIONS, found.vector, strict=True) if on] == ["joy"]
    assert (found.people, found.halved) == (3, ())


def test_half_of_the_people_are_no_majority_and_are_told() -> None:
    found = associations([rating(anger=3), rating(anger=1)])
    assert (sum(found.vector), found.halved) == (0, ("anger",))


@pytest.mark.parametrize("levels", list(product(range(len(LEVELS)), repeat=3)))
def test_of_three_people_two_at_least_decide(levels: tuple[int, ...]) -> None:
    found = associations([rating(surprise=level) for level in levels])
    assert found.vector[DIMENSIONS.index("surprise")] == (sum(level in (2, 3) for level in levels) >= 2)


def test_nobody_or_a_dimension_left_out_is_no_answer() -> None:
    with pytest.raises(ValueError, match="nobody"):
        associations([])
    with pytest.raises(ValueError, match="lacks joy"):
        associations([{name: 0 for name in DIMENSIONS if name != "joy"}])
