"""Fine-tuning a classifier of texts, from a base model's directory to a directory that `hf:` loads."""

import random
import shutil
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from emotui.backends.base import OnStep
from emotui.backends.tuning.base import Base, find_base, load_classifier
from emotui.backends.tuning.checkpoints import Checkpoints, Moment, check_same, writing
from emotui.backends.tuning.emlm import train_masked
from emotui.backends.tuning.fitting import Schedule, fit
from emotui.backends.tuning.lora import check_installed, merged, with_lora
from emotui.backends.tuning.losses import pairwise_kl, terms
from emotui.backends.tuning.recipe import Example, Recipe
from emotui.backends.tuning.result import TRAINING, read_result, write_result
from emotui.backends.tuning.texts import Texts
from emotui.errors import BadInput
from emotui.metrics.classes import class_report

CHECKPOINT = "checkpoint"
"""The folder in the result's that holds what a broken training goes on from; it is gone when training is done."""


def train(
    base: str,
    examples: Sequence[Example],
    dev: Sequence[Example],
    to: Path,
    recipe: Recipe,
    *,
    sources: Mapping[str, Any],
    emlm_texts: Sequence[str] = (),
    emotion_words: Collection[str] = frozenset(),
    online: bool = False,
    resume: bool = False,
    progress: OnStep = lambda stage, done, total: None,
    stopping: Callable[[], bool] = lambda: False,
) -> dict[str, Any]:
    """Train a classifier and write its directory.

    Args:
        base: `hf:DIRECTORY` or `hf:NAME`.
        examples: with at least two labels; the classifier's labels are theirs, sorted.
        dev: none of them among `examples`; the epoch with the highest macro-F1 on them counts.
        to: a folder that is not there, or empty; with `resume` one that a training with the same arguments left.
        sources: what is said of the data's files in `training.json` (names, fingerprints); part of what must be the
            same when a training goes on.
        emlm_texts: train the base on these first (`emotui.backends.tuning.emlm`), with `emotion_words`.
        progress, stopping: see `emotui.backends.tuning.fitting.fit`.

    Returns:
        What `training.json` in the folder holds.

    Raises:
        BadInput: `to` is taken, or its checkpoint is of another training.
        ModelError: the base cannot be used, or peft is missing.
        Interrupted: after a checkpoint was written.
    """
    progress(f"loading {base}", 0, 1)
    found = find_base(base, online=online)
    if recipe.lora:
        check_installed()
    arguments = _arguments(found, recipe, sources)
    if (done := look(to, resume)) is not None:
        check_same(to / TRAINING, {name: done.get(name, {}) for name in arguments}, arguments)
        shutil.rmtree(to / CHECKPOINT, ignore_errors=True)  # killed just before it was thrown away
        return done
    with writing(to):
        to.mkdir(parents=True, exist_ok=True)
    if recipe.threads:
        torch.set_num_threads(recipe.threads)
    started = time.monotonic()
    folder, masked = _masked_stage(
        found, to / CHECKPOINT, recipe, arguments, emlm_texts, emotion_words, resume, progress, stopping
    )
    labels = sorted({example.label for example in examples})
    trainable = load_classifier(folder, labels, recipe.seed, recipe.device, recipe.max_length)
    model = with_lora(trainable, recipe.rank) if recipe.lora else trainable.model
    texts = Texts(trainable, (text for example in (*examples, *dev) for text in (example.text, *example.rephrasings)))
    moment = fit(
        "training",
        model,
        len(examples),
        _loss(texts, examples, labels, recipe, trainable.device),
        Schedule.of(recipe, recipe.epochs, recipe.highest_rate),
        Checkpoints(to / CHECKPOINT / "classifier", arguments),
        measure=(lambda: measured(texts, dev, labels)) if dev else None,
        resume=resume,
        progress=progress,
        stopping=stopping,
    )
    parameters = sum(value.numel() for value in model.parameters() if value.requires_grad)
    plain = merged(model) if recipe.lora else model
    document = {"base": found.spec, **arguments} | {
        "labels": labels,
        "n": len(examples),
        "rephrased": sum(bool(example.rephrasings) for example in examples),
        "rephrasings": sum(len(example.rephrasings) for example in examples),
        "dev_n": len(dev),
        "steps": moment.step,
        "best_epoch": moment.best,
        "epochs": moment.epochs,
        "curve": moment.curve,
        "emlm": None if masked is None else {"texts": len(emlm_texts), "steps": masked.step, "curve": masked.curve},
        "max_length": trainable.context,
        "truncated": texts.cut,
        "parameters_trained": parameters,
        "device": trainable.device.type,
        "threads": torch.get_num_threads(),
        "seconds": round(time.monotonic() - started, 3),
    }
    write_result(to, plain, trainable.tokenizer, document)
    shutil.rmtree(to / CHECKPOINT, ignore_errors=True)
    return document


