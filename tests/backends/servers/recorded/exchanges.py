"""Answers of a real server: recorded to a file, and given again.

    python -m tests.backends.servers.recorded.exchanges FILE 'SERVER AND VERSION' MODEL http://127.0.0.1:PORT

asks a running server what `ask_all` asks, with its answers to `FILE`. Statuses and bodies are kept as they came.
"""

import json
import sys
import threading
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any

from emotui.backends.base import Generate, Generation, Message, Refused, Score, Scores
from emotui.backends.servers import load, named

HERE = Path(__file__).parent
Exchange = dict[str, Any]
"""`path`, `asked` (a body, None for a GET), `status` and `answer` (a body as text)."""


def ask_all(spec: str) -> tuple[Any, list[Generation | Refused], list[Scores | Refused]]:
    """Load a server's model, let it write three texts (one prompt is far too long) and score two questions."""
    model = load(spec, {"retries": 0, "timeout": 300}, lambda line: None)
    asked = [Message("user", text) for text in ("Evidence: The sea was calm.", "Hello", "Ben " * 300)]
    written = model.generate([Generate((each,), max_tokens=8, temperature=0.0, stop=("\n",)) for each in asked])
    if "score" not in model.card.capabilities:
        return model.card, written, []
    return model.card, written, model.score([Score("Ben missed the bus.", ("Is Ben sad?", "Is Ben happy?"))])


class Relay:
    """A server on loopback that passes on to another and keeps what it answers, or gives again what was kept."""

    def __init__(self, exchanges: list[Exchange], target: str | None = None) -> None:
        self.exchanges, self.target = exchanges, target
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _answering(self))
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def __enter__(self) -> "Relay":
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._http.shutdown()
        self._http.server_close()

    def answer(self, path: str, body: bytes | None) -> tuple[int, bytes]:
        """Status and body: the other server's, or those kept for the request that is most like this one."""
        asked = None if body is None else json.loads(body)
        if self.target is not None:
            status, answer = _passed_on(self.target + path, body)
            self.exchanges.append({"path": path, "asked": asked, "status": status, "answer": answer.decode()})
            return status, answer
        alike = [each for each in self.exchanges if each["path"] == path and (each["asked"] is None) == (asked is None)]
        if not alike:
            return 404, b'{"detail": "not recorded"}'
        best = min(alike, key=lambda each: _differing(each["asked"] or {}, asked or {}))
        return best["status"], best["answer"].encode()


def _differing(left: dict[str, Any], right: dict[str, Any]) -> int:
    return sum(name not in left or name not in right or left[name] != right[name] for name in {*left, *right})


def _passed_on(address: str, body: bytes | None) -> tuple[int, bytes]:
    request = urllib.request.Request(address, body, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=300) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def _answering(relay: Relay) -> type[BaseHTTPRequestHandler]:
    class Answering(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_GET(self) -> None:
            self._send(None)

        def do_POST(self) -> None:
            self._send(self.rfile.read(int(self.headers["Content-Length"])))

        def _send(self, body: bytes | None) -> None:
            status, answer = relay.answer(self.path, body)
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

    return Answering


def replayed(name: str) -> tuple[Any, list[Generation | Refused], list[Scores | Refused]]:
    """What `ask_all` reads of a recording. Args: name: of its file."""
    kept = json.loads((HERE / name).read_text("utf-8"))
    with Relay(kept["exchanges"]) as relay:
        named.name(f"openai:{kept['model']}@{relay.url}")
        return ask_all(f"{kept['model']}@{relay.url}")


def main(file: str, server: str, model: str, target: str) -> None:
    """Record."""
    with Relay([], target) as relay:
        named.name(f"openai:{model}@{relay.url}")
        for each in ask_all(f"{model}@{relay.url}"):
            print(each)
        kept = {"server": server, "model": model, "exchanges": relay.exchanges}
    (HERE / file).write_text(json.dumps(kept, ensure_ascii=False, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
