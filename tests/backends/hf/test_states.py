"""Hidden states by layer agree with the plain library's, and the logit lens with the model's own answers."""

import gc
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoModelForCausalLM, AutoTokenizer

from emotui.backends.base import HiddenStates, Message, Rank, Refused, States
from emotui.backends.hf import load
from emotui.backends.hf.states import layers_of
from tests.backends.hf import models as hf_models

TEXTS = ["i am so very happy", "sad", "the dog ran home and we felt joy today .", "unheard words"]


def open_model(folder: Path, **options: object) -> Any:
    return load(str(folder), {"threads": 1, **options}, lambda _: None)


def plain_states(folder: Path, text: str, auto: Any = AutoModel) -> tuple[list[torch.Tensor], list[int]]:
    """Every token's state at every layer, and which tokens are the text's own."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    read = tokenizer(text, return_tensors="pt", return_special_tokens_mask=True)
    own = [at for at, special in enumerate(read.pop("special_tokens_mask")[0].tolist()) if not special]
    with torch.no_grad():
        out = auto.from_pretrained(folder, dtype=torch.float32).eval()(**read, output_hidden_states=True)
    return [states[0] for states in out.hidden_states], own


@pytest.mark.parametrize("make", [hf_models.bert, hf_models.roberta])
def test_an_encoders_states_are_the_plain_librarys(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    folder = make(tmp_path / "model")
    model = open_model(folder)
    assert "states" in model.card.capabilities
    for text, found in zip(TEXTS, model.states([States(text) for text in TEXTS]), strict=True):
        states, own = plain_states(folder, text)
        assert (found.layers, found.depth, found.truncated) == ((0, 1, 2), 2, False)
        expected = torch.stack([layer[own].mean(0) for layer in states]).numpy()
        assert found.array()[:, 0] == pytest.approx(expected, abs=5e-3)


def test_only_the_layers_that_are_asked_for_are_kept(tmp_path: Path) -> None:
    model = open_model(hf_models.bert(tmp_path / "model"))
    whole, part, strange = model.states([States(TEXTS[0]), States(TEXTS[0], (2, 0)), States(TEXTS[0], (3,))])
    assert part.layers == (2, 0)
    assert part.array() == pytest.approx(whole.array()[[2, 0]], abs=1e-3)
    assert strange == Refused("there is no layer 3: the model has 0 to 2")


def most_alive(model: Any, ask: Callable[[], object]) -> int:
    """How many tensors as large as a layer's states there were at once while it was asked."""
    counts: list[int] = []

    def look(_: Any, __: Any, out: Any) -> None:
        states = out[0] if isinstance(out, tuple) else out
        alive = (one for one in gc.get_objects() if isinstance(one, torch.Tensor) and one.shape == states.shape)
        counts.append(len({one.data_ptr() for one in alive}))

    hooks = [layer.register_forward_hook(look) for layer in layers_of(model) or ()]
    ask()
    for hook in hooks:
        hook.remove()
    return max(counts)


@pytest.mark.parametrize("layers", [(1,), None])
def test_states_of_no_layer_outlive_the_next_ones_whichever_are_asked_for(
    tmp_path: Path, layers: tuple[int, ...] | None
) -> None:
    text = " ".join(TEXTS)
    most, library = [], []
    for depth in (3, 9):
        folder = hf_models.llama(tmp_path / f"{depth}", layers=depth)
        model = open_model(folder)
        most.append(most_alive(model._loaded.model, partial(model.states, [States(text, layers)])))
        plain = AutoModelForCausalLM.from_pretrained(folder).eval()
        read = AutoTokenizer.from_pretrained(folder)(text, return_tensors="pt")
        library.append(most_alive(plain, torch.no_grad()(partial(plain, **read, output_hidden_states=True))))
    assert most[0] == most[1]
    assert library[1] >= library[0] + 6  # where all are kept, there is one a layer more


