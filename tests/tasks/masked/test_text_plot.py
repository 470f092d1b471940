"""Points with their names in plain text."""

from hypothesis import given
from hypothesis import strategies as st

from emotui.commands.masked.figures import bar, text_plot
from emotui.tables import Plot


def plot(*points: tuple[float, float, str]) -> Plot:
    return Plot(
        across="size",
        up="Acc_V",
        x=(0, 2),
        y=(0, 1),
        points=tuple((x, y) for x, y, _ in points),
        names=tuple(name for *_, name in points),
        powers=True,
    )


def test_a_point_stands_at_its_share_of_the_sides_with_its_name_where_there_is_room() -> None:
    lines = text_plot(plot((0, 1, "small"), (2, 0, "large †")), width=49, height=11)
    field = [line[8:] for line in lines[1:12]]
    assert field[0] == "● small"
    assert field[10] == f"{'large † ○':>40}"
    assert lines[-1].split() == ["1", "size", "100"]
    assert [line[:6].strip() for line in lines[1:12] if line[:6].strip()] == ["1", "0.6", "0.2", "0"]


def test_a_name_that_would_lie_over_another_is_left_out_and_its_point_is_not() -> None:
    lines = text_plot(plot((1, 1, "one"), (1.1, 1, "two †"), (1.2, 1, "three †")), width=49, height=11)
    assert lines[1].endswith("one ●○ ○ three †")


@given(st.lists(st.tuples(st.floats(0, 2), st.floats(0, 1), st.sampled_from(["", "a", "long name †"]))))
def test_no_line_is_wider_than_it_may_be(points: list[tuple[float, float, str]]) -> None:
    assert max(map(len, text_plot(plot(*points), width=60, height=10))) <= 60


def test_a_bar_is_a_share_of_the_longest() -> None:
    assert (bar(1, 2, 10), bar(0, 2, 10), bar(3, 3, 4), bar(0, 0, 4)) == ("█" * 5, "", "████", "")
