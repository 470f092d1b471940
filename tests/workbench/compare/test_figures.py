"""Any figure of a run is compared: it is the figure that the run prints, and p is corrected over what is asked."""

import json
import random
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from emotui.metrics.significance import adjusted
from emotui.store.store import Store
from emotui.workbench.compare.figures import SourceFigures, metric_of
from emotui.workbench.compare.pairs import Comparing
from emotui.workbench.compare.sources import source_named
from emotui.workbench.runs.compared import comparable_figures, compare_figures, compare_runs
from emotui.workbench.runs.scores import metrics
from emotui.workbench.workspace import Workspace
from tests.conftest import Emotui
from tests.workbench.results_store import ERRING, EXACT, add_run, workspace


def _printed(report: Any, name: str) -> Any:
    """The figure of a report at a dotted name, whose labels have no dots."""
    for part in name.split("."):
        report = report.get(part) if isinstance(report, dict) else None
    return report


def test_every_figure_of_spans_is_that_which_the_run_prints(tmp_path: Path) -> None:
    opened, dataset = workspace(tmp_path / "w.duckdb")
    add_run(opened, dataset, "r1", "wrong", "retrieve", ERRING)
    store = opened.store
    figures = SourceFigures(store, dataset, source_named(store, dataset, "r1"))
    checked = _as_printed(store, "r1")
    rates = {"hallucination_rate", "neutral_sentence_fpr", "neutral_span_share", "precision", "recall", "f1_gold"}
    assert rates <= checked
    marked = [
        row for row in store.list_rows.page(list(store.samples.file_order(dataset.dataset)), "r1") if "H" in row.marks
    ]
    of_h = figures.figure("mark.H")
    assert of_h is not None
    assert of_h.over(of_h.there) == pytest.approx(len(marked) / int(of_h.there.sum()))
    opened.close()


def test_p_and_r_of_spans_are_those_over_all_spans_wherever_two_sources_are_compared(tmp_path: Path) -> None:
    opened, dataset = workspace(tmp_path / "w.duckdb")
    add_run(opened, dataset, "r1", "wrong", "retrieve", ERRING)
    silent = {"s1": [["pure joy for me"]] * 2, "s2": [[], []], "p1": [[], []]}
    add_run(opened, dataset, "r2", "silent", "retrieve", silent)
    store, comparing = opened.store, Comparing(opened.store)
    for name in ("precision", "recall"):
        printed = [_printed(metrics(store, store.runs.get(run)), name) for run in ("r1", "r2")]
        document = compare_runs(store, "r1", "r2", name)  # a text without spans is no reason to leave it out
        pair = comparing.pair(dataset.dataset, "r1", "r2", name)
        rows = {row.key: row for row in comparing.axis(dataset.dataset, name, first="r1").rows}
        for said in (document, pair.report):
            assert [said["mean_a"], said["mean_b"]] == pytest.approx(printed)
            assert said["permutation_p"] is not None
        assert [rows[run].mean for run in ("r1", "r2")] == pytest.approx(printed)
        assert rows["r2"].off == pytest.approx(printed[1] - printed[0])
        intervals = metrics(store, store.runs.get("r1"))["ci95"]
        assert [rows["r1"].low, rows["r1"].high] == (intervals[name] or [None, None])
        *_, figure, is_mean = comparing.figure(dataset.dataset, "r1", name)
        assert (figure.over(figure.there), is_mean) == (pytest.approx(printed[0]), False)
    opened.close()


def _as_printed(store: Store, run: str) -> set[str]:
    """The names of the figures that can be compared, each checked against what the run prints."""
    dataset = next(one for one in store.datasets.all() if one.dataset == store.runs.get(run).dataset)
    report, figures = (
        metrics(store, store.runs.get(run)),
        SourceFigures(store, dataset, source_named(store, dataset, run)),
    )
    checked = set()
    for name in figures.names():
        printed, figure = _printed(report, name), figures.figure(name)
        assert figure is not None
        if isinstance(printed, int | float) and "confusion." not in name:  # the run prints how often, not the share
            # F1 of a label that is nowhere is printed as 0, and is over nothing.
            assert (figure.over(figure.there) or 0.0) == pytest.approx(printed), name
            checked.add(name)
    return checked


