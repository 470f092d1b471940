"""Several sets of spans over one text, flattened into pieces that do not overlap."""

from collections.abc import Sequence

import msgspec

from emotui.records import Span


class Piece(msgspec.Struct, frozen=True):
    """A stretch `[start, end)` that the same layers cover; `layers` has bit i set for layer i."""

    start: int
    end: int
    layers: int


def flatten(layers: Sequence[Sequence[Span]], length: int) -> list[Piece]:
    """The covered stretches of a text in order, each with the layers over it; uncovered ones are left out.

    Spans are clipped to `[0, length)`. Spans of one layer may overlap. O(n log n) in the number of spans.
    """
    edges: dict[int, list[tuple[int, int]]] = {}
    for layer, spans in enumerate(layers):
        for start, end in spans:
            first, last = max(start, 0), min(end, length)
            if first < last:
                edges.setdefault(first, []).append((layer, 1))
                edges.setdefault(last, []).append((layer, -1))
    depth = [0] * len(layers)
    pieces: list[Piece] = []
    previous, covered = 0, 0
    for at in sorted(edges):
        if covered:
            pieces.append(Piece(previous, at, covered))
        for layer, step in edges[at]:
            depth[layer] += step
        previous = at
        covered = sum(1 << layer for layer, count in enumerate(depth) if count)
    return pieces
