"""What a file of records may look like, and what a person is told where it may not."""

import codecs
import io
import itertools
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from emotui.errors import BadInput
from emotui.formats import MOST_PROBLEMS, jsonl, read
from emotui.formats.conversion import line_decoder, to_record
from emotui.formats.rows import too_long
from emotui.records import (
    Chain,
    ClassGold,
    ClassPrediction,
    Generation,
    LabelsGold,
    LabelsPrediction,
    Mark,
    Rating,
    SampleScore,
    ScenesGold,
    ScenesPrediction,
    SpanPrediction,
    SpanSample,
    Text,
    ValuesGold,
)

GOOD = '{"id": "a", "text": "so glad", "spans": [[3, 7]]}'


def put(folder: Path, content: str | bytes, name: str = "gold.jsonl") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refusal(path: Path | str, kind: type[Any] = SpanSample) -> list[str]:
    """The problems of a file, without its folder."""
    with pytest.raises(BadInput) as caught:
        read(path, kind)
    return [problem.replace(f"{Path(path).parent}/", "") for problem in caught.value.problems]


def line_refusal(folder: Path, line: str, kind: type[Any] = SpanSample) -> str:
    """What is wrong with a single line."""
    (problem,) = refusal(put(folder, line, "x.jsonl"), kind)
    place, _, reason = problem.partition(": ")
    assert place == "x.jsonl:1"
    return reason


def test_a_good_file_gives_its_records_and_their_lines(tmp_path: Path) -> None:
    second = SpanSample(id="b", text="not", spans=())
    found = read(put(tmp_path, f'{GOOD}\n\n  \n{{"id": "b", "text": "not", "spans": []}}'), SpanSample)
    assert found.records == [SpanSample(id="a", text="so glad", spans=(Mark(3, 7),)), second]
    assert found.lines == [1, 4]
    assert found.skipped == ()


@pytest.mark.parametrize("ending", ["\n", "\r\n", ""])
@pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF8])
def test_a_byte_order_mark_and_windows_line_ends_are_accepted(tmp_path: Path, mark: bytes, ending: str) -> None:
    found = read(put(tmp_path, mark + (GOOD + ending).encode()), SpanSample)
    assert found.records == [SpanSample(id="a", text="so glad", spans=(Mark(3, 7),))]


def test_unknown_fields_are_passed_over(tmp_path: Path) -> None:
    line = '{"id": "a", "label": "joy", "text": "t", "source": {"page": 3}}'
    (record,) = read(put(tmp_path, line), ClassPrediction).records
    assert record == ClassPrediction(id="a", label="joy")