def test_matches_of_spans_and_probabilities_of_labels_are_compared_as_the_run_prints_them(
    emotui: Emotui, tmp_path: Path
) -> None:
    draw, labels, text = random.Random(3), ["joy", "fear", "awe", "envy"], "I am very glad today"
    most = {name: 0.49 if name == "envy" else 1.0 for name in labels}  # asked for, and nowhere
    gold = [{"id": str(at), "text": text, "labels": draw.sample(labels[:3], at % 3)} for at in range(40)]
    said = [{"id": str(at), "labels": {name: draw.random() * most[name] for name in labels}} for at in range(40)]
    _write(tmp_path / "labels.jsonl", gold)
    _write(tmp_path / "of_labels.jsonl", said)
    spans = [{"start": 5, "end": 14, "label": "joy"}]
    _write(tmp_path / "spans.jsonl", [{"id": str(at), "text": text, "spans": spans} for at in range(40)])
    for name, starts in {"a": (2, 5, 10), "b": (5,)}.items():
        rows = [{"id": str(at), "spans": [[draw.choice(starts), 14, draw.choice(("joy", "fear"))]]} for at in range(40)]
        _write(tmp_path / f"{name}.jsonl", rows)
    for words in (
        ("import", tmp_path / "labels.jsonl", "--as", "labels", "--name", "l"),
        ("import", "predictions", tmp_path / "of_labels.jsonl", "--dataset", "l", "--source", "p"),
        ("import", tmp_path / "spans.jsonl", "--as", "spans", "--name", "s"),
        ("import", "predictions", tmp_path / "a.jsonl", "--dataset", "s", "--source", "a"),
        ("import", "predictions", tmp_path / "b.jsonl", "--dataset", "s", "--source", "b"),
    ):
        done = emotui(*words, "--db", "w.duckdb")
        assert done.status == 0, done.err
    with closing(Workspace.open(tmp_path / "w.duckdb")) as opened:
        store = opened.store
        run = {one.model: one.run for one in store.runs.all()}
        assert {"brier", "by_label.awe.brier", "hamming_loss", "lexical_accuracy"} <= _as_printed(store, run["p"])
        of_spans = _as_printed(store, run["a"])
        assert {"semeval.strict.f1", "semeval.partial.precision", "tolerant.f1", "characters.recall"} <= of_spans
        test = compare_runs(store, run["a"], run["b"], "semeval.exact.f1")
        assert test["mean_b"] == 1
        assert test["ci95"][0] < test["mean_difference"] < test["ci95"][1] < 0
        assert test["permutation_p"] < 0.001


def test_labels_of_both_sources_are_the_same_columns_in_whatever_order_they_come(
    emotui: Emotui, tmp_path: Path
) -> None:
    draw, labels = random.Random(5), ["joy", "fear", "awe"]
    gold = [draw.choice(labels) for _ in range(60)]
    # `a` begins with wrong answers, so that its labels come in another order, and it alone says `envy`.
    sides = {
        "a": ["awe", "envy", "joy"] + [one if draw.random() < 0.6 else "envy" for one in gold[3:]],
        "b": [one if draw.random() < 0.75 else draw.choice(labels) for one in gold],
    }
    _write(tmp_path / "gold.jsonl", [{"id": str(at), "text": "so", "label": one} for at, one in enumerate(gold)])
    assert emotui("import", tmp_path / "gold.jsonl", "--as", "class", "--name", "set", "--db", "w.duckdb").status == 0
    for name, said in sides.items():
        _write(tmp_path / f"{name}.jsonl", [{"id": str(at), "label": one} for at, one in enumerate(said)])
        words = ("import", "predictions", tmp_path / f"{name}.jsonl", "--dataset", "set", "--source", name)
        assert emotui(*words, "--db", "w.duckdb").status == 0
    both = ("compare", "--runs", "a", "b", "--db", "w.duckdb")
    found = emotui(*both, "--metric", "weighted_f1", "--json").document
    tested = emotui(*both, "--json").document["f1"]["weighted"]
    assert found["permutation_p"] == pytest.approx(tested["p"])
    assert found["mean_difference"] == pytest.approx(tested["difference"])
    never = emotui(*both, "--metric", "confusion.joy.envy", "--json").document
    joys = [at for at, one in enumerate(gold) if one == "joy"]
    assert never["mean_a"] == pytest.approx(sum(sides["a"][at] == "envy" for at in joys) / len(joys))
    assert never["mean_b"] == 0
    assert never["mean_a"] > 0
    listed = emotui("compare", "--runs", "b", "a", "--metrics", "--db", "w.duckdb").out
    assert "confusion.joy.envy" in listed
    assert emotui(*both, "--metric", "confusion.envy.joy").status == 2


def test_several_figures_at_once_are_corrected_over_all(tmp_path: Path) -> None:
    opened, dataset = workspace(tmp_path / "w.duckdb")
    add_run(opened, dataset, "r1", "right", "retrieve", EXACT)
    add_run(opened, dataset, "r2", "wrong", "retrieve", ERRING)
    store = opened.store
    names = ("f1", "hallucination_rate", "neutral_sentence_fpr")
    assert set(names) <= set(comparable_figures(store, "r1", "r2"))
    found = compare_figures(store, "r1", "r2", names, "benjamini-hochberg")
    p = [one["p"] for one in found["figures"] if one["p"] is not None]
    corrected = [one["p_corrected"] for one in found["figures"] if one["p"] is not None]
    assert corrected == pytest.approx(adjusted(p, "benjamini-hochberg"))
    alone = compare_runs(store, "r1", "r2", "hallucination_rate")
    assert alone["mean_a"] == 0
    assert alone["mean_difference"] == -alone["mean_b"] < 0
    assert found["figures"][1]["permutation_p"] == alone["permutation_p"]
    opened.close()


