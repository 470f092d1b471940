"""Scoring behind a shared prefix and writing on a GPU, beside `model.generate` and the card's own limits.

    python benchmarks/models/gpu.py [--size 8b|1b|toy] [--device cuda|cpu] [--scenarios 64] [--tokens 128] [--gguf]

A Llama with random weights is made on the spot, from a configuration alone, on the device. The limits are measured too:
a product of bfloat16 matrices, and a copy of memory. `--gguf` also writes the model to a folder for the moment (twice
its size on the disk) and asks llama.cpp with all layers on the card. `--size toy --device cpu` runs anywhere.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

import torch
from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

from emotui.backends.base import Generate, Generation, Message, ModelCard, Score
from emotui.backends.hf.causal import Causal
from emotui.backends.hf.loading import Loaded
from emotui.backends.hf.prompts import Prompts
from emotui.backends.hf.settings import Settings
from emotui.backends.rendering import with_question
from emotui.records import PLUTCHIK

TOKENIZER = Path(__file__).parents[2] / "tests" / "tiny" / "model" / "hf"
SIZES: Mapping[str, Mapping[str, int]] = {
    "8b": {"hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32,
           "num_key_value_heads": 8, "vocab_size": 128_256},
    "1b": {"hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 16, "num_attention_heads": 32,
           "num_key_value_heads": 8, "vocab_size": 128_256},
    "toy": {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4,
            "num_key_value_heads": 2, "vocab_size": 1024},
}  # fmt: skip
STORY = "The bus let me off at the corner, and nobody noticed that I was gone. "
Found = TypeVar("Found")


def make(size: str, device: torch.device, dtype: torch.dtype) -> Loaded:
    """A random model on the device, with the tokeniser of the tests."""
    tokenizer = AutoTokenizer.from_pretrained(TOKENIZER)
    config = LlamaConfig(
        **SIZES[size],
        max_position_embeddings=8192,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        tie_word_embeddings=True,
    )
    torch.manual_seed(1)
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        with device:
            model = LlamaForCausalLM(config).eval()
    finally:
        torch.set_default_dtype(before)
    # No random model ends by itself, so that every way writes as many tokens.
    model.generation_config.eos_token_id = None
    return Loaded(model, tokenizer, config, "causal", 8192, {}, ())


def synchronised(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def timed(device: torch.device, call: Callable[[], Found]) -> tuple[float, Found]:
    """Seconds of the second of two goes, and what came of it."""
    call()
    synchronised(device)
    started = time.perf_counter()
    found = call()
    synchronised(device)
    return time.perf_counter() - started, found


def causal(loaded: Loaded, **settings: Any) -> Any:
    """The model behind the protocol, with settings of `hf:`."""
    card = ModelCard("hf:", "random", ("generate", "score", "rank"), {})
    return Causal(card, loaded, Prompts(loaded.tokenizer, thinking=False), Settings(**settings))


def highest_memory(device: torch.device) -> str:
    """What the device has held at most since this was last asked; nothing where there is no GPU."""
    if device.type != "cuda":
        return ""
    most = torch.cuda.max_memory_allocated(device)
    torch.cuda.reset_peak_memory_stats(device)
    return f"; {most / 2**30:.1f} GiB at most"


def limits(device: torch.device) -> tuple[float, float]:
    """Operations of bfloat16 matrices and bytes read or written, a second, as measured here."""
    side, length = (8192, 1 << 30) if device.type == "cuda" else (512, 1 << 24)
    left = torch.ones((side, side), dtype=torch.bfloat16, device=device)
    product, _ = timed(device, lambda: left @ left)
    memory = torch.ones(length, dtype=torch.uint8, device=device)
    copied, _ = timed(device, memory.clone)
    return 2 * side**3 / product, 2 * length / copied


def scoring(model: Causal, loaded: Loaded, scenarios: int, operations: float) -> None:
    """Eight questions about each text."""
    device = loaded.device
    asked = [
        Score("", tuple(f"Does the person feel {label}?" for label in PLUTCHIK), (Message("user", f"{n} {STORY * 8}"),))
        for n in range(scenarios)
    ]
    prompts = [
        torch.tensor([model._prompts.chat(with_question(one.messages, question))], device=device)
        for one in asked[:4]
        for question in one.questions
    ]
    quick, shared = timed(device, lambda: model.score(asked))
    peak = highest_memory(device)
    alone, separate = timed(device, lambda: causal(loaded, share_prefix=False).score(asked))
    apart = max(
        abs(left - right)
        for one, other in zip(shared, separate, strict=True)
        for left, right in zip(one.yes, other.yes, strict=True)  # type: ignore[union-attr]
    )

    @torch.inference_mode()
    def loop() -> None:
        for ids in prompts:
            loaded.model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=1, do_sample=False)

    naive, _ = timed(device, loop)
    whole = sum(ids.shape[1] for ids in prompts) / len(prompts)
    ours, theirs = 8 * scenarios * whole / quick, len(prompts) * whole / naive
    computed = sum(model._rows.size(model._questions(one)) for one in asked)  # type: ignore[arg-type]
    share = 2 * parameters(loaded) * computed / quick / operations
    print(
        f"scoring   {ours:10.0f} prompt tokens a second, {ours / theirs:6.1f} times model.generate in a loop; "
        f"{share:.1%} of the device's bfloat16 operations{peak}"
    )
    print(
        f"sharing   {alone / quick:10.1f} times as quick as the same questions with the whole prompt each"
        f"{highest_memory(device)}; log-probabilities differ by {apart:.2g} at most"
    )


def writing(model: Causal, loaded: Loaded, requests: int, tokens: int, bandwidth: float) -> None:
    """Greedy answers, all of the same length."""
    device = loaded.device
    asked = [Generate((Message("user", f"{n} {STORY * 4}"),), max_tokens=tokens) for n in range(requests)]
    model._ends = frozenset()
    quick, found = timed(device, lambda: model.generate(asked))
    peak = highest_memory(device)
    prompts = [torch.tensor([model._prompts.chat(one.messages)], device=device) for one in asked[:2]]

    @torch.inference_mode()
    def loop() -> list[list[int]]:
        return [
            loaded.model.generate(
                ids, attention_mask=torch.ones_like(ids), max_new_tokens=tokens, min_new_tokens=tokens, do_sample=False
            )[0, ids.shape[1] :].tolist()
            for ids in prompts
        ]

    naive, texts = timed(device, loop)
    decoded = [loaded.tokenizer.decode(ids, skip_special_tokens=True) for ids in texts]
    same = sum(isinstance(one, Generation) and one.text == text for one, text in zip(found, decoded, strict=False))
    ours, theirs = requests * tokens / quick, len(prompts) * tokens / naive
    read = parameters(loaded) * loaded.model.dtype.itemsize * tokens / quick / bandwidth
    print(
        f"writing   {ours:10.0f} tokens a second, {ours / theirs:6.1f} times model.generate in a loop "
        f"({same} of {len(texts)} texts equal); weights read at {read:.1%} of the device's bandwidth{peak}"
    )
    every = [model._prompts.chat(one.messages) for one in asked]
    width = max(map(len, every))
    ids = torch.tensor([[loaded.tokenizer.pad_token_id] * (width - len(one)) + one for one in every], device=device)
    mask = torch.tensor([[0] * (width - len(one)) + [1] * len(one) for one in every], device=device)

    @torch.inference_mode()
    def batch() -> None:
        loaded.model.generate(ids, attention_mask=mask, max_new_tokens=tokens, min_new_tokens=tokens, do_sample=False)

    ratios = []
    for _ in range(3):
        together, _ = timed(device, batch)
        again, _ = timed(device, lambda: model.generate(asked))
        ratios.append(together / again)
    print(
        f"          {sorted(ratios)[1]:10.2f} times model.generate with all {requests} in a batch, padded on the left "
        f"({min(ratios):.2f} to {max(ratios):.2f} in 3 pairs)"
    )


def varied(loaded: Loaded, requests: int, tokens: int) -> None:
    """Answers from one token to twice as many as asked, side by side and by transformers' continuous batching."""
    device = loaded.device
    asked = [
        Generate((Message("user", f"{n} {STORY * 4}"),), max_tokens=1 + 2 * tokens * n // requests)
        for n in range(requests)
    ]
    written = sum(one.max_tokens for one in asked)
    seconds, texts = [], []
    for batching in ("rows", "continuous"):
        model = causal(loaded, batching=batching)
        model._ends = frozenset()
        taken, found = timed(device, lambda model=model: model.generate(asked))
        seconds.append(taken)
        texts.append([one.text if isinstance(one, Generation) else "" for one in found])
        rate = written / taken
        print(f"{batching:<10}{rate:10.0f} tokens a second, answers of 1 to {2 * tokens}{highest_memory(device)}")
    same = sum(left == right for left, right in zip(*texts, strict=True))
    print(
        f"           continuous in {seconds[0] / seconds[1]:.2f} of the speed of rows, {same} of {requests} texts equal"
    )


def parameters(loaded: Loaded) -> int:
    return sum(weights.numel() for weights in loaded.model.parameters())


def llama_cpp(loaded: Loaded, device: torch.device, requests: int, tokens: int) -> None:
    """The same model through llama.cpp, all layers on the card where there is one."""
    from emotui.backends.gguf import load
    from tests.tiny.gguf_file import write_gguf

    with tempfile.TemporaryDirectory() as folder:
        loaded.model.to(torch.float16).save_pretrained(f"{folder}/hf", max_shard_size="100GB")
        loaded.tokenizer.save_pretrained(f"{folder}/hf")
        path = write_gguf(Path(folder, "hf"), Path(folder, "model.gguf"), "F16")
        layers = 999 if device.type == "cuda" else 0
        model = load(str(path), {"gpu_layers": layers, "context": 8192}, lambda line: None)
        asked = [Generate((Message("user", f"{n} {STORY * 4}"),), max_tokens=tokens) for n in range(requests)]
        quick, found = timed(device, lambda: model.generate(asked))
        naive, _ = timed(device, lambda: [model.generate([one]) for one in asked[:2]])
        written = sum(one.tokens for one in found if isinstance(one, Generation))
        ours, theirs = written / quick, 2 * tokens / naive
        print(f"llama.cpp {ours:10.0f} tokens a second, {ours / theirs:6.1f} times one answer after the other")
        model.close()


def main(arguments: list[str]) -> None:
    """Print each figure with its ratios."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", choices=SIZES, default="8b")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--scenarios", type=int, default=64)
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--gguf", action="store_true")
    told = parser.parse_args(arguments)
    device = torch.device(told.device)
    operations, bandwidth = limits(device)
    print(f"{device}: {operations / 1e12:.1f} bfloat16 Tflop and {bandwidth / 1e9:.0f} GB a second, as measured here")
    loaded = make(told.size, device, torch.bfloat16 if device.type == "cuda" else torch.float32)
    print(f"{parameters(loaded) / 1e9:.2f} billion parameters, {loaded.model.dtype}")
    model = causal(loaded)
    scoring(model, loaded, told.scenarios, operations)
    writing(model, loaded, told.scenarios, told.tokens, bandwidth)
    varied(loaded, told.scenarios, told.tokens)
    if told.gguf:
        llama_cpp(loaded, device, told.scenarios, told.tokens)


if __name__ == "__main__":
    main(sys.argv[1:])