@pytest.mark.parametrize(
    ("written", "taken"),
    [
        ("1", "1"),
        ("1.5", "1.5"),
        ("1.50", "1.5"),
        ("1.0", "1"),
        ("-0", "0"),
        ("1e3", "1000"),
        ("1e-7", "0.0000001"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ('"007"', "007"),
    ],
)
def test_a_number_as_id_is_taken_as_its_decimal_string(tmp_path: Path, written: str, taken: str) -> None:
    (record,) = read(put(tmp_path, f'{{"id": {written}, "score": 1}}'), SampleScore).records
    assert record.id == taken


@pytest.mark.parametrize("identifier", ["true", "null", "[1]", "{}", '""'])
def test_an_id_that_is_neither_string_nor_number_is_refused(tmp_path: Path, identifier: str) -> None:
    assert line_refusal(tmp_path, f'{{"id": {identifier}, "score": 1}}', SampleScore).startswith("`id` ")


def test_a_number_and_the_string_of_it_are_one_id(tmp_path: Path) -> None:
    path = put(tmp_path, '{"id": 1, "score": 1}\n{"id": "1", "score": 2}', "s.jsonl")
    assert refusal(path, SampleScore) == ["s.jsonl:2: duplicate id '1', repeat 0: already on line 1"]


def test_predictions_may_share_an_id_but_not_an_id_and_a_repeat(tmp_path: Path) -> None:
    line = '{"id": "a", "spans": []}\n{"id": "a", "spans": [], "repeat": 1}\n'
    assert len(read(put(tmp_path, line, "p.jsonl"), SpanPrediction).records) == 2
    path = put(tmp_path, line + '{"id": "a", "spans": ["x"]}', "p.jsonl")
    assert refusal(path, SpanPrediction) == ["p.jsonl:3: duplicate id 'a', repeat 0: already on line 1"]


def test_a_rater_rates_an_item_once_and_may_have_a_number_for_a_name(tmp_path: Path) -> None:
    line = '{"item": 1, "rater": 7, "label": 3}\n{"item": 1, "rater": 8, "label": "x"}\n'
    found = read(put(tmp_path, line), Rating).records
    assert found[0] == Rating(item="1", rater="7", label="3")
    path = put(tmp_path, line + '{"item": 1, "rater": "7", "label": "y"}', "r.jsonl")
    assert refusal(path, Rating) == ["r.jsonl:3: duplicate item '1', rater '7': already on line 1"]


def test_a_text_may_be_generated_by_several_models(tmp_path: Path) -> None:
    line = json.dumps({"id": 1, "model": "m", "target": "joy", "original": "o", "neutral": "n", "emotional": "e"})
    other = line.replace('"model": "m"', '"model": "k"')
    assert [r.model for r in read(put(tmp_path, f"{line}\n{other}"), Generation).records] == ["m", "k"]
    assert "duplicate id '1', model 'm'" in refusal(put(tmp_path, f"{line}\n{line}"), Generation)[0]


@pytest.mark.parametrize(
    ("spans", "reason"),
    [
        ("[[3, 1]]", "span [3, 1] ends before it starts"),
        ("[[1, 1]]", "span [1, 1] is empty"),
        ("[[-1, 1]]", "span [-1, 1] starts before the text"),
        ("[[0, 5]]", "span [0, 5] ends past the text, which has 4 characters"),
        ("[[4, 1000000000000000000000000000000000000000]]", "ends past the text, which has 4 characters"),
        (
            '[{"start": 0, "end": 1, "label": "joy", "score": 1}, {"start": 0, "end": 1, "label": "joy", "score": 2}]',
            "span [0, 1] stands twice with the label 'joy'",
        ),
        ("[[0, 1.0]]", "`spans[0][1]` must be a whole number, not 1.0"),
        ("[[0, true]]", "`spans[0][1]` must be a whole number, not true"),
        ("[[0, null]]", "`spans[0][1]` must be a whole number, not null"),
        ('[["0", 1]]', "`spans[0][0]` must be a whole number, not the string '0'"),
        ("[[0, 1, 2]]", "`spans[0][2]` must be a string, not 2"),
        ("[[]]", "`spans[0]` must be [start, end] or [start, end, label], not a list of 0"),
        ('[[0, 1, "joy", 0.5]]', "`spans[0]` must be [start, end] or [start, end, label], not a list of 4"),
        ('[[0, 1, " "]]', "span [0, 1] has an empty label: leave it out"),
        ('[[0, 1], {"start": 0}]', "`end` is missing in `spans[1]`"),
        ('[{"start": "0", "end": 1}]', "`spans[0]['start']` must be a whole number, not the string '0'"),
        ('[{"start": 0, "end": 1, "score": "high"}]', "`spans[0]['score']` must be a number, not the string 'high'"),
        ('[{"start": 0, "end": 1, "attributes": []}]', "`spans[0]['attributes']` must be an object, not a list"),
        ('[{"start": 0, "end": 9, "label": "joy"}]', "span [0, 9] ends past the text, which has 4 characters"),
        ("[0, 1]", "`spans[0]` must be a list, not 0"),
        ('"glad"', "`spans` must be a list, not the string 'glad'"),
        ('{"start": 0}', "`spans` must be a list, not an object"),
    ],
)
def test_gold_spans_are_offsets_in_the_text_each_with_a_label_once(tmp_path: Path, spans: str, reason: str) -> None:
    assert reason in line_refusal(tmp_path, f'{{"id": "a", "text": "abcd", "spans": {spans}}}')


def test_a_span_given_twice_is_kept_once_and_told_and_relations_go_along(tmp_path: Path) -> None:
    spans = '[[2, 4, "fear"], [2, 4, "fear"], [0, 1, "joy"]]'
    ties = '[{"from": 1, "to": 2, "label": "cause"}]'
    path = put(tmp_path, f'{{"id": "a", "text": "abcd", "spans": {spans}, "relations": {ties}}}')
    got = read(path, SpanSample)
    assert got.remarks == (f"{path}: 1 span given twice with the same label: kept once",)
    fear, joy = got.records[0].spans or ()
    assert (fear.start, fear.end, fear.attributes["relations"]) == (2, 4, [{"to": "T2", "type": "cause"}])
    assert (joy.start, joy.end, joy.attributes) == (0, 1, {"id": "T2"})


def test_spans_may_touch_reach_both_ends_and_come_in_any_order(tmp_path: Path) -> None:
    (record,) = read(put(tmp_path, '{"id": "a", "text": "abcd", "spans": [[2, 4], [0, 2]]}'), SpanSample).records
    assert record.spans == (Mark(2, 4), Mark(0, 2))


def test_spans_may_overlap_stand_inside_others_and_have_several_labels(tmp_path: Path) -> None:
    spans = '[[0, 3], [1, 4, "joy"], [1, 4, "fear"], {"start": 2, "end": 3, "score": 0.5, "attributes": {"by": 7}}]'
    (record,) = read(put(tmp_path, f'{{"id": "a", "text": "abcd", "spans": {spans}}}'), SpanSample).records
    said = (Mark(0, 3), Mark(1, 4, "joy"), Mark(1, 4, "fear"), Mark(2, 3, None, 0.5, {"by": 7}))
    assert record.spans == said


def test_a_text_of_which_no_span_is_said_is_unlabelled_and_one_without_spans_is_not(tmp_path: Path) -> None:
    lines = '{"id": 1, "text": "t"}\n{"id": 2, "text": "t", "spans": null}\n{"id": 3, "text": "t", "spans": []}'
    assert [record.spans for record in read(put(tmp_path, lines), SpanSample).records] == [None, None, ()]


def test_an_annotator_says_a_list_of_spans_or_an_object_with_one(tmp_path: Path) -> None:
    said = '{"A": [[0, 1]], "B": {"spans": [[0, 2, "joy"]]}, "C": {"label": "joy"}, "D": null, "E": {"spans": []}}'
    (record,) = read(put(tmp_path, f'{{"id": "a", "text": "abcd", "annotators": {said}}}'), SpanSample).records
    assert record.annotators == {"A": (Mark(0, 1),), "B": (Mark(0, 2, "joy"),), "E": ()}


@pytest.mark.parametrize("said", ['{"A": {"spans": 3}}', '{"A": 3}', '{"A": {"spans": [{"start": 0}]}}'])
def test_an_annotator_who_says_something_else_is_refused(tmp_path: Path, said: str) -> None:
    line = f'{{"id": "a", "text": "abcd", "spans": [], "annotators": {said}}}'
    assert "annotators" in line_refusal(tmp_path, line)


@pytest.mark.parametrize("kind", [SpanSample, LabelsGold, Text])
def test_a_text_without_an_id_has_the_number_of_its_line(tmp_path: Path, kind: type[Any]) -> None:
    lines = '\n{"text": "one"}\n{"id": null, "text": "two"}\n{"id": 7, "text": "three"}'
    assert [record.id for record in read(put(tmp_path, lines), kind).records] == ["2", "3", "7"]


def test_a_number_of_a_line_that_is_taken_is_a_duplicate(tmp_path: Path) -> None:
    path = put(tmp_path, '{"id": 2, "text": "one"}\n{"text": "two"}', "t.jsonl")
    assert refusal(path, Text) == ["t.jsonl:2: duplicate id '2': already on line 1"]


def test_without_a_text_an_id_is_asked_for(tmp_path: Path) -> None:
    assert line_refusal(tmp_path, '{"labels": ["joy"]}', LabelsGold) == "`id` is missing"


def test_own_columns_are_kept_as_they_are(tmp_path: Path) -> None:
    own = {"turn": 3, "speaker": "Ann", "of": [1, {"a": None}]}
    line = json.dumps({"id": "a", "text": "t", "label": "joy", "subject": "Bo", "meta": own})
    (record,) = read(put(tmp_path, line), ClassGold).records
    assert (record.subject, record.meta) == ("Bo", own)
    assert "`meta` must be an object" in line_refusal(tmp_path, line.replace(json.dumps(own), "[]"), ClassGold)


def test_offsets_count_code_points(tmp_path: Path) -> None:
    text = "\U0001f602 e\u0301\u200b\u202e"  # an emoji, a space, a combining accent, zero width, right to left
    line = {"id": "a", "text": text, "spans": [[0, 1], [2, 6]]}
    for ascii_only in (False, True):
        path = put(tmp_path, json.dumps(line, ensure_ascii=ascii_only))
        assert read(path, SpanSample).records[0].text == text
        assert len(text) == 6
    assert "has 6 characters" in line_refusal(tmp_path, json.dumps(line | {"spans": [[0, 7]]}))


@pytest.mark.parametrize(
    ("sentences", "reason"),
    [
        ([[0, 2], [1, 4]], "sentence [1, 4] starts before the one ahead of it ends, at 2"),
        ([[2, 4], [0, 2]], "sentence [0, 2] starts before the one ahead of it ends, at 4"),
        ([[0, 9]], "sentence [0, 9] ends past the text, which has 4 characters"),
        ([[2, 2]], "sentence [2, 2] is empty"),
    ],
)
def test_sentences_lie_in_the_text_in_order(tmp_path: Path, sentences: list[list[int]], reason: str) -> None:
    parts = [{"start": start, "end": end} for start, end in sentences]
    assert line_refusal(tmp_path, json.dumps({"id": "a", "text": "abcd", "spans": [], "sentences": parts})) == reason


def test_the_spans_of_annotators_obey_the_same_rules(tmp_path: Path) -> None:
    line = {"id": "a", "text": "abcd", "spans": [], "annotators": {"A1": [[0, 1]], "A2": [[3, 9]]}}
    assert line_refusal(tmp_path, json.dumps(line)).startswith("annotator 'A2': span [3, 9] ends past the text")
    line["annotators"] = {"A1": [[0, 1]], "A2": [[0, "x"]]}
    assert line_refusal(tmp_path, json.dumps(line)).startswith("`annotators['A2'][0][1]` must be a whole number")


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ("", "needs `spans` (a list of strings or of spans), or `output` with `style`"),
        (', "spans": [], "output": "x", "style": "retrieve"', "has both `spans` and `output`: leave one out"),
        (', "output": "x"', "`output` needs `style`: retrieve or highlight"),
        (', "output": "x", "style": "Retrieve"', "`style` must be retrieve or highlight, not 'Retrieve'"),
        (', "spans": [3]', "`spans[0]` must be a string or a span, not 3"),
        (', "spans": ["so", [3, 2]]', "span [3, 2] ends before it starts"),
        (', "spans": [{"start": 3}]', "`end` is missing in `spans[0]`"),
        (', "spans": [], "repeat": -1', "`repeat` must be from 0 to 2147483647, not -1"),
        (', "spans": [], "repeat": 1.0', "`repeat` must be a whole number, not 1.0"),
        (', "spans": [], "cot": 1', "`cot` must be true or false, not 1"),
    ],
)
def test_a_span_prediction_has_spans_or_an_output_with_its_style(tmp_path: Path, fields: str, reason: str) -> None:
    assert line_refusal(tmp_path, f'{{"id": "a"{fields}}}', SpanPrediction) == reason


