"""A training killed at any write it makes goes on to the same weights: every write is tried."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file

from emotui.backends.tuning import checkpoints
from emotui.backends.tuning.base import find_base
from emotui.backends.tuning.classifier import train
from emotui.backends.tuning.recipe import Recipe
from emotui.lexicons import emolex
from tests.backends.tuning.material import base, examples

RECIPE = Recipe(epochs=2, rate=3e-3, batch=6, threads=1, checkpoint_every=1)


class Killed(BaseException):
    """Stands for SIGKILL: nothing in a training may catch it or tidy up after it."""


class Writes:
    """Counts what is written to disk, and kills in the middle of the write with a given number."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.made, self.deadly = 0, 0
        self._patch = patch
        for owner, name, broken in (
            (checkpoints, "save_file", lambda tensors, path: Path(path).write_bytes(b"\x10" * 20)),
            (transformers.PreTrainedModel, "save_pretrained", _half_a_folder),
            (transformers.PreTrainedTokenizerFast, "save_pretrained", lambda *_: None),
            (Path, "write_text", lambda path, text, **_: path.write_bytes(text.encode()[: len(text) // 2])),
            (Path, "replace", lambda *_: None),
            (Path, "unlink", lambda *_, **__: None),
            (shutil, "rmtree", _half_removed),
        ):
            self._watch(owner, name, broken)

    def _watch(self, owner: Any, name: str, broken: Callable[..., Any]) -> None:
        real = getattr(owner, name)

        def write(*arguments: Any, **named: Any) -> Any:
            self.made += 1
            if self.made == self.deadly:
                broken(*arguments, **named)
                raise Killed
            return real(*arguments, **named)

        self._patch.setattr(owner, name, write)


def _half_a_folder(model: Any, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_bytes(b"{")


def _half_removed(folder: Path, **_: Any) -> None:
    for path in sorted(each for each in folder.rglob("*") if each.is_file())[:1]:
        path.rename(path.with_name("removed"))


@pytest.mark.parametrize("emlm", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_training_killed_in_any_of_its_writes_goes_on_to_the_same_weights(
    emlm: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.set_num_threads(1)
    spec = f"hf:{base(tmp_path / 'base')}"
    material, held = examples(12), examples(6, seed=3)
    texts = [each.text for each in material] if emlm else []
    recipe = RECIPE if emlm else replace(RECIPE, epochs=1)

    def run(folder: Path, *, resume: bool = False) -> None:
        train(spec, material, held, folder, recipe, sources={}, emlm_texts=texts, emotion_words=emolex().keys(),
              resume=resume)  # fmt: skip

    find_base(spec)  # notes the hash of the base's weights, once and for all
    writes = Writes(monkeypatch)
    run(tmp_path / "whole")
    whole, there = load_file(tmp_path / "whole" / "model.safetensors"), _names(tmp_path / "whole")
    in_all = writes.made
    assert in_all > 20
    for number in range(1, in_all + 1):
        folder = tmp_path / f"killed {number}"
        writes.made, writes.deadly = 0, number
        with pytest.raises(Killed):
            run(folder)
        writes.deadly = 0
        run(folder, resume=True)
        found = load_file(folder / "model.safetensors")
        assert all(torch.equal(found[name], value) for name, value in whole.items())
        assert _names(folder) == there


def _names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}
