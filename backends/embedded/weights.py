"""The small trained weights of this project: kept beside this file, merged into the base when first asked for."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file

from emotui.backends.embedded.base_files import BaseFiles, BaseModelError
from emotui.backends.embedded.encoder import VOCABULARY, WIDTH, BaseFile, Dtype, Encoder, Engine, Floats, SharedLayers
from emotui.backends.embedded.inference import Stack, hidden_states, label_logits, pooled
from emotui.backends.embedded.tokens import WordPieces
from emotui.backends.weights_hash import weights_hash

CALIBRATION = "calibration.json"

OWN_SHA256 = {
    "clauses.safetensors": "324a350777e5ecdfdf76b28f179926e7c83d6f54e459bbb035d3758955556f38",
    "goemotions.safetensors": "40970e083968849385c315a15de151a17bc363deea41fc7543f83a8272e64236",
    "mask.safetensors": "7f7a4abac8c17170a8041b3c01f1581a6be01d0cb2995f764d56508a351eab49",
    "pairs.safetensors": "77ac4704174b9730755fcbf5305116d3cb018069fc6256d2efd16e36d1d66139",
    "plutchik.safetensors": "6dd18390ec7aa76c2c024f40c6ba68daaa756d2147edcdca09649d117e4113bf",
    "scenes.safetensors": "8e66f05cafd8f74e590597045d2ef3d61e1d01d74433157133070f6f845cd95c",
    "second.safetensors": "da7e8040cddd1ea4fbfdc412d06410b852d24e2c3ad4ee97a1e439da516e4729",
    "spans.safetensors": "b4eab84c9f4cd284c26d5f45643eb4a5058d01bada001ede6fc621cee3477971",
    "calibration.json": "d0e2b64a5efbcb3ccbe8e3c174972b632ba22c0bc24e56f6ef3ede902445be69",
}
"""Of the small weights that come with the package (`sha256sum backends/embedded/*.safetensors`)."""


_AGAIN = "pip install --force-reinstall --no-deps emotui"


def committed_weights() -> Path:
    """The folder of the weights that come with the package."""
    return Path(str(resources.files("emotui.backends.embedded")))


class Weights:
    """The base and the trained stacks, each read on first use.

    Args:
        folder: of the small weights; None: those that come with the package.
        dtype, engine: as `Encoder` takes them.
        shared: all encoders share layers, in float32 by ONNX Runtime: in less memory, a batch is slower.
    """

    def __init__(
        self,
        files: BaseFiles,
        folder: Path | None = None,
        *,
        dtype: Dtype = "float32",
        engine: Engine | None = None,
        shared: bool = False,
    ) -> None:
        self.folder = folder or committed_weights()
        self.dtype = dtype
        self._engine = engine
        self._file = BaseFile(files.model)
        self.pieces = WordPieces(files.tokenizer)
        sharing = shared and dtype == "float32" and engine != "numpy"
        self._shared = SharedLayers(self._file) if sharing else None

    def _encoder(self, adapters: Mapping[str, NDArray[Any]] | None = None) -> Encoder:
        return Encoder(self._file, adapters, dtype=self.dtype, engine=self._engine, shared=self._shared)

    def _stack(self, task: str, slope: float, shifts: Sequence[float]) -> Stack:
        tensors = load_file(self.folder / f"{task}.safetensors")
        return Stack(self._encoder(tensors), tensors, slope, shifts)

    def uncalibrated(self, task: str) -> Stack:
        """A task's adapters and head, as they were trained."""
        return self._stack(task, 1.0, (0.0,))

    def _calibrated(self, task: str) -> Stack:
        return self._stack(task, self.calibration[task]["slope"], self.calibration[task]["shifts"])

    @cached_property
    def base(self) -> Encoder:
        """The unmodified MiniLM."""
        return self._encoder()

    @cached_property
    def goemotions(self) -> Stack:
        """28 labels from mean and maximum."""
        return self._calibrated("goemotions")

    @cached_property
    def plutchik(self) -> Stack:
        """Plutchik's eight from mean and maximum, uncalibrated."""
        return self.uncalibrated("plutchik")

    @cached_property
    def second(self) -> dict[str, NDArray[Any]]:
        """The network over frozen features whose logits are added to those of `plutchik`."""
        return load_file(self.folder / "second.safetensors")

    @cached_property
    def pairs(self) -> dict[str, NDArray[Any]]:
        """Weights of words and pairs of words, whose logits are added too."""
        return load_file(self.folder / "pairs.safetensors")

    def plutchik_logits(self, ids: Sequence[Sequence[int]]) -> Floats:
        """Calibrated logits of Plutchik's eight. Args: ids: token ids of n texts. Returns: (n, 8)."""
        features = frozen_features(self.base, self.goemotions.encoder, ids)
        logits = label_logits(self.plutchik, ids) + second_logits(self.second, features) + pair_logits(self.pairs, ids)
        fitted = self.calibration["plutchik"]
        return np.asarray(np.float32(fitted["slope"]) * logits + np.array(fitted["shifts"], np.float32))

    @cached_property
    def scenes(self) -> dict[str, NDArray[Any]]:
        """Plutchik's eight in a scene, from embeddings."""
        return load_file(self.folder / "scenes.safetensors")

    @cached_property
    def spans(self) -> Stack:
        """Cue words: inside a cue, and begins one, from each token."""
        return self._calibrated("spans")

    @cached_property
    def clauses(self) -> dict[str, NDArray[Any]]:
        """The head over clauses (`weight`, `bias`) and the one that tells cue texts from clause texts (`style.…`)."""
        return self._single("clauses.safetensors")

    @cached_property
    def mask(self) -> dict[str, NDArray[Any]]:
        """The map from the state at a mask to the embedding of the word that stood there."""
        return self._single("mask.safetensors")

    def _single(self, file: str) -> dict[str, NDArray[Any]]:
        return {name: tensor.astype(np.float32) for name, tensor in load_file(self.folder / file).items()}

    @cached_property
    def calibration(self) -> dict[str, Any]:
        """Temperatures, shifts and thresholds, as fitted on held-out training data."""
        values: dict[str, Any] = json.loads((self.folder / CALIBRATION).read_text(encoding="utf-8"))
        return values

    def hashes(self) -> dict[str, str]:
        """SHA-256 of every small file that can change an output.

        Raises:
            BaseModelError: they are the package's, and one of them is missing or is not as it came.
        """
        files = sorted(self.folder.glob("*.safetensors"))
        try:
            found = {path.name: weights_hash([path], lambda line: None) for path in [*files, self.folder / CALIBRATION]}
        except OSError as error:
            raise BaseModelError(f"{error.filename} cannot be read ({error.strerror}): {_AGAIN}") from None
        if self.folder == committed_weights() and found != OWN_SHA256:
            (first, *_) = sorted(name for name in {*found, *OWN_SHA256} if found.get(name) != OWN_SHA256.get(name))
            raise BaseModelError(
                f"{self.folder / first} is not as it came with emotui (SHA-256 {found.get(first, 'of no file')}, "
                f"expected {OWN_SHA256.get(first, 'no such file')}), so it is not loaded: {_AGAIN}"
            )
        return found