def test_a_model_may_have_said_nothing(tmp_path: Path) -> None:
    (record,) = read(put(tmp_path, '{"id": "a", "output": "", "style": "highlight"}'), SpanPrediction).records
    assert record.output == ""


@pytest.mark.parametrize("value", ["2", "-1", "true", "1.0", '"1"', "null"])
def test_scene_labels_are_0_or_1(tmp_path: Path, value: str) -> None:
    assert "'joy'" in line_refusal(tmp_path, f'{{"id": "a", "labels": {{"fear": 1, "joy": {value}}}}}', ScenesGold)


def test_all_records_of_scenes_have_the_same_labels(tmp_path: Path) -> None:
    first, second = '{"id": 1, "labels": {"joy": 1, "fear": 0}}', '{"id": 2, "labels": {"fear": 0, "joy": 1}}'
    assert len(read(put(tmp_path, f"{first}\n{second}"), ScenesGold).records) == 2
    path = put(tmp_path, f'{first}\n{{"id": 3, "labels": {{"joy": 1}}}}', "g.jsonl")
    assert refusal(path, ScenesGold) == ["g.jsonl:2: label 'fear' is missing (it is among those of line 1)"]
    path = put(tmp_path, f'{first}\n{{"id": 3, "labels": {{"joy": 1, "fear": 1, "awe": 0}}}}', "g.jsonl")
    assert refusal(path, ScenesGold) == ["g.jsonl:2: label 'awe' is not among those of line 1"]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ("", "needs `labels` or `scores`"),
        (', "scores": {}', "`scores` has no label"),
        (', "scores": {"joy": [1]}', "`scores['joy']` must be a list of 2, not of 1"),
        (', "scores": {"joy": [1, 1e400]}', "holds a number that is out of range"),
        (', "scores": {"joy": [1, NaN]}', "not JSON: NaN is no number there (write null, or leave the record out)"),
        (', "scores": {"joy": [-Infinity, 1]}', "not JSON: -Infinity is no number there"),
        (', "scores": {"joy": [0, 1]}, "labels": {"fear": 1}', "`scores`: label 'fear' is missing"),
        (', "labels": {"joy": 1}, "confidence": {"joy": 6}', "`confidence`: 'joy' must be from 1 to 5, not 6"),
        (', "labels": {"joy": 1}, "confidence": {"awe": 5}', "`confidence`: 'awe' is not among the labels"),
        (', "scores": {"joy": [1, 0]}, "hard": true', "`hard`: an answer in words has no `scores`"),
        (
            ', "labels": {"joy": 1}, "hard": true, "censored": {"joy": "no"}',
            "`hard`: an answer in words has no `censored`",
        ),
        (', "labels": {"joy": 1}, "hard": true, "unanswered": ["awe"]', "`unanswered`: 'awe' is not among the labels"),
    ],
)
def test_scenes_predictions_have_labels_or_finite_scores(tmp_path: Path, fields: str, reason: str) -> None:
    assert line_refusal(tmp_path, f'{{"id": "a"{fields}}}', ScenesPrediction).startswith(reason)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        (', "labels": {"joy": 0.2}, "unanswered": ["joy"]', "`unanswered` stands beside a list"),
        (', "labels": ["joy"], "unanswered": ["joy"]', "`unanswered`: 'joy' is among the labels given"),
    ],
)
def test_labels_without_an_answer_stand_beside_a_list_and_not_in_it(tmp_path: Path, fields: str, reason: str) -> None:
    assert line_refusal(tmp_path, f'{{"id": "a"{fields}}}', LabelsPrediction).startswith(reason)
    kept = read(put(tmp_path, '{"id": "a", "labels": ["joy"], "unanswered": ["fear"]}'), LabelsPrediction).records[0]
    assert kept.unanswered == ("fear",)


