"""Intervals beside the figures of a score document: the same figures over the same draws, by hand."""

import numpy as np
import pytest

from emotui.metrics.beside import (
    Drawn,
    Resampled,
    beside,
    beside_repeats,
    of_labels,
    of_numbers,
    of_ratios,
    of_vectors,
    ratios,
)
from emotui.metrics.classes import class_report
from emotui.metrics.labels import labels_metrics
from emotui.metrics.masked import masked_report
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
        "jaccard",
        "samples_f1",
    ):
        low, high = found[name] or (0.0, 0.0)
        by_hand = interval([one[name] for one in each])
        assert (low, high) == pytest.approx(by_hand, abs=0.06), name
    assert found.keys() >= {"by_label.a.f1", "by_label.c.f1"}


def test_numbers_have_the_intervals_of_their_resampled_correlations() -> None:
    draw = np.random.default_rng(2)
    gold = draw.normal(100.0, 2.0, 12)
    said = gold + draw.normal(1.0, 1.0, 12)
    found = of_numbers(gold, said, ALONE)
    rows = _drawn(12)
    by_hand = [values_report([{"v": x} for x in gold[r]], [{"v": x} for x in said[r]])["by_name"]["v"] for r in rows]
    for name in ("pearson", "ccc", "rmse", "mae"):
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
    assert set(masked["ci95"]) == {"acc_l", "acc_v", "f1_v"}
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
