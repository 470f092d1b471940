"""The key goes to the named server in a header, and nowhere else: not into a card, an error, a log, an identity."""

import os
import subprocess
import sys
from collections.abc import Iterator

import msgspec
import pytest

from emotui.backends.base import Generate, Message, Refused
from emotui.backends.host import ModelProcess
from emotui.backends.servers import load
from emotui.errors import ModelError
from tests.backends.servers.faulty_server import FaultyServer
from tests.paths import CHECKOUT
from tests.waiting import LONGEST

pytest.importorskip("aiohttp")

KEY = "sk-do-not-show-me-4711"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    with FaultyServer(key=KEY) as running:
        yield running


def test_the_key_is_sent_to_the_server_and_stands_nowhere_in_the_card(server: FaultyServer) -> None:
    model = load(server.spec, {}, lambda line: None)
    assert {each.headers["authorization"] for each in server.asked} == {f"Bearer {KEY}"}
    assert KEY not in repr(model.card)
    assert KEY.encode() not in msgspec.json.encode(model.card)


def test_a_wrong_key_is_one_clear_line_without_it(monkeypatch: pytest.MonkeyPatch, server: FaultyServer) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-wrong-0815")
    with ModelProcess(f"openai:{server.spec}") as model, pytest.raises(ModelError) as caught:
        model.load()
    assert str(caught.value) == f"The server at {server.url} refuses the key in OPENAI_API_KEY (HTTP 401)"


def test_no_key_where_one_is_wanted_says_where_to_put_it(monkeypatch: pytest.MonkeyPatch, server: FaultyServer) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(ModelError, match=r"wants a key \(HTTP 401\): set OPENAI_API_KEY"):
        load(server.spec, {}, lambda line: None)
    assert all("authorization" not in each.headers for each in server.asked)


def test_a_key_that_the_server_repeats_is_cut_out_of_its_words(server: FaultyServer) -> None:
    model = load(server.spec, {}, lambda line: None)
    refused, _ = model.generate([Generate((Message("user", text),)) for text in ("SCOLD", "fine")])
    assert refused == Refused("the server refuses the request (HTTP 400): bad request of Bearer (key) [31m")


@pytest.mark.parametrize("bad", ["sk-\nsecret", "sk-sécret", "sk secret"])
def test_a_key_that_no_header_can_carry_is_not_repeated(monkeypatch: pytest.MonkeyPatch, bad: str) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", bad)
    with FaultyServer() as server, pytest.raises(ModelError) as caught:
        load(server.spec, {}, lambda line: None)
    assert str(caught.value).startswith("OPENAI_API_KEY holds a character that no key has")
    assert "cret" not in str(caught.value)
    assert server.asked == []


def test_no_log_holds_the_key_however_much_is_logged(server: FaultyServer) -> None:
    code = (
        "import logging; logging.basicConfig(level=0)\n"
        "from emotui.backends.servers import load\n"
        "from emotui.backends.base import Generate, Message\n"
        f"model = load({server.spec!r}, {{'retries': 1}}, print)\n"
        "print(model.generate([Generate((Message('user', text),)) for text in ('FAIL 1 x', 'SCOLD', 'DROP 9', 'y')]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": str(CHECKOUT), "OPENAI_LOG": "debug", "PYTHONASYNCIODEBUG": "1"},
        capture_output=True,
        text=True,
        timeout=LONGEST,
        check=True,
    )
    assert "FAIL 1 X" in done.stdout
    assert KEY not in done.stdout
    assert KEY not in done.stderr


def test_credentials_in_the_address_are_refused_without_repeating_them() -> None:
    with pytest.raises(ModelError) as caught:
        load("tiny@http://me:hunter2@127.0.0.1:1/v1", {}, lambda line: None)
    assert "hunter2" not in str(caught.value)
    assert "set OPENAI_API_KEY instead" in str(caught.value)