def test_a_prediction_may_be_no_answer(tmp_path: Path) -> None:
    """So that what a model refused can stand in the file beside what it answered."""
    content = '{"id": 1, "labels": {"joy": 1}}\n{"id": 2, "labels": {}}\n{"id": 3, "labels": {"joy": 0}}'
    assert [r.labels for r in read(put(tmp_path, content), ScenesPrediction).records] == [{"joy": 1}, {}, {"joy": 0}]
    assert read(put(tmp_path, '{"id": 1, "label": ""}'), ClassPrediction).records[0].label == ""
    assert "`label` is empty" in line_refusal(tmp_path, '{"id": 1, "label": "", "text": "t"}', ClassGold)


def test_scores_and_gold_labels_may_stand_side_by_side(tmp_path: Path) -> None:
    line = '{"id": "a", "scores": {"joy": [2, -1.5]}, "labels": {"joy": 1}}'
    (record,) = read(put(tmp_path, line), ScenesPrediction).records
    assert (record.scores, record.labels) == ({"joy": (2.0, -1.5)}, {"joy": 1})


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ("", "needs `label` or `probs`"),
        (', "probs": {}', "`probs` has no label"),
        (', "probs": {"joy": -0.1}', "`probs`: 'joy' must be from 0 to 1, not -0.1"),
        (', "probs": {"joy": 1.1}', "`probs`: 'joy' must be from 0 to 1, not 1.1"),
    ],
)
def test_a_class_prediction_has_a_label_or_probabilities(tmp_path: Path, fields: str, reason: str) -> None:
    assert line_refusal(tmp_path, f'{{"id": "a"{fields}}}', ClassPrediction) == reason


