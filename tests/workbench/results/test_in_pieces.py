"""What is read, scored and kept in pieces says what it says at once, in any order of the lines."""

import json
import random
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from emotui.metrics.labels import as_table, jaccard, sample_f1
from emotui.metrics.resampling import Drawn
from emotui.records import LabelsGold
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.runs.elsewhere import import_predictions
from emotui.workbench.texts import samples_of
from emotui.workbench.workspace import Workspace

LABELS = ("joy", "fear", "anger", "trust")


def drawn(draw: random.Random, n: int) -> tuple[list[LabelsGold], dict[str, list[str]]]:
    """Gold with any number of labels, every ninth text unlabelled, and a prediction of each."""
    golds = [
        LabelsGold(
            id=f"t{at}",
            text=f"Text {at}",
            labels=None if at % 9 == 0 else tuple(draw.sample(LABELS, draw.randint(0, 3))),
            annotators={"ann": ("joy",)} if at % 5 == 0 else {},
        )
        for at in range(n)
    ]
    return golds, {one.id: draw.sample(LABELS, draw.randint(0, 2)) for one in golds}


def kept(folder: Path, golds: Sequence[LabelsGold], said: dict[str, list[str]]) -> tuple[Any, list[Any]]:
    """The figures of a source, and its rows."""
    folder.mkdir()
    path = folder / "p.jsonl"
    path.write_text("".join(json.dumps({"id": key, "labels": labels}) + "\n" for key, labels in said.items()))
    with closing(Workspace.open(folder / "w.duckdb")) as opened:
        dataset = add_samples(opened.store, "labels", "gold", golds, "x")
        run = import_predictions(opened.store, dataset, str(path), "theirs", warn=print).run
        return opened.summary(run.run), [
            (row.sample, row.raw, row.prediction, row.score) for row in opened.store.results.of_run(run.run)
        ]


def test_what_is_kept_in_pieces_is_what_is_kept_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    golds, said = drawn(random.Random(5), 90)
    figures, rows = kept(tmp_path / "whole", golds, said)
    for name in ("runs.elsewhere._AT_ONCE", "texts._DENSE"):
        monkeypatch.setattr(f"emotui.workbench.{name}", 7)
    monkeypatch.setattr("emotui.store.rows._CHUNK", 4)
    monkeypatch.setattr("emotui.store.results._MANY", 5)
    shuffled = list(said)
    random.Random(6).shuffle(shuffled)
    pieces, others = kept(tmp_path / "pieces", golds, {key: said[key] for key in shuffled})
    assert pieces == figures
    assert others == rows
    # Worked out again from what went in.
    pairs = [(set(one.labels), set(said[one.id])) for one in golds if one.labels is not None]
    assert figures["jaccard"] == pytest.approx(sum(jaccard(a, b) for a, b in pairs) / len(pairs), abs=1e-12)
    assert figures["samples_f1"] == pytest.approx(sum(sample_f1(a, b) for a, b in pairs) / len(pairs), abs=1e-12)
    assert (figures["n"], figures["unlabelled"]) == (80, 10)


def test_figures_over_many_texts_are_those_of_the_rows_that_are_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    golds, said = drawn(random.Random(11), 120)
    shared = [replace(one, meta={"post": at // 3}) for at, one in enumerate(golds)]
    plain = [kept(tmp_path / name, some, said)[0] for name, some in (("alone", golds), ("posts", shared))]
    assert plain[0]["ci95"] != plain[1]["ci95"]
    monkeypatch.setattr("emotui.metrics.resampling._KEPT", 0)
    monkeypatch.setattr("emotui.metrics.labels._ROWS", 7)
    for name, some, before in zip(("alone 2", "posts 2"), (golds, shared), plain, strict=True):
        figures = kept(tmp_path / name, some, said)[0]
        ends = {key: pytest.approx(value, abs=1e-12) for key, value in before["ci95"].items()}
        assert figures == before | {"ci95": ends}


def test_samples_are_the_same_in_one_scan_and_one_by_one(tmp_path: Path) -> None:
    golds, _ = drawn(random.Random(7), 60)
    with closing(Workspace.open(tmp_path / "w.duckdb")) as opened:
        dataset = add_samples(opened.store, "labels", "gold", golds, "x")
        numbers = list(opened.store.samples.file_order(dataset.dataset))
        for wanted in (numbers, [numbers[0], numbers[-1]], numbers[10:20], [], [numbers[-1] + 5]):
            found = samples_of(opened.store, dataset, set(wanted))
            assert found == {number: golds[number - numbers[0]] for number in wanted if number in numbers}


def test_a_table_of_labels_has_what_each_row_says() -> None:
    draw = random.Random(8)
    for _ in range(200):
        rows: list[Any] = [
            dict.fromkeys(draw.sample(LABELS, 2), round(draw.random(), 2))
            if draw.random() < 0.4
            else draw.sample(LABELS, 2)
            for _ in range(draw.randint(0, 5))
        ]
        expected = [
            [(row.get(name, 0.0) if isinstance(row, dict) else float(name in row)) for name in LABELS] for row in rows
        ]
        assert np.array_equal(as_table(rows, LABELS), np.array(expected).reshape(len(rows), len(LABELS)))


def test_groups_that_have_a_row_are_counted_once() -> None:
    draw = np.random.default_rng(9)
    for _ in range(50):
        numbers = draw.integers(0, 12, 30)
        has = draw.integers(0, 2, 30)
        assert Drawn(numbers, 12, True).holding(has) == len(
            {int(n) for n, there in zip(numbers, has, strict=True) if there}
        )
