"""Encoder-decoder models (T5, Flan-T5, BART): the prompt is read by the encoder, and the decoder writes the answer.

An encoder reads a prompt in both directions, so questions cannot share its beginning; continuations of one prompt can.

Before its answer a decoder has tokens that nobody reads: the start that it is given, what the generation settings force
behind that (`forced_bos_token_id`: a language), and control tokens that it was trained to write itself (BART's `<s>`).
An answer begins behind them: at the first token that the model chooses and `generate` shows.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from transformers.utils.generic import ModelOutput

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
from emotui.backends.hf.decoding import Grammars, write
from emotui.backends.hf.loading import Loaded
from emotui.backends.hf.prefix import keep_rows
from emotui.backends.hf.prompts import Frame, Prompts, TracedPrompt, frame
from emotui.backends.hf.settings import Settings
from emotui.backends.rendering import with_question
from emotui.errors import ModelError

_MOST_UNSEEN = 4
"""Control tokens that a model may write itself before its answer."""


@dataclass(frozen=True, slots=True)
class Read:
    """What an encoder made of some prompts: (prompts, tokens, width) states, and (prompts, tokens) 1 where one is.

    `kind`: of its output, which a decoder of experts wants as it is.
    """

    states: torch.Tensor
    mask: torch.Tensor
    kind: type[ModelOutput]

    def __len__(self) -> int:
        return len(self.states)

    def of(self, rows: torch.Tensor) -> "Read":
        return Read(self.states[rows], self.mask[rows], self.kind)

    def times(self, count: int) -> "Read":
        """One prompt's, as often as there are decoders that look at it."""
        return Read(self.states.expand(count, -1, -1), self.mask.expand(count, -1), self.kind)

    def inputs(self) -> dict[str, Any]:
        return {"encoder_outputs": self.kind(last_hidden_state=self.states), "attention_mask": self.mask}


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
        self._start = _start_tokens(loaded)
        self._never = _never_chosen(loaded)
        unseen = set(loaded.tokenizer.all_special_ids) - self._ends - {loaded.tokenizer.unk_token_id}
        self._unseen = torch.tensor(sorted(unseen), dtype=torch.long, device=loaded.device)
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
        """Log-probabilities of yes and of no as the first token (after the opening) of the answer.

        Raises:
            ModelError: the vocabulary has no one-token yes or no.
        """
        forms = self.yes_or_no()
        wanted = torch.tensor([*forms.yes, *forms.no])
        asked = [
            (place, self._question(request, question), request.opening)
            for place, request in enumerate(requests)
            for question in request.questions
        ]

        def batch(indices: list[int]) -> list[list[float]]:
            chosen = [asked[index] for index in indices]
            read = self._encode([_ids(prompt) for _, prompt, _ in chosen])
            begins, logits = self._begin(read)
            openings = [self._prompts.text(opening) for _, _, opening in chosen]
            if any(openings):
                begins = [[*begin, *opening] for begin, opening in zip(begins, openings, strict=True)]
                logits = self._last(read, begins)
            logits = logits.float()
            found: list[list[float]] = (
                logits[:, wanted.to(logits.device)] - logits.logsumexp(-1, keepdim=True)
            ).tolist()
            return found

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

    def yes_or_no(self) -> yesno.Forms:
        """The tokens that say yes, and no. Raises ModelError where the vocabulary has none."""
        if self._forms is None:
            self._forms = yesno.find_forms(self._prompts.vocabulary())
        return self._forms

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
        read = self._encode([prompt])
        opening = [*self._begin(read)[0][0], *(self._prompts.text(request.prefix) if request.messages else ())]
        endings = [self._prompts.text(text) for text in request.continuations]
        logits = self._logits(read, [[*opening, *ending[:-1]] for ending in endings])
        return as_ranked(
            [rank_tokens(row[len(opening) - 1 :].float(), ending) for row, ending in zip(logits, endings, strict=True)]
        )

    def _prompt(self, messages: Sequence[Message]) -> list[int] | Refused:
        try:
            if self._prompts.template is not None:
                return self._checked(self._prompts.chat(messages), framed=True)
            # A decoder begins its answer by itself: the prompt needs no place for it.
            return self._checked(self._prompts.text(_joined(messages)))
        except ModelError as error:
            return Refused(str(error))

    def _question(self, request: Score, question: str) -> list[int] | Refused:
        messages = request.messages or (Message("user", f"{request.text}\n\n"),)
        return self._prompt(with_question(messages, question))

    def traced_prompt(self, messages: Sequence[Message]) -> TracedPrompt | Refused:
        """As `Traceable`: what the encoder reads."""
        ids = self._prompt(messages)
        if isinstance(ids, Refused):
            return ids
        if self._prompts.template is None:
            before, behind = (len(self._frame.around[side]) for side in (0, -1))
            return TracedPrompt(ids, self._prompts.specials.pieces(_joined(messages)), before, behind)
        pieces = self._prompts.pieces(messages)
        return TracedPrompt(ids, pieces, self._prompts.begins_before(pieces))

    def answering(self, ids: Sequence[int]) -> Callable[[torch.Tensor], torch.Tensor]:
        """As `Traceable`: behind what the decoder has before its answer to these tokens, whatever is read instead."""
        begins, _ = self._begin(self._encode([list(ids)]))
        begin = torch.tensor(begins, device=self._loaded.device)

        def forward(read: torch.Tensor) -> torch.Tensor:
            begun, mask = begin.expand(len(read), -1), torch.ones_like(read)
            out = self._loaded.model(input_ids=read, attention_mask=mask, decoder_input_ids=begun, use_cache=False)
            return without(out.logits[:, -1], self._never)

        return forward

    @contextmanager
    def tracing(self) -> Iterator[Any]:
        """As `Traceable`: where encoder and decoder share a module, the decoder has another one for the while."""
        encoder, decoder = self._loaded.model.get_encoder(), self._loaded.model.get_decoder()
        table = encoder.get_input_embeddings()
        if decoder.get_input_embeddings() is not table:
            yield table
            return
        decoder.set_input_embeddings(_Unhooked(table))
        try:
            yield table
        finally:
            decoder.set_input_embeddings(table)

    def _checked(self, text: list[int], *, framed: bool = False) -> list[int] | Refused:
        ids = text if framed else self._frame.ids(text)[0]
        context = self._loaded.context
        return Refused(too_long(len(ids), context)) if context is not None and len(ids) > context else ids

    @torch.inference_mode()
    def _encode(self, prompts: Sequence[list[int]]) -> Read:
        ids, mask = padded(prompts, self._loaded.tokenizer.pad_token_id or 0, self._loaded.device)
        out = self._loaded.model.get_encoder()(input_ids=ids, attention_mask=mask, return_dict=True)
        return Read(out.last_hidden_state, mask, type(out))

    @torch.inference_mode()
    def _logits(self, read: Read, begins: Sequence[list[int]]) -> torch.Tensor:
        """Of the decoder's tokens: (begins, tokens, vocabulary). What one encoder read may stand for all `begins`."""
        ids, _ = padded(begins, self._loaded.tokenizer.pad_token_id or 0, self._loaded.device)
        if len(read) < len(begins):
            read = read.times(len(begins))
        # Padding stands after what is read, where a decoder does not look.
        logits: torch.Tensor = self._loaded.model(**read.inputs(), decoder_input_ids=ids, use_cache=False).logits
        return logits

    @torch.inference_mode()
    def _last(self, read: Read, begins: Sequence[list[int]]) -> torch.Tensor:
        """(begins, vocabulary) logits behind each."""
        logits = self._logits(read, begins)
        last = torch.tensor([len(begin) - 1 for begin in begins], device=logits.device)
        return without(logits[torch.arange(len(begins), device=logits.device), last], self._never)

    @torch.inference_mode()
    def _begin(self, read: Read) -> tuple[list[list[int]], torch.Tensor]:
        """What each decoder has before its answer, and the logits (prompts, vocabulary) of the answer's first token."""
        begins = [list(self._start) for _ in range(len(read))]
        logits = self._last(read, begins)
        for _ in range(_MOST_UNSEEN):
            likeliest = logits.argmax(-1)
            rows = torch.isin(likeliest, self._unseen.to(likeliest.device)).nonzero()[:, 0]
            if not len(rows):
                break
            for row in rows.tolist():
                begins[row].append(int(likeliest[row]))
            logits[rows] = self._last(read.of(rows), [begins[row] for row in rows.tolist()])
        return begins, logits

    @torch.inference_mode()
    def _write(self, requests: Sequence[Generate], prompts: Sequence[list[int]]) -> list[Generation]:
        read = self._encode(prompts)
        begins, _ = self._begin(read)
        past = _DecoderPast(self._loaded, read, self._never)
        first = torch.full((len(prompts),), self._start[0], device=self._loaded.device)
        return write(
            requests,
            [len(ids) for ids in prompts],
            [request.max_tokens for request in requests],
            past.advance(first),
            past,
            self._loaded.tokenizer,
            self._ends,
            [
                [*begin[1:], *self._prompts.text(request.opening)]
                for request, begin in zip(requests, begins, strict=True)
            ],
            self._grammars.begin(requests),
        )


