"""A run as one file: what it says of itself, its samples, prompts, outputs and scores, as a tar inside Zstandard.

`manifest.json` comes first and names every other member with its size and SHA-256. It says on what hardware the run was
computed, and nothing by which the machine could be found: no folder, no host, no process.
"""

import datetime
import hashlib
import io
import math
import re
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import msgspec

from emotui.bounded import opened
from emotui.errors import BadInput
from emotui.formats.parquet import SURELY, TIMES
from emotui.formats.rows import UnreadableFile, literal, shown
from emotui.store.query import MARKS, SOURCES, Run
from emotui.store.rows import ResultRow, ScoreRow
from emotui.workbench.runs.machine import Measured
from emotui.workbench.runs.plan import MOST_REPEATS, RunConfig
from emotui.workbench.shards.shard import read_shard

if TYPE_CHECKING:
    from types import ModuleType

FORMAT = "emotui run"
VERSION = 1
ENDING = ".emotui-run"

MANIFEST = "manifest.json"
SAMPLES, PROMPTS, OUTPUTS, SCORES = "samples.jsonl", "prompts.jsonl", "outputs.jsonl", "scores.jsonl"
MEMBERS = (SAMPLES, PROMPTS, OUTPUTS, SCORES)

_MOST_MANIFEST = 2**20
_WINDOW = 2**27
_LEVEL = 9
_OF_THIS_MACHINE = ("pid", "host", "boot", "space", "begun")


