"""What is drawn of spans that overlap, and how their labels stand in the margin."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from emotui.metrics.span_scoring import score_pairs
from emotui.metrics.spans import Pair
from emotui.records import Mark, SpanPrediction, SpanSample
from emotui.screens.browse.panes import Said, tiers
from emotui.screens.browse.things import things
from emotui.screens.widgets.tier_layout import AnnotatedText, LineLabel, Margin, Tier, lay_out
from emotui.workbench.source import RepeatView, predicted_spans

TEXT = "be the very last to complain of it"
WHOLE, COMPLAIN, LAST = (0, 34), (20, 28), (12, 19)


def test_spans_that_do_not_overlap_are_one_tier_without_rows_of_its_own() -> None:
    (tier,) = tiers("gold", "gold", [Said(LAST), Said(COMPLAIN, "joy")])
    assert (tier.spans, tier.bars, tier.labels) == ((LAST, COMPLAIN), None, ((COMPLAIN, "joy"),))
    assert not lay_out(AnnotatedText(TEXT, (tier,)), 80).rows[1:]


def test_spans_of_one_place_with_several_labels_each_have_a_bar() -> None:
    drawn = tiers("gold", "gold", [Said(COMPLAIN, "anger"), Said(COMPLAIN, "sadness"), Said(WHOLE, "joy")])
    assert [(tier.inline, tier.bars, tier.spans, tier.labels) for tier in drawn] == [
        (True, False, (COMPLAIN, COMPLAIN, WHOLE), ()),
        (False, True, (WHOLE,), ((WHOLE, "joy"),)),
        (False, True, (COMPLAIN,), ((COMPLAIN, "anger"),)),
        (False, True, (COMPLAIN,), ((COMPLAIN, "sadness"),)),
    ]
    under = lay_out(AnnotatedText(TEXT, tuple(drawn)), 80)
    assert [row.voice for row in under.rows] == [-1, 1, 2, 3]


def test_without_rows_only_what_overlaps_has_bars() -> None:
    drawn = tiers("gold", "gold", [Said((0, 2)), Said(LAST), Said((15, 28))])
    assert [tier.spans for tier in drawn if tier.bars] == [(LAST,), ((15, 28),)]
    rows_for_all = tiers("gold", "gold", [Said((0, 2)), Said(LAST), Said((15, 28))], rows=True)
    assert [tier.spans for tier in rows_for_all if tier.bars] == [((0, 2), LAST), ((15, 28),)]


span = st.tuples(st.integers(0, 30), st.integers(1, 9)).map(lambda pair: (pair[0], pair[0] + pair[1]))


@given(st.lists(span, max_size=8), st.booleans())
def test_no_lane_holds_spans_that_overlap_and_none_is_lost(places: list[tuple[int, int]], rows: bool) -> None:
    drawn = tiers("m", "predicted", [Said(place) for place in places], rows=rows)
    lanes = [tier.spans for tier in drawn if tier.bars]
    for lane in lanes:
        assert all(before[1] <= after[0] for before, after in pairwise(lane))
    overlapping = [
        one
        for at, one in enumerate(places)
        if any(one[0] < other[1] and other[0] < one[1] for place, other in enumerate(places) if place != at)
    ]
    assert sorted(one for lane in lanes for one in lane) == sorted(places if rows and lanes else overlapping)
    inline = [tier for tier in drawn if tier.inline]
    assert [sorted(tier.spans) for tier in inline] == [sorted(places)]


def test_both_of_two_overlapping_predicted_spans_are_named_with_their_labels_and_a_wrong_one_is_marked() -> None:
    gold = SpanSample(id="1", text=TEXT, spans=(Mark(*WHOLE, "joy"), Mark(*COMPLAIN, "sadness")))
    said = (Mark(*WHOLE, "joy"), Mark(*COMPLAIN, "anger"), Mark(*LAST, "fear"))
    (detail,) = score_pairs([(gold, SpanPrediction(id="1", spans=said), 0)], None, frozenset())
    found = things(gold, RepeatView(0, detail, predicted_spans(gold, said, detail)))
    assert [(one.gold, one.said, one.labels, one.marks) for one in found] == [
        (TEXT, TEXT, ("joy", "joy"), ""),
        (None, "last to", (None, "fear"), "X"),
        ("complain", "complain", ("sadness", "anger"), "L"),
    ]
    assert found[2].words == "wrong label"


def test_a_label_that_only_one_side_has_is_not_wrong() -> None:
    gold = SpanSample(id="1", text=TEXT, spans=(Mark(*COMPLAIN),))
    (detail,) = score_pairs([(gold, SpanPrediction(id="1", spans=("complain",)), 0)], None, frozenset())
    assert detail.pairs == (Pair(0, 0, 1.0, None),)
    said = predicted_spans(gold, (Mark(*COMPLAIN, "anger"),), detail)
    assert [one.marks for one in things(gold, RepeatView(0, detail, said))] == [""]


def test_two_spans_that_share_no_word_have_not_met() -> None:
    gold = SpanSample(id="1", text=TEXT, spans=(Mark(*COMPLAIN),))
    (detail,) = score_pairs([(gold, SpanPrediction(id="1", spans=("last to",)), 0)], None, frozenset())
    found = things(gold, RepeatView(0, detail, predicted_spans(gold, ("last to",), detail)))
    assert [(one.gold, one.said, one.marks) for one in found] == [(None, "last to", "X"), ("complain", None, "M")]


@given(st.lists(st.integers(0, 200), max_size=40).map(sorted), st.integers(20, 90), st.booleans(), st.integers(1, 6))
def test_every_note_has_one_line_none_above_its_span_and_none_far_below(
    starts: list[int], cells: int, airy: bool, words: int
) -> None:
    text = ("a sad story " * words + "ends. ") * 6
    layout = lay_out(AnnotatedText(text), cells, Margin(12, tuple(starts), airy))
    lines = [line for line, row in enumerate(layout.rows) if row.note >= 0]
    assert [layout.rows[line].note for line in lines] == list(range(len(starts)))
    for line, start in zip(lines, starts, strict=True):
        rows = layout.rows
        assert start >= len(text) or rows[line].end > start or rows[line].start == rows[line].end
        begins = next((at for at, row in enumerate(rows) if row.start <= start < row.end), None)
        if begins is not None:
            assert begins <= line
            assert sum(row.end > row.start for row in rows[begins + 1 : line + 1]) <= 3


def test_a_tier_says_for_itself_whether_it_has_rows() -> None:
    one = Tier("m", "predicted", ((0, 2),))
    assert AnnotatedText("ab", (one,), rows=True).has_row(one)
    assert not AnnotatedText("ab", (one,)).has_row(one)


def test_a_person_who_marks_nothing_where_others_do_has_a_row_without_a_bar() -> None:
    people = [Tier("ann", "annotator", ((0, 5),), inline=False), Tier("bob", "annotator", ((20, 25),), inline=False)]
    score = AnnotatedText("First one of all. Second one of all.", tuple(people), (LineLabel(18, "2"),), True)
    rows = [(row.voice, row.start) for row in lay_out(score, 60).rows if row.voice >= 0]
    assert rows == [(0, 0), (1, 0), (0, 18), (1, 18)]
    nobody = AnnotatedText(score.text, (Tier("ann", "annotator", (), inline=False),), score.chips, True)
    assert not [row for row in lay_out(nobody, 60).rows if row.voice >= 0], "where nobody marks anything, no row"
