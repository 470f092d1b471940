"""Bytes of a request and of its answer, as `emotui batch write` writes the one and `vllm run-batch` the other.

As JSON Lines, and as Parquet (zstd).

python benchmarks/models/batch_sizes.py [TEXTS]

Texts have 30 words. Answers are made here, in the shape of vLLM's `BatchRequestOutput` and `ChatCompletionResponse`
(docs.vllm.ai, api/vllm/entrypoints/openai), with as many tokens and alternatives as were asked for; that they are
answers is shown by `emotui predict` reading them.
"""

import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb

LABELS = ("anger", "anticipation", "disgust", "fear", "joy", "sadness", "surprise", "trust")
WORDS = [
    "the",
    "a",
    "of",
    "to",
    "and",
    "in",
    "that",
    "it",
    "was",
    "he",
    "she",
    "they",
    "we",
    "my",
    "your",
    "friend",
    "mother",
    "sister",
    "work",
    "school",
    "house",
    "street",
    "train",
    "morning",
    "evening",
    "letter",
    "news",
    "hospital",
    "garden",
    "bread",
    "coffee",
    "window",
    "door",
    "phone",
    "happy",
    "sad",
    "afraid",
    "quiet",
    "late",
    "again",
    "never",
    "almost",
    "because",
    "when",
    "after",
    "until",
    "nobody",
    "something",
    "asked",
    "thought",
    "wanted",
    "waited",
    "left",
    "came",
    "stayed",
    "lost",
    "found",
    "nothing",
]
THOUGHT = 112
"""Words before a reasoned answer's tags; 120 tokens in all."""

WAYS = (("labels", "zero-shot"), ("scenes", "first-token"), ("scenes", "reasoned"))


def alternative(word: str, draws: random.Random) -> dict[str, Any]:
    """A token as vLLM tells it."""
    return {"token": word, "logprob": -20 * draws.random(), "bytes": list(word.encode())}


def tokens_of(task: str, way: str, draws: random.Random) -> list[str]:
    """What is written, in tokens."""
    if task == "labels":
        return ['["', "joy", '",', ' "', "trust", '"]']
    if way == "first-token":
        return ["Yes"]
    thought = [f" {draws.choice(WORDS)}" for _ in range(THOUGHT)]
    return [*thought, "<confidence>", "4", "</confidence>", "\n", "<answer>", "Yes", "</", "answer>"]


def answer(asked: dict[str, Any], tokens: list[str], draws: random.Random) -> dict[str, Any]:
    """The line that answers a request."""
    body = asked["body"]
    width = body.get("top_logprobs", 0) if body.get("logprobs") else 0
    told = [
        alternative(token, draws)
        | {"top_logprobs": [alternative(f" {draws.choice(WORDS)}", draws) for _ in range(width - 2)]}
        for token in tokens
    ]
    for one in told:
        one["top_logprobs"] += [alternative("Yes", draws), alternative("No", draws)]
    message = {"role": "assistant", "content": "".join(tokens), "refusal": None, "annotations": None, "audio": None}
    message |= {"function_call": None, "tool_calls": [], "reasoning": None}
    choice = {"index": 0, "message": message, "logprobs": {"content": told} if width else None}
    choice |= {"finish_reason": "stop", "stop_reason": None, "token_ids": None}
    usage = {"prompt_tokens": 165, "total_tokens": 165 + len(tokens), "completion_tokens": len(tokens)}
    whole = {"id": f"chatcmpl-{draws.getrandbits(128):032x}", "object": "chat.completion", "created": 1_700_000_000}
    whole |= {"model": body["model"], "choices": [choice], "service_tier": None, "system_fingerprint": "vllm-0.16.0-0f"}
    whole |= {"usage": usage | {"prompt_tokens_details": None}, "prompt_logprobs": None, "prompt_token_ids": None}
    whole |= {"kv_transfer_params": None}
    response = {"status_code": 200, "request_id": f"vllm-batch-{draws.getrandbits(128):032x}", "body": whole}
    key = f"vllm-{draws.getrandbits(128):032x}"
    return {"id": key, "custom_id": asked["custom_id"], "response": response, "error": None}


def answers(requests: Path, task: str, way: str) -> Iterator[bytes]:
    """A line for each request."""
    draws = random.Random(0)
    with requests.open() as file:
        for line in file:
            asked = json.loads(line)
            told = answer(asked, tokens_of(task, way, draws), draws)
            yield json.dumps(told, separators=(",", ":")).encode() + b"\n"


def main(n: int = 200) -> None:
    """Print both sizes of each way."""
    draws = random.Random(0)
    with tempfile.TemporaryDirectory() as folder:
        texts, labels = Path(folder, "texts.jsonl"), Path(folder, "labels.txt")
        texts.write_text(
            "".join(
                json.dumps({"id": f"t{at}", "text": " ".join(draws.choice(WORDS) for _ in range(30))}) + "\n"
                for at in range(n)
            )
        )
        labels.write_text("\n".join(LABELS))
        emotui = [sys.executable, "-m", "emotui"]
        for task, way in WAYS:
            given = ["--records", str(texts), "--labels", str(labels), "--way", way]
            asked, said = Path(folder, "asked.jsonl"), Path(folder, "said.jsonl")
            writes = [*emotui, "batch", "write", task, "--model", "ORG/MODEL", *given, "--to", str(asked), "--force"]
            subprocess.run(writes, check=True, capture_output=True)
            with said.open("wb") as file:
                file.writelines(answers(asked, task, way))
            reads = [*emotui, "predict", task, "--model", f"batch:ORG/MODEL@{said}", *given, "--json"]
            document = json.loads(subprocess.run(reads, check=True, capture_output=True).stdout)
            assert (document["n"], document["failed"]) == (n, 0)
            count = len(asked.read_bytes().splitlines())
            request, reply = asked.stat().st_size / count, said.stat().st_size / count
            packed, packed_reply = asked.with_suffix(".parquet"), said.with_suffix(".parquet")
            subprocess.run([*writes[:-2], str(packed), "--force"], check=True, capture_output=True)
            columns = "{custom_id: 'varchar', response: 'json', error: 'json'}"
            how = f"format = 'newline_delimited', columns = {columns}, maximum_object_size = {2**28}"
            duckdb.sql(f"copy (from read_json('{said}', {how})) to '{packed_reply}' (format parquet, compression zstd)")
            reads[reads.index(f"batch:ORG/MODEL@{said}")] = f"batch:ORG/MODEL@{packed_reply}"
            again = json.loads(subprocess.run(reads, check=True, capture_output=True).stdout)
            assert again["records"] == document["records"]
            small, small_reply = packed.stat().st_size / count, packed_reply.stat().st_size / count
            print(
                f"{task} {way}: {count / n:g} requests a text, {request:,.0f} bytes each, answers {reply:,.0f}; ",
                end="",
            )
            print(f"as Parquet {small:,.0f} and {small_reply:,.0f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
