"""The training loop: adapters and one head, seeded, with a checkpoint after each epoch."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from emotui.backends.base import OnStep
from emotui.backends.embedded import tokens
from emotui.errors import BadInput
from tools.embedded.adapters import adapter_tensors
from tools.embedded.encoder import Encoder


@dataclass(frozen=True)
class Schedule:
    """AdamW with linear warm-up and linear decay; `head_rate` is the head's learning rate, `rate` the adapters'."""

    epochs: int
    rate: float = 1e-3
    head_rate: float = 2e-3
    warm_up: int = 200
    batch: int = 64
    word_dropout: float = 0.0
    """Share of tokens that are replaced by the mask token, drawn anew each time: keeps short texts from being learnt
    by heart."""
    dropout: float = 0.0
    """Dropout of the features that a head sees."""


def near_in_length(lengths: Sequence[int], size: int, rng: random.Random) -> list[list[int]]:
    """Batches of indices in random order, each of texts near in length: sorted within random runs of 50 batches."""
    order = list(range(len(lengths)))
    rng.shuffle(order)
    batches = []
    for first in range(0, len(order), 50 * size):
        run = sorted(order[first : first + 50 * size], key=lambda index: lengths[index])
        batches += [run[start : start + size] for start in range(0, len(run), size)]
    rng.shuffle(batches)
    return batches


def padded(ids: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor | None]:
    """Args: ids: token ids of n texts. Returns: (n, t) ids, and (n, t) True where a token stands (None: everywhere)."""
    rows, lengths = (torch.tensor(values) for values in tokens.padded(ids))
    longest = rows.shape[1]
    return rows, None if (lengths == longest).all() else torch.arange(longest)[None, :] < lengths[:, None]


def fit(
    stage: str,
    encoder: Encoder,
    head: nn.Module,
    ids: Sequence[Sequence[int]],
    loss: Callable[[Tensor, Tensor | None, list[int]], Tensor],
    schedule: Schedule,
    seed: int,
    checkpoint: Path,
    resume: bool,
    progress: OnStep,
) -> None:
    """Trains the adapters in `encoder` and `head` in place.

    Args:
        ids: token ids of each text, with start and end.
        loss: (hidden (n, t, 384), present (n, t) or None, indices of the texts) to one number, the batch's mean loss.
        checkpoint: written after each epoch; with `resume`, training goes on from it to the same result.
    """
    parameters = [parameter for parameter in encoder.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(
        [{"params": parameters, "lr": schedule.rate}, {"params": list(head.parameters()), "lr": schedule.head_rate}],
        weight_decay=0.01,
    )
    steps_an_epoch = -(-len(ids) // schedule.batch)
    total = steps_an_epoch * schedule.epochs

    def share(step: int) -> float:
        return min((step + 1) / schedule.warm_up, max(0.0, (total - step) / max(1, total - schedule.warm_up)))

    decay = torch.optim.lr_scheduler.LambdaLR(optimizer, share)
    first = 0
    if resume and checkpoint.is_file():
        saved = _read(checkpoint)
        first = saved["epoch"]
        encoder.load_state_dict(saved["adapters"], strict=False)
        head.load_state_dict(saved["head"])
        optimizer.load_state_dict(saved["optimizer"])
        decay.load_state_dict(saved["decay"])
    lengths = [len(row) for row in ids]
    for epoch in range(first, schedule.epochs):
        # Order and dropout depend on seed and epoch alone, so a resumed run is the same as an unbroken one.
        torch.manual_seed(seed * 1000 + epoch)
        batches = near_in_length(lengths, schedule.batch, random.Random(seed * 1000 + epoch))
        head.train()
        for number, batch in enumerate(batches):
            read, present = padded([ids[index] for index in batch])
            if schedule.word_dropout:
                hidden_words = (torch.rand(read.shape) < schedule.word_dropout) & (read > tokens.MASK)
                read = read.masked_fill(hidden_words, tokens.MASK)
            value = loss(encoder(read, present), present, batch)
            optimizer.zero_grad(set_to_none=True)
            value.backward()
            torch.nn.utils.clip_grad_norm_([*parameters, *head.parameters()], 5.0)
            optimizer.step()
            decay.step()
            progress(stage, epoch * steps_an_epoch + number + 1, total)
        trained = {name: value for name, value in encoder.named_parameters() if value.requires_grad}
        checkpoint.parent.mkdir(parents=True, exist_ok=True)
        partial = checkpoint.with_suffix(".partial")
        torch.save(
            {
                "epoch": epoch + 1,
                "adapters": trained,
                "head": head.state_dict(),
                "optimizer": optimizer.state_dict(),
                "decay": decay.state_dict(),
            },
            partial,
        )
        partial.replace(checkpoint)
    head.eval()


def _read(checkpoint: Path) -> Any:
    try:
        return torch.load(checkpoint, weights_only=True)
    except Exception as error:  # a damaged file may raise anything there
        why = str(error).splitlines()[0] if str(error) else "it ends too early"
        raise BadInput(f"{checkpoint} cannot be read ({why}): remove it and resume") from None


def trained_tensors(encoder: Encoder, head: nn.Module) -> dict[str, Tensor]:
    """Adapters and head of a task in fp16, as they are committed."""
    tensors = adapter_tensors(encoder) | {f"head.{name}": value for name, value in head.state_dict().items()}
    return {name: tensor.half().contiguous() for name, tensor in tensors.items()}
