"""Intervals beside the figures of a score document: the same figures over the same draws, by hand."""

import numpy as np
import pytest
from scipy.stats import rankdata

from emotui.metrics.beside import (
    Drawn,
    Resampled,
    beside,
    beside_repeats,
    intervals,
    merged,
    numbers,
    of_labels,
    of_numbers,
    of_ratios,
    of_vectors,
    probabilities,
    ratios,
    vectors,
)
from emotui.metrics.classes import class_report
from emotui.metrics.labels import labels_metrics
from emotui.metrics.masked import masked_report
from emotui.metrics.resampled_order import resampled_spearman, resamples_of
from emotui.metrics.resampling import BESIDE, draws, interval
from emotui.metrics.scenes import scenes_report
from emotui.metrics.span_report import span_report
from emotui.metrics.values import values_report
from emotui.records import Mark, SpanPrediction, SpanSample

ALONE = [None] * 12


def _drawn(n: int) -> np.ndarray:
    return np.concatenate(list(draws(n, BESIDE, 0)))


def test_every_figure_of_vectors_has_the_interval_of_its_values_over_resamples() -> None:
    draw = np.random.default_rng(1)
    gold, said = (draw.random((12, 3)) < 0.5 for _ in range(2))
    names = ["a", "b", "c"]
    found = of_vectors(gold, said, names, ALONE)
    each = [labels_metrics(gold[rows], said[rows], names) for rows in _drawn(12)[:400]]
    for name in (
        "lexical_accuracy",
        "vector_accuracy",
        "hamming_loss",
        "macro_f1",
        "micro_f1",
        "weighted_f1",
        "jaccard",
        "samples_f1",
    ):
        low, high = found[name] or (0.0, 0.0)
        by_hand = interval([one[name] for one in each])
        assert (low, high) == pytest.approx(by_hand, abs=0.06), name
    drawn = vectors(gold, said, names, Drawn(np.arange(12), 12))
    for name in ("precision", "recall", "f1"):
        of_c = [one["by_label"]["c"][name] for one in each]
        known = np.isfinite(drawn[f"by_label.c.{name}"][:400])
        defined = [at for at, value in enumerate(of_c) if value is not None and known[at]]
        assert len(defined) > 350
        assert [drawn[f"by_label.c.{name}"][at] for at in defined] == pytest.approx([of_c[at] for at in defined])


def test_figures_of_probabilities_are_those_of_each_resample_and_tied_ones_are_one_cut() -> None:
    draw = np.random.default_rng(4)
    gold, given = (draw.random((12, 2)) < 0.4).astype(float), np.round(draw.random((12, 2)), 1)
    numbers = np.array([0, 0, 1, 2, 2, 2, 3, 4, 5, 6, 7, 7])
    found = probabilities(gold, given, ["a", "b"], Drawn(numbers, 8))
    for at, groups in enumerate(_drawn(8)[:50]):
        rows = np.concatenate([np.flatnonzero(numbers == group) for group in groups])
        report = labels_metrics(gold[rows], gold[rows], ["a", "b"], given[rows])
        for name in ("brier", "ece", "average_precision"):
            assert found[name][at] == pytest.approx(report[name]), name
            own = report["by_label"]["b"][name]
            assert found[f"by_label.b.{name}"][at] == pytest.approx(np.nan if own is None else own, nan_ok=True)


def test_two_texts_have_a_rank_correlation_and_errors_of_two_bins_where_both_are_drawn() -> None:
    found = probabilities([[0], [1]], [[1.0], [0.9]], ["a"], Drawn(np.arange(2), 2))["ece"]
    ranks = resampled_spearman([1.0, 2.0], [7.0, 3.0], np.arange(2), 2, 0)
    both = [len(set(rows.tolist())) == 2 for rows in _drawn(2)]
    assert ranks == pytest.approx([-1.0 if one else np.nan for one in both], nan_ok=True)
    # 1 and 0.9 are in different bins: off by 1 and by 0.1.
    assert found[both] == pytest.approx((1 + 0.1) / 2)


