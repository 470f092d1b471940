"""A GGUF model that embeds gives the vectors of the original: all-MiniLM-L6-v2 in llama.cpp and as embedded.

Needs llama-cpp-python and gguf: `pip install llama-cpp-python gguf`, which compiles for minutes.
"""

from collections.abc import Iterator

import numpy as np
import pytest

pytest.importorskip("llama_cpp", reason="llama-cpp-python compiles for minutes: see docs/models.md")
pytest.importorskip("gguf")

from emotui.backends import gguf
from emotui.backends.base import Embed, Generate, Message
from emotui.backends.embedded.base_files import base_files
from emotui.backends.gguf.embedding import GgufEmbedder
from emotui.backends.host import ModelProcess
from emotui.errors import ModelError
from tests.tiny.minilm_gguf import write_minilm

TEXTS = [
    "I was over the moon when she called.",
    "He slammed the door, furious.",
    "",
    "caf\u00e9 na\u00efve \u4e2d\u6587 \U0001f622!",
    "[CLS] is text here [SEP]",
    "word " * 100,
    "word " * 900,
]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GgufEmbedder]:
    files = base_files()
    path = write_minilm(files.model, files.tokenizer, tmp_path_factory.mktemp("minilm") / "minilm.gguf")
    loaded = gguf.load(str(path), {"threads": 1}, lambda line: None)
    assert isinstance(loaded, GgufEmbedder)
    yield loaded
    loaded.close()


@pytest.fixture(scope="module")
def original(model: GgufEmbedder) -> np.ndarray:
    import torch
    from tokenizers import Tokenizer
    from transformers import BertConfig, BertModel

    files = base_files()
    tokenizer = Tokenizer.from_file(str(files.tokenizer))
    tokenizer.no_padding()
    tokenizer.enable_truncation(512)
    config = BertConfig(
        hidden_size=384, intermediate_size=1536, num_hidden_layers=6, num_attention_heads=12, layer_norm_eps=1e-12
    )
    bert = BertModel(config, add_pooling_layer=False)
    from safetensors.torch import load_file

    bert.load_state_dict(load_file(files.model), strict=False)
    bert.eval()
    rows = []
    with torch.inference_mode():
        for text in TEXTS:
            # Look-alikes of control tokens are characters in llama.cpp, and control tokens in this tokeniser.
            ids = tokenizer.encode(text.replace("[CLS]", "[ CLS ]").replace("[SEP]", "[ SEP ]")).ids
            rows.append(bert(torch.tensor([ids])).last_hidden_state[0].mean(0).numpy())
    found = np.array(rows)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def test_vectors_are_those_of_the_original(model: GgufEmbedder, original: np.ndarray) -> None:
    found = model.embed([Embed(text) for text in TEXTS])
    assert found.shape == (len(TEXTS), 384)
    assert found.dtype == np.float32
    assert np.linalg.norm(found, axis=1) == pytest.approx(1, abs=1e-5)
    assert (found * original).sum(axis=1) == pytest.approx(1, abs=1e-3)


def test_a_vector_does_not_depend_on_what_stands_beside_it(model: GgufEmbedder) -> None:
    together = model.embed([Embed(text) for text in TEXTS])
    assert np.array_equal(together[::-1], model.embed([Embed(text) for text in TEXTS[::-1]]))
    assert np.array_equal(together[:1], model.embed([Embed(TEXTS[0])]))


def test_a_text_that_is_too_long_keeps_its_frame(model: GgufEmbedder) -> None:
    ids = model._vocabulary.encode_framed("word " * 900, 512)
    frame = model._vocabulary.encode("", framed=True)
    assert len(ids) == 512
    assert [ids[0], ids[-1]] == frame


def test_what_it_cannot_do_names_the_kinds_that_can(model: GgufEmbedder) -> None:
    assert model.card.capabilities == ("embed",)
    with ModelProcess(model.card.spec) as process:
        assert process.ask([Embed(TEXTS[0])]).shape == (1, 384)
        with pytest.raises(ModelError, match=r"cannot generate; kinds of model that can: hf:, other gguf:, openai:"):
            process.ask([Generate((Message("user", "x"),))])
