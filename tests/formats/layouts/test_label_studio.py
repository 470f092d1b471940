"""Label Studio's exports are read as what its annotators said, and rows survive being written for it."""

import csv
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emotui.formats.layouts.layout import HEAD, ReadOptions
from emotui.formats.layouts.registry import LAYOUTS
from emotui.formats.layouts.tools.label_studio import LAYOUT
from emotui.formats.layouts.tools.label_studio import MINIMAL as MIN
from emotui.formats.rows import Flaw, UnreadableFile
from tests.formats.layouts.made import NAMES, NUMBERS, TEXTS, read_all, recognised, spans_of, written_and_read

FULL = """[{"id":7,"annotations":[{"id":11,"completed_by":1,"result":[
 {"value":{"start":2,"end":8,"text":"afraid","labels":["fear"]},"id":"gew3t9fgkg","from_name":"label","to_name":"text","type":"labels","origin":"manual"},
 {"value":{"start":2,"end":8,"text":"afraid","choices":["strong"]},"id":"gew3t9fgkg","from_name":"strength","to_name":"text","type":"choices","origin":"manual"},
 {"value":{"start":13,"end":16,"text":"sad","labels":["sadness","grief"]},"id":"k7","from_name":"label","to_name":"text","type":"labels","origin":"manual"},
 {"from_id":"gew3t9fgkg","to_id":"k7","type":"relation","direction":"right","labels":["causes"]},
 {"value":{"rating":4},"id":"r1","from_name":"arousal","to_name":"text","type":"rating","origin":"manual"},
 {"value":{"choices":["negative"]},"id":"c1","from_name":"sentiment","to_name":"text","type":"choices","origin":"manual"}
 ],"was_cancelled":false,"ground_truth":false,"created_at":"2021-03-09T22:16:08.728353Z","lead_time":4.288}],
 "file_upload":"x.csv","drafts":[],"predictions":[],"data":{"text":"😀afraid and sad","source":"web"},"meta":{},
 "created_at":"2021-03-09T21:52:49.513742Z","project":83},
{"id":8,"annotations":[],"predictions":[],"data":{"text":"","source":"web"}}]"""


