"""What this machine and this installation can do, and what is broken, each with its remedy in one line."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Literal

import msgspec
from rich.filesize import decimal

from emotui import __version__
from emotui.backends.base import Classify, Refused
from emotui.backends.embedded import base_files
from emotui.backends.gguf.library import package_version
from emotui.backends.gguf.probe import probe_build, try_decode
from emotui.backends.hf.files import check_safetensors
from emotui.backends.host import ModelProcess
from emotui.bounded import free_memory, is_there
from emotui.errors import EmotuiError, StoreError
from emotui.installing import install, pip
from emotui.store.access import lock_of
from emotui.store.schema import VERSION, version_of
from emotui.store.store import Store, default_path
from emotui.tables import number_of

# Which torch is installed and what it can use, asked in a process of its own: importing it is slow, and may crash.

_LIMIT = 120.0
_ASK = """
import json, os, sys
sys.path[:] = {path!r}
out = os.dup(1)
os.dup2(2, 1)
import torch
devices = []
if torch.cuda.is_available():
    for number in range(torch.cuda.device_count()):
        free, total = torch.cuda.mem_get_info(number)
        bf16 = "with" if torch.cuda.is_bf16_supported() else "without"
        name = torch.cuda.get_device_name(number)
        devices.append(f"{{name}} ({{free / 1e9:.0f}} of {{total / 1e9:.0f}} GB free, {{bf16}} bfloat16)")
elif torch.backends.mps.is_available():
    devices.append("Apple GPU (mps)")
made_for = f"CUDA {{torch.version.cuda}}" if torch.version.cuda else "ROCm" if torch.version.hip else "CPU"
assert torch.ones(2, 2).sum().item() == 4
os.write(out, json.dumps({{"version": str(torch.__version__), "made_for": made_for, "devices": devices}}).encode())
"""


@dataclass(frozen=True, slots=True)
class TorchBuild:
    """`made_for`: `CPU`, `CUDA 12.8` or `ROCm`. `problem`: why it does not run, empty where it does."""

    version: str = ""
    made_for: str = ""
    devices: tuple[str, ...] = ()
    problem: str = ""


def torch_build() -> TorchBuild:
    """Import torch in a child process and compute one sum with it."""
    command = [sys.executable, "-c", _ASK.format(path=sys.path)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return TorchBuild(problem=f"importing torch takes longer than {_LIMIT:.0f} s")
    if done.returncode == 0:
        return msgspec.json.decode(done.stdout, type=TorchBuild)
    words = done.stderr.decode("utf-8", "replace").strip().splitlines()
    last = words[-1] if words else "it said nothing"
    if done.returncode < 0:
        return TorchBuild(problem=f"importing torch dies of {signal.Signals(-done.returncode).name} ({last})")
    return TorchBuild(problem=f"torch does not run: {last}")


State = Literal["ok", "note", "broken"]
_LEAST_DISK = 1_000_000_000
"""Bytes; less than this free is worth a note."""
_SMALLEST = (80, 24)
"""Cells that the workbench needs."""
_PACKAGES = (
    *("textual", "duckdb", "msgspec", "numpy", "scipy"),
    *("transformers", "huggingface-hub", "llguidance", "accelerate", "bitsandbytes", "peft", "aiohttp"),
)


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at. `note`: it works, or is not there and need not be; `remedy`: what to do, if any."""

    group: str
    name: str
    state: State
    said: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Terminal:
    """What a terminal says of itself; None where there is none (a pipe)."""

    name: str
    columns: int
    rows: int
    colours: str | None
    encoding: str


def examine(
    db: str | None = None,
    terminal: Terminal | None = None,
    progress: Callable[[str], None] = lambda line: None,
) -> Iterator[Check]:
    """Look at everything, one after the other; nothing is changed.

    Native libraries are tried in processes of their own.

    Args:
        db: the workspace file, by default the one in the user's data folder.
    """
    steps: tuple[tuple[str, Callable[[], Iterator[Check]]], ...] = (
        ("versions", _versions),
        ("machine", _machine),
        ("builds: torch", _torch),
        ("builds: llama.cpp", _llama_cpp),
        ("embedded model", _embedded),
        ("plug-ins", _plugins),
        ("folders", lambda: _folders(db)),
        ("store", lambda: _store(db)),
        ("terminal", lambda: _terminal(terminal)),
    )
    for name, step in steps:
        progress(name)
        yield from step()


