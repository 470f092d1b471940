"""Scores of emotion vectors and how labels go together: by hand, and against scikit-learn and plain counting."""

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import f1_score, hamming_loss, mutual_info_score, precision_score, recall_score

from emotui.errors import BadInput
from emotui.metrics.scenes import (
    annotator_agreement,
    cardinality,
    co_occurrence,
    flips,
    multi_label_share,
    mutual_information,
    scenes_metrics,
    scenes_report,
    vector_statistics,
)

LABELS = ["joy", "fear", "anger"]
bits = st.lists(st.tuples(*[st.integers(0, 1)] * 6), min_size=1, max_size=12)


def test_the_metrics_worked_by_hand() -> None:
    gold = [[1, 0, 0], [1, 1, 0], [0, 0, 0], [0, 1, 0]]
    predicted = [[1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 1, 0]]
    report = scenes_metrics(gold, predicted, LABELS)
    assert report["n"] == 4
    assert report["lexical_accuracy"] == pytest.approx(10 / 12)
    assert report["vector_accuracy"] == pytest.approx(2 / 4)
    assert report["hamming_loss"] == pytest.approx(2 / 12)
    assert report["by_label"]["joy"] == {"precision": 1.0, "recall": 0.5, "f1": pytest.approx(2 / 3), "support": 2}
    assert report["by_label"]["fear"] == {"precision": pytest.approx(2 / 3), "recall": 1.0, "f1": 0.8, "support": 2}
    assert report["by_label"]["anger"] == {"precision": None, "recall": None, "f1": 0.0, "support": 0}
    assert report["macro_f1"] == pytest.approx((2 / 3 + 0.8 + 0) / 3)
    assert report["micro_f1"] == pytest.approx(2 * 3 / (2 * 3 + 1 + 1))
    assert set(report["notes"]) == {"by_label.anger.precision", "by_label.anger.recall"}


@settings(max_examples=60, deadline=None)
@given(bits)
def test_the_metrics_equal_scikit_learn(rows: list[tuple[int, ...]]) -> None:
    both = np.array(rows)
    gold, predicted = both[:, :3], both[:, 3:]
    report = scenes_metrics(gold, predicted, LABELS)
    assert report["hamming_loss"] == pytest.approx(hamming_loss(gold, predicted))
    assert report["lexical_accuracy"] == pytest.approx(1 - report["hamming_loss"])
    assert report["macro_f1"] == pytest.approx(f1_score(gold, predicted, average="macro", zero_division=0))
    assert report["micro_f1"] == pytest.approx(f1_score(gold, predicted, average="micro", zero_division=0))
    precision = precision_score(gold, predicted, average=None, zero_division=np.nan)
    recall = recall_score(gold, predicted, average=None, zero_division=np.nan)
    for i, name in enumerate(LABELS):
        row = report["by_label"][name]
        assert (math.nan if row["precision"] is None else row["precision"]) == pytest.approx(precision[i], nan_ok=True)
        assert (math.nan if row["recall"] is None else row["recall"]) == pytest.approx(recall[i], nan_ok=True)
        assert row["support"] == gold[:, i].sum()


def test_over_no_record_every_rate_is_undefined_and_says_why() -> None:
    empty = np.empty((0, 3), dtype=int)
    report = json.loads(json.dumps(scenes_metrics(empty, empty, LABELS), allow_nan=False))
    for name in ("lexical_accuracy", "vector_accuracy", "hamming_loss", "macro_f1", "micro_f1"):
        assert report[name] is None
        assert report["notes"][name]
    assert report["by_label"]["joy"] == {"precision": None, "recall": None, "f1": None, "support": 0}


def test_all_zero_vectors_that_are_all_right_have_full_accuracy_and_no_f1() -> None:
    zeros = np.zeros((4, 3), dtype=int)
    report = scenes_metrics(zeros, zeros, LABELS)
    assert (report["vector_accuracy"], report["macro_f1"], report["micro_f1"]) == (1.0, 0.0, 0.0)


def test_a_report_reads_labels_or_scores_and_a_tie_of_scores_is_no() -> None:
    gold = {"a": {"joy": 1, "fear": 0}, "b": {"fear": 1, "joy": 0}}
    labels = {"b": {"joy": 0, "fear": 1}, "a": {"joy": 1, "fear": 1}}
    scores = {"a": {"joy": (2.0, 1.0), "fear": (0.5, 0.25)}, "b": {"joy": (1.0, 1.0), "fear": (-1.0, -3.0)}}
    assert scenes_report(gold, labels) == scenes_report(gold, scores)
    report = scenes_report(gold, labels)
    assert report["labels"] == ["joy", "fear"]
    assert report["lexical_accuracy"] == 0.75
    assert scenes_report({}, {})["n"] == 0


