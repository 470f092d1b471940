"""A group in one row: the prefix once, then every ending, each blind to the others.

A token sees the prefix and its own ending up to itself, and stands at the position that it has in its whole prompt; so
one forward pass, without a cache to copy, computes what as many passes over whole prompts would.
"""

from collections.abc import Sequence
from typing import Any

import torch

from emotui.backends.hf.groups import Group

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
