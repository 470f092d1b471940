"""Lines of conditions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emotui.errors import BadInput
from emotui.workbench.slices.conditions import OPERATORS, Condition, parsed, written


def test_a_line_is_conditions_with_values_of_which_any_will_do() -> None:
    assert parsed('emotion=sad | very sad & f1<=0.5&"a&b"!="say ""x"""') == (
        Condition("emotion", "=", ("sad", "very sad")),
        Condition("f1", "<=", ("0.5",)),
        Condition("a&b", "!=", ('say "x"',)),
    )
    assert parsed("speaker=") == (Condition("speaker", "=", ("",)),)
    assert parsed("  ") == ()


@pytest.mark.parametrize(
    "line", ["sad", "=sad", "a=b &", "a=b c=d", "a=|b", 'a="b', "f1<high", "f1<1|2", "& a=b", "a<"]
)
def test_what_is_no_line_of_conditions_is_refused(line: str) -> None:
    with pytest.raises(BadInput):
        parsed(line)


conditions = st.builds(
    Condition,
    st.text(),
    st.sampled_from([one for one in OPERATORS if one in ("=", "!=")]),
    st.lists(st.text(), min_size=1, max_size=3, unique=True).map(tuple),
)


@given(some=st.lists(conditions, max_size=3).map(tuple))
def test_what_is_written_is_read_again(some: tuple[Condition, ...]) -> None:
    assert parsed(written(some)) == some