def test_null_stands_for_an_optional_field_that_is_left_out(tmp_path: Path) -> None:
    line = (
        '{"id": "a", "text": "t", "spans": [], "emotion": null, "valence": "", "sentences": null, "annotators": null}'
    )
    assert read(put(tmp_path, line), SpanSample).records == [SpanSample(id="a", text="t", spans=())]


def test_the_attempts_of_a_chain_are_records_themselves(tmp_path: Path) -> None:
    line = '{"id": 1, "text": "t", "label": "joy", "attempts": [{"text": "u", "predicted": "joy"}, {"text": "v"}]}'
    assert line_refusal(tmp_path, line, Chain) == "`predicted` is missing in `attempts[1]`"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("[1]", "a record must be an object in braces, not a list"),
        ("3", "a record must be an object in braces, not 3"),
        ("null", "a record must be an object in braces, not null"),
        ('{"id": "a"', "not JSON: it ends too early (each line must hold one whole object)"),
        ("{'id': 1}", "not JSON: object keys must be strings at byte 2"),
        ('{"id": "\\ud800"}', "holds half of a surrogate pair (an escape such as \\ud800), which is no character"),
        ("[" * 100_000, "nested too deeply"),
        ('{"x": ' * 100_000, "nested too deeply"),
        ('{"id": "a\x00b"}', "not JSON: invalid character at byte 10"),
        ('{"id": "a", "spans": []}', "`text` is missing"),
    ],
)
def test_a_line_that_is_no_record_is_refused_in_plain_words(tmp_path: Path, line: str, reason: str) -> None:
    assert line_refusal(tmp_path, line) == reason


