"""Fine-tuning a classifier of texts, from a base model's directory to a directory that `hf:` loads."""

import json
import random
import shutil
import time
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import safetensors
import tokenizers
import torch
import transformers
from torch import Tensor

from emotui import __version__
from emotui.backends.base import OnStep
from emotui.backends.hf.encoders import pads_left, takes_types
from emotui.backends.hf.prompts import Prompts, frame
from emotui.backends.hf.seq2seq import padded
from emotui.backends.tuning.base import Base, Trainable, find_base, head_modules, load_classifier
from emotui.backends.tuning.checkpoints import Checkpoints, Moment, check_same, write_text, writing
from emotui.backends.tuning.emlm import train_masked
from emotui.backends.tuning.fitting import Schedule, fit
from emotui.backends.tuning.recipe import Example, Recipe
from emotui.errors import BadInput, ModelError
from emotui.installing import install
from emotui.metrics.classes import class_report

# Texts as token ids for training: framed and cut exactly as `hf:` frames and cuts them when it predicts.

EVALUATED = 32
"""Texts of one pass where nothing is learnt."""


class Texts:
    """The distinct texts of a training, tokenised once. `cut`: how many were longer than the model reads."""

    def __init__(self, trainable: Trainable, texts: Iterable[str]) -> None:
        self._model, self._device = trainable.model, trainable.device
        self._pad = trainable.tokenizer.pad_token_id
        self._left = pads_left(trainable.model.config)
        self._typed = takes_types(trainable.model.config, trainable.tokenizer)
        prompts = Prompts(trainable.tokenizer)
        around = frame(trainable.tokenizer, 1)
        room = max(0, trainable.context - around.extra)
        self._framed: dict[str, tuple[list[int], list[int]]] = {}
        self.cut = 0
        for text in dict.fromkeys(texts):
            ids = prompts.text(text)
            self.cut += len(ids) > room
            self._framed[text] = around.ids(ids[:room])

    def logits(self, texts: Sequence[str]) -> Tensor:
        """(texts, labels), in one pass."""
        rows = [self._framed[text] for text in texts]
        ids, mask = padded([row for row, _ in rows], self._pad, self._device, left=self._left)
        more: dict[str, Any] = {}
        if self._typed:
            more["token_type_ids"], _ = padded([types for _, types in rows], 0, self._device, left=self._left)
        logits: Tensor = self._model(input_ids=ids, attention_mask=mask, **more).logits
        return logits

    def log_probs(self, texts: Sequence[str]) -> Tensor:
        """(texts, labels) in float64 on the CPU, without learning; the model must be in `eval` mode."""
        order = sorted(range(len(texts)), key=lambda number: len(self._framed[texts[number]][0]))
        found: dict[int, Tensor] = {}
        with torch.no_grad():
            for start in range(0, len(order), EVALUATED):
                part = order[start : start + EVALUATED]
                found.update(zip(part, self.logits([texts[number] for number in part]).cpu().double(), strict=True))
        return torch.stack([found[number] for number in range(len(texts))]).log_softmax(-1)


# The folder of a trained classifier: a plain directory for `hf:`, and what it came from.

TRAINING = "training.json"
"""Written last of all: where it stands, the rest is whole."""


def write_result(to: Path, model: Any, tokenizer: Any, document: dict[str, Any]) -> None:
    """Write config.json, model.safetensors, the tokeniser, README.md and, at the end, training.json.

    Args:
        document: completed with the versions of what it was computed with.
    """
    partial = to / "checkpoint" / "result"
    shutil.rmtree(partial, ignore_errors=True)
    with writing(to):
        model.save_pretrained(partial)
        tokenizer.save_pretrained(partial)
        readable = (partial / "config.json").stat().st_mode
        for path in sorted(partial.iterdir()):
            path.chmod(readable)  # safetensors shuts everyone else out
            path.replace(to / path.name)
    document["versions"] = {
        "emotui": __version__,
        "torch": str(torch.__version__),
        "transformers": transformers.__version__,
        "tokenizers": tokenizers.__version__,
        "safetensors": safetensors.__version__,
    }
    write_text(to / "README.md", _readme(to, document))
    write_text(to / TRAINING, json.dumps(document, indent=1, ensure_ascii=False) + "\n")


def read_result(to: Path) -> dict[str, Any] | None:
    """What training.json says, None where there is none. Raises: BadInput where it is no JSON."""
    path = to / TRAINING
    if not path.is_file():
        return None
    try:
        found: object = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path}:1: not JSON ({error})") from None
    if not isinstance(found, dict):
        raise BadInput(f"{path}:1: not an object, as a training writes it")
    return found


