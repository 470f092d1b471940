"""Answers of servers in the shapes that their documentation or their own code and tests show: what is read of each.

The sources stand beside each; fields that no page prints are from the classes that the servers answer with.
"""

import json
import math
from typing import Any

import pytest

from emotui.backends.base import Generate, Generation, Message, Score, Scores
from emotui.backends.servers import load
from tests.backends.servers.faulty_server import FaultyServer

pytest.importorskip("aiohttp")

YES, NO = -0.1053605, -2.3025851
"""Of .9 and .1."""


def token(word: str, logprob: float, **more: Any) -> dict[str, Any]:
    return {"token": word, "logprob": logprob, "bytes": list(word.encode()), **more}


def whole(message: dict[str, Any], finish: str, logprobs: Any, choice: dict[str, Any], **more: Any) -> dict[str, Any]:
    chosen = {"index": 0, "message": {"role": "assistant", "content": "Yes", **message}, "logprobs": logprobs, **choice}
    usage = {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "tiny",
        "choices": [chosen | {"finish_reason": finish}],
        "usage": usage | more.pop("usage", {}),
        **more,
    }


PAIR = {"content": [token("Yes", YES, top_logprobs=[token("Yes", YES), token("No", NO)])]}
NUMBERED = {"content": [token("Yes", YES, id=9, top_logprobs=[token("Yes", YES, id=9), token("No", NO, id=4)])]}
MISSING = {"content": [token("Yes", YES, top_logprobs=[token("Yes", YES), token("No", NO), token("!", -9999.0)])]}

SHAPES = {
    # docs.vllm.ai: api/vllm/entrypoints/openai/chat_completion/protocol (-9999.0 for what has no log-probability) and
    # openai/fingerprint (vllm-<version>-<hash8>); null in older versions.
    "vllm": whole(
        {"reasoning": None, "tool_calls": [], "refusal": None, "annotations": None, "audio": None},
        "stop",
        MISSING,
        {"stop_reason": None, "token_ids": None},
        system_fingerprint="vllm-0.16.0-3f9a1c07",
        service_tier=None,
        prompt_logprobs=None,
        kv_transfer_params=None,
        usage={"prompt_tokens_details": None},
    ),
    # sgl-project/sglang: python/sglang/srt/entrypoints/openai/protocol.py; it has no system_fingerprint.
    "sglang": whole(
        {"reasoning_content": None, "tool_calls": None},
        "stop",
        PAIR,
        {"matched_stop": 151645},
        usage={"prompt_tokens_details": None, "reasoning_tokens": 0},
        metadata={"weight_version": "default"},
    ),
    # ggml-org/llama.cpp: tools/server/README.md (timings, usage, reasoning_content, tokens with id and bytes) and
    # tools/server/tests/unit/test_chat_completion.py (a build that begins with b).
    "llama-server": whole(
        {"reasoning_content": "Water. Hm."},
        "stop",
        NUMBERED,
        {},
        system_fingerprint="b6122-cd6983d56",
        timings={
            "cache_n": 236,
            "prompt_n": 1,
            "prompt_ms": 30.958,
            "prompt_per_token_ms": 30.958,
            "prompt_per_second": 32.301828283480845,
            "predicted_n": 35,
            "predicted_ms": 661.064,
            "predicted_per_token_ms": 18.887542857142858,
            "predicted_per_second": 52.94494935437416,
        },
        usage={"prompt_tokens_details": {"cached_tokens": 0}},
    ),
    # ollama/ollama: openai/openai.go (fp_ollama, reasoning); its issue 16117 says that log-probabilities, which came
    # later, are as OpenAI's.
    "ollama": whole({"reasoning": "Water."}, "stop", PAIR, {}, system_fingerprint="fp_ollama"),
    # huggingface/text-generation-inference: docs/source/basic_tutorials/using_guidance.md (no id, text_completion,
    # eos_token, the version and kind); docs/openapi.json and issue 2108 (log-probabilities without bytes).
    "tgi": whole(
        {},
        "eos_token",
        {"content": [{"token": "Yes", "logprob": YES, "top_logprobs": [
            {"token": "Yes", "logprob": YES}, {"token": "No", "logprob": NO}]}]},
        {},
        id="",
        object="text_completion",
        system_fingerprint="1.4.3-native",
    ),
    # OpenAI's own pages were not at hand; the fields are those of its client library (openai.types.chat).
    "openai": whole(
        {"refusal": None, "annotations": []},
        "stop",
        PAIR | {"refusal": None},
        {},
        system_fingerprint="fp_44709d6fcb",
        service_tier="default",
        usage={"completion_tokens_details": {"reasoning_tokens": 0}, "prompt_tokens_details": {"cached_tokens": 0}},
    ),
}  # fmt: skip
"""By the server; of a model that is likeliest to say yes, and no otherwise."""


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@pytest.mark.parametrize("name", list(SHAPES))
def test_what_each_server_answers_is_read(name: str) -> None:
    with FaultyServer(answer_body=json.dumps(SHAPES[name]).encode()) as server:
        model = load(server.spec, {"retries": 0}, lambda line: None)
        assert model.card.capabilities == ("generate", "score")
        assert model.card.identity["top_logprobs"] == "20"
        (scores,) = model.score([Score("Water.", ("Is it wet?",))])
        assert isinstance(scores, Scores)
        assert scores.yes == pytest.approx((math.log(0.9),), abs=1e-6)
        assert scores.no == pytest.approx((math.log(0.1),), abs=1e-6)
        assert scores.censored == ("",)
        (written,) = model.generate([Generate((Message("user", "Is it wet?"),), max_tokens=8)])
        assert written == Generation("Yes", 9, 1, "stop")


def test_a_server_that_drops_the_field_for_log_probabilities_can_write_and_not_score() -> None:
    # The choices of ollama/ollama's openai/openai.go had no such field before it learnt of log-probabilities.
    (choice,) = SHAPES["ollama"]["choices"]
    body = {**SHAPES["ollama"], "choices": [{name: held for name, held in choice.items() if name != "logprobs"}]}
    with FaultyServer(answer_body=json.dumps(body).encode()) as server:
        model = load(server.spec, {"retries": 0}, lambda line: None)
        assert model.card.capabilities == ("generate",)
        assert "The server gives no log-probabilities: it can write, not score" in model.card.notes


def test_a_server_that_grants_fewer_alternatives_is_asked_for_those() -> None:
    # TGI: --max-top-n-tokens, 5 unless told (docs/source/reference/launcher.md)
    refuses = ("top_logprobs=20", "top_logprobs=10")
    with FaultyServer(refuses=refuses) as server:
        assert load(server.spec, {"retries": 0}, lambda line: None).card.identity["top_logprobs"] == "5"
