"""What a model has read: a key-value cache that grows by decoding and can go back to any place."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emotui.backends.gguf.library import Library
from emotui.backends.gguf.settings import Settings
from emotui.backends.gguf.weights import Weights
from emotui.errors import ModelError

KV_TYPES = {"f32": 0, "f16": 1, "q8_0": 8}
Logits = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class ContextSize:
    """`tokens` that fit; `batch`: how many of a prompt are computed at a time."""

    tokens: int
    batch: int


class Context:
    """One sequence of tokens in one model's memory.

    A prompt is always computed in the same steps: `batch` tokens, and again `batch`, from its beginning. Only whole
    steps are taken over from the prompt before, so what was asked earlier never changes a result, not even by rounding.

    Raises:
        ModelError: there is no memory for it.
    """

    def __init__(
        self, library: Library, weights: Weights, size: ContextSize, settings: Settings, vocabulary: int, threads: int
    ) -> None:
        self._library = library
        c = self._c = library.c
        parameters = c.llama_context_default_params()
        parameters.n_ctx = size.tokens
        parameters.n_batch = parameters.n_ubatch = size.batch
        parameters.n_threads = parameters.n_threads_batch = threads
        parameters.type_k = parameters.type_v = KV_TYPES[settings.kv]
        parameters.flash_attn_type = 1 if settings.flash else 0
        library.why()
        self._context: Any = c.llama_init_from_model(weights.model, parameters)
        if not self._context:
            why = library.why()
            raise ModelError(
                f"llama.cpp can make no context of {size.tokens} tokens"
                + (f" ({why})" if why else "")
                + ": ask for less"
            )
        self._memory = c.llama_get_memory(self._context)
        self._batch = c.llama_batch_init(size.batch, 0, 1)
        self._step = size.batch
        self._vocabulary = vocabulary
        self.capacity = size.tokens
        self.tokens: list[int] = []
        self._prompt = 0
        self._after: Logits | None = None

    def close(self) -> None:
        """Free the memory."""
        if self._context:
            self._c.llama_batch_free(self._batch)
            self._c.llama_free(self._context)
            self._context = None

    @property
    def pointer(self) -> Any:
        """llama.cpp's own, for samplers."""
        return self._context

    def read(self, ids: Sequence[int]) -> Logits:
        """Make the memory hold exactly this prompt. Args: ids: one or more. Returns: (vocabulary,), what comes next."""
        shared = 0
        for old, new in zip(self.tokens[: self._prompt], ids, strict=False):
            if old != new:
                break
            shared += 1
        if shared == len(ids) == self._prompt and self._after is not None:
            self.rewind(shared)
            return self._after
        kept = min(shared // self._step * self._step, (len(ids) - 1) // self._step * self._step)
        self._prompt, self._after = 0, None
        self.rewind(kept)
        self._after = self.extend(ids[kept:])
        self._prompt = len(ids)
        return self._after

    def extend(self, ids: Sequence[int]) -> Logits:
        """Read on. Args: ids: one or more. Returns: (vocabulary,), what comes next."""
        for start in range(0, len(ids), self._step):
            self._decode(ids[start : start + self._step], every=False)
        return self._last()

    def extend_all(self, ids: Sequence[int]) -> Logits:
        """Read on. Args: ids: one or more. Returns: (len(ids), vocabulary): after each token, what comes next."""
        rows = []
        for start in range(0, len(ids), self._step):
            part = ids[start : start + self._step]
            self._decode(part, every=True)
            flat = np.ctypeslib.as_array(self._c.llama_get_logits(self._context), shape=(len(part), self._vocabulary))
            rows.append(_numbers(flat.copy()))
        return np.concatenate(rows)

    def rewind(self, length: int) -> None:
        """Forget all but the first `length` tokens."""
        if length == len(self.tokens):
            return
        if not self._c.llama_memory_seq_rm(self._memory, 0, length, -1):
            # A model with a running state cannot go back: it reads the beginning again.
            again = self.tokens[:length]
            self._c.llama_memory_clear(self._memory, True)
            self.tokens = []
            if again:
                self.extend(again)
            return
        del self.tokens[length:]

    def _last(self) -> Logits:
        row = np.ctypeslib.as_array(self._c.llama_get_logits_ith(self._context, -1), shape=(self._vocabulary,))
        return _numbers(row.copy())

    def _decode(self, ids: Sequence[int], *, every: bool) -> None:
        count, start = len(ids), len(self.tokens)
        batch = self._batch
        batch.n_tokens = count
        for place, token in enumerate(ids):
            batch.token[place] = token
            batch.pos[place] = start + place
            batch.n_seq_id[place] = 1
            batch.seq_id[place][0] = 0
            batch.logits[place] = every
        batch.logits[count - 1] = True
        self._library.why()
        code = self._c.llama_decode(self._context, batch)
        if code:
            why = self._library.why() or ("the context is full" if code == 1 else f"code {code}")
            self._c.llama_memory_clear(self._memory, True)
            self.tokens, self._prompt, self._after = [], 0, None
            raise ModelError(f"llama.cpp could not compute: {why}")
        self.tokens.extend(ids)


def _numbers(logits: Logits) -> Logits:
    if np.isnan(logits).any():
        raise ModelError(
            "the model's answer is no numbers: its weights are damaged, or too large for this kv and build"
        )
    return logits
