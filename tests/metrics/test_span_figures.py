"""Precision, recall, figures by token, and what F1 alone hides, against plain Python."""

import re
from collections.abc import Sequence
from itertools import permutations
from statistics import fmean
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emotui.metrics.span_report import report, span_report
from emotui.metrics.span_scoring import score_samples
from emotui.metrics.span_tokens import TokenCounts, token_counts
from emotui.metrics.spans import token_f1
from emotui.metrics.tokens import fold, token_places, tokens
from emotui.records import SpanPrediction, SpanSample, marks_at

NONE: frozenset[str] = frozenset()
WORDS = ("joy", "the", "a", "grim", "bus,", "--", "Élan", "co-op", "İx")


def plain_tokens_inside(text: str, spans: Sequence[tuple[int, int]]) -> set[int]:
    """Which of the text's white-space words that hold a token some span touches, by their kept characters."""
    found = set()
    words = [word for word in re.finditer(r"\S+", text) if tokens(word[0])]
    for number, word in enumerate(words):
        kept = [at for at in range(word.start(), word.end()) if tokens(text[at] * 2)]
        if any(start < kept[-1] + 1 and kept[0] < end for start, end in spans):
            found.add(number)
    return found


@st.composite
def cases(draw: st.DrawFn) -> list[tuple[SpanSample, SpanPrediction]]:
    found = []
    for number in range(draw(st.integers(1, 5))):
        text = " ".join(draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=8)))
        end = len(text)
        cut = st.integers(0, end - 1).flatmap(lambda at, end=end: st.tuples(st.just(at), st.integers(at + 1, end)))  # type: ignore[misc]
        gold = draw(st.lists(cut, max_size=1))
        cuts = [text[start:end] for start, end in draw(st.lists(cut, max_size=3))]
        spans = [*cuts, *draw(st.lists(st.sampled_from(["made up", "grim"]), max_size=2))]
        sample = SpanSample(id=str(number), text=text, spans=marks_at(gold))
        found.append((sample, SpanPrediction(id=sample.id, spans=tuple(spans))))
    return found


def best_total(gold: Sequence[str], predicted: Sequence[str]) -> float:
    """The greatest sum of token F1 over one-to-one pairs, by trying all."""
    few, many = sorted((gold, predicted), key=len)
    return max(
        (sum(token_f1(a, b) for a, b in zip(few, chosen, strict=True)) for chosen in permutations(many, len(few))),
        default=0.0,
    )


@settings(deadline=None, max_examples=150)
@given(cases())
def test_every_figure_is_that_of_plain_python(found: list[tuple[SpanSample, SpanPrediction]]) -> None:
    golds, said = [one[0] for one in found], [one[1] for one in found]
    details = score_samples(golds, said, None, NONE)
    document: Any = report(golds, details)
    kept = [
        [at for at, place in enumerate(d.located) if place or d.predicted[at] not in d.predicted[:at]] for d in details
    ]
    strings = [
        ([g.text[s:e] for s, e in g.places], [d.predicted[at] for at in own])
        for g, d, own in zip(golds, details, kept, strict=True)
    ]
    totals = [best_total(*both) for both in strings]
    n_gold, n_said = sum(len(g) for g, _ in strings), sum(len(p) for _, p in strings)
    assert document["precision"] == (pytest.approx(sum(totals) / n_said) if n_said else None)
    assert document["recall"] == (pytest.approx(sum(totals) / n_gold) if n_gold else None)
    marked = [detail.f1 for detail in details if detail.gold]
    assert document["f1_gold"] == (pytest.approx(fmean(marked)) if marked else None)
    assert document["empty_gold"] == len(details) - len(marked)
    missed = sum(len(d.gold) - sum(p.f1 > 0 for p in d.pairs) for d in details)
    assert (document["missed_spans"], document["extra_spans"]) == (missed, n_said - n_gold + missed)
    right = gold_tokens = said_tokens = 0
    for detail, sample, own in zip(details, golds, kept, strict=True):
        gold = plain_tokens_inside(sample.text, sample.places)
        inside = plain_tokens_inside(sample.text, [place for place in detail.located if place])
        nowhere = [detail.predicted[at] for at in own if detail.located[at] is None]
        right += len(gold & inside)
        gold_tokens += len(gold)
        said_tokens += len(inside) + sum(len(tokens(span)) for span in nowhere)
    assert document["tokens"] == {
        "precision": right / said_tokens if said_tokens else None,
        "recall": right / gold_tokens if gold_tokens else None,
        "f1": 2 * right / (said_tokens + gold_tokens) if said_tokens + gold_tokens else None,
    }


@settings(deadline=None, max_examples=60)
@given(cases(), st.randoms(use_true_random=False))
def test_no_figure_depends_on_the_order_of_samples_or_leaves_its_bounds(
    found: list[tuple[SpanSample, SpanPrediction]], random: Any
) -> None:
    one: Any = span_report([g for g, _ in found], [p for _, p in found], None, NONE)
    random.shuffle(found)
    other: Any = span_report([g for g, _ in found], [p for _, p in found], None, NONE)
    for name in ("f1", "precision", "recall", "f1_gold"):
        assert (one[name] is None) == (other[name] is None)
        if one[name] is not None:
            assert one[name] == pytest.approx(other[name])
            assert 0 <= one[name] <= 1
    assert one["tokens"] == other["tokens"]
    assert all(value is None or 0 <= value <= 1 for value in one["tokens"].values())


