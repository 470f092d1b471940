"""Models behind `transformers serve`, on loopback, with the tests' tiny model: its list of models may fail."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from emotui.backends.base import Generate, Generation, Message
from emotui.backends.servers import load
from tests.backends.servers.ports import free_port
from tests.paths import TINY
from tests.waiting import wait_until

pytest.importorskip("aiohttp")
pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")
pytestmark = pytest.mark.slow

MODEL = TINY / "model" / "hf"
_SERVE = "import sys; from transformers.cli.transformers import main; sys.argv[0] = 'transformers'; main()"


@pytest.fixture
def address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    port = free_port()
    words = ["serve", "--host", "127.0.0.1", "--port", str(port), "--device", "cpu", str(MODEL)]
    process = subprocess.Popen(
        [sys.executable, "-c", _SERVE, *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path)},
    )

    def listens() -> bool:
        assert process.poll() is None, "the server ended while starting"
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            return False
        return True

    try:
        wait_until(listens, lambda: "the server did not start")
        yield f"{MODEL}@http://127.0.0.1:{port}/v1"
    finally:
        process.kill()
        process.wait()


def test_it_writes_and_is_known_to_give_no_log_probabilities(address: str) -> None:
    model = load(address, {"retries": 1}, lambda line: None)
    assert model.card.capabilities == ("generate",)
    assert "The server does not list this model, but answers to its name" in model.card.notes
    assert model.card.identity["served_as"] == f"{MODEL}@main"
    (answer,) = model.generate([Generate((Message("user", "Hello"),), max_tokens=8)])
    assert isinstance(answer, Generation)
    assert answer.text
    assert answer.finish in ("stop", "length")
