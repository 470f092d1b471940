"""Files appear whole or not at all; JSON documents hold no NaN."""

import dataclasses
import errno
import io
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import duckdb
import msgspec
import numpy as np
import pytest

import emotui.sample_data
from emotui.errors import BadInput, EmotuiError
from emotui.formats import ENDINGS, fingerprint, read, to_json_document, write
from emotui.records import (
    Chain,
    ClassPrediction,
    Mark,
    MaskedGold,
    SampleScore,
    ScenesGold,
    ScenesPrediction,
    Sentence,
    SpanPrediction,
    SpanSample,
)

SAMPLES = [
    SpanSample(id="1", text="so glad", spans=(Mark(3, 7),), annotators={"A": ()}),
    SpanSample(id="2", text='He said "no",\nand left.\t\U0001f622', spans=(), emotion="sad"),
    SpanSample(
        id="3", text="Oh. Oh!", spans=(Mark(0, 2),), sentences=(Sentence(start=0, end=3), Sentence(start=4, end=7))
    ),
]


def left_over(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("ending", ENDINGS)
def test_records_come_back_equal_and_in_order(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"it's [a] 100% file{ending}"
    assert write(path, iter(SAMPLES)) == 3
    assert read(path, SpanSample).records == SAMPLES
    assert left_over(tmp_path) == [path.name]


def test_absent_fields_are_left_out_of_jsonl(tmp_path: Path) -> None:
    write(tmp_path / "x.jsonl", SAMPLES)
    rows = [json.loads(line) for line in (tmp_path / "x.jsonl").read_text(encoding="utf-8").splitlines()]
    assert rows[0] == {"id": "1", "text": "so glad", "spans": [[3, 7]], "annotators": {"A": []}}
    assert rows[2]["sentences"] == [{"start": 0, "end": 3}, {"start": 4, "end": 7}]


def test_parquet_columns_are_native(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    write(path, [ScenesGold(id="1", labels={"joy": 1, "awe": 0})])
    with duckdb.connect() as connection:
        columns = connection.execute(f"DESCRIBE SELECT * FROM '{path}'").fetchall()
    assert {name: kind for name, kind, *_ in columns} == {
        "id": "VARCHAR",
        "labels": "MAP(VARCHAR, BIGINT)",
        "text": "VARCHAR",
        "subject": "VARCHAR",
        "annotators": "MAP(VARCHAR, MAP(VARCHAR, BIGINT))",
        "meta": "VARCHAR",
    }


MARKS = (Mark(3, 7), Mark(3, 7, "joy"), Mark(0, 7, "joy", 0.5), Mark(0, 2, attributes={"by": 7}))


def test_a_span_is_written_as_short_as_what_it_says_allows(tmp_path: Path) -> None:
    write(tmp_path / "x.jsonl", [SpanSample(id="1", text="so glad", spans=MARKS, annotators={"A": MARKS[1:2]})])
    row = json.loads((tmp_path / "x.jsonl").read_text(encoding="utf-8"))
    assert row["annotators"] == {"A": [[3, 7, "joy"]]}
    assert row["spans"] == [
        [3, 7],
        [3, 7, "joy"],
        {"start": 0, "end": 7, "label": "joy", "score": 0.5},
        {"start": 0, "end": 2, "attributes": {"by": 7}},
    ]


@pytest.mark.parametrize(
    ("records", "column"),
    [
        ([SpanSample(id="1", text="so glad", spans=MARKS[:1])], "BIGINT[][]"),
        (
            [SpanSample(id="1", text="so glad", spans=(), annotators={"A": MARKS})],
            'STRUCT("start" BIGINT, "end" BIGINT, "label" VARCHAR, score DOUBLE, attributes VARCHAR)[]',
        ),
        ([SpanPrediction(id="1", spans=("glad",))], "VARCHAR[]"),
        ([SpanPrediction(id="1", spans=("glad", "[3,7]", *MARKS))], "VARCHAR"),
    ],
)
def test_spans_stand_in_parquet_in_a_column_of_one_type(
    tmp_path: Path, records: list[SpanSample | SpanPrediction], column: str
) -> None:
    path = tmp_path / "x.parquet"
    write(path, records)
    with duckdb.connect() as connection:
        columns = connection.execute(f"DESCRIBE SELECT spans FROM '{path}'").fetchall()
    assert columns[0][1] == column
    assert read(path, type(records[0])).records == records


def test_own_columns_of_a_parquet_file_are_what_json_can_say(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    own = "{'day': DATE '2026-01-02', 'share': 0.5::DECIMAL(2, 1), 'odd': 'nan'::DOUBLE} AS meta"
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT '1' AS id, 't' AS text, {own}) TO '{path}' (FORMAT parquet)")
    (record,) = read(path, SpanSample).records
    assert record.meta == {"day": "2026-01-02", "share": "0.5", "odd": None}


@pytest.mark.parametrize(
    ("name", "kind", "mark"),
    [
        ("spans_passages.jsonl", SpanSample, "c036aa5ad27ca1e1"),
        ("spans_sentences.jsonl", SpanSample, "b284718ff96816d2"),
        ("scenes.jsonl", ScenesGold, "16123c85bed48328"),
        ("masked.jsonl", MaskedGold, "490b4c9ec15ad26d"),
        ("rephrasings.jsonl", Chain, "c04588a22cf5d015"),
        ("prompting_sentences.jsonl", SpanSample, "8162dfef0844ff76"),
    ],
)
def test_the_fingerprint_of_a_dataset_does_not_change(name: str, kind: type[msgspec.Struct], mark: str) -> None:
    path = Path(emotui.sample_data.__file__).with_name(name)
    assert fingerprint(read(path, kind).records)[:16] == mark


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_record_of_many_megabytes_is_written_and_read(tmp_path: Path, ending: str) -> None:
    record = SpanSample(id="1", text="long \U0001f600" * 3_000_000, spans=())
    write(tmp_path / f"x{ending}", [record])
    assert read(tmp_path / f"x{ending}", SpanSample).records == [record]


def test_the_order_of_labels_is_kept_in_every_format(tmp_path: Path) -> None:
    record = ScenesGold(id="1", labels={"joy": 1, "awe": 0, "fear": 1})
    for ending in ENDINGS:
        write(tmp_path / f"x{ending}", [record])
        (found,) = read(tmp_path / f"x{ending}", ScenesGold).records
        assert list(found.labels) == ["joy", "awe", "fear"]


def test_a_record_that_could_not_be_read_back_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text("old\n", encoding="utf-8")
    bad = [SAMPLES[0], SpanSample(id="2", text="abc", spans=(Mark(2, 9),))]
    with pytest.raises(BadInput, match=r"x\.jsonl: record 2 cannot be written: span \[2, 9\] ends past the text"):
        write(path, bad)
    with pytest.raises(BadInput, match="holds a number that is not finite"):
        write(path, [ScenesPrediction(id="1", scores={"joy": (math.nan, 0.0)})])
    for ending in ENDINGS:
        with pytest.raises(BadInput, match=r"record 1 \(id 'a'\) holds half of a surrogate pair"):
            write(path.with_suffix(ending), [ClassPrediction(id="a", label="\ud83d")])
    assert path.read_text(encoding="utf-8") == "old\n"
    assert left_over(tmp_path) == ["x.jsonl"]


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"x\.json: unknown ending '\.json'"):
        write(tmp_path / "x.json", SAMPLES)
    with pytest.raises(BadInput, match="there is no folder"):
        write(tmp_path / "no" / "x.jsonl", SAMPLES)
    (tmp_path / "x.csv").mkdir()
    with pytest.raises(BadInput, match=r"x\.csv: cannot be written: is a folder, not a file"):
        write(tmp_path / "x.csv", SAMPLES)
    with pytest.raises(BadInput, match=r"x\.parquet: there is no record to write"):
        write(tmp_path / "x.parquet", [])
    assert left_over(tmp_path) == ["x.csv"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_full_disk_is_said_to_be_full_and_the_old_file_stays(
    tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"x{ending}"
    write(path, SAMPLES[:1])

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(EmotuiError) as caught:
        write(path, SAMPLES)
    assert str(caught.value) == f"{path}: the disk is full; nothing was written"
    assert not isinstance(caught.value, BadInput)
    assert read(path, SpanSample).records == SAMPLES[:1]
    assert left_over(tmp_path) == [path.name]


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on the size of files")
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_write_that_stops_half_way_leaves_nothing_behind(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"x{ending}"
    write(path, SAMPLES[:1])
    code = """
import resource, random, string, sys
from emotui.errors import EmotuiError
from emotui.formats import write
from emotui.records import SpanSample
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
text = "".join(random.Random(1).choices(string.ascii_letters, k=100_000))
try:
    write(sys.argv[1], [SpanSample(id="1", text=text, spans=())])
except EmotuiError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True)
    assert done.stdout.startswith(f"{path}: cannot be written: "), done.stderr
    assert len(done.stdout.splitlines()) == 1
    assert read(path, SpanSample).records == SAMPLES[:1]
    assert left_over(tmp_path) == [path.name]


def test_a_link_stays_a_link_and_a_mode_stays(tmp_path: Path) -> None:
    target, link = tmp_path / "target.jsonl", tmp_path / "link.jsonl"
    write(target, SAMPLES[:1])
    target.chmod(0o640)
    link.symlink_to(target)
    write(link, SAMPLES)
    assert link.is_symlink()
    assert len(read(target, SpanSample).records) == 3
    assert target.stat().st_mode & 0o777 == 0o640


def test_a_dash_is_standard_output_and_a_device_is_written_into(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", out)
    write("-", [SampleScore(id="é", score=0.5)])
    assert out.buffer.getvalue().decode() == '{"id":"é","score":0.5}\n'  # type: ignore[attr-defined]
    assert write(os.devnull, SAMPLES) == 3
    assert Path(os.devnull).is_char_device()


def test_no_record_is_an_empty_file_of_text(tmp_path: Path) -> None:
    for ending in (".jsonl", ".csv", ".tsv"):
        assert write(tmp_path / f"x{ending}", []) == 0
        assert (tmp_path / f"x{ending}").read_bytes() == b""


def test_a_fingerprint_goes_by_content_and_order_not_by_spelling() -> None:
    assert fingerprint(SAMPLES) == fingerprint(iter(SAMPLES))
    assert len(fingerprint(SAMPLES)) == 64
    assert fingerprint(SAMPLES) != fingerprint(reversed(SAMPLES))
    assert fingerprint(SAMPLES) != fingerprint(SAMPLES[:2])
    one, other = {"joy": 1, "awe": 0}, {"awe": 0, "joy": 1}
    assert fingerprint([ScenesGold(id="1", labels=one)]) == fingerprint([ScenesGold(id="1", labels=other)])
    # Of '{"id":"1","score":1.0}' and a line feed, by sha256sum.
    expected = "146bcf9e2dc78cde"
    assert fingerprint([SampleScore(id="1", score=1.0)]).startswith(expected)


def test_a_document_holds_null_for_what_is_no_number() -> None:
    document = {"f1": math.nan, "rows": [math.inf, -math.inf, 1.5, {"x": np.float64("nan")}], "ok": True}
    assert to_json_document(document) == '{"f1":null,"rows":[null,null,1.5,{"x":null}],"ok":true}'


def test_a_document_keeps_the_order_of_its_keys() -> None:
    assert to_json_document({"b": 1, "a": {"d": 2, "c": 3}}) == '{"b":1,"a":{"d":2,"c":3}}'


def test_a_document_takes_what_scoring_produces() -> None:
    @dataclasses.dataclass
    class Figure:
        n: np.int64
        f1: np.float32

    document = {
        "array": np.array([[1.0, np.nan], [3.0, 4.0]]),
        "flag": np.bool_(True),
        np.str_("figure"): Figure(np.int64(3), np.float32(0.5)),
        "record": SampleScore(id="1", score=1.0),
        "tuple": (1, None),
        "large": 10**30,
    }
    assert json.loads(to_json_document(document)) == {
        "array": [[1.0, None], [3.0, 4.0]],
        "flag": True,
        "figure": {"n": 3, "f1": 0.5},
        "record": {"id": "1", "score": 1.0, "group": None, "repeat": 0},
        "tuple": [1, None],
        "large": 10**30,
    }


def test_a_document_escapes_half_of_a_surrogate_pair() -> None:
    document = to_json_document({"output": "\ud83d", "f1": math.nan, "rows": [np.float64(math.inf), (1, 2)]})
    document.encode()
    assert json.loads(document) == {"output": "\ud83d", "f1": None, "rows": [None, [1, 2]]}


def test_a_document_is_one_line() -> None:
    assert "\n" not in to_json_document({"text": "two\nlines", "rows": [1, 2]})


def test_what_json_cannot_say_is_refused() -> None:
    with pytest.raises(TypeError, match="complex cannot be written as JSON"):
        to_json_document({"x": 1j})
