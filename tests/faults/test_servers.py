"""A server answers whatever it likes: that is an answer or one line, and the key stays with who was named."""

import contextlib
import json
import random
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emotui.backends.base import Generate, Generation, Message, Refused, Score
from emotui.backends.servers import load
from emotui.backends.servers.connection import models_at
from emotui.backends.servers.model import ServerModel
from emotui.errors import EmotuiError, ModelError
from tests.backends.servers.faulty_server import FaultyServer
from tests.effort import times, tried
from tests.mutations import mutated_json

pytest.importorskip("aiohttp")

TOKEN = {"token": " Yes", "logprob": -0.5, "bytes": [32, 89], "top_logprobs": [{"token": " No", "logprob": -1.5}]}
ANSWER: dict[str, Any] = {
    "choices": [
        {"index": 0, "message": {"role": "assistant", "content": " Yes"}, "finish_reason": "stop"}
        | {"logprobs": {"content": [TOKEN]}, "text": " Yes"}
    ],
    "model": "tiny",
    "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3},
    "system_fingerprint": "build-1",
}
LISTED = {"object": "list", "data": [{"id": "tiny", "object": "model", "owned_by": "x", "max_model_len": 512}]}


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-that-stays")
    return "sk-secret-that-stays"


@pytest.fixture(scope="module")
def server() -> Iterator[FaultyServer]:
    with FaultyServer() as running:
        yield running


@pytest.fixture(scope="module")
def model(server: FaultyServer) -> ServerModel:
    return load(server.spec, {"retries": 0, "timeout": 5}, lambda line: None)


@pytest.mark.fuzz
@given(seed=st.integers(0, 2**32))
@settings(max_examples=times(40, 8_000), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_answer_is_an_answer_a_refusal_or_one_line(server: FaultyServer, model: ServerModel, seed: int) -> None:
    server.answer_body = mutated_json(ANSWER, random.Random(seed))
    tried("bad inputs")
    said = ""
    try:
        (written,) = model.generate([Generate((Message("user", "x"),), max_tokens=2)])
        assert isinstance(written, Generation | Refused)
        assert model.score([Score("x", ("Is it?",))])
    except ModelError as error:
        said = str(error)
    finally:
        server.answer_body = None
    assert "\n" not in said


@pytest.mark.fuzz
@given(seed=st.integers(0, 2**32))
@settings(max_examples=times(30, 6_000), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_listing_of_models_is_one_or_one_line(server: FaultyServer, seed: int) -> None:
    server.models_body = mutated_json(LISTED, random.Random(seed))
    tried("bad inputs")
    said = ""
    try:
        assert all(isinstance(each.id, str) for each in models_at(server.url))
    except EmotuiError as error:
        said = str(error)
    finally:
        server.models_body = None
    assert "\n" not in said


class Sending(BaseHTTPRequestHandler):
    """Lists its model, and sends every question on to `there`."""

    there = ""
    status = 307

    def do_GET(self) -> None:
        body = json.dumps(LISTED).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(self.status)
        self.send_header("Location", self.there)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None: ...


@pytest.mark.faults
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_question_that_is_sent_on_to_another_host_takes_neither_text_nor_key_there(
    status: int, server: FaultyServer, key: str
) -> None:
    from emotui.backends.servers import named

    tried("hostile calls")
    before = len(server.asked)
    handler = type("To", (Sending,), {"there": f"{server.url}/chat/completions", "status": status})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as sends:
        threading.Thread(target=sends.serve_forever, args=(0.01,), daemon=True).start()
        spec = f"tiny@http://127.0.0.1:{sends.server_address[1]}/v1"
        named.name(f"openai:{spec}")
        said = ""
        with contextlib.suppress(EmotuiError):
            sent_on = load(spec, {"retries": 0, "timeout": 5}, lambda line: None)
            (answer,) = sent_on.generate([Generate((Message("user", "a secret text"),), max_tokens=2)])
            said = answer.why
        sends.shutdown()
    assert key not in said
    assert server.asked[before:] == []
