"""A direction that is added at a layer, on models in which a label is linear in a known one."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import BertForSequenceClassification

from emotui.backends.base import Classify, Generate, Message, Push, Rank, Refused
from emotui.backends.hf import load
from tests.backends.hf import models as hf_models

TEXTS = ("i am so very happy", "sad", "the dog ran home and we felt joy today .")
SIZE = 32


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Log-odds of `joy` are the first number of [CLS] behind the last layer, those of `fear` the second."""
    made = hf_models.bert(tmp_path_factory.mktemp("m") / "m", head="classes", labels=("joy", "fear"), multi=True)
    model = BertForSequenceClassification.from_pretrained(made)
    with torch.no_grad():
        model.bert.pooler.dense.weight.copy_(1e-3 * torch.eye(SIZE))
        model.bert.pooler.dense.bias.zero_()
        model.classifier.weight.copy_(1e3 * torch.eye(SIZE)[:2])
        model.classifier.bias.zero_()
    model.save_pretrained(made)
    return made


def open_model(folder: Path, **options: object) -> Any:
    return load(str(folder), {"threads": 1, "dtype": "float32", **options}, lambda _: None)


def odds(probs: Any) -> np.ndarray:
    p = np.array(list(probs.values()))
    return np.log(p / (1 - p))


def direction(*numbers: float) -> np.ndarray:
    return np.array([*numbers, *[0.0] * (SIZE - len(numbers))], np.float32)


def test_a_labels_own_direction_raises_that_label_alone_by_its_length(folder: Path) -> None:
    model = open_model(folder)
    assert "push" in model.card.capabilities
    plain = [odds(one.probs) for one in model.classify([Classify(text) for text in TEXTS])]
    for strength in (0.5, -2.0):
        found = model.push([Push(text, 2, direction(0.8).tobytes(), strength) for text in TEXTS])
        for before, one in zip(plain, found, strict=True):
            assert odds(one.probs) - before == pytest.approx([0.8 * strength, 0.0], abs=2e-3)


def test_random_directions_do_nothing_on_average(folder: Path) -> None:
    model = open_model(folder)
    (before,) = (odds(one.probs) for one in model.classify([Classify(TEXTS[0])]))
    random = np.random.default_rng(0).normal(size=(200, SIZE)).astype(np.float32)
    random /= np.linalg.norm(random, axis=1, keepdims=True)
    found = model.push([Push(TEXTS[0], 2, one.tobytes(), 1.0) for one in random])
    changes = np.array([odds(one.probs) - before for one in found])
    assert np.abs(changes.mean(0)).max() < 3 / np.sqrt(SIZE * len(random))
    assert changes.std(0) == pytest.approx(1 / np.sqrt(SIZE), rel=0.25)


def test_at_strength_0_nothing_changes_bit_for_bit(folder: Path) -> None:
    model = open_model(folder)
    huge = np.full(SIZE, 1e30, np.float32).tobytes()
    found = model.push([Push(text, layer, huge, 0.0) for layer in range(3) for text in TEXTS])
    assert [one.probs for one in found] == 3 * [one.probs for one in model.classify([Classify(text) for text in TEXTS])]


def test_what_goes_into_the_first_layer_is_pushed_as_by_another_bias(folder: Path) -> None:
    model = open_model(folder)
    vector = np.random.default_rng(1).normal(size=SIZE).astype(np.float32)
    (found,) = model.push([Push(TEXTS[0], 0, vector.tobytes(), 0.5)])
    bias = model._encoder.loaded.model.bert.embeddings.LayerNorm.bias
    with torch.no_grad():
        bias += 0.5 * torch.from_numpy(vector)
    assert found.probs == pytest.approx(model.classify([Classify(TEXTS[0])])[0].probs, abs=1e-5)


def test_hooks_are_gone_after_an_error_and_each_direction_is_added_to_its_own_request(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = open_model(folder)
    one, other, plain = direction(1.0).tobytes(), direction(0.0, 1.0).tobytes(), model.classify([Classify("sad")])[0]
    mixed = model.push([Push("sad", 2, one, 1.0), Push("sad", 2, other, 1.0), Push("sad", 2, one, 1.0)])
    changes = [(odds(each.probs) - odds(plain.probs)).round(2).tolist() for each in mixed]
    assert changes == [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]
    strange = model.push([Push("sad", 3, one, 1.0), Push("sad", 1, b"1234", 1.0)])
    assert strange == [
        Refused("there is no layer 3: the model has 0 to 2"),
        Refused("a state here has 32 numbers, not 1"),
    ]
    layers = model._encoder.loaded.model.bert.encoder.layer

    def hooks() -> list[list[int]]:
        return [[*layer._forward_hooks, *layer._forward_pre_hooks] for layer in layers]

    before = hooks()
    monkeypatch.setattr(model, "classify", lambda requests: 1 / 0)
    for layer in range(3):
        with pytest.raises(ZeroDivisionError):
            model.push([Push("sad", layer, one, 1.0)])
    assert hooks() == before


def test_a_model_that_writes_is_read_and_writes_pushed_and_its_perplexity_is_that_of_ranking() -> None:
    model = open_model(hf_models.TINY)
    size = model._loaded.model.config.hidden_size
    chat, ends = (Message("user", "How does she feel?"),), (" joy", " sadness")
    nothing = np.zeros(size, np.float32).tobytes()
    (found,) = model.push([Push("she weeps", 1, nothing, 0.0, None, chat, "", ends, write=8)])
    (ranked,), (text,) = model.rank([Rank("", ends, chat)]), model.rank([Rank("", ("she weeps",))])
    shares = np.exp(ranked.logprobs) / np.exp(ranked.logprobs).sum()
    assert list(found.probs.values()) == pytest.approx(shares)
    assert (found.logprob, found.tokens) == (text.logprobs[0], text.tokens[0])
    (written,) = model.generate([Generate(chat, max_tokens=8)])
    assert found.written == written.text
    far = (50 * np.random.default_rng(2).normal(size=size)).astype(np.float32).tobytes()
    (pushed,) = model.push([Push("she weeps", 1, far, 1.0, None, chat, "", ends, write=8)])
    assert pushed.logprob != found.logprob
    assert pushed.written != found.written


def test_a_model_of_masked_words_is_not_pushed(tmp_path: Path) -> None:
    assert "push" not in open_model(hf_models.bert(tmp_path / "m")).card.capabilities
