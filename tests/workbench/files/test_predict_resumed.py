"""`emotui predict` after a kill: what was answered is there, and the file becomes the same byte for byte."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from emotui.workbench.files.predict import BATCH
from tests.backends.installed_kind import install_kind
from tests.conftest import Emotui
from tests.paths import CHECKOUT
from tests.waiting import LONGEST

LOADER = "tests.backends.killing_backend:load"
N = 6 * BATCH + 3
HEAD = 1
"""Lines of a file of answers before the first of them."""


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    path = tmp_path / "texts.jsonl"
    lines = [{"id": f"t{n}", "text": f"{'KILL ' * (n == 5 * BATCH)}I wept {n} times"} for n in range(N)]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path


def killed(folder: Path) -> int:
    """`emotui predict` in a process of its own, which its model kills; the status that it ends with."""
    code = (
        "import sys; from emotui.backends import host, spec; "
        f"spec.BUILT_IN['killing'] = {LOADER!r}; "
        "begin = 'from emotui.backends.child'; "
        f"""host._BOOT = host._BOOT.replace(begin, "from emotui.backends import spec; "
            "spec.BUILT_IN['killing'] = {LOADER!r}; " + begin); """
        "sys.argv = ['emotui', 'predict', 'spans', '--model', 'killing:', '--records', 'texts.jsonl', "
        "'--to', 'out.jsonl']; from emotui.__main__ import main; main()"
    ).replace("\n", " ")
    environment = os.environ | {
        "PYTHONPATH": str(CHECKOUT),
        "XDG_DATA_HOME": str(folder / "home"),
        "KILLED_BY": str(folder / "out.jsonl.part"),
    }
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, env=environment, timeout=LONGEST, check=False)
    return done.returncode


def test_a_killed_predict_goes_on_to_the_same_bytes(
    emotui: Emotui, texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert killed(tmp_path) == -signal.SIGKILL
    part = tmp_path / "out.jsonl.part"
    kept = part.read_bytes()
    assert not (tmp_path / "out.jsonl").exists()
    part.write_bytes(kept + b'[400,401,null,{"id":"t4')  # what a kill in the middle of writing leaves
    install_kind(monkeypatch, "killing", LOADER)
    asked = ("predict", "spans", "--model", "killing:", "--records", texts)
    resumed = emotui(*asked, "--to", "out.jsonl", "--json")
    before = kept.count(b"\n") - HEAD
    assert before >= 1
    assert resumed.err == f"{before} of {N} were answered before: going on\n"
    assert (resumed.document["n"], resumed.document["failed"], len(resumed.document["records"])) == (N, 0, N)
    whole = emotui(*asked, "--to", "whole.jsonl")
    assert (whole.status, whole.err) == (0, "")
    assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert list(tmp_path.glob("*.part")) == []


def test_a_model_is_asked_about_as_many_texts_together_as_it_wants(
    emotui: Emotui, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_kind(monkeypatch, "killing", LOADER)
    lines = [{"id": str(n), "text": "I wept " * 20, "spans": []} for n in range(100)]
    (tmp_path / "t.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    batches = [*[40] * 80, *[20] * 20]
    told = emotui("predict", "spans", "--model", "killing:40", "--records", "t.jsonl", "--json").document
    assert [record["spans"][0]["end"] for record in told["records"]] == batches
    ran = emotui("run", "spans", "--model", "killing:40", "--dataset", "t.jsonl", "--json").document
    emotui("export", ran["run"], "--to", "out.jsonl")
    said = map(json.loads, (tmp_path / "out.jsonl").read_text("utf-8").splitlines())
    assert [one["spans"][0]["end"] for one in said] == batches


def test_answers_to_other_texts_are_not_gone_on_with(
    emotui: Emotui, texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = tmp_path / "out.jsonl.part"
    part.write_text('{"emotui predict":"something else"}\n[0,1,null,{"id":"t0"}]\n', encoding="utf-8")
    install_kind(monkeypatch, "killing", LOADER)
    asked = ("predict", "spans", "--model", "killing:", "--records", texts, "--to", "out.jsonl")
    refused = emotui(*asked)
    assert (refused.status, refused.err.count("\n")) == (2, 1)
    assert "out.jsonl.part: holds answers to something else" in refused.err
    assert part.exists()
    assert emotui(*asked, "--fresh").status == 0
    assert len((tmp_path / "out.jsonl").read_text("utf-8").splitlines()) == N
    assert not part.exists()


@pytest.mark.parametrize("content", [b"mine, on one line", b"mine\nand more\n", b"\x00\x01"])
@pytest.mark.parametrize("fresh", [(), ("--fresh",)])
def test_a_file_that_is_called_like_the_kept_answers_and_holds_none_is_left_as_it_is(
    emotui: Emotui, texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, fresh: tuple[str, ...]
) -> None:
    install_kind(monkeypatch, "killing", LOADER)
    part = tmp_path / "out.jsonl.part"
    part.write_bytes(content)
    done = emotui("predict", "spans", "--model", "killing:", "--records", texts, "--to", "out.jsonl", *fresh)
    assert (done.status, part.read_bytes()) == (2, content)
    assert "out.jsonl.part: holds no answers of emotui's" in done.err
    assert not (tmp_path / "out.jsonl").exists()
