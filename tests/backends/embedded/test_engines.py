"""ONNX Runtime and NumPy compute what torch does, int8 nearly so, and each text goes through each encoder once."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file

from emotui.backends import embedded
from emotui.backends.base import Attribute, Classification, Classify, Embed, Extract, FillMask, Score, Scores
from emotui.backends.embedded import encoder as encoders
from emotui.backends.embedded.backend import EmbeddedBackend
from emotui.backends.embedded.base_files import base_files
from emotui.backends.embedded.encoder import GRAPHS, Encoder, Lately
from emotui.backends.embedded.inference import hidden_states
from emotui.backends.embedded.weights import Weights, committed_weights
from emotui.errors import BadModel, ModelError
from emotui.records import PLUTCHIK
from tests.paths import CHECKOUT
from tools.embedded.adapters import with_adapters
from tools.embedded.data import sample_passages, sample_scenes
from tools.embedded.encoder import load_encoder
from tools.embedded.graphs import graph
from tools.embedded.loop import padded

LONG = "The clerk put the file back on the second shelf. " * 30 + "I was so terrified that I screamed."


@pytest.fixture(scope="module")
def texts() -> list[str]:
    """Of every kind of sample: lines, passages, scenes; and what is long, empty, or no words."""
    passages = [passage.text for passage in sample_passages()]
    return [*passages[::30], *[text for _, text, _ in sample_scenes()][::90], LONG, "", "😭 …", "She was a horse, sir."]


@pytest.fixture(scope="module")
def onnx() -> EmbeddedBackend:
    return EmbeddedBackend(Weights(base_files(), engine="onnxruntime"))


@pytest.fixture(scope="module")
def by_numpy() -> EmbeddedBackend:
    return EmbeddedBackend(Weights(base_files(), engine="numpy"))


@pytest.fixture(scope="module")
def sharing() -> EmbeddedBackend:
    """Its encoders have no layers of their own."""
    return EmbeddedBackend(Weights(base_files(), shared=True))


@pytest.mark.parametrize("engine", ["onnxruntime", "shared layers", "numpy"])
@pytest.mark.parametrize("task", [None, "goemotions", "plutchik", "spans"])
def test_every_encoder_computes_what_torch_computes(
    onnx: EmbeddedBackend,
    sharing: EmbeddedBackend,
    by_numpy: EmbeddedBackend,
    texts: list[str],
    engine: str,
    task: str | None,
) -> None:
    weights = {"onnxruntime": onnx, "shared layers": sharing, "numpy": by_numpy}[engine].weights
    reference = load_encoder(base_files().model)
    if task is not None:
        reference = with_adapters(reference, load_file(committed_weights() / f"{task}.safetensors"))
    found = weights.base if task is None else getattr(weights, task).encoder
    ids = weights.pieces.ids(texts[::3], 256)
    with torch.inference_mode():
        wanted = reference(*padded(ids)).numpy()
    seen = 0
    for number, states in hidden_states(found, ids):
        assert np.abs(states - wanted[number, : len(ids[number])]).max() < 1e-4
        seen += 1
    assert seen == len(ids)


def answers(backend: EmbeddedBackend, texts: list[str]) -> dict[str, Any]:
    classes = backend.classify([Classify(text) for text in texts])
    scores = backend.score([Score(text, PLUTCHIK) for text in texts])
    spans = {
        way: EmbeddedBackend(backend.weights, way).extract([Extract(text) for text in texts])
        for way in ("auto", "cues", "clauses")
    }
    filled = backend.fill_mask([FillMask(f"{text} I felt so <mask>.") for text in texts[::4]])
    carried = backend.attribute([Attribute(text) for text in texts[-3:]])
    return {
        "labels": [one.label for one in classes if isinstance(one, Classification)],
        "probabilities": [list(one.probs.values()) for one in classes if isinstance(one, Classification)],
        "scores": [[one.yes, one.no] for one in scores if isinstance(one, Scores)],
        "spans": {way: [[(s.start, s.end, s.label) for s in one] for one in found] for way, found in spans.items()},
        "strengths": [s.strength for found in spans.values() for one in found for s in one],
        "words": [dict(mask) for one in filled for mask in one.masks],  # type: ignore[union-attr]
        "drops": [[drop for *_, drop in one.words] for one in carried],  # type: ignore[union-attr]
        "embeddings": backend.embed([Embed(text) for text in texts]),
    }


@pytest.fixture(scope="module")
def answered(onnx: EmbeddedBackend, texts: list[str]) -> dict[str, Any]:
    return answers(onnx, texts)


@pytest.mark.parametrize("engine", ["shared layers", "numpy"])
def test_all_engines_give_the_same_answers(
    onnx: EmbeddedBackend,
    sharing: EmbeddedBackend,
    by_numpy: EmbeddedBackend,
    answered: dict[str, Any],
    texts: list[str],
    engine: str,
) -> None:
    compared = sharing if engine == "shared layers" else by_numpy
    one, other = answered, answers(compared, texts)
    assert onnx.card.identity == compared.card.identity
    assert (one["labels"], one["spans"]) == (other["labels"], other["spans"])
    for name in ("probabilities", "scores", "strengths", "embeddings"):
        assert np.abs(np.array(one[name]) - np.array(other[name])).max() < 1e-4, name
    for name in ("words", "drops"):
        for left, right in zip(one[name], other[name], strict=True):
            assert left == pytest.approx(right, abs=1e-4), name


CALM, FICTION = (
    "They forgot my birthday again. ",
    "She looked out upon the cold grey sea, and a nameless dread took her heart. ",
)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(CALM, id="line"),
        pytest.param(FICTION, id="fiction"),
        pytest.param("He waited for an hour. Nobody came. She was sad. He left.", id="scene"),
        pytest.param(f"{FICTION} I felt so <mask>.", id="mask"),
        pytest.param(CALM * 8, id="long"),
        pytest.param(FICTION * 8, id="long fiction"),
    ],
)
@pytest.mark.skipif(sys.platform != "linux", reason="other systems count in other units")
def test_a_probe_takes_at_most_250_mb_whatever_the_text_is_like(text: str, tmp_path: Path) -> None:
    homes = {f"XDG_{name}_HOME": str(tmp_path) for name in ("DATA", "CONFIG", "STATE")}
    # Until it runs a program of its own, a process counts as large as the one that it comes from: that is a small one.
    largest = (
        "import resource, subprocess, sys\n"
        "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
    )
    command = [sys.executable, "-m", "emotui", "probe", text, "--model", "embedded", "--json"]
    done = subprocess.run(
        [sys.executable, "-c", largest, *command], env=os.environ | homes, cwd=CHECKOUT, capture_output=True, check=True
    )
    assert int(done.stdout) <= 250 * 1024


def test_a_run_that_torch_made_has_the_same_identity(onnx: EmbeddedBackend) -> None:
    found = onnx.card.identity
    assert {name: found[name] for name in ("dtype", "spans", "torch")} == {
        "dtype": "float32",
        "spans": "auto",
        "torch": "2.13.0+cpu",
    }
    assert set(found) == {"base", "dtype", "spans", "torch", "calibration.json"} | {
        path.name for path in committed_weights().glob("*.safetensors")
    }


def test_int8_is_a_model_of_its_own_that_mostly_says_the_same(answered: dict[str, Any], texts: list[str]) -> None:
    whole = embedded.load("#dtype=int8", {}, lambda _: None)
    assert whole.card.identity["dtype"] == "int8"
    assert "torch" not in whole.card.identity
    mine, others = answers(whole, texts), answered
    same = np.mean([a == b for a, b in zip(mine["labels"], others["labels"], strict=True)])
    assert same >= 0.85
    assert (mine["embeddings"] * others["embeddings"]).sum(1).min() > 0.95
    assert np.abs(mine["embeddings"] - others["embeddings"]).max() > 1e-4


def test_the_graphs_are_those_that_the_script_makes_and_hold_no_weights() -> None:
    for dtype, name in GRAPHS.items():
        made = graph(dtype).SerializeToString(deterministic=True)
        assert (committed_weights() / name).read_bytes() == made
        assert len(made) < 3000


def test_onnx_runtime_makes_no_identity_of_this_machine_and_no_queue_of_events(tmp_path: Path) -> None:
    code = (
        "from emotui.backends import embedded\n"
        "from emotui.backends.base import Classify\n"
        "embedded.load('', {}, lambda _: None).classify([Classify('Oh.')])\n"
    )
    homes = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache"), "XDG_DATA_HOME": str(tmp_path / "data")}
    environment = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"} | homes
    subprocess.run([sys.executable, "-c", code], env=environment, cwd=CHECKOUT, check=True)
    folders = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_dir()}
    assert folders == {"cache", "cache/emotui", "cache/emotui/weights"}


def test_neither_loading_nor_an_answer_imports_torch() -> None:
    code = (
        "import sys\n"
        "from emotui.backends import embedded\n"
        "from emotui.backends.base import *\n"
        "model = embedded.load('', {}, lambda _: None)\n"
        "model.classify([Classify('Oh.')]), model.extract([Extract('Oh.')]), model.embed([Embed('Oh.')])\n"
        "model.score([Score('Oh.', ('joy',))]), model.attribute([Attribute('Oh.')])\n"
        "model.fill_mask([FillMask('I am <mask>.')])\n"
        "heavy = {'torch', 'transformers', 'sentence_transformers', 'scipy'}\n"
        "sys.exit(' '.join(sorted(heavy & set(sys.modules))) or 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=CHECKOUT)
    assert done.returncode == 0, done.stderr


def test_where_onnx_runtime_does_not_run_numpy_answers_and_int8_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ImportError("libonnxruntime.so.1: cannot open shared object file")

    monkeypatch.setattr(encoders, "onnx_layer", broken)
    (answer,) = embedded.load("", {}, lambda _: None).classify([Classify("I am so sad, I cried all night.")])
    assert isinstance(answer, Classification)
    assert answer.label == "sadness"
    with pytest.raises(ModelError, match=r"libonnxruntime\.so\.1: .*install --force-reinstall onnxruntime$"):
        embedded.load("#dtype=int8", {}, lambda _: None).classify([Classify("Oh.")])


def test_options_follow_the_name_and_those_beside_it_win() -> None:
    assert embedded.load("#spans=cues&threads=2", {}, lambda _: None).spans == "cues"
    assert embedded.load("#spans=cues", {"spans": "clauses"}, lambda _: None).spans == "clauses"
    for wrong in ("#threads=0", "#threads=many", "#spans=lines", "#dtype=int4", "#thread=2", "x", "#spans"):
        with pytest.raises(BadModel, match=r"^embedded:"):
            embedded.load(wrong, {}, lambda _: None)


def test_each_text_goes_through_each_encoder_once(onnx: EmbeddedBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    rows: Counter[Encoder] = Counter()
    forward = Encoder.__call__

    def counted(self: Encoder, ids: Any, lengths: Any, *depth: int) -> Any:
        rows[self] += len(lengths)
        return forward(self, ids, lengths, *depth)

    monkeypatch.setattr(Encoder, "__call__", counted)
    new = ["Nobody had told me, and so I wept.", "My hands shook; I could not stop smiling.", "It went well, I think."]
    onnx.extract([Extract(text) for text in new])
    assert sorted(rows.values()) == [3, 3]  # GoEmotions' and the base: what is evidence, and what of
    onnx.classify([Classify(text) for text in new])
    onnx.embed([Embed(text) for text in [*new, *new]])
    assert sorted(rows.values()) == [3, 3]
    onnx.score([Score(text, PLUTCHIK) for text in new])
    assert sorted(rows.values()) == [3, 3, 3]  # Plutchik's own adapters


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 12), max_size=40), st.integers(1, 30))
def test_what_was_read_lately_is_kept_up_to_a_number_of_tokens(lengths: list[int], most: int) -> None:
    lately, order = Lately(most), []
    for number, length in enumerate(lengths):
        ids = (number, *[0] * (length - 1))
        lately.keep(ids, np.full((length, 384), number, np.float32))
        order.append(ids)
    kept = [ids for ids in order if lately.get(ids) is not None]
    assert sum(map(len, kept)) <= most
    assert kept == order[len(order) - len(kept) :]
    left = order[: len(order) - len(kept)]
    assert not left or sum(map(len, kept)) + len(left[-1]) > most
    for ids in kept:
        states = lately.get(ids)
        assert states is not None
        assert (states == ids[0]).all()
