"""Which words an answer follows, by its gradient: gradient times input, and integrated gradients (captum).

What is traced is the same number as where a word is left out: the label's log-odds. It is followed down to the
embeddings of the text's own tokens; what stands around them, and where each token stands, is held as it is.

Sources: Simonyan and others 2014, Shrikumar and others 2016 (gradient times input); Sundararajan, Taly and Yan 2017
(integrated gradients, completeness).
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from emotui.backends.base import Attribute, Attribution, Refused
from emotui.backends.hf.encoders import Encoder
from emotui.backends.hf.prompts import Frame, Prompts
from emotui.backends.hf.span_models import Token, needs_offsets, read_tokens
from emotui.backends.words import word_places
from emotui.errors import ModelError
from emotui.installing import check_captum

Odds = Callable[[torch.Tensor], torch.Tensor]
"""From logits (rows, outputs) in float64 to the number that is traced, (rows,)."""


def by_word(
    values: Sequence[float], tokens: Sequence[Token], words: Sequence[tuple[int, int]]
) -> tuple[tuple[tuple[int, int, float], ...], float]:
    """The sum over the tokens of each word that has one, and the sum over the tokens of none (signs between words).

    A token is of the word in which most of its letters stand, the first of several: so the sums come to that of all.
    """
    sums: dict[tuple[int, int], float] = {}
    rest = 0.0
    for value, token in zip(values, tokens, strict=True):
        shared = [min(token.end, end) - max(token.start, start) for start, end in words]
        best = max(range(len(words)), key=lambda at: (shared[at], -at), default=None)
        if best is None or shared[best] <= 0:
            rest += value
        else:
            sums[words[best]] = sums.get(words[best], 0.0) + value
    return tuple((*word, sums[word]) for word in words if word in sums), rest


class Tracer:
    """A classifier's answers, followed back to words.

    Args:
        frame: of the texts that the model reads together, the traced one first.
        mask: whether the tokeniser's mask token is one that the model has learnt from.
    """

    def __init__(self, encoder: Encoder, prompts: Prompts, frame: Frame, *, mask: bool) -> None:
        self._encoder, self._prompts, self._frame = encoder, prompts, frame
        tokenizer = encoder.loaded.tokenizer
        named = (tokenizer.mask_token_id if mask else None, tokenizer.pad_token_id, tokenizer.unk_token_id)
        self._blank = next((int(token) for token in named if token is not None), None)

    def trace(self, request: Attribute, label: str, odds: Odds, *behind: Sequence[int]) -> Attribution | Refused:
        """What each word adds to the label's log-odds.

        Args:
            behind: the tokens of what is read behind the text.

        Raises:
            ModelError: captum is not installed, or the tokeniser does not say where its tokens stand.
        """
        check_captum()
        needs_offsets(self._prompts.tokenizer, "this model")
        limit = self._encoder.loaded.context
        room = None if limit is None else max(0, limit - self._frame.extra - sum(map(len, behind)))
        tokens = read_tokens(self._prompts, request.text)
        cut, tokens = room is not None and len(tokens) > room, tokens[:room]
        if not tokens:
            return Refused("the text has no token")
        ids, kinds = self._frame.ids([token.id for token in tokens], *behind)
        first = len(self._frame.around[0])
        values, whole, without = self._traced(ids, kinds, slice(first, first + len(tokens)), odds, request)
        words, rest = by_word(values, tokens, word_places(request.text))
        return Attribution(label, words, whole, without, rest, cut)

    def _traced(
        self, ids: Sequence[int], kinds: Sequence[int], own: slice, odds: Odds, request: Attribute
    ) -> tuple[list[float], float, float]:
        """Of each of the text's tokens; and the number that is traced, of the text and of what it is set against."""
        from captum.attr import LayerGradientXActivation, LayerIntegratedGradients

        loaded = self._encoder.loaded
        table = loaded.model.get_input_embeddings()
        read = torch.tensor([list(ids)], device=loaded.device)
        more = (torch.tensor([list(kinds)], device=loaded.device),) if self._encoder.takes_types else ()

        def forward(read: torch.Tensor, *types: torch.Tensor) -> torch.Tensor:
            named = {"token_type_ids": types[0]} if types else {}
            return odds(loaded.model(input_ids=read, attention_mask=torch.ones_like(read), **named).logits.double())

        with torch.no_grad():
            whole = float(forward(read, *more))
            against, reference = table(read).clone(), read.clone()
            if request.method == "gradient":
                against[:, own] = 0
            else:
                if self._blank is None:
                    raise ModelError("this model has no token that says nothing: there is nothing to integrate from")
                reference[:, own] = self._blank
                against[:, own] = table(reference)[:, own]
            with _embedded(table, against):
                nothing = float(forward(read, *more))
        with torch.enable_grad():
            if request.method == "gradient":
                found = LayerGradientXActivation(forward, table).attribute(read, additional_forward_args=more or None)
            else:
                found = LayerIntegratedGradients(forward, table).attribute(
                    read,
                    baselines=reference,
                    additional_forward_args=more or None,
                    n_steps=request.steps,
                    internal_batch_size=max(1, self._encoder.budget // read.shape[1]),
                )
        values: list[float] = found[0, own].detach().double().sum(-1).tolist()
        return values, whole, nothing


@contextmanager
def _embedded(table: Any, states: torch.Tensor) -> Iterator[None]:
    """While the body runs, the embeddings of whatever is read are these."""
    handle = table.register_forward_hook(lambda *_: states)
    try:
        yield
    finally:
        handle.remove()
