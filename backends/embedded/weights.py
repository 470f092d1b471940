"""The small trained weights of this project: kept beside this file, merged into the base when first asked for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor

from emotui.backends.embedded.adapters import Stack
from emotui.backends.embedded.base_files import BaseFiles, sha256_of
from emotui.backends.embedded.encoder import load_encoder
from emotui.backends.embedded.ensemble import frozen_features, second_logits
from emotui.backends.embedded.inference import label_logits
from emotui.backends.embedded.tokens import WordPieces
from emotui.backends.embedded.word_pairs import pair_logits

CALIBRATION = "calibration.json"


def committed_weights() -> Path:
    """The folder of the weights that come with the package."""
    return Path(str(resources.files("emotui.backends.embedded")))


class Weights:
    """The base and the trained stacks, each read on first use; `folder` holds the small weights."""

    def __init__(self, files: BaseFiles, folder: Path | None = None) -> None:
        self.folder = folder or committed_weights()
        self.base = load_encoder(files.model)
        self.pieces = WordPieces(files.tokenizer)

    def _stack(self, task: str) -> Stack:
        fitted = self.calibration[task]
        return Stack(self.base, load_file(self.folder / f"{task}.safetensors"), fitted["slope"], fitted["shifts"])

    @cached_property
    def goemotions(self) -> Stack:
        """28 labels from mean and maximum."""
        return self._stack("goemotions")

    @cached_property
    def plutchik(self) -> Stack:
        """Plutchik's eight from mean and maximum, uncalibrated."""
        return Stack(self.base, load_file(self.folder / "plutchik.safetensors"))

    @cached_property
    def second(self) -> dict[str, Tensor]:
        """The network over frozen features whose logits are added to those of `plutchik`."""
        return load_file(self.folder / "second.safetensors")

    @cached_property
    def pairs(self) -> dict[str, Tensor]:
        """Weights of words and pairs of words, whose logits are added too."""
        return load_file(self.folder / "pairs.safetensors")

    def plutchik_logits(self, ids: Sequence[Sequence[int]]) -> Tensor:
        """Calibrated logits of Plutchik's eight. Args: ids: token ids of n texts. Returns: (n, 8)."""
        features = frozen_features(self.base, self.goemotions.encoder, ids)
        logits = label_logits(self.plutchik, ids) + second_logits(self.second, features) + pair_logits(self.pairs, ids)
        fitted = self.calibration["plutchik"]
        return fitted["slope"] * logits + torch.tensor(fitted["shifts"], dtype=torch.float32)

    @cached_property
    def spans(self) -> Stack:
        """Cue words: inside a cue, and begins one, from each token."""
        return self._stack("spans")

    @cached_property
    def clauses(self) -> dict[str, Tensor]:
        """The head over clauses (`weight`, `bias`) and the one that tells cue texts from clause texts (`style.…`)."""
        return {name: tensor.float() for name, tensor in load_file(self.folder / "clauses.safetensors").items()}

    @cached_property
    def mask(self) -> dict[str, Tensor]:
        """The map from the state at a mask to the embedding of the word that stood there."""
        return {name: tensor.float() for name, tensor in load_file(self.folder / "mask.safetensors").items()}

    @cached_property
    def calibration(self) -> dict[str, Any]:
        """Temperatures, shifts and thresholds, as fitted on held-out training data."""
        values: dict[str, Any] = json.loads((self.folder / CALIBRATION).read_text(encoding="utf-8"))
        return values

    def hashes(self) -> dict[str, str]:
        """SHA-256 of every small file that can change an output."""
        files = sorted(self.folder.glob("*.safetensors"))
        return {path.name: sha256_of(path) for path in [*files, self.folder / CALIBRATION]}
