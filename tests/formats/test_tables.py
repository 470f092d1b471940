"""CSV, TSV and Parquet: the same records in cells."""

from pathlib import Path
from typing import Any

import duckdb
import pytest

from emotui.errors import BadInput
from emotui.formats import read
from emotui.records import (
    Chain,
    ClassPrediction,
    Mark,
    MaskedPrediction,
    SampleScore,
    ScenesGold,
    Sentence,
    SpanPrediction,
    SpanSample,
)

HEADER = "id,text,spans\n"


def put(folder: Path, content: str | bytes, name: str = "x.csv") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refusal(path: Path, kind: type[Any] = SpanSample) -> list[str]:
    with pytest.raises(BadInput) as caught:
        read(path, kind)
    return [problem.replace(f"{path.parent}/", "") for problem in caught.value.problems]


def parquet(folder: Path, query: str, name: str = "x.parquet") -> Path:
    path = folder / name
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({query}) TO '{path}' (FORMAT parquet)")
    return path


def test_nested_fields_stand_as_json_in_the_cell(tmp_path: Path) -> None:
    row = '1,"He laughed, then wept.","[[3, 10]]",happy,"[{""start"": 0, ""end"": 22, ""emotion"": ""happy""}]"\n'
    (record,) = read(put(tmp_path, "id,text,spans,emotion,sentences\n" + row), SpanSample).records
    assert record == SpanSample(
        id="1",
        text="He laughed, then wept.",
        spans=(Mark(3, 10),),
        emotion="happy",
        sentences=(Sentence(start=0, end=22, emotion="happy"),),
    )


def test_columns_come_in_any_order_and_unknown_ones_are_passed_over(tmp_path: Path) -> None:
    (record,) = read(put(tmp_path, "page, score ,id\n3,0.5,007\n"), SampleScore).records
    assert record == SampleScore(id="007", score=0.5)


def test_an_empty_cell_leaves_an_optional_field_out(tmp_path: Path) -> None:
    header = "id,label,probs\n"
    (record,) = read(put(tmp_path, header + "1,joy,\n"), ClassPrediction).records
    assert record == ClassPrediction(id="1", label="joy")
    table = header + '1,,"{""joy"": 1}"\n2,,\n'
    found = read(put(tmp_path, table), ClassPrediction).records
    assert found == [ClassPrediction(id="1", probs={"joy": 1.0}), ClassPrediction(id="2", label="")]
    (unlabelled,) = read(put(tmp_path, HEADER + "1,,\n"), SpanSample).records
    assert unlabelled == SpanSample(id="1", text="")


def test_an_empty_output_cell_is_an_empty_output_where_a_style_asked_for_one(tmp_path: Path) -> None:
    table = 'id,spans,output,style\n1,,,retrieve\n2,"[""x""]",,\n3,"[""x""]",,highlight\n'
    found = read(put(tmp_path, table), SpanPrediction).records
    assert [record.output for record in found] == ["", None, None]


@pytest.mark.parametrize("cell", ["true", "TRUE", "True", "1"])
def test_truth_is_written_in_words_or_as_1_and_0(tmp_path: Path, cell: str) -> None:
    table = f"id,output,style,cot,repeat\n1,x,retrieve,{cell},2\n1,x,retrieve,false,1\n1,x,retrieve,,\n"
    found = read(put(tmp_path, table), SpanPrediction).records
    assert [(record.cot, record.repeat) for record in found] == [(True, 2), (False, 1), (False, 0)]


@pytest.mark.parametrize("cell", ["nan", "inf", "-Infinity", "1e999", "x", "1_0", "0x1", "１"])
def test_a_number_in_a_cell_is_finite_and_in_plain_digits(tmp_path: Path, cell: str) -> None:
    (problem,) = refusal(put(tmp_path, f"id,score\n1,{cell}\n"), SampleScore)
    assert problem.startswith("x.csv:2: `score`")


