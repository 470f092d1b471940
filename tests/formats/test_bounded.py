"""What has no end is not read to it: a line says so, before the memory is full."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from emotui import bounded
from emotui.backends.gguf.header import read_header
from emotui.errors import BadInput, BadModel, BadStore
from emotui.formats import reading, rows
from emotui.records import Text
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


@contextmanager
def endless(content: bytes) -> Iterator[str]:
    """A pipe that has so much and might go on."""
    reads, writes = os.pipe()
    os.write(writes, content)
    os.close(writes)
    try:
        yield f"/dev/fd/{reads}"
    finally:
        os.close(reads)


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="no names of open files here")
@pytest.mark.parametrize(
    "content",
    [b"\n" * 1001, b"y\n" * 1001, b'{"id": "1", "text": "%s"}\n' % (b"x" * 3000) * 9],
    ids=["blank", "short", "long"],
)
@pytest.mark.parametrize(
    "words",
    [
        ("lexical", "--records"),
        ("score", "class", "--pred", "in.jsonl", "--gold"),
        ("view",),
        ("import", "--format", "jsonl"),
        ("import", "--format", "conll"),
        ("import", "--format", "conll", "--encoding", "utf-8"),
    ],
    ids=" ".join,
)
def test_lines_without_end_are_one_line(
    emotui: Emotui, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], content: bytes
) -> None:
    monkeypatch.setattr(bounded, "MOST_STREAMED_LINES", 1000)
    monkeypatch.setattr(bounded, "MOST_STREAMED", 20_000)
    (tmp_path / "in.jsonl").write_text('{"id": "1", "text": "I wept.", "label": "joy"}\n', encoding="utf-8")
    with endless(content) as pipe:
        done = emotui(*words, pipe)
    assert (done.status, done.out) == (2, "")
    assert "from what is no file: write it to one first" in done.err.replace("\n", " ")
    assert done.err.count("\n") == 1


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="no names of open files here")
def test_a_pipe_with_an_end_is_imported(emotui: Emotui, tmp_path: Path) -> None:
    with endless(b'{"id": "1", "text": "I wept.", "label": "joy"}\n') as pipe:
        assert emotui("import", pipe, "--name", "piped", "--db", tmp_path / "w.duckdb").status == 0
    with endless(b"y\n") as pipe:
        assert emotui("import", pipe, "--db", tmp_path / "w.duckdb").err.startswith(pipe)


def test_a_pipe_is_copied_as_far_as_there_is_an_end_in_sight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "MOST_STREAMED_LINES", 2)
    for content, length in ((b"a\nb\n", 4), (b"a\nb\nc\n", 0)):
        reads, writes = os.pipe()
        os.write(writes, content)
        os.close(writes)
        with open(reads, "rb") as stream:  # noqa: PTH123 - it is no path
            if length:
                assert b"".join(bounded.chunks(stream, 2)) == content
            else:
                with pytest.raises(OSError, match="more than"):
                    list(bounded.chunks(stream, 2))


def test_problems_are_counted_and_not_all_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bad.jsonl").write_text("no\n" * 5000, encoding="utf-8")
    with pytest.raises(BadInput) as caught:
        reading.read(tmp_path / "bad.jsonl", Text)
    assert len(caught.value.problems) == 21
    assert caught.value.problems[-1] == "... and 4980 more problems"
    monkeypatch.setattr(reading, "MOST_COUNTED", 1000)
    with pytest.raises(BadInput, match="and 1000 more problems"):
        reading.read(tmp_path / "bad.jsonl", Text)


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


FIFO = pytest.mark.skipif(os.name != "posix", reason="no named pipes here")


@pytest.fixture
def unwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Makes a pipe of this name that nobody writes into, and gives its path."""
    monkeypatch.setattr(bounded, "WRITER_PATIENCE", 0.01)

    def made(name: str) -> str:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        os.mkfifo(path)
        return str(path)

    return made


@FIFO
@pytest.mark.parametrize(
    ("name", "words"),
    [
        *((f"in{ending}", ("score", "class", "--gold", "", "--pred", "")) for ending in (*reading.ENDINGS, "")),
        ("in.jsonl", ("predict", "class", "--records", "")),
        ("in.csv", ("agreement", "--ratings", "")),
        *((f"in{ending}", ("view", "")) for ending in (".jsonl", ".csv", ".xml", ".xlsx", ".parquet", "")),
        ("prompts.md", ("run", "spans", "--prompts", "")),
        ("words.csv", ("score", "masked", "--gold", "good.jsonl", "--pred", "good.jsonl", "--lexicon", "")),
        ("run.emotui-run", ("runs", "unpack", "")),
        ("answers.jsonl", ("predict", "class", "--records", "good.jsonl", "--model", "batch:m@answers.jsonl")),
        ("w.duckdb", ("runs", "--db", "")),
        ("w.duckdb", ("merge", "", "--db", "other.duckdb")),
        ("model/config.json", ("predict", "class", "--records", "good.jsonl", "--model", "hf:model")),
        ("model.gguf", ("predict", "class", "--records", "good.jsonl", "--model", "gguf:model.gguf")),
        ("old/paper.json", ("paper", "--again", "old", "--to", "new")),
        ("folder/part.parquet", ("predict", "class", "--records", "folder")),
        ("folder/part.parquet", ("view", "folder")),
    ],
)
def test_a_file_that_is_a_pipe_without_a_writer_is_a_line(
    emotui: Emotui, tmp_path: Path, unwritten: Callable[[str], str], name: str, words: tuple[str, ...]
) -> None:
    (tmp_path / "good.jsonl").write_text('{"id": "1", "text": "a"}\n', encoding="utf-8")
    path = unwritten(name)
    done = emotui(*(path if word == "" else word for word in words))
    assert done.status in (1, 2)
    assert len(done.err.splitlines()) == 1, done.err


@FIFO
def test_a_pipe_with_a_writer_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    os.mkfifo(path)
    writing = threading.Thread(target=path.write_bytes, args=(b"abc",))
    writing.start()
    assert bounded.read_bytes(path) == b"abc"
    writing.join()