def test_a_figure_says_which_end_of_it_is_better() -> None:
    for name in ("hallucination_rate", "mark.X", "by_name.valence.rmse", "confusion.joy.fear", "confusion.joy."):
        assert not metric_of(name).higher_is_better, name
    for name in ("precision", "confusion.joy.joy", "weighted_f1", "by_name.valence.ccc"):
        assert metric_of(name).higher_is_better, name


def _labelled(emotui: Emotui, tmp_path: Path) -> None:
    """Forty texts, half of them irony: `a` is wrong in five of either half's mix, `b` in irony alone."""
    labels = ["joy" if at % 2 else "fear" for at in range(40)]
    styles = ["plain" if at % 4 < 2 else "irony" for at in range(40)]
    wrong = {
        "a": {at for at in range(40) if at % 8 == 0},
        "b": {at for at in range(40) if styles[at] == "irony" and at % 3},
    }
    _write(
        tmp_path / "gold.jsonl",
        [{"id": str(at), "text": f"text {at}", "label": labels[at], "meta": {"style": styles[at]}} for at in range(40)],
    )
    words = ("import", tmp_path / "gold.jsonl", "--as", "class", "--name", "set", "--db", "w.duckdb")
    assert emotui(*words).status == 0
    for name, missed in wrong.items():
        other = {"joy": "fear", "fear": "joy"}
        said = [other[label] if at in missed else label for at, label in enumerate(labels)]
        _write(tmp_path / f"{name}.jsonl", [{"id": str(at), "label": label} for at, label in enumerate(said)])
        path = tmp_path / f"{name}.jsonl"
        done = emotui("import", "predictions", path, "--dataset", "set", "--source", name, "--db", "w.duckdb")
        assert done.status == 0, done.err


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_the_interaction_is_asked_by_facet_and_slices_are_compared_within_a_source(
    emotui: Emotui, tmp_path: Path
) -> None:
    _labelled(emotui, tmp_path)
    found = emotui("compare", "--runs", "a", "b", "--by", "style", "--db", "w.duckdb", "--json").document
    irony = next(row for row in found["slices"] if row["value"] == "irony")
    plain = next(row for row in found["slices"] if row["value"] == "plain")
    assert irony["apart"] == pytest.approx(irony["difference"] - plain["difference"])
    assert irony["apart"] == pytest.approx(-plain["apart"])
    assert irony["apart_low"] <= irony["apart"] <= irony["apart_high"]
    # Irony against the rest is plain against the rest: one test, and nothing to correct.
    assert irony["apart_p"] == pytest.approx(plain["apart_p"])
    assert irony["apart_adjusted"] == pytest.approx(irony["apart_p"])
    within = ("slices", "compare", "set", "style=irony", "--of", "b", "--db", "w.duckdb")
    (contrast,) = emotui(*within, "--json").document["contrasts"]
    assert (contrast["n"], contrast["rest"], contrast["other"]) == (20, 20, "")
    assert contrast["difference"] == pytest.approx(irony["other"] - plain["other"])
    figures = emotui("slices", "figures", "set", "--of", "b", "--by", "style", "--db", "w.duckdb", "--json").document
    of_b = next(row for row in figures["slices"] if row["value"] == "irony")
    assert of_b["apart"] == pytest.approx(contrast["difference"])
    assert of_b["p"] == of_b["apart_p"] == pytest.approx(contrast["p"])
    for metric in ("macro_f1", "confusion.joy.fear", "by_label.fear.recall"):
        done = emotui("compare", "--runs", "a", "b", "--by", "style", "--metric", metric, "--db", "w.duckdb")
        assert done.status == 0, done.err
        assert "less the rest" in done.out


def test_parts_that_share_samples_or_hold_none_are_refused_in_a_line(emotui: Emotui, tmp_path: Path) -> None:
    _labelled(emotui, tmp_path)
    for words, why in (
        (
            ("style=irony", "emotion=joy"),
            "10 samples are in 'style=irony' and in 'emotion=joy': parts must share none\n",
        ),
        (("style=odd",), "no sample is scored in 'style=odd'\n"),
        (("words>0",), "every sample is in 'words>0': there is no rest\n"),
    ):
        done = emotui("slices", "compare", "set", *words, "--of", "a", "--db", "w.duckdb")
        assert (done.status, done.out) == (2, "")
        assert done.err == why
    done = emotui("compare", "--runs", "a", "b", "--metric", "macro", "--db", "w.duckdb")
    assert done.status == 2
    assert "there is no metric 'macro' here; there are: " in done.err
    assert "macro_f1" in done.err
