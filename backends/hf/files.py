"""The files of a model on this machine: found, checked for wholeness, and known by their hash."""

import hashlib
import json
import re
from math import prod
from pathlib import Path
from typing import Any

from emotui.backends.base import Progress
from emotui.backends.hf.configuration import read_object
from emotui.backends.hf.settings import Settings
from emotui.backends.options import named_path
from emotui.errors import BadModel, ModelError

_HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")
_WANTED = ["*.json", "*.safetensors", "*.model", "*.jinja", "*.txt", "**/config.json"]
_UNSAFE = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".msgpack", ".h5")
_TEXTS = (".json", ".jinja", ".txt", ".model")


def model_folder(argument: str, settings: Settings, progress: Progress) -> Path:
    """The directory of a model: `argument` itself, or the hub model of that name, fetched only where it is asked for.

    Raises:
        BadModel: there is no such directory, and no such model among those fetched before.
        ModelError: it could not be fetched.
    """
    folder = named_path("hf", argument)
    if argument and folder.is_dir():
        return folder
    if folder.is_file():
        raise BadModel(f"{argument} is a file: hf: takes a model's directory (gguf: takes a GGUF file)")
    if not _HUB_NAME.fullmatch(argument):
        raise BadModel(f"hf: found no directory {argument or '(none named)'}")
    return _hub_folder(argument, settings, progress)


def _hub_folder(name: str, settings: Settings, progress: Progress) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError, RepositoryNotFoundError

    where: dict[str, Any] = {"repo_id": name, "revision": settings.revision or None, "allow_patterns": _WANTED}
    try:
        return Path(snapshot_download(**where, local_files_only=True))
    except (LocalEntryNotFoundError, ValueError, OSError):
        if not settings.online:
            raise BadModel(
                f"{name} is no directory here and was not fetched before; to fetch it from the hub, write "
                f"hf:{name}#online=true"
            ) from None
    progress(f"fetching {name} from the hub")
    try:
        return Path(snapshot_download(**where))
    except RepositoryNotFoundError:
        raise ModelError(f"The hub has no model {name} that is open to you") from None
    except (HfHubHTTPError, LocalEntryNotFoundError, ValueError, OSError) as error:
        why = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise ModelError(f"{name} could not be fetched from the hub: {why}") from None


def check_plain_files(folder: Path) -> None:
    """Raises: BadModel where a pipe, socket or device is among a model's files: reading one waits for ever."""
    odd = (path for path in folder.rglob("*") if path.exists() and not path.is_file() and not path.is_dir())
    if (first := next(odd, None)) is not None:
        raise BadModel(f"{first} is no file: take it out of the model's directory")


def weight_files(folder: Path) -> list[Path]:
    """The safetensors files that hold the model's weights, each of them whole.

    Raises:
        BadModel: there are none, only unsafe ones, or one is missing, cut short or corrupt.
    """
    index = folder / "model.safetensors.index.json"
    if (folder / "model.safetensors").is_file():
        files = [folder / "model.safetensors"]
    elif index.is_file():
        files = _parts(folder, index)
    else:
        unsafe = sorted(path.name for path in folder.iterdir() if path.suffix in _UNSAFE)
        if unsafe:
            raise BadModel(
                f"{folder} has its weights only as {unsafe[0]}, a kind of file that can run code: "
                "convert them to safetensors"
            )
        raise BadModel(f"{folder} holds no weights: it has no model.safetensors")
    for path in files:
        check_safetensors(path)
    return files


def _parts(folder: Path, index: Path) -> list[Path]:
    """The files that an index names: each beside it, by its name alone."""
    placed = read_object(index).get("weight_map")
    names = set(placed.values()) if isinstance(placed, dict) and all(map(_is_name, placed.values())) else set()
    if not names:
        raise BadModel(f"{index} is no list of weight files: fetch the model again")
    return sorted(folder / name for name in names)


def _is_name(value: object) -> bool:
    return isinstance(value, str) and value.endswith(".safetensors") and len(value) < 256 and not {*value} & {*"/\\\0"}


def check_safetensors(path: Path) -> None:
    """Read the header and compare the lengths: a broken file is told here, in one line, not by a library.

    Raises:
        BadModel: the file is missing, cut short, or no safetensors file.
    """
    if not path.is_file():
        raise BadModel(f"{path} is missing: fetch the model again")
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if size >= 8 and length > 100_000_000:
                raise BadModel(f"{path} is no safetensors file, or a corrupt one: fetch it again")
            header = file.read(length)
    except OSError as error:
        raise BadModel(f"{path} cannot be read: {error.strerror}") from None
    if size < 8 or len(header) < length:
        raise BadModel(f"{path} is cut short ({size:,} bytes): fetch it again")
    try:
        entries = json.loads(header)
        ends = [_end(entry) for name, entry in entries.items() if name != "__metadata__"]
        whole = 8 + length + max(ends, default=0)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError):
        raise BadModel(f"{path} is no safetensors file, or a corrupt one: fetch it again") from None
    if size < whole:
        raise BadModel(f"{path} is cut short ({size:,} of {whole:,} bytes): fetch it again")
    if size > whole:
        raise BadModel(f"{path} is {size - whole:,} bytes longer than it says: it is corrupt, fetch it again")


def _end(entry: Any) -> int:
    """Where a tensor ends among a file's data. Raises: ValueError, or of Python's others, where that is not said."""
    _, end = entry["data_offsets"]
    numbers = [*entry["shape"], *entry["data_offsets"]]
    if not isinstance(entry["dtype"], str) or not all(type(each) is int and 0 <= each < 1 << 63 for each in numbers):
        raise ValueError("not a tensor")
    return int(end)


def loaded_bytes(path: Path, bytes_each: float) -> int:
    """What a safetensors file that `check_safetensors` has passed takes in memory.

    Args:
        bytes_each: of a number that is loaded in another type than it is kept in; what is packed stays as it is.
    """
    with path.open("rb") as file:
        entries = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    sizes = (
        prod(entry["shape"]) * bytes_each
        if entry["dtype"] in ("F64", "F32", "F16", "BF16")
        else entry["data_offsets"][1] - entry["data_offsets"][0]
        for name, entry in entries.items()
        if name != "__metadata__"
    )
    return int(sum(sizes))


def text_hash(folder: Path) -> str:
    """SHA-256 over the model's configuration, tokeniser and templates, and of layers behind it in folders of theirs."""
    wanted = (
        path
        for path in folder.rglob("*")
        if path.suffix in _TEXTS or (path.suffix == ".safetensors" and path.parent != folder)
    )
    names = sorted(path for path in wanted if path.is_file())
    lines = [f"{path.relative_to(folder).as_posix()} {hashlib.sha256(path.read_bytes()).hexdigest()}" for path in names]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