class _Unhooked(torch.nn.Module):
    """Embeddings that another module looks up, past what is hooked to it."""

    def __init__(self, table: torch.nn.Module) -> None:
        super().__init__()
        self._looked_up = table.forward

    def forward(self, ids: torch.Tensor) -> Any:
        return self._looked_up(ids)


class _DecoderPast:
    """What the encoder read, and what the decoder wrote after it."""

    def __init__(self, loaded: Loaded, read: Read, never: Sequence[int]) -> None:
        self._model, self._read, self._never = loaded.model, read, never
        self._cache: Any = None

    def advance(self, tokens: torch.Tensor) -> torch.Tensor:
        out = self._model(
            **self._read.inputs(), decoder_input_ids=tokens[:, None], past_key_values=self._cache, use_cache=True
        )
        self._cache = out.past_key_values
        return without(out.logits[:, -1], self._never)

    def keep(self, rows: torch.Tensor) -> None:
        self._read = self._read.of(rows)
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


def without(logits: torch.Tensor, never: Sequence[int]) -> torch.Tensor:
    """The logits (rows, vocabulary) with these tokens impossible; they themselves where there are none."""
    if not never:
        return logits
    return logits.index_fill(-1, torch.tensor(never, device=logits.device), -torch.inf)


def _joined(messages: Sequence[Message]) -> str:
    """The prompt of a model without a chat template."""
    return "\n\n".join(message.content for message in messages)


def _start_tokens(loaded: Loaded) -> list[int]:
    """What stands before the first token that a decoder chooses, as the generation settings have it."""
    settings = loaded.model.generation_config
    start = settings.decoder_start_token_id
    if start is None:
        start = getattr(loaded.config, "decoder_start_token_id", None)
    if start is None:
        start = settings.bos_token_id
    if start is None:
        raise ModelError("The model's configuration names no decoder_start_token_id")
    forced = settings.forced_bos_token_id
    return [int(start)] if forced is None else [int(start), int(forced)]


def _never_chosen(loaded: Loaded) -> list[int]:
    """Tokens that the generation settings forbid everywhere (Marian's padding, which has a likelihood of its own)."""
    settings = loaded.model.generation_config
    words = settings.bad_words_ids or []
    return sorted({*(word[0] for word in words if len(word) == 1), *(settings.suppress_tokens or [])})


def _ids(prompt: list[int] | Refused) -> list[int]:
    assert not isinstance(prompt, Refused)
    return prompt
