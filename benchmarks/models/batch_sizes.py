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

WAYS = (
    ("labels", "zero-shot", ""),
    ("scenes", "first-token", ""),
    ("scenes", "reasoned", ""),
    ("scenes", "reasoned", "verdict=second"),
)
"""A task, a way of asking, and options of the requests."""


def alternative(word: str, draws: random.Random) -> dict[str, Any]:
    """A token as vLLM tells it."""
    return {"token": word, "logprob": -20 * draws.random(), "bytes": list(word.encode())}


def tokens_of(task: str, way: str, body: dict[str, Any], draws: random.Random) -> list[str]:
    """What is written to a request, in tokens."""
    if task == "labels":
        return ['["', "joy", '",', ' "', "trust", '"]']
    if way == "first-token" or body["max_tokens"] == 1:
        return ["Yes"]
    thought = [f" {draws.choice(WORDS)}" for _ in range(THOUGHT)]
    thought += ["<confidence>", "4", "</confidence>", "\n"]
    return thought if body.get("stop") else [*thought, "<answer>", "Yes", "</", "answer>"]


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
            told = answer(asked, tokens_of(task, way, asked["body"], draws), draws)
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
        for task, way, options in WAYS:
            given = ["--records", str(texts), "--labels", str(labels), "--way", way]
            asked, said = Path(folder, "asked.jsonl"), Path(folder, "said.jsonl")
            said.write_bytes(b"")
            writes = [*emotui, "batch", "write", task, "--model", "ORG/MODEL", *given]
            writes += ["--options", options] if options else []
            count = request = packed_request = 0.0
            while True:  # what is asked next depends on what is answered
                more = [*writes, "--answers", str(said), "--force", "--to"]
                subprocess.run([*more, str(asked)], check=True, capture_output=True)
                if not (lines := len(asked.read_bytes().splitlines())):
                    break
                packed = asked.with_suffix(".parquet")
                subprocess.run([*more, str(packed)], check=True, capture_output=True)
                count += lines
                request += asked.stat().st_size
                packed_request += packed.stat().st_size
                with said.open("ab") as file:
                    file.writelines(answers(asked, task, way))
            columns = "{custom_id: 'varchar', response: 'json', error: 'json'}"
            how = f"format = 'newline_delimited', columns = {columns}, maximum_object_size = {2**28}"
            packed = said.with_suffix(".parquet")
            duckdb.sql(f"copy (from read_json('{said}', {how})) to '{packed}' (format parquet, compression zstd)")
            records = []
            for file in (said, packed):
                reads = [
                    *emotui,
                    "predict",
                    task,
                    "--model",
                    f"batch:ORG/MODEL@{file}{options and '#' + options}",
                    *given,
                    "--json",
                ]
                document = json.loads(subprocess.run(reads, check=True, capture_output=True).stdout)
                assert (document["n"], document["failed"]) == (n, 0)
                records.append(document["records"])
            assert records[0] == records[1]
            sizes = [size / n for size in (request, said.stat().st_size, packed_request, packed.stat().st_size)]
            print(
                f"{task} {way} {options}: {count / n:g} requests a text of {request / count:,.0f} bytes; bytes a text:"
                " requests {:,.0f}, answers {:,.0f}; as Parquet {:,.0f} and {:,.0f}".format(*sizes)
            )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