class PackedRun(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A run as `emotui.store.query.Run`, without the number of its dataset."""

    run: str
    task: str
    model: str
    identity: str
    config: dict[str, Any]
    state: str
    started: str
    finished: str | None
    n: int
    done: int
    failed: int
    error: str | None
    source: str


class PackedDataset(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The dataset that a run is over; its samples may be elsewhere."""

    name: str
    task: str
    n: int
    fingerprint: str


class Member(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One file inside."""

    bytes: int
    sha256: str


class Manifest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a file says of itself. `measured`: hardware, time and energy, where the store knows them."""

    format: str
    version: int
    emotui: str
    run: PackedRun
    dataset: PackedDataset
    files: dict[str, Member]
    measured: Measured | None = None


class Output(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One answer. `prompt`: the place of its prompt among the prompts."""

    id: str
    repeat: int = 0
    attempt: int = 0
    prompt: int | None = None
    raw: str | None = None
    error: str | None = None
    seconds: float = 0.0


NOTHING = msgspec.Raw(b"null")


class Score(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was made of an answer; `output`: its place among the outputs. Without `convention` it was parsed only."""

    output: int
    prediction: msgspec.Raw = NOTHING
    convention: str | None = None
    values: Mapping[str, float | None] = {}
    marks: str = ""
    detail: msgspec.Raw = NOTHING


_LONGEST_ID = 200
_LONGEST_NAME = 2000
_LONGEST_MODEL = 5000
"""A SPEC may hold a path."""
_MOST_ATTEMPTS = 1000
_HASH = re.compile(r"[0-9a-f]{64}")
_DRIVE = re.compile(r"[A-Za-z]:[/\\]")


def id_fault(name: str) -> str:
    """Why this is no id of a run or name that is safe on a command line; else empty.

    A source made elsewhere may be called `org/model`; what begins as a path or an option, or goes up a folder, is none.
    """
    plain = 0 < len(name) <= _LONGEST_ID and name.isprintable() and name == name.strip()
    if not plain or name[0] in "-.~/\\" or _DRIVE.match(name) or ".." in re.split(r"[/\\]", name):
        return f"{shown(name, 40)} is no id of a run"
    return ""


def run_fault(run: PackedRun | Run, n: int) -> str:
    """Why no `emotui run` over a dataset of `n` samples can have written this; empty where one can."""
    if fault := id_fault(run.run):
        return fault
    if not _HASH.fullmatch(run.identity):
        return f"{shown(run.identity, 40)} is no identity of a run"
    if not (0 < len(run.model) <= _LONGEST_MODEL and run.model.isprintable()):
        return f"{shown(run.model, 40)} is no model"
    if run.source not in SOURCES:
        return f"there is no source {shown(run.source, 40)}"
    for time in filter(None, (run.started, run.finished)):
        try:
            datetime.datetime.fromisoformat(time)
        except ValueError:
            return f"{shown(time, 40)} is no time"
    try:
        config = msgspec.convert(run.config, RunConfig)
    except (msgspec.ValidationError, RecursionError) as error:
        return f"its settings cannot be read: {literal(str(error))[:200]}"
    if config.shard:
        try:
            read_shard(config.shard)
        except BadInput as error:
            return literal(str(error))[:200]
    if not (0 <= config.whole <= n and 1 <= config.repeats <= MOST_REPEATS):
        return f"its settings are of no such dataset ({config.whole} texts of it)"
    most = n * config.repeats
    if not (0 <= run.n <= most and min(run.done, run.failed) >= 0 and run.done + run.failed <= run.n):
        return f"its counts cannot be: {run.done} answered and {run.failed} failed of {run.n}, of {most} at most"
    return ""


def output_fault(one: Output | ResultRow, repeats: int) -> str:
    """Why no run writes such an answer; empty where one can."""
    if not 0 <= one.repeat < repeats:
        return f"there is no repeat {one.repeat} of {repeats}"
    if not 0 <= one.attempt < _MOST_ATTEMPTS:
        return f"there is no attempt {one.attempt}"
    if not 0 <= one.seconds < math.inf:
        return f"no answer takes {one.seconds} s"
    return ""


def score_fault(score: ScoreRow) -> str:
    """Why no run keeps such a score; empty where one can."""
    names = (score.convention, *score.values)
    plain = all(0 < len(name) <= _LONGEST_NAME and name.isprintable() for name in names)
    return "" if plain and not set(score.marks) - set(MARKS) else "is no score of this version"


def portable(spec: str) -> str:
    """A model's SPEC without the folders of a machine and without the address of a server."""
    kind, colon, argument = spec.partition(":")
    if not colon:
        return spec
    name, _, options = argument.partition("#")
    if kind in ("openai", "batch"):
        name = (name.rpartition("@") if kind == "openai" else name.partition("@"))[0] or name
    elif Path(name).is_absolute() or name.startswith(("./", "../", "~", "\\")) or re.match(r"[A-Za-z]:[\\/]", name):
        name = re.split(r"[\\/]", name.rstrip("\\/"))[-1] or name
    return f"{kind}:{name}" + (f"#{options}" if options else "")


def without_machine(config: Mapping[str, Any]) -> dict[str, Any]:
    """What a run was asked for, without who ran it where."""
    return {name: value for name, value in config.items() if name not in _OF_THIS_MACHINE}


def packed(manifest: Manifest, members: Mapping[str, bytes]) -> bytes:
    """The file of a run: the same bytes for the same content."""
    zstandard = _library()
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, content in ((MANIFEST, msgspec.json.format(msgspec.json.encode(manifest))), *members.items()):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return bytes(zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True).compress(written.getvalue()))


def member_of(content: bytes) -> Member:
    """What the manifest says of a member."""
    return Member(len(content), hashlib.sha256(content).hexdigest())


def read(path: str) -> tuple[Manifest, dict[str, bytes]]:
    """The manifest of a file and its members, each of the size and hash that the manifest names.

    Raises:
        BadInput: it is no such file, is damaged, or unpacks to more than a file of its size may.
    """
    zstandard = _library()
    try:
        size = Path(path).stat().st_size
        with opened(path) as file:
            unpacking = zstandard.ZstdDecompressor(max_window_size=_WINDOW).stream_reader(file)
            most = SURELY + TIMES * size
            with unpacking as stream, tarfile.open(fileobj=_Bounded(stream, most), mode="r|") as archive:
                return _members(path, archive, most)
    except (zstandard.ZstdError, tarfile.TarError, EOFError, UnreadableFile) as error:
        raise BadInput(f"{literal(path)}: is no file of a run: {literal(str(error))[:200]}") from None
    except OSError as error:
        raise BadInput(f"{literal(path)}: cannot be read: {(error.strerror or str(error)).lower()}") from None


class _Bounded(io.RawIOBase):
    """A stream that gives so many bytes at most: a tar's own headers may say any size."""

    def __init__(self, stream: IO[bytes], most: int) -> None:
        self._stream, self._left = stream, most

    def read(self, size: int = -1) -> bytes:
        """The next bytes. Raises: UnreadableFile where there are more than may be."""
        found = self._stream.read(size)
        self._left -= len(found)
        if self._left < 0:
            raise UnreadableFile("it unpacks to far more than a file of its size may")
        return found


def lines(path: str, name: str, content: bytes) -> Iterator[tuple[str, bytes]]:
    """(place, line) of each line of a member, for messages."""
    for number, line in enumerate(content.splitlines(), start=1):
        yield f"{literal(path)}/{name}:{number}", line


def _members(path: str, archive: tarfile.TarFile, most: int) -> tuple[Manifest, dict[str, bytes]]:
    manifest: Manifest | None = None
    found: dict[str, bytes] = {}
    for member in archive:
        if not member.isfile():
            raise BadInput(f"{literal(path)}: {shown(member.name, 80)} is no plain file: nothing is unpacked")
        stream = archive.extractfile(member)
        assert stream is not None
        if manifest is None:
            if member.name != MANIFEST or member.size > _MOST_MANIFEST:
                raise BadInput(f"{literal(path)}: does not begin with {MANIFEST}: is no file of a run")
            manifest = _manifest(path, stream.read(_MOST_MANIFEST))
            if sum(one.bytes for one in manifest.files.values()) > most:
                raise BadInput(f"{literal(path)}: unpacks to far more than a file of its size may: nothing is unpacked")
            continue
        told = manifest.files.get(member.name)
        if member.name not in MEMBERS or told is None or member.name in found:
            raise BadInput(f"{literal(path)}: holds {shown(member.name, 80)}, which no file of a run does")
        found[member.name] = _checked(path, member, told, stream)
    if manifest is None:
        raise BadInput(f"{literal(path)}: is empty: is no file of a run")
    if missing := manifest.files.keys() - found.keys():
        raise BadInput(f"{literal(path)}: is cut short: {', '.join(sorted(missing))} is missing")
    return manifest, found


def _checked(path: str, member: tarfile.TarInfo, told: Member, stream: IO[bytes]) -> bytes:
    if member.size != told.bytes:
        raise BadInput(f"{literal(path)}: {member.name} has {member.size} bytes and not {told.bytes}: it is damaged")
    content = stream.read(told.bytes)
    if hashlib.sha256(content).hexdigest() != told.sha256:
        raise BadInput(f"{literal(path)}: {member.name} is not what was packed (its SHA-256 is another)")
    return content


class _Header(msgspec.Struct):
    """What every version of the format says."""

    format: str
    version: int


def _manifest(path: str, content: bytes) -> Manifest:
    try:
        header = msgspec.json.decode(content, type=_Header)
        if header.format == FORMAT and header.version > VERSION:
            raise BadInput(
                f"{literal(path)}: is version {header.version} of {FORMAT}, and this emotui reads version {VERSION}:"
                " upgrade with `pip install -U emotui`"
            )
        manifest = msgspec.json.decode(content, type=Manifest)
    except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError) as error:
        raise BadInput(f"{literal(path)}/{MANIFEST}:1: {literal(str(error))[:200]}") from None
    if manifest.format != FORMAT or manifest.version != VERSION:
        raise BadInput(
            f"{literal(path)}: is version {manifest.version} of {shown(manifest.format, 40)}, and this emotui reads"
            f" version {VERSION} of {FORMAT}"
        )
    if any(one.bytes < 0 for one in manifest.files.values()) or not set(manifest.files) <= set(MEMBERS):
        raise BadInput(f"{literal(path)}/{MANIFEST}:1: names files that no run has")
    return manifest


def _library() -> "ModuleType":
    import zstandard

    return zstandard
