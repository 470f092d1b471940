"""Names that no file can have, places that cannot be written and tables with long cells are a line each."""

import os
import sys
from pathlib import Path

import pytest

from emotui.bounded import expanded, is_there
from emotui.errors import BadInput
from tests.conftest import Emotui
from tests.effort import tried

pytestmark = pytest.mark.faults

LONG = "x" * 5000
RECORD = '{"id": "1", "text": "I was <mask>.", "label": "joy", "labels": ["glad"], "score": 0.5}\n'
CALLS = [
    ("runs", "--db", LONG),
    ("datasets", "--db", LONG),
    ("run", "spans", "--dataset", f"{LONG}.jsonl"),
    ("run", "spans", "--prompts", LONG),
    ("import", LONG),
    ("import", "spans", LONG),
    ("snapshot", "--to", f"{LONG}.duckdb"),
    ("sql", "select 1", "--to", f"{LONG}.csv"),
    ("view", LONG),
    ("score", "class", "--gold", LONG, "--pred", "in.jsonl"),
    ("predict", "class", "--records", "in.jsonl", "--to", f"{LONG}.jsonl"),
    ("probe", "hi", "--model", f"hf:{LONG}"),
    ("probe", "hi", "--model", f"gguf:{LONG}"),
    ("models", "--folder", LONG),
    ("rephrasings", "sets", "--chains", LONG, "--to", "."),
    ("train", "classifier", "--base", f"hf:{LONG}", "--train", "in.jsonl"),
]


@pytest.mark.parametrize("words", CALLS, ids=lambda words: " ".join(words[:2]))
def test_a_name_of_5000_letters_is_one_line(emotui: Emotui, tmp_path: Path, words: tuple[str, ...]) -> None:
    (tmp_path / "in.jsonl").write_text(RECORD, encoding="utf-8")
    done = emotui(*words)
    tried("hostile calls")
    assert done.status in ((0,) if words[0] == "runs" else (1, 2))  # no store: there are no runs yet
    assert 1 <= done.err.count("\n") <= 2


def test_such_a_name_is_of_no_file() -> None:
    assert not is_there(LONG)
    assert not is_there("a\0b")
    with pytest.raises(BadInput, match="~nosuchuser/a: there is no such home directory"):
        expanded("~nosuchuser/a")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no such device here")
@pytest.mark.parametrize("words", [("models", "--json"), ("compare", "--a", "in.jsonl", "--b", "in.jsonl")])
def test_output_that_cannot_be_written_is_one_line(tmp_path: Path, words: tuple[str, ...]) -> None:
    import subprocess

    (tmp_path / "in.jsonl").write_text(RECORD, encoding="utf-8")
    with open("/dev/full", "w") as full:  # noqa: PTH123 - a device
        done = subprocess.run(
            [sys.executable, "-m", "emotui", *words],
            stdout=full,
            stderr=subprocess.PIPE,
            cwd=tmp_path,
            env=os.environ | {"XDG_DATA_HOME": str(tmp_path)},
            check=False,
        )
    assert (done.returncode, done.stderr.decode()) == (1, "the output: no space left on device\n")


@pytest.mark.parametrize("separator", [",", "\t"])
def test_a_lexicon_with_a_long_field_is_read(emotui: Emotui, tmp_path: Path, separator: str) -> None:
    (tmp_path / "in.jsonl").write_text(RECORD, encoding="utf-8")
    (tmp_path / "words.txt").write_text(separator.join(("glad", "x" * 200_000, "1")) + "\n", encoding="utf-8")
    done = emotui("score", "masked", "--gold", "in.jsonl", "--pred", "in.jsonl", "--lexicon", "words.txt")
    assert done.status == 2
    assert done.err.count("\n") == 1
    assert done.err.startswith("words.txt:1: ")


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_what_the_output_cannot_show_is_escaped(tmp_path: Path, encoding: str) -> None:
    import subprocess

    (tmp_path / "in.jsonl").write_text('{"id": "1", "text": "x", "label": "Freude – ü"}\n', encoding="utf-8")
    for name in ("in.jsonl", b"\xff.jsonl"):
        done = subprocess.run(
            [sys.executable, "-m", "emotui", "score", "class", "--gold", name, "--pred", "in.jsonl"],
            capture_output=True,
            cwd=tmp_path,
            env=os.environ | {"PYTHONIOENCODING": encoding, "XDG_DATA_HOME": str(tmp_path)},
            check=False,
        )
        assert done.returncode == (0 if name == "in.jsonl" else 2)
        assert b"Traceback" not in done.stderr


def test_bytes_of_a_name_that_are_no_text_are_kept_as_the_sign_for_that(emotui: Emotui, tmp_path: Path) -> None:
    line = '{"id": "a", "text": "I wept", "label": "sad"}\n'
    for name in ("\udcffa.jsonl", "\udcfea.jsonl"):
        (tmp_path / name).write_text(line, encoding="utf-8")
    (tmp_path / "other.jsonl").write_text(line.replace("wept", "ran"), encoding="utf-8")

    def status(*words: str) -> int:
        return emotui(*words, "--db", "w.duckdb").status

    def there() -> list[tuple[str, str]]:
        return [(one["dataset"], one["source"]) for one in emotui("datasets", "--json", "--db", "w.duckdb").document]

    assert status("import", "\udcffa.jsonl") == 0
    assert there() == [("\ufffda", "\ufffda.jsonl")]
    assert status("import", "\udcfea.jsonl") == 0
    assert status("import", "other.jsonl", "--name", "\udcffa") in (1, 2)
    assert len(there()) == 1
    predictions = ("import", "predictions", "\udcffa.jsonl", "--dataset", "\udcffa")
    assert status(*predictions, "--source", "file \udcff", "--no-sim") == 0
    assert "file \ufffd" in emotui("sources", "\udcffa", "--db", "w.duckdb").out
    assert status("rename", "\udcffa", "b\udcfe") == 0
    assert there()[0][0] == "b\ufffd"


@pytest.mark.skipif(os.name == "nt" or sys.platform == "darwin", reason="every name is Unicode there")
def test_a_store_where_a_path_is_not_utf_8_is_one_line(
    emotui: Emotui, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "\udce9").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "\udce9"))
    monkeypatch.setattr("tempfile.tempdir", None)
    (tmp_path / "a.jsonl").write_text('{"id": "a", "text": "I wept", "label": "sad"}\n', encoding="utf-8")
    done = emotui("import", "a.jsonl", "--db", "w.duckdb")
    assert (done.status, done.err.count("\n")) == (1, 1)
    assert done.err.endswith("is not UTF-8: name another temporary folder by TMPDIR\n")
    (tmp_path / "\udce9.duckdb").symlink_to("w.duckdb")
    for db in ("\udce9/w.duckdb", "\udce9.duckdb"):
        done = emotui("import", "a.jsonl", "--db", db)
        assert (done.status, done.err.count("\n")) == (2, 1)
        assert "is not UTF-8, as the path of a store must be" in done.err


@pytest.mark.parametrize(
    "words",
    [
        ("results", "--dataset", ""),
        ("run", "spans", "--dataset", ""),
        ("run", "spans", "--prompts", ""),
        ("rephrasings", "prompt", ""),
        ("import", "", "--as", "spans"),
        ("run", "spans", "--repeats", "1000000000"),
    ],
)
def test_an_empty_name_and_a_billion_repeats_are_bad_usage(emotui: Emotui, words: tuple[str, ...]) -> None:
    done = emotui(*words, "--db", "w.duckdb")
    assert done.status == 2
    assert "is empty" in done.err or "not in the range 1<=x<=1000" in done.err
