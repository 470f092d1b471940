"""A text may say several kinds of thing at once: what a record has no field for is kept, and written out again."""

import json
from pathlib import Path

import pytest

from emotui.formats import read, write
from emotui.records import ClassGold, LabelsGold, SpanSample, ValuesGold
from tests.conftest import Emotui

RECORD = {
    "id": "a",
    "text": "I am so glad.",
    "spans": [[5, 12, "joy"]],
    "label": "joy",
    "labels": ["joy", "love"],
    "values": {"valence": 4.5},
    "meta": {"speaker": "Ann"},
}
LACKING = {
    SpanSample: ("label", "labels", "values"),
    LabelsGold: ("label", "spans", "values"),
    ClassGold: ("labels", "spans", "values"),
    ValuesGold: ("label", "labels", "spans"),
}


@pytest.mark.parametrize("kind", LACKING)
def test_what_a_kind_has_no_field_for_is_kept_in_meta_and_written_out_again(kind: type, tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text(json.dumps(RECORD))
    (record,) = read(str(tmp_path / "in.jsonl"), kind).records
    assert record.meta == {"speaker": "Ann"} | {key: RECORD[key] for key in LACKING[kind]}
    write(str(tmp_path / "out.jsonl"), [record])
    assert json.loads((tmp_path / "out.jsonl").read_text()) == RECORD
    for ending in ("csv", "parquet"):
        write(str(tmp_path / f"out.{ending}"), [record])
        assert read(str(tmp_path / f"out.{ending}"), kind).records == [record]


def test_own_columns_of_these_names_stay_and_nothing_said_is_nothing_kept(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "text": "t", "spans": [], "label": "joy", "meta": {"label": "mine"}},
        {"id": "b", "text": "t", "spans": [], "label": None, "values": None},
    ]
    (tmp_path / "in.jsonl").write_text("\n".join(map(json.dumps, rows)))
    first, second = read(str(tmp_path / "in.jsonl"), SpanSample).records
    assert first.meta == {"label": "mine"}
    assert second.meta == {}


def test_datasets_of_several_tasks_are_made_of_one_file_and_each_is_written_whole(
    emotui: Emotui, tmp_path: Path
) -> None:
    (tmp_path / "all.jsonl").write_text(json.dumps(RECORD))
    for kind in ("spans", "labels", "values"):
        assert emotui("import", kind, "all.jsonl", "--name", kind).status == 0
        assert emotui("export", kind, "--to", f"{kind}.jsonl").status == 0
        found = json.loads((tmp_path / f"{kind}.jsonl").read_text())
        assert {key: found[key] for key in ("label", "labels", "values", "meta")} == {
            key: RECORD[key] for key in ("label", "labels", "values", "meta")
        }
        assert found["spans"] == [{"start": 5, "end": 12, "label": "joy"}]
