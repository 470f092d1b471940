"""Other architectures, however they place tokens and keep their past, score and write as their whole prompts do."""

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from transformers import AutoTokenizer

from emotui.backends.base import Generate, Message, Score
from emotui.backends.hf import load
from tests.backends.hf.models import TINY

SMALL: dict[str, Any] = {
    "vocab_size": 512, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 8, "max_position_embeddings": 256, "initializer_range": 0.2,
    "bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 2,
}  # fmt: skip
OLD: dict[str, Any] = {"vocab_size": 512, "bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 2}
ARCHITECTURES: dict[str, tuple[dict[str, Any], str]] = {
    "Qwen3": (SMALL, "packed"),
    "Mistral": (SMALL | {"sliding_window": 12}, "cached"),
    "Gemma2": (SMALL | {"sliding_window": 12}, "cached"),
    "GPT2": (OLD | {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 256, "initializer_range": 0.2}, "packed"),
    "GPTNeoX": (SMALL, "packed"),
    "Bloom": (OLD | {"hidden_size": 32, "n_layer": 2, "n_head": 4, "initializer_range": 0.2}, "cached"),
    "Mamba": (OLD | {"hidden_size": 32, "num_hidden_layers": 2, "initializer_range": 0.2}, "whole"),
}


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_scores_and_texts_are_those_of_whole_prompts(tmp_path: Path, name: str) -> None:
    values, way = ARCHITECTURES[name]
    torch.manual_seed(7)
    kind = "GPT2LMHeadModel" if name == "GPT2" else f"{name}ForCausalLM"
    plain = getattr(transformers, kind)(getattr(transformers, f"{name}Config")(**values)).eval()
    plain.save_pretrained(tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(TINY)
    tokenizer.save_pretrained(tmp_path)
    model = load(str(tmp_path), {"threads": 1}, lambda _: None)
    rows = model._rows
    assert ("packed" if rows.packs else "cached" if rows.plain_cache else "whole") == way
    requests = [Score("so " * n, ("Is it sad?", "Yes? No? Or what else?", "So?")) for n in (1, 4, 30)]
    yes = [tokenizer.encode(form)[0] for form in ("Yes", " Yes")]
    for request, scores in zip(requests, model.score(requests), strict=True):
        for place, question in enumerate(request.questions):
            ids = model._prompts.chat((Message("user", f"{request.text}\n\n{question}"),))
            with torch.no_grad():
                expected = plain(torch.tensor([ids])).logits[0, -1].log_softmax(-1)[yes].logsumexp(0)
            assert scores.yes[place] == pytest.approx(float(expected), abs=1e-3)
    asked = [Generate((Message("user", "so " * n),), 8) for n in (1, 4, 30)]
    for request, written in zip(asked, model.generate(asked), strict=True):
        ids = model._prompts.chat(request.messages)
        for _ in range(8):
            with torch.no_grad():
                following = int(plain(torch.tensor([ids])).logits[0, -1].argmax())
            if following == 1:
                break
            ids.append(following)
        expected_text = tokenizer.decode(ids[-written.tokens :] if written.tokens else [], skip_special_tokens=True)
        assert written.text == expected_text
