"""Plutchik's eight in a scene: its sentences and the whole of it, averaged, under one linear head.

A scene tells of somebody in several sentences, most of which hold no emotion, while the heads for single lines have
learnt what people say. So a text of at least `LEAST_SENTENCES` is read sentence by sentence: the mean of its sentences'
embeddings, and the embedding of the whole, are averaged. The head is linear, so this is the mean of the sentences'
log-odds (mean pooling) beside those of the whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from emotui.backends.embedded.encoder import WIDTH, Encoder, Floats
from emotui.backends.embedded.inference import sentence_embeddings
from emotui.backends.embedded.tokens import WordPieces
from emotui.backends.embedded.words import ends_sentence, words

LEAST_SENTENCES = 3
LONGEST = 256
"""Tokens that are read of each sentence, and of the whole."""


def sentences(text: str) -> list[str]:
    """The sentences of a text, in order, each with the quotation mark that opens it; a text without words is one."""
    cuts = [
        start - len(text[before:start].split()[-1]) if not text[start - 1].isspace() else start
        for (_, before), (start, _) in pairwise(words(text))
        if ends_sentence(text, before, start)
    ]
    return [text[start:end].strip() for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]


def scene_embeddings(
    base: Encoder, pieces: WordPieces, scenes: Sequence[Sequence[str]], marks: Sequence[str] = ()
) -> Floats:
    """One row a scene. Args: scenes: the sentences of each; marks: what is a mask in each. Returns: (n, 384)."""
    parts = [part for scene in scenes for part in (" ".join(scene), *scene)]
    masks = [mark for scene, mark in zip(scenes, marks, strict=False) for _ in range(len(scene) + 1)]
    embedded = sentence_embeddings(base, pieces.ids(parts, LONGEST, masks))
    ends = np.cumsum([len(scene) + 1 for scene in scenes])
    means = [(rows[0] + rows[1:].mean(0)) / 2 for rows in np.split(embedded, ends[:-1])] if scenes else []
    return np.array(means, np.float32).reshape(-1, WIDTH)


def scene_logits(head: Mapping[str, Floats], fitted: Mapping[str, Any], embeddings: Floats) -> Floats:
    """Calibrated logits. Args: fitted: `slope` and `shifts`. embeddings: (n, 384). Returns: (n, 8)."""
    logits = embeddings @ head["weight"].T + head["bias"]
    return np.asarray(np.float32(fitted["slope"]) * logits + np.array(fitted["shifts"], np.float32))
