"""A run as one file: out of one store, into another, and files that somebody made to do harm."""

import getpass
import io
import socket
import tarfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emotui.errors import BadInput
from emotui.store.rows import ResultRow
from emotui.workbench.runs import run_file
from emotui.workbench.runs.machine import Measured, keep_measured, measured
from emotui.workbench.runs.packing import pack, unpack
from emotui.workbench.runs.run_file import portable
from emotui.workbench.workspace import Workspace
from tests.conftest import Emotui
from tests.effort import times, tried
from tests.workbench.results_store import ERRING, add_run, workspace


@pytest.fixture
def made(tmp_path: Path) -> Workspace:
    opened, dataset = workspace(tmp_path / "one.duckdb")
    add_run(opened, dataset, "r 1", "hf:/home/somebody/model", "retrieve", ERRING, before=1, breach="no bars")
    row = next(iter(opened.store.results.of_run("r 1")))
    opened.store.results.commit("r 1", [ResultRow(row.sample, 7, 0, "asked", None, "went away", 0.5)])
    with opened.store._turns.writing() as connection:  # as a run of eight repeats that was stopped
        connection.execute("update runs set n = 24, identity = repeat('0f', 32), config = '{\"seed\":0,\"repeats\":8}'")
    return opened


def plain(opened: Workspace, run: str) -> list[ResultRow]:
    first = opened.store.samples.file_order(opened.store.runs.get(run).dataset).start
    return [
        msgspec.structs.replace(row, sample=row.sample - first, output=None) for row in opened.store.results.of_run(run)
    ]


def test_a_run_keeps_its_id_its_outputs_and_its_scores_in_another_store(made: Workspace, tmp_path: Path) -> None:
    ran_on = Measured(processor="p", cores=2, graphics=("NVIDIA H200, 143771 MiB",), seconds=3, graphics_joules=7)
    keep_measured(made.store, "r 1", ran_on)
    pack(made.store, "r 1", str(tmp_path / "a.run"))
    other = Workspace.open(tmp_path / "two.duckdb")
    kept = unpack(other.store, str(tmp_path / "a.run"))
    assert measured(other.store, "r 1") == ran_on
    old = made.store.runs.get("r 1")
    for name in ("run", "task", "identity", "state", "started", "finished", "n", "done", "failed", "source"):
        assert getattr(kept, name) == getattr(old, name)
    assert (kept.model, kept.config["seed"], "pid" in kept.config) == ("hf:model", 0, False)
    assert plain(other, "r 1") == plain(made, "r 1")
    assert other.summary("r 1") == made.summary("r 1")
    pack(other.store, "r 1", str(tmp_path / "b.run"))
    assert (tmp_path / "b.run").read_bytes() == (tmp_path / "a.run").read_bytes()
    with pytest.raises(BadInput, match="there is a run r 1 in this store already"):
        unpack(other.store, str(tmp_path / "a.run"))


def test_a_run_without_texts_needs_the_dataset_and_is_kept_beside_it(made: Workspace, tmp_path: Path) -> None:
    pack(made.store, "r 1", str(tmp_path / "a.run"), texts=False)
    other = Workspace.open(tmp_path / "two.duckdb")
    with pytest.raises(BadInput, match="no dataset here has the samples of three: import these first"):
        unpack(other.store, str(tmp_path / "a.run"))
    assert other.store.datasets.all() == []
    beside, _ = workspace(tmp_path / "three.duckdb")
    assert unpack(beside.store, str(tmp_path / "a.run")).dataset == beside.store.datasets.all()[0].dataset


def test_nothing_in_the_file_names_this_machine(made: Workspace, tmp_path: Path) -> None:
    pack(made.store, "r 1", str(tmp_path / "a.run"))
    manifest, members = run_file.read(str(tmp_path / "a.run"))
    every = msgspec.json.encode(manifest) + b"".join(members.values())
    for private in (socket.gethostname(), getpass.getuser() + "/", str(tmp_path), "/home/", "elsewhere"):
        assert private.encode() not in every


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("embedded", "embedded"),
        ("hf:Qwen/Qwen3-4B", "hf:Qwen/Qwen3-4B"),
        ("hf:/home/me/models/mine#dtype=bf16", "hf:mine#dtype=bf16"),
        ("gguf:../x/model.gguf", "gguf:model.gguf"),
        ("gguf:C:\\models\\m.gguf", "gguf:m.gguf"),
        ("openai:m@http://10.0.0.7:8000/v1", "openai:m"),
    ],
)
def test_a_spec_travels_without_folders_and_addresses(spec: str, told: str) -> None:
    assert portable(spec) == told