def _versions() -> Iterator[Check]:
    group = "versions"
    system = f"Python {sys.version.split()[0]} on {sys.platform}"
    yield Check(group, "emotui", "ok", f"{__version__}, {system}")
    there = [f"{name} {found}" for name in _PACKAGES if (found := _version(name))]
    yield Check(group, "packages", "ok", ", ".join(there))
    missing = _unmet()
    if missing:
        quoted = " ".join(f'"{each}"' for each in missing)
        yield Check(group, "requirements", "broken", f"not met: {', '.join(missing)}", f"{pip()} install -U {quoted}")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _unmet() -> list[str]:
    """Requirements of the installed emotui that are absent or of another version; none in a bare checkout."""
    from packaging.requirements import Requirement

    try:
        wanted = [Requirement(line) for line in requires("emotui") or []]
    except PackageNotFoundError:
        return []
    plain = [each for each in wanted if each.marker is None or each.marker.evaluate({"extra": ""})]
    return [
        f"{each.name}{each.specifier}"
        for each in plain
        if not (found := _version(each.name)) or not each.specifier.contains(found, prereleases=True)
    ]


def _machine() -> Iterator[Check]:
    cores, free = os.cpu_count() or 1, free_memory()
    memory = f"{decimal(free)} of memory free" if free is not None else "free memory not known"
    yield Check("machine", "processor", "ok", f"{cores} cores, {memory}")


def _torch() -> Iterator[Check]:
    if not _version("torch"):
        yield Check("builds", "torch", "note", "torch is not installed", f"{install('hf')} where you want hf: models")
        return
    build = torch_build()
    if build.problem:
        yield Check("builds", "torch", "broken", build.problem, f'{pip()} install --force-reinstall "torch>=2.6"')
        return
    devices = ", ".join(build.devices) or "no GPU: hf: models run on the CPU"
    yield Check("builds", "torch", "ok", f"{build.version} for {build.made_for}; {devices}")
    if build.made_for != "CPU" and not build.devices:
        yield Check(
            "builds",
            "torch's GPU",
            "note",
            f"torch is built for {build.made_for}, and sees no GPU",
            "look at the driver (nvidia-smi), or leave it: the CPU is used",
        )


def _llama_cpp() -> Iterator[Check]:
    remedy = f"{install('llamacpp')} where you want gguf: models"
    if not package_version():
        yield Check("builds", "llama.cpp", "note", "llama-cpp-python is not installed", remedy)
        return
    works, said = probe_build()
    if works:
        yield Check("builds", "llama.cpp", "ok", said)
    elif try_decode(extra_buffers=False).ended:
        remedy = f"build it again: CMAKE_ARGS=-DGGML_NATIVE=OFF {pip()} install --force-reinstall llama-cpp-python"
        yield Check("builds", "llama.cpp", "broken", said, remedy)
    else:
        remedy = f"for speed: CMAKE_ARGS=-DGGML_NATIVE=OFF {pip()} install --force-reinstall llama-cpp-python"
        yield Check("builds", "llama.cpp", "note", said, remedy)


def _embedded() -> Iterator[Check]:
    group = "embedded model"
    files = base_files.files_at_hand()
    if files is None:
        said = f"not fetched yet: {base_files.MEGABYTES} MB come at its first use"
        yield Check(group, "all-MiniLM-L6-v2", "note", said, "none needed: emotui probe TEXT fetches it now")
        return
    try:
        base_files.base_files()
        yield Check(group, "all-MiniLM-L6-v2", "ok", f"SHA-256 as expected ({base_files.MODEL_SHA256[:12]}…)")
    except EmotuiError as error:
        yield Check(group, "all-MiniLM-L6-v2", "broken", str(error), base_files.remedy(files.model))
        return
    try:
        own = sorted(Path(base_files.__file__).parent.glob("*.safetensors"))
        for path in own:
            check_safetensors(path)
    except EmotuiError as error:
        yield Check(group, "emotui's adapters", "broken", str(error), "pip install --force-reinstall --no-deps emotui")
        return
    try:
        with ModelProcess("embedded", limit=120) as model:
            (answer,) = model.ask([Classify("I could not stop smiling all day.")])
    except EmotuiError as error:
        again = f"{pip()} install --force-reinstall onnxruntime"
        yield Check(group, "an answer", "broken", str(error), again)
        return
    if isinstance(answer, Refused):
        yield Check(group, "an answer", "broken", answer.why, "pip install --force-reinstall --no-deps emotui")
    else:
        yield Check(
            group,
            "an answer",
            "ok",
            f"{number_of(len(own), 'file')} of adapters; it loads and answers ({answer.label})",
        )


def _plugins() -> Iterator[Check]:
    """What other packages add. Kinds of models are only looked up; tasks and metrics are loaded, as everywhere."""
    from emotui.backends.spec import BUILT_IN, GROUP
    from emotui.plugins import entry_points_of, problem_of
    from emotui.tasks.added_metrics import metric_troubles
    from emotui.tasks.registry import troubles

    group, remedy = "plug-ins", "reinstall or remove the package"
    points, wrong = entry_points_of(GROUP)
    for point in points:
        if point.name not in BUILT_IN:
            problem = problem_of(point.value)
            said = problem or f"added by {point.value.partition(':')[0]}"
            yield Check(group, f"{point.name}:", "broken" if problem else "ok", said, remedy if problem else "")
    for line in dict.fromkeys((*wrong, *troubles(), *metric_troubles())):
        yield Check(group, "left out", "broken", line, remedy)


