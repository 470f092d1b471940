"""Lines, lanes and rows of a text with marks."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from emotui.screens.annotate.lines import Row, Tiers, break_lines, lanes

Marked = tuple[int, int, str]
SPANS = st.lists(st.tuples(st.integers(0, 59), st.integers(1, 20)).map(lambda one: (one[0], one[0] + one[1], "x")))


def test_overlapping_nested_and_equal_spans_have_lanes_of_their_own() -> None:
    outer, nested, same, apart = (0, 9, "a"), (2, 4, "b"), (0, 9, "c"), (9, 12, "d")
    assert lanes([nested, outer, same, apart]) == [[outer, apart], [same], [nested]]


@given(SPANS)
def test_a_lane_has_no_overlap_and_there_are_as_many_as_the_deepest_place_needs(
    spans: list[tuple[int, int, str]],
) -> None:
    found = lanes(spans)
    assert sorted(span for lane in found for span in lane) == sorted(spans)
    for lane in found:
        assert all(before[1] <= after[0] for before, after in itertools.pairwise(lane))
    assert len(found) == max((sum(start <= at < end for start, end, _ in spans) for at in range(80)), default=0)


@given(SPANS, st.integers(8, 30))
def test_the_rows_are_those_of_every_line_with_its_lanes_counted_one_by_one(
    spans: list[tuple[int, int, str]], columns: int
) -> None:
    text = "The bus let me off at the corner. A little before six we left it."
    broken = break_lines(text, columns, [(0, 33), (34, len(text))])
    tiers = Tiers(broken, [spans, spans[:2]])
    expected = []
    for line, (start, end) in enumerate(broken.lines):
        expected.append(Row(line))
        for tier, there in enumerate((spans, spans[:2])):
            met = [span for span in there if line in broken.met_by(span[0], span[1])]
            assert all(span in met for span in there if span[0] < end and span[1] > start)
            expected += [Row(line, tier, lane) for lane in range(len(lanes(met)))]
    assert [tiers.row(y) for y in range(tiers.n)] == expected


def test_every_sentence_begins_a_line() -> None:
    broken = break_lines("One two. Three", 80, [(0, 8), (9, 14)])
    assert broken.lines == ((0, 8), (9, 14))
    assert broken.unit == (0, 1)