# Plutchik's eight by two models at once: adapters of their own, and a small network over the other encoders. The
# adapters alone overfit XED's short lines; a network over frozen features errs elsewhere, and the sum of the two sets
# of logits is better than either.

_ERF = np.frompyfunc(math.erf, 1, 1)


def frozen_features(base: Encoder, goemotions: Encoder, ids: Sequence[Sequence[int]]) -> Floats:
    """The base's mean state, and mean and maximum of the GoEmotions encoder's. Returns: (n, 1152)."""
    features = np.empty((len(ids), 3 * WIDTH), np.float32)
    for number, states in hidden_states(base, ids):
        features[number, :WIDTH] = states.mean(0)
    for number, states in hidden_states(goemotions, ids):
        features[number, WIDTH:] = pooled(states)
    return features


def second_logits(tensors: Mapping[str, NDArray[Any]], features: Floats) -> Floats:
    """Args: tensors: as `fit_second` gives them. features: (n, 1152). Returns: (n, labels)."""
    weights = {name: tensor.astype(np.float32) for name, tensor in tensors.items()}
    inputs = (features - weights["second.centre"]) / weights["second.scale"]
    inner = inputs @ weights["second.in.weight"].T + weights["second.in.bias"]
    inner *= (1 + np.asarray(_ERF(inner / math.sqrt(2)), np.float32)) / 2  # GELU; 256 numbers a text need no scipy
    return np.asarray(inner @ weights["second.out.weight"].T + weights["second.out.bias"])


# Plutchik's eight from words and pairs of neighbouring words alone: one weight a label for each. They know set phrases
# of film dialogue word for word, which both encoders blur; with these logits added, those of the adapters and of
# `second_logits` rank better.

Doubles = NDArray[np.float64]
Keys = NDArray[np.int64]

SHARE = 0.6
"""What these logits count for beside those of the two networks."""


def keys_and_counts(ids: Sequence[int]) -> tuple[Keys, Doubles]:
    """The distinct keys of a text, in order, and how often each is there.

    The key of a word piece is its id, that of a pair left * 30522 + right; a text's start and end make pairs too.

    Args: ids: token ids of one text, with start and end.
    """
    row = np.asarray(ids, dtype=np.int64)
    keys, counts = np.unique(np.concatenate([row[1:-1], row[:-1] * VOCABULARY + row[1:]]), return_counts=True)
    return keys, counts.astype(np.float64)


def weighted(texts: Sequence[tuple[Keys, Doubles]], known: Keys, rarity: Doubles) -> Iterator[tuple[Keys, Doubles]]:
    """For each text the places in `known` of the keys that it has, and (1 + ln count) rarity, scaled to length 1.

    Args: texts: as `keys_and_counts` gives them. known: (k,), in order. rarity: (k,).
    """
    for keys, counts in texts:
        places = np.minimum(np.searchsorted(known, keys), len(known) - 1)
        there = known[places] == keys
        values = (1 + np.log(counts[there])) * rarity[places[there]]
        yield places[there], values / max(float(np.linalg.norm(values)), 1e-12)


def pair_logits(tensors: Mapping[str, NDArray[Any]], ids: Sequence[Sequence[int]]) -> Floats:
    """Args: tensors: as `fit_pairs` gives them. ids: token ids of n texts, with start and end. Returns: (n, labels)."""
    known, rarity = tensors["pairs.keys"].astype(np.int64), tensors["pairs.rarity"].astype(np.float64)
    weight, bias = tensors["pairs.weight"], tensors["pairs.bias"].astype(np.float64)
    logits = np.empty((len(ids), len(bias)))
    for row, (places, values) in enumerate(weighted([keys_and_counts(text) for text in ids], known, rarity)):
        logits[row] = values @ weight[places].astype(np.float64) + bias
    return (SHARE * logits).astype(np.float32)
