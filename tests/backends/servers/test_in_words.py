"""Servers without log-probabilities, in Ollama's shape: scenes and labels by hard answers, from the command line."""

import asyncio
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from aiohttp import web

from emotui.backends.servers import named
from emotui.records import PLUTCHIK
from emotui.store.store import Store
from emotui.workbench.scenes.decoding import Redecoding, Tuning
from emotui.workbench.scenes.service import SceneBench
from tests.conftest import Emotui

FEELS = re.compile(r"Does .+ feel (\w+) in this scene")
SHOWS = re.compile(r"Does its writer show (\w+)")
NAME = "llama3.2:latest"


@contextmanager
def ollama(*, refuses: bool) -> Iterator[str]:
    """Its SPEC. It says yes where the scene names the emotion; it ignores `logprobs`, or refuses them with HTTP 400."""

    async def models(request: web.Request) -> web.Response:
        entry = {"id": NAME, "object": "model", "created": 1730000000, "owned_by": "library"}
        return web.json_response({"object": "list", "data": [entry]})

    async def chat(request: web.Request) -> web.Response:
        body = await request.json()
        if refuses and body.get("logprobs"):
            error = {"message": "logprobs are not supported", "type": "invalid_request_error", "param": None}
            return web.json_response({"error": error}, status=400)
        asked = body["messages"][-1]["content"]
        found = FEELS.search(asked)
        said = "[]" if found is None else f"**{'Yes' if f'({found[1]})' in asked else 'No'}**, I think."
        if shown := SHOWS.search(asked):
            said = "Who knows." if "(shrug)" in asked and shown[1] == "fear" else "No"
            said = "Yes" if f"({shown[1]})" in asked else said
        if found is None and "what joy" in asked:
            said = '["joy"]'
        message = {"role": "assistant", "content": said, "reasoning": "It says so."}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 40, "completion_tokens": 4, "total_tokens": 44}
        answer = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1730000000, "model": NAME}
        return web.json_response(answer | {"system_fingerprint": "fp_ollama", "choices": [choice], "usage": usage})

    app = web.Application()
    app.add_routes([web.get("/v1/models", models), web.post("/v1/chat/completions", chat)])
    loop, started, port = asyncio.new_event_loop(), threading.Event(), []
    runner = web.AppRunner(app)

    async def start() -> None:
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port.append(runner.addresses[0][1])
        started.set()

    def serve() -> None:
        loop.run_until_complete(start())
        loop.run_forever()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    assert started.wait(20)
    spec = f"openai:{NAME}@http://127.0.0.1:{port[0]}/v1"
    named.name(spec)
    try:
        yield spec
    finally:
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result(20)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(20)
        loop.close()


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    """Twelve scenarios that name what is felt, but for two that name joy too much and one that hides its fear."""
    rows = []
    for number in range(12):
        felt = {"joy", "trust"} if number % 2 else {"fear"}
        shown = (felt | {"joy"}) if number < 3 else felt - {"fear"} if number > 8 else felt
        text = f"Scene {number}: " + " ".join(f"({name})" for name in sorted(shown))
        rows.append({"id": f"s{number}", "text": text, "labels": {name: int(name in felt) for name in PLUTCHIK}})
    path = tmp_path / "gold.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("refuses", [False, True])
