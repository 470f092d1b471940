"""Runs against a server that answers in 50 ms and has room for many, beside a bare loop of aiohttp.

    python benchmarks/models/serving.py [REQUESTS] [ROOM]

The server, the loop and the run share this machine, so figures are told as ratios to the loop of the same go.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

DELAY = 0.05
TEXT = "The bus let me off at the corner, and nobody noticed that I was gone."
ANSWER = "nobody noticed"


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0] or 0)
            body = json.loads(await reader.readexactly(length)) if length else {}
            if b"/models" in head.partition(b"\r\n")[0]:
                said: dict[str, object] = {
                    "object": "list",
                    "data": [{"id": "tiny", "object": "model", "owned_by": "x"}],
                }
            elif b"/chat/" in head.partition(b"\r\n")[0]:
                await asyncio.sleep(DELAY)
                choice: dict[str, object] = {
                    "index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": ANSWER}
                }  # fmt: skip
                if body.get("logprobs"):
                    first = [{"token": " Yes", "logprob": -0.7}, {"token": " No", "logprob": -0.8}]
                    choice["logprobs"] = {"content": [{"token": " Yes", "logprob": -0.7, "top_logprobs": first}]}
                said = {
                    "id": "1", "object": "chat.completion", "created": 1, "model": "tiny", "choices": [choice],
                    "usage": {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12},
                }  # fmt: skip
            else:
                writer.write(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")
                continue
            document = json.dumps(said).encode()
            writer.write(
                b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(document)
                + document
            )
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def serve() -> None:
    """Answer every chat after the delay, on a port that the system chooses and the first line of output says."""
    server = await asyncio.start_server(_answer, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


async def bare(url: str, n: int, room: int) -> float:
    """Requests a second of `aiohttp` with nothing around it but reading each answer as JSON."""
    import aiohttp

    gate = asyncio.Semaphore(room)

    async def one(text: str) -> None:
        body = {"model": "tiny", "messages": [{"role": "user", "content": text}], "max_tokens": 64, "temperature": 0}
        async with gate, client.post(f"{url}/chat/completions", json=body) as answer:
            assert (await answer.json())["choices"]

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as client:
        started = time.perf_counter()
        await asyncio.gather(*(one(f"{place} {TEXT}") for place in range(n)))
        return n / (time.perf_counter() - started)


def main(n: int = 3000, room: int = 64) -> None:
    """Print requests a second of each, and its ratio to the bare loop."""
    server = subprocess.Popen([sys.executable, __file__, "serve"], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        url = f"http://127.0.0.1:{server.stdout.readline().strip()}/v1"
        loop = asyncio.run(bare(url, n, room))
        print(f"bare loop            {loop:7.0f} requests a second")
        with tempfile.TemporaryDirectory() as folder:
            told = {**os.environ, "XDG_DATA_HOME": folder, "XDG_STATE_HOME": folder, "XDG_CONFIG_HOME": folder}
            texts = [
                {
                    "id": str(place),
                    "text": f"{place} {TEXT}",
                    "spans": [],
                }
                for place in range(n)
            ]
            Path(folder, "texts.jsonl").write_text("".join(f"{json.dumps(text)}\n" for text in texts))
            no = dict.fromkeys(["joy", "trust", "fear", "surprise", "sadness", "disgust", "anger", "anticipation"], 0)
            scenes = [{"id": text["id"], "text": text["text"], "labels": no} for text in texts[: n // 8]]
            Path(folder, "scenes.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in scenes))
            model = f"openai:tiny@{url}#concurrency={room}"
            for name, each, arguments in (
                ("run spans", 1, ["run", "spans", "--dataset", "texts.jsonl", "--db", "w.duckdb", "--json"]),
                ("run scenes", 8, ["run", "scenes", "--dataset", "scenes.jsonl", "--db", "w.duckdb", "--json"]),
                ("predict spans", 1, ["predict", "spans", "--records", "texts.jsonl", "--to", "said.jsonl", "--json"]),
            ):
                done = subprocess.run(
                    [sys.executable, "-m", "emotui", *arguments, "--model", model],
                    cwd=folder,
                    env=told,
                    stdout=subprocess.PIPE,
                    check=True,
                )
                found = json.loads(done.stdout)
                rate = each * found["n"] / found["seconds"]
                print(f"{name:20} {rate:7.0f} requests a second, {rate / loop:.2f} of the bare loop")
    finally:
        server.kill()


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        asyncio.run(serve())
    else:
        main(*map(int, sys.argv[1:]))
