"""Masked-word models (BERT, RoBERTa, Longformer): rank words for each `<mask>`. And any encoder's embeddings."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from emotui.backends.base import MASK, Embed, Filled, FillMask, ModelCard, Refused
from emotui.backends.hf.causal import too_long
from emotui.backends.hf.encoders import Encoder, Framed
from emotui.backends.hf.loading import Loaded
from emotui.backends.hf.prompts import Prompts, frame, reads
from emotui.backends.hf.settings import Settings
from emotui.bounded import read_bytes
from emotui.errors import ModelError

# From the states of a text's tokens to its embedding, as the model's sentence-transformers files say.

Pool = Callable[[torch.Tensor, torch.Tensor], NDArray[np.float32]]
"""From states (rows, tokens, width) and mask (rows, tokens) to embeddings (rows, width) of length 1."""

_KINDS = ("Pooling", "Dense", "Normalize")
"""What may follow the model in `modules.json`; all but these run code that is not here."""

_MEAN = {"pooling_mode": "mean"}


def pooling_of(folder: Path) -> Pool:
    """How a model's directory says that tokens are pooled; the mean of all where it says nothing.

    Plain means and first tokens are computed here; all else (last token, maximum, weighted means, several at once,
    dense layers behind them) by sentence-transformers' own modules, which take seconds to import.

    Raises:
        ModelError: the files cannot be read, or name something else than pooling, dense layers and normalising.
    """
    modules = _read(folder / "modules.json")
    later = modules[1:] if isinstance(modules, list) else [{"type": "Pooling", "path": "1_Pooling"}]
    if not all(isinstance(each, dict) and isinstance(each.get("path"), str) for each in later):
        raise ModelError(f"{folder.name}/modules.json is not what sentence-transformers writes")
    strange = next((each for each in later if _kind(each) not in _KINDS), None)
    if strange is not None:
        raise ModelError(f"{folder.name} embeds with {str(strange.get('type'))[:80]}, which emotui does not run")
    steps = [each for each in later if _kind(each) != "Normalize"]
    if len(steps) < 2 and (mode := _plain(_read(folder / steps[0]["path"] / "config.json") if steps else None)):
        return first_token if mode == "cls" else mean
    return _by_modules(folder, steps)


def mean(states: torch.Tensor, mask: torch.Tensor) -> NDArray[np.float32]:
    """The mean of all tokens' states, of length 1."""
    weights = mask[..., None].float()
    return _unit((states.float() * weights).sum(1) / weights.sum(1).clamp(min=1))


def first_token(states: torch.Tensor, mask: torch.Tensor) -> NDArray[np.float32]:
    """The first token's state, of length 1."""
    first = mask.argmax(1)
    return _unit(states.float()[torch.arange(len(states), device=states.device), first])


def _by_modules(folder: Path, steps: list[dict[str, Any]]) -> Pool:
    models: Any = import_module("sentence_transformers.models")
    modules: list[Any] = []
    for step in steps:
        inside = folder / step["path"]
        if _kind(step) == "Dense" and not (inside / "model.safetensors").is_file():
            raise ModelError(f"{folder.name}/{step['path']} has no safetensors, and weights are read from nothing else")
        try:
            modules.append(getattr(models, _kind(step)).load(str(inside)).eval())
        except Exception as error:  # of a library, over files of others
            raise ModelError(
                f"{folder.name}/{step['path']} cannot be read: {' '.join(str(error).split())[:200]}"
            ) from None

    def pool(states: torch.Tensor, mask: torch.Tensor) -> NDArray[np.float32]:
        found: dict[str, Any] = {"token_embeddings": states.float(), "attention_mask": mask}
        for module in modules:
            found = module.to(states.device)(found)
        return _unit(found["sentence_embedding"])

    return pool


def _kind(module: dict[str, Any]) -> str:
    return str(module.get("type", "")).rpartition(".")[2]


