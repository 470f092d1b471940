"""Strict, exact, partial and type matches of spans (SemEval-2013 task 9), characters, tolerant and soft figures."""

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emotui.metrics.beside import of_ratios
from emotui.metrics.span_errors import Facts
from emotui.metrics.span_intervals import span_intervals
from emotui.metrics.span_matching import (
    SCHEMES,
    Placed,
    characters,
    count_matches,
    matching_table,
    shared,
    tolerant_matches,
    word_starts,
)
from emotui.metrics.span_report import whole_report
from emotui.metrics.span_scoring import score_samples
from emotui.records import Mark, SpanPrediction, SpanSample


def counts(gold: list[Placed], predicted: list[Placed], scheme: str) -> tuple[int, ...]:
    found = count_matches(gold, predicted)[scheme]
    return found.correct, found.incorrect, found.partial, found.missing, found.spurious


def test_the_five_kinds_of_match_by_each_scheme() -> None:
    gold = [Placed((0, 4), "joy"), Placed((5, 9), "joy"), Placed((10, 14), "joy"), Placed((20, 24), "joy")]
    said = [
        Placed((0, 4), "joy"),
        Placed((5, 9), "fear"),
        Placed((11, 15), "joy"),
        Placed((30, 34), "joy"),
        Placed(None),
    ]
    assert counts(gold, said, "strict") == (1, 2, 0, 1, 2)
    assert counts(gold, said, "exact") == (2, 1, 0, 1, 2)
    assert counts(gold, said, "partial") == (2, 0, 1, 1, 2)
    assert counts(gold, said, "type") == (2, 1, 0, 1, 2)


def test_an_equal_place_is_matched_before_one_that_shares_more() -> None:
    gold = [Placed((0, 10)), Placed((0, 4))]
    assert counts(gold, [Placed((0, 4)), Placed((2, 9))], "exact") == (1, 1, 0, 0, 0)


places = st.tuples(st.integers(0, 6), st.integers(1, 4)).map(lambda at: (at[0], at[0] + at[1]))
spans = st.lists(st.builds(Placed, st.one_of(st.none(), places), st.sampled_from([None, "a", "b"])), max_size=4)


@settings(deadline=None, max_examples=200)
@given(spans, spans)
def test_no_other_pairing_has_more_strict_matches_or_as_many_and_more_exact_ones(
    gold: list[Placed], said: list[Placed]
) -> None:
    few, many = sorted((gold, said), key=len)
    best = (0, 0, 0)
    for chosen in permutations(many, len(few)):
        pairs = [(g, p) for g, p in zip(few, chosen, strict=True) if g.place and p.place and shared(g.place, p.place)]
        exact = [pair for pair in pairs if pair[0].place == pair[1].place]
        strict = sum(g.label == p.label for g, p in exact)
        best = max(best, (strict, len(exact), sum(shared(g.place, p.place) for g, p in pairs)))  # type: ignore[arg-type]
    found = count_matches(gold, said)
    assert (found["strict"].correct, found["exact"].correct) == best[:2]
    for matches in found.values():
        assert matches.correct + matches.incorrect + matches.partial + matches.missing == len(gold)
        assert matches.correct + matches.incorrect + matches.partial + matches.spurious == len(said)


TEXT = "I am so  glad"
texts = st.lists(
    st.tuples(spans.map(lambda each: [one for one in each if one.place]), spans, st.lists(spans, max_size=3)),
    max_size=5,
)


@settings(deadline=None, max_examples=200)
@given(texts)
def test_many_texts_at_once_come_to_what_each_comes_to_alone(
    several: list[tuple[list[Placed], list[Placed], list[list[Placed]]]],
) -> None:
    gold, details, expected = [], [], []
    for at, (own, said, people) in enumerate(several):
        own, said = (list(dict.fromkeys((one.place, one.label) for one in each)) for each in (own, said))
        marks = [[Mark(*one.place) for one in person if one.place] for person in people]
        sample = SpanSample(
            id=str(at),
            text=TEXT,
            spans=tuple(Mark(*place, label) for place, label in own if place),
            annotators={str(name): tuple(each) for name, each in enumerate(marks)},
        )
        gold.append(sample)
        located, labels = tuple(place for place, _ in said), tuple(label for _, label in said)
        details.append(Facts(0.0, None, located, (), (), False, (), None, (), predicted_labels=labels))
        row = [
            figure
            for scheme in SCHEMES
            for figure in counts([Placed(*one) for one in own], [Placed(*one) for one in said], scheme)
        ]
        mine, theirs = (characters([Placed(*one) for one in each]) for each in (own, said))
        row += [len(mine & theirs), len(theirs), len(mine)]
        row += [tolerant_matches([Placed(*one) for one in own], [Placed(*one) for one in said], word_starts(TEXT))]
        row += [len(said), len(own)]
        if len(marks) < 2:
            expected.append([*row, 0, 0, 0, 0])
            continue
        covered = [{place for mark in each for place in range(mark.start, mark.end)} for each in marks]
        share = [sum(place in one for one in covered) / len(covered) for place in range(len(TEXT))]
        expected.append([*row, sum(share[place] for place in theirs), len(theirs), sum(share), 1])
    found = matching_table(gold, details)
    np.testing.assert_allclose(found, np.array(expected, dtype=float).reshape(found.shape), atol=1e-12)


