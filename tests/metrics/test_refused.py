"""What no figure can be computed of: shapes, names and numbers that are refused, and what is undefined instead."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from emotui.metrics.alpha import alpha, item_disagreement
from emotui.metrics.dawid_skene import dawid_skene
from emotui.metrics.decoding import checked_log_odds, log_odds_of, marginals_over_alphas, posterior_marginals
from emotui.metrics.expected import decode_marginals
from emotui.metrics.figure import Figure, resample_counts, unique_rows, with_interval
from emotui.metrics.ising import Ising, fit_paper
from emotui.metrics.labels import confusion_counts
from emotui.metrics.masked import MaskScore
from emotui.metrics.masked_pairs import compare_masks
from emotui.metrics.nested_cv import assign_folds, decode_honestly
from emotui.metrics.probabilities import brier_score
from emotui.metrics.resampling import Interval, Replicates, interval_of, ratio_intervals
from emotui.metrics.scenes import scenes_metrics
from emotui.metrics.thresholds import best_threshold
from emotui.metrics.values import mae

ONE_LABEL = Ising(np.zeros(1), np.zeros((1, 1)))
MASK = MaskScore("glad", "glad", same_word=True, same_vector=True, f1=1.0)


@pytest.mark.parametrize(
    ("compute", "says"),
    [
        (lambda: alpha([[1.0, 2.0]], "cubic"), "no level 'cubic': nominal"),  # type: ignore[arg-type]
        (lambda: brier_score([1, 0], [0.5]), r"gold \(2,\) and probabilities \(1,\) must both be one column"),
        (lambda: brier_score([[1]], [[0.5]]), "one column"),
        (lambda: best_threshold([1, 0], [0.5]), "one column"),
        (lambda: best_threshold([[1]], [[0.5]]), "one column"),
        (lambda: confusion_counts([[1]], [[1, 0]]), r"\(records, labels\)"),
        (lambda: confusion_counts([1], [1]), r"\(records, labels\)"),
        (lambda: scenes_metrics(np.zeros((1, 1)), np.zeros((2, 1)), ["joy"]), r"\(records, labels\)"),
        (lambda: scenes_metrics(np.zeros(1), np.zeros(1), ["joy"]), r"\(records, labels\)"),
        (lambda: mae([1.0], [1.0, 2.0]), r"must both be \(n,\)"),
        (lambda: mae([[1.0]], [[1.0]]), r"must both be \(n,\)"),
        (lambda: dawid_skene([[1, 0]]), r"\(items, annotators, classes\)"),
        (lambda: dawid_skene([[[0, 0]]]), "nobody said anything"),
        (lambda: log_odds_of([[1.0, 0.0]]), r"\(records, labels, 2\), got \(1, 2\)"),
        (lambda: log_odds_of([[[1.0, 0.0, 0.0]]]), r"\(records, labels, 2\), got \(1, 1, 3\)"),
        (lambda: checked_log_odds([1.0]), "got 1 axes"),
        (lambda: posterior_marginals([[1.0, 1.0]], ONE_LABEL, 1.0), "the prior has 1 labels, the log-odds have 2"),
        (lambda: marginals_over_alphas([1.0, 1.0], ONE_LABEL, [1.0]), "the prior has 1 labels, the log-odds have 2"),
        (lambda: fit_paper([[0], [0]], 0.0), "needs smoothing above 0"),
        (lambda: fit_paper([[1], [1]], 0.0), "needs smoothing above 0"),
        (lambda: fit_paper([[0, 1], [0, 0]], 0.0), "needs smoothing above 0"),
        (lambda: fit_paper([[1, 1], [1, 0]], 0.0), "needs smoothing above 0"),
        (lambda: fit_paper([[1, 0], [0, 1]], 0.0), "needs smoothing above 0"),
        (lambda: decode_marginals([[0.5]], "map"), "does not follow from marginals"),
        (lambda: compare_masks([MASK], [MASK], "f2"), "f2 is not one of f1_v"),
        (lambda: assign_folds(["a", "b"], 3), "2 records cannot be dealt into 3 folds"),
        (lambda: assign_folds(["a", "b"], 1), "into 1 folds"),
        (lambda: assign_folds(["a", "a"], 2), "an id stands twice"),
        (lambda: decode_honestly(["a"], [[1.0], [2.0]], [[1], [0]]), "1 ids, log-odds"),
        (lambda: decode_honestly(["a", "b", "c"], [[1.0]] * 3, [[1]] * 3), "at least four records"),
    ],
)
def test_other_shapes_names_and_numbers_are_refused(compute: Callable[[], object], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        compute()


def test_as_many_folds_as_records_have_one_each() -> None:
    assert sorted(assign_folds(["a", "b", "c"], 3).tolist()) == [0, 1, 2]


def test_items_without_two_ratings_disagree_by_no_number() -> None:
    assert np.isnan(item_disagreement([[1.0, np.nan], [np.nan, np.nan]])).all()
    assert item_disagreement([[1.0, 2.0], [1.0, np.nan], [3.0, 3.0]]).tolist() == [
        1.0,
        pytest.approx(np.nan, nan_ok=True),
        0.0,
    ]


def test_an_interval_is_left_out_where_there_is_no_value_or_too_few_resamples_have_one() -> None:
    nothing = Figure(None, 3, why="no text")
    assert with_interval(nothing, Interval(1.0, 2.0)) is nothing
    assert with_interval(Figure(1.0, 3), Interval()) == Figure(1.0, 3)
    half = Replicates(1.0, np.array([0.9, 1.1]), np.array([0.9, 1.1, np.nan, np.nan]), 40)
    assert with_interval(Figure(1.0, 40), interval_of(half)).low is not None
    fewer = interval_of(replace(half, resampled=np.array([0.9, 1.1, np.nan, np.nan, np.nan])))
    told = with_interval(Figure(1.0, 40), fewer)
    assert (told.low, told.why) == (None, "no interval: undefined in more than half of the resamples")


def test_rows_without_columns_are_all_the_same_row() -> None:
    different, which, times = unique_rows(np.empty((3, 0)))
    assert (different.shape, which.tolist(), times.tolist()) == ((1, 0), [0, 0, 0], [3.0])
    different, which, times = unique_rows(np.array([[2, 1], [1, 3], [2, 1]]))
    assert [different[at].tolist() for at in which] == [[2, 1], [1, 3], [2, 1]]
    assert sorted(times.tolist()) == [1.0, 2.0]


def test_a_ratio_has_an_interval_over_two_groups_or_more_where_they_differ() -> None:
    some, all_of_them = ([1.0, 0.0, 1.0, 0.0], [1.0] * 4), ([1.0] * 4, [1.0] * 4)
    sure, certain = ratio_intervals([some, all_of_them])
    # Student's t with 3 degrees of freedom, .5 +- 3.182 * .5774 / 2, within what a share can be.
    assert sure.ends == (0.0, 1.0)
    assert (certain.ends, certain.note) == (None, "no interval: the same figure whatever is left out")
    assert ratio_intervals([some], np.array([0, 0, 0, 0]))[0].note == "no interval: it is over one group alone"
    assert ratio_intervals([some], np.array([0, 0, 1, 1]))[0].ends is None  # both halves have one of two
    assert ratio_intervals([some], np.array([0, 1, 0, 1]))[0].ends == (0.0, 1.0)
    assert ratio_intervals([]) == []


@pytest.mark.parametrize("times", [[1.0, 1.0, 2.0], [9.0, 9.0, 2.0]])
def test_every_kind_of_item_is_drawn_as_often_as_there_are_of_it(times: list[float]) -> None:
    drawn = resample_counts(np.array(times), 2000, 0)
    assert set(drawn.sum(axis=1)) == {sum(times)}
    assert drawn.mean(axis=0) == pytest.approx(times, abs=0.2)