@pytest.mark.fuzz
@settings(max_examples=times(60, 1000), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.integers(0, 10**6), to=st.integers(0, 255))
def test_a_file_with_a_changed_byte_is_refused_and_leaves_the_store_alone(
    made: Workspace, tmp_path: Path, at: int, to: int
) -> None:
    whole, other = tmp_path / "a.run", tmp_path / "two.duckdb"
    if not whole.exists():
        pack(made.store, "r 1", str(whole))
    content = bytearray(whole.read_bytes())
    if content[at % len(content)] == to:
        return
    content[at % len(content)] = to
    tried("bad inputs")
    (tmp_path / "b.run").write_bytes(content)
    opened = Workspace.open(other)
    with pytest.raises(BadInput, match=r"b\.run"):
        unpack(opened.store, str(tmp_path / "b.run"))
    assert opened.store.datasets.all() == []


def tarred(members: Sequence[tuple[tarfile.TarInfo, bytes]]) -> bytes:
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as archive:
        for member, content in members:
            archive.addfile(member, io.BytesIO(content))
    return zstandard.compress(written.getvalue())


def info(name: str, size: int = 0, kind: bytes = tarfile.REGTYPE) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size, member.type = size, kind
    return member


@pytest.mark.parametrize("name", ["../evil", "/etc/evil", "outputs.jsonl/../../evil", "evil", "manifest.json"])
def test_no_name_but_those_of_a_run_is_unpacked(made: Workspace, tmp_path: Path, name: str) -> None:
    pack(made.store, "r 1", str(tmp_path / "a.run"))
    manifest = msgspec.json.encode(run_file.read(str(tmp_path / "a.run"))[0])
    members = [(info("manifest.json", len(manifest)), manifest), (info(name, 4), b"evil")]
    (tmp_path / "b.run").write_bytes(tarred(members))
    with pytest.raises(BadInput, match="which no file of a run does"):
        run_file.read(str(tmp_path / "b.run"))


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    link = info("manifest.json", kind=tarfile.SYMTYPE)
    link.linkname = "/etc/passwd"
    (tmp_path / "b.run").write_bytes(tarred([(link, b"")]))
    with pytest.raises(BadInput, match="is no plain file"):
        run_file.read(str(tmp_path / "b.run"))


def test_a_file_that_unpacks_to_far_more_than_it_may_is_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_file, "SURELY", 2**20)
    path = tmp_path / "b.run"
    header = info("x" * 10, 2**26, tarfile.XHDTYPE)
    path.write_bytes(zstandard.compress(header.tobuf() + bytes(2**26)))
    with pytest.raises(BadInput, match="unpacks to far more"):
        run_file.read(str(path))


def test_what_is_no_file_of_a_run_is_one_sentence(tmp_path: Path) -> None:
    for content in (
        b"",
        b"{}",
        zstandard.compress(b""),
        zstandard.compress(b"x" * 600),
        tarred([(info("a", 1), b"a")]),
    ):
        (tmp_path / "b.run").write_bytes(content)
        with pytest.raises(BadInput, match="is no file of a run"):
            run_file.read(str(tmp_path / "b.run"))
    with pytest.raises(BadInput, match="no such file"):
        run_file.read(str(tmp_path / "none.run"))


def forged(path: Path, member: str, change: Callable[[Any], Any]) -> None:
    """Change what a file says, with the sums that go with it."""
    manifest, members = run_file.read(str(path))
    if member == run_file.MANIFEST:
        told = change(msgspec.to_builtins(manifest))
    else:
        lines = [msgspec.json.decode(line) for line in members[member].splitlines()]
        members[member] = b"".join(msgspec.json.encode(line) + b"\n" for line in change(lines))
        told = msgspec.to_builtins(manifest)
        told["files"] = {name: run_file.member_of(content) for name, content in members.items()}
    path.write_bytes(run_file.packed(told, members))


def told(**fields: Any) -> Callable[[Any], Any]:
    return lambda manifest: {**manifest, "run": {**manifest["run"], **fields}}


def first_row(**fields: Any) -> Callable[[Any], Any]:
    return lambda rows: [{**rows[0], **fields}, *rows[1:]]


