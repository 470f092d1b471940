"""Checkpoints of a training: safetensors and JSON, never a pickle, and never half of one.

`state.json` names the file of tensors that belongs to it and is put in place last, in one step: whatever moment a
training is killed at, what stands there is one whole earlier moment.
"""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from emotui.errors import BadInput, EmotuiError

STATE = "state.json"


@dataclass(slots=True)
class Moment:
    """How far a training is. `curve`: the mean loss terms of stretches of steps; `running`: sums of the stretch and of
    the epoch that are not over; `epochs`: what was measured after each; `best`: the epoch (from 1) whose weights count.
    """

    step: int = 0
    curve: list[dict[str, float]] = field(default_factory=list)
    running: dict[str, dict[str, float]] = field(default_factory=dict)
    epochs: list[dict[str, Any]] = field(default_factory=list)
    best: int = 0
    tensors: str = ""
    best_tensors: str = ""


class Checkpoints:
    """The checkpoints of one stage of one training.

    Args:
        folder: for this stage alone.
        arguments: everything that decides the result, as JSON values; a training goes on only with the same.
    """

    def __init__(self, folder: Path, arguments: Mapping[str, Any]) -> None:
        self.folder = folder
        self._arguments = json.loads(json.dumps(dict(arguments)))

    def read(self) -> Moment | None:
        """The latest moment, None where there is none.

        Raises:
            BadInput: it was made with other arguments, or its files are not whole.
        """
        path = self.folder / STATE
        if not path.is_file():
            return None
        try:
            state = json.loads(path.read_text(encoding="utf-8"))
            known, moment = dict(state["arguments"]), msgspec.convert(state["moment"], Moment)
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise BadInput(f"{path}:1: no checkpoint that can be read ({error}): train without --resume") from None
        check_same(path, known, self._arguments)
        return moment

    def load(self, moment: Moment, trained: Mapping[str, Tensor], optimizer: torch.optim.Optimizer) -> None:
        """Put that moment's weights and the optimiser's state in place. Raises: BadInput, where the file is bad."""
        tensors = self._tensors(moment.tensors)
        self.put(tensors, trained)
        for name, parameter in trained.items():
            kept = {part: tensors[f"{part}/{name}"] for part in _parts(tensors, name)}
            if kept:
                optimizer.state[parameter] = {
                    part: value if part == "step" else value.to(parameter.device) for part, value in kept.items()
                }

    def load_best(self, moment: Moment, trained: Mapping[str, Tensor]) -> None:
        """Put the weights of the best epoch in place."""
        self.put(self._tensors(moment.best_tensors), trained)

    def put(self, tensors: Mapping[str, Tensor], trained: Mapping[str, Tensor]) -> None:
        """Copy weights as `save` names them into the parameters."""
        with torch.no_grad():
            for name, parameter in trained.items():
                parameter.copy_(tensors[f"weight/{name}"])

    def save(
        self, moment: Moment, trained: Mapping[str, Tensor], optimizer: torch.optim.Optimizer, *, best: bool = False
    ) -> None:
        """Write a moment; with `best`, keep its weights as those of the best epoch. Older files are removed after."""
        with writing(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
        weights = {f"weight/{name}": value.detach().contiguous() for name, value in trained.items()}
        state = {
            f"{part}/{name}": torch.as_tensor(value).contiguous()
            for name, parameter in trained.items()
            for part, value in optimizer.state.get(parameter, {}).items()
        }
        moment.tensors = f"step-{moment.step}.safetensors"
        write_tensors(self.folder / moment.tensors, weights | state)
        if best:
            moment.best_tensors = f"best-{moment.best}.safetensors"
            write_tensors(self.folder / moment.best_tensors, weights)
        write_text(
            self.folder / STATE, json.dumps({"arguments": self._arguments, "moment": asdict(moment)}, indent=1) + "\n"
        )
        for path in self.folder.glob("*.safetensors"):
            if path.name not in (moment.tensors, moment.best_tensors):
                path.unlink(missing_ok=True)

    def _tensors(self, name: str) -> dict[str, Tensor]:
        try:
            found: dict[str, Tensor] = load_file(self.folder / name)
        except (OSError, SafetensorError) as error:
            raise BadInput(f"{self.folder / name}: cannot be read ({error}): train without --resume") from None
        return found


def write_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """A safetensors file that is there whole or not at all."""
    partial = path.with_name(path.name + ".partial")
    with writing(path):
        save_file(dict(tensors), partial)
        _settle(partial, path)


def write_text(path: Path, text: str) -> None:
    """A text file that is there whole or not at all."""
    partial = path.with_name(path.name + ".partial")
    with writing(path):
        partial.write_text(text, encoding="utf-8")
        _settle(partial, path)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Whatever hinders writing becomes one line. Raises: EmotuiError."""
    try:
        yield
    except (OSError, SafetensorError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise EmotuiError(f"{path} cannot be written: {why}") from None


def _settle(partial: Path, path: Path) -> None:
    with partial.open("rb") as file:
        os.fsync(file.fileno())
    partial.replace(path)


def _parts(tensors: Mapping[str, Tensor], name: str) -> list[str]:
    return [part for part in ("step", "exp_avg", "exp_avg_sq") if f"{part}/{name}" in tensors]


def check_same(path: Path, known: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Raises: BadInput naming the first argument that a training in `path` was not begun with."""
    before, after = _flat(known), _flat(now)
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) != after.get(name):
            other = f"{_short(before.get(name))}, not {_short(after.get(name))}"
            raise BadInput(f"{path}:1: the training there has another {name} ({other}): give the same")


def _flat(values: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in values.items():
        inner = _flat(value) if isinstance(value, Mapping) else None
        found |= {name: value} if inner is None else {f"{name} {part}": each for part, each in inner.items()}
    return found


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 24 else f"{text[:23]}…"
