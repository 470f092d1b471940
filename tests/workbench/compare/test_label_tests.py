"""Sources that give labels are tested by F1 too: by hand over the permutation test, and corrected over the labels."""

import json
from pathlib import Path
from typing import Any

import pytest

from emotui.metrics.permutation import one_hot, permutation_f1s
from emotui.metrics.significance import adjusted
from tests.conftest import Emotui

NAMES = ("joy", "fear", "anger")
GOLD = [at % 3 for at in range(40)]
FIRST = [gold if at % 4 else (gold + 1) % 3 for at, gold in enumerate(GOLD)]
SECOND = [gold if at % 2 else (gold + 2) % 3 for at, gold in enumerate(GOLD)]


def _write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def _compared(emotui: Emotui, tmp_path: Path, kind: str, of: Any, **more: Any) -> dict[str, Any]:
    gold = [{"id": str(at), "text": f"text {at}", **of(label)} | more for at, label in enumerate(GOLD)]
    assert (
        emotui("import", kind, _write(tmp_path / "gold.jsonl", gold), "--name", "set", "--db", "w.duckdb").status == 0
    )
    for name, said in (("one", FIRST), ("other", SECOND)):
        path = _write(tmp_path / f"{name}.jsonl", [{"id": str(at), **of(label)} for at, label in enumerate(said)])
        words = ("predictions", path, "--dataset", "set", "--source", name, "--db", "w.duckdb")
        done = emotui("import", *words)
        assert done.status == 0, done.err
    document: dict[str, Any] = emotui("compare", "--runs", "one", "other", "--db", "w.duckdb", "--json").document
    return document


def test_one_label_a_text_has_macro_f1_and_each_label_corrected_over_all(emotui: Emotui, tmp_path: Path) -> None:
    found = _compared(emotui, tmp_path, "class", lambda label: {"label": NAMES[label]})
    by_hand = permutation_f1s(*(one_hot(labels, 3) for labels in (GOLD, FIRST, SECOND)))
    assert found["n"] == 40
    assert "over 40 labelled samples" in found["conventions"]["f1"]
    assert found["f1"]["macro"]["difference"] == pytest.approx(by_hand.macro.difference)
    assert found["f1"]["macro"]["a"] - found["f1"]["macro"]["b"] == pytest.approx(by_hand.macro.difference)
    assert found["f1"]["macro"]["p"] == pytest.approx(by_hand.macro.p)
    assert "micro" not in found["f1"]
    p = [found["f1_by_label"][name]["p"] for name in NAMES]
    assert p == pytest.approx([one.p for one in by_hand.by_label])
    assert [found["f1_by_label"][name]["p_bh"] for name in NAMES] == pytest.approx(adjusted(p, "benjamini-hochberg"))
    assert [found["f1_by_label"][name]["p_holm"] for name in NAMES] == pytest.approx(adjusted(p, "holm"))
    assert "Benjamini and Hochberg" in found["conventions"]["f1"]
    printed = emotui("compare", "--runs", "one", "other", "--db", "w.duckdb")
    assert printed.status == 0
    assert "p_bh" in printed.out


def test_label_sets_have_micro_f1_too_and_texts_of_one_post_change_sides_together(
    emotui: Emotui, tmp_path: Path
) -> None:
    def of(label: int) -> dict[str, Any]:
        return {"labels": [NAMES[label], "calm"]}

    found = _compared(emotui, tmp_path, "labels", of, meta={"post": "the same"})
    assert found["shared"] == "post"
    tests = found["f1"]
    assert tests["micro"]["a"] > tests["micro"]["b"]
    # All texts are of one post: both sources' answers change sides as a whole, which changes only the sign.
    assert tests["macro"]["p"] == tests["micro"]["p"] == 1
    assert "all that share a text" in found["conventions"]["f1"]
