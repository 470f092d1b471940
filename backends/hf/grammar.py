"""Grammars (GBNF) that an answer of a transformers model keeps to, held by llguidance where that is installed."""

from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from emotui.backends.base import Generate
from emotui.backends.hf.loading import Loaded
from emotui.errors import ModelError
from emotui.installing import install

_AS_LLAMA_CPP = '%llguidance {"no_forcing": true}'
"""Where only one text can follow, any tokens that spell it are allowed, as llama.cpp does."""

_BOUNDS: NDArray[np.float32] = np.where(
    np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little"), np.inf, -np.inf
).astype(np.float32)
"""(256, 8): for each byte of bits the most that a logit may be. Taking the lesser of both is quicker than filling where
a bit is 0, of which a processor guesses wrong again and again (benchmarks/models/masks.py)."""

_KEPT = 64
"""Grammars that are read once: a task has one or a few, unless each text has its own."""


class Grammars:
    """Makes grammars for one model's vocabulary, which is read when the first is asked for.

    Args:
        ends: tokens that end a text; allowed where the grammar is at an end.
    """

    def __init__(self, loaded: Loaded, ends: frozenset[int]) -> None:
        self._loaded, self._ends = loaded, ends
        self._vocabulary: Any = None
        self._read: dict[str, Any] = {}

    def check(self, texts: Iterable[str | None]) -> None:
        """Raises ModelError where one of these grammars cannot be followed."""
        for text in texts:
            if text is not None:
                self._matcher(text)

    def begin(self, requests: Sequence[Generate]) -> "list[Grammar | None]":
        """Each request's grammar at its beginning; its rule `root` is the whole answer.

        Raises:
            ModelError: llguidance is missing, or cannot read the grammar or this tokeniser.
        """
        return [None if each.grammar is None else Grammar(self._matcher(each.grammar).deep_copy()) for each in requests]

    def _matcher(self, text: str) -> Any:
        if text in self._read:
            return self._read[text]
        if find_spec("llguidance") is None:
            raise ModelError(
                f"hf: models follow a grammar with llguidance: {install('constrain')}, or run without --constrain"
            )
        import llguidance
        from llguidance.gbnf_to_lark import any_to_lark

        if self._vocabulary is None:
            self._vocabulary = self._read_vocabulary()
        try:
            lark = any_to_lark(text).replace("%llguidance {}", _AS_LLAMA_CPP, 1)
        except Exception as error:  # it raises nothing more precise
            raise ModelError(f"the grammar cannot be read: {error}") from None
        matcher = llguidance.LLMatcher(self._vocabulary, lark, log_level=0)
        if matcher.is_error():
            raise ModelError(f"the grammar cannot be read: {matcher.get_error().splitlines()[0]}")
        if len(self._read) >= _KEPT:
            self._read.clear()
        self._read[text] = matcher
        return matcher

    def _read_vocabulary(self) -> Any:
        from llguidance.hf import from_tokenizer

        try:
            return from_tokenizer(self._loaded.tokenizer, eos_token=sorted(self._ends))
        except ValueError as error:
            raise ModelError(f"llguidance cannot read this model's tokeniser: {error}") from None


class Grammar:
    """Where one answer stands in its grammar."""

    def __init__(self, matcher: Any) -> None:
        self._matcher = matcher

    def narrow(self, logits: torch.Tensor) -> None:
        """Make the logits minus infinity where a token may not come next. Args: logits: (vocabulary,), changed.

        Raises:
            ModelError: nothing may.
        """
        bits = self._bits(len(logits))
        if logits.device.type == "cpu":
            bounds = torch.from_numpy(_BOUNDS.take(bits, axis=0)).view(-1)[: len(logits)]
            torch.minimum(logits, bounds.to(logits.dtype), out=logits)
        else:
            # A device is sent the bits, an eighth of what they are unpacked.
            outside = unpacked(torch.from_numpy(bits).to(logits.device))[: len(logits)] == 0
            logits.masked_fill_(outside, float("-inf"))

    def _bits(self, tokens: int) -> NDArray[np.uint8]:
        """Which of so many tokens may come next, the lowest bit first; tokens that the tokeniser has not may never."""
        told = np.frombuffer(self._matcher.compute_bitmask(), np.uint8)
        bits = np.zeros(-(-tokens // 8), np.uint8)
        bits[: len(told)] = told[: len(bits)]
        if tokens % 8:
            bits[-1] &= (1 << tokens % 8) - 1
        if self._matcher.is_error() or not bits.any():
            raise ModelError("the grammar leaves no token that could follow")
        return bits

    def accept(self, token: int) -> None:
        """Go on behind this token, which must be allowed."""
        self._matcher.consume_token(token)


def unpacked(held: torch.Tensor) -> torch.Tensor:
    """The bits of some bytes, each byte's lowest first, on their device."""
    places = torch.arange(8, dtype=torch.uint8, device=held.device)
    return ((held[:, None] >> places) & 1).view(-1)
