"""Answers of servers in the shapes that their documentation shows: what is read of each, and what it can do."""

import json
import math
from typing import Any

import pytest

from emotui.backends.base import Generate, Generation, Message, Score, Scores
from emotui.backends.servers import load
from tests.backends.servers.faulty_server import FaultyServer

pytest.importorskip("openai")

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
    "vllm": whole(
        {"reasoning": None, "tool_calls": [], "refusal": None, "annotations": None, "audio": None},
        "stop",
        MISSING,
        {"stop_reason": None, "token_ids": None},
        system_fingerprint=None,
        service_tier=None,
        prompt_logprobs=None,
        kv_transfer_params=None,
        usage={"prompt_tokens_details": None},
    ),
    "sglang": whole(
        {"reasoning_content": None, "tool_calls": None},
        "stop",
        PAIR,
        {"matched_stop": 151645},
        usage={"prompt_tokens_details": None, "reasoning_tokens": 0},
        metadata={"weight_version": "default"},
    ),
    "llama-server": whole(
        {"reasoning_content": "Water. Hm."},
        "stop",
        NUMBERED,
        {},
        system_fingerprint="b6122-cd6983d56",
        timings={"prompt_n": 9, "predicted_n": 1, "predicted_per_second": 80.5},
    ),
    "ollama": whole({"reasoning": "Water."}, "stop", PAIR, {}, system_fingerprint="fp_ollama"),
    "tgi": whole(
        {},
        "eos_token",
        {"content": [{"token": "Yes", "logprob": YES, "top_logprobs": [
            {"token": "Yes", "logprob": YES}, {"token": "No", "logprob": NO}]}]},
        {},
        system_fingerprint="3.3.4-native",
    ),
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
    body = {**SHAPES["ollama"], "choices": [{**SHAPES["ollama"]["choices"][0], "logprobs": None}]}
    with FaultyServer(answer_body=json.dumps(body).encode()) as server:
        model = load(server.spec, {"retries": 0}, lambda line: None)
        assert model.card.capabilities == ("generate",)
        assert "The server gives no log-probabilities: it can write, not score" in model.card.notes


def test_a_server_that_grants_fewer_alternatives_is_asked_for_those() -> None:
    refuses = ("top_logprobs=20", "top_logprobs=10")  # TGI: --max-top-n-tokens, 5 unless told
    with FaultyServer(refuses=refuses) as server:
        assert load(server.spec, {"retries": 0}, lambda line: None).card.identity["top_logprobs"] == "5"
