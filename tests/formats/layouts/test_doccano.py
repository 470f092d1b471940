"""doccano's exports are read in each shape that its versions write, and rows survive being written for it."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emotui.formats.layouts.tools.doccano import LAYOUT
from emotui.formats.rows import Flaw
from tests.formats.layouts.made import NAMES, NUMBERS, TEXTS, read_all, recognised, spans_of, written_and_read

SPANS = [{"start": 1, "end": 4, "label": "LOC"}]
SHAPES = {
    "label": ('{"id": 4, "text": "😀abc", "label": [[1, 4, "LOC"]], "Comments": []}', SPANS),
    "labels": ('{"id": 4, "data": "😀abc", "labels": [[1, 4, "LOC"]]}', SPANS),
    "entities": (
        '{"id": 4, "text": "😀abc", "Comments": [], "entities": [{"id": 16, "label": "LOC", "start_offset": 1,'
        ' "end_offset": 4}], "relations": []}',
        SPANS,
    ),
    "annotations": (
        '{"id": 4, "text": "😀abc", "meta": {}, "annotation_approver": null,'
        ' "annotations": [{"label": "LOC", "start_offset": 1, "end_offset": 4, "user": 1}]}',
        SPANS,
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_spans_are_read_in_each_shape(tmp_path: Path, shape: str) -> None:
    (tmp_path / "x.jsonl").write_text(SHAPES[shape][0] + "\n", encoding="utf-8")
    assert recognised(LAYOUT, tmp_path / "x.jsonl")
    (row,) = read_all(LAYOUT, tmp_path / "x.jsonl")
    assert isinstance(row, dict)
    assert (row["id"], row["text"], row["spans"]) == ("4", "😀abc", SHAPES[shape][1])


def _rows(tmp_path: Path, *lines: str) -> list[Any]:
    (tmp_path / "x.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return read_all(LAYOUT, tmp_path / "x.jsonl")


def test_relations_stand_with_the_span_that_they_start_from(tmp_path: Path) -> None:
    first = '{"id": 1, "label": "A", "start_offset": 0, "end_offset": 1}'
    entities = first + ', {"id": 2, "label": "B", "start_offset": 1, "end_offset": 2}'
    relations = '[{"id": 3, "from_id": 2, "to_id": 1, "type": "of"}]'
    (row,) = _rows(tmp_path, f'{{"text": "ab", "entities": [{entities}], "relations": {relations}}}')
    assert row["spans"] == [
        {"start": 0, "end": 1, "label": "A", "attributes": {"id": "1"}},
        {"start": 1, "end": 2, "label": "B", "attributes": {"id": "2", "relations": [{"to": "1", "type": "of"}]}},
    ]
    lost, read = written_and_read(LAYOUT, tmp_path / "y.jsonl", [row])
    assert (lost, read) == ([], [row])


def test_one_category_a_text_throughout_is_a_label_and_more_in_one_text_are_labels_in_all(tmp_path: Path) -> None:
    one, two = '{"text": "a", "label": ["joy"]}', '{"text": "b", "label": ["fear", "joy"]}'
    assert [row["label"] for row in _rows(tmp_path, one, one)] == ["joy", "joy"]
    assert [row["labels"] for row in _rows(tmp_path, one, two)] == [["joy"], ["fear", "joy"]]


def test_a_text_without_a_category_is_unlabelled_and_one_without_spans_beside_others_has_none(tmp_path: Path) -> None:
    assert _rows(tmp_path, '{"text": "a", "label": []}', '{"text": "b", "label": ["x"]}')[0] == {"text": "a"}
    assert _rows(tmp_path, '{"text": "a", "label": []}', '{"text": "b", "label": [[0, 1, "x"]]}')[0]["spans"] == []


def test_slots_and_intents_are_spans_and_labels(tmp_path: Path) -> None:
    (row,) = _rows(tmp_path, '{"id": 1, "text": "ab", "cats": ["ask"], "entities": [[0, 1, "x"]], "lang": "en"}')
    spans = [{"start": 0, "end": 1, "label": "x"}]
    assert row == {"id": "1", "text": "ab", "label": "ask", "spans": spans, "meta": {"lang": "en"}}


def test_users_of_older_versions_are_annotators(tmp_path: Path) -> None:
    said = '[{"label": 2, "user": 1}, {"label": 3, "user": 9}]'
    (row,) = _rows(tmp_path, f'{{"id": 1, "text": "ab", "annotations": {said}, "meta": {{"wikiPageID": 1}}}}')
    assert row["annotators"] == {"1": {"labels": ["2"]}, "9": {"labels": ["3"]}}
    assert row["meta"] == {"wikiPageID": 1}


def test_categories_in_csv_are_parted_at_their_sign(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text('id,data,label\n1,"a, ""b""\n😀",joy#fear\n2,c,\n3,d,joy\n', encoding="utf-8")
    assert recognised(LAYOUT, tmp_path / "x.csv")
    assert read_all(LAYOUT, tmp_path / "x.csv") == [
        {"id": "1", "text": 'a, "b"\n😀', "labels": ["joy", "fear"]},
        {"id": "2", "text": "c"},
        {"id": "3", "text": "d", "label": "joy"},
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"text": "ab", "label": [[0, 3, "x"]]}', "span [0, 3] is not within the text, which has 2 characters"),
        ('{"text": "ab", "label": [["a", 3, "x"]]}', "a span needs whole numbers as offsets, not 'a' and 3"),
        ('{"text": 7, "label": []}', "has no text under `text` or `data`, but 7"),
        ('{"text": "a", "entities": [], "relations": [{"from_id": 1}]}', "a relation goes from 1 to None"),
        ("[]", "is no object"),
    ],
)
def test_a_bad_line_says_why(tmp_path: Path, line: str, reason: str) -> None:
    (flaw,) = _rows(tmp_path, line)
    assert isinstance(flaw, Flaw)
    assert flaw.reason.startswith(reason)


@st.composite
def files(draw: Callable[..., Any]) -> list[dict[str, Any]]:
    kind = draw(st.sampled_from(["spans", "label", "labels", "both"]))
    rows = []
    for number in range(draw(st.integers(1, 4))):
        text = draw(TEXTS)
        row: dict[str, Any] = {"id": str(number), "text": text}
        if kind in ("spans", "both") and draw(st.booleans()):
            row["spans"] = draw(spans_of(text))
        if kind in ("label", "both"):
            row["label"] = draw(NAMES)
        if kind == "labels":
            row["labels"] = draw(st.lists(NAMES, max_size=3))
        if draw(st.booleans()):
            row["valence"] = draw(NAMES)
        if meta := draw(st.dictionaries(NAMES, NAMES | NUMBERS | st.booleans(), max_size=2)):
            row["meta"] = meta
        rows.append(row)
    return rows


@given(files())
def test_what_is_written_reads_back_equal(rows: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        assert written_and_read(LAYOUT, Path(folder) / "x.jsonl", rows) == ([], rows)


def test_what_cannot_be_held_is_named(tmp_path: Path) -> None:
    span = {"start": 0, "end": 1, "score": 0.5, "attributes": {"a": 1}}
    row = {"id": "1", "text": "ab", "spans": [span], "values": {"v": 1}, "annotators": {"A": {"spans": []}}}
    lost, _ = written_and_read(LAYOUT, tmp_path / "x.jsonl", [row])
    assert [line.split(" (")[0] for line in lost] == [
        "numbers",
        "what several annotators say",
        "scores",
        "spans without a label",
        "attributes of spans",
    ]


def test_categories_survive_csv(tmp_path: Path) -> None:
    rows = [
        {"id": "1", "text": 'a,"\r\n', "label": "joy"},
        {"id": "2", "text": "", "labels": ["a", "b"]},
        {"id": "3", "text": "c"},
    ]
    assert written_and_read(LAYOUT, tmp_path / "x.csv", rows) == ([], rows)
