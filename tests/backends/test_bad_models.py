"""Every model that cannot be used is one clear line through the commands, and the store is as it was (issue section 8).

What the libraries themselves would say, and further ways to be broken: `test_hf_files`, `test_gguf_files`, `test_host`.
"""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from emotui.backends import hf
from emotui.backends.hf import devices
from emotui.errors import ModelError
from emotui.store.store import Store
from tests.backends.servers.faulty_server import FaultyServer
from tests.conftest import Emotui
from tests.paths import TESTS

TINY = TESTS / "tiny" / "model"
TEXT = "Ada wept for hours at the station."
LLAMA, WARPD = b"\x05\0\0\0\0\0\0\0llama", b"\x05\0\0\0\0\0\0\0warpd"


def empty_folder(folder: Path) -> str:
    (folder / "empty").mkdir()
    return f"hf:{folder / 'empty'}"


def cut_weights(folder: Path) -> str:
    model = shutil.copytree(TINY / "hf", folder / "cut")
    (model / "model.safetensors").write_bytes((TINY / "hf" / "model.safetensors").read_bytes()[:5000])
    return f"hf:{model}"


def strange_type(folder: Path) -> str:
    model = shutil.copytree(TINY / "hf", folder / "strange")
    config = json.loads((model / "config.json").read_text())
    (model / "config.json").write_text(json.dumps(config | {"model_type": "warpdrive"}))
    return f"hf:{model}"


def cut_gguf(folder: Path) -> str:
    (folder / "cut.gguf").write_bytes((TINY / "tiny-Q8_0.gguf").read_bytes()[:200_000])
    return f"gguf:{folder / 'cut.gguf'}"


def strange_gguf(folder: Path) -> str:
    pytest.importorskip("llama_cpp")
    whole = (TINY / "tiny-Q8_0.gguf").read_bytes()
    (folder / "strange.gguf").write_bytes(whole.replace(LLAMA, WARPD).replace(b"llama.", b"warpd."))
    return f"gguf:{folder / 'strange.gguf'}"


def no_server(folder: Path) -> str:
    pytest.importorskip("aiohttp")
    return "openai:tiny@http://127.0.0.1:9/v1"


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    path = tmp_path / "texts.jsonl"
    path.write_text(json.dumps({"id": "a", "text": TEXT, "spans": [[4, 18]]}))
    return path


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@pytest.mark.parametrize(
    ("make", "status", "why"),
    [
        (empty_folder, 2, "is no model's directory: it has no config.json"),
        (cut_weights, 2, "model.safetensors is cut short (5,000 of "),
        (strange_type, 1, "is a model of type 'warpdrive', which transformers"),
        (lambda folder: "hf:/nowhere/at all", 2, "found no directory /nowhere/at all"),
        (lambda folder: "gguf:nowhere.gguf", 2, "There is no file nowhere.gguf"),
        (cut_gguf, 2, "cut.gguf is cut short (200.0 kB of 557.0 kB): download it again"),
        (strange_gguf, 1, "is a 'warpd' model, an architecture that llama-cpp-python"),
        (no_server, 1, "No server answers at http://127.0.0.1:9/v1 (Connection refused)"),
        (lambda folder: "openai:tiny", 2, "openai:MODEL@http://HOST:PORT/v1"),
        (lambda folder: "warp:x", 2, "no backend of kind 'warp' is installed"),
        (lambda folder: "embedded:x", 2, "there is one embedded model, and only options follow its name"),
        (lambda folder: "gguf:", 2, "gguf: needs a file: gguf:PATH/model.gguf"),
        (lambda folder: "hf:", 2, "hf: found no directory (none named)"),
        (lambda folder: "hf:~no-such-person/x", 2, "cannot be looked at: there is no such home directory"),
        (lambda folder: f"gguf:{'x' * 3000}#kv=f32", 2, "cannot be looked at: File name too long"),
    ],
)
def test_it_is_one_line_and_the_store_is_as_it_was(
    emotui: Emotui, tmp_path: Path, texts: Path, make: Callable[[Path], str], status: int, why: str
) -> None:
    spec, db = make(tmp_path), tmp_path / "w.emotui"
    for command in (("run", "spans", "--dataset", texts, "--db", db), ("probe", TEXT)):
        got = emotui(*command, "--model", spec, "--json")
        assert (got.status, got.out, got.err.count("\n")) == (status, "", 1), got.err
        assert why in got.err
    if db.exists():  # what can be seen before the texts are read leaves no store
        store = Store.open(db, read_only=True, create=False)
        assert [dataset.name for dataset in store.datasets.all()] == ["texts"]
        assert store.runs.all() == []


