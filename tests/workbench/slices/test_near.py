"""Texts that are nearest to one."""

from pathlib import Path

import numpy as np
import pytest

from emotui.errors import BadInput
from emotui.records import SpanSample
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.slices import near
from tests.workbench.results_store import workspace

TOWARDS = {"a": (1.0, 0.0), "b": (0.0, 1.0), "c": (0.8, 0.6), "d": (-1.0, 0.0)}


def test_the_nearest_texts_stand_first_and_never_the_text_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, _ = workspace(tmp_path / "w.duckdb")
    samples = [SpanSample(id=name, text=name) for name in TOWARDS]
    dataset = add_samples(opened.store, "spans", "few", samples, "few").dataset
    asked: list[object] = []

    def vectors(model: object, texts: list[str], store: object) -> np.ndarray:
        asked.append(store)
        return np.array([TOWARDS[text] for text in texts], dtype=np.float32)

    monkeypatch.setattr(near, "kept_embeddings", vectors)
    first = opened.store.samples.file_order(dataset).start
    found = opened.near(dataset, first, 2)
    assert [(one.id, one.sample - first, one.cosine) for one in found] == (
        [("c", 2, pytest.approx(0.8)), ("b", 1, pytest.approx(0.0))]
    )
    assert asked == [opened.store]
    with pytest.raises(BadInput, match="no text"):
        opened.near(dataset, first + 9, 2)
    opened.close()