def _folders(db: str | None) -> Iterator[Check]:
    from platformdirs import user_cache_path

    store = Path(db) if db else default_path()
    for name, folder in (("data", store.absolute().parent), ("cache", user_cache_path("emotui"))):
        there = next(each for each in (folder, *folder.parents) if is_there(each))
        if not there.is_dir():
            yield Check("folders", name, "broken", f"{there} is a file where a folder should be", f"move {there} away")
        elif not os.access(there, os.W_OK | os.X_OK):
            remedy = f"chmod u+rwx {there}, or choose another place with --db"
            yield Check("folders", name, "broken", f"{there} may not be written", remedy)
        else:
            free = shutil.disk_usage(there).free
            made = "" if folder.exists() else ", made when it is needed"
            little = free < _LEAST_DISK
            yield Check(
                "folders",
                name,
                "note" if little else "ok",
                f"{folder}{made}; {decimal(free)} free",
                "free some space before a long run" if little else "",
            )


def _store(db: str | None) -> Iterator[Check]:
    path = Path(db) if db else default_path()
    if not is_there(path):
        yield Check("store", "workspace", "note", f"{path} is not there yet", "none needed: the first start makes it")
        return
    if (older := _older_version(path)) is not None:
        said = f"{path} has tables of version {older}; this emotui's are of version {VERSION}"
        remedy = "none needed: the next start brings it up to date, with a copy beside it until that is done"
        yield Check("store", "workspace", "note", said, remedy)
        return
    try:
        store = Store.open(path, read_only=True, create=False, patience=3)
        datasets, runs = store.datasets.all(), store.runs.all()
        # Reads the first and the last records themselves, which a damaged file does not give.
        for dataset in datasets:
            for _ in store.samples.of_dataset(dataset.dataset, 0, 1):
                pass
            for _ in store.samples.of_dataset(dataset.dataset, max(0, dataset.n - 1), dataset.n):
                pass
    except StoreError as error:
        yield Check("store", "workspace", "broken", *_split(str(error)))
        return
    samples = sum(dataset.n for dataset in datasets)
    counts = number_of(len(datasets), "dataset"), number_of(samples, "sample"), number_of(len(runs), "run")
    held = ", ".join(counts)
    yield Check("store", "workspace", "ok", f"{path}: {decimal(path.stat().st_size)}, version {VERSION}, {held}")


def _split(line: str) -> tuple[str, str]:
    """The store's refusals end with what to do, after their last colon or semicolon."""
    place = max(line.rfind(": "), line.rfind("; "))
    return (line[:place], line[place + 2 :]) if place > 0 else (line, "choose another file with --db")


def _older_version(path: Path) -> int | None:
    """The version of a workspace that an older emotui wrote; None for any other trouble."""
    import duckdb

    try:
        with lock_of(path), closing(duckdb.connect(str(path), read_only=True)) as connection:
            found = version_of(connection)
    except (duckdb.Error, OSError):
        return None
    return found if found is not None and found < VERSION else None


def _terminal(terminal: Terminal | None) -> Iterator[Check]:
    if terminal is None:
        yield Check(
            "terminal", "terminal", "note", "none here (a pipe): not looked at", "run it in the terminal itself"
        )
        return
    size = f"{terminal.columns} by {terminal.rows} cells"
    small = terminal.columns < _SMALLEST[0] or terminal.rows < _SMALLEST[1]
    remedy = f"make it {_SMALLEST[0]} by {_SMALLEST[1]} or larger" if small else ""
    yield Check("terminal", "size", "note" if small else "ok", size, remedy)
    if terminal.name in ("", "dumb"):
        remedy = "export TERM=xterm-256color, if your terminal is of that kind"
        yield Check("terminal", "kind", "broken", f"TERM is {terminal.name or 'not set'}", remedy)
    elif os.environ.get("NO_COLOR"):
        yield Check("terminal", "colours", "ok", "none, as NO_COLOR asks: marks are told by shape")
    else:
        few = terminal.colours in (None, "standard")
        remedy = "export COLORTERM=truecolor, if your terminal can" if few else ""
        kind = _COLOURS.get(terminal.colours or "", "none")
        yield Check("terminal", "colours", "note" if few else "ok", f"{kind} ({terminal.name})", remedy)
    if terminal.encoding.lower().replace("-", "") == "utf8":
        yield Check(
            "terminal", "letters", "ok", "UTF-8   ▸ ━ ▂▃▅▇ ● é 日本 stand here as a triangle, a line, bars, a dot"
        )
    else:
        said = f"{terminal.encoding}, which lacks the workbench's lines and bars"
        yield Check("terminal", "letters", "broken", said, "export LANG=C.UTF-8")


_COLOURS = {"truecolor": "16 million", "256": "256", "standard": "16", "windows": "16"}