def test_where_there_is_much_to_read_fewer_resamples_are_and_the_convention_says_so() -> None:
    assert resamples_of(5000, 5000, 28) == 285
    assert resamples_of(200, 200, 8) == BESIDE
    assert resamples_of(100_000, 100_000, 28) == 200
    sure = beside({"brier": (0.1, 0.2), "by_label.a.brier": (0.1, 0.2)}, ALONE, fewer={"brier": 285})
    assert sure["conventions"]["ci95"].endswith("seed 0; brier: the first 285")
    plain = beside({"f1": (0.3, 0.4)}, ALONE)
    assert merged(plain, sure)["ci95"].keys() == {"f1", "brier", "by_label.a.brier"}
    assert merged(plain, sure)["conventions"] == sure["conventions"]
    assert merged({}, {}) == {}


def test_repeats_with_fewer_rows_are_read_as_far_as_both_go() -> None:
    found = intervals([{"f": np.arange(10.0)}, {"f": np.arange(4.0) + 1}])
    assert found["f"] == pytest.approx(interval(np.arange(4.0) + 0.5))


def test_labels_of_spans_and_baselines_have_intervals_too() -> None:
    golds = [SpanSample(id=str(i), text="so glad", spans=(Mark(3, 7, "joy"),)) for i in range(12)]
    said = [SpanPrediction(id=str(i), spans=(Mark(3, 7, "joy" if i % 3 else "fear"),)) for i in range(12)]
    sure = span_report(golds, said, None, frozenset(), shared=ALONE)["ci95"]
    rows = _drawn(12)
    right = interval([np.mean(np.arange(12)[r] % 3 > 0) for r in rows])
    assert sure["labels.accuracy"] == pytest.approx(right)
    assert "labels.macro_f1" in sure


def numbers_by_hand(x: np.ndarray, y: np.ndarray) -> dict[str, float]:
    return {
        "pearson": np.corrcoef(x, y)[0, 1],
        "spearman": np.corrcoef(rankdata(x), rankdata(y))[0, 1],
        "ccc": 2 * np.cov(x, y, bias=True)[0, 1] / (x.var() + y.var() + (x.mean() - y.mean()) ** 2),
        "rmse": np.sqrt(((x - y) ** 2).mean()),
        "mae": np.abs(x - y).mean(),
    }


def test_numbers_have_the_intervals_of_their_resampled_correlations() -> None:
    draw = np.random.default_rng(2)
    gold = draw.normal(100.0, 2.0, 12)
    said = gold + draw.normal(1.0, 1.0, 12)
    found = of_numbers(gold, said, ALONE)
    rows = _drawn(12)
    by_hand = [numbers_by_hand(gold[r], said[r]) for r in rows]
    for name in ("pearson", "spearman", "ccc", "rmse", "mae"):
        assert found[name] == pytest.approx(interval([one[name] for one in by_hand]), rel=1e-6), name


def test_a_figure_that_no_resample_changes_has_no_interval() -> None:
    found = of_ratios({"none": (np.zeros(12), np.ones(12)), "some": (np.arange(12) > 8, np.ones(12))}, ALONE)
    assert found["none"] is None
    assert found["some"] is not None
    assert of_labels(["x"], ["x"], ["x"], [None]) == {"accuracy": None}


def test_documents_say_what_was_drawn_and_leave_other_figures_as_they_were() -> None:
    gold = {str(i): ("joy", "fear")[i % 2] for i in range(12)}
    said = gold | {"3": "joy", "4": ""}
    plain, sure = class_report(gold, said), class_report(gold, said, [str(i // 3) for i in range(12)])
    assert sure.items() >= plain.items()
    assert sure["conventions"]["ci95"].startswith("95% percentile bootstrap: 2,000 resamples of 4 groups of samples")
    assert {"accuracy", "macro_f1", "by_label.joy.f1"} <= set(sure["ci95"])
    assert beside({"f1": None}, ALONE) == {}


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
    assert spans["ci95"].keys() == {
        "f1",
        "precision",
        "f1_gold",
        "tokens.precision",
        "tokens.f1",
        "by_emotion.happy.f1",
    }
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
    assert set(found["jaccard"]) == set(found["samples_f1"]) == {1.0}


def test_one_group_and_no_label_have_nothing_to_draw() -> None:
    one, two = Drawn(np.array([0]), 1), Drawn(np.array([0, 1]), 2)
    assert numbers([1.0], [2.0], one) == probabilities([[1]], [[0.5]], ["joy"], one) == {}
    assert probabilities(np.empty((2, 0)), np.empty((2, 0)), [], two) == {}
    assert probabilities(np.empty((0, 1)), np.empty((0, 1)), ["joy"], Drawn(np.array([], dtype=int), 2)) == {}