@settings(deadline=None, max_examples=60)
@given(cases())
def test_gold_against_itself_is_all_right(found: list[tuple[SpanSample, SpanPrediction]]) -> None:
    golds = [sample for sample, _ in found]
    said = [SpanPrediction(id=g.id, spans=tuple(g.text[s:e] for s, e in g.places)) for g in golds]
    document: Any = span_report(golds, said, None, NONE)
    assert document["f1"] == 1
    assert document["precision"] in (1, None)
    assert document["recall"] in (1, None)
    assert (document["missed_spans"], document["extra_spans"]) == (0, 0)


def test_silence_is_told_by_recall_and_by_the_samples_that_have_gold_spans() -> None:
    golds = [SpanSample(id="a", text="so sad", spans=marks_at([(3, 6)])), SpanSample(id="b", text="a desk", spans=())]
    document: Any = span_report(golds, [SpanPrediction(id=i, spans=()) for i in "ab"], None, NONE)
    assert (document["f1"], document["precision"], document["recall"], document["f1_gold"]) == (0.5, None, 0, 0)
    assert (document["empty_gold"], document["missed_spans"], document["extra_spans"]) == (1, 1, 0)
    assert document["tokens"] == {"precision": None, "recall": 0, "f1": 0}
    assert "counts 1" in document["notes"]["f1"]
    assert "1 sample has no gold span" in document["notes"]["f1"]
    full: Any = span_report(golds[:1], [SpanPrediction(id="a", spans=("sad",))], None, NONE)
    assert "f1" not in full["notes"]


def test_a_token_counts_once_however_many_spans_hold_it_and_what_stands_nowhere_is_wrong() -> None:
    text = "The worst, worst day of all"
    # Gold: worst worst day. Predicted: worst worst (twice), and "a made-up one" (made-up and one: 2 tokens) nowhere.
    places = [(4, 16), (11, 16), None]
    counts = token_counts(text, [(4, 20)], ["worst, worst", "worst", "a made-up one"], places)
    assert counts == TokenCounts(gold=3, predicted=4, shared=2)


def test_a_marked_text_that_was_changed_has_only_wrong_tokens() -> None:
    gold = SpanSample(id="a", text="so sad now", spans=marks_at([(3, 6)]))
    said = SpanPrediction(id="a", output="so **sad** then", style="highlight")
    document: Any = span_report([gold], [said], None, NONE)
    assert document["tokens"] == {"precision": 0, "recall": 0, "f1": 0}
    assert (document["precision"], document["recall"]) == (0, 0)


@settings(deadline=None, max_examples=200)
@given(st.text(st.sampled_from("aAn the.-'’ \t\nİßx€é́9"), max_size=30))
def test_the_places_of_tokens_cut_the_tokens_out_of_the_text(text: str) -> None:
    starts, ends = token_places(*fold(text))
    assert [token for start, end in zip(starts, ends, strict=True) for token in tokens(text[start:end])] == tokens(text)
    assert sorted(starts) == starts
    assert all(start < end for start, end in zip(starts, ends, strict=True))


@settings(deadline=None, max_examples=400)
@given(
    st.one_of(
        st.text(st.sampled_from("aAnthe.,-' \t9"), min_size=1, max_size=30),
        st.text(st.sampled_from("aAn the.-'’ \t\nİßx€é́9\x01"), min_size=1, max_size=30),
    ),
    st.data(),
)
def test_tokens_inside_spans_are_those_whose_places_overlap_them(text: str, data: st.DataObject) -> None:
    cut = st.integers(0, len(text) - 1).flatmap(lambda at: st.tuples(st.just(at), st.integers(at + 1, len(text))))
    gold, located = data.draw(st.lists(cut, max_size=4)), data.draw(st.lists(cut, max_size=4))
    tokens_at = list(zip(*token_places(*fold(text)), strict=True))
    inside = [
        {token for token in tokens_at for start, end in spans if token[0] < end and start < token[1]}
        for spans in (gold, located)
    ]
    counts = token_counts(text, gold, [text[start:end] for start, end in located], located)
    assert counts == TokenCounts(len(inside[0]), len(inside[1]), len(inside[0] & inside[1]))


def test_an_entry_of_a_sample_holds_its_own_figures_and_places() -> None:
    gold = SpanSample(id="a", text="so sad, so very sad", spans=marks_at([(3, 6), (8, 19)]))
    document: Any = span_report([gold], [SpanPrediction(id="a", spans=("sad", "glad"))], None, NONE, per_sample=True)
    (entry,) = document["samples"]
    assert (entry["precision"], entry["recall"]) == (0.5, 0.5)
    assert (entry["missed"], entry["extra"]) == (["so very sad"], ["glad"])
    assert entry["places"] == [(3, 6), None]
    assert entry["tokens"] == {"gold": 4, "predicted": 2, "shared": 1}


@pytest.mark.parametrize(
    ("text", "gold", "predicted", "counts"),
    [
        ("so xa", [(4, 5)], [(3, 5)], (1, 1, 1)),  # "a" alone were an article, and no token
        ("ax so", [(0, 1)], [(0, 2)], (1, 1, 1)),
        ("-ax so", [(0, 1)], [(0, 2)], (0, 1, 0)),  # punctuation alone touches no token
        ("€a€ so", [(0, 1)], [(2, 3)], (1, 1, 0)),  # SQuAD's word boundary cuts the article out
        ("so sad bus", [(0, 10)], [(0, 2), (3, 6)], (3, 2, 2)),
        ("so sad bus", [(0, 2), (3, 6)], [(0, 10)], (2, 3, 2)),
        ("so very sad", [(0, 7)], [(3, 11)], (2, 2, 1)),
    ],
)
def test_tokens_that_a_span_touches_count_whole(
    text: str, gold: list[tuple[int, int]], predicted: list[tuple[int, int]], counts: tuple[int, int, int]
) -> None:
    said = [text[start:end] for start, end in predicted]
    assert token_counts(text, gold, said, predicted) == TokenCounts(*counts)
