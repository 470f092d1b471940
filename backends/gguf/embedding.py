"""GGUF models that turn a text into one vector (BERT's kind, and decoders trained for it)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.filesize import decimal

from emotui.backends.base import Embed, ModelCard, Progress
from emotui.backends.gguf.files import ModelFiles
from emotui.backends.gguf.header import Header
from emotui.backends.gguf.library import cores, open_library
from emotui.backends.gguf.memory import allow_extra_buffers, flash_type, make_plan
from emotui.backends.gguf.settings import Settings
from emotui.backends.gguf.vocabulary import Vocabulary, composes
from emotui.backends.gguf.weights import Weights
from emotui.backends.weights_hash import weights_hash
from emotui.bounded import free_memory
from emotui.errors import ModelError

_MEAN, _CLS, _LAST = 1, 2, 3
_POOLINGS = {_MEAN: "mean", _CLS: "first token", _LAST: "last token"}


def embeds(header: Header) -> bool:
    """Whether the file says how its tokens' vectors become one: then it is a model for embeddings."""
    return header.number("pooling_type", 0) in _POOLINGS


class GgufEmbedder:
    """A loaded model that embeds; a text is computed alone, so what stands beside it does not matter.

    Raises:
        ModelError: it cannot be loaded; one line.
    """

    def __init__(self, spec: str, files: ModelFiles, settings: Settings, progress: Progress) -> None:
        library = open_library()
        plan = make_plan(files, settings, library.gpus(), free_memory())
        flash = flash_type(settings, plan)
        weights_sha = weights_hash(files.parts, progress)
        extra = allow_extra_buffers(library, settings, progress)
        self._weights = Weights(
            library, files.parts[0], gpu_layers=plan.gpu_layers, extra_buffers=extra, progress=progress
        )
        composed = composes(files.header.metadata.get("tokenizer.ggml.pre"))
        self._vocabulary = Vocabulary(library, self._weights, composed=composed)
        self._c = library.c
        self._width: int = self._c.llama_model_n_embd_out(self._weights.model)
        self._context: Any = self._open(plan.context, flash, settings)
        self._batch: Any = self._c.llama_batch_init(plan.context, 0, 1)
        self._capacity = plan.context
        header = files.header
        self.card = ModelCard(
            spec=spec,
            name=header.name,
            capabilities=("embed",),
            identity={
                "kind": "gguf",
                "weights": weights_sha,
                "library": library.build,
                "context": str(plan.context),
                "gpu_layers": str(plan.gpu_layers),
                "flash": str(flash),
                "extra_buffers": str(extra),
                **({"unicode": "NFC"} if composed else {}),
            },
            notes=(
                f"{header.architecture} {header.quantisation}, {decimal(files.size)}, {self._width} dimensions, "
                f"pooling: {_POOLINGS[header.number('pooling_type', 0)]}, texts are cut at {plan.context} tokens",
            ),
        )

    def embed(self, requests: Sequence[Embed]) -> NDArray[np.float32]:
        """One vector of length 1 a text. Returns: (n, d) float32."""
        vectors = np.zeros((len(requests), self._width), np.float32)
        for place, request in enumerate(requests):
            vectors[place] = self._one(self._vocabulary.encode_framed(request.text, self._capacity))
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        lengths[lengths == 0] = 1
        vectors /= lengths
        return vectors

    def close(self) -> None:
        """Free the memory."""
        if self._context:
            self._c.llama_batch_free(self._batch)
            self._c.llama_free(self._context)
            self._context = None
        self._weights.close()

    def _open(self, context: int, flash: int, settings: Settings) -> Any:
        parameters = self._c.llama_context_default_params()
        # A model that looks both ways needs the whole text in one step.
        parameters.n_ctx = parameters.n_batch = parameters.n_ubatch = context
        parameters.n_threads = parameters.n_threads_batch = settings.threads or cores()
        parameters.flash_attn_type = flash
        parameters.embeddings = True
        opened = self._c.llama_init_from_model(self._weights.model, parameters)
        if not opened:
            raise ModelError(f"llama.cpp can make no context of {context} tokens: ask for less")
        return opened

    def _one(self, ids: Sequence[int]) -> NDArray[np.float32]:
        """(d,), not yet of length 1; zeros for a text without a token."""
        if not ids:
            return np.zeros(self._width, np.float32)
        memory = self._c.llama_get_memory(self._context)
        if memory:
            self._c.llama_memory_clear(memory, True)
        for place, token in enumerate(ids):
            self._batch.token[place] = token
            self._batch.pos[place] = place
            self._batch.n_seq_id[place] = 1
            self._batch.seq_id[place][0] = 0
            self._batch.logits[place] = True
        self._batch.n_tokens = len(ids)
        if code := self._c.llama_decode(self._context, self._batch):
            raise ModelError(f"llama.cpp could not embed a text of {len(ids)} tokens: code {code}")
        pointer = self._c.llama_get_embeddings_seq(self._context, 0)
        if not pointer:
            raise ModelError("llama.cpp gives no vector for a whole text of this model")
        return np.ctypeslib.as_array(pointer, shape=(self._width,)).copy()
