"""How much quicker eight questions about one text are answered when the text is computed once, on each library.

    python benchmarks/scoring.py [--scenarios 64] [--threads 0] [--only hf|gguf] [--block 8]

A random Llama of 25 million parameters; scenarios of about 150 tokens, eight questions of 8 to 14 tokens each, float32.
For Hugging Face, three ways take turns, block by block, so that what else runs on the machine slows them all: emotui,
the naive loop (one whole prompt after another through transformers), and, where lm-evaluation-harness is installed, its
`loglikelihood` on the same model and the same (prompt, Yes) and (prompt, No) pairs, at the batch size that suits it
best. Prints one JSON document; exits 1 where emotui is not 4 times the naive loop, is slower than the harness, or
differs from the naive loop by more than 1e-3.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
from scoring_gguf import make_model, make_requests, measure

from emotui.backends.base import Score, Scores
from emotui.backends.hf import load
from emotui.backends.hf.causal import Causal
from emotui.backends.rendering import with_question

GOAL, TOLERANCE = 4.0, 1e-3
PEER_BATCHES = (1, 8, 32)
Odds = list[list[float]]
Way = Callable[[list[Score]], Odds]


def measure_hf(folder: Path, requests: list[Score], threads: int, block: int) -> dict[str, Any]:
    """Seconds of each way, and the largest difference of their log-odds from the naive loop's."""
    model = load(str(folder), {"threads": threads}, lambda line: None)
    assert isinstance(model, Causal)
    ways: dict[str, Way] = {"emotui": lambda some: _emotui(model, some), "naive": lambda some: _naive(model, some)}
    if find_spec("lm_eval") is not None:
        best = _quickest_peer(model, requests[:2])
        ways["lm_eval"] = lambda some: _peer(model, some, best)
    for way in ways.values():
        way(requests[:2])
    seconds, odds = dict.fromkeys(ways, 0.0), {name: [] for name in ways}  # type: ignore[var-annotated]
    for start in range(0, len(requests), block):
        for name, way in ways.items():
            started = time.perf_counter()
            odds[name] += way(requests[start : start + block])
            seconds[name] += time.perf_counter() - started
    exact = torch.tensor(odds["naive"])
    report: dict[str, Any] = {
        "library": "transformers",
        "parameters": sum(weights.numel() for weights in model._loaded.model.parameters()),
        "threads": torch.get_num_threads(),
        "questions": exact.numel(),
        "prompt_tokens": round(sum(map(len, _prompts(model, requests))) / exact.numel(), 1),
        "seconds": round(seconds["emotui"], 3),
        "naive_seconds": round(seconds["naive"], 3),
        "times_as_fast": round(seconds["naive"] / seconds["emotui"], 2),
        "questions_a_second": round(exact.numel() / seconds["emotui"], 1),
        "largest_difference": float((torch.tensor(odds["emotui"]) - exact).abs().max()),
    }
    if "lm_eval" in ways:
        report["lm_eval_batch"] = best
        report["lm_eval_seconds"] = round(seconds["lm_eval"], 3)
        report["times_lm_eval"] = round(seconds["lm_eval"] / seconds["emotui"], 2)
        first = torch.tensor(_first_forms(model, requests[:block]))
        report["lm_eval_difference"] = float((torch.tensor(odds["lm_eval"][:block]) - first).abs().max())
    return report


def _emotui(model: Causal, requests: list[Score]) -> Odds:
    scores = model.score(requests)
    return [
        [yes - no for yes, no in zip(each.yes, each.no, strict=True)] for each in scores if isinstance(each, Scores)
    ]


def _first_forms(model: Causal, requests: list[Score]) -> Odds:
    """The log-odds of `Yes` against `No` alone, as the harness has them."""
    scores = [each for each in model.score(requests) if isinstance(each, Scores)]
    return [[float(torch.tensor(s["Yes"] / s["No"]).log()) for s in each.shares] for each in scores]


def _prompts(model: Causal, requests: list[Score]) -> list[list[int]]:
    return [
        model._prompts.chat(with_question(request.messages, question))
        for request in requests
        for question in request.questions
    ]


def _naive(model: Causal, requests: list[Score]) -> Odds:
    """One whole prompt after another."""
    forms = model._forms
    if forms is None:
        model.score(requests[:1])
        forms = model._forms
    assert forms is not None
    odds = []
    for request in requests:
        row = []
        for ids in _prompts(model, [request]):
            with torch.inference_mode():
                logits = model._loaded.model(torch.tensor([ids]), use_cache=False, logits_to_keep=1).logits[0, -1]
            row.append(float(logits[list(forms.yes)].logsumexp(0) - logits[list(forms.no)].logsumexp(0)))
        odds.append(row)
    return odds


def _quickest_peer(model: Causal, requests: list[Score]) -> int:
    """The harness's best batch size on some of the pairs."""
    times = {}
    for size in PEER_BATCHES:
        _peer(model, requests[:1], size)
        started = time.perf_counter()
        _peer(model, requests, size)
        times[size] = time.perf_counter() - started
    return min(times, key=lambda size: times[size])


def _peer(model: Causal, requests: list[Score], size: int) -> Odds:
    """The same through lm-evaluation-harness: two log-likelihoods a question."""
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    tokenizer = model._loaded.tokenizer
    peer = _PEERS.get(size)
    if peer is None:
        peer = _PEERS[size] = HFLM(pretrained=model._loaded.model, tokenizer=tokenizer, batch_size=size)
    pairs = [(tokenizer.decode(ids), answer) for ids in _prompts(model, requests) for answer in ("Yes", "No")]
    asked = [Instance("loglikelihood", {}, pair, place) for place, pair in enumerate(pairs)]
    found = [value for value, _ in peer.loglikelihood(asked, disable_tqdm=True)]
    odds = iter([yes - no for yes, no in zip(found[::2], found[1::2], strict=True)])
    return [[next(odds) for _ in request.questions] for request in requests]


_PEERS: dict[int, Any] = {}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenarios", type=int, default=64)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--only", choices=["hf", "gguf"])
    parser.add_argument("--block", type=int, default=8)
    asked = parser.parse_args()
    requests = make_requests(asked.scenarios)
    reports = []
    with tempfile.TemporaryDirectory() as place:
        folder = make_model(Path(place))
        if asked.only != "gguf":
            reports.append(measure_hf(folder, requests, asked.threads, asked.block))
        if asked.only != "hf":
            reports.append(measure(folder, requests, threads=asked.threads))
    print(json.dumps(reports, indent=2))
    return 0 if all(map(_good, reports)) else 1


def _good(report: dict[str, Any]) -> bool:
    return (
        report["times_as_fast"] >= GOAL
        and report["largest_difference"] <= TOLERANCE
        and report.get("times_lm_eval", 1.0) >= 1.0
    )


if __name__ == "__main__":
    sys.exit(main())
