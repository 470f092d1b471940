"""What classifiers, masked-word models and embedders share: framed texts through an encoder, in batches."""

from collections.abc import Callable, Sequence
from typing import Any

import torch

from emotui.backends.hf.batching import TOKENS, Batches
from emotui.backends.hf.loading import Loaded
from emotui.backends.hf.seq2seq import padded
from emotui.backends.hf.settings import Settings
from emotui.errors import ModelError

Framed = tuple[list[int], list[int]]
"""Token ids and token types of one input."""


class Encoder:
    """A model that reads whole texts at once."""

    def __init__(self, loaded: Loaded, settings: Settings) -> None:
        self.loaded = loaded
        self._batches = Batches(settings.batch_tokens or TOKENS.get(loaded.device.type, TOKENS["cpu"]))
        self.takes_types = takes_types(loaded.config, loaded.tokenizer)
        self._left = pads_left(loaded.config)

    @property
    def budget(self) -> int:
        """Tokens that one batch may have."""
        return self._batches.tokens

    def run(
        self,
        inputs: Sequence[Framed],
        read: Callable[[Any, torch.Tensor, list[int]], Sequence[Any]],
        *,
        states: bool = False,
    ) -> list[Any]:
        """Every input through the model.

        Args:
            states: only up to the tokens' last states, without the head: over a large vocabulary that is most of it.
            read: from the model's output, the mask (rows, tokens) and the rows' indices to one result a row.

        Raises:
            ModelError: not even one input fits into memory.
        """

        @torch.inference_mode()
        def compute(indices: list[int]) -> Sequence[Any]:
            pad = self.loaded.tokenizer.pad_token_id or 0
            ids, mask = padded([inputs[index][0] for index in indices], pad, self.loaded.device, left=self._left)
            more: dict[str, Any] = {}
            if self.takes_types:
                types = [inputs[index][1] for index in indices]
                more["token_type_ids"], _ = padded(types, 0, self.loaded.device, left=self._left)
            model = self.loaded.model.base_model if states else self.loaded.model
            out = model(input_ids=ids, attention_mask=mask, **more)
            return read(out, mask, indices)

        def refuse(why: str) -> Any:
            raise ModelError(why)

        return self._batches.run([len(ids) for ids, _ in inputs], compute, refuse)


def takes_types(config: Any, tokenizer: Any) -> bool:
    """Whether a model is told which of two texts a token is of: it knows several types, and its tokeniser names them.

    One that names none was made for models that saw every token as of the first type.
    """
    return int(getattr(config, "type_vocab_size", 0) or 0) > 1 and "token_type_ids" in tokenizer.model_input_names


def pads_left(config: Any) -> bool:
    """Whether a model's batches are padded on the left: XLNet sums a text up at the last place, padding or not."""
    return str(getattr(config, "model_type", "")) == "xlnet"
