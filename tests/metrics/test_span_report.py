"""Samples scored with every kind of error named, and the figures over many (SEER, sections 6, 9 and 10)."""

import json
from collections.abc import Sequence
from statistics import stdev

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emotui.metrics.span_report import SampleDetail, report, score_pairs, score_samples, span_report
from emotui.metrics.span_scoring import _overlap
from emotui.records import Mark, Sentence, Span, SpanPrediction, SpanSample, marks_at

KEYWORDS = frozenset(("joy", "Disgust", "worst_part"))

PASSAGE = "I am so happy. The desk is brown. It was a joy, truly."
#          0              15                 34
SENTENCES = (
    Sentence(start=0, end=14, emotion="happy", valence="positive"),
    Sentence(start=15, end=33, emotion="neutral", valence="neutral"),
    Sentence(start=34, end=54, emotion="surprise", valence="positive"),
)


class Letters:
    """A real if crude embedding: counts of letters, unit length. Remembers what it was asked."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        self.calls.append(list(texts))
        counts = np.array([[1 + t.lower().count(c) for c in "abcdefghijklmnopqrstuvwxyz"] for t in texts], dtype=float)
        return (counts / np.linalg.norm(counts, axis=1, keepdims=True)).astype(np.float32)


def sample(text: str, *marked: str, id: str = "1", **labels: object) -> SpanSample:
    spans = tuple(Mark(at, at + len(span)) for span in marked if (at := text.index(span)) >= 0)
    return SpanSample(id=id, text=text, spans=spans, **labels)  # type: ignore[arg-type]


def passage(*spans: Span) -> SpanSample:
    return SpanSample(id="1", text=PASSAGE, spans=marks_at(spans), sentences=SENTENCES)


def said(*spans: str, id: str = "1", repeat: int = 0) -> SpanPrediction:
    return SpanPrediction(id=id, spans=spans, repeat=repeat)


def one(gold: SpanSample, *spans: str, keywords: frozenset[str] = KEYWORDS) -> SampleDetail:
    (detail,) = score_samples([gold], [said(*spans)], None, keywords)
    return detail


def figures(gold: SpanSample, *spans: str) -> dict[str, object]:
    return span_report([gold], [said(*spans)], None, KEYWORDS)


# --- a sample ---------------------------------------------------------------------------------------------------------


def test_a_detail_holds_the_alignment_and_what_was_missed_and_extra() -> None:
    detail = one(sample("so very happy and quite sad", "so very happy", "quite sad"), "sad", "nothing", "very happy")
    assert [(p.gold, p.predicted, p.f1) for p in detail.pairs] == [(0, 2, 0.8), (1, 0, 2 / 3)]
    assert detail.f1 == pytest.approx((0.8 + 2 / 3) / 3)
    assert (detail.gold, detail.predicted) == (("so very happy", "quite sad"), ("sad", "nothing", "very happy"))
    assert (detail.missed, detail.extra) == ((), (1,))
    assert detail.located == ((24, 27), None, (3, 13))
    assert detail.marks == "HX"


def test_a_pair_with_f1_0_is_both_missed_and_extra() -> None:
    detail = one(sample("sad day", "sad"), "day")
    assert [(p.gold, p.predicted, p.f1) for p in detail.pairs] == [(0, 0, 0.0)]
    assert (detail.f1, detail.missed, detail.extra, detail.marks) == (0.0, (0,), (0,), "MX")


def test_nothing_to_find_and_nothing_found_is_right() -> None:
    assert (one(sample("a desk")).f1, one(sample("a desk")).marks) == (1.0, "")
    assert (one(sample("a desk"), "desk").f1, one(sample("a desk"), "desk").marks) == (0.0, "X")
    assert (one(sample("sad", "sad")).f1, one(sample("sad", "sad")).marks) == (0.0, "M")


def test_hallucinated_is_what_is_not_in_the_folded_text() -> None:
    text = "I was  so HAPPY -- really!"
    detail = one(sample(text, "so HAPPY"), "so happy, really", "was so", "happ", "so sad", "happy so", "!!")
    assert detail.hallucinated == (3, 4)
    assert figures(sample(text), "so sad", "happy")["hallucination_rate"] == 0.5


def test_an_empty_string_that_a_model_wrote_counts_as_a_span() -> None:
    detail = one(sample("sad day", "sad"), "sad", "")
    assert (detail.f1, detail.extra, detail.hallucinated, detail.located) == (0.5, (1,), (), ((0, 3), None))


def test_fixated_is_the_keyword_alone_where_the_gold_span_is_longer() -> None:
    text = "I state my utter disgust here, what joy"
    assert one(sample(text, "my utter disgust"), "Disgust!").fixated == (0,)
    assert one(sample(text, "my utter disgust"), "utter disgust").fixated == ()
    assert one(sample(text, "disgust"), "disgust").fixated == ()
    assert one(sample(text, "my utter disgust"), "joy").fixated == ()  # a keyword, but of no gold span
    assert one(sample(text, "my utter disgust"), "utter").fixated == ()  # part of the span, but no keyword
    assert one(sample(text, "my utter disgust"), "utter", "the disgust").fixated == (1,)  # articles are no words


def test_a_gold_span_that_is_longer_by_an_article_alone_is_not_longer() -> None:
    detail = one(sample("It was the joy.", "the joy"), "joy")
    assert (detail.keyword, detail.fixated, detail.f1) == (True, (), 1.0)


def test_a_keyword_sample_has_a_keyword_as_a_token_of_a_gold_span() -> None:
    assert one(sample("utter disgust", "utter disgust")).keyword
    assert not one(sample("disgusting", "disgusting")).keyword
    assert not one(sample("joy and sad", "sad")).keyword
    assert not one(sample("the worst part", "worst part")).keyword  # words of several are no token


def test_fixation_rate_is_over_keyword_samples() -> None:
    gold = [
        sample("utter disgust", "utter disgust", id="1"),
        sample("such joy", "such joy", id="2"),
        sample("sad", "sad", id="3"),
    ]
    document = span_report(gold, [said("disgust", "disgust"), said("such joy", id="2")], None, KEYWORDS)
    assert (document["keyword_samples"], document["fixated_samples"], document["fixation_rate"]) == (2, 1, 0.5)


# --- sentences --------------------------------------------------------------------------------------------------------


def test_neutral_false_positives_by_both_readings() -> None:
    document = figures(passage((0, 13)), "so happy", "desk", "brown", "not there")
    assert (document["neutral_sentences"], document["neutral_sentences_hit"]) == (1, 1)
    assert document["neutral_sentence_fpr"] == 1.0
    assert document["neutral_span_share"] == 2 / 3  # the span that is not in the text was not located


def test_a_span_across_the_edge_hits_the_neutral_sentence() -> None:
    detail = one(passage((0, 13)), "happy. The desk")
    assert (detail.neutral_hits, detail.marks) == ((0,), "N")


def test_scores_by_sentence_are_of_what_lies_inside_and_leave_neutral_ones_out() -> None:
    # Sentence 0: gold "so happy", predicted "happy" of "happy. The desk": F1 2/3. Sentence 2: gold "a joy" and
    # predicted "joy": F1 1, as articles are no words. The whole sample: "so happy" with "happy desk" is 1/2, joy 1.
    detail = one(passage((5, 13), (41, 46)), "happy. The desk", "joy")
    assert [(s.index, s.f1) for s in detail.sentences] == [(0, pytest.approx(2 / 3)), (2, 1.0)]
    assert detail.f1 == 0.75
    document = figures(passage((5, 13), (41, 46)), "happy. The desk", "joy")
    assert document["by_emotion"] == {
        "happy": {"n": 1, "f1": pytest.approx(2 / 3), "sim": None},
        "surprise": {"n": 1, "f1": 1.0, "sim": None},
    }
    assert document["by_valence"] == {"positive": {"n": 2, "f1": pytest.approx(5 / 6), "sim": None}}


def test_a_sentence_without_spans_on_either_side_scores_1() -> None:
    detail = one(passage((5, 13)), "so happy", "not there")
    assert [(s.index, s.f1) for s in detail.sentences] == [(0, 1.0), (2, 1.0)]


def test_a_blank_that_hangs_over_the_edge_is_no_span_of_the_next_sentence() -> None:
    gold = SpanSample(
        id="1",
        text="Sad day. LatestRequest.",
        spans=(Mark(0, 9),),
        sentences=(Sentence(start=0, end=8, emotion="sad"), Sentence(start=8, end=14, emotion="fear")),
    )
    assert [s.f1 for s in one(gold, "sad day").sentences] == [1.0, 1.0]


def test_without_sentences_scores_are_by_the_samples_own_labels() -> None:
    gold = [
        sample("so sad", "so sad", id="1", emotion="sad", valence="negative"),
        sample("happy", "happy", id="2", emotion="happy"),
        sample("oh no", "oh no", id="3", emotion="sad", valence="negative"),
    ]
    document = span_report(gold, [said("sad"), said("happy", id="2"), said(id="3")], None, KEYWORDS)
    assert document["by_emotion"] == {
        "happy": {"n": 1, "f1": 1.0, "sim": None},
        "sad": {"n": 2, "f1": pytest.approx(1 / 3), "sim": None},
    }
    assert document["by_valence"] == {"negative": {"n": 2, "f1": pytest.approx(1 / 3), "sim": None}}
    assert document["neutral_sentence_fpr"] is None


# --- answers that break their format ----------------------------------------------------------------------------------


def test_a_changed_highlight_scores_0_and_its_spans_count_for_hallucination_alone() -> None:
    answer = SpanPrediction(id="1", output="I am **so happy**. The **desk** is **gold**.", style="highlight")
    embed = Letters()
    (detail,) = score_samples([passage((5, 13))], [answer], embed, KEYWORDS)
    assert (detail.f1, detail.sim, detail.pairs, embed.calls) == (0.0, 0.0, (), [])
    assert (detail.invalid, detail.marks) == ("the text was changed", "HMX!")
    assert [s.f1 for s in detail.sentences] == [0.0, 0.0]
    document = span_report([passage((5, 13))], [answer], None, KEYWORDS)
    assert (document["invalid_outputs"], document["predicted_spans"], document["hallucinated_spans"]) == (1, 3, 1)
    assert (document["neutral_sentences_hit"], document["neutral_span_share"]) == (0, None)


def test_a_changed_highlight_scores_0_even_where_nothing_was_to_be_found() -> None:
    answer = SpanPrediction(id="1", output="A desk!", style="highlight")
    assert score_samples([sample("A desk.")], [answer], None, KEYWORDS)[0].f1 == 0.0


def test_reasoning_without_response_is_scored_as_no_spans() -> None:
    answer = SpanPrediction(id="1", output="Reasoning: sad", style="retrieve", cot=True)
    (wrong,) = score_samples([sample("sad", "sad")], [answer], None, KEYWORDS)
    (right,) = score_samples([sample("desk")], [answer], None, KEYWORDS)
    assert (wrong.f1, wrong.marks, right.f1, right.marks) == (0.0, "M!", 1.0, "!")


def test_a_valid_highlight_is_scored_like_a_list_of_spans() -> None:
    answer = SpanPrediction(id="1", output=PASSAGE.replace("so happy", "**so happy**"), style="highlight")
    detail = score_samples([passage((5, 13))], [answer], None, KEYWORDS)[0]
    assert detail == one(passage((5, 13)), "so happy")


def test_an_answer_with_neither_spans_nor_output_is_refused() -> None:
    with pytest.raises(ValueError, match="'1' has neither spans nor output"):
        score_samples([sample("sad")], [SpanPrediction(id="1")], None, KEYWORDS)


# --- Sim --------------------------------------------------------------------------------------------------------------


def test_each_distinct_string_is_embedded_once_in_one_call() -> None:
    embed = Letters()
    gold = [sample("sad day", "sad", id="1"), sample("sad night", "sad", id="2"), sample("desk", id="3")]
    predicted = [said("sad", "day"), said("night", id="2"), said("desk", id="3"), said("day", repeat=1)]
    score_samples(gold, predicted, embed, KEYWORDS)
    assert len(embed.calls) == 1
    assert sorted(embed.calls[0]) == ["day", "night", "sad"]  # nothing meets "desk", so it needs no embedding


def test_clipped_spans_are_embedded_in_the_same_call() -> None:
    embed = Letters()
    score_samples([passage((5, 13))], [said("happy. The desk")], embed, KEYWORDS)
    assert sorted(embed.calls[0]) == ["happy.", "happy. The desk", "so happy"]


def test_sim_counts_pairs_without_a_common_word_and_divides_by_the_greater_number() -> None:
    embed = Letters()
    (detail,) = score_samples([sample("glad boy", "glad")], [said("boy", "nope")], embed, KEYWORDS)
    vectors = dict(zip(embed.calls[0], embed(embed.calls[0]).astype(float), strict=True))
    best = max(vectors["glad"] @ vectors["boy"], vectors["glad"] @ vectors["nope"])
    assert detail.f1 == 0.0
    assert detail.sim == pytest.approx(best / 2, abs=1e-12)


def test_a_span_is_exactly_like_itself() -> None:
    gold = sample("the quick brown fox", "the quick", "brown fox")
    (detail,) = score_samples([gold], [said("brown fox", "the quick")], Letters(), KEYWORDS)
    assert (detail.f1, detail.sim) == (1.0, 1.0)


def test_empty_sides_have_sim_without_a_model_being_asked() -> None:
    embed = Letters()
    details = score_samples([sample("a"), sample("b", "b", id="2")], [said(), said(id="2")], embed, KEYWORDS)
    assert [detail.sim for detail in details] == [1.0, 0.0]
    assert embed.calls == []


def test_a_model_that_returns_too_few_embeddings_is_refused() -> None:
    with pytest.raises(ValueError, match="2 strings gave 1 embeddings"):
        score_samples([sample("sad day", "sad")], [said("day")], lambda texts: np.ones((1, 3)), KEYWORDS)


def test_without_sim_it_is_null_with_the_cause() -> None:
    document = figures(sample("sad", "sad"), "sad")
    assert document["sim"] is None
    assert "sim" in document["notes"]  # type: ignore[operator]


# --- many samples -----------------------------------------------------------------------------------------------------


def test_a_sample_without_prediction_counts_as_predicted_without_spans() -> None:
    document = span_report([sample("sad", "sad"), sample("desk", id="2")], [], None, KEYWORDS)
    assert (document["n"], document["f1"], document["missing_predictions"]) == (2, 0.5, 2)


def test_a_stray_or_double_prediction_is_named() -> None:
    with pytest.raises(ValueError, match="'7' is not in gold"):
        score_samples([sample("sad")], [said(id="7")], None, KEYWORDS)
    with pytest.raises(ValueError, match="'1' comes twice in repeat 2"):
        score_samples([sample("sad")], [said(repeat=2), said(repeat=2)], None, KEYWORDS)
    with pytest.raises(ValueError, match="'1' comes twice in gold"):
        score_samples([sample("sad"), sample("sad")], [], None, KEYWORDS)


def test_repeats_give_the_mean_and_the_sample_deviation_of_each_figure() -> None:
    gold = [sample("so sad", "so sad", emotion="sad"), sample("joy", "joy", id="2", emotion="happy")]
    predicted = [
        said("so sad"),
        said("joy", id="2"),
        said("sad", "not there", repeat=1),
        said("joy", id="2", repeat=1),
        said(repeat=2),
        said(id="2", repeat=2),
    ]
    document = span_report(gold, predicted, None, KEYWORDS)
    f1 = [1.0, (1 / 3 + 1) / 2, 0.0]
    assert document["n"] == 2
    assert document["repeats"] == 3
    assert document["f1"] == pytest.approx(sum(f1) / 3)
    sd = document["sd"]
    assert isinstance(sd, dict)
    assert sd["f1"] == pytest.approx(stdev(f1))
    assert (document["predicted_spans"], sd["predicted_spans"]) == (5 / 3, pytest.approx(stdev([2, 3, 0])))
    assert document["by_emotion"]["sad"]["f1"] == pytest.approx((1 + 1 / 3 + 0) / 3)  # type: ignore[index]
    assert sd["by_emotion"]["sad"]["f1"] == pytest.approx(stdev([1, 1 / 3, 0]))
    # The last repeat has no spans, so no rate; the mean is over the other two, and says so.
    assert document["hallucination_rate"] == pytest.approx((0 + 1 / 3) / 2)
    assert "1 of 3 repeats" in document["notes"]["hallucination_rate"]  # type: ignore[index]


def test_one_repeat_has_no_deviation() -> None:
    assert "sd" not in figures(sample("sad", "sad"), "sad")
    document = span_report([sample("sad", "sad")], [said("sad", repeat=4)], None, KEYWORDS)
    assert (document["f1"], document["sd"]["f1"]) == (1.0, None)  # type: ignore[index]


def test_no_samples_give_null_and_no_error() -> None:
    document = span_report([], [], None, KEYWORDS, per_sample=True)
    assert document["n"] == 0
    rates = ("f1", "sim", "precision", "recall", "f1_gold", "hallucination_rate", "fixation_rate")
    rates += ("neutral_sentence_fpr", "neutral_span_share")
    assert [document[name] for name in rates] == [None] * len(rates)
    by_token = {f"tokens.{name}" for name in ("precision", "recall", "f1")}
    assert set(document["notes"]) == {*rates, *by_token}  # type: ignore[call-overload]
    assert (document["by_emotion"], document["samples"]) == ({}, [])


def test_per_sample_shows_spans_as_strings() -> None:
    predicted = [said("sad", "nope", repeat=0), said("so sad", repeat=1)]
    document = span_report([sample("so sad", "so sad")], predicted, None, KEYWORDS, per_sample=True)
    first, second = document["samples"]  # type: ignore[misc]
    assert first["pairs"] == [["so sad", "sad", pytest.approx(2 / 3)]]
    assert (first["id"], first["repeat"], first["f1"], first["sim"]) == ("1", 0, pytest.approx(1 / 3), None)
    assert first["hallucinated"] == ["nope"]
    assert (second["repeat"], second["f1"]) == (1, 1.0)


def test_all_figures_that_the_file_formats_promise_are_there() -> None:
    promised = {
        "n",
        "f1",
        "sim",
        "predicted_spans",
        "hallucinated_spans",
        "hallucination_rate",
        "keyword_samples",
        "fixated_samples",
        "fixation_rate",
        "neutral_sentences",
        "neutral_sentences_hit",
        "neutral_sentence_fpr",
        "neutral_span_share",
        "by_emotion",
        "by_valence",
        "invalid_outputs",
    }
    assert promised <= set(figures(passage((5, 13)), "so happy"))


def test_a_batch_is_scored_as_it_is_given() -> None:
    one_, two = sample("so sad", "so sad"), sample("joy", "joy", id="2")
    details = score_pairs([(two, said("joy", id="2", repeat=3), 3), (one_, None, 1)], None, KEYWORDS)
    assert [(d.id, d.repeat, d.f1, d.missing) for d in details] == [("2", 3, 1.0, False), ("1", 1, 0.0, True)]


SPAN = st.sampled_from(["so happy", "desk", "a joy", "happy. The", "truly", "gone", "", "I am so happy. The desk"])


@settings(deadline=None, max_examples=60)
@given(st.lists(SPAN, max_size=5), st.lists(SPAN, max_size=5), st.booleans())
def test_details_survive_json_and_figures_stay_in_bounds(one: list[str], other: list[str], sim: bool) -> None:
    gold = [passage((5, 13), (41, 46))]
    predicted = [said(*one), said(*other, repeat=1)]
    details = score_samples(gold, predicted, Letters() if sim else None, KEYWORDS)
    assert msgspec.json.decode(msgspec.json.encode(details), type=list[SampleDetail]) == details
    assert msgspec.convert(msgspec.to_builtins(details), list[SampleDetail]) == details
    document = report(gold, details)
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    for name in ("f1", "hallucination_rate", "neutral_span_share"):
        value = document[name]
        assert value is None or (isinstance(value, int | float) and 0 <= value <= 1)
    for detail in details:
        assert [detail.located[i] for i in detail.hallucinated] == [None] * len(detail.hallucinated)
        matched = len([pair for pair in detail.pairs if pair.f1])
        assert len(detail.missed) == len(detail.gold) - matched
        assert len(detail.extra) == detail.predicted_once - matched


def test_a_sample_without_a_prediction_counts_as_one_without_spans_or_is_left_out() -> None:
    golds = [SpanSample(id=key, text="so glad", spans=(Mark(3, 7),)) for key in "ab"]
    said = [SpanPrediction(id="a", spans=("glad",))]
    counted, left_out = (span_report(golds, said, None, frozenset(), skip_missing=skip) for skip in (False, True))
    assert (counted["n"], counted["f1"], left_out["n"], left_out["f1"]) == (2, 0.5, 1, 1.0)
    assert "ci95" not in counted
    assert "ci95" in span_report(golds, said, None, frozenset(), shared=[None, None])


def test_a_report_in_which_every_figure_is_defined_has_no_notes() -> None:
    glad = Sentence(start=0, end=8, emotion="joy", valence="positive")
    desk = Sentence(start=9, end=15, emotion="neutral", valence="neutral")
    passage = SpanSample(id="a", text="so glad. a desk", spans=(Mark(3, 7),), sentences=(glad, desk))
    said = [SpanPrediction(id="a", spans=("glad",))]
    whole = span_report([passage], said, lambda texts: np.eye(2)[[0] * len(texts)], frozenset({"glad"}))
    assert (whole["f1"], "notes" in whole) == (1.0, False)
    assert whole["by_emotion"] == {"joy": {"n": 1, "f1": 1.0, "sim": 1.0}}
    unlabelled = msgspec.structs.replace(passage, sentences=(Sentence(start=0, end=8), desk))
    assert span_report([unlabelled], said, None, frozenset())["by_emotion"] == {}


def test_a_note_says_in_how_many_repeats_a_figure_is_undefined_where_it_is_not_in_all() -> None:
    golds = [SpanSample(id="a", text="so glad", spans=(Mark(3, 7, "joy"),))]
    spoken = SpanPrediction(id="a", spans=(Mark(3, 7, "joy"),))
    silent = SpanPrediction(id="a", repeat=1, spans=())
    some = span_report(golds, [spoken, silent], None, frozenset())["notes"]
    assert some["precision"] == "no predicted spans in 1 of 2 repeats, which the mean leaves out"
    assert not any(name.startswith("labels") for name in some)
    none = [msgspec.structs.replace(silent, repeat=repeat) for repeat in (0, 1)]
    assert span_report(golds, none, None, frozenset())["notes"]["precision"] == "no predicted spans"


def test_what_a_detail_leaves_empty() -> None:
    bare = SpanSample(id="1", text="it was a joy", spans=(Mark(3, 12),))
    detail = one(bare, "joy")
    assert (detail.gold_labels, detail.fixated, detail.unlabelled) == ((), (0,), False)
    changed = SpanPrediction(id="1", output="it is a **joy**", style="highlight")
    (void,) = score_samples([bare], [changed], None, KEYWORDS)
    assert (void.void, void.keyword, void.fixated) == (True, True, ())
    assert one(msgspec.structs.replace(bare, spans=None), "joy").unlabelled
    assert [_overlap((0, 3), other) for other in ((2, 5), (3, 5), (0, 1))] == [True, False, True]
    assert [_overlap((3, 5), other) for other in ((0, 3), (0, 4))] == [False, True]


# --- a span that is given again ---------------------------------------------------------------------------------------


def marked(*spans: Mark | str) -> SampleDetail:
    gold = SpanSample(id="1", text="so sad, so sad", spans=(Mark(0, 6),))
    (detail,) = score_samples([gold], [SpanPrediction(id="1", spans=spans)], None, KEYWORDS)
    return detail


def test_a_place_that_is_predicted_twice_counts_once_and_is_told() -> None:
    detail = marked(Mark(0, 6), Mark(0, 6), Mark(8, 14))
    assert (detail.repeated, detail.predicted_once, len(detail.predicted)) == ((1,), 2, 3)
    assert (detail.f1, detail.precision, detail.recall) == (0.5, 0.5, 1.0)
    assert (detail.extra, [pair.predicted for pair in detail.pairs]) == ((2,), [0])
    document = report([SpanSample(id="1", text="so sad, so sad", spans=(Mark(0, 6),))], [detail])
    assert (document["predicted_spans"], document["repeated_spans"], document["extra_spans"]) == (2, 1, 1)
    assert "counts once" in document["notes"]["repeated_spans"]  # type: ignore[index]


def test_one_place_with_two_labels_is_two_spans() -> None:
    assert marked(Mark(0, 6, "joy"), Mark(0, 6, "fear")).repeated == ()
    assert marked(Mark(0, 6, "joy"), Mark(0, 6, "fear"), Mark(0, 6, "joy")).repeated == (2,)


def test_words_given_as_often_as_they_stand_are_as_many_spans_and_what_is_given_more_often_is_given_again() -> None:
    assert marked("so sad", "so sad").repeated == ()
    assert marked("so sad", "so sad", "so sad").repeated == (2,)
    assert marked("joy", "nothing", "joy").repeated == (2,)
    assert marked("joy", "nothing", "joy").hallucinated == (0, 1)
    assert marked("joy", "Joy").repeated == ()  # not the same string


@given(st.lists(st.sampled_from(["so sad", "so", "sad", "joy", "so sad, so sad"]), max_size=6))
def test_giving_every_span_of_an_answer_again_changes_nothing_but_what_is_told(spans: list[str]) -> None:
    gold = SpanSample(id="1", text="so sad, so sad", spans=(Mark(0, 6), Mark(11, 14)))
    places = [Mark(*place) for place in {span for span in one(gold, *spans).located if span}]
    once, twice = (
        score_samples([gold], [SpanPrediction(id="1", spans=tuple(marks))], None, KEYWORDS)[0]
        for marks in (places, places + places)
    )
    assert twice.repeated == tuple(range(len(places), 2 * len(places)))
    names = ("f1", "pairs", "extra", "missed", "precision", "recall", "tokens", "labelled_f1", "marks")
    assert [getattr(once, name) for name in names] == [getattr(twice, name) for name in names]
