"""Annotators scored beside models (SEER, section 9)."""

import msgspec
import numpy as np
import pytest

from emotui.metrics.annotators import annotator_predictions, best_each, score_annotators
from emotui.records import Mark, SpanPrediction, SpanSample, marks_at

FIRST = SpanSample(
    id="1",
    text="so sad today, so very sad",
    spans=(Mark(0, 6),),
    annotators={"ann": (Mark(0, 6),), "bob": (Mark(3, 6), Mark(14, 16)), "cy": ()},
)
SECOND = SpanSample(id="2", text="what a joy", spans=(Mark(5, 10),), annotators={"ann": (), "bob": (Mark(0, 10),)})
BARE = SpanSample(id="3", text="desk", spans=())
NONE: frozenset[str] = frozenset()


def test_annotators_become_predictions_in_text_order() -> None:
    turned = SpanSample(id="1", text="sad day", spans=(), annotators={"ann": (Mark(4, 7), Mark(0, 3))})
    assert annotator_predictions([turned]) == {"ann": [SpanPrediction(id="1", spans=marks_at([(0, 3), (4, 7)]))]}


def test_who_did_not_annotate_a_sample_is_not_scored_on_it() -> None:
    scored = score_annotators([FIRST, SECOND, BARE], None, NONE)
    assert {name: [(d.id, d.missing) for d in details] for name, details in scored.items()} == {
        "ann": [("1", False), ("2", False)],
        "bob": [("1", False), ("2", False)],
        "cy": [("1", False)],
    }


def test_the_best_annotation_of_each_sample_is_by_whoever_is_nearest_to_gold_there() -> None:
    # ann: 1 and 0. bob: gold "so sad" against "sad" (2/3) and "so" (2/3), one of them counts, over 2: 1/3; then "a joy"
    # against "what a joy": 2/3. cy: 0.
    scored = score_annotators([FIRST, SECOND, BARE], None, NONE)
    assert [d.f1 for d in scored["ann"]] == [1.0, 0.0]
    assert [d.f1 for d in scored["bob"]] == [pytest.approx(1 / 3), pytest.approx(2 / 3)]
    assert [d.f1 for d in best_each(scored)] == [1.0, pytest.approx(2 / 3)]


def test_best_sim_is_that_of_the_annotation_with_the_best_f1() -> None:
    def embed(texts: object) -> np.ndarray:
        assert isinstance(texts, list)
        places = {"so sad": 0.0, "sad": 0.0, "so": 1.5}
        return np.array([[np.cos(places.get(text, 1.0)), np.sin(places.get(text, 1.0))] for text in texts])

    sample = SpanSample(
        id="1",
        text="so sad, sad",
        spans=(Mark(0, 6),),
        annotators={"a": (Mark(0, 2),), "b": (Mark(3, 6),), "c": (Mark(3, 11),)},
    )
    (best,) = best_each(score_annotators([sample], embed, NONE))
    assert best.predicted == ("sad",)  # F1 2/3 as "so" has, and nearer to "so sad"
    assert best.sim == pytest.approx(1.0)


def test_without_annotators_there_is_nothing_to_score() -> None:
    assert score_annotators([BARE], None, NONE) == {}
    assert best_each({}) == []


def test_marks_of_one_place_are_in_the_order_of_their_labels() -> None:
    marks = (Mark(0, 3, "joy"), Mark(0, 3, "fear"), Mark(0, 3))
    (said,) = annotator_predictions([SpanSample(id="1", text="sad", spans=(), annotators={"ann": marks})])["ann"]
    assert said.spans == (Mark(0, 3), Mark(0, 3, "fear"), Mark(0, 3, "joy"))


def test_of_equally_good_annotations_the_first_by_name_is_the_best_and_any_sim_is_better_than_none() -> None:
    sample = SpanSample(
        id="1", text="sad, sad", spans=(Mark(0, 3),), annotators={"b": (Mark(0, 3),), "a": (Mark(5, 8),)}
    )
    scored = score_annotators([sample], None, NONE)
    assert {detail.repeat for details in scored.values() for detail in details} == {0}
    (best,) = best_each(scored)
    assert best.located == ((5, 8),)
    known = [msgspec.structs.replace(detail, sim=-0.5) for detail in scored["b"]]
    assert best_each(scored | {"b": known}) == known