def test_an_escaped_null_character_is_text(tmp_path: Path) -> None:
    (record,) = read(put(tmp_path, '{"id": "a", "text": "a\\u0000b", "spans": [[1, 2]]}'), SpanSample).records
    assert record.text == "a\0b"


def test_a_line_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    content = GOOD.encode() + b'\n{"id": "b", "text": "caf\xe9", "spans": []}\n'
    assert refusal(put(tmp_path, content)) == ["gold.jsonl:2: not UTF-8: byte 0xe9 at byte 25"]


@pytest.mark.parametrize("name", ["gold.jsonl", "gold.csv"])
def test_a_file_in_utf16_is_told_what_it_is(tmp_path: Path, name: str) -> None:
    assert refusal(put(tmp_path, GOOD.encode("utf-16"), name)) == [
        f"{name}:1: not UTF-8 but UTF-16: save the file as UTF-8"
    ]


def test_what_a_message_quotes_cannot_act_on_the_terminal(tmp_path: Path) -> None:
    line = json.dumps({"id": "a", "labels": {"\x1b[31m\n\u202e": 5}})
    assert line_refusal(tmp_path, line, ScenesGold) == r"`labels`: '\x1b[31m\n\u202e' must be 0 or 1, not 5"


def test_nor_can_the_name_of_a_file(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as caught:
        read(put(tmp_path, "x", "a\x1b[1m\nb.jsonl"), SpanSample)
    assert caught.value.problems[0].endswith(r"a\x1b[1m\nb.jsonl:1: not JSON: invalid character at byte 1")


@pytest.mark.parametrize("name", ["x.jsonl", "x.csv", "x.tsv"])
@pytest.mark.parametrize("content", ["", "\n", "\r\n\r\n"])
def test_a_file_without_a_record_is_refused(tmp_path: Path, name: str, content: str) -> None:
    assert refusal(put(tmp_path, content, name)) == [f"{name}:1: there is no record in the file"]


def test_a_missing_file_a_folder_and_an_unknown_ending_are_named(tmp_path: Path) -> None:
    assert refusal(tmp_path / "no.jsonl") == ["no.jsonl: there is no such file"]
    (tmp_path / "folder.jsonl").mkdir()
    assert refusal(tmp_path / "folder.jsonl") == ["folder.jsonl: is a folder, not a file"]
    (problem,) = refusal(put(tmp_path, GOOD, "gold.json"))
    assert problem.startswith("gold.json: unknown ending '.json'")
    assert problem.endswith(".jsonl, .csv, .tsv, .parquet")
    assert refusal(put(tmp_path, GOOD, "gold"))[0].startswith("gold: the name has no ending")
    assert len(read(put(tmp_path, GOOD, "GOLD.JSONL"), SpanSample).records) == 1


def test_a_file_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    path = tmp_path / "circle.jsonl"
    path.symlink_to(path)
    assert refusal(path) == ["circle.jsonl: cannot be read: too many levels of symbolic links"]


def test_the_first_20_problems_are_shown_and_the_rest_counted(tmp_path: Path) -> None:
    problems = refusal(put(tmp_path, "x\n" * 120))
    assert len(problems) == MOST_PROBLEMS + 1
    assert problems[19].startswith("gold.jsonl:20: ")
    assert problems[20] == "... and 100 more problems"
    assert refusal(put(tmp_path, "x\n" * 21))[20] == "... and 1 more problem"
    assert len(refusal(put(tmp_path, "x\n" * 20))) == 20


def test_skip_bad_keeps_the_good_records_and_reports_the_others(tmp_path: Path) -> None:
    content = f'x\n{GOOD}\n{GOOD}\n{{"id": "b", "text": "t", "spans": []}}\n'
    found = read(put(tmp_path, content), SpanSample, skip_bad=True)
    assert [(record.id, line) for record, line in zip(found.records, found.lines, strict=True)] == [("a", 2), ("b", 4)]
    assert [problem.rpartition("gold.jsonl:")[2] for problem in found.skipped] == [
        "1: not JSON: invalid character at byte 1",
        "3: duplicate id 'a': already on line 2",
    ]


def test_skip_bad_does_not_turn_a_file_without_a_good_record_into_an_empty_one(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as caught:
        read(put(tmp_path, "x\n"), SpanSample, skip_bad=True)
    assert caught.value.problems[-1].endswith("gold.jsonl:1: there is no good record in the file")


def test_a_bad_record_does_not_take_its_id_from_a_good_one(tmp_path: Path) -> None:
    found = read(put(tmp_path, f'{{"id": "a", "text": 3}}\n{GOOD}'), SpanSample, skip_bad=True)
    assert found.lines == [2]


def test_a_limit_stops_reading(tmp_path: Path) -> None:
    assert read(put(tmp_path, f"{GOOD}\nnot looked at"), SpanSample, limit=1).lines == [1]


def test_a_text_of_a_megabyte_is_read_from_every_format(tmp_path: Path) -> None:
    text = "word " * 220_000
    path = put(tmp_path, json.dumps({"id": "a", "text": text, "spans": [[1_000_000, 1_000_004]]}))
    assert read(path, SpanSample).records[0].text == text
    path = put(tmp_path, f'id,text,spans\na,{text},"[[0, 4]]"', "gold.csv")
    assert read(path, SpanSample).records[0].text == text


def test_a_dash_is_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(f"{GOOD}\nx\n".encode())))
    assert read("-", SpanSample, limit=1).records[0].id == "a"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(f"{GOOD}\nx\n".encode())))
    with pytest.raises(BadInput, match=r"^-:2: not JSON"):
        read("-", SpanSample)


