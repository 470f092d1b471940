"""The figures of Generate are those of the command over the same records."""

from pathlib import Path
from statistics import fmean
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from emotui.backends.host import Cancelled
from emotui.metrics.ers import weighted_f1
from emotui.metrics.human_labels import majority_label
from emotui.metrics.resampling import drawn_by, interval_of, mean_replicates
from emotui.records import SpanSample
from emotui.tasks.generation.report import score_records
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.generation import figures as generation_figures
from emotui.workbench.generation.bench import SAMPLES, GenerationBench
from emotui.workbench.generation.versions import writers_of
from emotui.workbench.workspace import Workspace
from tests.screens.generate.workspace import records, workspace


def test_figures_over_the_store_are_those_of_score_generation_over_its_records(tmp_path: Path) -> None:
    opened = workspace(tmp_path / "w.duckdb")
    dataset = opened.datasets()[0].dataset
    figures = GenerationBench(opened.store).figures(dataset)
    document = score_records(records(), {})
    assert [one.writer.name for one in figures.models] == ["ann", "bob"]
    for model in figures.models:
        wanted = document["models"][model.writer.name]
        for name in ("human_f1", "agreement", "r1_c", "r2_m", "r3_m"):
            assert model.values[name].value == pytest.approx(wanted[name], abs=1e-5)
        assert model.values["human_neutral_f1"].value == pytest.approx(wanted["human_neutral"]["f1"])
        assert model.by_emotion["human_f1"] == {
            emotion: row["f1"] for emotion, row in wanted["human"]["by_emotion"].items()
        }
    assert not figures.illustration
    for name in ("r1_c", "r3_m"):
        for key in ("pearson", "oriented_pearson", "n", "ci"):
            assert figures.trust[name][key] == pytest.approx(document["correlations"][name][key], abs=1e-6)


def test_human_f1_counts_a_text_that_two_labels_are_the_most_frequent_of_as_seen_to_be_nothing(tmp_path: Path) -> None:
    opened = workspace(tmp_path / "w.duckdb")
    figures = GenerationBench(opened.store).figures(opened.datasets()[0].dataset)
    bob = [one for one in records() if one.model == "bob"]
    found = [majority_label(one.human, one.target) for one in bob]
    assert found[2] is None
    model = figures.models[1]
    assert model.values["human_f1"].value == weighted_f1([one.target for one in bob], found)
    assert model.values["agreement"].value == pytest.approx(fmean([0.6, 1.0, 0.4] * 2))


def test_a_mean_has_the_interval_that_every_other_table_gives_it() -> None:
    drawn = np.random.default_rng(0).exponential(size=60)
    texts: Any = [("joy", SimpleNamespace(values={"r1_m": float(value)})) for value in drawn]
    (made,) = mean_replicates(drawn[:, None], drawn_by(None, 60))
    found = generation_figures._means(texts, ["r1_m"])["r1_m"]
    assert (found.low, found.high) == interval_of(made).ends


def test_a_text_has_every_version_with_its_labels_and_values(tmp_path: Path) -> None:
    opened = workspace(tmp_path / "w.duckdb")
    dataset = opened.datasets()[0].dataset
    bench = GenerationBench(opened.store)
    found = bench.versions(dataset, opened.store.samples.numbers_by_id(dataset)["t-3"])
    assert (found.target, found.illustration) == ("disgust", False)
    assert [one.writer for one in found.versions] == writers_of(opened.store, dataset)
    assert found.versions[1].human == ("joy", "disgust", "joy", "disgust", "neutral")
    assert set(found.versions[0].values) >= {"r1_c", "r3_m", "words", "leak"}


def test_a_store_of_a_persons_own_texts_alone_gets_no_sample_texts(tmp_path: Path) -> None:
    opened = Workspace.open(tmp_path / "w.duckdb")
    add_samples(opened.store, "spans", "mine", [SpanSample(id="a", text="I won.")], "mine.jsonl")
    assert not GenerationBench(opened.store).lacks_samples()
    opened.close()


def test_sample_texts_whose_bringing_in_was_stopped_are_still_lacking(tmp_path: Path) -> None:
    opened = Workspace.open(tmp_path / "w.duckdb")
    bench = GenerationBench(opened.store)
    assert bench.lacks_samples()
    with pytest.raises(Cancelled):
        bench.add_samples(lambda progress: None, lambda: True)
    assert [one.name for one in opened.datasets()] == ["generation"]
    assert bench.lacks_samples()
    opened.store.settings.set(SAMPLES, "done")
    assert not bench.lacks_samples()
    opened.close()
