"""A grammar (GBNF) that an answer keeps to, held by llama.cpp."""

import ctypes

import numpy as np

from emotui.backends.gguf.context import Logits
from emotui.backends.gguf.library import Library
from emotui.backends.gguf.vocabulary import Vocabulary
from emotui.errors import ModelError

_ENTRY = np.dtype([("id", np.intc), ("logit", np.single), ("p", np.single)], align=True)


class Grammar:
    """Where one answer stands in a grammar. Its rule `root` is the whole answer.

    Raises:
        ModelError: llama.cpp cannot read it.
    """

    def __init__(self, library: Library, vocabulary: Vocabulary, text: str) -> None:
        self._c = library.c
        self._entries = np.zeros(vocabulary.size, dtype=_ENTRY)
        self._numbers = np.arange(vocabulary.size, dtype=np.intc)
        library.why()
        self._sampler = self._c.llama_sampler_init_grammar(vocabulary.pointer, text.encode(), b"root")
        if not self._sampler:
            why = library.why()
            raise ModelError("llama.cpp cannot read the grammar" + (f": {why}" if why else ""))

    def close(self) -> None:
        """Free llama.cpp's part."""
        if self._sampler:
            self._c.llama_sampler_free(self._sampler)
            self._sampler = None

    def allows(self, token: int) -> bool:
        """Whether this token may come next. Far quicker than `narrow`."""
        self._entries[0] = (token, 0.0, 0.0)
        self._apply(1)
        return bool(np.isfinite(self._entries["logit"][0]))

    def narrow(self, logits: Logits) -> Logits:
        """The logits with minus infinity where a token may not come next. Args and returns: (vocabulary,).

        Raises:
            ModelError: nothing may.
        """
        self._entries["id"] = self._numbers
        self._entries["logit"] = logits
        self._apply(len(self._entries))
        allowed: Logits = self._entries["logit"].copy()
        if not np.isfinite(allowed).any():
            raise ModelError("the grammar leaves no token that could follow")
        return allowed

    def accept(self, token: int) -> None:
        """Go on behind this token, which must be allowed."""
        self._c.llama_sampler_accept(self._sampler, token)

    def _apply(self, count: int) -> None:
        data = self._entries.ctypes.data_as(self._c.llama_token_data_p)
        array = self._c.llama_token_data_array(data=data, size=count, selected=-1, sorted=False)
        self._c.llama_sampler_apply(self._sampler, ctypes.byref(array))
