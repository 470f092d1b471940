"""`emotui score spans` with labels on both sides, and two label sets that are brought together."""

import json
from pathlib import Path

import pytest

from tests.conftest import Emotui


def _write(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


@pytest.fixture
def asked(tmp_path: Path) -> tuple[object, ...]:
    text = "I am afraid, and glad."
    gold = _write(
        tmp_path / "g.jsonl",
        {"id": "a", "text": text, "spans": [[5, 11, "fear"], [17, 21, "joy"]]},
        {"id": "b", "text": text, "spans": [[5, 11, "fear"]]},
    )
    pred = _write(
        tmp_path / "p.jsonl",
        {"id": "a", "spans": [{"start": 5, "end": 11, "label": "afraid", "score": 0.5}, [17, 21, "joy"]]},
        {"id": "b", "spans": [[5, 11, "nervous"]]},
    )
    return ("score", "spans", "--gold", gold, "--pred", pred, "--no-sim")


def test_labels_without_a_mapping_are_compared_letter_for_letter(emotui: Emotui, asked: tuple[object, ...]) -> None:
    got = emotui(*asked, "--json").document
    assert (got["f1"], got["labelled_f1"], got["labels"]["accuracy"]) == (1, 0.25, pytest.approx(1 / 3))
    assert "unmapped_labels" not in got


def test_a_mapping_brings_two_label_sets_together_and_names_what_has_no_image(
    emotui: Emotui, asked: tuple[object, ...], tmp_path: Path
) -> None:
    (tmp_path / "map.toml").write_text('afraid = "fear"\n')
    got = emotui(*asked, "--map-labels", tmp_path / "map.toml", "--json").document
    assert got["labels"]["confusion"] == {"fear": {"fear": 1, "nervous": 1}, "joy": {"joy": 1}}
    assert (got["labels"]["n"], got["labelled_f1"], got["unmapped_labels"]) == (3, 0.5, ["nervous"])
    people = emotui(*asked, "--map-labels", tmp_path / "map.toml").out
    assert "nervous" in people.partition("confusion\n")[2]


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("afraid = 3\n", "'afraid' must be a label in quotes"),
        ("\nafraid fear\n", ":2: this is no TOML"),
        ("", "there is no label in it"),
    ],
)
def test_a_bad_mapping_is_one_line(
    emotui: Emotui, asked: tuple[object, ...], tmp_path: Path, content: str, what: str
) -> None:
    (tmp_path / "map.toml").write_text(content)
    done = emotui(*asked, "--map-labels", tmp_path / "map.toml", "--json")
    assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.startswith(str(tmp_path / "map.toml"))
    assert what in done.err


def test_a_predicted_span_that_ends_behind_its_text_is_named_by_its_line(
    emotui: Emotui, asked: tuple[object, ...], tmp_path: Path
) -> None:
    _write(tmp_path / "p.jsonl", {"id": "a", "spans": []}, {"id": "b", "spans": [[5, 99]]})
    done = emotui(*asked, "--json")
    assert done.status == 2
    assert done.err.startswith(f"{tmp_path / 'p.jsonl'}:2: ")
    assert "[5, 99]" in done.err
