"""What has no end is not read to it: a line says so, before the memory is full."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from emotui import bounded
from emotui.backends.gguf.header import read_header
from emotui.errors import BadModel, BadStore
from emotui.formats import rows
from emotui.store.store import Store
from tests.conftest import Emotui

pytestmark = pytest.mark.faults

ZERO = pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no such device here")


@ZERO
@pytest.mark.parametrize(
    "words",
    [
        ("score", "class", "--gold", "/dev/zero", "--pred", "in.jsonl"),
        ("lexical", "--records", "/dev/zero"),
        ("predict", "class", "--records", "/dev/zero"),
        ("compare", "--a", "/dev/zero", "--b", "in.jsonl"),
        ("agreement", "--ratings", "/dev/zero"),
        ("view", "/dev/zero"),
        ("rephrasings", "sets", "--chains", "/dev/zero"),
        ("run", "spans", "--prompts", "/dev/zero"),
        ("score", "masked", "--gold", "in.jsonl", "--pred", "in.jsonl", "--lexicon", "/dev/zero"),
        ("score", "spans", "--gold", "in.jsonl", "--pred", "in.jsonl", "--keywords", "/dev/zero"),
        ("score", "spans", "--gold", "in.jsonl", "--pred", "in.jsonl", "--map-labels", "/dev/zero"),
        ("score", "labels", "--gold", "in.jsonl", "--pred", "in.jsonl", "--thresholds", "/dev/zero"),
        *(
            ("import", "--format", name, "/dev/zero")
            for name in ("table", "conll", "json", "xlsx", "parquet", "doccano", "webanno", "reman", "label-studio")
        ),
        ("import", "/dev/zero", "--map-file", "/dev/zero"),
    ],
    ids=" ".join,
)
def test_a_device_without_end_is_one_line(
    emotui: Emotui, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setattr(bounded, "MOST_BYTES", 1_000_000)
    monkeypatch.setattr(rows, "MOST_LINE", 2**20)
    record = '{"id": "1", "text": "I was <mask>.", "labels": ["glad"]}\n'
    (tmp_path / "in.jsonl").write_text(record, encoding="utf-8")
    done = emotui(*words)
    assert done.status == 2, done.err
    assert done.out == ""
    assert done.err.count("\n") == 1


def test_a_line_may_be_as_long_as_the_limit(emotui: Emotui, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line = '{"id": "1", "text": "%s", "label": "joy"}\n'
    monkeypatch.setattr(rows, "MOST_LINE", len(line % ("x" * 1000)))
    for length, status in ((1000, 0), (1001, 2)):
        (tmp_path / "in.jsonl").write_text(line % ("x" * length), encoding="utf-8")
        assert emotui("lexical", "--records", "in.jsonl", "--json").status == status


@pytest.mark.skipif(os.name != "posix", reason="no named pipes here")
@pytest.mark.parametrize(
    ("use", "error"),
    [
        (Store.open, BadStore),
        (lambda path: Store.open(path, read_only=True), BadStore),
        (read_header, BadModel),
    ],
)
def test_a_pipe_that_nobody_writes_into_is_not_waited_for(
    tmp_path: Path, use: Callable[[Path], object], error: type[Exception]
) -> None:
    os.mkfifo(tmp_path / "pipe.gguf")
    with pytest.raises(error):
        use(tmp_path / "pipe.gguf")


@pytest.mark.skipif(os.name != "posix", reason="no named pipes here")
def test_a_pipe_among_the_files_of_a_model_is_refused(tmp_path: Path) -> None:
    from emotui.backends.hf.files import check_plain_files

    (tmp_path / "deep").mkdir()
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    check_plain_files(tmp_path)
    os.mkfifo(tmp_path / "deep" / "tokenizer.json")
    with pytest.raises(BadModel, match=r"deep/tokenizer\.json is no file: take it out of the model's directory"):
        check_plain_files(tmp_path)


def test_a_whole_data_set_on_a_disk_has_no_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "MOST_BYTES", 10)
    (tmp_path / "data").write_bytes(b"x" * 11)
    assert bounded.read_bytes(tmp_path / "data", data=True) == b"x" * 11
    with pytest.raises(OSError, match="longer than"):
        bounded.read_bytes(tmp_path / "data")


@pytest.mark.parametrize("text", ["a\r\nb\rc\n", "\ufeffa"])
def test_text_is_read_as_python_reads_it(tmp_path: Path, text: str) -> None:
    (tmp_path / "t").write_bytes(text.encode())
    assert bounded.read_text(tmp_path / "t") == (tmp_path / "t").read_text("utf-8-sig")
