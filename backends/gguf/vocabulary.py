"""A model's vocabulary: text to token ids and back, with control tokens read only where they are meant."""

import ctypes
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from emotui.backends.gguf.library import Library
from emotui.backends.gguf.weights import Weights
from emotui.backends.rendering import Piece
from emotui.errors import ModelError

_NO_VOCABULARY, _SENTENCEPIECE = 0, 1
_CONTROL, _ADDED = 1 << 3, 1 << 4
_WORDS = re.compile(r"[\w\s]*")


_COMPOSED = ("qwen2", "qwen35", "deepseek-r1-qwen", "stablelm2", "megrez")
"""Pre-tokenisers, as GGUF files name them, of models whose own tokeniser brings a text to NFC first."""


def composes(pre: object) -> bool:
    """Whether a model reads texts in Unicode's NFC, which llama.cpp leaves out. Args: pre: `tokenizer.ggml.pre`."""
    return pre in _COMPOSED


class Vocabulary:
    """The tokens of loaded weights. `bos` and `eos` are -1 where there is none; `composed`: texts are read in NFC."""

    def __init__(self, library: Library, weights: Weights, *, composed: bool = False) -> None:
        self._c = library.c
        self.composed = composed
        self._vocab: Any = self._c.llama_model_get_vocab(weights.model)
        self.size: int = self._c.llama_vocab_n_tokens(self._vocab)
        self.kind: int = self._c.llama_vocab_type(self._vocab)
        if not self.size or self.kind == _NO_VOCABULARY:
            raise ModelError("The file has no vocabulary: this model cannot read text")
        self.bos: int = self._c.llama_vocab_bos(self._vocab)
        self.eos: int = self._c.llama_vocab_eos(self._vocab)
        self.adds_bos: bool = self._c.llama_vocab_get_add_bos(self._vocab)
        self.control = frozenset(number for number in range(self.size) if self._is_control(number))
        """Control tokens, and added ones that are no words (`<think>` is often not marked as control)."""

    def name(self, token: int) -> str:
        """How the vocabulary writes a token, such as `<|end|>`; empty for -1."""
        if token < 0:
            return ""
        text: bytes = self._c.llama_vocab_get_text(self._vocab, token)
        return text.decode("utf-8", "replace")

    def control_names(self) -> Iterator[str]:
        """What the control tokens look like in text."""
        return (self.name(token) for token in self.control)

    def encode(self, text: str, *, control: bool = False, framed: bool = False) -> list[int]:
        """Token ids of a text.

        Args:
            control: whether control tokens are read as such, or as the characters that they are written with.
            framed: whether the tokens that the model wants around a text are added.
        """
        if self.composed:
            text = unicodedata.normalize("NFC", text)
        raw = text.encode("utf-8", "replace")  # half a surrogate pair is no text
        room = len(raw) + 16
        while True:
            ids = (ctypes.c_int32 * room)()
            count = self._c.llama_tokenize(self._vocab, raw, len(raw), ids, room, framed, control)
            if count >= 0:
                return list(ids[:count])
            room = -count

    def encode_framed(self, text: str, most: int) -> list[int]:
        """Token ids of a whole text between what the model wants around it, cut to `most`; the frame stays."""
        ids = self.encode(text, framed=True)
        if len(ids) <= most:
            return ids
        frame = self.encode("", framed=True)
        last = ids[-1:] if len(frame) > 1 and ids[-1] == frame[-1] else []
        return [*ids[: most - len(last)], *last]

    def encode_pieces(self, pieces: Iterable[Piece]) -> list[int]:
        """Token ids of a rendered prompt."""
        ids: list[int] = []
        for piece in pieces:
            ids += self._encode_literal(piece.text) if piece.literal else self.encode(piece.text, control=True)
        return ids

    def encode_inside(self, text: str) -> list[int]:
        """Token ids of what follows another text. SentencePiece vocabularies would put a space before it."""
        if self.kind != _SENTENCEPIECE or not text:
            return self.encode(text)
        # A line break is one token of its own there: what comes after it is tokenised as inside a text.
        marked, mark = self.encode("\n" + text), self.encode("\n")
        return marked[len(mark) :] if marked[: len(mark)] == mark else self.encode(text)

    def _encode_literal(self, text: str) -> list[int]:
        """The characters of a control token's name. llama.cpp reads the added ones (`<think>`) whatever it is told."""
        ids = self.encode(text)
        if self.control.isdisjoint(ids):
            return ids
        return [*self.encode(text[:1]), *self.encode(text[1:])]

    def with_bos(self, ids: Sequence[int]) -> list[int]:
        """The token that begins every text, once, where the model wants one: the template may have written it too."""
        if not self.adds_bos or self.bos < 0:
            return list(ids)
        first = next((place for place, number in enumerate(ids) if number != self.bos), len(ids))
        return [self.bos, *ids[first:]]

    def piece(self, token: int) -> bytes:
        """What a token adds to a text, in UTF-8 (perhaps part of a character); nothing for a control token."""
        room = 64
        while True:
            buffer = ctypes.create_string_buffer(room)
            count = self._c.llama_token_to_piece(self._vocab, token, buffer, room, 0, False)
            if count >= 0:
                return buffer.raw[:count]
            room = -count

    def shown(self, ids: Iterable[int]) -> str:
        """Token ids as text, control tokens by their names."""
        pieces = (self.name(token).encode() if token in self.control else self.piece(token) for token in ids)
        return b"".join(pieces).decode("utf-8", "replace")

    def pieces(self) -> Iterator[tuple[int, str]]:
        """(token id, text) of every token that is text by itself."""
        for token in range(self.size):
            if token not in self.control:
                try:
                    yield token, self.piece(token).decode("utf-8")
                except UnicodeDecodeError:
                    continue

    def ends(self, token: int) -> bool:
        """Whether a turn or a text ends with this token."""
        answer: bool = self._c.llama_vocab_is_eog(self._vocab, token)
        return answer

    @property
    def pointer(self) -> Any:
        """llama.cpp's own, for grammars."""
        return self._vocab

    def _is_control(self, token: int) -> bool:
        kind: int = self._c.llama_vocab_get_attr(self._vocab, token)
        return bool(kind & _CONTROL or (kind & _ADDED and not _WORDS.fullmatch(self.name(token))))
