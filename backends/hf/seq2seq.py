"""Encoder-decoder models (T5, Flan-T5, BART): the prompt is read by the encoder, and the decoder writes the answer.

An encoder reads a prompt in both directions, so questions cannot share its beginning; continuations of one prompt can.
"""

from collections.abc import Sequence
from typing import Any

import torch
from transformers.modeling_outputs import BaseModelOutput

from emotui.backends import yesno
from emotui.backends.base import Generate, Generation, Message, ModelCard, Rank, Ranked, Refused, Score, Scores
from emotui.backends.hf.batching import TOKENS, Batches
from emotui.backends.hf.causal import (
    answered,
    as_ranked,
    as_scores,
    echoed,
    end_tokens,
    rank_tokens,
    too_long,
)
from emotui.backends.hf.grammar import Grammars
from emotui.backends.hf.loading import Loaded
from emotui.backends.hf.prefix import keep_rows
from emotui.backends.hf.prompts import Frame, Prompts, frame
from emotui.backends.hf.settings import Settings
from emotui.backends.hf.writing.decoding import write
from emotui.backends.rendering import with_question
from emotui.errors import ModelError


class Seq2Seq:
    """An encoder-decoder model behind the protocol.

    Args:
        card: with capabilities `generate`, `score` and `rank`.
    """

    def __init__(self, card: ModelCard, loaded: Loaded, prompts: Prompts, settings: Settings) -> None:
        self.card = card
        self._loaded, self._prompts = loaded, prompts
        self._frame: Frame = frame(loaded.tokenizer, 1)
        self._ends = end_tokens(loaded)
        self._grammars = Grammars(loaded, self._ends)
        self._start = _start_token(loaded)
        self._batches = Batches(settings.batch_tokens or TOKENS.get(loaded.device.type, TOKENS["cpu"]))
        self._forms: yesno.Forms | None = None

    def generate(self, requests: Sequence[Generate]) -> list[Generation | Refused]:
        """Write, in batches; what a request gets depends on its prompt and seed alone, up to rounding.

        Raises:
            ModelError: a grammar cannot be followed.
        """
        prompts = [self._prompt(request.messages) for request in requests]
        self._grammars.check(request.grammar for request in requests)

        def batch(indices: list[int]) -> list[Generation]:
            return self._write([requests[index] for index in indices], [_ids(prompts[index]) for index in indices])

        sizes = [
            len(ids) + request.max_tokens
            for ids, request in zip(prompts, requests, strict=True)
            if not isinstance(ids, Refused)
        ]
        return echoed(requests, prompts, answered(prompts, sizes, batch, self._batches), self._prompts)

    def score(self, requests: Sequence[Score]) -> list[Scores | Refused]:
        """Log-probabilities of yes and of no as the first token (after the opening) of the decoder.

        Raises:
            ModelError: the vocabulary has no one-token yes or no.
        """
        if self._forms is None:
            self._forms = yesno.find_forms(self._prompts.vocabulary())
        forms = self._forms
        wanted = torch.tensor([*forms.yes, *forms.no])
        asked = [
            (place, self._question(request, question), request.opening)
            for place, request in enumerate(requests)
            for question in request.questions
        ]

        def batch(indices: list[int]) -> list[list[float]]:
            chosen = [asked[index] for index in indices]
            begins = [[self._start, *self._prompts.text(opening)] for _, _, opening in chosen]
            logits = self._logits([_ids(prompt) for _, prompt, _ in chosen], begins)
            rows = []
            for row, begin in zip(logits, begins, strict=True):
                last = row[len(begin) - 1].float()
                rows.append((last[wanted.to(last.device)] - last.logsumexp(-1)).tolist())
            return rows

        sizes = [len(prompt) for _, prompt, _ in asked if not isinstance(prompt, Refused)]
        found = answered([prompt for _, prompt, _ in asked], sizes, batch, self._batches)
        results: list[Scores | Refused] = []
        for place in range(len(requests)):
            rows = [row for (owner, _, _), row in zip(asked, found, strict=True) if owner == place]
            refused = next((row for row in rows if isinstance(row, Refused)), None)
            results.append(refused or (as_scores(forms, rows) if rows else Refused("no question was asked")))
        first = [
            next((ids for owner, ids, _ in asked if owner == place), Refused("")) for place in range(len(requests))
        ]
        return echoed(requests, first, results, self._prompts)

    def rank(self, requests: Sequence[Rank]) -> list[Ranked | Refused]:
        """Log-probabilities of continuations by the decoder; the encoder reads a request's prompt once."""
        prompts: list[list[int] | Refused] = []
        for request in requests:
            messages = request.messages or (Message("user", request.prefix),)
            prompt = self._prompt(messages) if request.messages else self._checked(self._prompts.text(request.prefix))
            if not request.continuations or not all(map(self._prompts.text, request.continuations)):
                prompt = Refused("a continuation is empty" if request.continuations else "nothing to rank was given")
            prompts.append(prompt)

        def batch(indices: list[int]) -> list[Ranked]:
            return [self._ranked(requests[index], _ids(prompts[index])) for index in indices]

        sizes = [len(prompt) for prompt in prompts if not isinstance(prompt, Refused)]
        return answered(prompts, sizes, batch, self._batches)

    def _ranked(self, request: Rank, prompt: list[int]) -> Ranked:
        opening = [self._start, *(self._prompts.text(request.prefix) if request.messages else ())]
        endings = [self._prompts.text(text) for text in request.continuations]
        logits = self._logits([prompt], [[*opening, *ending[:-1]] for ending in endings])
        return as_ranked(
            [rank_tokens(row[len(opening) - 1 :].float(), ending) for row, ending in zip(logits, endings, strict=True)]
        )

    def _prompt(self, messages: Sequence[Message]) -> list[int] | Refused:
        try:
            if self._prompts.template is not None:
                return self._checked(self._prompts.chat(messages), framed=True)
            # A decoder begins its answer by itself: the prompt needs no place for it.
            return self._checked(self._prompts.text("\n\n".join(message.content for message in messages)))
        except ModelError as error:
            return Refused(str(error))

    def _question(self, request: Score, question: str) -> list[int] | Refused:
        messages = request.messages or (Message("user", f"{request.text}\n\n"),)
        return self._prompt(with_question(messages, question))

    def _checked(self, text: list[int], *, framed: bool = False) -> list[int] | Refused:
        ids = text if framed else self._frame.ids(text)[0]
        context = self._loaded.context
        return Refused(too_long(len(ids), context)) if context is not None and len(ids) > context else ids

    @torch.inference_mode()
    def _encode(self, prompts: Sequence[list[int]]) -> tuple[torch.Tensor, torch.Tensor]:
        """Returns: (prompts, tokens, width) states, and their mask."""
        ids, mask = padded(prompts, self._loaded.tokenizer.pad_token_id or 0, self._loaded.device)
        states: torch.Tensor = self._loaded.model.get_encoder()(input_ids=ids, attention_mask=mask)[0]
        return states, mask

    @torch.inference_mode()
    def _logits(self, prompts: Sequence[list[int]], begins: Sequence[list[int]]) -> torch.Tensor:
        """Of the decoder's tokens: (begins, tokens, vocabulary). One prompt stands for all `begins`."""
        states, mask = self._encode(prompts)
        ids, _ = padded(begins, self._loaded.tokenizer.pad_token_id or 0, self._loaded.device)
        if len(prompts) < len(begins):
            states, mask = states.expand(len(begins), -1, -1), mask.expand(len(begins), -1)
        # Padding stands after what is read, where a decoder does not look.
        logits: torch.Tensor = self._loaded.model(
            encoder_outputs=BaseModelOutput(states), attention_mask=mask, decoder_input_ids=ids, use_cache=False
        ).logits
        return logits

    @torch.inference_mode()
    def _write(self, requests: Sequence[Generate], prompts: Sequence[list[int]]) -> list[Generation]:
        past = _DecoderPast(self._loaded, *self._encode(prompts))
        first = torch.full((len(prompts),), self._start, device=self._loaded.device)
        return write(
            requests,
            [len(ids) for ids in prompts],
            [request.max_tokens for request in requests],
            past.advance(first),
            past,
            self._loaded.tokenizer,
            self._ends,
            [self._prompts.text(request.opening) for request in requests],
            self._grammars.begin(requests),
        )


