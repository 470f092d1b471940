"""Texts as token ids for training: framed and cut exactly as `hf:` frames and cuts them when it predicts."""

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor

from emotui.backends.hf.encoders import pads_left, takes_types
from emotui.backends.hf.prompts import Prompts, frame
from emotui.backends.hf.seq2seq import padded
from emotui.backends.tuning.base import Trainable

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