def _plain(config: object) -> str | None:
    """`mean` or `cls` where that is all; None where more has to be done."""
    said = config if isinstance(config, dict) else _MEAN
    flags = {name.removeprefix("pooling_mode_") for name, on in said.items() if name.startswith("pooling_mode_") and on}
    mode = said.get("pooling_mode") or ("mean_tokens" if not flags else flags.pop() if len(flags) == 1 else None)
    return {"mean": "mean", "mean_tokens": "mean", "cls": "cls", "cls_token": "cls"}.get(str(mode))


def _read(path: Path) -> object:
    """A JSON file; None where there is none. Raises ModelError where it cannot be read."""
    if not path.is_file():
        return None
    try:
        return json.loads(read_bytes(path))
    except (OSError, ValueError, RecursionError):
        raise ModelError(f"{path.parent.name}/{path.name} cannot be read") from None


def _unit(vectors: torch.Tensor) -> NDArray[np.float32]:
    normal: NDArray[np.float32] = torch.nn.functional.normalize(vectors, dim=-1).cpu().numpy()
    return normal


_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class _Prepared:
    """What one request asks of the model.

    `wanted`: the tokens of each candidate. `counts`: how many masks they need. `asked`: the place, and masks at it, of
    each of the `inputs`.
    """

    masks: int
    wanted: Mapping[str, list[int]]
    counts: set[int]
    asked: Sequence[tuple[int, int]]
    inputs: Sequence[Framed]


class Embedder:
    """An encoder without a head: `embed`."""

    def __init__(self, card: ModelCard, loaded: Loaded, prompts: Prompts, settings: Settings, folder: Path) -> None:
        self.card = card
        self._encoder = Encoder(loaded, settings)
        self._prompts = prompts
        self._frame = frame(loaded.tokenizer, 1)
        self._limit = loaded.context
        self._pool = pooling_of(folder)

    def embed(self, requests: Sequence[Embed]) -> NDArray[np.float32]:
        """The tokens' states, pooled as the directory says (`emotui.backends.hf.masked`). Long texts are cut.

        Returns: (requests, width), rows of length 1.
        """
        room = None if self._limit is None else max(0, self._limit - self._frame.extra)
        framed = [self._frame.ids(self._prompts.text(request.text)[:room]) for request in requests]
        rows = self._encoder.run(
            framed, lambda out, mask, _: list(self._pool(out.last_hidden_state, mask)), states=True
        )
        return np.stack(rows).astype(np.float32)


