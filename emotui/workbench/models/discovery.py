"""What models are at hand: on this machine, in folders, and at the servers that a person names. Loads none of them."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from emotui.backends.base import CAPABLE_KINDS
from emotui.backends.embedded import base_files
from emotui.backends.gguf.embedding import embeds
from emotui.backends.gguf.files import find_model, models_in
from emotui.backends.hf import CAPABILITIES
from emotui.backends.hf.configuration import CONTEXTS, read_config
from emotui.backends.hf.families import family_of, nli_places
from emotui.backends.hf.files import weight_files
from emotui.backends.servers.connection import models_at
from emotui.backends.spec import BUILT_IN, GROUP, kinds
from emotui.bounded import is_there
from emotui.errors import BadInput, EmotuiError, ModelError
from emotui.plugins import entry_points_of, problem_of
from emotui.store.access import OnWaiting
from emotui.store.store import Store, default_path

FOLDERS_VARIABLE = "EMOTUI_MODELS"
FOLDERS_SETTING = "model_folders"
DEEPEST = 3
"""How many folders below a named one are looked into."""


@dataclass(frozen=True, slots=True)
class AtHand:
    """One model. What is None is not known before it is loaded; `problem` says why it will not load.

    `size` is in bytes, `context` in tokens.
    """

    spec: str
    kind: str
    name: str
    size: int | None = None
    quantisation: str | None = None
    context: int | None = None
    capabilities: tuple[str, ...] = ()
    where: str | None = None
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """Models, and a line for each place that could not be looked into."""

    models: tuple[AtHand, ...]
    problems: tuple[str, ...]


def models_at_hand(folders: Sequence[Path] = (), servers: Sequence[str] = ()) -> Found:
    """The embedded model, other packages' kinds, the Hugging Face cache, these folders and these servers.

    Args:
        servers: addresses, `http://HOST:PORT/v1`; no other host is talked to.

    Raises:
        BadInput: one of them is no address.
    """
    problems: list[str] = []
    models = [_embedded(), *_third_parties(), *_hub_cache(problems)]
    for folder in folders:
        try:
            models.extend(_in_folder(folder))
        except OSError as error:
            problems.append(f"{folder} cannot be looked into: {error.strerror}")
    for url in servers:
        try:
            models.extend(_at_server(url))
        except BadInput:
            raise
        except ModelError as error:
            problems.append(str(error))
    return Found(tuple(models), tuple(problems))


def model_folders(named: Iterable[str], db: str | None = None, on_waiting: OnWaiting | None = None) -> list[Path]:
    """The named folders, then those of the variable EMOTUI_MODELS, then those kept in the workspace; each once.

    Raises:
        BadInput: a named one is no folder. Of the others those that are gone are left out.
    """
    first = []
    for name in named:
        folder = _folder(name)
        if folder is None:
            raise BadInput(f"{name}: no such folder")
        first.append(folder)
    others = [_folder(name) for name in os.environ.get(FOLDERS_VARIABLE, "").split(os.pathsep) if name]
    others += [_folder(name) for name in _kept(db, on_waiting)]
    return list(dict.fromkeys([*first, *(folder for folder in others if folder is not None)]))


def _folder(name: str) -> Path | None:
    """The folder of this name; None where there is none, or none that may be looked at."""
    try:
        path = Path(name).expanduser()
        return path.resolve() if path.is_dir() else None
    except (OSError, RuntimeError):  # a name too long; ~ of nobody
        return None


def keep_folders(folders: Iterable[Path], db: str | None = None, on_waiting: OnWaiting | None = None) -> None:
    """Look into these folders from now on, in this workspace.

    Raises:
        StoreError: the workspace cannot be written.
    """
    known = [Path(name) for name in _kept(db, on_waiting)]
    store = Store.open(Path(db) if db else default_path(), on_waiting=on_waiting)
    store.settings.set(FOLDERS_SETTING, [str(path) for path in dict.fromkeys((*known, *folders))])


def _kept(db: str | None, on_waiting: OnWaiting | None) -> list[str]:
    path = Path(db) if db else default_path()
    if not is_there(path):
        return []
    store = Store.open(path, read_only=True, create=False, on_waiting=on_waiting)
    kept = store.settings.get(FOLDERS_SETTING, [])
    return [name for name in kept if isinstance(name, str)] if isinstance(kept, list) else []


def kinds_of(capability: str) -> tuple[str, ...]:
    """The kinds of model of which some can do this."""
    return CAPABLE_KINDS.get(capability, ())


def may(spec: str, capability: str) -> bool:
    """Whether a model may be able to do this: not where it is of a kind that is known here and cannot."""
    kind, colon, _ = spec.partition(":")
    known = {one for able in CAPABLE_KINDS.values() for one in able}
    return f"{kind}{colon}" not in known or f"{kind}{colon}" in kinds_of(capability)


def _capable(kind: str) -> tuple[str, ...]:
    return tuple(capability for capability, able in CAPABLE_KINDS.items() if kind in able)


def _embedded() -> AtHand:
    name = "all-MiniLM-L6-v2 with emotui's adapters"
    able = _capable("embedded")
    if base_files.files_at_hand() is None:
        return AtHand("embedded", "embedded", name, base_files.MEGABYTES * 1_000_000, "F32", capabilities=able)
    try:
        files = base_files.base_files()
    except ModelError as error:
        return AtHand("embedded", "embedded", name, capabilities=able, problem=str(error))
    own = Path(base_files.__file__).parent.glob("*.safetensors")
    size = sum(path.stat().st_size for path in (files.model, files.tokenizer, *own))
    return AtHand("embedded", "embedded", name, size, "F32", capabilities=able)


def _third_parties() -> Iterator[AtHand]:
    """Kinds that other packages add: what they have only they know, so the kind itself is named."""
    for line in entry_points_of(GROUP)[1]:
        yield AtHand("(plug-in)", "plug-in", "a package", problem=line)
    for kind, value in sorted(kinds().items()):
        if kind not in BUILT_IN:
            yield AtHand(f"{kind}:", kind, f"added by {value.partition(':')[0]}", problem=problem_of(value))


def _hub_cache(problems: list[str]) -> Iterator[AtHand]:
    from huggingface_hub import constants, scan_cache_dir
    from huggingface_hub.errors import CacheNotFound

    try:
        cache = scan_cache_dir(constants.HF_HUB_CACHE)
    except CacheNotFound:
        return
    problems.extend(str(warning).splitlines()[0] for warning in cache.warnings)
    for repository in sorted(cache.repos, key=lambda each: each.repo_id):
        if repository.repo_type != "model" or not repository.revisions:
            continue
        newest = max(repository.revisions, key=lambda each: ("main" in each.refs, each.last_modified))
        yield _of_transformers(newest.snapshot_path, f"hf:{repository.repo_id}", repository.repo_id, "hub cache")


def _in_folder(top: Path) -> Iterator[AtHand]:
    for folder in _below(top):
        try:
            if any((folder / name).is_file() for name in ("config.json", "adapter_config.json")):
                yield _of_transformers(folder, f"hf:{folder}", folder.name, str(top))
            for path in models_in(folder):
                yield _of_llama_cpp(path, str(top))
        except OSError as error:
            why = f"{folder} cannot be read: {error.strerror}"
            yield AtHand(f"hf:{folder}", "hf", folder.name, where=str(top), problem=why)


def _below(top: Path) -> Iterator[Path]:
    """The folder and those below it, without hidden ones and without following links into them."""
    for name, folders, _ in os.walk(top):
        folder = Path(name)
        yield folder
        deep = len(folder.relative_to(top).parts) >= DEEPEST
        folders[:] = [] if deep else sorted(each for each in folders if not each.startswith("."))


def _of_llama_cpp(path: Path, where: str) -> AtHand:
    spec = f"gguf:{path}"
    try:
        files = find_model(str(path))
    except EmotuiError as error:
        return AtHand(spec, "gguf", path.stem, where=where, problem=str(error))
    header = files.header
    return AtHand(
        spec,
        "gguf",
        header.name,
        files.size,
        header.quantisation or None,
        header.context or None,
        ("embed",) if embeds(header) else _WRITERS,
        where,
    )


def _of_transformers(folder: Path, spec: str, name: str, where: str) -> AtHand:
    """By its configuration alone; the weights' headers are read to see that they are whole."""
    try:
        config = read_config(folder)
        family = family_of(config)
        if family is None:
            raise ModelError(f"{folder} is of a kind that hf: does not know")
        size = sum(path.stat().st_size for path in weight_files(folder))
    except (EmotuiError, OSError) as error:
        return AtHand(spec, "hf", name, where=where, problem=str(error))
    labels = config.get("id2label")
    if family == "classifier" and isinstance(labels, dict) and nli_places([str(each) for each in labels.values()]):
        family = "nli"
    text = config.get("text_config")
    inner = text if isinstance(text, dict) else config
    context = next((inner[key] for key in CONTEXTS if isinstance(inner.get(key), int)), None)
    dtypes = (inner.get("dtype"), inner.get("torch_dtype"), config.get("dtype"))
    dtype = next((each for each in dtypes if each and isinstance(each, str)), None)
    quantised = config.get("quantization_config")
    method = quantised.get("quant_method") if isinstance(quantised, dict) else None
    return AtHand(
        spec, "hf", name, size, str(method or dtype) if method or dtype else None, context, CAPABILITIES[family], where
    )


_WRITERS = ("generate", "score", "rank")
_CHAT = ("generate", "score")


def _at_server(url: str) -> Iterator[AtHand]:
    for each in models_at(url):
        yield AtHand(
            f"openai:{each.id}@{url}",
            "openai",
            each.id,
            context=each.max_model_len,
            capabilities=_CHAT,  # whether it embeds is known when it is loaded; most do not
            where=url,
        )
