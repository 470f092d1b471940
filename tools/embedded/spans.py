"""Training adapters and a token head that tells the words of emotion evidence from the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from emotui.backends.base import OnStep
from emotui.backends.embedded.encoder import WIDTH
from emotui.backends.embedded.tokens import END, START, WordPieces
from tools.embedded.adapters import with_adapters
from tools.embedded.data import Passage
from tools.embedded.encoder import Encoder
from tools.embedded.loop import Schedule, fit, trained_tensors

LONGEST = 256
UNSCORED = -1.0


def token_targets(offsets: Sequence[tuple[int, int]], passage: Passage) -> list[tuple[float, float]]:
    """For each word piece: whether it overlaps a span, and whether a span begins in it; start and end are unscored."""
    rows = [
        (
            float(any(start < e and s < end for s, e in passage.spans)),
            float(any(start <= s < end for s, _ in passage.spans)),
        )
        for start, end in offsets
    ]
    return [(UNSCORED, UNSCORED), *rows, (UNSCORED, UNSCORED)]


def train_spans(
    stage: str,
    base: Encoder,
    pieces: WordPieces,
    passages: Sequence[Passage],
    schedule: Schedule,
    seed: int,
    folder: Path,
    resume: bool,
    progress: OnStep,
    start: Mapping[str, Tensor],
    product: torch.dtype = torch.float32,
) -> dict[str, Tensor]:
    """Adapters that begin as `start`, and a linear head on tokens (inside a span, begins one), by mean cross-entropy.

    Where `start` has a token head of its own, training goes on from it. Returns: the tensors to commit, fp16.
    """
    torch.manual_seed(seed)
    encoder = with_adapters(base, start, product)
    head = nn.Linear(WIDTH, 2)
    with torch.no_grad():
        if start["head.bias"].shape == head.bias.shape:
            head.weight.copy_(start["head.weight"])
            head.bias.copy_(start["head.bias"])
        else:
            head.weight.mul_(0.1)
            head.bias.fill_(-3.0)
    ids, inside = [], []
    for encoding, passage in zip(pieces.encode([passage.text for passage in passages]), passages, strict=True):
        ids.append([START, *encoding.ids[: LONGEST - 2], END])
        inside.append(token_targets(encoding.offsets[: LONGEST - 2], passage))

    def loss(hidden: Tensor, present: Tensor | None, batch: list[int]) -> Tensor:
        wanted = torch.full((*hidden.shape[:2], 2), UNSCORED)
        for row, index in enumerate(batch):
            wanted[row, : len(inside[index])] = torch.tensor(inside[index])
        scored = wanted != UNSCORED
        return F.binary_cross_entropy_with_logits(head(F.dropout(hidden, 0.1))[scored], wanted[scored])

    fit(stage, encoder, head, ids, loss, schedule, seed, folder / f"{stage}.checkpoint", resume, progress)
    return trained_tensors(encoder, head)