def _readme(to: Path, document: Mapping[str, Any]) -> str:
    recipe = document["recipe"]
    lines = [
        f"# {to.resolve().name}",
        "",
        f"A classifier of texts, fine-tuned by emotui {document['versions']['emotui']} from `{document['base']}`.",
        "",
        f"- Labels: {', '.join(map(_plain, document['labels']))}",
        f"- Trained on {document['n']} texts, {document['rephrased']} of them with rephrasings "
        f"({document['rephrasings']} in all); KL term: {recipe['kl'] if document['rephrased'] else 'without effect'}",
        f"- Seed {recipe['seed']}, epoch {document['best_epoch']} of {recipe['epochs']}"
        + (", LoRA of rank " + str(recipe["rank"]) + ", merged" if recipe["lora"] else ""),
    ]
    if document["dev_n"]:
        best = document["epochs"][document["best_epoch"] - 1]
        lines.append(
            f"- Macro-F1 {best['macro_f1']:.3f} on {document['dev_n']} dev texts, by which the epoch was chosen"
        )
    lines += [
        "",
        f"Use: `emotui predict class --model hf:{to} --records FILE`. Arguments, data fingerprints, loss curve and "
        f"versions: `{TRAINING}`.",
        "",
    ]
    return "\n".join(lines)


def _plain(label: str) -> str:
    """A label as it is, but for signs that a terminal or an editor would act on: those are written out."""
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in label)


# The loss of hard emotion test sets (section 5.1): cross-entropy on originals plus a pairwise KL over rephrasings.


def pairwise_kl(log_probs: Tensor, kind: str = "sum") -> Tensor:
    """D_i of one example.

    Args:
        log_probs: (texts, labels), the original first; natural logarithms.
        kind: `sum`, `mean` or `symmetric`.

    Returns:
        One number, 0 or more; 0 for fewer than two texts.
    """
    count = len(log_probs)
    if count < 2:
        return log_probs.sum() * 0.0
    left, right = torch.triu_indices(count, count, offset=1, device=log_probs.device)
    total = _divergence(log_probs[left], log_probs[right]).sum()
    if kind == "symmetric":
        return (total + _divergence(log_probs[right], log_probs[left]).sum()) / 2
    return total / len(left) if kind == "mean" else total


def _divergence(p: Tensor, q: Tensor) -> Tensor:
    """KL of each row of `p` from the same row of `q`, both as logarithms."""
    return (p.exp() * (p - q)).sum(-1)


def cross_entropy(log_probs: Tensor, gold: Tensor, weights: Tensor | None = None) -> Tensor:
    """L_CE. Args: log_probs: (n, labels). gold: (n,) label numbers. weights: (labels,), all 1 by default."""
    picked = -log_probs.gather(1, gold[:, None])[:, 0]
    return (picked if weights is None else picked * weights[gold]).sum()


def terms(
    logits: Tensor,
    gold: Tensor,
    groups: Sequence[Sequence[int]],
    kind: str = "sum",
    weights: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """(L_CE, L_KL) of a batch.

    Args:
        logits: (n + rephrasings, labels): the n originals, then whatever rephrasings they have.
        gold: (n,) label numbers of the originals.
        groups: for each example of B' the rows of its texts, in order.
        kind: one of `KL_TERMS`.
        weights: of the labels, for L_CE.
    """
    log_probs = logits.log_softmax(-1)
    ce = cross_entropy(log_probs[: len(gold)], gold, weights)
    kl = logits.sum() * 0.0
    if kind != "none":
        for rows in groups:
            kl = kl + pairwise_kl(log_probs[list(rows)], kind)
    return ce, kl


# LoRA (Hu et al. 2021) by peft: small matrices beside the base's, the head in full, one plain model at the end.

ALPHA_PER_RANK = 2
"""LoRA's alpha is twice the rank: its matrices count double."""

DROPOUT = 0.05


def check_installed() -> None:
    """Raises: ModelError where peft is not installed."""
    try:
        import peft  # noqa: F401
    except ImportError:
        raise ModelError(f"--lora needs peft, which is not installed: {install('train')}") from None


def with_lora(trainable: Trainable, rank: int) -> Any:
    """The model with LoRA matrices of this rank, which alone are learnt beside the head and other new parts.

    They stand where peft's table has them for this architecture, else beside every linear layer.

    Raises:
        ModelError: peft is not installed, or knows no place for them.
    """
    check_installed()
    from peft import LoraConfig, TaskType, get_peft_model
    from peft.utils import TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING as PLACES

    model = trainable.model
    # What the base's files do not hold (a pooler) is random: frozen it would stay so.
    fresh = {name.rpartition(".")[0] for name in trainable.new if not name.startswith(tuple(_dotted(model)))}
    config = LoraConfig(
        task_type=TaskType.SEQ_CLS,
        r=rank,
        lora_alpha=ALPHA_PER_RANK * rank,
        lora_dropout=DROPOUT,
        target_modules=list(places) if (places := PLACES.get(model.config.model_type)) else "all-linear",
        modules_to_save=[*head_modules(model), *sorted(name for name in fresh if name)],
    )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # peft uses names that transformers is about to give up
            return get_peft_model(model, config)
    except ValueError as error:
        raise ModelError(f"LoRA finds no place in a {type(model).__name__}: {str(error).splitlines()[0]}") from error


def merged(model: Any) -> Any:
    """The plain model, the matrices added into its own."""
    return model.merge_and_unload()


def _dotted(model: Any) -> list[str]:
    return [f"{name}." for name in head_modules(model)]


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