class _DecoderPast:
    """What the encoder read, and what the decoder wrote after it."""

    def __init__(self, loaded: Loaded, states: torch.Tensor, mask: torch.Tensor) -> None:
        self._model = loaded.model
        self._states, self._mask = states, mask
        self._cache: Any = None

    def advance(self, tokens: torch.Tensor) -> torch.Tensor:
        out = self._model(
            encoder_outputs=BaseModelOutput(self._states),
            attention_mask=self._mask,
            decoder_input_ids=tokens[:, None],
            past_key_values=self._cache,
            use_cache=True,
        )
        self._cache = out.past_key_values
        logits: torch.Tensor = out.logits[:, -1]
        return logits

    def keep(self, rows: torch.Tensor) -> None:
        self._states, self._mask = self._states[rows], self._mask[rows]
        keep_rows(self._cache, rows)


def padded(
    rows: Sequence[list[int]], pad: int, device: torch.device, *, left: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """Token ids padded on the right, or on the `left`, and 1 where they are real: (rows, longest) each."""
    ids = torch.full((len(rows), max(map(len, rows))), pad)
    mask = torch.zeros_like(ids)
    for row, each in enumerate(rows):
        place = slice(ids.shape[1] - len(each), None) if left else slice(len(each))
        ids[row, place] = torch.tensor(each)
        mask[row, place] = 1
    return ids.to(device), mask.to(device)


def _start_token(loaded: Loaded) -> int:
    said = getattr(loaded.model.generation_config, "decoder_start_token_id", None)
    start = said if said is not None else getattr(loaded.config, "decoder_start_token_id", None)
    if start is None:
        raise ModelError("The model's configuration names no decoder_start_token_id")
    return int(start)


def _ids(prompt: list[int] | Refused) -> list[int]:
    assert not isinstance(prompt, Refused)
    return prompt