def measured(texts: Texts, examples: Sequence[Example], labels: Sequence[str]) -> dict[str, float | None]:
    """`macro_f1` and `accuracy` on the originals, and `rephrasings_kl`: the mean KL over all pairs of an original and
    its rephrasings (None without rephrasings). The model must be in `eval` mode."""
    log_probs = texts.log_probs([example.text for example in examples])
    gold = {str(number): example.label for number, example in enumerate(examples)}
    report = class_report(gold, {str(number): labels[int(row.argmax())] for number, row in enumerate(log_probs)})
    return {
        "macro_f1": report["macro_f1"],
        "accuracy": report["accuracy"],
        "rephrasings_kl": mean_pair_kl(texts, examples),
    }


def mean_pair_kl(texts: Texts, examples: Sequence[Example]) -> float | None:
    """The mean of KL(M(t_j), M(t_k)) over all pairs j < k of all examples, t_0 the original; None without pairs."""
    total, pairs = 0.0, 0
    for example in examples:
        if example.rephrasings:
            group = texts.log_probs([example.text, *example.rephrasings])
            total += float(pairwise_kl(group))
            pairs += len(group) * (len(group) - 1) // 2
    return total / pairs if pairs else None


def look(to: Path, resume: bool) -> dict[str, Any] | None:
    """What a finished training in the folder says of itself, None where there is work to do.

    Raises:
        BadInput: the folder is taken, or holds a training while `resume` is not asked for.
    """
    if (done := read_result(to)) is not None:
        if resume:
            return done
        raise BadInput(f"{to} holds a trained model already: give another --to")
    if (to / CHECKPOINT).is_dir():
        if resume:
            return None
        raise BadInput(f"{to} holds a training that was broken off: go on with --resume, or give another --to")
    if to.exists() and (not to.is_dir() or any(to.iterdir())):
        raise BadInput(f"{to} is not an empty folder: give another --to")
    return None


def _arguments(base: Base, recipe: Recipe, sources: Mapping[str, Any]) -> dict[str, Any]:
    """All that decides the result, but for the machine and the versions of what runs on it."""
    how = asdict(recipe) | {"rate": recipe.highest_rate}
    for without_effect in ("device", "threads", "checkpoint_every"):
        del how[without_effect]
    return {"base_hashes": dict(base.identity), "recipe": how, "data": dict(sources)}


def _masked_stage(
    base: Base,
    checkpoint: Path,
    recipe: Recipe,
    arguments: Mapping[str, Any],
    texts: Sequence[str],
    emotion_words: Collection[str],
    resume: bool,
    progress: OnStep,
    stopping: Callable[[], bool],
) -> tuple[Path, Moment | None]:
    """The folder to fine-tune from: the base's own, or that of the base after eMLM, with how far that came."""
    if not texts:
        return base.folder, None
    target, checkpoints = checkpoint / "emlm-model", Checkpoints(checkpoint / "emlm", arguments)
    if resume and target.is_dir() and (moment := checkpoints.read()) is not None:
        return target, moment
    return target, train_masked(
        base.folder, texts, emotion_words, recipe, checkpoints, target,
        resume=resume, progress=progress, stopping=stopping,
    )  # fmt: skip


def _loss(
    texts: Texts, examples: Sequence[Example], labels: Sequence[str], recipe: Recipe, device: torch.device
) -> Callable[[list[int], random.Random], dict[str, Tensor]]:
    """L / |B| of a batch, as its two terms: the size of a batch then leaves the length of a step as it is."""
    numbers = {label: number for number, label in enumerate(labels)}
    gold = torch.tensor([numbers[example.label] for example in examples], device=device)
    weights = _weights(examples, labels).to(device) if recipe.balanced else None

    def loss(batch: list[int], chance: random.Random) -> dict[str, Tensor]:
        chosen = [examples[number] for number in batch]
        rows, groups = [example.text for example in chosen], []
        if recipe.kl != "none":
            for place, example in enumerate(chosen):
                more = range(len(rows), len(rows) + len(example.rephrasings))
                rows += example.rephrasings
                groups.append([place, *more] if recipe.kl_original else list(more))
        ce, kl = terms(texts.logits(rows), gold[batch], groups, recipe.kl, weights)
        return {"ce": ce / len(batch), "kl": recipe.kl_weight * kl / len(batch)}

    return loss


def _weights(examples: Sequence[Example], labels: Sequence[str]) -> Tensor:
    counts = Counter(example.label for example in examples)
    return torch.tensor([len(examples) / (len(labels) * counts[label]) for label in labels])
