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
    tiers: Tiers[str] = Tiers(broken)
    tiers.put([spans, spans[:2]])
    expected = []
    for line, (start, end) in enumerate(broken.lines):
        expected.append(Row(line))
        for tier, there in enumerate((spans, spans[:2])):
            met = [span for span in there if line in broken.met_by(span[0], span[1])]
            assert all(span in met for span in there if span[0] < end and span[1] > start)
            expected += [Row(line, tier, lane) for lane in range(len(lanes(met)))]
    assert [tiers.row(y) for y in range(tiers.n)] == expected


@given(SPANS, st.lists(st.tuples(st.booleans(), st.integers(0, 20)), max_size=8))
def test_marks_put_again_and_again_lie_as_if_they_were_put_at_once(
    spans: list[Marked], edits: list[tuple[bool, int]]
) -> None:
    text = "The bus let me off at the corner. A little before six we left it. " * 2
    broken = break_lines(text, 20)
    tiers: Tiers[str] = Tiers(broken)
    now: list[Marked] = []
    for adds, place in edits:
        if adds and spans:
            now.insert(place % (len(now) + 1), spans[place % len(spans)])
        elif now:
            del now[place % len(now)]
        tiers.put([now, now[::2]])
        fresh: Tiers[str] = Tiers(broken)
        fresh.put([now, now[::2]])
        assert [tiers.row(y) for y in range(tiers.n)] == [fresh.row(y) for y in range(fresh.n)]
        for line in range(len(broken.lines)):
            assert sorted(tiers.marks(0, line)) == sorted(fresh.marks(0, line))


def test_every_sentence_begins_a_line() -> None:
    broken = break_lines("One two. Three", 80, [(0, 8), (9, 14)])
    assert broken.lines == ((0, 8), (9, 14))
    assert broken.unit == (0, 1)
