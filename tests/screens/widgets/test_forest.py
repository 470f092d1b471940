"""Figures on one axis: where dots, intervals, ticks and the shaded range are drawn."""

from hypothesis import given
from hypothesis import strategies as st

from emotui.screens.widgets.drawing import BASELINE, Dot, Scale, ends, headed, on_axis, scaled


def drawn(dot: Dot, scale: Scale) -> str:
    return "".join(part.text for part in on_axis(dot, scale))


def test_a_dot_lies_in_its_interval_over_the_shaded_range() -> None:
    plain, shaded = Scale(0.0, 1.0, 11), Scale(0.0, 1.0, 11, shaded=(0.6, 0.9))
    assert drawn(Dot(0.5, 0.3, 0.7), plain) == "   ├─●─┤   "
    assert drawn(Dot(0.5, 0.3, 0.7), shaded) == "   ├─●─┤░░ "
    assert drawn(Dot(None), shaded) == "      ░░░░ "
    assert drawn(Dot(1.0, sign=BASELINE), Scale(0.0, 1.0, 11, (0.0, 0.5))) == "┊    ┊    ×"
    assert drawn(Dot(0.7, 0.0, 1.0), Scale(0.1, 0.6, 11)) == "←─────────→", "beyond the axis stands nothing as if on it"


def test_an_axis_holds_all_it_draws_with_a_little_room_within_what_is_possible() -> None:
    assert ends([Dot(0.5, 0.4, 0.6)], (0.2, 0.3), 0.0, 1.0) == (0.2 - 0.4 * 0.03, 0.6 + 0.4 * 0.03)
    assert ends([Dot(0.99, 0.97, 1.0)], None, 0.0, 1.0)[1] == 1.0
    low, high = ends([Dot(0.5)], None, 0.0, 1.0, span=0.2)
    assert (round(low, 6), round(high, 6)) == (0.4, 0.6)
    low, high = ends([], None, None, None)
    assert low < high


@given(
    st.floats(-1000, 1000, allow_subnormal=False),
    st.floats(0.001, 1000, allow_subnormal=False),
    st.integers(8, 140),
)
def test_ticks_lie_on_the_axis_and_what_is_written_of_them_stays_over_it(low: float, room: float, cells: int) -> None:
    scale = scaled(low, low + room, cells)
    assert all(low <= tick <= low + room for tick in scale.ticks)
    assert len(headed(scale, [f"{tick:.2f}" for tick in scale.ticks])) == cells
    assert len(drawn(Dot(low), scale)) == cells