class Masked(Embedder):
    """A masked-word model: `fill_mask` and `embed`."""

    def __init__(self, card: ModelCard, loaded: Loaded, prompts: Prompts, settings: Settings, folder: Path) -> None:
        super().__init__(card, loaded, prompts, settings, folder)
        self._tokenizer = loaded.tokenizer
        self._mask: int = loaded.tokenizer.mask_token_id
        # A mask that takes the space before it stands for " word" (RoBERTa); BERT's words have no space at all.
        added = loaded.tokenizer.added_tokens_decoder[self._mask]
        self._eats_space = bool(added.lstrip)
        self._words: list[tuple[int, str]] | None = None

    def fill_mask(self, requests: Sequence[FillMask]) -> list[Filled | Refused]:
        """The likeliest words for each mask, or the given candidates with their probabilities among themselves.

        A candidate of k tokens is scored with k masks in its place, by the mean of its tokens' log-probabilities.
        """
        prepared = [self._prepared(request) for request in requests]
        inputs = [each for one in prepared if not isinstance(one, Refused) for each in one.inputs]
        read = iter(self._at_masks(inputs) if inputs else ())
        return [
            one if isinstance(one, Refused) else self._filled(request, one, [next(read) for _ in one.inputs])
            for request, one in zip(requests, prepared, strict=True)
        ]

    def _prepared(self, request: FillMask) -> "_Prepared | Refused":
        parts = request.text.split(MASK)
        masks = len(parts) - 1
        if masks == 0:
            return Refused(f"the text has no {MASK}")
        texts = [
            self._prompts.text(self._before_mask(part) if place < masks else part) for place, part in enumerate(parts)
        ]
        wanted: dict[str, list[int]] = {}
        counts = {1}
        if request.candidates is not None:
            wanted = {word: self._candidate(word, request.text) for word in dict.fromkeys(request.candidates)}
            if empty := [word for word, tokens in wanted.items() if not tokens]:
                return Refused(f"{empty[0]!r} is no word to the model")
            counts = {len(tokens) for tokens in wanted.values()}
        asked = [(place, count) for place in range(masks) for count in sorted(counts)]
        if counts == {1}:
            asked = asked[:1]  # every mask stands alone in the same input
        inputs = [self._input(texts, place, count) for place, count in asked]
        longest = max(len(ids) for ids, _ in inputs)
        if self._limit is not None and longest > self._limit:
            return Refused(too_long(longest, self._limit))
        return _Prepared(masks, wanted, counts, asked, inputs)

    def _filled(self, request: FillMask, one: "_Prepared", found: Sequence[torch.Tensor]) -> Filled:
        read = dict(zip(one.asked, found, strict=True))
        filled = []
        for place in range(one.masks):
            if one.counts == {1}:
                rows = {1: read[one.asked[0]][place : place + 1]}
            else:
                rows = {count: read[place, count][place : place + count] for count in one.counts}
            filled.append(
                self._likeliest(rows[1][0], request.top)
                if request.candidates is None
                else _among(one.wanted, rows, request.top)
            )
        return Filled(tuple(filled))

    def _before_mask(self, part: str) -> str:
        return part.rstrip() if self._eats_space else part

    def _candidate(self, word: str, text: str) -> list[int]:
        """The tokens of a word as it stands in a sentence."""
        spaced = f" {word}" if self._eats_space and not text.startswith(MASK) else word
        return self._prompts.text(spaced)

    def _input(self, texts: Sequence[list[int]], wide: int, count: int) -> tuple[list[int], list[int]]:
        """The text with one mask a place, and `count` at place `wide`."""
        ids: list[int] = []
        for place, text in enumerate(texts):
            ids += text
            if place < len(texts) - 1:
                ids += [self._mask] * (count if place == wide else 1)
        return self._frame.ids(ids)

    def _at_masks(self, inputs: Sequence[tuple[list[int], list[int]]]) -> list[torch.Tensor]:
        """For each input the log-probabilities at its masks, (masks, vocabulary)."""

        def read(out: Any, _: torch.Tensor, indices: list[int]) -> list[torch.Tensor]:
            rows = []
            for row, index in enumerate(indices):
                places = [place for place, number in enumerate(inputs[index][0]) if number == self._mask]
                rows.append(out.logits[row, places].float().log_softmax(-1).cpu())
            return rows

        return self._encoder.run(inputs, read)

    def _likeliest(self, logprobs: torch.Tensor, top: int) -> tuple[tuple[str, float], ...]:
        """The likeliest whole words of one token, with their probabilities among all tokens."""
        if self._words is None:
            self._words = self._whole_words()
        ids = torch.tensor([number for number, _ in self._words])
        values, order = logprobs[ids].sort(descending=True, stable=True)
        best: dict[str, float] = {}
        for value, place in zip(values.exp().tolist(), order.tolist(), strict=True):
            best.setdefault(self._words[place][1], value)
            if len(best) >= top:
                break
        return tuple(best.items())

    def _whole_words(self) -> list[tuple[int, str]]:
        special = set(self._tokenizer.all_special_ids)
        tokens = {number: token for token, number in self._tokenizer.get_vocab().items() if number not in special}
        spaced = any(reads(token).startswith(" ") for token in tokens.values())
        found = []
        for number, token in sorted(tokens.items()):
            read = reads(token)
            word = read[1:] if spaced else read
            if spaced == read.startswith(" ") and _WORD.fullmatch(word):
                found.append((number, word))
        return found


def _among(wanted: Mapping[str, list[int]], rows: dict[int, torch.Tensor], top: int) -> tuple[tuple[str, float], ...]:
    words = list(wanted)
    scores = torch.tensor(
        [
            float(rows[len(tokens)].gather(1, torch.tensor(tokens)[:, None]).double().mean())
            for tokens in wanted.values()
        ],
        dtype=torch.float64,
    )
    values, order = scores.softmax(0).sort(descending=True, stable=True)
    return tuple((words[place], value) for value, place in zip(values.tolist(), order.tolist(), strict=True))[:top]