@pytest.mark.parametrize(
    ("predicted", "said"),
    [
        ({}, "a: no prediction"),
        ({"a": {"joy": 1, "fear": 0}, "z": {"joy": 1, "fear": 0}}, "z: predicted"),
        ({"a": {"joy": 1}}, "a: .*'fear'"),
        ({"a": {"joy": 1, "fear": 0, "awe": 1}}, "a: .*'awe'"),
        ({"a": {"joy": 2, "fear": 0}}, "a: .*'joy' is 2"),
        ({"a": {"joy": (math.nan, 0.0), "fear": 0}}, "a: .*nan"),
        ({"a": {"joy": (math.inf, 0.0), "fear": 0}}, "a: .*inf"),
        ({"a": {"joy": (1.0,), "fear": 0}}, "a: .*two"),
    ],
)
def test_what_cannot_be_scored_is_refused_with_its_id(predicted: dict[str, dict[str, int]], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        scenes_report({"a": {"joy": 1, "fear": 0}}, predicted)


def test_flips_are_sorted_into_gains_losses_and_neither() -> None:
    gold = [[1, 0], [1, 0], [1, 0], [1, 0]]
    before = [[0, 0], [1, 0], [0, 0], [1, 1]]
    after = [[1, 0], [1, 1], [1, 1], [1, 1]]
    changed = flips(before, after, gold)
    assert (changed.gains, changed.losses, changed.even) == ([0], [1], [2])


def test_cardinality_and_the_share_with_several_labels() -> None:
    assert cardinality([[1, 1, 0], [0, 0, 0], [1, 0, 0], [1, 1, 1]]) == 1.5
    assert multi_label_share([[1, 1, 0], [0, 0, 0], [1, 0, 0], [1, 1, 1]]) == 0.5
    empty = np.empty((0, 3), dtype=int)
    assert cardinality(empty) is None
    assert multi_label_share(empty) is None
    assert mutual_information(empty) is None


@settings(max_examples=30, deadline=None)
@given(bits)
def test_co_occurrence_and_mutual_information_equal_plain_counts(rows: list[tuple[int, ...]]) -> None:
    together, shared = co_occurrence(rows), mutual_information(rows)
    assert shared is not None
    for i, j in itertools.product(range(6), repeat=2):
        assert together[i, j] == sum(row[i] and row[j] for row in rows)
        expected = mutual_info_score([row[i] for row in rows], [row[j] for row in rows])
        assert shared[i, j] == pytest.approx(expected, abs=1e-12)


def test_mutual_information_of_a_label_with_its_opposite_is_its_entropy() -> None:
    shared = mutual_information([[1, 0], [0, 1], [0, 1], [0, 1]])
    assert shared is not None
    entropy = -(0.25 * math.log(0.25) + 0.75 * math.log(0.75))
    assert shared == pytest.approx(np.full((2, 2), entropy))


def test_annotators_agreement_by_both_readings_of_the_paper() -> None:
    # Two scenarios, three annotators, two labels.
    votes = np.array([[[1, 0], [1, 0], [0, 0]], [[0, 1], [0, 1], [0, 1]]])
    agreement = annotator_agreement(votes)
    # Four questions with 2, 0, 0 and 3 yes of 3: agreement (1/3 + 1 + 1 + 1) / 4; 5 of 12 answers are yes.
    chance = (5 / 12) ** 2 + (7 / 12) ** 2
    assert agreement.fleiss == pytest.approx((10 / 12 - chance) / (1 - chance))
    assert agreement.by_label[1] == pytest.approx(1.0)
    # A and B answer alike; each against C: agreed 3/4, chance (2*1 + 2*3)/16.
    assert agreement.mean_pairwise == pytest.approx((1 + 0.5 + 0.5) / 3)


def test_one_annotator_or_one_answer_has_no_kappa() -> None:
    assert annotator_agreement([[[1, 0]], [[0, 1]]]).fleiss is None
    assert annotator_agreement([[[1, 0]], [[0, 1]]]).mean_pairwise is None
    same = annotator_agreement(np.ones((3, 3, 2), dtype=int))
    assert (same.fleiss, same.mean_pairwise, same.by_label) == (None, None, [None, None])


@settings(max_examples=20, deadline=None)
@given(bits, st.permutations(range(3)))
def test_the_order_of_the_labels_does_not_matter_to_the_metrics(rows: list[tuple[int, ...]], order: list[int]) -> None:
    both = np.array(rows)
    gold, predicted = both[:, :3], both[:, 3:]
    straight = scenes_metrics(gold, predicted, LABELS)
    shuffled = scenes_metrics(gold[:, order], predicted[:, order], [LABELS[i] for i in order])
    assert shuffled["by_label"] == straight["by_label"]
    for name in ("lexical_accuracy", "vector_accuracy", "macro_f1", "micro_f1"):
        assert shuffled[name] == pytest.approx(straight[name])


def test_what_vectors_are_like_worked_by_hand() -> None:
    told = vector_statistics([[1, 1, 0], [1, 0, 0], [0, 0, 0]], ["joy", "fear", "anger"])
    assert (told["n"], told["cardinality"], told["single_label"]) == (3, 1.0, 1)
    assert told["multi_label_share"] == pytest.approx(1 / 3)
    assert told["counts"] == {"joy": 2, "fear": 1, "anger": 0}
    assert told["together"]["joy"] == {"joy": 2, "fear": 1, "anger": 0}
    assert told["given"] == {
        "joy": {"joy": 1.0, "fear": 0.5, "anger": 0.0},
        "fear": {"joy": 1.0, "fear": 1.0, "anger": 0.0},
        "anger": dict.fromkeys(("joy", "fear", "anger")),
    }
    assert told["notes"] == {"given.anger": "anger is never there"}
    nothing = vector_statistics([], ["joy"])
    assert (nothing["n"], nothing["cardinality"], nothing["multi_label_share"]) == (0, None, None)
    assert nothing["notes"]["cardinality"] == nothing["notes"]["multi_label_share"] == "there is no record"
