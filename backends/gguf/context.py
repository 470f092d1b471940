"""What a model has read: a key-value cache that grows by decoding and can go back to any place."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emotui.backends import stopping
from emotui.backends.gguf.library import Library
from emotui.backends.gguf.settings import Settings
from emotui.backends.gguf.weights import Weights
from emotui.errors import ModelError

KV_TYPES = {"f32": 0, "f16": 1, "q8_0": 8}
Logits = NDArray[np.float32]
BRANCHES = 16
"""How many endings of one text are computed at a time, at most."""


@dataclass(frozen=True, slots=True)
class ContextSize:
    """`tokens` that fit; `batch`: how many of a prompt are computed at a time; `flash`: llama.cpp's number for it."""

    tokens: int
    batch: int
    flash: int = 0


class Context:
    """One sequence of tokens in one model's memory.

    A prompt is always computed in the same steps: `batch` tokens, and again `batch`, from its beginning. Only whole
    steps are taken over from the prompt before, so what was asked earlier never changes a result, not even by rounding.

    Args:
        sequences: how many can be read on side by side, each with room of its own for `size.tokens`, so that none looks
            through what the others hold; 0: up to 16, and all share that room.

    Raises:
        ModelError: there is no memory for it.
    """

    def __init__(
        self,
        library: Library,
        weights: Weights,
        size: ContextSize,
        settings: Settings,
        vocabulary: int,
        threads: int,
        *,
        sequences: int = 0,
    ) -> None:
        self._library = library
        c = self._c = library.c
        parameters = c.llama_context_default_params()
        # A running state cannot be shared by several endings: such models read one after the other.
        plain = not c.llama_model_is_recurrent(weights.model) and not c.llama_model_is_hybrid(weights.model)
        most = min(sequences or BRANCHES, size.batch - 1)  # llama.cpp wants a batch to hold them all
        self._branches = most if plain else 0
        self.shared = not sequences
        """Whether all sequences together have room for `capacity` tokens, or each for so many."""
        parameters.n_seq_max = 1 + self._branches
        parameters.kv_unified = self.shared
        parameters.n_ctx = size.tokens if self.shared else parameters.n_seq_max * size.tokens
        parameters.n_batch = parameters.n_ubatch = size.batch
        parameters.n_threads = parameters.n_threads_batch = threads
        parameters.type_k = parameters.type_v = KV_TYPES[settings.kv]
        parameters.flash_attn_type = size.flash
        library.why()
        self._context: Any = c.llama_init_from_model(weights.model, parameters)
        if not self._context:
            why = library.why()
            raise ModelError(
                f"llama.cpp can make no context of {size.tokens} tokens"
                + (f" ({why})" if why else "")
                + ": ask for less"
            )
        self._unwanted = c.ggml_abort_callback(lambda _: stopping.unwanted())  # llama.cpp keeps the pointer only
        c.llama_set_abort_callback(self._context, self._unwanted, None)
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
            stopping.check()
            self._decode(ids[start : start + self._step], every=False)
        return self._last()

    def extend_all(self, ids: Sequence[int]) -> Logits:
        """Read on. Args: ids: one or more. Returns: (len(ids), vocabulary): after each token, what comes next."""
        rows = []
        for start in range(0, len(ids), self._step):
            stopping.check()
            part = ids[start : start + self._step]
            self._decode(part, every=True)
            flat = np.ctypeslib.as_array(self._c.llama_get_logits(self._context), shape=(len(part), self._vocabulary))
            rows.append(_numbers(flat.copy()))
        return np.concatenate(rows)

    def branch(self, endings: Sequence[Sequence[int]], *, every: bool = False) -> list[Logits]:
        """Read each ending as if it alone came next, several at a time; the memory stays as it is.

        Args:
            endings: one token or more each.
            every: what comes next after each token, not only after the last.

        Returns: for each ending (vocabulary,), or (tokens, vocabulary).
        """
        found: list[Logits] = []
        group: list[Sequence[int]] = []
        room = min(self._step, self.capacity - len(self.tokens))
        for ending in endings:
            if group and (len(group) == self._branches or sum(map(len, group)) + len(ending) > room):
                found += self._read_group(group, every)
                group = []
            if self._branches == 0 or len(ending) > room:
                found.append(self._read_alone(ending, every))
            else:
                group.append(ending)
        return found + (self._read_group(group, every) if group else [])

    def _read_alone(self, ending: Sequence[int], every: bool) -> Logits:
        length = len(self.tokens)
        row = self.extend_all(ending) if every else self.extend(ending)
        self.rewind(length)
        return row

    def _read_group(self, endings: Sequence[Sequence[int]], every: bool) -> list[Logits]:
        stopping.check()
        start, place = len(self.tokens), 0
        asked: list[list[int]] = []
        for sequence, ending in enumerate(endings, 1):
            self._c.llama_memory_seq_cp(self._memory, 0, sequence, 0, start)
            for offset, token in enumerate(ending):
                self._put(place + offset, token, start + offset, sequence, every or offset == len(ending) - 1)
            asked.append([place + offset for offset in range(0 if every else len(ending) - 1, len(ending))])
            place += len(ending)
        self._run(place)
        rows = [np.stack([self._row(index) for index in places]) for places in asked]
        for sequence in range(1, len(endings) + 1):
            self._c.llama_memory_seq_rm(self._memory, sequence, -1, -1)
        return rows if every else [row[0] for row in rows]

    @property
    def branches(self) -> int:
        """How many sequences can be read on side by side (`keep_as`); 0 where a model can read one alone."""
        return self._branches

    def keep_as(self, sequence: int) -> None:
        """What the memory holds is the beginning of a sequence of its own too, from 1 to `branches`."""
        if self._branches:
            self._copy(0, sequence)

    def move(self, source: int, to: int) -> None:
        """Give a sequence another number, from 1 to `branches`, which no other has."""
        self._copy(source, to)
        self.drop(source)

    def step(self, following: Sequence[tuple[int, int, int]]) -> list[Logits]:
        """Read one token more of each of some sequences: the sequence, the token's place in it, and the token.

        Where a model reads one sequence alone, that is the memory itself.

        Returns: for each (vocabulary,), what comes next.
        """
        if not self._branches:
            return [self.extend([token]) for _, _, token in following]
        stopping.check()
        for place, (sequence, position, token) in enumerate(following):
            self._put(place, token, position, sequence, True)
        self._run(len(following))
        return [self._row(place) for place in range(len(following))]

    def drop(self, sequence: int) -> None:
        """Forget a sequence."""
        if self._branches:
            self._c.llama_memory_seq_rm(self._memory, sequence, -1, -1)

    def _copy(self, source: int, to: int) -> None:
        # Rooms of their own are copied whole, and nothing else can be; a shared one is marked as theirs too.
        self._c.llama_memory_seq_cp(self._memory, source, to, -1, -1)

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
        return self._row(-1)

    def _row(self, index: int) -> Logits:
        row = np.ctypeslib.as_array(self._c.llama_get_logits_ith(self._context, index), shape=(self._vocabulary,))
        return _numbers(row.copy())

    def _decode(self, ids: Sequence[int], *, every: bool) -> None:
        start, last = len(self.tokens), len(ids) - 1
        for place, token in enumerate(ids):
            self._put(place, token, start + place, 0, every or place == last)
        self._run(len(ids))
        self.tokens.extend(ids)

    def _put(self, place: int, token: int, position: int, sequence: int, wanted: bool) -> None:
        batch = self._batch
        batch.token[place] = token
        batch.pos[place] = position
        batch.n_seq_id[place] = 1
        batch.seq_id[place][0] = sequence
        batch.logits[place] = wanted

    def _run(self, count: int) -> None:
        """Compute the first `count` places of the batch. What fails costs the sequences in it, and no other."""
        batch = self._batch
        batch.n_tokens = count
        self._library.why()
        code = self._c.llama_decode(self._context, batch)
        if code:
            why = self._library.why() or ("the context is full" if code == 1 else f"code {code}")
            for sequence in {batch.seq_id[place][0] for place in range(count)}:
                self._c.llama_memory_seq_rm(self._memory, sequence, -1, -1)
                if sequence == 0:
                    self.tokens, self._prompt, self._after = [], 0, None
            stopping.check()  # in the middle of a step, where it is no longer wanted
            raise ModelError(f"llama.cpp could not compute: {why}")


def _numbers(logits: Logits) -> Logits:
    if np.isnan(logits).any():
        raise ModelError(
            "the model's answer is no numbers: its weights are damaged, or too large for this kv and build"
        )
    return logits