@given(spans)
def test_gold_against_itself_is_correct_by_every_scheme(gold: list[Placed]) -> None:
    there = [span for span in gold if span.place]
    assert [counts(there, there, scheme) for scheme in SCHEMES] == [(len(there), 0, 0, 0, 0)] * 4


def test_borders_one_word_off_are_tolerated_and_two_are_not() -> None:
    edges = word_starts("I am so very glad today")  # 0 2 5 8 13 18
    assert edges == [0, 2, 5, 8, 13, 18]
    gold = [Placed((5, 17))]
    assert [tolerant_matches(gold, [Placed(place)], edges) for place in ((8, 17), (2, 17), (5, 23))] == [1, 1, 1]
    assert [tolerant_matches(gold, [Placed(place)], edges) for place in ((13, 17), (0, 17), (18, 23))] == [0, 0, 0]


def test_the_figures_of_files_over_two_texts() -> None:
    text = "I am so very glad today"
    gold = [
        SpanSample(
            id="a", text=text, spans=(Mark(5, 17, "joy"),), annotators={"x": (Mark(5, 17),), "y": (Mark(13, 17),)}
        ),
        SpanSample(id="b", text=text, spans=()),
    ]
    said = [
        SpanPrediction(id="a", spans=(Mark(8, 17, "joy"), Mark(8, 17, "joy"))),
        SpanPrediction(id="b", spans=("gone",)),
    ]
    found: Any = whole_report(gold, score_samples(gold, said, None, frozenset()))
    assert found["semeval"]["type"] == {
        "precision": 0.5,
        "recall": 1,
        "f1": 2 / 3,
        "correct": 1,
        "incorrect": 0,
        "partial": 0,
        "missing": 0,
        "spurious": 1,
    }
    assert found["semeval"]["strict"]["f1"] == 0
    assert found["semeval"]["partial"]["f1"] == pytest.approx(2 * 0.25 * 0.5 / 0.75)
    assert found["characters"] == {"precision": 1, "recall": 9 / 12, "f1": 18 / 21}
    assert found["tolerant"] == {"precision": 0.5, "recall": 1, "f1": 2 / 3, "words": 1}
    # 4 characters that both mark and 5 that one marks, of 9 predicted; gold weighs 4 + 8 / 2.
    assert found["soft"] == {"precision": 6.5 / 9, "recall": 6.5 / 8, "f1": 13 / 17, "texts": 1}


def test_without_labels_there_is_neither_strict_nor_type() -> None:
    gold = [SpanSample(id="a", text="so glad", spans=(Mark(0, 7),))]
    found: Any = whole_report(gold, score_samples(gold, [SpanPrediction(id="a", spans=("glad",))], None, frozenset()))
    assert list(found["semeval"]) == ["exact", "partial"]
    assert "soft" not in found
    assert characters([Placed((1, 3)), Placed(None)]) == {1, 2}


def some(n: int, repeats: int) -> tuple[list[SpanSample], list[SpanPrediction]]:
    """Texts of five words with a labelled span, and answers whose borders and labels are right now and then."""
    draw, text = np.random.default_rng(4), "I am very glad today"
    gold = [
        SpanSample(id=str(at), text=text, spans=(Mark(5, 14, "joy"),), annotators={"x": (Mark(5, 9),), "y": ()})
        for at in range(n)
    ]
    said = []
    for repeat in range(repeats):
        for at in range(n):
            start, label = int(draw.choice([2, 5, 10])), str(draw.choice(["joy", "fear"]))
            spans = (Mark(start, 14, label),) if draw.random() < 0.8 else ()
            said.append(SpanPrediction(id=str(at), repeat=repeat, spans=spans))
    return gold, said


def test_figures_of_repeats_are_their_mean_with_its_deviation() -> None:
    gold, said = some(12, 3)
    whole: Any = whole_report(gold, score_samples(gold, said, None, frozenset()))
    each: list[Any] = [
        whole_report(gold, score_samples(gold, said[12 * at : 12 * (at + 1)], None, frozenset())) for at in range(3)
    ]
    for group in ("strict", "type"):
        values = [one["semeval"][group]["f1"] for one in each]
        assert whole["semeval"][group]["f1"] == pytest.approx(np.mean(values))
        assert whole["sd"]["semeval"][group]["f1"] == pytest.approx(np.std(values, ddof=1))
    assert whole["soft"]["recall"] == pytest.approx(np.mean([one["soft"]["recall"] for one in each]))


def test_every_figure_of_matches_has_the_interval_of_its_sums_over_texts() -> None:
    gold, said = some(40, 1)
    details = score_samples(gold, said, None, frozenset())
    found, shared_texts = span_intervals(gold, details, [None] * 40), [None] * 40
    right = [float(bool(one.spans) and one.spans[0] == Mark(5, 14, "joy")) for one in said]
    given = [float(len(one.spans)) for one in said]
    by_hand = {
        "semeval.strict.precision": (right, given),
        "semeval.strict.recall": (right, np.ones(40)),
        "semeval.strict.f1": (2 * np.array(right), np.array(given) + 1),
    }
    for name, one in of_ratios(by_hand, shared_texts).items():
        assert found[name].ends == pytest.approx(one.ends)
    report: Any = whole_report(gold, details)
    for group in ("characters", "tolerant", "soft"):
        low, high = found[f"{group}.f1"].ends or (1, 0)
        assert low <= report[group]["f1"] <= high
