"""Word pieces with their places in the text, and batches of texts near in length."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
from tokenizers import Encoding, Tokenizer
from torch import Tensor

PAD = 0
START = 101
END = 102
MASK = 103


class WordPieces:
    """MiniLM's tokenizer. Nothing is cut or padded here: whoever batches decides on that."""

    def __init__(self, path: Path) -> None:
        self._tokenizer = Tokenizer.from_file(str(path))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        # A text that says "[SEP]" or "[MASK]" says it in plain letters; it must not become a control token.
        self._tokenizer.encode_special_tokens = True

    def encode(self, texts: Sequence[str]) -> list[Encoding]:
        """Word pieces of each text, without start and end; `offsets` are code points into the text, half open."""
        encodings: list[Encoding] = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return encodings

    def ids(self, texts: Sequence[str], longest: int) -> list[list[int]]:
        """Token ids of each text with start and end, cut to `longest` tokens in all."""
        return [[START, *encoding.ids[: longest - 2], END] for encoding in self.encode(texts)]


def batches_by_length(lengths: Sequence[int], size: int) -> Iterator[list[int]]:
    """Indices in batches of at most `size`, longest first, so that little is padded and memory fails at once."""
    order = sorted(range(len(lengths)), key=lambda index: -lengths[index])
    for first in range(0, len(order), size):
        yield order[first : first + size]


def padded(ids: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor | None]:
    """Args: ids: token ids of n texts. Returns: (n, t) ids, and (n, t) True where a token stands (None: everywhere)."""
    longest = max(map(len, ids))
    if all(len(row) == longest for row in ids):
        return torch.tensor(ids), None
    batch = torch.full((len(ids), longest), PAD)
    for row, tokens in enumerate(ids):
        batch[row, : len(tokens)] = torch.tensor(tokens)
    return batch, torch.arange(longest)[None, :] < torch.tensor([len(row) for row in ids])[:, None]
