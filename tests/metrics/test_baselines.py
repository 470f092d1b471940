"""What predicts without a model, by hand."""

import random

import pytest

from emotui.metrics.baselines import drawn_golds, majority, most_frequent
from emotui.metrics.span_baselines import keyword_spans, span_baselines
from emotui.records import SpanSample


def test_a_random_baseline_draws_gold_answers_with_replacement_by_its_seed() -> None:
    golds = list("abcdefgh")
    for seed in (0, 3):
        draw = random.Random(seed)
        assert drawn_golds(golds, seed) == [draw.choice(golds) for _ in golds]
    assert drawn_golds(golds) == drawn_golds(golds, 0)


def test_the_most_frequent_answer_is_the_first_of_several() -> None:
    assert most_frequent(["c", "b", "a", "a", "b"]) == "b"
    assert most_frequent(["c", "a", "a"]) == "a"
    with pytest.raises(ValueError, match="there is no gold answer"):
        most_frequent([])


def test_a_label_is_the_majoritys_that_more_than_half_of_the_records_have() -> None:
    assert majority([[1, 1, 0], [1, 1, 0], [1, 0, 0], [0, 0, 1]]) == [1, 0, 0]
    assert majority([[1], [1], [0]]) == [1]


def test_spans_that_cost_nothing_are_none_the_whole_text_and_each_keyword() -> None:
    golds = [SpanSample(id="1", text=" So glad, I'm Glad! ", spans=()), SpanSample(id="2", text=" ", spans=())]
    said = {
        name: [one.spans for one in each] for name, each in span_baselines(golds, frozenset({"glad", "woe"})).items()
    }
    assert said == {
        "nothing": [(), ()],
        "everything": [("So glad, I'm Glad!",), ()],
        "keywords": [("glad", "Glad"), ()],
    }
    assert keyword_spans("the glad-hander’s day", frozenset({"gladhanders"})) == ("glad-hander’s",)
