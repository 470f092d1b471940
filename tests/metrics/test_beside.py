"""Intervals beside the figures of a score document: the same figures over the same draws, by hand."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import rankdata

from emotui.metrics.beside import (
    Drawn,
    Resampled,
    beside,
    beside_repeats,
    merged,
    numbers,
    of_labels,
    of_numbers,
    of_ratios,
    of_vectors,
    probabilities,
    ratios,
    vectors,
    with_beside,
)
from emotui.metrics.classes import class_report
from emotui.metrics.labels import labels_metrics
from emotui.metrics.masked import masked_report
from emotui.metrics.resampled_order import resampled_spearman, resamples_of
from emotui.metrics.resampling import BESIDE, Interval, Replicates, averaged, draws
from emotui.metrics.scenes import scenes_report
from emotui.metrics.span_report import span_report
from emotui.metrics.values import values_report
from emotui.records import Mark, SpanPrediction, SpanSample
from tests.metrics.resampled import interval_by_hand

ALONE = [None] * 12
MANY = [None] * 40


def _drawn(n: int) -> np.ndarray:
    return np.concatenate(list(draws(n, BESIDE, 0)))


def test_every_figure_of_vectors_has_the_interval_of_its_values_over_resamples() -> None:
    draw = np.random.default_rng(1)
    gold, said = (draw.random((40, 3)) < 0.5 for _ in range(2))
    names = ["a", "b", "c"]
    found = of_vectors(gold, said, names, MANY)
    figures = ("lexical_accuracy", "vector_accuracy", "hamming_loss", "macro_f1", "micro_f1", "weighted_f1")
    figures += ("jaccard", "samples_f1")
    for name in figures:
        by_hand = interval_by_hand(
            lambda rows, name=name: labels_metrics(gold[rows], said[rows], names)[name], np.arange(40), 300
        )
        assert found[name].ends == pytest.approx(by_hand.ends, abs=0.04), name
    drawn = vectors(gold, said, names, Drawn(np.arange(40), 40))
    each = [labels_metrics(gold[rows], said[rows], names)["by_label"]["c"] for rows in _drawn(40)[:300]]
    for name in ("precision", "recall", "f1"):
        own = drawn[f"by_label.c.{name}"]
        assert own.resampled[:300] == pytest.approx([one[name] for one in each])
        assert own.whole == pytest.approx(labels_metrics(gold, said, names)["by_label"]["c"][name])
        left = labels_metrics(gold[1:], said[1:], names)["by_label"]["c"][name]
        assert own.left_out[0] == pytest.approx(left)


def test_a_label_that_a_resample_lacks_is_left_out_of_its_macro_f1() -> None:
    # "b" is in one text alone: a resample without it has the F1 of "a", as if there were no other label.
    gold, said = np.zeros((40, 2), dtype=bool), np.zeros((40, 2), dtype=bool)
    gold[:30, 0] = said[:20, 0] = gold[39, 1] = said[39, 1] = True
    drawn = vectors(gold, said, ["a", "b"], Drawn(np.arange(40), 40))
    lacking = ~(_drawn(40) == 39).any(axis=1)
    of_a = drawn["by_label.a.f1"].resampled
    assert drawn["macro_f1"].resampled[lacking] == pytest.approx(of_a[lacking])
    assert drawn["macro_f1"].resampled[~lacking] == pytest.approx((of_a[~lacking] + 1) / 2)
    # A label that is nowhere in the whole set counts 0 in all of them, as it does in the figure.
    three = vectors(
        np.c_[gold, gold[:, :1] * 0], np.c_[said, said[:, :1] * 0], ["a", "b", "c"], Drawn(np.arange(40), 40)
    )
    assert three["macro_f1"].whole == pytest.approx(drawn["macro_f1"].whole * 2 / 3)
    assert "fewer than 5 gold texts of b" in of_vectors(gold, said, ["a", "b"], MANY)["macro_f1"].note


def test_figures_of_probabilities_are_those_of_each_resample_and_tied_ones_are_one_cut() -> None:
    draw = np.random.default_rng(4)
    gold, given = (draw.random((12, 2)) < 0.4).astype(float), np.round(draw.random((12, 2)), 1)
    numbers = np.array([0, 0, 1, 2, 2, 2, 3, 4, 5, 6, 7, 7])
    found = probabilities(gold, given, ["a", "b"], Drawn(numbers, 8))

    def reported(groups: np.ndarray) -> dict[str, Any]:
        rows = np.concatenate([np.flatnonzero(numbers == group) for group in groups])
        return labels_metrics(gold[rows], gold[rows], ["a", "b"], given[rows])

    sides = [(reported(np.delete(np.arange(8), at)), "left_out", at) for at in range(8)]
    sides += [(reported(groups), "resampled", at) for at, groups in enumerate(_drawn(8)[:50])]
    for report, side, at in sides:
        for name in ("brier", "ece", "average_precision"):
            assert getattr(found[name], side)[at] == pytest.approx(report[name]), name
            own = report["by_label"]["b"][name]
            one = getattr(found[f"by_label.b.{name}"], side)[at]
            assert one == pytest.approx(np.nan if own is None else own, nan_ok=True)


def test_two_texts_have_a_rank_correlation_and_errors_of_two_bins_where_both_are_drawn() -> None:
    found = probabilities([[0], [1]], [[1.0], [0.9]], ["a"], Drawn(np.arange(2), 2))["ece"].resampled
    ranks = resampled_spearman([1.0, 2.0], [7.0, 3.0], Drawn(np.arange(2), 2), 0).resampled
    both = [len(set(rows.tolist())) == 2 for rows in _drawn(2)]
    assert ranks == pytest.approx([-1.0 if one else np.nan for one in both], nan_ok=True)
    # 1 and 0.9 are in different bins: off by 1 and by 0.1.
    assert found[both] == pytest.approx((1 + 0.1) / 2)


def test_where_there_is_much_to_read_fewer_resamples_are_and_the_convention_says_so() -> None:
    assert resamples_of(5000, 5000, 28) == 285
    assert resamples_of(200, 200, 8) == BESIDE
    assert resamples_of(100_000, 100_000, 28) == 200
    both = {"brier": Interval(0.1, 0.2), "by_label.a.brier": Interval(0.1, 0.2)}
    sure = beside(both, ALONE, fewer={"brier": 285})
    assert sure["conventions"]["ci95"].endswith("brier: the first 285")
    plain = beside({"f1": Interval(0.3, 0.4)}, ALONE)
    assert merged(plain, sure)["ci95"].keys() == {"f1", "brier", "by_label.a.brier"}
    assert merged(plain, sure)["conventions"] == sure["conventions"]
    assert merged({}, {}) == {}


def test_repeats_with_fewer_rows_are_read_as_far_as_both_go() -> None:
    one = Replicates(4.5, np.arange(10.0), np.arange(10.0), 40)
    other = Replicates(5.5, np.arange(10.0) + 1, np.arange(4.0) + 1, 40)
    mean = averaged([one, other])
    assert (mean.whole, mean.resampled.tolist()) == (5.0, [0.5, 1.5, 2.5, 3.5])
    assert mean.left_out == pytest.approx(np.arange(10.0) + 0.5)


def test_labels_of_spans_and_baselines_have_intervals_too() -> None:
    golds = [SpanSample(id=str(i), text="so glad", spans=(Mark(3, 7, "joy"),)) for i in range(40)]
    said = [SpanPrediction(id=str(i), spans=(Mark(3, 7, "joy" if i % 3 else "fear"),)) for i in range(40)]
    sure = span_report(golds, said, None, frozenset(), shared=MANY)["ci95"]
    right = interval_by_hand(lambda rows: float(np.mean(rows % 3 > 0)), np.arange(40))
    assert sure["labels.accuracy"] == pytest.approx(right.ends)
    assert "labels.macro_f1" in sure


def numbers_by_hand(x: np.ndarray, y: np.ndarray) -> dict[str, float]:
    return {
        "pearson": np.corrcoef(x, y)[0, 1],
        "spearman": np.corrcoef(rankdata(x), rankdata(y))[0, 1],
        "ccc": 2 * np.cov(x, y, bias=True)[0, 1] / (x.var() + y.var() + (x.mean() - y.mean()) ** 2),
        "rmse": np.sqrt(((x - y) ** 2).mean()),
        "mae": np.abs(x - y).mean(),
    }


@pytest.mark.parametrize("n", [12, 40])
def test_numbers_have_the_intervals_of_their_resampled_correlations(n: int) -> None:
    draw = np.random.default_rng(2)
    gold = draw.normal(100.0, 2.0, n)
    said = gold + draw.normal(1.0, 1.0, n)
    found = of_numbers(gold, said, [None] * n)
    for name in ("pearson", "spearman", "ccc", "rmse", "mae"):
        bounds = (0.0, np.inf) if name in ("rmse", "mae") else (-1.0, 1.0)
        by_hand = interval_by_hand(
            lambda rows, name=name: numbers_by_hand(gold[rows], said[rows])[name], np.arange(n), bounds=bounds
        )
        assert found[name].ends == pytest.approx(by_hand.ends, rel=1e-6), name


def test_a_figure_that_no_resample_changes_has_no_interval() -> None:
    found = of_ratios({"none": (np.zeros(40), np.ones(40)), "some": (np.arange(40) > 30, np.ones(40))}, MANY)
    assert found["none"].ends is None
    assert found["some"].ends is not None
    assert beside(found, MANY)["ci95"]["none"] is None
    assert beside(found, MANY)["notes"].keys() == {"ci95.none", *(["ci95.some"] if found["some"].note else [])}
    assert of_labels(["x"], ["x"], ["x"], [None])["accuracy"].ends is None


def test_documents_say_what_was_drawn_and_leave_other_figures_as_they_were() -> None:
    gold = {str(i): ("joy", "fear")[i % 2] for i in range(12)}
    said = gold | {"3": "joy", "4": ""}
    plain, sure = class_report(gold, said), class_report(gold, said, [str(i // 3) for i in range(12)])
    assert sure.items() >= {key: value for key, value in plain.items() if key != "notes"}.items()
    assert sure["notes"].items() >= plain["notes"].items()
    assert sure["notes"]["ci95"] == "Student's t over 4 groups: fewer than 20"
    assert sure["conventions"]["ci95"].startswith("95% BCa bootstrap: 2,000 resamples of 4 groups of samples")
    assert {"accuracy", "macro_f1", "by_label.joy.f1"} <= set(sure["ci95"])
    assert beside({"f1": Interval()}, ALONE) == {}
    assert with_beside({"notes": {"n": "why"}}, {"ci95": {}, "notes": {"ci95": "t"}})["notes"] == {
        "n": "why",
        "ci95": "t",
    }


def test_every_kind_of_file_has_intervals_beside_its_figures() -> None:
    bits = {str(i): {"joy": i % 2, "fear": int(i % 3 == 0)} for i in range(12)}
    turned = bits | {"1": {"joy": 0, "fear": 1}}
    assert set(scenes_report(bits, turned, ALONE)["ci95"]) >= {"macro_f1", "lexical_accuracy", "hamming_loss"}
    words = {str(i): ["happy", "sad"] for i in range(12)}
    masked = masked_report(words, words | {"0": ["sad"]}, {"happy": [1] * 10, "sad": [0] * 10}, shared=ALONE)
    assert set(masked["ci95"]) == {"acc_l", "acc_v", "f1_v", "valid_answers"}
    numbers = [{"v": float(i)} for i in range(12)]
    assert set(values_report(numbers, numbers[::-1], ALONE)["ci95"]) >= {"by_name.v.ccc", "by_name.v.mae"}
    golds = [SpanSample(id=str(i), text="so glad", spans=(Mark(3, 7),), emotion="happy") for i in range(12)]
    answers = [SpanPrediction(id=str(i), spans=("glad",) if i % 2 else ("so", "glad")) for i in range(12)]
    spans = span_report(golds, answers, None, frozenset(), shared=ALONE)
    assert {name for name, ends in spans["ci95"].items() if ends is not None} == {
        "f1",
        "precision",
        "f1_gold",
        "tokens.precision",
        "tokens.f1",
        "by_emotion.happy.f1",
        *(
            f"{group}.{figure}"
            for group in ("semeval.exact", "semeval.partial", "characters", "tolerant")
            for figure in ("precision", "f1")
        ),
    }
    notes = spans["notes"]
    assert all(f"ci95.{name}" in notes for name, ends in spans["ci95"].items() if ends is None)
    assert spans["ci95"]["f1"] == spans["ci95"]["by_emotion.happy.f1"]


class _Answer:
    def __init__(self, key: str, repeat: int, value: float) -> None:
        self.id, self.repeat, self.value = key, repeat, value


def test_figures_of_repeats_are_averaged_before_their_interval_is_taken() -> None:
    draw = np.random.default_rng(5)
    table = draw.random((30, 3))
    answers = [_Answer(str(at), repeat, table[at, repeat]) for repeat in range(3) for at in range(30)]

    def mean(here: list[_Answer], by: Drawn) -> Resampled:
        return ratios({"f": ([one.value for one in here], np.ones(len(here)))}, by)

    found = beside_repeats(answers, {}, mean)
    of_means = beside(of_ratios({"f": (table.mean(axis=1), np.ones(30))}, [None] * 30), [None] * 30)
    assert found["ci95"]["f"] == pytest.approx(of_means["ci95"]["f"])
    assert found["conventions"] == of_means["conventions"]
    # In a repeat that is not finished the others' samples still are what is drawn.
    fewer = beside_repeats(answers[:70], {}, mean)
    assert fewer["conventions"] == found["conventions"]
    assert fewer["ci95"]["f"] != found["ci95"]["f"]
    # Samples that share a text are drawn together.
    pairs = beside_repeats(answers, {str(at): str(at // 2) for at in range(30)}, mean)
    assert "15 groups of samples that share a text" in pairs["conventions"]["ci95"]
    assert beside_repeats(answers[:1], {}, mean) == {}


def test_records_without_any_label_count_as_right_in_every_resample() -> None:
    found = vectors([[0], [1]], [[0], [1]], ["joy"], Drawn(np.array([0, 1]), 2))
    assert set(found["jaccard"].resampled) == set(found["samples_f1"].resampled) == {1.0}


def test_one_group_and_no_label_have_nothing_to_draw() -> None:
    one, two = Drawn(np.array([0]), 1), Drawn(np.array([0, 1]), 2)
    assert numbers([1.0], [2.0], one) == probabilities([[1]], [[0.5]], ["joy"], one) == {}
    assert probabilities(np.empty((2, 0)), np.empty((2, 0)), [], two) == {}
    assert probabilities(np.empty((0, 1)), np.empty((0, 1)), ["joy"], Drawn(np.array([], dtype=int), 2)) == {}
