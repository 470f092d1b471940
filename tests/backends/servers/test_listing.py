"""The models of a server can be listed without loading one, and nothing else is talked to."""

import asyncio
import contextlib
import socket
import subprocess
import sys
import threading
import time

import pytest

from emotui.backends.servers.connection import models_at
from emotui.errors import ModelError
from tests.backends.servers.faulty_server import FaultyServer
from tests.paths import CHECKOUT
from tests.waiting import LONGEST

KEY = "sk-do-not-show-me-4711"


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)


def test_a_servers_models_are_listed_with_one_request() -> None:
    with FaultyServer(models=("small", "large")) as server:
        assert [each.id for each in models_at(server.url)] == ["small", "large"]
        assert [each.path for each in server.asked] == ["/v1/models"]


def test_nobody_there_is_one_clear_line() -> None:
    with FaultyServer() as server:
        url = server.url
    with pytest.raises(ModelError, match=r"^No server answers at http://127\.0\.0\.1:\d+/v1 \(Connection refused\)"):
        models_at(url)


@pytest.mark.parametrize("body", [b"<html>", b'{"data": 3}', b""])
def test_something_else_is_told_apart(body: bytes) -> None:
    with FaultyServer(models_body=body) as server, pytest.raises(ModelError, match="is no OpenAI-compatible server"):
        models_at(server.url)


def test_a_wrong_key_is_told_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with FaultyServer(key="another") as server, pytest.raises(ModelError) as caught:
        models_at(server.url)
    assert str(caught.value) == f"The server at {server.url} refuses the key in OPENAI_API_KEY (HTTP 401)"


def test_no_other_host_is_followed_to() -> None:
    with FaultyServer() as other, FaultyServer(redirect=f"{other.url}/models") as server:
        with pytest.raises(ModelError, match=r"is no OpenAI-compatible server \(HTTP 307\)"):
            models_at(server.url)
        assert other.asked == []


def test_listing_imports_no_client_library() -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(CHECKOUT)!r}); import emotui.backends.servers.connection; "
        "print([name for name in ('aiohttp', 'tenacity', 'httpx', 'torch') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=LONGEST)
    assert done.stdout.strip() == "[]"


def test_a_list_that_never_ends_is_not_waited_for() -> None:
    ends = threading.Event()

    def drip() -> None:
        with listening.accept()[0] as connection, contextlib.suppress(OSError):
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
            while not ends.wait(0.02):
                connection.sendall(b" ")

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=drip, daemon=True)
        thread.start()
        started = time.monotonic()
        with pytest.raises(ModelError, match=r"No server answers at .* \(no whole answer in 0\.5 s\)"):
            models_at(f"http://127.0.0.1:{listening.getsockname()[1]}/v1", timeout=0.1)
        ends.set()
        thread.join(10)
    assert time.monotonic() - started < 10


def test_a_list_is_asked_for_inside_an_event_loop_too() -> None:
    async def ask(url: str) -> list[str]:
        return [each.id for each in models_at(url)]

    with FaultyServer() as server:
        assert asyncio.run(ask(server.url)) == ["tiny"]
