"""What a model would be loaded from, told in milliseconds and without loading it: the same stamp, the same model."""

import hashlib
import os
import sys
from collections.abc import Iterable
from functools import cache
from importlib import metadata
from pathlib import Path

from emotui.backends.embedded import base_files
from emotui.backends.gguf.files import find_model
from emotui.backends.gguf.settings import read_spec as gguf_spec
from emotui.backends.hf.files import model_folder
from emotui.backends.hf.settings import read_spec as hf_spec
from emotui.backends.relabelled import split_label_map
from emotui.backends.spec import parse_spec
from emotui.errors import EmotuiError

_PACKAGES = (
    *("emotui", "onnxruntime", "torch", "transformers", "tokenizers", "llama-cpp-python", "bitsandbytes", "accelerate"),
    "numpy",
)


def stamp_of(spec: str) -> str | None:
    """SHA-256 over the SPEC, the model's files (names, sizes, times of change), the libraries' versions, the devices.

    A file's content is trusted to be what it was while its size and both of its times are, as its hash is elsewhere.
    None for models that are not files of this machine (servers, other packages' kinds) or are not there.
    """
    kind, argument = parse_spec(spec)
    try:
        files = _files(kind, argument)
        if files is None:
            return None
        lines = [spec, sys.version, os.environ.get("CUDA_VISIBLE_DEVICES", "")]
        lines += sorted(map(str, Path("/dev").glob("nvidia[0-9]*")))
        lines += [*_software(), *sorted(map(_state, files))]
        lines += [] if (names := split_label_map(spec)[1]) is None else [_state(Path(names))]
    except (EmotuiError, OSError):
        return None
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _files(kind: str, argument: str) -> Iterable[Path] | None:
    if kind == "embedded":
        here, files = Path(base_files.__file__).parent, base_files.files_at_hand()
        if files is None:
            return None
        return [files.model, files.tokenizer, *(path for path in here.iterdir() if path.is_file())]
    if kind == "gguf":
        return find_model(gguf_spec(argument, {})[0]).parts
    if kind == "hf":
        name, offline = hf_spec(argument, {"online": False})
        folder = model_folder(name, offline, lambda line: None)
        return [each for each in folder.rglob("*") if each.is_file()]
    return None


def _state(path: Path) -> str:
    stat = path.stat()
    return f"{path.resolve()} {stat.st_size} {stat.st_mtime_ns} {stat.st_ctime_ns}"


@cache
def _software() -> tuple[str, ...]:
    """What this process runs. Our own code stands for its version: in a checkout that does not change at each edit."""
    versions = (f"{name} {_version(name)}" for name in _PACKAGES)
    return (*versions, *sorted(map(_state, Path(__file__).parent.rglob("*.py"))))


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""
