"""Training adapters and one linear head for a label set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from emotui.backends.base import OnStep
from emotui.backends.embedded.encoder import WIDTH
from emotui.backends.embedded.tokens import WordPieces
from tools.embedded.adapters import with_adapters
from tools.embedded.data import Labelled
from tools.embedded.encoder import Encoder, pooled
from tools.embedded.loop import Schedule, fit, trained_tensors

LONGEST = 64


def targets(examples: Sequence[Labelled], labels: int) -> Tensor:
    """(n, labels) of 0 and 1."""
    table = torch.zeros(len(examples), labels)
    for row, example in enumerate(examples):
        table[row, list(example.labels)] = 1
    return table


def train_labels(
    stage: str,
    base: Encoder,
    pieces: WordPieces,
    examples: Sequence[Labelled],
    labels: int,
    schedule: Schedule,
    seed: int,
    folder: Path,
    resume: bool,
    progress: OnStep,
    start: Mapping[str, Tensor] | None = None,
    product: torch.dtype = torch.float32,
) -> dict[str, Tensor]:
    """Adapters (new, or from `start`) and a head over mean and maximum, by the sum over labels of cross-entropy.

    Returns: the tensors to commit, fp16. The checkpoint of each epoch lies in `folder`.
    """
    torch.manual_seed(seed)
    encoder = with_adapters(base, start, product)
    table = targets(examples, labels)
    head = nn.Linear(2 * WIDTH, labels)
    share = table.mean(0).clamp(1e-4, 1 - 1e-4)
    with torch.no_grad():  # the prior log-odds, so that the first steps are not spent on the labels' frequencies
        head.weight.mul_(0.1)
        head.bias.copy_(torch.logit(share))

    def loss(hidden: Tensor, present: Tensor | None, batch: list[int]) -> Tensor:
        logits = head(F.dropout(pooled(hidden, present), schedule.dropout))
        return F.binary_cross_entropy_with_logits(logits, table[batch], reduction="sum") / len(batch)

    ids = pieces.ids([example.text for example in examples], LONGEST)
    fit(stage, encoder, head, ids, loss, schedule, seed, folder / f"{stage}.checkpoint", resume, progress)
    return trained_tensors(encoder, head)