def test_scenes_are_asked_in_words_marked_as_hard_and_decoded_by_how_often_they_are_right(
    emotui: Emotui, gold: Path, refuses: bool
) -> None:
    with ollama(refuses=refuses) as spec:
        done = emotui("predict", "scenes", "--model", spec, "--records", gold, "--to", "said.jsonl", "--json")
        assert done.status == 0, done.err
        run = emotui("run", "scenes", "--model", spec, "--dataset", gold, "--db", "w.duckdb", "--json")
        assert run.status == 0, run.err
    said = [json.loads(line) for line in (gold.parent / "said.jsonl").read_text().splitlines()]
    assert all(record["hard"] and record.get("scores") is None for record in said)
    assert said[0]["labels"] == dict.fromkeys(PLUTCHIK, 0) | {"fear": 1, "joy": 1}
    assert run.document["metrics"]["hard"] == {"samples": 12, "of": 12}

    decoded = emotui("decode", "--train", gold, "--scores", "said.jsonl", "--folds", "4", "--json")
    assert decoded.status == 0, decoded.err
    rates = decoded.document["reliability"]
    # Joy, trust and fear are there 6 times each, and found 6, 6 and 5 times; joy is said twice where it is not, of 78.
    assert rates["fear"]["sensitivity"] == pytest.approx((5 + 2 * 17.5 / 19) / 8)
    assert rates["joy"]["specificity"] == pytest.approx((4 + 2 * 76.5 / 79) / 8)

    store = Store.open(gold.parent / "w.duckdb")
    (stored,) = store.runs.all()
    scenes = SceneBench(store).load(stored)
    assert scenes.alone.tolist() == [[record["labels"][name] for name in scenes.labels] for record in said]
    found = Redecoding(scenes, Tuning("exact-smoothed")).decoded(1.0)
    assert found.figures.hamming_loss <= found.figures_before.hamming_loss
    fitted = scenes.reliability()
    assert fitted is not None
    assert fitted.sensitivity.tolist() == pytest.approx([rates[name]["sensitivity"] for name in scenes.labels])


def test_labels_are_hard_answers_of_such_a_server(emotui: Emotui, tmp_path: Path) -> None:
    (tmp_path / "labels.txt").write_text("joy\nfear\n")
    (tmp_path / "texts.jsonl").write_text('{"id": "1", "text": "what joy"}\n{"id": "2", "text": "so it goes"}\n')
    asked = ("--records", "texts.jsonl", "--labels", "labels.txt", "--to", "said.jsonl")
    with ollama(refuses=False) as spec:
        done = emotui("predict", "labels", "--model", spec, *asked, "--json")
        assert done.status == 0, done.err
    said = [json.loads(line)["labels"] for line in (tmp_path / "said.jsonl").read_text().splitlines()]
    assert said == [["joy"], []]


def test_each_label_may_be_asked_about_by_itself(emotui: Emotui, tmp_path: Path) -> None:
    rows = [
        {"id": "1", "text": "It says (joy).", "labels": ["joy"]},
        {"id": "2", "text": "(shrug)", "labels": ["fear"]},
    ]
    (tmp_path / "texts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with ollama(refuses=False) as spec:
        asked = ("--model", spec, "--dataset", "texts.jsonl", "--way", "yes-no", "--db", "w.duckdb", "--json")
        run = emotui("run", "labels", *asked)
        assert run.status == 0, run.err
        refused = emotui(
            "run", "labels", "--model", spec, "--dataset", "texts.jsonl", "--way", "score", "--db", "w.duckdb"
        )
    assert "it can be asked by zero-shot, cot, yes-no" in refused.err
    assert run.document["metrics"]["brier"] is None
    # The second text is answered with a shrug about fear, which costs that label alone.
    assert run.document["metrics"]["unanswered"] == {"scores": 1, "of": 4, "samples": 1}
    assert emotui("export", run.document["run"], "--to", "said.jsonl", "--db", "w.duckdb").status == 0
    said = [json.loads(line) for line in (tmp_path / "said.jsonl").read_text().splitlines()]
    assert said == [{"id": "1", "labels": ["joy"]}, {"id": "2", "labels": [], "unanswered": ["fear"]}]
    scored = emotui("score", "labels", "--gold", "texts.jsonl", "--pred", "said.jsonl", "--json").document
    assert scored["macro_f1"] == run.document["metrics"]["macro_f1"]
    refused = emotui("thresholds", "--gold", "texts.jsonl", "--pred", "said.jsonl")
    assert (refused.status, refused.err.count("\n")) == (2, 1)
    assert "no probabilities" in refused.err