def test_a_words_state_is_the_mean_over_its_tokens(tmp_path: Path) -> None:
    folder = hf_models.bert(tmp_path / "model")
    (found,) = open_model(folder).states([States("dogs ran home", over="words")])
    states, _ = plain_states(folder, "dogs ran home")
    assert found.words == ((0, 4), (5, 8), (9, 13))
    # [CLS] dog ##s ran home [SEP]
    assert found.array()[2, 0] == pytest.approx(states[2][[1, 2]].mean(0).numpy(), abs=5e-3)
    assert found.array()[1, 2] == pytest.approx(states[1][4].numpy(), abs=5e-3)


def test_a_model_that_writes_is_read_at_its_last_token_whatever_stands_beside_it_in_the_batch() -> None:
    model = open_model(hf_models.TINY, dtype="float32")
    together = model.states([States(text, over="last") for text in TEXTS])
    for text, found in zip(TEXTS, together, strict=True):
        states, _ = plain_states(hf_models.TINY, text, AutoModelForCausalLM)
        # What the library calls the last state has gone through the last norm; the others are the layers' own.
        expected = np.stack([states[layer][-1].numpy() for layer in range(3)])
        assert found.array()[:3, 0] == pytest.approx(expected, abs=2e-2, rel=2e-3)


def test_the_logit_lens_at_the_last_layer_is_the_models_own_log_probability() -> None:
    model = open_model(hf_models.TINY, dtype="float32")
    endings = (" joy", " sadness", " Yes", " no evidence at all")
    chat = (Message("user", "How does she feel?"),)
    found, asked = model.states(
        [
            States("she weeps", over="last", continuations=endings),
            States("", over="last", messages=chat, continuations=endings),
        ]
    )
    plain, chatted = model.rank([Rank("she weeps", endings), Rank("", endings, chat)])
    assert len(found.logprobs) == len(found.layers) == 4
    assert found.logprobs[-1] == pytest.approx(plain.logprobs, abs=1e-3)
    assert asked.logprobs[-1] == pytest.approx(chatted.logprobs, abs=1e-3)
    assert found.logprobs[0] != pytest.approx(plain.logprobs, abs=1e-1)


def test_the_lens_reads_each_layer_by_the_last_norm_and_the_unembedding() -> None:
    model = open_model(hf_models.TINY, dtype="float32")
    (found,) = model.states([States("she weeps", (1, 2), "last", continuations=(" joy",))])
    plain = AutoModelForCausalLM.from_pretrained(hf_models.TINY, dtype=torch.float32).eval()
    tokenizer = AutoTokenizer.from_pretrained(hf_models.TINY)
    ids = [*tokenizer("she weeps")["input_ids"], *tokenizer(" joy", add_special_tokens=False)["input_ids"]]
    n = len(tokenizer(" joy", add_special_tokens=False)["input_ids"])
    with torch.no_grad():
        states = plain(torch.tensor([ids]), output_hidden_states=True).hidden_states
        for place, layer in enumerate((1, 2)):
            logprobs = plain.lm_head(plain.model.norm(states[layer][0, -n - 1 : -1])).log_softmax(-1)
            expected = float(logprobs.gather(1, torch.tensor(ids[-n:])[:, None]).sum())
            assert found.logprobs[place][0] == pytest.approx(expected, abs=1e-3)


def test_an_encoder_reads_no_continuation_and_an_encoder_decoder_tells_no_states(tmp_path: Path) -> None:
    model = open_model(hf_models.bert(tmp_path / "bert"))
    assert model.states([States("sad", continuations=("joy",))]) == [
        Refused("only a model that writes reads a chat, or continuations")
    ]
    assert "states" not in open_model(hf_models.t5(tmp_path / "t5")).card.capabilities


def test_a_text_without_a_token_and_one_that_is_cut(tmp_path: Path) -> None:
    model = open_model(hf_models.bert(tmp_path / "bert"))
    empty, long = model.states([States(""), States("joy " * 200)])
    assert empty.array().shape == (3, 1, 32)
    assert long.truncated


def test_states_too_large_for_float16_are_scaled() -> None:
    from emotui.backends.base import hidden_states_of

    big = np.array([[[1e6, -3.0]], [[0.5, 0.25]]], np.float32)
    found = hidden_states_of(big, (0, 1), 1)
    assert found.scales == (16.0, 1.0)
    assert found.array() == pytest.approx(big, rel=2e-3, abs=0.1)
    assert isinstance(found, HiddenStates)