def test_the_full_export_is_read_with_its_utf16_offsets_its_controls_and_its_relations(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(FULL, encoding="utf-8")
    assert recognised(LAYOUT, tmp_path / "x.json")
    first, second = read_all(LAYOUT, tmp_path / "x.json")
    fear = {"strength": "strong", "id": "gew3t9fgkg", "relations": [{"to": "k7", "type": "causes"}]}
    assert first == {
        "id": "7",
        "text": "😀afraid and sad",
        "spans": [
            {"start": 1, "end": 7, "label": "fear", "attributes": fear},
            {"start": 12, "end": 15, "label": "sadness", "attributes": {"id": "k7"}},
            {"start": 12, "end": 15, "label": "grief", "attributes": {"id": "k7"}},
        ],
        "values": {"arousal": 4},
        "label": "negative",
        "meta": {"source": "web"},
    }
    assert second == {"id": "8", "text": "", "meta": {"source": "web"}}


def test_an_export_survives_being_written(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(FULL, encoding="utf-8")
    rows = read_all(LAYOUT, tmp_path / "x.json")
    lost, read = written_and_read(LAYOUT, tmp_path / "y.json", [row for row in rows if isinstance(row, dict)])
    assert (lost, read) == ([], rows)


def _task(text: str, *spans: dict[str, Any], by: Any = 1, **more: Any) -> dict[str, Any]:
    results = [{"type": "labels", "from_name": "l", "to_name": "text", "value": span} for span in spans]
    return {"id": 1, "data": {"text": text}, "annotations": [{"completed_by": by, "result": results}], **more}


def _rows(tmp_path: Path, *tasks: Any) -> list[Any]:
    (tmp_path / "t.json").write_text(json.dumps(list(tasks)), encoding="utf-8")
    return read_all(LAYOUT, tmp_path / "t.json")


@pytest.mark.parametrize("start", [1, 2])
def test_offsets_count_code_points_or_utf16_units_by_the_text_that_they_claim(tmp_path: Path, start: int) -> None:
    (row,) = _rows(tmp_path, _task("😀ab", {"start": start, "end": start + 1, "text": "a", "labels": ["x"]}))
    assert row["spans"] == [{"start": 1, "end": 2, "label": "x"}]


def test_a_span_without_its_text_is_counted_as_those_beside_it_are(tmp_path: Path) -> None:
    told, untold = {"start": 2, "end": 3, "text": "a", "labels": ["x"]}, {"start": 3, "end": 4, "labels": ["y"]}
    (row,) = _rows(tmp_path, _task("😀abab", told, untold))
    assert [span["start"] for span in row["spans"]] == [1, 2]


def test_a_span_that_holds_another_text_in_either_counting_is_a_flaw_that_names_both(tmp_path: Path) -> None:
    (flaw,) = _rows(tmp_path, _task("abc", {"start": 0, "end": 2, "text": "bc\x1b", "labels": ["x"]}))
    assert flaw == Flaw(r"span [0, 2]: the file has 'bc\x1b' there, but its text has 'ab'")


def test_several_people_are_annotators_and_what_is_ground_truth_is_gold(tmp_path: Path) -> None:
    span = {"start": 0, "end": 1, "text": "a", "labels": ["x"]}
    task = _task("ab", span, by={"id": 3, "email": "a@b.c"})
    task["annotations"] += [
        {"completed_by": 2, "ground_truth": True, "result": []},
        {"completed_by": 4, "was_cancelled": True, "result": []},
    ]
    task["predictions"] = [{"model_version": "m1", "result": task["annotations"][0]["result"]}, 17]
    (row,) = _rows(tmp_path, task)
    said = {"spans": [{"start": 0, "end": 1, "label": "x"}]}
    assert row == {
        "id": "1",
        "text": "ab",
        "spans": [],
        "annotators": {"a@b.c": said, "2": {"spans": []}, "m1": said},
    }


def test_a_control_with_two_choices_in_one_task_gives_labels_in_all(tmp_path: Path) -> None:
    def task(*choices: str) -> dict[str, Any]:
        result = {"type": "choices", "from_name": "emotion", "to_name": "text", "value": {"choices": list(choices)}}
        return {"id": 1, "data": {"text": "a"}, "annotations": [{"completed_by": 1, "result": [result]}]}

    assert [row["labels"] for row in _rows(tmp_path, task("joy"), task("joy", "fear"))] == [["joy"], ["joy", "fear"]]
    assert [row["label"] for row in _rows(tmp_path, task("joy"), task("fear"))] == ["joy", "fear"]


def test_each_text_of_a_task_that_is_marked_is_a_row(tmp_path: Path) -> None:
    task = _task("a body", {"start": 2, "end": 6, "text": "body", "labels": ["x"]})
    task["data"]["title"] = "one title"
    marked = {"start": 4, "end": 9, "text": "title", "labels": ["y"]}
    task["annotations"][0]["result"].append({"type": "labels", "to_name": "title", "value": marked})
    body, title = _rows(tmp_path, task)
    assert (body["id"], body["spans"]) == ("1", [{"start": 2, "end": 6, "label": "x"}])
    assert title == {"id": "1:title", "text": "one title", "spans": [{"start": 4, "end": 9, "label": "y"}]}


MINIMAL = """[
{"text":"I love 😀 it","id":1,"label":[{"start":2,"end":6,"text":"love","labels":["joy"]}],"sentiment":"positive",
 "stars":[{"rating":5}],"annotator":1,"annotation_id":4,"created_at":"2022-01-01T00:00:00Z","lead_time":2.5},
{"text":"no","id":2,"sentiment":"negative","annotator":1,"annotation_id":5,"created_at":"","lead_time":1},
{"text":"no","id":2,"sentiment":{"choices":["negative","neutral"]},"annotator":2,"annotation_id":6,"lead_time":1}]"""


def test_json_min_is_read_and_the_records_of_one_task_are_one_row(tmp_path: Path) -> None:
    (tmp_path / "m.json").write_text(MINIMAL, encoding="utf-8")
    assert recognised(LAYOUT, tmp_path / "m.json")
    first, second = read_all(LAYOUT, tmp_path / "m.json")
    spans = [{"start": 2, "end": 6, "label": "joy"}]
    said = {"spans": spans, "labels": ["positive"], "values": {"stars": 5}}
    assert first == {"id": "1", "text": "I love 😀 it", **said, "annotators": {"1": said}}
    assert second["annotators"]["2"] == {"spans": [], "labels": ["negative", "neutral"]}


@pytest.mark.parametrize(
    ("document", "line", "reason"),
    [
        ('[{"data":{"text":"a"},\n"annotations":[', 2, "ends too early"),
        ("[1,\n2 3]", 2, "not JSON"),
        ('"annotations"', 1, "must be a list of objects"),
    ],
)
def test_a_broken_document_is_refused_with_its_line(tmp_path: Path, document: str, line: int, reason: str) -> None:
    (tmp_path / "b.json").write_text(document, encoding="utf-8")
    with pytest.raises(UnreadableFile, match=reason) as caught:
        read_all(LAYOUT, tmp_path / "b.json")
    assert caught.value.line in (line, 1)


def test_the_line_of_a_task_is_that_on_which_it_begins(tmp_path: Path) -> None:
    (tmp_path / "l.json").write_text('[\n\n{"data":{"text":"a"}},\n{"data":\n7},{"data":{"text":7}}]', encoding="utf-8")
    assert [(line, type(row)) for line, row in LAYOUT.rows(tmp_path / "l.json", ReadOptions())] == [
        (3, dict),
        (4, Flaw),
        (5, Flaw),
    ]


ATTRIBUTES = st.dictionaries(NAMES, NAMES | NUMBERS | st.lists(NAMES, max_size=2), max_size=2)


@st.composite
def said(draw: Callable[..., Any], text: str) -> dict[str, Any]:
    found: dict[str, Any] = {"spans": draw(spans_of(text, scores=True, attributes=ATTRIBUTES))}
    which = draw(st.sampled_from(["label", "labels", None]))
    if which:
        found[which] = draw(NAMES if which == "label" else st.lists(NAMES, max_size=2))
    if values := draw(st.dictionaries(NAMES, NUMBERS, max_size=2)):
        found["values"] = values
    return found


@st.composite
def files(draw: Callable[..., Any]) -> list[dict[str, Any]]:
    # One span at least: whether nothing is marked or nothing was to be is not told apart otherwise.
    rows: list[dict[str, Any]] = [{"id": "m", "text": "ab", "spans": [{"start": 0, "end": 1, "label": "x"}]}]
    for number in range(draw(st.integers(0, 3))):
        text = draw(TEXTS)
        row = {"id": draw(st.sampled_from([str(number), f"a{number}"])), "text": text, **draw(said(text))}
        if draw(st.booleans()):
            row["subject"] = draw(NAMES)
        if meta := draw(st.dictionaries(NAMES, NAMES | NUMBERS, max_size=2)):
            row["meta"] = meta
        if people := draw(st.dictionaries(NAMES, said(text), max_size=2)):
            row["annotators"] = people
        rows.append(row)
    return rows


@given(files())
def test_what_is_written_reads_back_equal(rows: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        assert written_and_read(LAYOUT, Path(folder) / "x.json", rows) == ([], rows)


def test_what_cannot_be_held_is_named(tmp_path: Path) -> None:
    rows = [
        {"id": "1", "text": "ab", "spans": [{"start": 0, "end": 1, "attributes": {"a": {"b": 1}}}]},
        {"id": "2", "text": "ab", "labels": {"joy": 0.7, "fear": 0.2}},
        {"id": "3", "text": "ab", "annotators": {"A": {"spans": []}}},
    ]
    lost, read = written_and_read(LAYOUT, tmp_path / "x.json", rows)
    assert len(lost) == 4
    assert [row["labels"] for row in read[1:2] if isinstance(row, dict)] == [["joy"]]


@st.composite
def minimal_files(draw: Callable[..., Any]) -> list[dict[str, Any]]:
    """What JSON-MIN holds: spans with their labels, labels, numbers, own columns; of several people and gold."""
    rows: list[dict[str, Any]] = [{"id": "m", "text": "ab", "spans": [{"start": 0, "end": 1, "label": "x"}]}]
    columns = st.sampled_from(["own", "page", "très"])
    for number in range(draw(st.integers(0, 3))):
        text = draw(TEXTS)

        def plain(text: str = text) -> dict[str, Any]:
            found: dict[str, Any] = {"spans": draw(spans_of(text))}
            which = draw(st.sampled_from(["label", "labels", None]))
            if which:
                found[which] = draw(NAMES if which == "label" else st.lists(NAMES, max_size=2))
            if values := draw(st.dictionaries(st.sampled_from(["valence", "own scale"]), NUMBERS, max_size=2)):
                found["values"] = values
            return found

        row = {"id": draw(st.sampled_from([str(number), f"a{number}"])), "text": text, **plain()}
        if meta := draw(st.dictionaries(columns, NAMES | NUMBERS, max_size=2)):
            row["meta"] = meta
        if draw(st.booleans()):
            row["subject"] = draw(NAMES)
        if people := draw(st.lists(st.sampled_from(["ann@b.c", "7", "Bo"]), unique=True, max_size=2)):
            row["annotators"] = {name: plain() for name in people}
        rows.append(row)
    return rows


@given(minimal_files())
def test_what_is_written_as_json_min_reads_back_equal(rows: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        assert written_and_read(MIN, Path(folder) / "x.json", rows) == ([], rows)
        assert next(one.name for one in LAYOUTS if one.recognise(Path(folder) / "x.json", _head(folder))) == LAYOUT.name


def _head(folder: str) -> bytes:
    return (Path(folder) / "x.json").read_bytes()[:HEAD]


def test_json_min_has_a_field_a_control_between_the_id_and_the_annotator(tmp_path: Path) -> None:
    span = {"start": 2, "end": 3, "label": "joy"}
    rows = [{"id": "4", "text": "a 😀", "meta": {"page": 3}, "spans": [span], "values": {"stars": 5}, "label": "yes"}]
    assert MIN.write is not None
    assert MIN.write(tmp_path / "m.json", rows) == []
    (item,) = json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))
    assert list(item) == ["text", "page", "id", "spans", "label", "stars", "annotator", "annotation_id"]
    assert item["spans"] == [{"start": 2, "end": 3, "text": "😀", "labels": ["joy"]}]
    assert (item["id"], item["label"], item["stars"], item["annotator"]) == (4, "yes", [{"number": 5}], None)


def test_what_json_min_cannot_hold_is_named(tmp_path: Path) -> None:
    rows = [
        {"id": "1", "text": "ab", "spans": [{"start": 0, "end": 1, "score": 0.5, "attributes": {"a": "b"}}]},
        {"id": "2", "text": "ab", "labels": {"joy": 0.7, "fear": 0.2}, "meta": {"annotator": "x"}},
        {"id": "3", "text": "ab", "annotators": {"A": {"spans": []}}},
        {"id": "4", "text": "ab", "values": {"text": 1}},
        {"id": "5", "text": "ab"},
    ]
    lost, read = written_and_read(MIN, tmp_path / "x.json", rows)
    assert [line.split(" (")[0] for line in lost] == [
        "scores",
        "attributes of spans",
        "own columns that are named like a field of the text",
        "whether spans are not said or there are none",
        "numbers by label",
        "that what one person alone says is not gold",
        "numbers that are named like a field of the text",
    ]
    assert [row["id"] for row in read if isinstance(row, dict)] == ["1", "2", "3", "4", "5"]


STAMPS = {"annotator": 1, "annotation_id": 3, "created_at": "x", "updated_at": "x", "lead_time": 1.5}
REGION = [{"start": 3, "end": 7, "text": "glad", "labels": ["joy"]}]
SHORT = [
    {"text": "so glad", "id": 7, "label": REGION, "sentiment": "positive", "rating": 4, **STAMPS},
    {"text": "not so", "id": 8, "sentiment": "negative", **STAMPS},
]
AS_READ = [
    {
        "id": "7",
        "text": "so glad",
        "spans": [{"start": 3, "end": 7, "label": "joy"}],
        "label": "positive",
        "values": {"rating": 4},
    },
    {"id": "8", "text": "not so", "spans": [], "label": "negative"},
]


def _in_order(folder: str | Path, order: list[str]) -> list[Any]:
    items = [{name: item[name] for name in order if name in item} for item in SHORT]
    file = Path(folder) / "x.json"
    file.write_text(json.dumps(items), encoding="utf-8")
    assert recognised(LAYOUT, file)
    return read_all(LAYOUT, file)


@pytest.mark.parametrize(
    "order",
    [
        list(SHORT[0]),
        sorted(SHORT[0]),
        ["id", *(name for name in SHORT[0] if name != "id")],
        [*(name for name in SHORT[0] if name != "label"), "label"],
        [*STAMPS, "id", "rating", "sentiment", "label", "text"],
    ],
)
def test_json_min_is_read_whatever_the_order_of_its_fields(tmp_path: Path, order: list[str]) -> None:
    assert _in_order(tmp_path, order) == AS_READ


@given(st.permutations(list(SHORT[0])))
def test_in_no_order_are_regions_anything_but_spans(order: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        first, second = _in_order(folder, order)
    assert (first["spans"], second["spans"]) == (AS_READ[0]["spans"], [])
    # Before the number and all else in its place, `sentiment` may be the task's own field.
    assert "positive" in (first.get("label"), first.get("meta", {}).get("sentiment"))


def test_the_csv_of_the_short_form_is_read_as_its_json(tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    with file.open("w", encoding="utf-8", newline="") as stream:
        table = csv.DictWriter(stream, list(SHORT[0]))
        table.writeheader()
        table.writerows(
            {name: json.dumps(value) if isinstance(value, list) else value for name, value in item.items()}
            for item in SHORT
        )
    assert next(one.name for one in LAYOUTS if one.recognise(file, file.read_bytes())) == LAYOUT.name
    assert read_all(LAYOUT, file) == AS_READ


def test_a_text_under_another_name_behind_the_number_is_no_control(tmp_path: Path) -> None:
    item = {"source": "web", "id": 7, "tweet": "so very glad", "label": [], **STAMPS}
    (tmp_path / "t.json").write_text(json.dumps([{**item, "label": [{"start": 8, "end": 12, "labels": ["joy"]}]}]))
    (row,) = read_all(LAYOUT, tmp_path / "t.json")
    assert isinstance(row, dict)
    assert (row["text"], row["spans"]) == ("so very glad", [{"start": 8, "end": 12, "label": "joy"}])


def test_the_short_form_without_what_label_studio_stamps_is_known_by_its_regions(tmp_path: Path) -> None:
    region = {"start": 5, "end": 9, "text": "glad", "labels": ["joy"]}
    file = tmp_path / "m.json"
    file.write_text(
        json.dumps([{"label": [region], "id": 7, "text": "I am glad"}, {"text": "no", "id": 8, "label": []}])
    )
    assert recognised(LAYOUT, file)
    first, second = read_all(LAYOUT, file)
    assert first == {"id": "7", "text": "I am glad", "spans": [{"start": 5, "end": 9, "label": "joy"}]}
    assert second == {"id": "8", "text": "no", "spans": []}
    file.write_text(json.dumps([{"id": 7, "text": "I am glad", "spans": [{"start": 5, "end": 9}], "labels": ["joy"]}]))
    assert not recognised(LAYOUT, file)