def test_a_model_without_a_chat_template_answers_and_says_how_it_was_asked(
    emotui: Emotui, tmp_path: Path, texts: Path
) -> None:
    bare = shutil.copytree(TINY / "hf", tmp_path / "bare")
    (bare / "chat_template.jinja").unlink()
    (tmp_path / "own.toml").write_text('[retrieve]\nuser = "Evidence: {text}"\n')
    asked = ("--model", f"hf:{bare}", "--prompts", "own.toml", "--max-tokens", "20", "--retries", "0")
    line = f"hf:{bare}: No chat template: prompts are sent as plain text\n"
    for command in (("predict", "spans", "--records"), ("run", "spans", "--dataset")):
        got = emotui(*command, texts, *asked, "--json")
        assert (got.status, got.err, got.document["failed"]) == (0, line, 0)


@pytest.mark.parametrize("kind", ["hf", "gguf"])
def test_a_prompt_longer_than_the_context_is_refused_alone_with_its_length(
    emotui: Emotui, tmp_path: Path, kind: str
) -> None:
    if kind == "gguf":
        pytest.importorskip("llama_cpp")
    spec = f"hf:{TINY / 'hf'}" if kind == "hf" else f"gguf:{TINY / 'tiny-Q8_0.gguf'}"
    lines = [{"id": "long", "text": TEXT * 60, "spans": []}, {"id": "short", "text": TEXT, "spans": []}]
    (tmp_path / "texts.jsonl").write_text("\n".join(map(json.dumps, lines)))
    (tmp_path / "own.toml").write_text('[retrieve]\nuser = "Evidence: {text}"\n')
    asked = ("--model", spec, "--prompts", "own.toml", "--json")
    got = emotui("predict", "spans", "--records", "texts.jsonl", *asked)
    assert (got.status, got.document["failed"]) == (1, 1)
    assert got.err.startswith("texts.jsonl:1: the prompt has ")
    assert got.err.endswith(" tokens, and the model's context holds 512\n")
    assert got.document["records"][1]["output"] == "wept for hours"
    ran = emotui("run", "spans", "--dataset", "texts.jsonl", *asked).document
    assert (ran["n"], ran["done"], ran["failed"]) == (2, 1, 1)


def test_no_memory_is_told_before_anything_is_loaded(
    emotui: Emotui, tmp_path: Path, texts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(devices, "free_memory", lambda: 1_000_000)
    with pytest.raises(ModelError, match=r"needs 1\.0 MB of memory .* and 1\.0 MB are free: take a smaller model"):
        hf.load(str(TINY / "hf"), {"device": "cpu", "dtype": "float16", "threads": 1}, lambda line: None)
    assert hf.load(f"{TINY / 'hf'}#check_memory=false", {"threads": 1}, lambda line: None).card.capabilities
    pytest.importorskip("llama_cpp")
    got = emotui("run", "spans", "--dataset", texts, "--model", f"gguf:{TINY / 'tiny-Q8_0.gguf'}#context=2000000000")
    assert (got.status, got.err.count("\n")) == (1, 1)
    assert "are free: take a smaller quantisation or context" in got.err


@pytest.fixture
def locked() -> Iterator[FaultyServer]:
    pytest.importorskip("aiohttp")
    with FaultyServer(key="sk-right") as server:
        yield server


@pytest.fixture(params=["", "sk-wrong-and-secret"])
def key(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """In the environment of whatever is run; it comes before `emotui`, which takes that as it finds it."""
    monkeypatch.setenv("OPENAI_API_KEY", request.param)
    return str(request.param)


def test_a_wrong_key_is_one_line_without_the_key(
    key: str, emotui: Emotui, tmp_path: Path, texts: Path, locked: FaultyServer
) -> None:
    db = tmp_path / "w.emotui"
    got = emotui("run", "spans", "--dataset", texts, "--model", f"openai:{locked.spec}", "--db", db)
    assert (got.status, got.err.count("\n")) == (1, 1)
    assert ("refuses the key in OPENAI_API_KEY" if key else "wants a key (HTTP 401): set OPENAI_API_KEY") in got.err
    assert "secret" not in got.err + got.out
    assert b"secret" not in db.read_bytes()
