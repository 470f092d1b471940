"""Probes find what is linear in their features, and nothing in shuffled labels; areas agree with counting pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score, roc_auc_score

from emotui.metrics.probing import (
    areas,
    as_many,
    auc,
    cosines,
    directions,
    each_label,
    explained,
    grouped_folds,
    held_out,
    mean_over_labels,
    number_directions,
    resampled_auc,
    ridge,
    shuffled,
)
from emotui.metrics.resampling import drawn, interval_of


def _separated(n: int = 200, d: int = 20) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    draw = np.random.default_rng(3)
    x = draw.normal(size=(n, d))
    y = (x[:, :2] > 0).astype(float)
    return x, y, np.arange(n) % 5


@pytest.mark.parametrize("d", [8, 60])
def test_a_ridge_regression_of_one_penalty_is_scikit_learns(d: int) -> None:
    draw = np.random.default_rng(1)
    x, y, z = draw.normal(size=(40, d)), draw.normal(size=(40, 2)), draw.normal(size=(7, d))
    centred = (x - x.mean(0)) / x.std(0)
    squares = np.linalg.svd(centred, compute_uv=False) ** 2
    squares = squares[squares > 1e-10 * squares.max()]
    plain = Ridge(alpha=0.1 * squares.mean()).fit(centred, y)
    assert ridge(x, y, z, (0.1,)) == pytest.approx(plain.predict((z - x.mean(0)) / x.std(0)), abs=1e-8)


def test_the_penalty_is_the_one_with_the_least_error_where_each_text_is_left_out() -> None:
    draw = np.random.default_rng(2)
    x = draw.normal(size=(30, 10))
    y = x[:, :1] + draw.normal(size=(30, 1))
    penalties = (0.01, 1.0, 100.0)
    chosen = ridge(x, y, x, penalties)
    # By brute force, with the scale of all 30 texts, as the closed form has it.
    z = (x - x.mean(0)) / x.std(0)
    base = np.linalg.eigvalsh(z.T @ z).mean()
    errors = []
    for penalty in penalties:
        off = 0.0
        for i in range(30):
            rest = np.arange(30) != i
            off += float(((Ridge(alpha=penalty * base).fit(z[rest], y[rest]).predict(z[[i]]) - y[i]) ** 2).sum())
        errors.append(off)
    best = penalties[int(np.argmin(errors))]
    assert chosen == pytest.approx(ridge(x, y, x, (best,)), abs=1e-9)


def test_a_label_that_is_linear_in_the_features_is_found_on_texts_that_were_not_fitted() -> None:
    x, y, folds = _separated()
    assert (auc(y, held_out(x, y, folds, ranked=True)) > 0.95).all()


def test_shuffled_labels_have_an_area_of_a_half_within_the_interval() -> None:
    x, y, folds = _separated()
    control = shuffled(y, 20)
    scores = held_out(x, control.reshape(200, -1), folds, ranked=True).reshape(200, 20, 2)
    each = [float(auc(control[:, at], scores[:, at]).mean()) for at in range(20)]
    assert np.mean(each) == pytest.approx(0.5, abs=2 * np.std(each))
    by = drawn([None] * 200)
    ends = interval_of(mean_over_labels(resampled_auc(control[:, 0], scores[:, 0], by), by)).ends
    assert ends is not None
    assert ends[0] < 0.5 < ends[1]


def test_features_that_say_nothing_do_not_rank_texts_against_the_truth() -> None:
    y = np.array([[1.0]] * 4 + [[0.0]] * 6)
    folds = np.array([0, 0, 0, 1, 1, 0, 0, 1, 1, 1])
    flat = np.zeros((10, 3))
    assert auc(y, held_out(flat, y, folds, ranked=True)) == pytest.approx([0.5])
    assert auc(y, held_out(flat, y, folds))[0] < 0.5


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 3)), min_size=2, max_size=12))
def test_an_area_is_the_share_of_pairs_in_the_right_order(rows: list[tuple[bool, int]]) -> None:
    gold, scores = np.array([[float(a)] for a, _ in rows]), np.array([[float(b)] for _, b in rows])
    pairs = [(s, t) for a, s in rows if a for b, t in rows if not b]
    if not pairs:
        assert np.isnan(auc(gold, scores)[0])
        return
    counted = sum(1.0 if s > t else 0.5 if s == t else 0.0 for s, t in pairs) / len(pairs)
    assert auc(gold, scores)[0] == pytest.approx(counted)
    assert auc(gold, scores)[0] == pytest.approx(roc_auc_score(gold[:, 0], scores[:, 0]))


def test_a_text_that_is_drawn_twice_counts_twice() -> None:
    gold, scores = np.array([[1.0], [0.0], [0.0]]), np.array([[0.5], [0.4], [0.6]])
    # Above one text without the label, below another one that counts three times: 1 of 4 pairs.
    assert areas(gold, scores, np.array([[1.0, 1.0, 3.0]]))[0] == pytest.approx([0.25])


def test_what_is_explained_is_scikit_learns_r2_and_below_0_where_the_mean_is_nearer() -> None:
    draw = np.random.default_rng(5)
    y = draw.normal(size=(30, 2))
    p = np.column_stack([y[:, 0] + 0.3 * draw.normal(size=30), -y[:, 1]])
    by = drawn([None] * 30)
    found = each_label(explained(y, p, by), by)
    assert [one.whole for one in found] == pytest.approx([r2_score(y[:, at], p[:, at]) for at in (0, 1)])
    assert found[1].whole < 0


def test_texts_that_share_a_passage_are_in_one_fold() -> None:
    folds = grouped_folds([str(at) for at in range(12)], ["a", "a", "a", *[None] * 9], 3)
    assert len(set(folds[:3].tolist())) == 1
    assert set(folds.tolist()) == {0, 1, 2}


def test_shuffles_keep_the_labels_of_a_text_together() -> None:
    y = np.array([[1.0, 1.0], [0.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    found = shuffled(y, 9)
    assert (found[:, :, 0] == found[:, :, 1]).all()
    assert (found.sum(0) == 2).all()


def test_a_probe_gives_a_label_to_as_many_texts_as_have_it_and_of_single_labels_the_highest() -> None:
    several = as_many([[0.9, 0.2], [0.8, 0.1], [0.1, 0.7]], [[1, 1], [0, 1], [0, 0]])
    assert several.tolist() == [[True, True], [False, False], [False, True]]
    single = as_many([[0.9, 0.2], [0.8, 0.1], [0.3, 0.1]], [[1, 0], [0, 1], [0, 1]])
    assert single.tolist() == [[True, False]] * 3


def test_where_a_number_rises_is_where_texts_with_a_label_are_and_a_number_against_itself_is_opposite() -> None:
    x, y, _ = _separated()
    found = cosines(np.concatenate([directions(x, y[:, :1]), number_directions(x, y[:, :1])]))
    assert found[0, 1] == pytest.approx(1)
    both = cosines(number_directions(x, np.column_stack([x[:, 0], 3 - 2 * x[:, 0]])))
    assert both[0, 1] == pytest.approx(-1)
    assert np.isnan(cosines(number_directions(x, np.ones((200, 1))))[0, 0])


def test_directions_of_labels_that_exclude_each_other_are_opposite() -> None:
    x, y, _ = _separated()
    both = np.column_stack([y[:, 0], 1 - y[:, 0], y[:, 1]])
    found = cosines(directions(x, both))
    assert found[0, 1] == pytest.approx(-1)
    assert abs(found[0, 2]) < 0.5
    assert np.isnan(cosines(directions(x, np.zeros((200, 1))))[0, 0])
