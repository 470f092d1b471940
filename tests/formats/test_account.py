"""The examples of docs/formats.md are read as what they are said to be."""

import re
from pathlib import Path
from typing import Any

import pytest

from emotui.formats import ENDINGS, read, write
from emotui.records import (
    Chain,
    ClassGold,
    ClassPrediction,
    Generation,
    LabelsGold,
    LabelsPrediction,
    Mark,
    MaskedGold,
    MaskedPrediction,
    Rating,
    SampleScore,
    ScenesGold,
    ScenesPrediction,
    SpanPrediction,
    SpanSample,
    Text,
    ValuesGold,
    ValuesPrediction,
)
from emotui.tasks.evidence.task import EvidencePrediction
from tests.paths import CHECKOUT

ACCOUNT = (CHECKOUT / "docs" / "formats.md").read_text(encoding="utf-8")
EXAMPLES = dict(re.findall(r"^### (.+?)\n.*?```json\n(.*?)```", ACCOUNT, re.MULTILINE | re.DOTALL))
KINDS: dict[str, type[Any]] = {
    "spans, gold": SpanSample,
    "spans, predicted": SpanPrediction,
    "scenes, gold": ScenesGold,
    "scenes, predicted": ScenesPrediction,
    "masked, gold": MaskedGold,
    "masked, predicted": MaskedPrediction,
    "class, gold": ClassGold,
    "class, predicted": ClassPrediction,
    "labels, gold": LabelsGold,
    "labels, predicted": LabelsPrediction,
    "values, gold": ValuesGold,
    "values, predicted": ValuesPrediction,
    "evidence, predicted": EvidencePrediction,
    "rephrasing chain": Chain,
    "generation": Generation,
    "rating": Rating,
    "per-sample score": SampleScore,
    "text": Text,
}


def test_the_account_has_an_example_of_every_kind() -> None:
    assert set(EXAMPLES) == set(KINDS)


@pytest.mark.parametrize("title", KINDS)
def test_the_example_is_good_in_every_format(tmp_path: Path, title: str) -> None:
    (tmp_path / "x.jsonl").write_text(EXAMPLES[title], encoding="utf-8")
    records = read(tmp_path / "x.jsonl", KINDS[title]).records
    for ending in ENDINGS:
        write(tmp_path / f"y{ending}", records)
        assert read(tmp_path / f"y{ending}", KINDS[title]).records == records


def test_the_table_in_the_account_is_a_good_one(tmp_path: Path) -> None:
    table = re.findall(r"```csv\n(.*?)```", ACCOUNT, re.DOTALL)[0]
    (tmp_path / "x.csv").write_text(table, encoding="utf-8")
    first, second = read(tmp_path / "x.csv", SpanSample).records
    assert first == SpanSample(
        id="1",
        text="She beamed, then wept.",
        spans=(Mark(4, 10),),
        emotion="happy",
        annotators={"A1": (Mark(4, 10),), "A2": ()},
    )
    assert second == SpanSample(id="2", text="He left.", spans=())


def test_the_table_with_a_column_a_label_is_a_good_one(tmp_path: Path) -> None:
    table = re.findall(r"```csv\n(.*?)```", ACCOUNT, re.DOTALL)[1]
    (tmp_path / "x.csv").write_text(table, encoding="utf-8")
    assert [record.labels for record in read(tmp_path / "x.csv", LabelsGold).records] == [
        {"joy": 1, "fear": 1},
        {"joy": 0, "fear": 0},
    ]
