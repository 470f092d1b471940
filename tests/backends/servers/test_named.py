"""A server that a workspace names, and no person, is sent neither a text nor the key."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from emotui.backends.base import Embed
from emotui.backends.host import child_environment
from emotui.backends.servers import named
from emotui.errors import ModelError
from emotui.store.store import Store
from emotui.workbench.workspace import Workspace
from tests.backends.servers.faulty_server import FaultyServer
from tests.conftest import Emotui

SPEC = "openai:m@http://elsewhere.example/v1"


@pytest.fixture(autouse=True)
def _nobody_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(named, "_here", set())
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-test")


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    with FaultyServer(is_named=False) as running:
        yield running


@pytest.mark.parametrize("read_only", [True, False])
def test_the_model_of_a_workspace_is_not_asked_before_a_person_names_it(
    server: FaultyServer, tmp_path: Path, read_only: bool
) -> None:
    path = tmp_path / "shared.duckdb"
    Store.open(path).settings.set("live model", f"openai:{server.spec}")
    workspace = Workspace.open(path, read_only=read_only)
    spec = workspace.setting("live model")
    assert isinstance(spec, str)
    with workspace.model(spec) as model:
        with pytest.raises(ModelError, match=r"was named by this workspace and never by you, so nothing is sent there"):
            model.ask([Embed("a secret text")])
        assert model.pid is None
    assert server.asked == []


def test_what_stands_on_the_command_line_is_named_from_then_on(server: FaultyServer, emotui: Emotui) -> None:
    spec = f"openai:{server.spec}"
    assert emotui("probe", "so glad", "--model", spec).status == 0
    assert named.unnamed(spec) is None
    kept = json.loads(named.kept_in().read_text("utf-8"))
    assert kept == [server.url.removesuffix("/v1")]
    assert {each.headers["authorization"] for each in server.asked} == {"Bearer sk-of-the-test"}


def test_another_port_or_scheme_is_another_server() -> None:
    named.name(SPEC)
    assert named.unnamed(SPEC) is None
    assert named.unnamed("openai:other@HTTP://ELSEWHERE.example/v2#timeout=3") is None
    assert named.unnamed("openai:m@http://elsewhere.example:81/v1") == "http://elsewhere.example:81"
    assert named.unnamed("openai:m@https://elsewhere.example/v1") == "https://elsewhere.example"
    assert named.unnamed("hf:somewhere") is named.unnamed("openai:no address") is None


def test_a_folder_that_cannot_be_written_counts_the_server_for_this_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "file"))
    named.name(SPEC)
    assert named.unnamed(SPEC) is None


@pytest.mark.parametrize("broken", [b"", b"{}", b"[1]", b"\xff", b"[" * 100_000])
def test_a_list_that_cannot_be_read_names_nobody(broken: bytes) -> None:
    named.kept_in().parent.mkdir(parents=True)
    named.kept_in().write_bytes(broken)
    assert named.unnamed(SPEC) == "http://elsewhere.example"
    named.name(SPEC)
    assert json.loads(named.kept_in().read_bytes()) == ["http://elsewhere.example"]


def test_the_key_goes_to_the_process_of_no_other_kind() -> None:
    given = {spec: "OPENAI_API_KEY" in child_environment(spec) for spec in ("embedded", "hf:x", "gguf:x", SPEC)}
    assert given == {"embedded": False, "hf:x": False, "gguf:x": False, SPEC: True}
