"""From the states of a text's tokens to its embedding, as the model's sentence-transformers files say."""

import json
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from emotui.bounded import read_bytes
from emotui.errors import ModelError

Pool = Callable[[torch.Tensor, torch.Tensor], NDArray[np.float32]]
"""From states (rows, tokens, width) and mask (rows, tokens) to embeddings (rows, width) of length 1."""

_KINDS = ("Pooling", "Dense", "Normalize")
"""What may follow the model in `modules.json`; all but these run code that is not here."""

_MEAN = {"pooling_mode": "mean"}


def pooling_of(folder: Path) -> Pool:
    """How a model's directory says that tokens are pooled; the mean of all where it says nothing.

    Plain means and first tokens are computed here; all else (last token, maximum, weighted means, several at once,
    dense layers behind them) by sentence-transformers' own modules, which take seconds to import.

    Raises:
        ModelError: the files cannot be read, or name something else than pooling, dense layers and normalising.
    """
    modules = _read(folder / "modules.json")
    later = modules[1:] if isinstance(modules, list) else [{"type": "Pooling", "path": "1_Pooling"}]
    if not all(isinstance(each, dict) and isinstance(each.get("path"), str) for each in later):
        raise ModelError(f"{folder.name}/modules.json is not what sentence-transformers writes")
    strange = next((each for each in later if _kind(each) not in _KINDS), None)
    if strange is not None:
        raise ModelError(f"{folder.name} embeds with {str(strange.get('type'))[:80]}, which emotui does not run")
    steps = [each for each in later if _kind(each) != "Normalize"]
    if len(steps) < 2 and (mode := _plain(_read(folder / steps[0]["path"] / "config.json") if steps else None)):
        return first_token if mode == "cls" else mean
    return _by_modules(folder, steps)


def mean(states: torch.Tensor, mask: torch.Tensor) -> NDArray[np.float32]:
    """The mean of all tokens' states, of length 1."""
    weights = mask[..., None].float()
    return _unit((states.float() * weights).sum(1) / weights.sum(1).clamp(min=1))


def first_token(states: torch.Tensor, mask: torch.Tensor) -> NDArray[np.float32]:
    """The first token's state, of length 1."""
    first = mask.argmax(1)
    return _unit(states.float()[torch.arange(len(states), device=states.device), first])


def _by_modules(folder: Path, steps: list[dict[str, Any]]) -> Pool:
    models: Any = import_module("sentence_transformers.models")
    modules: list[Any] = []
    for step in steps:
        inside = folder / step["path"]
        if _kind(step) == "Dense" and not (inside / "model.safetensors").is_file():
            raise ModelError(f"{folder.name}/{step['path']} has no safetensors, and weights are read from nothing else")
        try:
            modules.append(getattr(models, _kind(step)).load(str(inside)).eval())
        except Exception as error:  # of a library, over files of others
            raise ModelError(
                f"{folder.name}/{step['path']} cannot be read: {' '.join(str(error).split())[:200]}"
            ) from None

    def pool(states: torch.Tensor, mask: torch.Tensor) -> NDArray[np.float32]:
        found: dict[str, Any] = {"token_embeddings": states.float(), "attention_mask": mask}
        for module in modules:
            found = module.to(states.device)(found)
        return _unit(found["sentence_embedding"])

    return pool


def _kind(module: dict[str, Any]) -> str:
    return str(module.get("type", "")).rpartition(".")[2]


def _plain(config: object) -> str | None:
    """`mean` or `cls` where that is all; None where more has to be done."""
    said = config if isinstance(config, dict) else _MEAN
    flags = {name.removeprefix("pooling_mode_") for name, on in said.items() if name.startswith("pooling_mode_") and on}
    mode = said.get("pooling_mode") or ("mean_tokens" if not flags else flags.pop() if len(flags) == 1 else None)
    return {"mean": "mean", "mean_tokens": "mean", "cls": "cls", "cls_token": "cls"}.get(str(mode))


def _read(path: Path) -> object:
    """A JSON file; None where there is none. Raises ModelError where it cannot be read."""
    if not path.is_file():
        return None
    try:
        return json.loads(read_bytes(path))
    except (OSError, ValueError, RecursionError):
        raise ModelError(f"{path.parent.name}/{path.name} cannot be read") from None


def _unit(vectors: torch.Tensor) -> NDArray[np.float32]:
    normal: NDArray[np.float32] = torch.nn.functional.normalize(vectors, dim=-1).cpu().numpy()
    return normal
