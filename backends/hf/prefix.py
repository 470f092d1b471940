"""One prefix, many endings: the prefix is computed once, and many such groups share a batch.

Models that take a mask of one's own read a group as one row (`packing`). For the others the prefix's keys and values
are computed, and copied before each ending. Prefixes then are padded on the left and endings on the right, so that each
row's tokens are one unbroken run: positions and sliding windows are those of the row alone.
"""

import copy
import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer

from emotui.backends.hf.loading import Loaded

# Prompts that begin alike, split where they part.


@dataclass(frozen=True, slots=True)
class Group:
    """Token ids. No ending is empty; the prefix may be, where nothing is shared."""

    prefix: list[int]
    endings: list[list[int]]

    @property
    def packed_size(self) -> int:
        """Tokens where the prefix stands once."""
        return len(self.prefix) + sum(map(len, self.endings))

    @property
    def spread_size(self) -> int:
        """Tokens where every ending has the prefix before it."""
        return (len(self.prefix) + max(map(len, self.endings))) * len(self.endings)


def shared_prefix(prompts: Sequence[list[int]]) -> Group:
    """Split whole prompts at the last place up to which they agree; each keeps one token at least."""
    shortest = min(map(len, prompts)) - 1
    length = 0
    while length < shortest and all(prompt[length] == prompts[0][length] for prompt in prompts):
        length += 1
    return Group(prompts[0][:length], [prompt[length:] for prompt in prompts])


# A group in one row: the prefix once, then every ending, each blind to the others.

_PADDING = -1


