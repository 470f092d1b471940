"""Training all the small weights, stage after stage: `python -m tools.embedded train --data DIR --to FOLDER`."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file
from scipy.special import expit
from torch import Tensor

from emotui.backends.base import OnStep
from emotui.backends.embedded.backend import GOEMOTIONS
from emotui.backends.embedded.base_files import BaseFiles, base_files
from emotui.backends.embedded.encoder import Floats as Floats32
from emotui.backends.embedded.encoder import use_threads
from emotui.backends.embedded.inference import label_logits, sentence_embeddings
from emotui.backends.embedded.weights import CALIBRATION, Weights, frozen_features
from emotui.backends.tuning.checkpoints import check_same, write_tensors, write_text, writing
from emotui.records import PLUTCHIK
from tools.embedded.calibration import Floats, f1_thresholds, fit_probabilities
from tools.embedded.clauses import clause_texts, fit_clauses
from tools.embedded.cues import best_rule
from tools.embedded.data import Labelled, goemotions, sample_passages
from tools.embedded.encoder import load_encoder
from tools.embedded.ensemble import fit_second
from tools.embedded.labels import targets, train_labels
from tools.embedded.logistic import logistic
from tools.embedded.loop import Schedule
from tools.embedded.masks import train_masks
from tools.embedded.pairs import fit_pairs
from tools.embedded.scenes import fit_scenes
from tools.embedded.spans import train_spans
from tools.embedded.splits import check, covidemo_parts, goemotions_parts, reman_parts, xed_parts

EPOCHS = 4
LONGEST = 256
UNCALIBRATED = {"slope": 1.0, "shifts": [0.0]}
STYLE_TEXTS = 1000
BEGUN = "begun.json"


def train(
    data_dir: Path | str,
    out_dir: Path | str,
    seed: int = 0,
    epochs: int = EPOCHS,
    progress: OnStep | None = None,
    resume: bool = False,
    threads: int | None = None,
) -> Path:
    """Train every small weight on the open data and write it to `out_dir`, with its calibration.

    Args: epochs: of GoEmotions; the other stages keep their own lengths. resume: stages whose file is in `out_dir` are
    kept, and a stage that was broken off goes on from its last finished epoch.
    Raises: BadInput naming the file of the data that is missing or malformed, before anything is trained, or what a
    training in `out_dir` was begun with; ModelError where MiniLM is not there; EmotuiError where `out_dir` cannot be
    written.
    """
    if threads is not None:
        torch.set_num_threads(threads)
        use_threads(threads)
    work = _Training(Path(data_dir), Path(out_dir), seed, epochs, progress or (lambda *_: None), resume)
    check(work.data)
    work.begin()
    for stage in (work.goemotions, work.plutchik, work.spans, work.clauses, work.scenes, work.mask):
        stage()
    return work.out


def product_type() -> torch.dtype:
    """bfloat16 where the CPU multiplies it in hardware (AMX), else float32."""
    has_amx = getattr(torch.cpu, "_is_amx_tile_supported", lambda: False)
    return torch.bfloat16 if has_amx() else torch.float32


class _Training:
    """The stages share the base model, the folder and the arguments."""

    def __init__(self, data: Path, out: Path, seed: int, epochs: int, progress: OnStep, resume: bool) -> None:
        self.data, self.out, self.seed, self.epochs = data, out, seed, epochs
        self.progress, self.resume = progress, resume
        self.files: BaseFiles = base_files()
        self.base = load_encoder(self.files.model)
        self.weights = Weights(self.files, out)
        self.checkpoints = out / "checkpoints"

    def begin(self) -> None:
        """Make the folder, with what decides the result; going on with anything else would mix two trainings."""
        path, now = self.checkpoints / BEGUN, {"seed": self.seed, "epochs": self.epochs}
        if self.resume and path.is_file():
            check_same(path, json.loads(path.read_text(encoding="utf-8")), now)
        with writing(self.out):
            self.checkpoints.mkdir(parents=True, exist_ok=True)
        write_text(path, json.dumps(now) + "\n")

    def _kept(self, name: str, make: Callable[[], dict[str, Tensor]]) -> dict[str, Tensor]:
        """The tensors of a stage: from its file where training resumes, else made and written."""
        path = self.out / f"{name}.safetensors"
        if not (self.resume and path.is_file()):
            write_tensors(path, make())
        self.progress(name, 1, 1)
        return load_file(path)

    def _calibrate(self, name: str, values: dict[str, Any]) -> None:
        """Write a task's calibration beside those of the stages before it, and forget what was read with older ones."""
        path = self.out / CALIBRATION
        known = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        write_text(path, json.dumps(known | {name: values}, indent=1) + "\n")
        self.weights = Weights(self.files, self.out)

    def _label_calibration(
        self, logits_of: Callable[[list[list[int]]], Floats32], held: Sequence[Labelled], labels: int
    ) -> dict[str, Any]:
        ids = self.weights.pieces.ids([example.text for example in held], LONGEST)
        logits: Floats = logits_of(ids).astype(float)
        gold: Floats = targets(held, labels).double().numpy()
        slope, shifts = fit_probabilities(logits, gold)
        even_slope, even_shifts = fit_probabilities(logits, gold, top_weight=0.0)
        expected = expit(even_slope * logits + even_shifts)
        thresholds = f1_thresholds(expit(slope * logits + shifts), expected, gold)
        return {"slope": slope, "shifts": shifts.tolist(), "thresholds": thresholds.tolist()}

    def _adapters(
        self, name: str, examples: Sequence[Labelled], labels: int, schedule: Schedule, start: dict[str, Tensor] | None
    ) -> dict[str, Tensor]:
        return self._kept(
            name,
            lambda: train_labels(
                name,
                self.base,
                self.weights.pieces,
                examples,
                labels,
                schedule,
                self.seed,
                self.checkpoints,
                self.resume,
                self.progress,
                start,
                product_type(),
            ),
        )

    def goemotions(self) -> None:
        """Adapters and head of the 28 labels."""
        kept, held = goemotions_parts(self.data)
        self._adapters("goemotions", kept, len(GOEMOTIONS), Schedule(self.epochs), None)
        stack = self.weights.uncalibrated("goemotions")
        self._calibrate(
            "goemotions", self._label_calibration(lambda ids: label_logits(stack, ids), held, len(GOEMOTIONS))
        )

    def plutchik(self) -> None:
        """Plutchik's eight: adapters from those of GoEmotions on XED, a network over frozen features, word pairs."""
        kept, held = xed_parts(self.data)
        start = load_file(self.out / "goemotions.safetensors")
        schedule = Schedule(epochs=5, rate=4e-4, head_rate=8e-4, word_dropout=0.1, dropout=0.2)
        self._adapters("plutchik", kept, len(PLUTCHIK), schedule, start)
        self._kept("second", lambda: self._second(kept + covidemo_parts(self.data)[0]))
        self._kept("pairs", lambda: self._pairs(kept))
        self._calibrate("plutchik", UNCALIBRATED)
        self._calibrate("plutchik", self._label_calibration(self.weights.plutchik_logits, held, len(PLUTCHIK)))

    def _second(self, examples: Sequence[Labelled]) -> dict[str, Tensor]:
        ids = self.weights.pieces.ids([example.text for example in examples], LONGEST)
        features = torch.tensor(frozen_features(self.weights.base, self.weights.goemotions.encoder, ids))
        return fit_second(features, targets(examples, len(PLUTCHIK)), self.seed)

    def _pairs(self, examples: Sequence[Labelled]) -> dict[str, Tensor]:
        ids = self.weights.pieces.ids([example.text for example in examples], LONGEST)
        return fit_pairs(ids, targets(examples, len(PLUTCHIK)))

    def spans(self) -> None:
        """Adapters and token head of REMAN's cues, from the adapters of GoEmotions."""
        kept, held, _ = reman_parts(self.data)
        start = load_file(self.out / "goemotions.safetensors")
        schedule = Schedule(epochs=10, rate=5e-4, head_rate=2e-3, warm_up=20, batch=16)
        self._kept(
            "spans",
            lambda: train_spans(
                "spans",
                self.base,
                self.weights.pieces,
                kept,
                schedule,
                self.seed,
                self.checkpoints,
                self.resume,
                self.progress,
                start,
                product_type(),
            ),
        )
        rule = best_rule(self.weights.uncalibrated("spans"), self.weights.pieces, held)
        self._calibrate("spans", {"slope": 1.0, "shifts": [0.0, 0.0], "rule": rule})

    def clauses(self) -> None:
        """The head over clauses, from the sample data, and the one that tells cue texts from clause texts."""
        head = fit_clauses(clause_texts(self.weights, sample_passages()), self.seed)
        fiction = [passage.text for passage in reman_parts(self.data)[0]][:STYLE_TEXTS]
        other = [passage.text for passage in sample_passages()]
        other += [example.text for example in goemotions(self.data, "train")][:STYLE_TEXTS]
        other += [example.text for example in xed_parts(self.data)[0]][:STYLE_TEXTS]
        ids = self.weights.pieces.ids(fiction + other, LONGEST)
        embeddings: Floats = sentence_embeddings(self.weights.base, ids).astype(float)
        style = logistic(embeddings, np.array([1.0] * len(fiction) + [0.0] * len(other)), penalty=10.0)
        tensors = {
            "weight": torch.tensor(head.weight),
            "bias": torch.tensor(head.bias),
            "style.weight": torch.tensor(style[0]),
            "style.bias": torch.tensor(style[1]),
        }
        write_tensors(self.out / "clauses.safetensors", {name: tensor.float() for name, tensor in tensors.items()})
        self._calibrate("clauses", {"threshold": head.threshold})

    def scenes(self) -> None:
        """The head that reads scenes."""
        tensors, fitted = fit_scenes(self.weights, self.seed)
        write_tensors(self.out / "scenes.safetensors", tensors)
        self._calibrate("scenes", fitted)

    def mask(self) -> None:
        """The map that ranks emotion words for a mask."""
        self._kept("mask", lambda: train_masks(self.weights, self.data, self.seed))
