"""Prodigy's exports are read as what was accepted, and rows survive being written for it."""

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emotui.formats.layouts.tools.prodigy import LAYOUT
from emotui.formats.rows import Flaw
from tests.formats.layouts.made import NAMES, NUMBERS, TEXTS, read_all, recognised, spans_of, written_and_read

SPANS = (
    '{"text":"😀 First look at it","_input_hash":-1294982232,"_task_hash":1191235032,"tokens":['
    '{"text":"😀","start":0,"end":1,"id":0,"ws":true},{"text":"First","start":2,"end":7,"id":1,"ws":true}],'
    '"spans":[{"start":2,"end":7,"token_start":1,"token_end":1,"label":"ORD","source":"en_core_web_sm"}],'
    '"_view_id":"ner_manual","meta":{"source":"x"},"answer":"accept","_timestamp":1646315577}'
)
CHOICE = (
    '{"text":"a","_input_hash":1,"_task_hash":2,"options":[{"id":"joy","text":"Joy 😀"},{"id":3,"text":"Fear"}],'
    '"accept":%s,"config":{"choice_style":"%s"},"_view_id":"choice","answer":"accept"}'
)


def _rows(tmp_path: Path, *lines: str) -> list[Any]:
    (tmp_path / "x.jsonl").write_text("\n".join(lines), encoding="utf-8")
    assert recognised(LAYOUT, tmp_path / "x.jsonl")
    return read_all(LAYOUT, tmp_path / "x.jsonl")


def test_accepted_spans_are_gold_without_what_is_derived_from_the_text(tmp_path: Path) -> None:
    span = {"start": 2, "end": 7, "label": "ORD", "attributes": {"source": "en_core_web_sm"}}
    assert _rows(tmp_path, SPANS) == [{"text": "😀 First look at it", "spans": [span], "meta": {"source": "x"}}]


@pytest.mark.parametrize("answer", ["reject", "ignore"])
def test_what_was_refused_or_passed_over_is_unlabelled_and_says_so(tmp_path: Path, answer: str) -> None:
    (row,) = _rows(tmp_path, SPANS.replace('"accept"', f'"{answer}"'))
    assert row == {"text": "😀 First look at it", "meta": {"source": "x", "answer": answer}}


def test_a_choice_of_one_is_a_label_and_of_several_labels(tmp_path: Path) -> None:
    single = _rows(tmp_path, CHOICE % ('["joy"]', "single"), CHOICE % ("[]", "single"))
    assert single == [{"text": "a", "label": "joy"}, {"text": "a"}]
    several = _rows(tmp_path, CHOICE % ('["joy"]', "multiple"), CHOICE % ('["joy",3]', "multiple"))
    assert [row["labels"] for row in several] == [["joy"], ["joy", "3"]]


def test_a_label_that_was_accepted_is_the_label(tmp_path: Path) -> None:
    lines = ['{"text":"a","label":"joy","answer":"accept"}', '{"text":"b","label":"joy","answer":"reject"}']
    assert _rows(tmp_path, *lines) == [{"text": "a", "label": "joy"}, {"text": "b", "meta": {"answer": "reject"}}]


def test_what_several_people_answered_for_one_text_is_one_row(tmp_path: Path) -> None:
    def line(who: str, text: str, **more: Any) -> str:
        record = {"text": text, "_input_hash": len(text), "_annotator_id": f"d-{who}", "_session_id": f"d-{who}"}
        return json.dumps(record | more | {"answer": more.get("answer", "accept")})

    ann = line("ann", "a", spans=[{"start": 0, "end": 1, "label": "x"}])
    first, second = _rows(tmp_path, ann, line("ann", "bb", spans=[]), line("bob", "a", spans=[], answer="ignore"))
    assert first == {"text": "a", "annotators": {"d-ann": {"spans": [{"start": 0, "end": 1, "label": "x"}]}}}
    assert second == {"text": "bb", "annotators": {"d-ann": {"spans": []}}}


def test_relations_between_spans_stand_with_their_head(tmp_path: Path) -> None:
    spans = '[{"start":0,"end":1,"label":"A"},{"start":2,"end":3,"label":"B"}]'
    head, child = '{"start":2,"end":3,"label":"B"}', '{"start":0,"end":1,"label":"A"}'
    relation = f'{{"head":1,"child":0,"label":"of","head_span":{head},"child_span":{child}}}'
    (row,) = _rows(tmp_path, f'{{"text":"a b","spans":{spans},"relations":[{relation}],"answer":"accept"}}')
    assert row["spans"][1]["attributes"] == {"id": "s2", "relations": [{"to": "s1", "type": "of"}]}


@pytest.mark.parametrize(
    ("spans", "reason"),
    [
        ('[{"start":0,"end":9}]', "span [0, 9] is not within the text, which has 2 characters"),
        ('[{"start":0,"end":1,"text":"b"}]', "span [0, 1]: the file has 'b' there, but its text has 'a'"),
        ('[{"start":true,"end":1}]', "a span needs whole numbers as offsets, not True and 1"),
        ("7", "`spans` must be a list, not 7"),
        ("[7]", "a span must be an object, not 7"),
    ],
)
def test_a_bad_span_says_why(tmp_path: Path, spans: str, reason: str) -> None:
    assert _rows(tmp_path, f'{{"text":"ab","spans":{spans},"answer":"accept"}}') == [Flaw(reason)]


ATTRIBUTES = st.dictionaries(NAMES, NAMES | NUMBERS | st.lists(NAMES, max_size=2), max_size=2)


@st.composite
def said(draw: Callable[..., Any], text: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if draw(st.booleans()):
        found["spans"] = draw(spans_of(text, scores=True, attributes=ATTRIBUTES))
    which = draw(st.sampled_from(["label", "labels", None]))
    if which:
        several = st.lists(NAMES, max_size=2) | st.dictionaries(NAMES, NUMBERS, min_size=1, max_size=2)
        found[which] = draw(NAMES if which == "label" else several)
    if values := draw(st.dictionaries(NAMES, NUMBERS, max_size=2)):
        found["values"] = values
    return found


@st.composite
def files(draw: Callable[..., Any]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = [{"text": "", "label": "x"}]
    for number in range(draw(st.integers(0, 3))):
        text = draw(TEXTS)
        row = {"text": text, **draw(said(text))}
        if draw(st.booleans()):
            row["id"] = str(number)
        if draw(st.booleans()):
            row["emotion"] = draw(NAMES)
        if meta := draw(st.dictionaries(NAMES, NAMES | NUMBERS, max_size=2)):
            row["meta"] = meta
        if people := draw(st.dictionaries(NAMES, said(text), max_size=2)):
            row["annotators"] = people
        rows.append(row)
    return rows


@given(files())
def test_what_is_written_reads_back_equal(rows: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        assert written_and_read(LAYOUT, Path(folder) / "x.jsonl", rows) == ([], rows)


def test_what_cannot_be_held_is_named(tmp_path: Path) -> None:
    row = {"text": "ab", "annotators": {"A": {"spans": [], "emotion": "joy"}}}
    lost, read = written_and_read(LAYOUT, tmp_path / "x.jsonl", [row])
    assert len(lost) == 2
    assert read == [{"text": "ab", "spans": []}]
