"""Requests and answers in Parquet are those of JSON Lines: the same run, whichever of both they stand in."""

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

from emotui.backends.servers.batch_files import AnswerFiles
from emotui.errors import BadModel
from emotui.workbench.shards import merge
from tests.commands.serving.test_batch import N, _read, engine, scenes
from tests.conftest import Emotui

__all__ = ["scenes"]

UNPACK = "copy (select custom_id, method, url, body::json as body from 'ask.parquet') to 'ask.jsonl' (format json)"
PACK = """copy (from read_json('said.jsonl', columns = {custom_id: 'varchar', response: 'json', error: 'json'},
format = 'newline_delimited')) to 'said.parquet' (format parquet, compression zstd)"""
"""As docs/scaling.md has them."""


def lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.fixture
def asked(emotui: Emotui, tmp_path: Path, scenes: Path, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The requests as JSON Lines, in `own.jsonl`."""
    monkeypatch.chdir(tmp_path)
    assert emotui("batch", "write", "scenes", "--model", "M", "--records", scenes, "--to", "own.jsonl").status == 0
    return lines(tmp_path / "own.jsonl")


@pytest.mark.parametrize("part", [1, 1000, 2**26])
def test_requests_in_parquet_unpack_to_those_of_json_lines(
    emotui: Emotui, tmp_path: Path, scenes: Path, asked: list[Any], monkeypatch: pytest.MonkeyPatch, part: int
) -> None:
    monkeypatch.setattr(merge, "_PART", part)
    written = ("batch", "write", "scenes", "--model", "M", "--records", scenes, "--to", "ask.parquet", "--json")
    assert emotui(*written).document == {"to": "ask.parquet", "n": N, "open": N, "requests": 8 * N}
    duckdb.sql(UNPACK)
    assert lines(tmp_path / "ask.jsonl") == asked
    assert sorted(path.name for path in tmp_path.glob("*ask*")) == ["ask.jsonl", "ask.parquet"]


def test_no_request_is_a_file_of_none(emotui: Emotui, tmp_path: Path, scenes: Path, asked: list[Any]) -> None:
    engine(tmp_path / "own.jsonl", tmp_path / "said.jsonl")
    written = ("batch", "write", "scenes", "--model", "M", "--records", scenes, "--answers", "said.jsonl")
    assert emotui(*written, "--to", "ask.parquet", "--json").document["requests"] == 0
    assert duckdb.sql("select count(*) from 'ask.parquet'").fetchall() == [(0,)]


def test_answers_in_parquet_are_the_run_that_they_are_in_json_lines(
    emotui: Emotui, tmp_path: Path, scenes: Path, asked: list[Any]
) -> None:
    engine(tmp_path / "own.jsonl", tmp_path / "said.jsonl")
    compact = [json.dumps(line, separators=(",", ":")) + "\n" for line in lines(tmp_path / "said.jsonl")]
    (tmp_path / "said.jsonl").write_text("".join(compact))
    assert emotui("import", "scenes", scenes, "--db", "w.duckdb").status == 0
    first = _read(emotui, "said.jsonl", "w.duckdb").document
    duckdb.sql(PACK)
    (tmp_path / "said.jsonl").unlink()
    second = _read(emotui, "said.parquet", "w.duckdb")
    assert second.status == 0, second.err
    assert (second.document["done"], second.document["metrics"]) == (N, first["metrics"])
    assert second.document["run"] == first["run"]
    # As a table of structs, as DuckDB, pandas and pyarrow make of the lines by themselves, and among other files.
    (tmp_path / "said").mkdir()
    (tmp_path / "said" / "1.jsonl").write_text("".join(compact[:9]))
    (tmp_path / "rest.jsonl").write_text("".join(compact[5:]))
    duckdb.sql("copy (from read_json('rest.jsonl')) to 'said/2.parquet'")
    third = emotui("predict", "scenes", "--model", "batch:M@said", "--records", scenes)
    whole = emotui("predict", "scenes", "--model", "batch:M@said.parquet", "--records", scenes)
    assert (third.status, third.out) == (0, whole.out)


def test_failures_in_parquet_are_asked_for_again(
    emotui: Emotui, tmp_path: Path, scenes: Path, asked: list[Any]
) -> None:
    engine(tmp_path / "own.jsonl", tmp_path / "said.jsonl")
    said = lines(tmp_path / "said.jsonl")
    said[0] |= {"response": None, "error": {"code": "batch_expired", "message": "expired"}}
    (tmp_path / "said.jsonl").write_text("".join(json.dumps(line) + "\n" for line in said))
    duckdb.sql(PACK)
    written = ("batch", "write", "scenes", "--model", "M", "--records", scenes, "--answers", "said.parquet")
    assert emotui(*written, "--to", "more.jsonl", "--json").document["requests"] == 1
    assert lines(tmp_path / "more.jsonl") == asked[:1]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"no parquet at all", "said[1].parquet: cannot be read: "),
        (b"", "said[1].parquet: cannot be read: "),
        (
            "select 'emotui-a' as custom_id",
            "said[1].parquet: has no column response, as answers have (there: custom_id)",
        ),
        ("select 'emotui-a' as custom_id, '{' as response", "said[1].parquet:1: is no line of a batch's answers: "),
        ("select 'emotui-a' as custom_id, 'x\ny' as response", "said[1].parquet:1: is no line of a batch's answers: "),
        ("select 3 as custom_id, 4 as response", "said[1].parquet:1: is no line of a batch's answers: "),
    ],
)
def test_a_file_that_holds_no_answers_is_a_line(tmp_path: Path, content: bytes | str, why: str) -> None:
    path = tmp_path / "said[1].parquet"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        duckdb.sql(f"copy ({content}) to '{path}' (format parquet)")
    with pytest.raises(BadModel) as refused:
        AnswerFiles(str(path))
    assert why in str(refused.value)
    assert "\n" not in str(refused.value)