def test_a_record_is_named_by_the_line_on_which_it_starts(tmp_path: Path) -> None:
    table = HEADER + '1,"one\ntwo\r\nthree",[]\n\n2,"four\nfive","[[9, 1]]"\n3,six,[]\n'
    assert refusal(put(tmp_path, table)) == ["x.csv:6: span [9, 1] ends before it starts"]
    found = read(put(tmp_path, table), SpanSample, skip_bad=True)
    assert found.lines == [2, 8]
    assert found.records[0].text == "one\ntwo\r\nthree"


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("1,a", "has 2 cells where the header has 3"),
        ("1,a,[],x", "has 4 cells where the header has 3"),
        ("1,a,[[0", "`spans`: not JSON: it ends too early (lists and objects stand as JSON in the cell)"),
        ("1,a,?", "`spans`: not JSON: invalid character at byte 1 (lists and objects stand as JSON in the cell)"),
        ('1,a,"[""\\ud800""]"', "`spans`: holds half of a surrogate pair"),
        ("1,a,3", "`spans` must be a list, not 3"),
        ('1,"a"b,[]', "text stands after a closing quote: double the quotes inside a quoted cell"),
        ('1,"a,[]', "a quote that opens in this row is never closed"),
        ("1,a\rb,[]", "a carriage return stands outside quotes: lines must end with LF or CRLF"),
        (",a,[]", "`id` is empty"),
    ],
)
def test_a_row_that_does_not_fit_is_refused_in_plain_words(tmp_path: Path, row: str, reason: str) -> None:
    (problem,) = refusal(put(tmp_path, HEADER + row + "\n"))
    assert problem.startswith(f"x.csv:2: {reason}")


def test_after_a_bad_row_the_next_one_is_read(tmp_path: Path) -> None:
    table = HEADER.encode() + b'1,"a"b,[]\n2,caf\xe9,[]\n3,"two\n\xff",[]\n4,good,[]\n'
    found = read(put(tmp_path, table), SpanSample, skip_bad=True)
    assert [record.id for record in found.records] == ["4"]
    assert [problem.split(":")[1] for problem in found.skipped] == ["2", "3", "4"]
    assert "not UTF-8: byte 0xe9" in found.skipped[1]


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ("id,spans", "the header has no column `text`"),
        ("a,b", "the header has no column `id`, `text`"),
        ("id;text;spans", "its only column is 'id;text;spans': are the cells separated by commas?"),
        ("id,text,spans,id", "column `id` comes twice"),
        (b"id,text,\xff", "not UTF-8: byte 0xff at byte 9"),
        ('"id', "a quote that opens in this row is never closed"),
    ],
)
def test_a_header_that_does_not_fit_refuses_the_file_even_with_skip_bad(
    tmp_path: Path, header: str | bytes, reason: str
) -> None:
    path = put(tmp_path, header if isinstance(header, bytes) else header + "\n1;a;[]\n")
    with pytest.raises(BadInput) as caught:
        read(path, SpanSample, skip_bad=True)
    (problem,) = caught.value.problems
    assert problem.startswith(f"{path}:1: ")
    assert reason in problem


def test_blank_lines_before_the_header_count(tmp_path: Path) -> None:
    assert read(put(tmp_path, "\n\n" + HEADER + "1,a,[]\n"), SpanSample).lines == [4]


def test_tabs_separate_the_cells_of_tsv(tmp_path: Path) -> None:
    table = b'\xef\xbb\xbfid\tlabels\r\n1\t["glad, very", "sad"]\r\n'
    (record,) = read(put(tmp_path, table, "x.tsv"), MaskedPrediction).records
    assert record == MaskedPrediction(id="1", labels=("glad, very", "sad"))


def test_parquet_columns_may_be_nested_or_json_in_a_string(tmp_path: Path) -> None:
    expected = SpanSample(id="1", text="abcd", spans=(Mark(0, 2),), annotators={"A": (Mark(1, 3),)})
    native = "SELECT 1 AS id, 'abcd' AS text, [[0, 2]] AS spans, MAP {'A': [[1, 3]]} AS annotators"
    struct = "SELECT 1.0::DOUBLE AS id, 'abcd' AS text, [[0, 2]] AS spans, {'A': [[1, 3]], 'B': NULL} AS annotators"
    json = "SELECT '1' AS id, 'abcd' AS text, '[[0, 2]]' AS spans, '{\"A\": [[1, 3]]}' AS annotators"
    for query in (native, struct, json):
        assert read(parquet(tmp_path, query), SpanSample).records == [expected]


