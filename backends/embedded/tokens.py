"""Word pieces with their places in the text, and batches of texts near in length."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

PAD = 0
START = 101
END = 102
MASK = 103
MASK_NAME = "[MASK]"
"""How MiniLM's vocabulary has it."""

BATCH = 32
"""Texts that are read together at most."""


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

    def ids(self, texts: Sequence[str], longest: int, masks: Sequence[str] = ()) -> list[list[int]]:
        """Token ids of each text with start and end, cut to `longest` tokens in all.

        Args:
            masks: of each text what stands in it for the mask token; empty, or none: nothing does.
        """
        return [[START, *ids[: longest - 2], END] for ids in self.bare(texts, masks)]

    def bare(self, texts: Sequence[str], masks: Sequence[str] = ()) -> list[list[int]]:
        """Token ids of each whole text, without start and end. Args: as of `ids`."""
        every = [text.split(mask) if mask else [text] for text, mask in zip_longest(texts, masks, fillvalue="")]
        read = iter(self.encode([part for parts in every for part in parts]))
        found = []
        for parts in every:
            ids = list(next(read).ids)
            for _ in parts[1:]:
                ids += [MASK, *next(read).ids]
            found.append(ids)
        return found


def batches_by_length(lengths: Sequence[int], tokens: int) -> Iterator[list[int]]:
    """Indices in batches, longest first, so that little is padded and memory fails at once.

    Args:
        tokens: of a batch at most, with what is padded; a longer text is read alone.
    """
    order = sorted(range(len(lengths)), key=lambda index: -lengths[index])
    first = 0
    while first < len(order):
        size = max(1, min(BATCH, tokens // lengths[order[first]]))
        yield order[first : first + size]
        first += size


def padded(ids: Sequence[Sequence[int]]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Args: ids: token ids of n texts. Returns: (n, t) ids, and (n,) how many of each row are the text's."""
    lengths = np.array([len(row) for row in ids], np.int32)
    batch = np.full((len(ids), int(lengths.max())), PAD, np.int64)
    for row, tokens in enumerate(ids):
        batch[row, : len(tokens)] = tokens
    return batch, lengths