def test_a_pipe_needs_no_ending(tmp_path: Path) -> None:
    source, sink = os.pipe()
    os.write(sink, GOOD.encode())
    os.close(sink)
    try:
        assert read(f"/dev/fd/{source}", SpanSample).records[0].id == "a"
    finally:
        os.close(source)


def test_reading_takes_a_small_multiple_of_parsing_the_json_alone(tmp_path: Path) -> None:
    """Both in the same run, so that a busy machine does not fail it."""
    line = '{"id": %d, "text": "The cat sat happily on the mat and purred.", "spans": [[4, 19]], "emotion": "happy"}'
    path = put(tmp_path, "\n".join(line % number for number in range(20_000)))
    started = time.process_time()
    plain = [json.loads(each) for each in path.read_bytes().splitlines()]
    between = time.process_time()
    assert len(read(path, SpanSample).records) == len(plain)
    assert time.process_time() - between < 10 * (between - started)


def test_importing_the_formats_loads_neither_duckdb_nor_numpy() -> None:
    code = "import sys, emotui.formats; print(*{'duckdb', 'numpy', 'torch'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


KEYS = ("id", "text", "labels", "label", "given", "unanswered", "values", "spans", "annotators", "meta", "subject", "x")
VALUES = (
    *('"a"', '""', "null", "1", "2.5", "true", '"gl\\u00e4d"', '"\\ud83d\\ude00"', '"\\ud83d"', "[]", '["joy"]'),
    *(
        '["joy", "joy"]',
        '[""]',
        '{"joy": 1}',
        '{"joy": 0.3, "fear": 1}',
        '{"v": 1e400}',
        "NaN",
        '{"meta": {}}',
        "[[0, 1]]",
    ),
)
FITTING = {
    **dict.fromkeys(("id", "text", "label", "subject"), '"a"'),
    **dict.fromkeys(("given", "unanswered", "spans"), "[]"),
    **{"values": '{"v": 1}', "annotators": "{}", "meta": '{"k": 2}', "x": '{"meta": {}}'},
}