def test_parquet_rows_are_numbered_from_1(tmp_path: Path) -> None:
    query = "SELECT i::VARCHAR AS id, 'abcd' AS text, CASE WHEN i = 5000 THEN [[0, 9]] ELSE [[0, 4]] END AS spans"
    path = parquet(tmp_path, f"{query} FROM range(1, 9001) numbers(i) ORDER BY i")
    assert refusal(path) == ["x.parquet:5000: span [0, 9] ends past the text, which has 4 characters"]
    found = read(path, SpanSample, skip_bad=True)
    assert len(found.records) == 8999
    assert [found.records[-1].id, found.lines[-1]] == ["9000", 9000]


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ("'a' AS id, [] AS spans", "x.parquet:1: there is no column `text`"),
        ("'a' AS id, 't' AS text, [[0, 0.5]] AS spans", "x.parquet:1: `spans[0][0]` must be a whole number"),
        ("'a' AS id, 't' AS text, 3 AS spans", "x.parquet:1: `spans` must be a list, not 3"),
        ("'a' AS id, 't' AS text, 'x' AS spans", "x.parquet:1: `spans`: not JSON"),
        ("'nan'::DOUBLE AS id, 't' AS text, [] AS spans", "x.parquet:1: `id` must be a string or a number"),
        ("'a'::BLOB AS id, 't' AS text, [] AS spans", "x.parquet:1: `id` must be a string or a number"),
        ("DATE '2026-01-01' AS id, 't' AS text, [] AS spans", "x.parquet:1: `id` must be a string or a number"),
        ("'a' AS id, MAP {1: 2} AS text, [] AS spans", "x.parquet:1: `text` must be a string, not an object"),
        ("'a' AS id, 't' AS text, [] AS spans, MAP {1: [[0, 1]]} AS annotators", "x.parquet:1: the names in `annot"),
        ("'a' AS id, 't' AS text, [] AS spans, MAP {'x': 1.5} AS annotators", "x.parquet:1: `annotators"),
    ],
)
def test_a_parquet_column_of_another_type_is_refused_in_plain_words(tmp_path: Path, columns: str, reason: str) -> None:
    (problem,) = refusal(parquet(tmp_path, f"SELECT {columns}"))
    assert problem.startswith(reason)


def test_scores_that_are_not_finite_are_refused_in_parquet_too(tmp_path: Path) -> None:
    path = parquet(tmp_path, "SELECT '1' AS id, 'inf'::DOUBLE AS score")
    assert refusal(path, SampleScore) == ["x.parquet:1: `score` is not finite"]


def test_a_parquet_name_is_no_pattern_and_no_partition(tmp_path: Path) -> None:
    folder = tmp_path / "text=elsewhere"
    folder.mkdir()
    query = "SELECT '1' AS id, {'joy': 1} AS labels, 'here' AS text"
    parquet(folder, query.replace("'1'", "'2'"), "xa.parquet")
    path = parquet(folder, query, "plain.parquet").rename(folder / "x[a]*'?.parquet")
    assert read(path, ScenesGold).records == [ScenesGold(id="1", labels={"joy": 1}, text="here")]


def test_what_is_no_parquet_or_cut_short_is_said_to_be_so(tmp_path: Path) -> None:
    whole = parquet(tmp_path, "SELECT '1' AS id, 1 AS score").read_bytes()
    for content in (b"", b"PAR1", b'{"id": 1}\n' * 100, whole[:-20], whole[: len(whole) // 2]):
        (problem,) = refusal(put(tmp_path, content, "x.parquet"), SampleScore)
        assert problem.startswith("x.parquet: not a readable Parquet file: ")


def test_a_skipped_chain_needs_no_attempts_in_any_format(tmp_path: Path) -> None:
    (record,) = read(put(tmp_path, "id,text,label,attempts,skipped\n1,t,joy,[],true\n"), Chain).records
    assert record == Chain(id="1", text="t", label="joy", attempts=(), skipped=True)
