"""The workbench in a browser: it draws there, and for nobody but who has its address."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import pytest

from emotui.store.store import Store
from tests.backends.servers.ports import free_port
from tests.conftest import Emotui
from tests.paths import CHECKOUT
from tests.waiting import LONGEST

aiohttp = pytest.importorskip("aiohttp")
pytest.importorskip("textual_serve")

_HERE = find_spec("PySide6") and find_spec("PySide6.QtWebEngineCore")
BROWSER = os.environ.get("EMOTUI_BROWSER_PYTHON") or (sys.executable if _HERE else None)
"""A Python that has Qt's Chromium."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the workspace `w.duckdb`."""
    return tmp_path_factory.mktemp("serve")


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    """Of `emotui serve` over a workspace of its own."""
    port = free_port()
    line = '{"id": "%d", "text": "I was so glad.", "spans": [[0, 14]]}\n'
    (folder / "gold.jsonl").write_text("".join(line % number for number in range(1, 6)), encoding="utf-8")
    environment = os.environ | {"XDG_DATA_HOME": str(folder), "PYTHONPATH": str(CHECKOUT)}
    here = [sys.executable, "-m", "emotui"]
    db = ["--db", str(folder / "w.duckdb")]
    subprocess.run([*here, "import", "gold.jsonl", *db], cwd=folder, env=environment, check=True, capture_output=True)
    serving = subprocess.Popen(
        [*here, "serve", "--port", str(port), *db], cwd=folder, env=environment, stdout=subprocess.PIPE, text=True
    )
    assert serving.stdout is not None
    said = serving.stdout.readline()
    assert said.startswith(f"The workbench is at http://127.0.0.1:{port}/")
    yield said.split()[-1]
    serving.send_signal(signal.SIGINT)
    serving.communicate(timeout=LONGEST)


async def _status(url: str, **headers: str) -> int:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    async with aiohttp.ClientSession() as session, session.get(url, headers=named, allow_redirects=False) as answer:
        return int(answer.status)


def _origin(address: str) -> str:
    return address.rsplit("/", 2)[0]


async def test_the_workbench_draws_and_is_driven_through_its_address(address: str) -> None:
    drawn = b""
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(f"{address}ws?width=80&height=24", headers={"Origin": _origin(address)}) as connection,
    ):
        await connection.send_json(["resize", {"width": 80, "height": 24}])
        async for message in connection:
            if message.type == aiohttp.WSMsgType.BINARY:
                drawn += message.data
            if b"I was so glad." in drawn:
                break
        assert b"I was so glad." in drawn
        for key in ("q", "\r"):
            await connection.send_json(["stdin", key])


def _children(pid: int) -> set[int]:
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid and fields[0] != "Z":
            child = int(stat.parent.name)
            found |= {child} | _children(child)
    return found


def _gone(pids: set[int]) -> bool:
    return not any(Path(f"/proc/{pid}/cmdline").exists() and Path(f"/proc/{pid}/cmdline").read_bytes() for pid in pids)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system does not list processes there")
@pytest.mark.parametrize("end", ["page", "interrupt", "kill", "size"])
async def test_a_workbench_ends_with_its_page_and_its_server_in_the_middle_of_its_first_start(
    end: str, tmp_path: Path
) -> None:
    port = free_port()
    environment = os.environ | {"XDG_DATA_HOME": str(tmp_path), "PYTHONPATH": str(CHECKOUT)}
    command = [sys.executable, "-m", "emotui", "serve", "--port", str(port), "--db", str(tmp_path / "new.duckdb")]
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True) as serving:
        try:
            assert serving.stdout is not None
            address = serving.stdout.readline().split()[-1]
            async with aiohttp.ClientSession() as session:
                url, origin = f"{address}ws?width=999999999&height=24", {"Origin": _origin(address)}
                socket_ = await session.ws_connect(url, headers=origin)
                while not (started := _children(serving.pid)):
                    await asyncio.sleep(0.05)
                if end == "size":
                    with suppress(ConnectionError):  # it may hang up before all of it is there
                        await socket_.send_str("x" * 2**21)
                elif end == "page":
                    await socket_.close()
                else:
                    serving.send_signal(signal.SIGINT if end == "interrupt" else signal.SIGKILL)
                    await asyncio.to_thread(serving.wait, LONGEST)
                async with asyncio.timeout(LONGEST):
                    while not _gone(started):
                        await asyncio.sleep(0.05)
        finally:
            serving.kill()


