"""Spans against many people: soft spans character by character, worked by hand."""

import json
from math import log
from pathlib import Path

import pytest

from emotui.metrics.people_spread import SpanSaid, span_people_report
from tests.conftest import Emotui

# Eight characters that are no white space. P1 marks "ab", P2 "abcd", P3 nothing.
TEXT = "ab cd efgh"


def _write(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def test_figures_worked_by_hand(emotui: Emotui, tmp_path: Path) -> None:
    people = {"P1": [[0, 2, "joy"]], "P2": [[0, 5, "fear"]], "P3": []}
    gold = _write(
        tmp_path / "g.jsonl",
        {"id": "a", "text": TEXT, "spans": [[0, 2, "joy"]], "annotators": people},
        {"id": "b", "text": "one alone", "annotators": {"P1": []}},
    )
    pred = _write(tmp_path / "p.jsonl", {"id": "a", "spans": [[0, 2, "joy"]]}, {"id": "b", "spans": []})
    got = emotui("score", "spans", "--gold", gold, "--pred", pred, "--no-sim", "--against", "people", "--json").document
    own = got["people"]
    assert (own["n"], own["annotators"], got["n"]) == (1, 3, 1)
    # Shares: 2/3 of two characters, 1/3 of the next two, 0 of the last four; given 1, 0 and 0.
    assert own["manhattan"] == pytest.approx(2 * (2 * 1 / 3 + 2 * 1 / 3) / 8)
    assert own["entropy"] == pytest.approx(4 / 8 * -(1 / 3 * log(1 / 3) + 2 / 3 * log(2 / 3)))
    assert own["cross_entropy"] == pytest.approx(4 / 8 * (1 / 3) * -log(1e-9), rel=1e-3)
    assert {name: one["error_rate"] for name, one in own["by_annotator"].items()} == {"P1": 0, "P2": 2 / 8, "P3": 2 / 8}
    assert own["error_rate"] == pytest.approx(4 / 24)
    # Of joy one of three marks the first two; of fear one of three the first four.
    assert own["by_label"]["joy"]["manhattan"] == pytest.approx(2 * 2 * (2 / 3) / 8)
    assert own["by_label"]["fear"]["manhattan"] == pytest.approx(2 * 4 * (1 / 3) / 8)
    assert "ours" in own["conventions"]["people"]
    assert (
        "against people"
        in emotui("score", "spans", "--gold", gold, "--pred", pred, "--no-sim", "--against", "people").out
    )


def test_repeats_are_a_distribution_and_people_of_one_mind_are_met() -> None:
    both = {"P1": [(0, 2, None)], "P2": [(0, 2, None)]}
    split = SpanSaid(TEXT, both, [[(0, 2, None)], []])
    same = SpanSaid(TEXT, both, [[(0, 2, None)]])
    assert span_people_report([same], [None])["manhattan"] == 0
    got = span_people_report([split], [None])
    assert (got["manhattan"], got["error_rate"]) == (pytest.approx(2 * 2 * 0.5 / 8), 0)
    assert span_people_report([SpanSaid(" ", both, [[]])], [None])["manhattan"] is None