@pytest.mark.parametrize("kind", [LabelsGold, LabelsPrediction, ClassGold, ClassPrediction, ScenesGold, ValuesGold])
def test_a_line_read_at_once_is_the_record_of_its_row(kind: type[Any]) -> None:
    draw, at_once, agreed = random.Random(kind.__name__), line_decoder(kind), 0
    assert at_once is not None
    for _ in range(8000):
        keys = draw.sample(KEYS, draw.randint(1, 6))
        keys += [key for key in ("id", "labels", "text") if key not in keys and draw.random() < 0.9]
        fit = FITTING | {"labels": draw.choice(('["joy"]', '{"joy": 1}', '{"joy": 0.25}'))}
        pairs = [f'"{key}": {fit[key] if draw.random() < 0.9 else draw.choice(VALUES)}' for key in keys]
        line = ("{" + ", ".join(pairs) + "}").replace("labels", draw.choice(("labels", "labels", "l\\u0061bels")))
        record = at_once.decode(line.encode()) if at_once.plain(line.encode()) else None
        if record is not None:
            row = jsonl.decode(line.encode())
            assert isinstance(row, dict), line
            assert record == to_record(kind, row, 1), line
            agreed += 1
    assert agreed > 80


def test_a_line_is_not_read_at_once_where_a_field_nobody_knows_is_not_utf8() -> None:
    at_once = line_decoder(LabelsGold)
    assert at_once is not None
    assert not at_once.plain(b'{"id": "a", "text": "b", "x": "\xff"}')


def test_a_line_that_needs_a_look_leaves_those_around_it_as_they_are(tmp_path: Path) -> None:
    # Lines are looked through together, and the first ones in small batches: the odd one may stand anywhere in one.
    plain = [f'{{"id": "{number}", "labels": ["joy"]}}\n' for number in range(3000)]
    odd = {7: '{"id": 7, "labels": ["joy"]}\n', 8: "\n", 1500: '{"id": "1500", "l\\u0061bels": ["joy"]}\n'}
    odd[2900] = '{"id": "2900", "labels": ["joy"], "x": 1234567890123456789}\n'
    file = tmp_path / "p.jsonl"
    file.write_text("".join(odd.get(place, line) for place, line in enumerate(plain)))
    got = read(file, LabelsPrediction)
    assert [record.id for record in got.records] == [str(number) for number in range(3000) if number != 8]
    assert got.lines == [number for number in range(1, 3001) if number != 9]
    file.write_bytes(file.read_bytes() + b'{"id": "\xff"}\n' + b"{\n" + b"x" * (32 * 2**20 + 1))
    with pytest.raises(BadInput) as refused:
        read(file, LabelsPrediction)
    assert refused.value.problems == (f"{file}:3003: {too_long()}",)
    file.write_bytes(file.read_bytes()[: -32 * 2**20 - 1])
    with pytest.raises(BadInput) as refused:
        read(file, LabelsPrediction)
    assert [problem.split(": ")[0] for problem in refused.value.problems] == [f"{file}:3001", f"{file}:3002"]


def test_who_asks_for_few_records_of_a_pipe_waits_for_no_more() -> None:
    at_once, asked = line_decoder(LabelsPrediction), []

    def lines() -> Iterator[bytes]:
        for number in range(1000):
            asked.append(number)
            yield b'{"id": "%d", "labels": ["joy"]}\n' % number

    assert [line for line, _ in itertools.islice(jsonl.rows(lines(), at_once), 1)] == [1]
    assert len(asked) == 1