class Packed:
    """Rows of groups, padded on the left.

    Args:
        last: whether only the logits after each ending are wanted; its last tokens then stand at the end of the row,
            one beside the other (where a token stands in its row means nothing: position and mask are told apart).
    """

    def __init__(self, groups: Sequence[Group], pad: int, *, last: bool) -> None:
        rows = [_row(group, last=last) for group in groups]
        width = max(len(row) for row in rows)
        cells = torch.tensor([[(pad, 0, _PADDING)] * (width - len(row)) + row for row in rows])
        self.ids, self.positions, self._parts = cells.unbind(-1)
        counts = [len(group.endings) if last else sum(map(len, group.endings)) for group in groups]
        self.kept = max(counts)
        """How many columns, from the right, hold logits that are wanted."""
        self._counts = counts
        self._lengths = [[1] * len(group.endings) if last else list(map(len, group.endings)) for group in groups]

    def mask(self, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
        """Zero where a token looks, the least number where it does not: (rows, 1, width, width)."""
        parts, positions = self._parts.to(device), self.positions.to(device)
        same = parts[:, None, :] == parts[:, :, None]
        looks = (same | (parts[:, None, :] == 0)) & (positions[:, None, :] <= positions[:, :, None])
        blind = torch.full((), torch.finfo(dtype).min, dtype=dtype, device=device)
        return torch.where(looks, torch.zeros((), dtype=dtype, device=device), blind)[:, None]

    def split(self, logits: torch.Tensor) -> list[torch.Tensor]:
        """One (tokens, vocabulary) an ending, group by group. Args: logits: (rows, kept or more, vocabulary)."""
        found: list[torch.Tensor] = []
        for row, count, lengths in zip(logits, self._counts, self._lengths, strict=True):
            found += row[-count:].split(lengths)
        return found


def can_pack(model: Any) -> bool:
    """Whether the model takes a mask of one's own: attention over all that came before, by torch's own functions."""
    config = model.config.get_text_config()
    windows = getattr(config, "sliding_window", None) if getattr(config, "use_sliding_window", True) else None
    kinds = set(getattr(config, "layer_types", None) or ["full_attention"])
    whole = kinds == {"full_attention"} and (not windows or getattr(config, "layer_types", None) is not None)
    # Falcon's ALiBi reads distances off a mask of its own.
    whole = whole and not getattr(config, "alibi", False)
    return whole and getattr(config, "_attn_implementation", "") in ("sdpa", "eager")


def _row(group: Group, *, last: bool) -> list[tuple[int, int, int]]:
    """(token, position, part) of each cell: part 0 is the prefix, the endings follow."""
    start = len(group.prefix)
    row = [(token, place, 0) for place, token in enumerate(group.prefix)]
    tails: list[tuple[int, int, int]] = []
    for part, ending in enumerate(group.endings, start=1):
        cells = [(token, start + place, part) for place, token in enumerate(ending)]
        row += cells[:-1] if last else cells
        tails += cells[-1:] if last else []
    return row + tails


class Rows:
    """Runs groups through a model that writes from left to right."""

    def __init__(self, loaded: Loaded, *, share: bool) -> None:
        self._model = loaded.model
        self._device = loaded.device
        self._pad = loaded.tokenizer.pad_token_id or 0
        takes = inspect.signature(self._model.forward).parameters
        self.takes_positions = "position_ids" in takes
        self.keeps = "logits_to_keep" in takes
        """Whether logits can be asked for of a prompt's last tokens alone."""
        self.past_name = "past_key_values" if "past_key_values" in takes else "cache_params"
        self.plain_cache = self._has_plain_cache()
        """Whether the past is kept key by key, so that it can be forked and padded; recurrent models keep a state."""
        self._share = share and self.plain_cache
        self.packs = self.plain_cache and self.takes_positions and can_pack(self._model)
        self.packs = self.packs and self._packs_right()

    @torch.inference_mode()
    def last(self, groups: Sequence[Group], read: Callable[[torch.Tensor], torch.Tensor], budget: int) -> torch.Tensor:
        """Read the distribution after each ending, group by group. Args: read: from (n, vocabulary) float32 logits."""
        if self.packs:
            return read(torch.stack([row[-1] for row in self._pack(groups, last=True)]).float())
        found = []
        for logits, lengths in self._logits(groups, budget, last=True):
            rows = torch.arange(len(lengths), device=logits.device)
            found.append(read(logits[rows, lengths - 1].float()))
        return torch.cat(found)

    @torch.inference_mode()
    def each(self, groups: Sequence[Group], budget: int) -> Iterator[torch.Tensor]:
        """The float32 logits after each token of each ending, (n, vocabulary), ending by ending."""
        endings = (ending for group in groups for ending in group.endings)
        # Apart, a row begins with what its group shares: only the ending's own tokens were asked for.
        for row, ending in zip(self._each_row(groups, budget), endings, strict=True):
            yield row[-len(ending) :].float()

    def _each_row(self, groups: Sequence[Group], budget: int) -> Iterator[torch.Tensor]:
        if self.packs:
            yield from self._pack(groups, last=False)
            return
        for logits, lengths in self._logits(groups, budget, last=False):
            for row, length in zip(logits, lengths.tolist(), strict=True):
                yield row[:length]

    def size(self, group: Group) -> int:
        """Tokens that a group costs."""
        return group.packed_size if self.packs and self._share else group.spread_size

    def _apart(self, groups: Sequence[Group]) -> Sequence[Group]:
        """Every ending behind a prefix of its own, where prefixes are not shared."""
        if self._share:
            return groups
        return [Group([], [[*group.prefix, *ending]]) for group in groups for ending in group.endings]

    def _pack(self, groups: Sequence[Group], *, last: bool) -> list[torch.Tensor]:
        packed = Packed(self._apart(groups), self._pad, last=last)
        more = {"logits_to_keep": packed.kept} if self.keeps else {}
        out = self._model(
            input_ids=packed.ids.to(self._device),
            attention_mask=packed.mask(self._model.dtype, self._device),
            position_ids=packed.positions.to(self._device),
            use_cache=False,
            **more,
        )
        return packed.split(out.logits)

    def _logits(
        self, groups: Sequence[Group], budget: int, *, last: bool
    ) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        """Logits (rows, positions, vocabulary) and each row's length among these positions, in the groups' order."""
        groups = self._apart(groups)
        width = max(len(group.prefix) for group in groups)
        cache, before = (None, None) if width == 0 else self._read_prefixes(groups, width)
        rows = [(place, ending) for place, group in enumerate(groups) for ending in group.endings]
        longest = max(len(ending) for _, ending in rows)
        step = max(1, budget // (width + longest))
        for start in range(0, len(rows), step):
            chunk = rows[start : start + step]
            owners = torch.tensor([place for place, _ in chunk], device=self._device)
            whole = len(rows) <= step and len(rows) == len(groups)
            past = cache if cache is None or whole else fork(cache, owners)
            endings = [ending for _, ending in chunk]
            yield self._read_endings(endings, past, None if before is None else before[owners], last=last)

    def _read_prefixes(self, groups: Sequence[Group], width: int) -> tuple[Any, torch.Tensor]:
        ids = torch.full((len(groups), width), self._pad)
        mask = torch.zeros((len(groups), width), dtype=torch.long)
        for row, group in enumerate(groups):
            if group.prefix:
                ids[row, width - len(group.prefix) :] = torch.tensor(group.prefix)
                mask[row, width - len(group.prefix) :] = 1
        more: dict[str, int | torch.Tensor] = {"logits_to_keep": 1} if self.keeps else {}
        if self.takes_positions:
            more["position_ids"] = positions(mask).to(self._device)
        mask = mask.to(self._device)
        out = self._model(input_ids=ids.to(self._device), attention_mask=mask, use_cache=True, **more)
        return out.past_key_values, mask

    def _read_endings(
        self, endings: Sequence[list[int]], past: Any, before: torch.Tensor | None, *, last: bool
    ) -> tuple[torch.Tensor, torch.Tensor]:
        longest = max(map(len, endings))
        ids = torch.full((len(endings), longest), self._pad)
        mask = torch.zeros((len(endings), longest), dtype=torch.long)
        for row, ending in enumerate(endings):
            ids[row, : len(ending)] = torch.tensor(ending)
            mask[row, : len(ending)] = 1
        ids, mask = ids.to(self._device), mask.to(self._device)
        lengths = mask.sum(1)
        whole = mask if before is None else torch.cat([before, mask], 1)
        more: dict[str, Any] = {}
        if self.takes_positions:
            more["position_ids"] = positions(whole)[:, -longest:]
        if last and self.keeps:
            kept, lengths = torch.unique(lengths, return_inverse=True)
            more["logits_to_keep"] = kept - 1
            lengths = lengths + 1
        out = self._model(input_ids=ids, attention_mask=whole, past_key_values=past, use_cache=past is not None, **more)
        return out.logits, lengths

    @torch.inference_mode()
    def _packs_right(self) -> bool:
        """Try it: a model may take a mask and not heed it (positions of its own, a window that its settings hide)."""
        size = self._model.get_input_embeddings().weight.shape[0]
        one, two, three, four, five = (1 + place * (size - 2) // 5 for place in range(5))
        group = Group([one, two, three], [[four, five], [five]])
        alone = [[*group.prefix, *ending] for ending in group.endings]
        try:
            packed = torch.stack([row[-1] for row in self._pack([group], last=True)]).float()
        except (RuntimeError, ValueError, TypeError, IndexError):
            return False
        plain = torch.stack([self._model(torch.tensor([ids], device=self._device)).logits[0, -1] for ids in alone])
        near = 1e-3 if self._model.dtype == torch.float32 else 0.1
        return bool((packed - plain.float()).abs().max() <= near * plain.float().std().clamp(min=1e-6))

    @torch.inference_mode()
    def _has_plain_cache(self) -> bool:
        ids = torch.tensor([[self._pad, self._pad]], device=self._device)
        past = getattr(self._model(input_ids=ids, use_cache=True), "past_key_values", None)
        layers = getattr(past, "layers", None) or []
        return bool(layers) and all(type(layer) in (DynamicLayer, DynamicSlidingWindowLayer) for layer in layers)


def positions(mask: torch.Tensor) -> torch.Tensor:
    """Each token's place in its own row, from 0; padding stands at 0. Args: mask: (rows, tokens) of 0 and 1."""
    return (mask.cumsum(1) - 1).clamp(min=0)


def fork(cache: Any, rows: torch.Tensor) -> Any:
    """A cache of these rows (one may come twice), which grows by itself; `cache` stays as it is."""
    # A layer's tensors are replaced as it grows, never written to, so a copy of the layer may share them.
    forked = copy.copy(cache)
    forked.layers = [copy.copy(layer) for layer in cache.layers]
    keep_rows(forked, rows)
    return forked


def keep_rows(cache: Any, rows: torch.Tensor) -> None:
    """Only these rows of a cache, each layer's picked on the device that holds it."""
    for part in (getattr(cache, "self_attention_cache", None), getattr(cache, "cross_attention_cache", None)):
        if part is not None:
            keep_rows(part, rows)
    for layer in () if hasattr(cache, "self_attention_cache") else cache.layers:
        held = getattr(layer, "keys", None)
        layer.batch_select_indices(rows if held is None else rows.to(held.device))
