"""A real HTTP server on loopback that speaks OpenAI's protocol, and fails as the prompts tell it to.

The last message's (or prompt's) first word says what happens: `DROP 2 x` closes the connection for the first 2 tries
of that very prompt and then answers; likewise `FAIL` (HTTP 500), `LIMIT` (429), `HALF` (half a JSON), `WRONG` (another
schema), `CUT` (a body shorter than announced). `DELAY 0.5` answers late, `LONG` is too long for the context, `SCOLD`
is refused with the key in the error's text, `FILTERED` is withheld. All else is answered with the prompt in upper case.
"""

import contextlib
import json
import socket
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from emotui.backends.servers import named

YES_NO = {" Yes": -0.5, "Yes": -1.5, " No": -2.0, "The": -3.0, "no": -4.0}
"""Log-probabilities of the first token of any answer."""


@dataclass
class Asked:
    """One request as it arrived."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    at: float

    @property
    def prompt(self) -> str:
        if "messages" in self.body:
            return str(self.body["messages"][-1]["content"])
        return str(self.body.get("prompt", self.body.get("input", "")))


@dataclass
class FaultyServer:
    """Use as a context manager; `url` is its address while it runs."""

    models: tuple[str, ...] = ("tiny",)
    key: str | None = None
    chat: bool = True
    most_logprobs: int = 20
    logprobs: dict[str, float] = field(default_factory=lambda: dict(YES_NO))
    fingerprint: str | None = "build-1"
    served_as: str | None = None
    retry_after: str | None = None
    usage: bool = True
    refuses: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    writes: bool = True
    embeds: bool = False
    models_body: bytes | None = None
    answer_body: bytes | None = None
    redirect: str | None = None
    is_named: bool = True
    asked: list[Asked] = field(default_factory=list)
    most_at_once: int = 0

    def __enter__(self) -> "FaultyServer":
        self._tries: Counter[str] = Counter()
        self._now = 0
        self._open: list[socket.socket] = []
        self._lock = threading.Lock()
        self._http = _Quiet(("127.0.0.1", 0), _answering(self))
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        if self.is_named:
            named.name(f"openai:{self.spec}")
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Go away: the port refuses connections from now on, and those that are open end."""
        self._http.shutdown()
        self._http.server_close()
        with self._lock:
            for connection in self._open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
            self._open.clear()

    @property
    def port(self) -> int:
        return int(self._http.server_address[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def spec(self) -> str:
        return f"{self.models[0]}@{self.url}"

    def prompts(self) -> list[str]:
        """Every prompt that arrived, in order; the probes of loading left out."""
        return [each.prompt for each in self.asked if each.body and "Is water wet?" not in each.prompt]

    def _arrived(self, asked: Asked) -> int:
        """Note a request; returns how many tries of this prompt came before it."""
        with self._lock:
            self.asked.append(asked)
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
            self._tries[asked.prompt] += 1
            return self._tries[asked.prompt] - 1

    def _left(self) -> None:
        with self._lock:
            self._now -= 1


class _Quiet(ThreadingHTTPServer):
    """A connection that the other end, or a fault, has closed is no news."""

    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        if not isinstance(sys.exception(), OSError | ValueError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


def _answering(server: FaultyServer) -> type[BaseHTTPRequestHandler]:
    class Answering(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            super().setup()
            with server._lock:
                server._open.append(self.connection)

        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_GET(self) -> None:
            server.asked.append(Asked(self.path, _lower(self.headers), {}, time.monotonic()))
            if server.redirect is not None:
                self._send(307, b"", location=server.redirect)
            elif not self._let_in():
                pass
            elif server.models_body is not None:
                self._send(200, server.models_body)
            elif self.path == "/v1/models":
                listed = [{"id": name, "object": "model", "owned_by": "tests"} for name in server.models]
                self._json(200, {"object": "list", "data": listed})
            else:
                self._json(404, {"detail": "Not Found"})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked = Asked(self.path, _lower(self.headers), body, time.monotonic())
            before = server._arrived(asked)
            try:
                if self._let_in():
                    self._answer(asked, before)
            except (BrokenPipeError, ConnectionResetError):
                pass
            finally:
                server._left()

        def _let_in(self) -> bool:
            if server.key is None or self.headers.get("Authorization") == f"Bearer {server.key}":
                return True
            given = self.headers.get("Authorization")
            self._json(401, {"error": {"message": f"Incorrect API key provided: {given}", "code": "invalid_api_key"}})
            return False

        def _answer(self, asked: Asked, before: int) -> None:
            if not server.chat and asked.path == "/v1/chat/completions":
                self._json(400, {"error": {"message": "the model has no chat template", "code": 400}})
                return
            if asked.body["model"] not in server.models:
                self._json(404, {"error": {"message": "no such model", "code": "model_not_found"}})
                return
            if server.answer_body is not None:
                self._send(200, server.answer_body)
                return
            for name, value in asked.body.items():
                if name in server.unknown:
                    words = f"Unsupported parameter: '{name}' is not supported with this model."
                    self._json(400, {"error": {"message": words, "param": name, "code": "unsupported_parameter"}})
                    return
                if f"{name}={value}" in server.refuses:
                    self._json(400, {"error": {"message": f"{name} may not be {value}"}})
                    return
            if not (server.embeds if asked.path == "/v1/embeddings" else server.writes):
                self._json(404, {"detail": "Not Found"})
                return
            words = [*asked.prompt.split(), "", ""]
            times = int(words[1]) if words[1].isdigit() else 10**9
            if words[0] == "DELAY":
                time.sleep(float(words[1]))
            elif words[0] == "LONG":
                words_of_refusal = (
                    "This model's maximum context length is 512 tokens. However, you requested 700 tokens "
                    "(600 in the messages, 100 in the completion)."
                )
                self._json(400, {"error": {"message": words_of_refusal, "code": "context_length_exceeded"}})
                return
            elif words[0] == "SCOLD":
                self._json(400, {"error": {"message": f"bad request of {self.headers.get('Authorization')}\x1b[31m"}})
                return
            elif before < times and self._fail(words[0]):
                return
            if asked.path == "/v1/embeddings":
                self._json(200, _embedding(asked))
                return
            self._json(200, _completion(server, asked, filtered=words[0] == "FILTERED"))

        def _fail(self, how: str) -> bool:
            match how:
                case "DROP":
                    self.close_connection = True
                    self.connection.close()
                case "FAIL":
                    self._json(500, {"error": {"message": "the accelerator is on fire", "code": None}})
                case "LIMIT":
                    self._send(429, b'{"error": {"message": "slow down"}}', retry_after=server.retry_after)
                case "HALF":
                    self._send(200, b'{"choices": [{"message": {"content": "hal')
                case "WRONG":
                    self._json(200, {"choices": [{"message": {"content": 17}}]})
                case "EMPTY":
                    self._json(200, {"choices": []})
                case "CUT":
                    self._send(200, b'{"choices": []}', announced=4096)
                    self.close_connection = True
                case _:
                    return False
            return True

        def _json(self, status: int, document: object) -> None:
            self._send(status, json.dumps(document).encode())

        def _send(
            self,
            status: int,
            body: bytes,
            *,
            retry_after: str | None = None,
            location: str | None = None,
            announced: int | None = None,
        ) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body) if announced is None else announced))
            if retry_after is not None:
                self.send_header("Retry-After", retry_after)
            if location is not None:
                self.send_header("Location", location)
            self.end_headers()
            self.wfile.write(body)

    return Answering


def _lower(headers: Message) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _embedding(asked: Asked) -> dict[str, Any]:
    """Three numbers, of how many letters, spaces and points a text has."""
    text = asked.prompt
    vector = [float(len(text)), float(text.count(" ")), float(text.count("."))]
    return {
        "object": "list",
        "model": asked.body["model"],
        "data": [{"object": "embedding", "index": 0, "embedding": vector}],
        "usage": {"prompt_tokens": len(text.split()), "total_tokens": len(text.split())},
    }


def _completion(server: FaultyServer, asked: Asked, *, filtered: bool) -> dict[str, Any]:
    body = asked.body
    chat = asked.path == "/v1/chat/completions"
    text = asked.prompt.upper()
    width = int((body.get("top_logprobs") if chat else body.get("logprobs")) or 0)
    best = list(server.logprobs.items())[: min(width, server.most_logprobs)]
    choice: dict[str, Any] = {"index": 0, "finish_reason": "content_filter" if filtered else "stop"}
    if chat:
        choice["message"] = {"role": "assistant", "content": None if filtered else text}
    else:
        choice["text"] = text
    if best:
        tops = [{"token": token, "logprob": value, "bytes": None} for token, value in best]
        first = {"token": best[0][0], "logprob": best[0][1], "top_logprobs": tops}
        plain = {"tokens": [best[0][0]], "token_logprobs": [best[0][1]], "top_logprobs": [dict(best)]}
        choice["logprobs"] = {"content": [first]} if chat else plain
    document: dict[str, Any] = {
        "id": "x",
        "object": "chat.completion" if chat else "text_completion",
        "model": server.served_as or body["model"],
        "choices": [choice],
        "system_fingerprint": server.fingerprint,
    }
    if server.usage:
        read = len(asked.prompt.split())
        document["usage"] = {"prompt_tokens": read, "completion_tokens": 2, "total_tokens": read + 2}
    return document
