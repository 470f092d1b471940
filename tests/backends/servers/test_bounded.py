"""An answer that has no end, in bytes or in seconds, costs its own request; a key that is echoed is taken out."""

import gzip
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import msgspec
import pytest

from emotui.backends.base import Generate, Generation, Message, Refused
from emotui.backends.servers import load, transport
from emotui.backends.servers.faults import Teller
from emotui.errors import ModelError

pytestmark = pytest.mark.faults

pytest.importorskip("aiohttp")

KEY = "sk-the-key-of-the-test"
Answer = Callable[[BaseHTTPRequestHandler, str], None]


def say(text: str) -> Generate:
    return Generate((Message("user", text),), max_tokens=4)


def _chat(text: str) -> bytes:
    return json.dumps({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}).encode()


def send(handler: BaseHTTPRequestHandler, body: bytes, **headers: str) -> None:
    handler.send_response(200)
    for name, value in {"Content-Length": str(len(body)), **headers}.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(body)


@contextmanager
def server(answer: Answer) -> Iterator[str]:
    """A server with one model; what it answers to a prompt is up to `answer`."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None: ...

        def do_GET(self) -> None:
            send(self, b'{"data": [{"id": "m"}]}')

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            prompt = asked["messages"][-1]["content"] if "messages" in asked else ""
            if prompt and "water wet" not in prompt:
                answer(self, prompt)
            else:
                send(self, _chat("Yes"))

    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    running.daemon_threads = True
    threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"m@http://127.0.0.1:{running.server_address[1]}/v1"
    finally:
        running.shutdown()
        running.server_close()


def asked(spec: str, *texts: str) -> "list[Generation | Refused]":
    # One after the other: an answer that ends the batch would take those on their way with it.
    model = load(spec, {"retries": 0, "timeout": 5, "concurrency": 1}, lambda _: None)
    try:
        return model.generate([say(text) for text in texts])
    finally:
        model.close()


@pytest.mark.parametrize("packed", [True, False])
def test_an_answer_that_is_too_long_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch, packed: bool) -> None:
    monkeypatch.setattr(transport, "MOST_BYTES", 100_000)
    huge = _chat("x" * 50_000_000) if packed else _chat("x" * 200_000)

    def answer(handler: BaseHTTPRequestHandler, prompt: str) -> None:
        if prompt == "huge":
            send(handler, gzip.compress(huge) if packed else huge, **({"Content_Encoding": "gzip"} if packed else {}))
        else:
            send(handler, gzip.compress(_chat("short")), Content_Encoding="gzip")

    with server(answer) as spec:
        found = asked(spec, "short", "huge")
    assert isinstance(found[0], Generation)
    assert found[0].text == "short"
    assert isinstance(found[1], Refused)
    assert found[1].why.startswith("the server's answer is longer than ")


@pytest.mark.parametrize("what", ["body", "headers"])
def test_a_server_that_drips_is_given_up_after_its_time(what: str) -> None:
    over = threading.Event()

    def answer(handler: BaseHTTPRequestHandler, prompt: str) -> None:
        if prompt == "short":
            send(handler, _chat("short"))
            return
        if what == "body":
            handler.send_response(200)
            handler.send_header("Content-Length", "1000000")
            handler.end_headers()
        else:
            handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
        while not over.wait(0.02):
            try:
                handler.wfile.write(b" ")
            except OSError:
                return

    with server(answer) as spec:
        model = load(spec, {"retries": 0, "timeout": 2}, lambda _: None)
        found = model.generate([say("short"), say("drip")])
        model.close()
        over.set()
    assert isinstance(found[0], Generation)
    assert isinstance(found[1], Refused)
    assert found[1].why == "the server did not answer in time"
    assert found[1].again


@pytest.mark.parametrize("coding", ["br", "zstd", "x" * 1000])
def test_an_answer_that_is_packed_in_another_way_is_refused(coding: str) -> None:
    def answer(handler: BaseHTTPRequestHandler, prompt: str) -> None:
        send(handler, _chat("x"), **({"Content_Encoding": coding} if prompt != "short" else {}))

    with server(answer) as spec:
        found = asked(spec, "short", "odd")
    assert [type(one) for one in found] == [Generation, Refused]


@pytest.mark.parametrize("escaped", [True, False])
def test_a_key_that_a_server_repeats_is_in_no_answer(monkeypatch: pytest.MonkeyPatch, escaped: bool) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)

    def answer(handler: BaseHTTPRequestHandler, prompt: str) -> None:
        given = handler.headers["Authorization"]
        body = _chat(f"You sent {given}!")
        if escaped:
            body = body.replace(KEY.encode(), "".join(f"\\u{ord(sign):04x}" for sign in KEY).encode())
        send(handler, body)

    with server(answer) as spec:
        (found,) = asked(spec, "echo")
    assert isinstance(found, Generation)
    assert found.text == "You sent Bearer (key)!"


def test_a_placeholder_for_a_key_is_left_in_answers() -> None:
    body = b'{"a": "none is EMPTY"}'
    for key in ("", "none", "EMPTY"):
        assert Teller("u", "m", key).without_key(body) == body
    with pytest.raises((msgspec.DecodeError, ModelError)):
        Teller("u", "m", KEY).without_key(b"\\")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_neither_the_key_nor_a_text_goes_to_another_host_that_an_answer_names(
    monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    reached = []

    class Other(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None: ...

        def do_GET(self) -> None:
            reached.append(self.headers.get("Authorization"))
            send(self, _chat("Yes"))

        do_POST = do_GET

    other = ThreadingHTTPServer(("127.0.0.1", 0), Other)
    threading.Thread(target=other.serve_forever, args=(0.01,), daemon=True).start()
    elsewhere = f"http://localhost:{other.server_address[1]}/v1/chat/completions"
    keys = []

    def answer(handler: BaseHTTPRequestHandler, prompt: str) -> None:
        keys.append(handler.headers["Authorization"])
        if prompt == "short":
            send(handler, _chat("short"))
            return
        handler.send_response(status)
        handler.send_header("Location", elsewhere)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    try:
        with server(answer) as spec:
            found = asked(spec, "short", "moved")
    finally:
        other.shutdown()
        other.server_close()
    assert [type(one) for one in found] == [Generation, Refused]
    assert elsewhere in found[1].why
    assert keys == [f"Bearer {KEY}"] * 2
    assert reached == []
