"""Texts in Unicode's NFC where the model's own tokeniser reads them so, and llama.cpp does not."""

import ctypes
from types import SimpleNamespace
from typing import Any

import pytest

from emotui.backends.gguf.vocabulary import Vocabulary, composes


class Library:
    """llama.cpp's part, with a token for each byte."""

    def __init__(self) -> None:
        self.c = self

    def __getattr__(self, name: str) -> Any:
        return {
            "llama_vocab_n_tokens": lambda vocab: 256,
            "llama_vocab_type": lambda vocab: 2,
            "llama_vocab_get_attr": lambda vocab, token: 0,
        }.get(name, lambda *args: -1)

    def llama_tokenize(self, vocab: Any, raw: bytes, size: int, ids: ctypes.Array[Any], *rest: Any) -> int:
        ids[:size] = list(raw)
        return size


@pytest.mark.parametrize(("pre", "expected"), [("qwen2", b"\xc3\xa9"), ("llama-bpe", b"e\xcc\x81")])
def test_qwen_reads_an_accent_and_its_letter_as_one_sign(pre: str, expected: bytes) -> None:
    vocabulary = Vocabulary(Library(), SimpleNamespace(model=None), composed=composes(pre))  # type: ignore[arg-type]
    assert bytes(vocabulary.encode("e\u0301")) == expected
