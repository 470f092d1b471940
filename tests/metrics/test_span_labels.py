"""Predicted spans with places and labels: where they stand, which labels meet, and what is scored of that."""

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emotui.metrics.span_errors import Facts, Labels, Tally, over_repeats
from emotui.metrics.span_labels import labelled_f1, mapped
from emotui.metrics.span_report import report, span_report
from emotui.metrics.span_scoring import SampleDetail, score_samples
from emotui.records import Mark, SpanPrediction, SpanSample

NONE: frozenset[str] = frozenset()
TEXT = "unafraid, then afraid and so very glad"
#       0         10   15     22


def one(gold: tuple[Mark, ...], *spans: str | Mark, text: str = TEXT) -> SampleDetail:
    sample = SpanSample(id="a", text=text, spans=gold)
    (detail,) = score_samples([sample], [SpanPrediction(id="a", spans=spans)], None, NONE)
    return detail


def test_a_span_with_offsets_stands_where_they_say_and_a_string_at_word_edges() -> None:
    detail = one((), Mark(2, 8), "afraid", Mark(2, 8), "so glad", "afraid")
    assert detail.predicted == ("afraid", "afraid", "afraid", "so glad", "afraid")
    assert detail.located == ((2, 8), (15, 21), (2, 8), None, (2, 8))
    assert detail.hallucinated == (3,)


def test_labels_are_compared_where_two_spans_meet_and_both_have_one() -> None:
    gold = (Mark(15, 21, "fear"), Mark(26, 38, "joy"), Mark(0, 8))
    detail = one(gold, Mark(15, 21, "anger"), Mark(34, 38, "joy"), Mark(0, 8, "trust"))
    assert detail.label_pairs == (("fear", "anger"), ("joy", "joy"))
    assert (detail.wrong_labels, detail.marks) == ((0,), "L")
    # fear for anger counts 0; joy is 1 token of 3 against 1: 1/2; the unlabelled span counts as it is.
    assert detail.f1 == pytest.approx((1 + 0.5 + 1) / 3)
    assert detail.labelled_f1 == pytest.approx((0 + 0.5 + 1) / 3)


def test_spans_that_do_not_meet_confuse_no_labels() -> None:
    detail = one((Mark(15, 21, "fear"),), Mark(34, 38, "joy"))
    assert (detail.label_pairs, detail.wrong_labels, detail.labelled_f1, detail.marks) == ((), (), 0, "MX")


def test_the_document_has_figures_of_labels_where_both_sides_have_some() -> None:
    golds = [
        SpanSample(id="a", text=TEXT, spans=(Mark(15, 21, "fear"), Mark(34, 38, "joy"))),
        SpanSample(id="b", text="so sad", spans=(Mark(3, 6, "fear"),)),
        SpanSample(id="c", text="a desk", spans=()),
    ]
    said = [
        SpanPrediction(id="a", spans=(Mark(15, 21, "fear"), Mark(34, 38, "fear"))),
        SpanPrediction(id="b", spans=(Mark(3, 6, "fear"),)),
        SpanPrediction(id="c", spans=()),
    ]
    document: Any = span_report(golds, said, None, NONE, per_sample=True)
    assert document["labels"] == {
        "n": 3,
        "accuracy": pytest.approx(2 / 3),
        "macro_f1": pytest.approx((0.8 + 0) / 2),
        "confusion": {"fear": {"fear": 2}, "joy": {"fear": 1}},
    }
    assert (document["f1"], document["labelled_f1"]) == (1, pytest.approx((0.5 + 1 + 1) / 3))
    assert document["samples"][0]["wrong_labels"] == ["glad"]
    strings = [SpanPrediction(id=p.id, spans=tuple("fear" for _ in p.spans or ())) for p in said]
    assert not {"labels", "labelled_f1"} & set(span_report(golds, strings, None, NONE))


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[SpanSample], list[SpanPrediction]]:
    text = "one two three four five six"
    mark = st.tuples(st.integers(0, 20), st.integers(1, 7), st.sampled_from([None, "joy", "fear"])).map(
        lambda at: Mark(at[0], min(len(text), at[0] + at[1]), at[2])
    )
    marks = st.lists(mark, max_size=4).map(tuple)
    n = draw(st.integers(1, 4))
    golds = [SpanSample(id=str(i), text=text, spans=draw(marks)) for i in range(n)]
    return golds, [SpanPrediction(id=str(i), spans=draw(marks)) for i in range(n)]


@settings(deadline=None, max_examples=100)
@given(cases())
def test_labelled_f1_is_never_above_f1_and_equal_where_no_label_is_wrong(
    case: tuple[list[SpanSample], list[SpanPrediction]],
) -> None:
    details = score_samples(*case, None, NONE)
    for detail in details:
        assert 0 <= detail.labelled_f1 <= detail.f1 + 1e-12
        plain = sum(
            pair.f1
            for pair in detail.pairs
            if not detail.gold_labels
            or not detail.predicted_labels
            or None in (g := (detail.gold_labels[pair.gold], detail.predicted_labels[pair.predicted]))
            or g[0] == g[1]
        )
        most = max(len(detail.gold), detail.predicted_once)
        assert detail.labelled_f1 == pytest.approx(plain / most if most else 1.0)
        assert ("L" in detail.marks) == (detail.labelled_f1 < detail.f1 - 1e-12)
    document: Any = report(case[0], details)
    tally = Tally()
    for number, detail in enumerate(details):
        facts = msgspec.json.decode(msgspec.json.encode(detail), type=Facts)
        tally.add(number, Labels(), facts)
    found = over_repeats([tally])
    assert found.figures["labelled_f1"].value == document.get("labelled_f1")
    if "labels" in document:
        counted = {pair: figure.value for pair, figure in found.confusion.items()}
        assert counted == {(g, p): n for g, row in document["labels"]["confusion"].items() for p, n in row.items()}


def test_a_score_that_was_kept_before_labels_and_tokens_were_is_still_read() -> None:
    kept = msgspec.json.decode(msgspec.json.encode(one((Mark(15, 21),), "afraid")))
    for name in ("tokens", "gold_labels", "predicted_labels"):
        del kept[name]
    old = msgspec.convert(kept, SampleDetail)
    assert (old.marks, old.labelled_f1, old.tokens) == ("", 1, None)
    document: Any = report([SpanSample(id="a", text=TEXT, spans=(Mark(15, 21),))], [old])
    assert document["tokens"] == {"precision": None, "recall": None, "f1": None}
    assert "before they were counted" in document["notes"]["tokens.f1"]


def test_labels_of_one_set_have_the_names_that_a_mapping_gives_and_else_their_own() -> None:
    found, none = mapped(["glad", "fear", "odd", "odd"], {"glad": "joy", "sad": "sadness"}, ["joy", "fear"])
    assert (found, none) == ({"glad": "joy", "fear": "fear"}, ["odd"])
    assert mapped(["fear"], {"fear": "terror"}, ["fear"]) == ({"fear": "terror"}, [])


def test_spans_whose_labels_agree_count_over_the_greater_number_of_spans() -> None:
    gold = (Mark(0, 8, "joy"), Mark(15, 21, "fear"), Mark(34, 38, "joy"))
    assert labelled_f1(one(gold, Mark(0, 8, "joy"), Mark(15, 21, "joy"))) == pytest.approx(1 / 3)
    assert labelled_f1(one(gold[:2], *gold[:1], Mark(15, 21, "joy"), Mark(34, 38, "joy"))) == pytest.approx(1 / 3)
