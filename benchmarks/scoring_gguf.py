"""How much quicker llama.cpp answers eight questions about one text when the text is read once.

    python benchmarks/scoring_gguf.py [--scenarios 64] [--threads N] [--kind F32]

A random Llama of 25 million parameters; each scenario has about 150 tokens and eight questions of 8 to 14. The naive
loop reads every prompt from its beginning; the two take turns, scenario by scenario, so that what else runs on the
machine slows both. Needs llama-cpp-python, gguf, torch and transformers.
"""

import argparse
import json
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from emotui.backends.base import Message, Score, Scores
from emotui.backends.gguf import load
from emotui.backends.gguf.model import GgufModel
from emotui.backends.yesno import find_forms, read_logits
from emotui.records import PLUTCHIK
from tests.tiny.corpus import SEED, question_of, sentence
from tests.tiny.gguf_file import write_gguf

TOKENIZER = Path(__file__).parent.parent / "tests" / "tiny" / "model" / "hf"
CHARACTERS = 370
"""About 150 tokens of this tokeniser."""


def make_model(folder: Path, *, large: bool = False) -> Path:
    """Write a random Llama of 25 million parameters, with the tiny model's tokeniser, as a Hugging Face directory.

    Args:
        large: of 135 million instead, in the sizes of SmolLM2-135M, most of whose vocabulary no text has.
    """
    import torch
    from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

    tokenizer = AutoTokenizer.from_pretrained(TOKENIZER)
    torch.manual_seed(SEED)
    config = LlamaConfig(
        vocab_size=49_152 if large else len(tokenizer),
        hidden_size=576 if large else 512,
        intermediate_size=1536,
        num_hidden_layers=30 if large else 8,
        num_attention_heads=9 if large else 8,
        num_key_value_heads=3 if large else 4,
        max_position_embeddings=1024,
        tie_word_embeddings=True,
        initializer_range=0.06,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def make_requests(count: int) -> list[Score]:
    """Scenarios of about 150 tokens, each with a question an emotion."""
    chance = random.Random(SEED)
    requests = []
    for _ in range(count):
        text = ""
        while len(text) < CHARACTERS:
            text += sentence(chance)[0] + " "
        requests.append(Score("", tuple(question_of("Ada", each) for each in PLUTCHIK), (Message("user", text),)))
    return requests


def measure(folder: Path, requests: list[Score], *, kind: str = "F32", threads: int = 0) -> dict[str, Any]:
    """Time the backend and the naive loop on the same prompts, and compare their answers.

    Args:
        folder: a Llama as a Hugging Face directory.
        kind: how its weights are written: F32, F16 or Q8_0.
        threads: 0 for one a core.
    """
    with tempfile.TemporaryDirectory() as place:
        path = write_gguf(folder, Path(place) / f"{kind}.gguf", kind)
        options = {"kv": "f32" if kind == "F32" else "f16", "threads": threads}
        model = load(str(path), options, lambda line: None)
        model.score(requests[:2])
        shared, plain, quick, slow = [], [], 0.0, 0.0
        for request in requests:
            started = time.perf_counter()
            shared += model.score([request])
            between = time.perf_counter()
            plain.append(one_by_one(model, request))
            slow += time.perf_counter() - between
            quick += between - started
        prompts = [ids for request in requests for ids in model._prompts.questions(request)]
        model.close()
    odds = np.array([np.subtract(each.yes, each.no) for each in shared if isinstance(each, Scores)])
    return {
        "library": "llama.cpp",
        "weights": kind,
        "questions": len(prompts),
        "prompt_tokens": round(float(np.mean([len(ids) for ids in prompts])), 1),
        "seconds": round(quick, 3),
        "naive_seconds": round(slow, 3),
        "times_as_fast": round(slow / quick, 2),
        "questions_a_second": round(len(prompts) / quick, 1),
        "largest_difference": float(np.abs(odds - np.array(plain)).max()),
    }


def one_by_one(model: GgufModel, request: Score) -> list[float]:
    """The log-odds with each whole prompt read anew."""
    forms = find_forms(model._vocabulary.pieces()) if model._forms is None else model._forms
    odds = []
    for ids in model._prompts.questions(request):
        model._context.rewind(0)
        answer = read_logits(forms, model._context.extend(ids))
        odds.append(answer.yes - answer.no)
    return odds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenarios", type=int, default=64)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--kind", default="F32", choices=["F32", "F16", "Q8_0"])
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = make_model(Path(place))
        print(json.dumps(measure(folder, make_requests(asked.scenarios), kind=asked.kind, threads=asked.threads)))


if __name__ == "__main__":
    main()