FORGED: list[tuple[str, Callable[[Any], Any], str]] = [
    (run_file.MANIFEST, told(run="../../x"), "is no id of a run"),
    (run_file.MANIFEST, told(run="x/../../y"), "is no id of a run"),
    (run_file.MANIFEST, told(run="/x"), "is no id of a run"),
    (run_file.MANIFEST, told(run="C:\\x"), "is no id of a run"),
    (run_file.MANIFEST, told(run="--help"), "is no id of a run"),
    (run_file.MANIFEST, told(run="a\x1b[2Jb"), "is no id of a run"),
    (run_file.MANIFEST, told(run="a\u202eb"), "is no id of a run"),
    (run_file.MANIFEST, told(run="r" * 201), "is no id of a run"),
    (run_file.MANIFEST, told(identity="x"), "is no identity of a run"),
    (run_file.MANIFEST, told(state="running"), "there is no state"),
    (run_file.MANIFEST, told(state="odd"), "there is no state"),
    (run_file.MANIFEST, told(source="nobody"), "there is no source"),
    (run_file.MANIFEST, told(started="yesterday"), "is no time"),
    (run_file.MANIFEST, told(finished="2026-99-99"), "is no time"),
    (run_file.MANIFEST, told(n=-1), "its counts cannot be"),
    (run_file.MANIFEST, told(n=10**15), "its counts cannot be"),
    (run_file.MANIFEST, told(failed=-5), "its counts cannot be"),
    (run_file.MANIFEST, told(n="3"), "Expected `int`"),
    (run_file.MANIFEST, told(config={"repeats": "many"}), "its settings cannot be read"),
    (run_file.MANIFEST, told(config={"repeats": 10**9}), "its settings are of no such dataset"),
    (run_file.MANIFEST, told(config={"repeats": 8, "shard": "9/2"}), "9/2"),
    (run_file.MANIFEST, lambda manifest: {**manifest, "version": 2, "new": 1}, "pip install -U emotui"),
    (run_file.OUTPUTS, first_row(repeat=8), "there is no repeat 8 of 8"),
    (run_file.OUTPUTS, first_row(repeat=-1), "there is no repeat -1"),
    (run_file.OUTPUTS, first_row(attempt=-1), "there is no attempt -1"),
    (run_file.OUTPUTS, first_row(attempt=2**40), "there is no attempt"),
    (run_file.OUTPUTS, first_row(seconds=-1.0), "no answer takes"),
    (run_file.OUTPUTS, first_row(raw=[1]), "Expected `str | null`"),
    (run_file.OUTPUTS, lambda rows: [*rows, rows[0]], "is answered twice in one attempt"),
    (run_file.SCORES, lambda rows: [{**row, "detail": {"odd": 1}} for row in rows], "are no scores of spans"),
    (run_file.SCORES, lambda rows: [{**row, "detail": [[[]]]} for row in rows], "are no scores of spans"),
    (run_file.SCORES, lambda rows: [{**row, "marks": "??"} for row in rows], "is no score of this version"),
    (run_file.SCORES, lambda rows: [{**row, "values": {"a\x1bb": 1.0}} for row in rows], "is no score of this version"),
]


@pytest.mark.parametrize(("member", "change", "why"), FORGED)
def test_only_what_a_run_could_have_written_is_unpacked(
    made: Workspace, tmp_path: Path, member: str, change: Callable[[Any], Any], why: str
) -> None:
    path = tmp_path / "a.run"
    pack(made.store, "r 1", str(path))
    forged(path, member, change)
    other = Workspace.open(tmp_path / "two.duckdb")
    with pytest.raises(BadInput) as caught:
        unpack(other.store, str(path))
    assert why in str(caught.value)
    assert str(caught.value).isprintable()
    assert (other.store.datasets.all(), other.store.runs.all()) == ([], [])


@pytest.mark.parametrize("name", ["org/model 7B", "a <b>50%</b> #é", "C:", "a..b"])
def test_a_source_made_elsewhere_may_be_called_as_models_of_a_hub_are(name: str) -> None:
    assert run_file.id_fault(name) == ""


def test_the_commands_pack_and_unpack(emotui: Emotui, tmp_path: Path, made: Workspace) -> None:
    assert emotui("runs", "pack", "r 1", "--to", "a.emotui-run", "--db", "one.duckdb").out == (
        "run r 1 is written to a.emotui-run\n"
    )
    document = emotui("runs", "unpack", "a.emotui-run", "--db", "two.duckdb", "--json").document
    assert (document["run"], document["dataset"]) == ("r 1", "three")
    again = emotui("runs", "unpack", "a.emotui-run", "--db", "two.duckdb")
    assert (again.status, again.out) == (2, "")
    assert [run["run"] for run in emotui("runs", "--db", "two.duckdb", "--json").document] == ["r 1"]