async def test_the_page_asks_for_nothing_but_what_this_server_has(address: str) -> None:
    async with aiohttp.ClientSession() as session, session.get(address) as answer:
        page, headers = await answer.text(), answer.headers
    assert f'data-session-websocket-url="{address.replace("http", "ws", 1)}ws"' in page
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert headers["Referrer-Policy"] == "no-referrer"


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "http://localhost"},
        {"Host": "evil.example"},
        {"Host": "evil.example:80"},
        {"Host": "localhost"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
    ids=str,
)
async def test_another_sites_page_is_refused_even_with_the_address(address: str, headers: dict[str, str]) -> None:
    named = {"Origin": _origin(address), **headers}
    async with aiohttp.ClientSession() as session:
        for path in ("", "ws"):
            async with session.get(address + path, headers=headers) as answer:
                assert answer.status == 403
        with pytest.raises(aiohttp.WSServerHandshakeError) as caught:
            await session.ws_connect(f"{address}ws", headers=named)
        assert caught.value.status == 403


async def test_a_connection_that_says_nothing_of_its_page_is_refused(address: str) -> None:
    async with aiohttp.ClientSession() as session:
        with pytest.raises(aiohttp.WSServerHandshakeError) as caught:
            await session.ws_connect(f"{address}ws")
        assert caught.value.status == 403


async def test_without_the_secret_there_is_nothing(address: str) -> None:
    origin = _origin(address)
    for path in ("/", "/ws", f"/{'a' * 43}/", f"/{'a' * 43}/ws", "/download/x", "/static/"):
        assert await _status(origin + path) in (403, 404)
    async with aiohttp.ClientSession() as session:
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await session.ws_connect(f"{origin}/ws", headers={"Origin": origin})


async def test_it_listens_on_loopback_alone(address: str) -> None:
    port = int(_origin(address).rsplit(":", 1)[1])
    others = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)} - {"127.0.0.1"}
    for other in ("127.0.0.2", *others):
        with pytest.raises(OSError):
            await asyncio.open_connection(other, port)


def test_a_port_that_is_taken_is_one_line(emotui_process: Emotui) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = emotui_process("serve", "--port", port)
    assert (done.status, done.err.count("\n")) == (1, 1)
    assert f"port {port} cannot be used" in done.err


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="no PySide6 with QtWebEngine here, nor named by EMOTUI_BROWSER_PYTHON")
def test_a_real_browser_draws_it_and_drives_it_and_a_page_of_another_site_cannot(
    address: str, folder: Path, tmp_path: Path
) -> None:
    assert BROWSER is not None
    driver, picture = Path(__file__).with_name("browser.py"), tmp_path / "drawn.png"
    done = subprocess.run([BROWSER, driver, address, picture], capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert (seen["drawn"], seen["a click changes it"], seen["a key changes it"], seen["left"]) == (True,) * 4
    assert picture.stat().st_size > 5000
    for origin in ("http://evil.example/", "http://localhost:1/", "http://127.0.0.1:1/"):
        # What it fetches without reading it is the refusal.
        assert seen[origin] == {"socket": "refused", "read": "refused", "fetched": "opaque"}
    # The rows that were clicked and moved to are remembered, as in a terminal. Which row is clicked goes by the font of
    # the browser; the key alone would have come to the second.
    kept = Store.open(folder / "w.duckdb", read_only=True).settings.get("browse")
    assert isinstance(kept, dict)
    assert 3 <= kept["sample"] <= 6
